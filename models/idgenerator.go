package models

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/jepsen"
)

// Generate is the kind of id-generator: it gave out A, a value class. If ids grow, B is a
// place in the model's numbers.
const Generate Kind = 0

// idGenerator gives out ids. A state holds the sorted classes of the ids given out. If ids
// grow, it holds the last one, as a counter does, and nothing initially.
type idGenerator struct {
	v       *edn.Values
	record  string
	f       [2]edn.ID
	growing bool
	numbers integers
	traits  Traits
}

var idGeneratorDefinition = Definition{
	Name: "id-generator", Fs: ":generate (or :take) -> id", About: "ids, all distinct or growing",
	Params: []Param{ParamIDs},
	NoInit: "it starts with no ids given out",
	Record: "clew.model.IDGenerator",
	New: func(b *Binding) (Reader, error) {
		f := b.v.InternKeyword
		m := &idGenerator{v: b.v, record: b.record, f: [2]edn.ID{f("generate"), f("take")}, growing: b.Spec.GrowingIDs}
		m.traits = Traits{
			Run:       m.run,
			Shape:     func() Shape { return IDsShape{Growing: m.growing, Numbers: m.numbers.list} },
			Droppable: &Droppable{Touches: func(op Op) ([]int32, bool) { return []int32{op.A}, false }},
		}
		return m, nil
	},
}

func (m *idGenerator) Read(o Operation) (op Op, keep bool, err error) {
	if !slices.Contains(m.f[:], o.f) {
		return op, false, ErrUnknownF
	}
	if o.status == jepsen.Crashed {
		return op, false, nil // it may have given out any id
	}
	if _, ok := m.v.Int(o.value); o.value == edn.Nil || m.growing && !ok {
		what := "an id"
		if m.growing {
			what = "an integer, as ids grow"
		}
		return op, false, fmt.Errorf("expected %s, found %s", what, m.v.Text(o.value))
	}
	op.A = int32(m.v.Same(o.value))
	if m.growing {
		op.B = m.numbers.of(m.v, o.value)
	}
	return op, true, nil
}

func (m *idGenerator) Init() State { return nil }

func (m *idGenerator) Step(dst []State, s State, op Op) []State {
	if m.growing {
		if n := m.numbers.list[op.B]; len(s) == 0 || n > number(s) {
			return append(dst, stateOf(n))
		}
		return dst
	}
	i, found := slices.BinarySearch(s, op.A)
	if found {
		return dst
	}
	return append(dst, slices.Insert(slices.Clone(s), i, op.A))
}

// run begins a run. Every step takes constant time.
func (m *idGenerator) run(s State) Run {
	if m.growing {
		return &lastID{m, s}
	}
	return givenIDs{newMembers(s)}
}

type givenIDs struct{ *members }

func (r givenIDs) Apply(op Op) Outcome {
	if r.has(op.A) {
		return Impossible
	}
	r.add(op.A)
	return One
}

type lastID struct {
	m *idGenerator
	s State
}

func (r *lastID) Apply(op Op) Outcome {
	next := r.m.Step(nil, r.s, op)
	if len(next) == 0 {
		return Impossible
	}
	r.s = next[0]
	return One
}

func (r *lastID) State() State { return r.s }

func (r *lastID) States(func()) []State { return []State{r.s} }

func (m *idGenerator) Mutates(Op) bool { return true }

// Traits implements Model.
func (m *idGenerator) Traits() *Traits { return &m.traits }

func (m *idGenerator) Why(s State, op Op) string {
	if id := m.v.Text(edn.ID(op.A)); !m.growing {
		return id + " was given out before"
	} else {
		return fmt.Sprintf("%s is not greater than %d", id, number(s))
	}
}

func (m *idGenerator) Record(s State) edn.Value {
	if !m.growing {
		return record(m.v, m.record, field{"given", m.v.InternSet(ids(s))})
	}
	last := edn.Nil
	if len(s) > 0 {
		last = m.v.InternInt(number(s))
	}
	return record(m.v, m.record, field{"last", last})
}
