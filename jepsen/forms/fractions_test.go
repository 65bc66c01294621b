package forms

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew/jepsen"
)

// Times that are seconds with a fraction order operations as the integers do that they are in nanoseconds.
func TestTimesMayBeSecondsWithAFraction(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var whole, parts strings.Builder
		for p := range 1 + r.IntN(8) {
			call := 1_700_000_000_000_000_000 + r.Int64N(50)*[]int64{1, 1000, 100_000_000}[r.IntN(3)]
			back := call + r.Int64N(20)
			seconds := func(ns int64) string { return strings.TrimSuffix(fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9), "00") }
			const record = `{"process":%d,"f":"write","value":1,"call":%s,"return":%s}` + "\n"
			fmt.Fprintf(&whole, record, p, fmt.Sprint(call), fmt.Sprint(back))
			fmt.Fprintf(&parts, record, p, seconds(call), seconds(back))
		}
		var events [2]string
		for i, text := range []string{whole.String(), parts.String()} {
			h, err := Read(strings.NewReader(text), "h", jepsen.Options{})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			events[i] = fmt.Sprint(h.Type, h.Process, h.OpOf)
		}
		if events[0] != events[1] {
			t.Fatalf("%s\n%s\n%s", events[0], events[1], parts.String())
		}
	}
	for text, want := range map[string]string{
		`{"process":0,"f":"read","call":1.5,"return":2}`:       `expected seconds with a fraction for "return", such as 1700000000.25, as in the records before, found 2`,
		`{"process":0,"f":"read","call":1,"return":2.5}`:       `expected an integer for "return"`,
		`{"process":0,"f":"read","call":1.5e9,"return":2.5e9}`: `expected an integer for "call"`,
		`{"process":0,"f":"read","call":2.5,"return":1.5}`:     "before its call",
		`{"process":0,"f":"read","call":1.5,"done":2.5}`:       `the record has "done" and no "return"`,
		`{"process":0,"f":"read","call":11111111111.5}`:        `expected an integer for "call"`,
	} {
		if _, err := Read(strings.NewReader(text), "h", jepsen.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; expected %s", text, err, want)
		}
	}
}
