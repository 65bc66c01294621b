package jsonops

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"clew/edn"
	"clew/internal/opmap"
	"clew/jepsen/forms/internal/scan"
)

// Record is an interval record: an operation with the times of its call and its
// return.
type Record struct {
	Process, F, Value, Output, Key edn.ID // Output counts if HasOutput
	HasOutput                      bool   // otherwise it is missing or null
	NullOutput                     bool   // it is null, and not {"edn":"nil"}
	Has                            opmap.Fields
	Call, Return                   int64
	Crashed                        bool
	Line, Col                      int

	// Its events have a layout, with these values of other keys and then the time.
	// Otherwise Events holds them as text.
	Layout *opmap.Layout
	Others []byte // valid until the next record
	Events []opmap.Event
}

// recordHoles are the known keys of interval records. Others are only shown.
var recordHoles = map[string]hole{":process": processHole, ":f": fHole, ":value": valueHole, ":key": keyHole,
	":output": outputHole, ":call": callHole, ":return": returnHole, ":index": droppedHole, ":time": droppedHole}

func recordKeys(keys []string) []string {
	shown := []string{":process", ":type", ":f", ":value"}
	if slices.Contains(keys, ":key") {
		shown = append(shown, ":key")
	}
	for _, key := range keys {
		if recordHoles[key] == otherHole {
			shown = append(shown, key)
		}
	}
	return append(shown, ":time")
}

// NextRecord does the same as Next for interval records.
func (r *Reader) NextRecord(rec *Record) error {
	if r.ops == 0 {
		r.quick.holes, r.quick.shown, r.quick.odd = recordHoles, recordKeys, misnamed
	}
	err := r.each(func(i int) int { return r.quick.record(r.Data, i, rec) }, func(record []byte) error { return r.record(record, rec) })
	rec.Line, rec.Col = r.begins.Line, r.begins.Col
	return err
}

// record reads the record at i if it is like others. It returns its end, or -1.
func (l *quickReader) record(data []byte, i int, r *Record) int {
	*r = Record{Crashed: true, Has: opmap.HasType | opmap.HasValue}
	l.data, l.others = data, l.others[:0]
	step := &l.tree.Root
	as, valueAt, outputAt, called, ends, number, failed := opRole, -1, -1, false, false, false, false
	for at := i; ; {
		if next := step.First; next != nil && next.At(data, at) {
			step = next
		} else if step = step.After(data, at); step == nil {
			return -1
		}
		at += step.Size
		switch step.About.hole {
		case otherHole:
			if step.About.layout != nil {
				if !called || !r.isWhole() || number && !ends || failed && !r.Crashed { // the number may be the time of its return
					return -1
				}
				r.Layout, r.Others, r.HasOutput = step.About.layout, l.others, outputAt >= 0 && !r.NullOutput
				return at
			}
			number = number || at < len(data) && data[at]-'0' < 10
			at = l.other(at)
		case outcomeHole:
			begin := at
			number = number || at < len(data) && data[at]-'0' < 10
			if at = l.other(at); at >= 0 {
				_, perhaps := step.About.outcome.failure(data[begin:at])
				if failed = failed || perhaps; perhaps && step.About.outcome.isFail(data[begin:at]) {
					return -1
				}
			}
		case droppedHole:
			others := len(l.others)
			at = l.other(at)
			l.others = l.others[:others]
		case processHole:
			r.Process, at = l.process(at)
			r.Has |= opmap.HasProcess
		case fHole:
			begin := at
			if r.F, at = l.word(at); at < 0 || l.V.Kind(r.F) != edn.KindKeyword {
				return -1
			}
			r.Has |= opmap.HasF
			if string(data[begin:at]) == string(txn) {
				as = txnRole
				if valueAt >= 0 { // they have been read as values of another operation
					r.Value, _ = l.value(valueAt, stepsRole)
				}
				if outputAt >= 0 {
					r.Output, _ = l.value(outputAt, stepsRole)
				}
			}
		case valueHole:
			valueAt = at
			r.Value, at = l.value(at, as.of("value", -1))
		case outputHole:
			outputAt, r.NullOutput = at, at < len(data) && data[at] == 'n'
			r.Output, at = l.value(at, as.of("value", -1))
		case keyHole:
			r.Key, at = l.value(at, plainRole)
			r.Has |= opmap.HasKey
		case callHole:
			r.Call, at = l.time(at)
			called = true
		case returnHole:
			ends = true
			if at < len(data) && data[at] == 'n' { // null
				_, at = l.value(at, plainRole)
				break
			}
			r.Return, at = l.time(at)
			r.Crashed = false
		}
		if at < 0 {
			return -1
		}
	}
}

