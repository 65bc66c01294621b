package forms

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew/jepsen"
)

// A missing output, null and {"edn":"nil"} differ, whether a record is read like the ones before it or in the general
// way, and come back from a conversion.
func TestOutputsOfNothing(t *testing.T) {
	for _, c := range []struct {
		fields, want string
	}{
		{`"value":1,`, "1 false"},
		{`"value":1,"output":null,`, "1 true"},
		{`"output":null,"value":1,`, "1 true"},
		{`"value":1,"output": null ,`, "1 true"},
		{`"value":1,"output":{"edn":"nil"},`, "nil false"},
		{`"value":null,"output":null,`, "nil false"},
		{`"output":null,`, "nil false"},
		{`"value":1,"output":{"edn":"null"},`, "null false"},
		{`"value":1,"output":2,`, "2 false"},
		{`"value":1,"\u006futput":null,`, "1 true"},
		{`"value":1,"\u006futput":{"edn":"nil"},`, "nil false"},
		{`"value":1,"output":null,"output":null,`, "1 true"},
	} {
		var text strings.Builder
		for n := range 3 {
			fmt.Fprintf(&text, "{\"process\":1,\"f\":\"pop\",%s\"call\":%d,\"return\":%d}\n", c.fields, 2*n, 2*n+1)
		}
		read := func(text string) *jepsen.History {
			h, err := Read(strings.NewReader(text), "h.jsonl", jepsen.Options{})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			for op := range jepsen.Operation(3) {
				if got := fmt.Sprint(h.Values.Text(h.OpValue(op)), " ", slices.Contains(h.NullOutputs(), h.Completion[op])); got != c.want {
					t.Errorf("operation %d: %s, want %s\n%s", op, got, c.want, text)
				}
			}
			return h
		}
		read(text.String())
		var again bytes.Buffer
		if _, err := Convert(&again, strings.NewReader(text.String()), "h.jsonl", "", Intervals); err != nil {
			t.Fatal(err)
		}
		read(again.String())
	}
}
