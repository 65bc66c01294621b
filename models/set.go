package models

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/jepsen"
)

// Kinds of set. A is the value added, or the set read, as an index into sets. If no set
// equals the value that was read, A is the class of that value.
const (
	Add Kind = iota
	ReadSet
	ReadNoSet
)

// set only grows and is read as a whole. A state holds its sorted value classes.
type set struct {
	v           *edn.Values
	record      string
	fAdd, fRead edn.ID
	knossos     bool
	init        State
	sets        []State
	reads       []edn.ID // by set: the value as it was read
	traits      Traits
}

var setDefinition = Definition{
	Name: "set", Fs: ":add v, :read", About: "a set that only grows, read as a whole",
	Repeating: []string{"add"},
	Default:   "#{}",
	Record:    "knossos.model.Set",
	Verbs:     map[string]string{":add": "added"},
	Knossos:   "in Knossos only a set is a set, and no vector or list (3)",
	Infer: func(s *Seen) Fit {
		return fitsIf(s.Any(":add") && s.Only(":add", ":read") && s.ReadsCollections())
	},
	New: newSet,
}

func newSet(b *Binding) (Reader, error) {
	v, init := b.v, b.init
	m := &set{v: v, record: b.record, fAdd: v.InternKeyword("add"), fRead: v.InternKeyword("read"), knossos: b.Spec.Knossos}
	m.traits = Traits{
		Shape:   func() Shape { return GrowSetShape{Init: m.init, Sets: m.sets} },
		Opening: m.opening,
		Run:     func(s State) Run { return setRun{newMembers(s), m} }, // a read takes time linear in the set that it read
	}
	if init != nil {
		if !isCollection(v.Kind(*init)) {
			return nil, paramErrorf("set's %s must be a set such as #{1 2}, not %s", ParamInit, v.Text(*init))
		}
		m.init = elements(v, *init)
	}
	return m, nil
}

func isCollection(k edn.Kind) bool {
	return k == edn.KindSet || k == edn.KindVector || k == edn.KindList
}

// elements returns the set of a collection's elements. It sorts many of them with bits.
func elements(v *edn.Values, id edn.ID) State {
	items := v.Items(id)
	if len(items) >= pageBits {
		in := &members{}
		for _, item := range items {
			in.add(int32(v.Same(item)))
		}
		return in.State()
	}
	var s State
	for _, item := range items {
		s = append(s, int32(v.Same(item)))
	}
	slices.Sort(s)
	return slices.Compact(s)
}

func (m *set) Read(o Operation) (Op, bool, error) {
	kind := m.v.Kind(o.value)
	switch {
	case o.f == m.fAdd:
		return Op{Add, int32(m.v.Same(o.value)), 0}, true, nil
	case o.f != m.fRead:
		return Op{}, false, ErrUnknownF
	case o.status == jepsen.Crashed:
		return Op{}, false, nil
	case kind == edn.KindSet, isCollection(kind) && !m.knossos:
		m.sets = append(m.sets, elements(m.v, o.value))
		m.reads = append(m.reads, o.value)
		return Op{ReadSet, int32(len(m.sets) - 1), 0}, true, nil
	case m.knossos:
		return Op{ReadNoSet, int32(m.v.Same(o.value)), 0}, true, nil
	}
	return Op{}, false, fmt.Errorf("expected the set that was read, found %s", m.v.Text(o.value))
}

// Traits implements Model.
func (m *set) Traits() *Traits { return &m.traits }

func (m *set) Init() State { return m.init }

func (m *set) Step(dst []State, s State, op Op) []State {
	switch op.Kind {
	case Add:
		i, found := slices.BinarySearch(s, op.A)
		if found {
			return append(dst, s)
		}
		return append(dst, slices.Insert(slices.Clone(s), i, op.A))
	case ReadSet:
		if slices.Equal(s, m.sets[op.A]) {
			return append(dst, s)
		}
	}
	return dst
}

type setRun struct {
	*members
	m *set
}

func (r setRun) Apply(op Op) Outcome {
	switch op.Kind {
	case Add:
		r.add(op.A)
		return One
	case ReadSet:
		if read := r.m.sets[op.A]; len(read) == r.count && !slices.ContainsFunc(read, func(x int32) bool { return !r.has(x) }) {
			return One
		}
	}
	return Impossible
}

func (m *set) Mutates(op Op) bool { return op.Kind == Add }

func (m *set) Why(s State, op Op) string {
	read := edn.ID(op.A)
	if op.Kind == ReadSet {
		read = m.reads[op.A]
	}
	return "can't read " + m.v.Text(read) + " from " + m.v.Text(m.value(s))
}

func (m *set) Record(s State) edn.Value { return record(m.v, m.record, field{"s", m.value(s)}) }

func (m *set) value(s State) edn.ID { return m.v.InternSet(ids(s)) }

func ids(s State) []edn.ID {
	list := make([]edn.ID, len(s))
	for i, x := range s {
		list[i] = edn.ID(x)
	}
	return list
}

// opening rests on that an element of a set stays there: an early read shows only initial
// elements and those added.
func (m *set) opening() Opening {
	return newPlaces(places{
		shows: func(dst []Cell, op Op) []Cell {
			if op.Kind == ReadSet {
				for _, x := range m.sets[op.A] {
					dst = append(dst, Cell{x, x})
				}
			}
			return dst
		},
		leaves: func(dst []Cell, op Op) []Cell {
			if op.Kind == Add {
				dst = append(dst, Cell{op.A, op.A})
			}
			return dst
		},
		puts:  m.Mutates,
		start: func(cells []Cell) []edn.ID { return []edn.ID{m.v.InternSet(placesOf(cells))} },
	})
}
