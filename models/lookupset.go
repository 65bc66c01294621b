package models

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/jepsen"
)

// Kinds of lookup-set. A is the element.
const (
	Insert        Kind = iota // A was absent, and is in the set now
	InsertPresent             // A was in the set already
	InsertAny                 // crashed: A is in the set now, whether or not it was before
	Remove                    // A was in the set, and is absent now
	RemoveAbsent              // A was absent already
	RemoveAny                 // crashed: A is absent now, whether or not it was before
	Has                       // A was in the set
	HasNot                    // A was absent
)

// lookupSet is a set whose elements are asked for one by one, each independent of the
// others. A state holds the sorted value classes of its elements.
type lookupSet struct {
	v                         *edn.Values
	record                    string
	fInsert, fRemove, fLookup [2]edn.ID
	init                      State
	traits                    Traits
}

var lookupSetDefinition = Definition{
	Name: "lookup-set", Fs: ":insert v (or :add), :remove v (or :delete), :contains v (or :lookup)", About: "a set queried element by element",
	Default: "#{}",
	Record:  "clew.model.LookupSet",
	Object:  "set",
	Infer:   func(s *Seen) Fit { return fitsIf(s.Any(":contains") && s.Any(":add", ":insert", ":remove")) },
	New:     newLookupSet,
}

func newLookupSet(b *Binding) (Reader, error) {
	v, init := b.v, b.init
	names := func(a, b string) [2]edn.ID { return [2]edn.ID{v.InternKeyword(a), v.InternKeyword(b)} }
	m := &lookupSet{v: v, record: b.record, fInsert: names("insert", "add"), fRemove: names("remove", "delete"), fLookup: names("contains", "lookup")}
	m.traits = Traits{
		AnyOrder:  func(*jepsen.History) bool { return true },
		Opening:   m.opening,
		Run:       func(s State) Run { return lookupSetRun{newMembers(s)} }, // every step takes constant time
		Shape:     func() Shape { return LookupSetShape{m.init} },
		Partition: &Partition{Of: func(op Op) int32 { return op.A }, Join: m.join},
		// An element is never in the way of others.
		Droppable: &Droppable{Touches: func(op Op) ([]int32, bool) { return []int32{op.A}, false }},
	}
	if init != nil {
		if !isCollection(v.Kind(*init)) {
			return nil, paramErrorf("lookup-set's %s must be a set such as #{1 2}, not %s", ParamInit, v.Text(*init))
		}
		m.init = elements(v, *init)
	}
	return m, nil
}

func (m *lookupSet) Read(o Operation) (Op, bool, error) {
	var yes, no, unknown Kind
	switch {
	case slices.Contains(m.fInsert[:], o.f):
		yes, no, unknown = Insert, InsertPresent, InsertAny
	case slices.Contains(m.fRemove[:], o.f):
		yes, no, unknown = Remove, RemoveAbsent, RemoveAny
	case slices.Contains(m.fLookup[:], o.f):
		yes, no = Has, HasNot
	default:
		return Op{}, false, ErrUnknownF
	}
	if o.status == jepsen.Crashed {
		return Op{unknown, int32(m.v.Same(o.given)), 0}, yes != Has, nil
	}
	element, answer := m.v.Same(o.given), o.value
	if k := m.v.Kind(o.value); k == edn.KindVector || k == edn.KindList {
		if items := m.v.Items(o.value); len(items) == 2 && m.v.Same(items[0]) == element {
			answer = items[1]
		}
	}
	switch answer {
	case edn.True:
		return Op{yes, int32(element), 0}, true, nil
	case edn.False:
		return Op{no, int32(element), 0}, true, nil
	}
	return Op{}, false, fmt.Errorf("expected [%s true], [%[1]s false], true or false, found %s", m.v.Text(o.given), m.v.Text(o.value))
}

// Traits implements Model.
func (m *lookupSet) Traits() *Traits { return &m.traits }

func (m *lookupSet) Init() State { return m.init }

func (m *lookupSet) Step(dst []State, s State, op Op) []State {
	i, found := slices.BinarySearch(s, op.A)
	switch op.Kind {
	case Insert, RemoveAbsent, HasNot:
		if found {
			return dst
		}
	case InsertPresent, Remove, Has:
		if !found {
			return dst
		}
	}
	switch {
	case (op.Kind == Insert || op.Kind == InsertAny) && !found:
		s = slices.Insert(slices.Clone(s), i, op.A)
	case (op.Kind == Remove || op.Kind == RemoveAny) && found:
		s = slices.Delete(slices.Clone(s), i, i+1)
	}
	return append(dst, s)
}

type lookupSetRun struct{ *members }

func (r lookupSetRun) Apply(op Op) Outcome {
	found := r.has(op.A)
	switch op.Kind {
	case Insert, RemoveAbsent, HasNot:
		if found {
			return Impossible
		}
	case InsertPresent, Remove, Has:
		if !found {
			return Impossible
		}
	}
	switch op.Kind {
	case Insert, InsertAny:
		r.add(op.A)
	case Remove, RemoveAny:
		r.remove(op.A)
	}
	return One
}

func (m *lookupSet) Mutates(op Op) bool {
	return op.Kind == Insert || op.Kind == InsertAny || op.Kind == Remove || op.Kind == RemoveAny
}

func (m *lookupSet) Why(s State, op Op) string {
	if _, found := slices.BinarySearch(s, op.A); found {
		return m.v.Text(edn.ID(op.A)) + " is in the set"
	}
	return m.v.Text(edn.ID(op.A)) + " is not in the set"
}

func (m *lookupSet) Record(s State) edn.Value {
	return record(m.v, m.record, field{"s", m.v.InternSet(ids(s))})
}

// join puts the elements of all parts together. Every part starts with all initial
// elements, and only its own element can change.
func (m *lookupSet) join(parts []State) State {
	whole := slices.Clone(m.init)
	gone := map[int32]bool{}
	for _, s := range parts {
		whole = append(whole, s...)
		for _, x := range m.init {
			if _, found := slices.BinarySearch(s, x); !found {
				gone[x] = true
			}
		}
	}
	slices.Sort(whole)
	return slices.DeleteFunc(slices.Compact(whole), func(x int32) bool { return gone[x] })
}

func (m *lookupSet) opening() Opening {
	return newPlaces(places{
		shows: func(dst []Cell, op Op) []Cell {
			if op.Kind == InsertPresent || op.Kind == Remove || op.Kind == Has {
				dst = append(dst, Cell{op.A, op.A})
			}
			return dst
		},
		leaves: func(dst []Cell, op Op) []Cell {
			if op.Kind == Insert || op.Kind == InsertAny {
				dst = append(dst, Cell{op.A, op.A})
			}
			return dst
		},
		start: func(cells []Cell) []edn.ID { return []edn.ID{m.v.InternSet(placesOf(cells))} },
	})
}
