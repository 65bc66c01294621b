// Package oracle decides small histories by trying everything, for tests only.
//
// It is the search of Wing & Gong (1993) as they wrote it: pick any operation
// that no other one had to precede, run it, go on; back up if that leads
// nowhere. It shares no code with the engines in fallback, nor with
// models.Replay and Operations.Prefix: of a model it uses Step, and of operations
// their columns. A Spec of a test's own takes the place of a model if a wrong
// Step is to show. The number of orders grows with the
// factorial of the number of operations; ten are a lot.
//
// Naive goes further and reads the text of a history by itself, with its own
// pairing and its own sequential specifications, so that a wrong reading in
// jepsen or models shows too.
package oracle

import (
	"encoding/binary"
	"fmt"

	"clew/models"
)

// Options say how to search.
type Options struct {
	// Plain searches without remembering where it has been.
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

// Decide decides every prefix that ends in a completion, and panics if a
// longer one is linearizable though a shorter one is not: that would be wrong
// here or in the model.
func Decide(ops *models.Operations, o Options) Answer {
	h := Of(ops, o)
	order, ok := h.Order(h.Events, h.All())
	a := Answer{Linearizable: ok, Fail: -1, Order: order}
	for _, e := range h.completions() {
		ok := h.Linearizable(e+1, h.All())
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

// Of is operations as their model has them.
func Of(ops *models.Operations, o Options) *History {
	h := New(&ops.Columns, SpecOf(ops.Model))
	h.Plain = o.Plain
	return h
}

// SpecOf is a model as a spec, whose states are State of the model's.
func SpecOf(m models.Model) Spec {
	return Spec{Init: State(m.Init()...), Step: func(dst []string, op models.Op, state string) []string {
		for _, next := range m.Step(nil, decode(state), op) {
			dst = append(dst, State(next...))
		}
		return dst
	}}
}

// State is numbers as a state of a spec, four bytes each.
func State(numbers ...int32) string {
	b := make([]byte, 0, 4*len(numbers))
	for _, x := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return string(b)
}

// Number is one of the numbers of a State.
func Number(state string, i int) int32 {
	s := state[4*i:]
	return int32(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

func decode(state string) models.State {
	s := make(models.State, len(state)/4)
	for i := range s {
		s[i] = Number(state, i)
	}
	return s
}

// Reaches says whether, with the events before t, some order of exactly the
// operations done, all those that had returned among them, leads to a state
// that is wanted. The last of the order is last, unless done is empty.
func Reaches(ops *models.Operations, t int32, done []int32, last int32, wanted func(models.State) bool) bool {
	if (len(done) == 0) != (last < 0) {
		return false
	}
	return Of(ops, Options{}).reaches(t, SetOf(done), last, func(state string) bool { return wanted(decode(state)) })
}
