package verdicts_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"clew"
	"clew/internal/campaign"
	"clew/internal/fuzzing"
	"clew/internal/gen"
	"clew/internal/second"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// FuzzWitness gives the verifier of witnesses an order of a history's operations. The order begins as a
// linearization, if there is one, and may have been tampered with. The verifier must accept it if and only if a naive
// replay does, which reads the history on its own. An order that is written and read again must be the same.
func FuzzWitness(f *testing.F) {
	configs := campaign.Configs()
	for i := range configs {
		f.Add(uint8(i), uint64(i), []byte{})
		f.Add(uint8(i), uint64(i), []byte{byte(i % 5), 0, 1})
	}
	f.Fuzz(func(t *testing.T, config uint8, seed uint64, edits []byte) {
		defer fuzzing.Guard(t)()
		r := gen.Rand(seed)
		spec := campaign.WithParameters(r, configs[int(config)%len(configs)])
		o := campaign.GenOptions(spec)
		o.Init = true
		g := gen.New(r, o)
		spec.Init = g.Init
		h, ops, err := campaign.ReadText(spec, g.Text)
		if err != nil {
			return
		}
		result, err := clew.Check(context.Background(), h, spec, clew.Options{TimeLimit: 500 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		order := slices.Clone(result.Witness)
		if result.Verdict != jepsen.Valid {
			for op := range jepsen.Operation(h.Operations()) {
				if h.Status[op] != jepsen.Failed {
					order = append(order, op)
				}
			}
		}
		order = tampered(order, h.Operations(), edits)
		numbers := make([]int, len(order))
		for i, op := range order {
			numbers[i] = int(op)
		}
		want, err := second.Replay(g.Text, campaign.NaiveOptions(spec), numbers, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = clew.Verify(h, spec, order)
		if err == nil && !want {
			// An operation that the model leaves out because it changes nothing takes no step: a crashed transfer
			// from an account to itself.
			want, _ = second.Replay(g.Text, campaign.NaiveOptions(spec), numbers, unread(h, ops))
		}
		var refused *clew.WitnessError
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		if want != (err == nil) {
			t.Fatalf("%s: a linearization: %v; the verifier says %v of %v\n%s", campaign.Name(spec), want, err, order, g.Text)
		}
		if refused != nil {
			if refused.Position < 0 || refused.Position > len(order) {
				t.Fatalf("refused at %d of %v", refused.Position, order)
			}
			return
		}
		var text bytes.Buffer
		shown := report.Result{History: h, Verdict: jepsen.Valid, Witness: order}
		if err := shown.WriteWitness(&text); err != nil {
			t.Fatal(err)
		}
		written := text.String()
		again, err := report.ReadWitness(&text, "w", h)
		if err != nil || !slices.Equal(again, order) {
			t.Fatalf("%v is read back as %v, %v\n%s\nof\n%s", order, again, err, written, g.Text)
		}
	})
}

// unread returns the crashed operations that a model has no row for.
func unread(h *jepsen.History, ops *models.Operations) (numbers []int) {
	for op := range jepsen.Operation(h.Operations()) {
		if h.Status[op] == jepsen.Crashed && !slices.Contains(ops.Of, op) {
			numbers = append(numbers, int(op))
		}
	}
	return numbers
}

// tampered returns an order of n operations after some changes of three bytes each.
func tampered(order []jepsen.Operation, n int, edits []byte) []jepsen.Operation {
	for ; len(edits) >= 3 && len(order) > 0 && len(order) < 100; edits = edits[3:] {
		i, j := int(edits[1])%len(order), int(edits[2])%len(order)
		op := order[i]
		switch edits[0] % 5 {
		case 0:
			order[i], order[j] = order[j], order[i]
		case 1: // moved
			order = slices.Insert(slices.Delete(order, i, i+1), j, op)
		case 2:
			order = slices.Delete(order, i, i+1)
		case 3: // twice
			order = slices.Insert(order, j, op)
		case 4: // any other, or one that does not exist
			order = slices.Insert(order, i, jepsen.Operation(int(edits[2])%(n+2)-1))
		}
	}
	return order
}
