package set

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// lookupSet is a set whose elements are asked for one by one, each independent of the
// others. A state holds the sorted value classes of its elements.
type lookupSet struct {
	home.Base
	fInsert, fRemove, fLookup [2]edn.ID
}

var lookupSetDefinition = models.Definition{
	Name: "lookup-set", Fs: ":insert v (or :add), :remove v (or :delete), :contains v (or :lookup)", About: "a set queried element by element",
	Default: "#{}",
	Record:  "clew.model.LookupSet",
	Object:  "set",
	Infer: func(s *models.Seen) models.Fit {
		return models.FitsIf(s.Any(":contains", ":lookup") && s.Any(":add", ":insert", ":remove", ":delete"))
	},
	New: newLookupSet,
}

func newLookupSet(b *models.Binding) (models.Reader, error) {
	names := func(x, y string) [2]edn.ID { return [2]edn.ID{b.Values.InternKeyword(x), b.Values.InternKeyword(y)} }
	m := &lookupSet{Base: home.NewBase(b), fInsert: names("insert", "add"), fRemove: names("remove", "delete"), fLookup: names("contains", "lookup")}
	m.Offered = models.Traits{
		AnyOrder:  func(*jepsen.History) bool { return true },
		Opening:   m.opening,
		Run:       func(s models.State) models.Run { return lookupSetRun{home.NewMembers(s)} }, // every step takes constant time
		Shape:     func() models.Shape { return models.LookupSetShape{Init: m.Initial} },
		Partition: &models.Partition{Keys: true, Of: func(op models.Op) int32 { return op.A }},
		Anomaly:   m.anomaly,
		// An element is never in the way of others.
		Droppable: &models.Droppable{Touches: func(op models.Op) ([]int32, bool) { return []int32{op.A}, false }},
	}
	return m, begin(&m.Base, b)
}

// anomaly is Traits.Anomaly.
func (m *lookupSet) anomaly(ops *models.Operations, row models.Row) models.Anomaly {
	op := ops.Op(row)
	if there := op.Kind == models.InsertPresent || op.Kind == models.Remove || op.Kind == models.Has; !there || slices.Contains(m.Initial, op.A) {
		return ""
	}
	found := models.NeverWritten
	for i := range models.Row(ops.Len()) {
		if kind := ops.Kind[i]; ops.A[i] != op.A || kind != models.Insert && kind != models.InsertAny {
			continue
		}
		if ops.Inv[i] < ops.Res[row] {
			return ""
		}
		found = models.FutureRead
	}
	return found
}

func (m *lookupSet) Read(o models.Operation) (models.Op, bool, error) {
	var yes, no, unknown models.Kind
	switch {
	case slices.Contains(m.fInsert[:], o.FID):
		yes, no, unknown = models.Insert, models.InsertPresent, models.InsertAny
	case slices.Contains(m.fRemove[:], o.FID):
		yes, no, unknown = models.Remove, models.RemoveAbsent, models.RemoveAny
	case slices.Contains(m.fLookup[:], o.FID):
		yes, no = models.Has, models.HasNot
	default:
		return models.Op{}, false, models.ErrUnknownF
	}
	if o.Status == jepsen.Crashed {
		return models.Op{Kind: unknown, A: m.Class(o.GivenID), B: 0}, yes != models.Has, nil
	}
	element, answer := m.V.Same(o.GivenID), o.ValueID
	if told, yes, ok := m.Pair(o.ValueID); ok && m.V.Same(told) == element {
		answer = yes
	}
	switch answer {
	case edn.True:
		return models.Op{Kind: yes, A: int32(element), B: 0}, true, nil
	case edn.False:
		return models.Op{Kind: no, A: int32(element), B: 0}, true, nil
	}
	return models.Op{}, false, fmt.Errorf("expected [%s true], [%[1]s false], true or false, found %s", m.V.Text(o.GivenID), m.V.Text(o.ValueID))
}

