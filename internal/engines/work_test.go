package engines

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// How far auto may be behind the best of its engines: mostTimes as much work, plus
// smallWork. That is some milliseconds, in which the first engine has its long
// first turn and each other one has a turn or two. A history that none of them
// decides within patientWork is not judged.
const (
	mostTimes   = 5
	smallWork   = 1_500_000
	patientWork = 5_000_000
)

// cell is a history of the grid. fail is its first failing completion if it was
// made with a certain one, otherwise -1.
type cell struct {
	name       string
	spec       models.Spec
	text, init string
	fail       int
}

// grid calls f with histories of all sorts, every skip-th of them.
func grid(t *testing.T, skip int, f func(cell)) {
	n := 0
	taken := func() bool { n++; return n%skip == 0 }
	for _, processes := range []int{2, 10, 60, 100} {
		for _, values := range []int{2, 5, 20} {
			for _, crashed := range []int{0, 8, 60} {
				size := fmt.Sprintf("%d processes, %d values, %d crashed", processes, values, crashed)
				for _, s := range sources() {
					if strings.HasPrefix(s.name, "long ") || !taken() {
						continue
					}
					const operations = 400
					values := values
					if s.name == "kv" {
						values = min(values, 4) // gen does not have more
					}
					h := gen.History{Way: gen.Guess} // one that is random throughout fails at its beginning
					for seed := uint64(0); h.Way == gen.Guess; seed++ {
						h = gen.New(gen.Rand(seed), gen.Options{Model: s.name, Operations: operations, Processes: processes, Values: values,
							Permits: s.spec.Permits, MaxHolds: s.spec.MaxHolds, Crashes: (float64(crashed) + 0.1) / operations})
					}
					f(cell{s.name + ", " + size, s.spec, h.Text, h.Init, -1})
				}
				longGrid(t, gen.LongOptions{Operations: 600, Processes: processes, Values: values, Crashed: crashed, Seed: 1}, func(o gen.LongOptions) {
					if !taken() {
						return
					}
					var b strings.Builder
					fail, err := gen.Long(&b, o)
					if err != nil {
						t.Fatal(err)
					}
					f(cell{fmt.Sprintf("%s, kind %d at %g, %s", o.Model, o.Kind, o.At, size), models.Spec{Name: o.Model}, b.String(), "", fail})
				})
			}
		}
	}
}

// longGrid calls f with every model of long histories and every fault that they
// can have, early and late.
func longGrid(t *testing.T, o gen.LongOptions, f func(gen.LongOptions)) {
	for _, model := range []string{"register", "cas-register", "multi-register", "lookup-set", "fifo-queue", "unordered-queue"} {
		faults := []gen.LongKind{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead}
		if strings.HasSuffix(model, "queue") {
			faults = faults[2:]
		}
		o.Model, o.Kind = model, gen.Linearizable
		f(o)
		for _, o.Kind = range faults {
			for _, o.At = range []float64{0.1, 0.5, 0.9} {
				f(o)
			}
		}
	}
}

// If one engine decides a history with little work, auto decides it with not much more.
func TestAutoIsNeverFarBehindItsOwnEngines(t *testing.T) {
	skip := 37
	switch {
	case effort.Long():
		skip = 1
	case effort.Few():
		skip = 199
	}
	histories, judged, worst, worstName := 0, 0, 0.0, ""
	grid(t, skip, func(c cell) {
		c.spec.Init = c.init
		for _, ops := range testops.Read(t, c.spec, c.text).Parts() {
			histories++
			if c.fail >= 0 && histories%2 == 0 {
				// So the fast path hands it on: an operation that is open at the failure
				// counts as crashed.
				ops = ops.Prefix(int32(c.fail)).Operations
			}
			best, by := int64(patientWork), ""
			for _, r := range rivals[1:] {
				if a := within(r.engine, ops, best); a.Verdict != jepsen.Unknown && a.Work <= best {
					best, by = a.Work, r.name
				}
			}
			if by == "" {
				continue
			}
			judged++
			a := within(easyFirst{}, ops, 10*(mostTimes*best+smallWork))
			if a.Verdict == jepsen.Unknown || a.Work > mostTimes*best+smallWork {
				t.Errorf("%s: %d units of work by auto (%s, %s), %d by %s", c.name, a.Work, a.By, a.Cause, best, by)
			}
			if behind := float64(a.Work) / float64(best); a.Work > smallWork && behind > worst {
				worst, worstName = behind, fmt.Sprintf("%s: %d by auto (%s), %d by %s", c.name, a.Work, a.By, best, by)
			}
		}
	})
	t.Logf("%d of %d histories judged; of those that take more than %d, at most %.1f times the work: %s", judged, histories, smallWork, worst, worstName)
	if 2*judged < histories {
		t.Error("that tells too little")
	}
}

// within lets an engine do at most some work.
func within(e fallback.Engine, ops *models.Operations, work int64) fallback.Answer {
	return enginetest.Bounded{Engine: e, Work: work}.Decide(context.Background(), ops, fallback.Limits{Memory: models.NewMemory(1 << 30)})
}
