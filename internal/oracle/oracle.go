// Package oracle decides small histories by trying everything, for tests only.
//
// It is the search of Wing & Gong (1993) as they wrote it: pick any operation
// that no other one had to precede, run it, go on; back up if that leads
// nowhere. It shares no code with the engines in fallback, nor with
// models.Replay and Operations.Prefix: it uses only the Step of a model and the
// columns of its operations. The number of orders grows with the factorial of
// the number of operations; ten are a lot.
//
// Naive goes further and reads the text of a history by itself, with its own
// pairing and its own sequential specifications, so that a wrong reading in
// jepsen or models shows too.
package oracle

import (
	"fmt"
	"slices"

	"clew/models"
)

// Options say how to search.
type Options struct {
	// Bag is unordered-queue's exception: if some completed dequeue found the
	// queue empty, dequeues and drains that are open at the end of a prefix
	// count as crashed ones of unknown value.
	Bag bool
	// Plain means a search that does not remember where it has been.
	Plain bool
}

// Answer is what Decide found.
type Answer struct {
	Linearizable bool
	// Fail is the first failing completion, an event, or -1.
	Fail int32
	// Order is a linearization, as rows, if there is one.
	Order []int32
}

// MaxOperations bounds what one search takes: its sets are bits of a uint32.
const MaxOperations = 32

// Decide decides every prefix that ends in a completion, and panics if a longer
// one is linearizable although a shorter one is not: then something would be
// wrong here or in the model.
func Decide(ops *models.Operations, o Options) Answer {
	if ops.Len() > MaxOperations {
		panic(fmt.Sprintf("oracle: %d operations are too many", ops.Len()))
	}
	order, ok := linearize(before(ops, ops.Events, o), o)
	a := Answer{Linearizable: ok, Fail: -1, Order: order}
	for e := int32(0); e < ops.Events; e++ {
		if !slices.Contains(ops.Res, e) {
			continue
		}
		_, ok := linearize(before(ops, e+1, o), o)
		if !ok && a.Fail < 0 {
			a.Fail = e
		}
		if ok && a.Fail >= 0 {
			panic(fmt.Sprintf("oracle: linearizable up to event %d but not up to event %d", e, a.Fail))
		}
	}
	if a.Linearizable != (a.Fail < 0) {
		panic("oracle: the whole history and its longest prefix differ")
	}
	return a
}

// An action is an operation as it counts in a prefix.
type action struct {
	row      int32
	inv, res int32 // res is beyond every event if the action is optional
	op       models.Op
}

// problem is a prefix: what must and what may happen in it.
type problem struct {
	model   models.Model
	actions []action
}

const never = models.Open

func (a action) optional() bool { return a.res == never }

// before is the prefix of the events before t.
func before(ops *models.Operations, t int32, o Options) problem {
	p := problem{model: ops.Model}
	empties := o.Bag && slices.Contains(ops.Kind, models.DequeueEmpty)
	for i := 0; i < len(ops.Inv); i++ {
		if ops.Inv[i] >= t {
			continue
		}
		a := action{int32(i), ops.Inv[i], ops.Res[i], models.Op{Kind: ops.Kind[i], A: ops.A[i], B: ops.B[i]}}
		if a.res >= t {
			a.res = never
			// A crashed dequeue that names its value keeps it.
			if empties && ops.Res[i] != models.Open {
				switch a.op.Kind {
				case models.Dequeue:
					a.op = models.Op{Kind: models.DequeueAny}
				case models.Drain:
					a.op = models.Op{Kind: models.DrainAny}
				}
			}
		}
		p.actions = append(p.actions, a)
	}
	return p
}

// search is one run over a problem.
type search struct {
	problem
	all   uint32          // what must happen
	seen  map[string]bool // nil: plain
	order []int32
}

func linearize(p problem, o Options) ([]int32, bool) {
	s := &search{problem: p}
	if !o.Plain {
		s.seen = map[string]bool{}
	}
	for i, a := range p.actions {
		if !a.optional() {
			s.all |= 1 << i
		}
	}
	ok := s.from(0, p.model.Init())
	return s.order, ok
}

// from says whether what has to happen can, once done has and led to state.
func (s *search) from(done uint32, state models.State) bool {
	if done&s.all == s.all {
		return true
	}
	if s.seen != nil {
		key := key(done, state)
		if s.seen[key] {
			return false
		}
		s.seen[key] = true
	}
	for i, a := range s.actions {
		if done&(1<<i) != 0 || !s.mayBeNext(i, done) {
			continue
		}
		for _, next := range s.model.Step(nil, state, a.op) {
			s.order = append(s.order, a.row)
			if s.from(done|1<<i, next) {
				return true
			}
			s.order = s.order[:len(s.order)-1]
		}
	}
	return false
}

// mayBeNext says whether no action outside done had to happen before action i.
func (p problem) mayBeNext(i int, done uint32) bool {
	for j, b := range p.actions {
		if done&(1<<j) == 0 && b.res < p.actions[i].inv {
			return false
		}
	}
	return true
}

func key(done uint32, state models.State) string {
	b := make([]byte, 0, 4+4*len(state))
	for _, x := range append([]int32{int32(done)}, state...) {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return string(b)
}

// Reaches says whether, with the events before t, some order of exactly the
// operations done, all those that had returned among them, leads to a wanted
// state. The order must end with last, unless done is empty.
func Reaches(ops *models.Operations, t int32, done []int32, last int32, wanted func(models.State) bool, o Options) bool {
	p := before(ops, t, o)
	goal, lastAt := uint32(0), -1
	for i, a := range p.actions {
		if slices.Contains(done, a.row) {
			goal |= 1 << i
		} else if !a.optional() {
			return false
		}
		if a.row == last {
			lastAt = i
		}
	}
	if (len(done) == 0) != (last < 0) || last >= 0 && (lastAt < 0 || goal&(1<<lastAt) == 0) {
		return false
	}
	seen := map[string]bool{}
	var from func(done uint32, state models.State) bool
	from = func(done uint32, state models.State) bool {
		if done == goal {
			return wanted(state)
		}
		key := key(done, state)
		if seen[key] {
			return false
		}
		seen[key] = true
		for i, a := range p.actions {
			bit := uint32(1) << i
			if done&bit != 0 || goal&bit == 0 || !p.mayBeNext(i, done) || i == lastAt && done|bit != goal {
				continue
			}
			for _, next := range p.model.Step(nil, state, a.op) {
				if from(done|bit, next) {
					return true
				}
			}
		}
		return false
	}
	return from(0, p.model.Init())
}
