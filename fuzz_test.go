package clew_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/edn"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
)

// FuzzCheck reads any text as a history with any model: what can be read is
// decided without a panic, by every algorithm alike, with evidence that stands
// up, and the result map reads back.
func FuzzCheck(f *testing.F) {
	names := []string{"register", "cas-register", "multi-register", "mutex", "set", "fifo-queue", "unordered-queue", "kv"}
	for i, name := range names {
		for seed := range uint64(4) {
			f.Add(uint8(i), gen.New(gen.Rand(seed), gen.Options{Model: name}).Text)
		}
	}
	f.Fuzz(func(t *testing.T, model uint8, text string) {
		spec := models.Spec{Name: names[int(model)%len(names)]}
		h, err := jepsen.Read(strings.NewReader(text), "h", jepsen.Options{})
		if err != nil || h.Operations() > 12 {
			return
		}
		var first *jepsen.Result
		for _, algorithm := range []string{"auto", "porcupine"} {
			r, err := clew.Check(context.Background(), h, spec, clew.Options{Algorithm: algorithm, Verify: true, TimeLimit: time.Second})
			if err != nil {
				return // the model cannot read it
			}
			if r.Verdict == jepsen.Unknown {
				return
			}
			if first == nil {
				first = r
			}
			if r.Verdict != first.Verdict || r.Op != first.Op {
				t.Errorf("%s says %s at event %d; %s %s at %d", r.Analyzer, r.Verdict, r.Op, first.Analyzer, first.Verdict, first.Op)
			}
			if _, err := edn.NewValues().ParseLenient([]byte(r.EDN())); err != nil {
				t.Errorf("%v in %s", err, r.EDN())
			}
		}
	})
}
