package set

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// set only grows and is read as a whole. A state holds its sorted value classes.
type set struct {
	home.Base
	fAdd, fRead edn.ID
	knossos     bool
	sets        []models.State
	reads       []edn.ID // by set: the value as it was read
}

var setDefinition = models.Definition{
	Name: "set", Fs: ":add v, :read", About: "a set that only grows, read as a whole",
	Repeating: []string{"add"},
	Warn:      func(_ models.Spec, h *jepsen.History) string { return home.WarnOfNil("read", h) },
	Default:   "#{}",
	Record:    "knossos.model.Set",
	Verbs:     map[string]string{":add": "added"},
	Knossos:   "in Knossos only a set is a set, and no vector or list (3)",
	Infer: func(s *models.Seen) models.Fit {
		if s.Only(":read") && readsCollections(s) && !home.HasSteps(s, ":read") {
			return models.MayFit
		}
		return models.FitsIf(s.Any(":add") && s.Only(":add", ":read") && readsCollections(s))
	},
	New: newSet,
}

// readsCollections says whether some :read returned a collection, and none anything else but nil.
func readsCollections(s *models.Seen) (some bool) {
	for kind := range s.Returned(":read") {
		if kind != edn.KindNil && !IsCollection(kind) {
			return false
		}
		some = some || kind != edn.KindNil
	}
	return some
}

func newSet(b *models.Binding) (models.Reader, error) {
	m := &set{Base: home.NewBase(b), fAdd: b.Values.InternKeyword("add"), fRead: b.Values.InternKeyword("read"), knossos: b.Spec.Knossos}
	m.Offered = models.Traits{
		Because: m.because,
		Shape:   func() models.Shape { return models.GrowSetShape{Init: m.Initial, Sets: m.sets} },
		Opening: func() models.Opening { return &setOpening{m: m, called: map[int32]bool{}} },
		Run:     func(s models.State) models.Run { return setRun{home.NewMembers(s), m} }, // a read takes time linear in the set that it read
	}
	return m, begin(&m.Base, b)
}

// begin sets the initial elements of a set.
func begin(m *home.Base, b *models.Binding) error {
	if b.InitID == nil {
		return nil
	}
	if !IsCollection(m.V.Kind(*b.InitID)) {
		return home.BadInit(b, "a set such as #{1 2}")
	}
	m.Initial = elements(m.V, *b.InitID)
	return nil
}

func IsCollection(k edn.Kind) bool {
	return k == edn.KindSet || k == edn.KindVector || k == edn.KindList
}

// elements returns the set of a collection's elements. It sorts many of them with bits.
func elements(v *edn.Values, id edn.ID) models.State {
	items := v.Items(id)
	if len(items) >= home.PageBits {
		in := &home.Members{}
		for _, item := range items {
			in.Add(int32(v.Same(item)))
		}
		return in.State()
	}
	var s models.State
	for _, item := range items {
		s = append(s, int32(v.Same(item)))
	}
	slices.Sort(s)
	return slices.Compact(s)
}

func (m *set) Read(o models.Operation) (models.Op, bool, error) {
	kind := m.V.Kind(o.ValueID)
	switch {
	case o.FID == m.fAdd:
		return models.Op{Kind: models.Add, A: m.Class(o.ValueID), B: 0}, true, nil
	case o.FID != m.fRead:
		return models.Op{}, false, models.ErrUnknownF
	case o.Status == jepsen.Crashed, o.ValueID == edn.Nil && !m.knossos:
		return models.Op{}, false, nil
	case kind == edn.KindSet, IsCollection(kind) && !m.knossos:
		m.sets = append(m.sets, elements(m.V, o.ValueID))
		m.reads = append(m.reads, o.ValueID)
		return models.Op{Kind: models.ReadSet, A: int32(len(m.sets) - 1), B: 0}, true, nil
	case m.knossos:
		return models.Op{Kind: models.ReadNoSet, A: m.Class(o.ValueID), B: 0}, true, nil
	}
	return models.Op{}, false, fmt.Errorf("expected the set that was read, found %s", m.V.Text(o.ValueID))
}

