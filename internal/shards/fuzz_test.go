package shards_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"clew/internal/fuzzing"
	"clew/internal/outputs"
	"clew/internal/shards"
	"clew/report"
)

// These are a shard of two, where each has some independent keys of a history, and
// the other shard.
const (
	firstKeys = `{"file":"b.edn","valid":false,"model":"register","analyzer":"clew/fast-register","op-index":3,"op-line":4,"events":4,"operations":2,"explanation":"key :b: <value> 7","verified":true,"warnings":["w"],"keys":2,"failures":[":b"],"run":{"test":"b","read":true,"shard":"1/2","at":0,"part":{"first":1,"event":3,"failures":[1]},"details":{"pattern":"never-written","at":{"line":4,"col":1},"core":["{:f :read}"],"keys":{"total":2,"invalid":1,"list":[{"row":0,"key":":a","valid":true},{"row":1,"key":":b","valid":false,"explanation":"value 7","at":{"line":4,"col":1},"core":["{:f :read}"]}]}}}}
{"trailer":{"shard":"1/2","list":"fe","listed":1,"lines":1,"sums":"0000000000000000","settings":"--shard-keys true","invalid":1}}
`
	otherKeys = `{"file":"b.edn","valid":true,"model":"register","analyzer":null,"events":4,"operations":2,"verified":true,"warnings":[],"keys":0,"run":{"test":"b","read":true,"shard":"2/2","at":0,"part":{"first":-1,"event":-1},"details":{"keys":{"total":0,"list":null}}}}
{"trailer":{"shard":"2/2","list":"fe","listed":1,"lines":1,"sums":"0000000000000000","settings":"--shard-keys true","valid":1}}
`
)

// FuzzMerge puts two texts together as shards, without a panic and with the same result in both
// orders. It prints the result in every form; JSON and XML can be read back.
func FuzzMerge(f *testing.F) {
	f.Add(strings.ReplaceAll(firstKeys, "}\n", sealed), strings.ReplaceAll(otherKeys, "}\n", sealed))
	f.Add(shard(1, 2, 5), shard(2, 2, 5))
	f.Add(shard(1, 1, 3), "")
	f.Add(shard(1, 1, 2), shard(2, 2, 2))
	f.Add(strings.ReplaceAll(shard(1, 1, 1), `"at":0`, `"at":0,"member":1,"members":2`), "{}\n[1]\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		defer fuzzing.Guard(t)()
		lines, err := merge(first, second)
		swapped, errSwapped := merge(second, first)
		if (err == nil) != (errSwapped == nil) {
			t.Fatalf("%v; swapped: %v", err, errSwapped)
		}
		if err != nil {
			return
		}
		if text, other := texts(lines), texts(swapped); text != other {
			t.Fatalf("merged\n%s\nswapped\n%s", text, other)
		}
		o := outputs.Options{Version: "v", Table: report.NewTable(report.TextOptions{})}
		var records []outputs.Record
		for _, l := range lines {
			o.Table.Fit(l.Run.Test, l.Run.Time)
			records = append(records, outputs.Record{Line: l.Line, Run: l.Run.Run, Details: l.Run.Details})
		}
		for _, form := range outputs.Merge() {
			var out string
			if form.All != nil {
				out = form.All(records, &o)
			} else {
				for i := range records {
					out += form.Each(&records[i], &o)
				}
			}
			if err := readsBack(form.Name, out); err != nil {
				t.Errorf("%s: %v\n%s", form.Name, err, out)
			}
		}
	})
}

// sealed ends a line with a wrong checksum.
const sealed = `,"sum":"0000000000000000"}` + "\n"

func merge(parts ...string) ([]shards.Line, error) {
	var m shards.Merger
	for i, text := range parts { // a fuzzer does not find checksums, so this corrects them
		if err := m.Read(strings.NewReader(resealed(text)), string(rune('a'+i))); err != nil {
			return nil, err
		}
	}
	return m.Lines()
}

func texts(lines []shards.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(outputs.JSONLine(l))
	}
	return b.String()
}

// readsBack returns an error if the readers of a report's form cannot read it.
func readsBack(form, text string) error {
	switch form {
	case "junit":
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := d.Token(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	case "sarif":
		if !json.Valid([]byte(text)) {
			return errors.New("no JSON")
		}
	case "json":
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				return errors.New("no JSON: " + line)
			}
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		return errors.New("the last line has no end")
	}
	if !utf8.ValidString(text) {
		return errors.New("no UTF-8")
	}
	return nil
}
