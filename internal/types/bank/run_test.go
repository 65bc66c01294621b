package bank

import (
	"math/rand/v2"
	"slices"
	"testing"

	"clew/models"
)

// A run agrees with Step, step by step, and leaves the states alone that it shows.
func TestRunsAgreeWithStep(t *testing.T) {
	for _, negative := range []bool{false, true} {
		refused, empty := 0, 0
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 2))
			m := &bank{negative: negative}
			m.Initial = withBalance(withBalance(nil, 1, 3), 4, 2)
			for range 30 {
				m.transfers = append(m.transfers, transfer{from: r.Int32N(5), to: r.Int32N(5), amount: r.Int32N(4)})
			}
			s, run := m.Initial, m.run(m.Initial)
			for range 100 {
				op := models.Op{Kind: bankTransfer, A: r.Int32N(30)}
				if r.IntN(4) == 0 {
					read := s
					if r.IntN(2) == 0 {
						read = withBalance(slices.Clone(s), r.Int32N(5), 2)
					}
					op = models.Op{Kind: bankRead, A: int32(len(m.reads))}
					m.reads = append(m.reads, read)
				}
				before := slices.Clone(s)
				next, outcome := m.Step(nil, s, op), run.Apply(op)
				if outcome != models.OneIf(len(next) > 0) || !slices.Equal(s, before) {
					t.Fatalf("seed %d: %v in %v: outcome %d, by Step %v", seed, op, s, outcome, next)
				}
				if len(next) > 0 {
					s = next[0]
				} else {
					refused++
				}
				if len(s) < len(before) {
					empty++
				}
				if !slices.Equal(run.State(), s) {
					t.Fatalf("seed %d: after %v the state is %v, by Step %v", seed, op, run.State(), s)
				}
			}
		}
		if refused < 100 || empty < 100 {
			t.Errorf("%d steps refused, %d left an account empty", refused, empty)
		}
	}
}
