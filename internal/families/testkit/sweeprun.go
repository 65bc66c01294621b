package testkit

import (
	"math/rand/v2"
	"testing"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// SweepRun is a simulation for benchmarks. Each operation happens at a
// random instant between its invocation and its return.
type SweepRun struct {
	Ops, Processes int
	// Begin returns the operation that a process wants next. Happen returns
	// what the operation turns out to be, if it can happen now.
	Begin  func(process int32) models.Op
	Happen func(op models.Op) (models.Op, bool)
}

// Run returns the history.
func (s SweepRun) Run(rng *rand.Rand) *models.Columns {
	c := &models.Columns{}
	open := make([]int32, s.Processes) // plus 1
	happened := make([]bool, s.Processes)
	for busy := 0; c.Len() < s.Ops || busy > 0; {
		p := rng.Int32N(int32(s.Processes))
		switch {
		case open[p] == 0:
			if c.Len() < s.Ops {
				open[p], happened[p] = int32(c.Len())+1, false
				c.Append(c.Events, models.Open, s.Begin(p))
				c.Events++
				busy++
			}
		case !happened[p]:
			i := open[p] - 1
			op, ok := s.Happen(c.Op(i))
			happened[p] = ok
			c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
			if !ok && c.Len() == s.Ops { // it may never be able to happen
				open[p] = 0
				busy--
			}
		default:
			c.Res[open[p]-1] = c.Events
			c.Events++
			open[p] = 0
			busy--
		}
	}
	return c
}

// BenchSweep measures deciding a valid history.
func BenchSweep(b *testing.B, c *models.Columns, decide func(c *models.Columns, want fastpath.Want) fastpath.Decision) {
	for _, want := range []fastpath.Want{fastpath.WantVerdict, fastpath.WantWitness} {
		b.Run([...]string{"decide", "witness"}[want], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if d := decide(c, want); d.Verdict != jepsen.Valid {
					b.Fatalf("%v: %+v", d.Verdict, d.Reason)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.Len()), "ns/operation")
		})
	}
}

// BenchOps is the usual number of operations.
const BenchOps = 1_000_000