// isWhole says whether a record with a call has everything else that it needs, and makes sense.
func (r *Record) isWhole() bool {
	const all = opmap.HasProcess | opmap.HasF
	if r.Crashed {
		return r.Has&all == all && r.Output == edn.Nil
	}
	return r.Has&all == all && r.Return >= r.Call
}

// record reads a checked record of any kind. It writes its events as EDN, and then
// reads them like op maps.
func (r *Reader) record(op []byte, rec *Record) error {
	fields, names, others, err := r.fields(op)
	if err != nil {
		return err
	}
	for _, key := range []string{"process", "f", "call"} {
		if !given(fields[key]) {
			found := ""
			if i := slices.IndexFunc(names, func(name string) bool { return opmap.IsOtherName(name, key) }); i >= 0 {
				found = fmt.Sprintf("%q and ", names[i])
			}
			return r.Fail(`the record has %sno "%s"; expected one such as {"process":0,"f":"read","output":1,"call":10,"return":20}`, found, key)
		}
	}
	if fields["f"][0] != ':' {
		return r.Fail(`expected the name of a function for "f", such as "read", found %s`, scan.Clip(fields["f"]))
	}
	*rec = Record{Crashed: !given(fields["return"]), Events: make([]opmap.Event, 2)}
	if rec.Call, err = r.time(fields, "call"); err != nil {
		return err
	}
	if slices.ContainsFunc(names, func(name string) bool { return outcomeOf(name).isFail(fields[name]) }) {
		return r.failedRecord(fields, names, others, rec)
	}
	if name, found := returnOf(rec.Call, fields, names); found {
		return r.Fail(`the record has %q and no "return"; expected "return" for the time at which it returned, or null if it is not known whether it happened`, name)
	}
	told := textOf(op, "output")
	rec.NullOutput = string(told) == "null"
	value := cmp.Or(string(fields["value"]), "nil")
	kind, output := ":info", value
	switch {
	case rec.Crashed && given(fields["output"]):
		return r.Fail(`the record has an "output" and no "return"; expected the time at which it returned`)
	case rec.Crashed:
		rec.Return = rec.Call
	default:
		if err := r.returned(fields, rec); err != nil {
			return err
		}
		if err := r.failed(fields, names); err != nil {
			return err
		}
		kind = ":ok"
		if told != nil && !rec.NullOutput {
			output = string(fields["output"])
		}
	}
	if err := r.event(&rec.Events[0], ":invoke", value, rec.Call, fields, others); err != nil {
		return err
	}
	if err := r.event(&rec.Events[1], kind, output, rec.Return, fields, others); err != nil {
		return err
	}
	rec.Events[0].Misnamed = misnamed(names)
	rec.Events[1].Misnamed = rec.Events[0].Misnamed
	return nil
}

// failedRecord makes the events of an operation that failed. Without a "return",
// it may have continued to the end.
func (r *Reader) failedRecord(fields map[string][]byte, names []string, others []byte, rec *Record) (err error) {
	rec.Crashed, rec.Return = false, math.MaxInt64
	ended := rec.Call
	if given(fields["return"]) {
		if err := r.returned(fields, rec); err != nil {
			return err
		}
		ended = rec.Return
	}
	value := cmp.Or(string(fields["value"]), "nil")
	if err := r.event(&rec.Events[0], ":invoke", value, rec.Call, fields, others); err != nil {
		return err
	}
	return r.event(&rec.Events[1], ":fail", value, ended, fields, others)
}

