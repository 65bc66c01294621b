package oracle

import (
	"encoding/binary"
	"fmt"

	_ "clew/internal/types"         // the data types
	_ "clew/internal/types/seconds" // their second readings
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

// Decide decides every prefix that ends in a completion. It panics if a longer
// one is linearizable though a shorter one is not: then there is an error here
// or in the model.
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

// Of returns operations with their model's meaning.
func Of(ops *models.Operations, o Options) *History {
	h := New(&ops.Columns, SpecOf(ops.Model))
	h.Plain = o.Plain
	return h
}

// SpecOf returns a model as a spec. Its states are the model's states, as State
// encodes them.
func SpecOf(m models.Model) Spec {
	return Spec{Init: State(m.Init()...), Step: func(dst []string, op models.Op, state string) []string {
		for _, next := range m.Step(nil, decode(state), op) {
			dst = append(dst, State(next...))
		}
		return dst
	}}
}

// State encodes numbers as a state of a spec, four bytes each.
func State(numbers ...int32) string {
	b := make([]byte, 0, 4*len(numbers))
	for _, x := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return string(b)
}

// Number returns one of the numbers of a State.
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
// operations in done leads to a wanted state. done has to include all
// operations that had returned. The order ends in last, unless done is empty.
func Reaches(ops *models.Operations, t int32, done []int32, last int32, wanted func(models.State) bool) bool {
	if (len(done) == 0) != (last < 0) {
		return false
	}
	return Of(ops, Options{}).reaches(t, SetOf(done), last, func(state string) bool { return wanted(decode(state)) })
}
