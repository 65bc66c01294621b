// Package testops makes operations for the tests and benchmarks of the engines, and shrinks
// them.
package testops

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/gen"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// Simulated returns a run of processes on a real cas-register with a few
// values. An operation takes effect at some instant between its invocation and
// its return.
func Simulated(n, processes, values int, crash float64, seed uint64) *models.Operations {
	r := rand.New(rand.NewPCG(seed, 1))
	type op struct {
		inv, res int32
		op       models.Op
		took     bool
	}
	var all []*op
	var busy, idle []*op
	for range processes {
		idle = append(idle, nil)
	}
	state, event := int32(0), int32(0)
	for len(all) < n || len(busy) > 0 {
		if len(all) < n && len(idle) > 0 && (len(busy) == 0 || r.IntN(2) == 0) {
			o := &op{inv: event, res: models.Open}
			switch o.op.A, o.op.B = int32(r.IntN(values)), int32(r.IntN(values)); r.IntN(3) {
			case 0:
				o.op = models.Op{Kind: models.Read}
			case 1:
				o.op = models.Op{Kind: models.Write, A: o.op.A}
			default:
				o.op.Kind = models.CAS
			}
			event++
			all, busy, idle = append(all, o), append(busy, o), idle[1:]
			continue
		}
		i := r.IntN(len(busy))
		o := busy[i]
		if !o.took {
			o.took = true
			switch o.op.Kind {
			case models.Read:
				o.op.A = state
			case models.Write:
				state = o.op.A
			default:
				o.op.A = state // it succeeds
				state = o.op.B
			}
			continue
		}
		if r.Float64() >= crash {
			o.res = event
			event++
		}
		busy, idle = append(busy[:i], busy[i+1:]...), append(idle, nil)
	}
	d, err := models.Spec{Name: "cas-register", Init: "nil"}.Model(edn.NewValues())
	if err != nil {
		panic(err)
	}
	ops := &models.Operations{Model: d}
	ops.Events = event
	for _, o := range all {
		if o.res != models.Open || o.op.Kind != models.Read {
			ops.Append(o.inv, o.res, o.op)
		}
	}
	return ops
}

// Counter is a model with endlessly many states: every operation may happen in
// every state, and no two orders lead to the same state.
type Counter struct {
	Panics bool
	Stop   func() // unless nil, is called in each step
}

func (c Counter) Init() models.State { return models.State{0} }

func (c Counter) Step(dst []models.State, s models.State, op models.Op) []models.State {
	if c.Panics {
		panic("the model is broken")
	}
	if c.Stop != nil {
		c.Stop()
	}
	if op.Kind == 1 {
		return dst // the operation that never fits
	}
	return append(dst, models.State{s[0]*31 + op.A})
}

func (c Counter) Mutates(models.Op) bool { return true }

func (c Counter) Why(models.State, models.Op) string { return "never" }

func (c Counter) Record(models.State) edn.Value { return edn.Value{} }

func (c Counter) Traits() *models.Traits { return &models.Traits{} }

// Endless returns n concurrent operations and one that never fits: n! orders.
func Endless(n int32, m models.Model) *models.Operations {
	ops := &models.Operations{Model: m}
	for i := range n {
		ops.Append(i, n+1+i, models.Op{A: i})
	}
	ops.Append(n, 2*n+1, models.Op{Kind: 1})
	ops.Events = 2*n + 2
	return ops
}

// Generated reads one of gen's histories, and returns it with its text.
func Generated(t testing.TB, spec models.Spec, o gen.Options, seed uint64) (*models.Operations, string) {
	t.Helper()
	o.Model, o.Permits, o.MaxHolds = spec.Name, spec.Permits, models.DefaultMaxHolds
	text := gen.New(gen.Rand(seed), o).Text
	return Read(t, spec, text), text
}

// Read reads a history.
func Read(t testing.TB, spec models.Spec, text string) *models.Operations {
	t.Helper()
	h, err := forms.Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops, err := spec.Read(h)
	if err != nil {
		t.Fatal(err)
	}
	return ops
}

// Models returns a spec for every model.
func Models() []models.Spec {
	var specs []models.Spec
	for _, about := range models.All() {
		spec := models.Spec{Name: about.Name}
		if spec.Name == "semaphore" || spec.Name == "owner-semaphore" {
			spec.Permits = 3
		}
		specs = append(specs, spec)
	}
	return specs
}

// Boundary removes crashed operations from a history until one more changes the
// verdict, and returns the history with and without that one. It returns false
// if no operation does, or if judge cannot decide it.
func Boundary(r *rand.Rand, ops *models.Operations, judge func(*models.Operations) jepsen.Verdict) (with, without *models.Operations, ok bool) {
	var crashed []int32
	for row, res := range ops.Res {
		if res == models.Open {
			crashed = append(crashed, int32(row))
		}
	}
	r.Shuffle(len(crashed), func(i, j int) { crashed[i], crashed[j] = crashed[j], crashed[i] })
	keep := func(n int) *models.Operations {
		stays := make([]bool, ops.Len())
		for row, res := range ops.Res {
			stays[row] = res != models.Open
		}
		for _, row := range crashed[:n] {
			stays[row] = true
		}
		var rows []int32
		for row, stay := range stays {
			if stay {
				rows = append(rows, int32(row))
			}
		}
		return ops.Select(rows)
	}
	// Crashed operations are optional: adding one never makes a history fail.
	low, high := 0, len(crashed)
	if high == 0 || judge(keep(0)) != jepsen.Invalid || judge(ops) != jepsen.Valid {
		return nil, nil, false
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		switch judge(keep(middle)) {
		case jepsen.Valid:
			high = middle
		case jepsen.Invalid:
			low = middle
		default:
			return nil, nil, false
		}
	}
	return keep(high), keep(low), true
}

// Shrink removes rows from a history as long as it stays wrong.
func Shrink(ops *models.Operations, wrong func(*models.Operations) bool) *models.Operations {
	for chunk := ops.Len() / 2; chunk > 0; chunk /= 2 {
		for from := 0; from < ops.Len(); {
			var rows []int32
			for row := range int32(ops.Len()) {
				if int(row) < from || int(row) >= from+chunk {
					rows = append(rows, row)
				}
			}
			if fewer := ops.Select(rows); wrong(fewer) {
				ops = fewer
			} else {
				from += chunk
			}
		}
	}
	return ops
}

// Text prints operations row by row.
func Text(ops *models.Operations) string {
	var b strings.Builder
	for row := range int32(ops.Len()) {
		fmt.Fprintf(&b, "%d-%d %+v\n", ops.Inv[row], ops.Res[row], ops.Op(row))
	}
	return b.String()
}
