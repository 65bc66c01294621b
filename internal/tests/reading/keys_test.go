package reading_test

import (
	"context"
	"strings"
	"testing"

	"clew"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// A history of independent keys that nobody has told of is INVALID exactly if some key is, as one object and key by key.
func TestKeysThatNobodyHasToldOfAreNoFailure(t *testing.T) {
	t.Parallel()
	r := gen.Rand(63)
	seen := map[string]int{}
	nothing, err := clew.Read(strings.NewReader(""), "", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range effort.Histories(1500, 30000) {
		spec := models.Spec{Name: []string{"register", "cas-register", "fifo-queue", "stack", "set", "mutex", "unordered-queue", "counter"}[i%8]}
		var keys []*jepsen.History
		for range 2 + r.IntN(2) {
			g := gen.New(r, gen.Options{Model: spec.Name, Operations: 3 + r.IntN(4)})
			h, err := clew.Read(strings.NewReader(g.Text), "", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, h)
		}
		k := kit.Interleave(r, keys, nothing)
		text := strings.Join(k.Whole, "\n")
		check := func(o clew.Options) (jepsen.Verdict, jepsen.Cause) {
			h := kit.ReadLines(t, k.Whole)
			x, err := clew.Check(context.Background(), h, spec, o)
			if err != nil {
				return jepsen.Unknown, jepsen.Unreadable
			}
			return x.Verdict, x.Cause
		}
		each, _ := check(clew.Options{Independent: true})
		one, _ := check(clew.Options{Whole: true})
		got, cause := check(clew.Options{})
		switch {
		case one != jepsen.Invalid: // as one object it may be all right, or not readable
			if got != one {
				t.Fatalf("%s: %v, and as one object %v\n%s", spec.Name, got, one, text)
			}
			seen["as one object"]++
		case each == jepsen.Invalid && got != jepsen.Invalid:
			t.Fatalf("%s: %v (%s), although it is invalid in both ways\n%s", spec.Name, got, cause, text)
		case each != jepsen.Invalid && (got != jepsen.Unknown || cause != jepsen.Reading):
			t.Fatalf("%s: %v (%s), although its keys are %v\n%s", spec.Name, got, cause, each, text)
		case each == jepsen.Invalid:
			seen["invalid"]++
		default:
			seen["not known how to read"]++
		}
	}
	for _, what := range []string{"as one object", "invalid", "not known how to read"} {
		if seen[what] < 5 {
			t.Errorf("%s: %d", what, seen[what])
		}
	}
	t.Log(seen)
}