// returnOf returns the field that may be the return time of a record without "return". It is
// a field with such a name, or another one that could be it and that no known program adds.
func returnOf(call int64, fields map[string][]byte, names []string) (name string, found bool) {
	if fields["return"] != nil {
		return "", false
	}
	if i := slices.IndexFunc(names, func(name string) bool { return opmap.IsOtherName(name, "return") }); i >= 0 {
		return names[i], true
	}
	for _, name := range names {
		time, err := strconv.ParseInt(string(fields[name]), 10, 64)
		if ns, is := fraction(fields[name]); is {
			time, err = ns, nil
		}
		if err == nil && time >= call && opmap.MayBeOtherName(name) {
			return name, true
		}
	}
	return "", false
}

// misnamed returns what is suspicious about records with the given keys, which may be
// written as keywords. Such records are still read, since the value may not matter.
func misnamed(keys []string) *opmap.Misnamed {
	other := func(expected string) (name string, found bool) {
		i := slices.IndexFunc(keys, func(key string) bool { return opmap.IsOtherName(key, expected) })
		if i < 0 {
			return "", false
		}
		return strconv.Quote(strings.TrimPrefix(keys[i], ":")), true
	}
	has := func(name string) bool { return slices.Contains(keys, name) || slices.Contains(keys, ":"+name) }
	if name, found := other("value"); found && !has("value") {
		return &opmap.Misnamed{Found: name, Expected: `"value"`, Known: true, Missing: true, Invoked: true, Returned: !has("output")}
	}
	if name, found := other("output"); found {
		return &opmap.Misnamed{Found: name, Expected: `"output"`, Known: true, Missing: !has("output"), Returned: true}
	}
	if name, found := other("key"); found && !has("key") {
		return &opmap.Misnamed{Found: name, Expected: `"key"`, Known: true, Missing: true, Invoked: true}
	}
	if i := slices.IndexFunc(keys, opmap.MayBeOtherName); i >= 0 && !has("output") {
		return &opmap.Misnamed{Found: strconv.Quote(strings.TrimPrefix(keys[i], ":")), Expected: `"output"`, Missing: true, Returned: true}
	}
	return nil
}

func (r *Reader) event(e *opmap.Event, kind, value string, time int64, fields map[string][]byte, others []byte) error {
	var line bytes.Buffer
	line.WriteString("{:process " + string(fields["process"]) + ", :type " + kind + ", :f " + string(fields["f"]) + ", :value " + value)
	if key := fields["key"]; key != nil {
		line.WriteString(", :key " + string(key))
	}
	line.Write(others)
	line.WriteString(", :time " + strconv.FormatInt(time, 10) + "}")
	var read opmap.Event
	if err := r.opMap(line.Bytes(), &read); err != nil {
		return err
	}
	*e = opmap.Event{Process: read.Process, Type: read.Type, F: read.F, Value: read.Value, Key: read.Key, Index: read.Index, Has: read.Has, Text: line.Bytes()}
	return nil
}

func given(text []byte) bool { return text != nil && string(text) != "nil" }

// returned reads when a record returned.
func (r *Reader) returned(fields map[string][]byte, rec *Record) (err error) {
	if rec.Return, err = r.time(fields, "return"); err == nil && rec.Return < rec.Call {
		err = r.Fail("the record returns at %d, before its call at %d", rec.Return, rec.Call)
	}
	return err
}