func (m *set) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch op.Kind {
	case models.Add:
		i, found := slices.BinarySearch(s, op.A)
		if found {
			return append(dst, s)
		}
		return append(dst, slices.Insert(slices.Clone(s), i, op.A))
	case models.ReadSet:
		if slices.Equal(s, m.sets[op.A]) {
			return append(dst, s)
		}
	}
	return dst
}

type setRun struct {
	*home.Members
	m *set
}

func (r setRun) Apply(op models.Op) models.Outcome {
	switch op.Kind {
	case models.Add:
		r.Add(op.A)
		return models.One
	case models.ReadSet:
		if read := r.m.sets[op.A]; len(read) == r.Count && !slices.ContainsFunc(read, func(x int32) bool { return !r.Has(x) }) {
			return models.One
		}
	}
	return models.Impossible
}

func (m *set) Mutates(op models.Op) bool { return op.Kind == models.Add }

func (m *set) Why(s models.State, op models.Op) string {
	read := edn.ID(op.A)
	if op.Kind == models.ReadSet {
		read = m.reads[op.A]
	}
	return "can't read " + m.V.Text(read) + " from " + m.V.Text(m.value(s))
}

// because is Traits.Because. It says how the set that was read differs.
func (m *set) because(s models.State, op models.Op) string {
	if op.Kind != models.ReadSet {
		return ""
	}
	differ := func(a, b models.State) (only []string) {
		lacking := slices.DeleteFunc(slices.Clone(a), func(x int32) bool {
			_, found := slices.BinarySearch(b, x)
			return found
		})
		for _, x := range m.InOrder(lacking) {
			if len(only) == maxDiffer {
				return append(only, "more")
			}
			only = append(only, m.Text(x))
		}
		return only
	}
	var all []string
	if more := differ(s, m.sets[op.A]); more != nil {
		all = append(all, "also holds "+text.AllOf(more))
	}
	if less := differ(m.sets[op.A], s); less != nil {
		all = append(all, "lacks "+text.AllOf(less))
	}
	return "the set " + text.AllOf(all)
}

// maxDiffer bounds the elements that a sentence names.
const maxDiffer = 4

func (m *set) Record(s models.State) edn.Value {
	return m.Print("s", m.value(s))
}

func (m *set) value(s models.State) edn.ID { return m.V.InternSet(home.IDs(s)) }

// setOpening is the Opening of set. What its first read saw, without what adds had been called with by then, was there at
// first or nowhere: an element of a set stays. It counts if an add was called later, or none at all. Otherwise the read may
// be the last of a test, and the element one that nobody added.
type setOpening struct {
	models.NoNeeds
	m      *set
	called map[int32]bool // what adds were called with before the first read returned
	seen   bool           // it has returned
	first  []edn.ID       // what it shows
	later  bool           // an add was called afterwards
}

func (o *setOpening) Call(_ jepsen.Operation, op models.Op, _ jepsen.Status) {
	if op.Kind != models.Add {
		return
	}
	if o.later = o.seen; !o.seen {
		o.called[op.A] = true
	}
}

func (o *setOpening) Return(_ jepsen.Operation, op models.Op, _ bool) {
	if op.Kind != models.ReadSet || o.seen {
		return
	}
	o.seen = true
	for _, x := range o.m.sets[op.A] {
		if !o.called[x] {
			o.first = append(o.first, edn.ID(x))
		}
	}
}

func (o *setOpening) Puts(op models.Op) bool { return op.Kind == models.Add }

func (o *setOpening) Later() bool { return !o.later }

func (o *setOpening) Starts() []edn.ID {
	if o.later || len(o.called) == 0 {
		return setsOf(o.m.V, o.first)
	}
	return nil
}

func (o *setOpening) Else() (other models.Else) {
	if len(o.Starts()) == 0 {
		other.Unshown = setsOf(o.m.V, o.first)
	}
	return other
}

// setsOf returns a set of elements, or nothing if there are none.
func setsOf(v *edn.Values, elements []edn.ID) []edn.ID {
	if len(elements) == 0 {
		return nil
	}
	return []edn.ID{v.InternSet(elements)}
}
