package ownmodels_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew/internal/effort"

	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// machine is a model whose operations are rows of a table: each leads from each of a few states to several. Some rows
// overwrite, and some never change a state.
type machine [][][]int // by row and state

func newMachine(r *rand.Rand) machine {
	states := 2 + r.IntN(8)
	m := make(machine, 3+r.IntN(5))
	for row := range m {
		m[row] = make([][]int, states)
		kind, to := r.IntN(4), r.IntN(states)
		for s := range states {
			switch {
			case kind == 0:
				m[row][s] = []int{to}
			case kind == 1 && r.IntN(2) == 0:
				m[row][s] = []int{s}
			case kind == 2 && r.IntN(3) == 0:
				m[row][s] = []int{r.IntN(states)}
			case kind == 3:
				for range r.IntN(3) {
					m[row][s] = append(m[row][s], r.IntN(states))
				}
			}
		}
	}
	return m
}

// init returns the initial state, one in the middle.
func (m machine) init() int { return len(m[0]) / 2 }

// model returns the machine as a user's own model, which may declare what is true of its rows.
func (m machine) model(r *rand.Rand) models.Spec {
	f := models.Func[int]{Name: "machine", Init: m.init(), Ops: map[string]models.StepFunc[int]{}}
	for row, steps := range m {
		name := fmt.Sprint("row", row)
		f.Ops[name] = func(s int, _ models.Call) ([]int, error) {
			if len(steps[s]) == 0 {
				return nil, models.Inconsistent("not in %d", s)
			}
			return steps[s], nil
		}
		reads, overwrites := true, true
		for s, next := range steps {
			for _, to := range next {
				reads = reads && to == s
			}
			overwrites = overwrites && len(next) == 1 && next[0] == steps[0][0]
		}
		if reads && r.IntN(2) == 0 {
			f.Reads = append(f.Reads, name)
		}
		if overwrites && r.IntN(2) == 0 {
			f.Overwrites = append(f.Overwrites, name)
		}
	}
	return models.Own(f.Definition())
}

// history returns n operations of three processes. Most of them take effect as they begin.
func (m machine) history(r *rand.Rand, n int) string {
	var b strings.Builder
	open := map[int]int{}
	now, next := m.init(), 3
	processes := []int{0, 1, 2}
	for n > 0 || len(open) > 0 {
		i := r.IntN(len(processes))
		p := processes[i]
		row, busy := open[p]
		typ := "invoke"
		switch {
		case busy && r.IntN(12) == 0:
			typ = "info"
			processes[i], next = next, next+1
			delete(open, p)
		case busy:
			typ = "ok"
			delete(open, p)
		case n == 0:
			continue
		default:
			row = r.IntN(len(m))
			for range 20 {
				if len(m[row][now]) > 0 || r.IntN(30) == 0 {
					break
				}
				row = r.IntN(len(m))
			}
			if to := m[row][now]; len(to) > 0 {
				now = to[r.IntN(len(to))]
			}
			open[p] = row
			n--
		}
		fmt.Fprintf(&b, "{:process %d, :type :%s, :f :row%d, :value nil}\n", p, typ, row)
	}
	return b.String()
}

// Leaving operations out of a core, by what operations do in all states, leaves a core that fails. The oracle
// confirms that, and that it fails where the history does.
func TestCoresOfRandomMachines(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	n := 1000
	if effort.Long() {
		n = 100_000
	} else if effort.Few() {
		n = 200
	}
	r := gen.Rand(23)
	invalid, less := 0, 0
	for range n {
		m := newMachine(r)
		x := kit.Judged(t, m.model(r), m.history(r, 5+r.IntN(26)), "window")
		if x.Verdict == jepsen.Invalid {
			invalid++
			changing := 0
			for op := range jepsen.Operation(x.History.Operations()) {
				if x.History.Invocation[op] < x.FailEvent.OrNone() {
					changing++
				}
			}
			if 2*len(x.Core) < changing {
				less++
			}
		}
	}
	if 5*invalid < n || 5*invalid > 4*n || 3*less < invalid {
		t.Errorf("of %d, %d are invalid, and %d of these have a core of less than half", n, invalid, less)
	}
}

// A model file of few states has cores as small as those of its built-in twin.
func TestCoresOfModelFilesAreSmall(t *testing.T) {
	t.Parallel()
	for _, kind := range []gen.LongKind{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead} {
		for seed := range uint64(3) {
			var b strings.Builder
			if _, err := gen.Long(&b, gen.LongOptions{Model: "cas-register", Kind: kind, Operations: 1500, Processes: 8, Values: 5, Seed: seed}); err != nil {
				t.Fatal(err)
			}
			var sizes [2]int
			for i, spec := range []models.Spec{{Name: "cas-register"}, models.Own(kit.StarModel(t, "cas-register"))} {
				h, _, err := campaign.ReadText(spec, b.String())
				if err != nil {
					t.Fatal(err)
				}
				r, err := campaign.Checked(h, spec, "frontier")
				if err != nil || r.Verdict != jepsen.Invalid {
					t.Fatal(r, err)
				}
				sizes[i] = len(r.Core)
			}
			if sizes[1] > 2*sizes[0] {
				t.Errorf("kind %d, seed %d: the core of the model file has %d operations, that of the built-in model %d", kind, seed, sizes[1], sizes[0])
			}
		}
	}
}