// time reads a time. The first one of a history says whether all are integers, or seconds with a fraction.
func (r *Reader) time(fields map[string][]byte, key string) (int64, error) {
	text := fields[key]
	ns, isFraction := fraction(text)
	if r.quick.times == unknownTimes && isFraction {
		r.quick.times = fractions
	} else if r.quick.times == unknownTimes {
		r.quick.times = integers
	}
	if r.quick.times == fractions {
		if !isFraction {
			return 0, r.Fail(`expected seconds with a fraction for "%s", such as 1700000000.25, as in the records before, found %s`, key, scan.Clip(text))
		}
		return ns, nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n == math.MinInt64 {
		return 0, r.Fail(`expected an integer for "%s", such as nanoseconds of a clock, found %s%s`, key, scan.Clip(text), asNanoseconds(key, text))
	}
	return n, nil
}

// timesKind says how the times of a history are written.
type timesKind uint8

const (
	unknownTimes timesKind = iota
	integers
	fractions // of seconds, such as 1700000000.25
)

// fraction reads seconds with a fraction as nanoseconds, without rounding: of digits beyond these, it leaves out all, which
// may make two times equal and does not exchange any.
func fraction(text []byte) (ns int64, is bool) {
	seconds, part, is := bytes.Cut(text, []byte("."))
	if !is || len(seconds) == 0 || len(seconds) > 10 || len(part) == 0 {
		return 0, false
	}
	nine := append(bytes.Clone(part), "00000000"...)[:9]
	for _, c := range append(append(bytes.Clone(seconds), part...), nine...) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	whole, err := strconv.ParseInt(string(seconds)+string(nine), 10, 64)
	return whole, err == nil
}

func (r *Reader) equal(a, b []byte) bool {
	v := r.quick.V
	x, err := v.ParseLenient(a)
	if err != nil {
		return false
	}
	y, err := v.ParseLenient(b)
	return err == nil && v.Same(x) == v.Same(y)
}

// fields returns the values of the record's fields as EDN, their names in order,
// and the text of those that are only shown.
func (r *Reader) fields(op []byte) (fields map[string][]byte, names []string, others []byte, err error) {
	e := &r.asEDN
	fields = map[string][]byte{}
	as := opRole
	if isTxn(op) {
		as = txnRole
	}
	e.op, e.at, e.out, e.wrong = op, 1, e.out[:0], ""
	for e.blank() != '}' {
		quoted := e.op[e.at:Literal(e.op, e.at)]
		e.at += len(quoted)
		key := string(unquoted(quoted))
		role := as.of(key, -1)
		if key == "output" {
			role = as.of("value", -1)
		}
		begin := len(e.out)
		e.text(quoted, true)
		name := string(e.out[begin:])
		e.out = e.out[:begin]
		if e.value(role); e.wrong != "" {
			return nil, nil, nil, r.Fail("%s", e.wrong)
		}
		value := bytes.Clone(e.out[begin:])
		e.out = e.out[:begin]
		if old, twice := fields[key]; twice {
			if r.equal(old, value) {
				continue
			}
			return nil, nil, nil, r.Fail("the record has two fields %q with different values", key)
		}
		switch key {
		case "process", "f", "key", "value", "output", "call", "return":
		case "type":
			return nil, nil, nil, r.Fail(`the record has a "type", which events have; expected an operation with a "call" and a "return"`)
		case "index", "time":
		default:
			others = append(append(append(append(others, ", "...), name...), ' '), value...)
		}
		fields[key], names = value, append(names, key)
	}
	return fields, names, others, nil
}

// asNanoseconds says how a time that is a fraction or a date is written as an integer, "" if it is neither.
func asNanoseconds(key string, found []byte) string {
	text := string(bytes.Trim(found, `"`))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds == seconds && math.Abs(seconds) < 1<<33 {
		return fmt.Sprintf(`; if it is in seconds, write "%s": %d (time.time_ns() in Python)`, key, int64(math.Round(seconds*1e6))*1000)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return fmt.Sprintf(`; write "%s": %d, the nanoseconds since 1970 (in Python, int(t.timestamp() * 1e6) * 1000)`, key, at.UnixNano())
		}
	}
	return ""
}