func (m *lookupSet) Step(dst []models.State, s models.State, op models.Op) []models.State {
	i, found := slices.BinarySearch(s, op.A)
	switch op.Kind {
	case models.Insert, models.RemoveAbsent, models.HasNot:
		if found {
			return dst
		}
	case models.InsertPresent, models.Remove, models.Has:
		if !found {
			return dst
		}
	}
	switch {
	case (op.Kind == models.Insert || op.Kind == models.InsertAny) && !found:
		s = slices.Insert(slices.Clone(s), i, op.A)
	case (op.Kind == models.Remove || op.Kind == models.RemoveAny) && found:
		s = slices.Delete(slices.Clone(s), i, i+1)
	}
	return append(dst, s)
}

type lookupSetRun struct{ *home.Members }

func (r lookupSetRun) Apply(op models.Op) models.Outcome {
	found := r.Has(op.A)
	switch op.Kind {
	case models.Insert, models.RemoveAbsent, models.HasNot:
		if found {
			return models.Impossible
		}
	case models.InsertPresent, models.Remove, models.Has:
		if !found {
			return models.Impossible
		}
	}
	switch op.Kind {
	case models.Insert, models.InsertAny:
		r.Add(op.A)
	case models.Remove, models.RemoveAny:
		r.Remove(op.A)
	}
	return models.One
}

func (m *lookupSet) Mutates(op models.Op) bool {
	return op.Kind == models.Insert || op.Kind == models.InsertAny || op.Kind == models.Remove || op.Kind == models.RemoveAny
}

func (m *lookupSet) Why(s models.State, op models.Op) string {
	if _, found := slices.BinarySearch(s, op.A); found {
		return m.Text(op.A) + " is in the set"
	}
	return m.Text(op.A) + " is not in the set"
}

func (m *lookupSet) Record(s models.State) edn.Value {
	return m.Print("s", m.V.InternSet(home.IDs(s)))
}

// lookupOpening is the Opening of lookup-set. An element was there at first, or nowhere, if an answer says so that was given
// before another operation was called that added or removed it. If another such answer denies it, the history is not
// linearizable in any case. An answer counts if an insert of any element was called later, or none at all, as in a set.
type lookupOpening struct {
	models.NoNeeds
	v        *edn.Values
	changes  home.Callers // the operations that add or remove an element, as far as they say so
	events   int
	lastAdd  int           // the event at which the last insert was called; 0: none was
	shown    map[int32]int // by element: the event at which the first answer says that it was there
	elements []int32       // the same elements in that order
}

func (m *lookupSet) opening() models.Opening {
	return &lookupOpening{v: m.V, changes: home.Callers{}, shown: map[int32]int{}}
}

// Call is called twice for an operation that says that it changed nothing: the second time as what it might have done.
func (o *lookupOpening) Call(i jepsen.Operation, op models.Op, status jepsen.Status) {
	o.events++
	switch op.Kind {
	case models.Insert, models.InsertAny, models.InsertPresent:
		o.lastAdd = o.events
	}
	asked := op.Kind == models.InsertAny || op.Kind == models.RemoveAny
	if op.Kind == models.Insert || op.Kind == models.Remove || asked && status != jepsen.Succeeded {
		o.changes.Add(models.Cell{Place: 0, Value: op.A}, i)
	}
}

func (o *lookupOpening) Return(i jepsen.Operation, op models.Op, _ bool) {
	o.events++
	if o.changes.But(i, models.Cell{Place: 0, Value: op.A}) {
		return
	}
	switch op.Kind {
	case models.Has, models.Remove, models.InsertPresent:
		if _, before := o.shown[op.A]; !before {
			o.shown[op.A] = o.events
			o.elements = append(o.elements, op.A)
		}
	}
}

func (o *lookupOpening) Puts(models.Op) bool { return false }

func (o *lookupOpening) Later() bool { return true }

// there returns the elements that the answers show, and those of them that count.
func (o *lookupOpening) there() (all, count []edn.ID) {
	for _, x := range o.elements {
		all = append(all, edn.ID(x))
		if o.lastAdd == 0 || o.shown[x] < o.lastAdd {
			count = append(count, edn.ID(x))
		}
	}
	return all, count
}

func (o *lookupOpening) Starts() []edn.ID {
	_, count := o.there()
	return setsOf(o.v, count)
}

func (o *lookupOpening) Else() (other models.Else) {
	if all, count := o.there(); len(all) > len(count) {
		other.Unshown = setsOf(o.v, all)
	}
	return other
}
