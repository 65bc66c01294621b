package testops

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// Stacks describes random operations on a stack.
type Stacks struct {
	N, Processes, Values, Crashes int
	Peeks, Pops                   int  // of 20 operations, the others are pushes
	Initial                       int  // initial elements
	Named                         bool // crashed pops say what they take
	Wrong                         int  // wrong answers
}

// DrawStacks draws such a description. There are least to most operations.
func DrawStacks(r *rand.Rand, least, most, crashes int) Stacks {
	s := Stacks{N: least + r.IntN(most-least+1), Processes: 2 + r.IntN(5), Values: 1 + r.IntN(4), Crashes: r.IntN(crashes + 1), Pops: 6 + r.IntN(8), Named: r.IntN(4) == 0}
	if r.IntN(2) == 0 {
		s.Peeks = r.IntN(6)
	}
	if r.IntN(3) == 0 {
		s.Initial = 1 + r.IntN(3)
	}
	if r.IntN(3) > 0 {
		s.Wrong = 1 + r.IntN(2)
	}
	return s
}

// stackOp is an operation of a run.
type stackOp struct {
	inv, res    int32
	op          models.Op
	took, crash bool
}

// stackRun is one run.
type stackRun struct {
	Stacks
	r                 *rand.Rand
	values            []int32 // the model's numbers
	stack             []int32 // with the top last
	all, busy, ghosts []*stackOp
	event             int32
}

// Run returns a run on a real stack in which s.Crashes operations crash. Some of
// those take effect, at some time. s.Wrong answers are wrong.
func (s Stacks) Run(r *rand.Rand) *models.Operations {
	v := edn.NewValues()
	x := &stackRun{Stacks: s, r: r}
	for i := range s.Values {
		x.values = append(x.values, int32(v.Same(v.InternInt(int64(i)))))
	}
	initial := make([]string, s.Initial)
	for i := range initial {
		n := r.IntN(s.Values)
		x.stack, initial[i] = append(x.stack, x.values[n]), fmt.Sprint(n)
	}
	m, err := models.Spec{Name: "stack", Init: "[" + strings.Join(initial, " ") + "]"}.Model(v)
	if err != nil {
		panic(err)
	}
	x.run()
	x.err()
	ops := &models.Operations{Model: m}
	ops.Events = x.event
	for i, o := range x.all {
		if o.res != models.Open || o.op.Kind != models.Peek {
			ops.Append(o.inv, o.res, o.op)
			ops.Of = append(ops.Of, jepsen.Operation(i))
		}
	}
	return ops
}

func (x *stackRun) value() int32 { return x.values[x.r.IntN(x.Values)] }

func (x *stackRun) run() {
	crashAt := map[int]bool{}
	for len(crashAt) < min(x.Crashes, x.N/2) {
		crashAt[x.r.IntN(x.N)] = true
	}
	for len(x.all) < x.N || len(x.busy) > 0 {
		if len(x.ghosts) > 0 && x.r.IntN(10) == 0 {
			i := x.r.IntN(len(x.ghosts))
			x.take(x.ghosts[i])
			x.ghosts = append(x.ghosts[:i], x.ghosts[i+1:]...)
		}
		if len(x.all) < x.N && len(x.busy) < x.Processes && (len(x.busy) == 0 || x.r.IntN(2) == 0) {
			x.begin(crashAt[len(x.all)])
			continue
		}
		i := x.r.IntN(len(x.busy))
		o := x.busy[i]
		if !o.took {
			x.take(o)
			continue
		}
		o.res = x.event
		x.event++
		x.busy = append(x.busy[:i], x.busy[i+1:]...)
	}
}

// begin begins an operation.
func (x *stackRun) begin(crash bool) {
	o := &stackOp{inv: x.event, res: models.Open, crash: crash}
	x.event++
	switch k := x.r.IntN(20); {
	case k < x.Peeks:
		o.op.Kind = models.Peek
	case k < x.Peeks+x.Pops:
		if o.op.Kind = models.Pop; crash {
			if o.op.Kind = models.PopAny; x.Named {
				o.op = models.Op{Kind: models.Pop, A: x.value()}
			}
		}
	default:
		o.op = models.Op{Kind: models.Push, A: x.value()}
	}
	x.all = append(x.all, o)
	if crash {
		x.ghosts = append(x.ghosts, o)
	} else {
		x.busy = append(x.busy, o)
	}
}

// take lets an operation take effect.
func (x *stackRun) take(o *stackOp) {
	o.took = true
	top := len(x.stack) - 1
	switch {
	case o.op.Kind == models.Push:
		x.stack = append(x.stack, o.op.A)
	case o.crash:
		if top >= 0 && (o.op.Kind == models.PopAny || o.op.Kind == models.Pop && o.op.A == x.stack[top]) {
			x.stack = x.stack[:top]
		}
	case top < 0:
		o.op = models.Op{Kind: models.PopEmpty}
	default:
		if o.op.A = x.stack[top]; o.op.Kind == models.Pop {
			x.stack = x.stack[:top]
		}
	}
}

// err makes answers wrong.
func (x *stackRun) err() {
	for range x.Wrong {
		if o := x.all[x.r.IntN(len(x.all))]; !o.crash && o.op.Kind != models.Push {
			if o.op.A = x.value(); o.op.Kind == models.PopEmpty {
				o.op.Kind = models.Pop
			} else if x.r.IntN(4) == 0 {
				o.op = models.Op{Kind: models.PopEmpty}
			}
		}
	}
}
