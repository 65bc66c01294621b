package testops

import (
	"math/rand/v2"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// Registers describes random operations on a cas-register.
type Registers struct {
	N, Processes, Values, Crashes int
	Reads, Writes                 int  // of 10 operations, the others are cas
	FailedCAS                     bool // some are cas that failed and are observed
}

// DrawRegisters draws such a description. There are least to most operations.
func DrawRegisters(r *rand.Rand, least, most, crashes int) Registers {
	return Registers{
		N: least + r.IntN(most-least+1), Processes: 2 + r.IntN(7), Values: 2 + r.IntN(5), Crashes: r.IntN(crashes + 1),
		Reads: 1 + r.IntN(6), Writes: r.IntN(4), FailedCAS: r.IntN(5) == 0,
	}
}

// Run returns a run on a real register in which s.Crashes operations crash.
// Some of those take effect, at some time.
func (s Registers) Run(r *rand.Rand) *models.Operations {
	type op struct {
		inv, res int32
		op       models.Op
		took     bool
		crash    bool
	}
	var all, busy, ghosts []*op
	crashAt := map[int]bool{}
	for len(crashAt) < min(s.Crashes, s.N/2) {
		crashAt[r.IntN(s.N)] = true
	}
	state, event, running := int32(0), int32(0), 0
	value := func() int32 { return int32(r.IntN(s.Values)) }
	take := func(o *op) {
		o.took = true
		switch {
		case o.op.Kind == models.Read:
			o.op.A = state
		case o.op.Kind == models.Write:
			state = o.op.A
		case o.crash || s.FailedCAS && r.IntN(3) == 0:
			if o.op.A == state {
				state = o.op.B
			} else if !o.crash {
				o.op.Kind, o.op.B = models.FailedCAS, 0
			}
		default:
			o.op.A = state // it succeeds
			state = o.op.B
		}
	}
	for len(all) < s.N || len(busy) > 0 {
		if len(ghosts) > 0 && r.IntN(10) == 0 {
			i := r.IntN(len(ghosts))
			take(ghosts[i])
			ghosts = append(ghosts[:i], ghosts[i+1:]...)
		}
		if len(all) < s.N && running < s.Processes && (len(busy) == 0 || r.IntN(2) == 0) {
			o := &op{inv: event, res: models.Open, crash: crashAt[len(all)]}
			k := r.IntN(10)
			switch {
			case k < s.Reads && !o.crash:
				o.op = models.Op{Kind: models.Read}
			case k < s.Reads+s.Writes:
				o.op = models.Op{Kind: models.Write, A: value()}
			default:
				o.op = models.Op{Kind: models.CAS, A: value(), B: value()}
			}
			event++
			all = append(all, o)
			if o.crash {
				ghosts = append(ghosts, o)
				continue
			}
			busy, running = append(busy, o), running+1
			continue
		}
		i := r.IntN(len(busy))
		o := busy[i]
		if !o.took {
			take(o)
			continue
		}
		o.res = event
		event++
		busy, running = append(busy[:i], busy[i+1:]...), running-1
	}
	ops := ofRegister()
	ops.Events = event
	for i, o := range all {
		ops.Append(o.inv, o.res, o.op)
		ops.Of = append(ops.Of, jepsen.Operation(i))
	}
	return ops
}

// Disturb gives some completed reads and cas another value.
func Disturb(r *rand.Rand, ops *models.Operations, values int) {
	for range 1 + r.IntN(3) {
		if i := r.IntN(ops.Len()); ops.Res[i] != models.Open && ops.Kind[i] != models.Write {
			ops.A[i] = int32(r.IntN(values))
		}
	}
}

// ofRegister returns a cas-register without operations. The model's numbers are
// values of a table; here they stand for themselves.
func ofRegister() *models.Operations {
	d, err := models.Spec{Name: "cas-register", Init: "nil", ObserveFailedCAS: true}.Model(edn.NewValues())
	if err != nil {
		panic(err)
	}
	return &models.Operations{Model: d}
}
