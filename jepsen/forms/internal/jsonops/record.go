package jsonops

import "bytes"

// Record is the values of an interval record's own fields, as EDN, and the text of
// the others.
func (t *Reader) Record(op []byte) (fields map[string][]byte, others []byte, err error) {
	r := &t.asEDN
	fields = map[string][]byte{}
	as := opRole
	if isTxn(op) {
		as = txnRole
	}
	r.op, r.at, r.out, r.wrong = op, 1, r.out[:0], ""
	for r.blank() != '}' {
		quoted := r.op[r.at:Literal(r.op, r.at)]
		r.at += len(quoted)
		key := string(unquoted(quoted))
		role := as.of(key, -1)
		if key == "output" {
			role = as.of("value", -1)
		}
		begin := len(r.out)
		r.text(quoted, true)
		name := string(r.out[begin:])
		r.out = r.out[:begin]
		if r.value(role); r.wrong != "" {
			return nil, nil, t.Fail("%s", r.wrong)
		}
		value := bytes.Clone(r.out[begin:])
		r.out = r.out[:begin]
		if _, twice := fields[key]; twice {
			return nil, nil, t.Fail("the record has two fields %q", key)
		}
		switch key {
		case "process", "f", "key", "value", "output", "call", "return":
		case "type":
			return nil, nil, t.Fail(`the record has a "type", which events have; expected an operation with a "call" and a "return"`)
		case "index", "time":
		default:
			others = append(append(append(append(others, ", "...), name...), ' '), value...)
		}
		fields[key] = value
	}
	return fields, others, nil
}
