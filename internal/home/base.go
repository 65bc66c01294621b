package home

import (
	"strings"

	"clew/edn"
	"clew/models"
)

// Base is what all models of the homes have. They embed it.
type Base struct {
	V          *edn.Values
	RecordName string // of a state as it prints
	Initial    models.State
	Offered    models.Traits
}

func NewBase(b *models.Binding) Base { return Base{V: b.Values, RecordName: b.Record} }

// Init implements Model.
func (m *Base) Init() models.State { return m.Initial }

// Traits implements Model.
func (m *Base) Traits() *models.Traits { return &m.Offered }

// Print returns a record with these fields. names lists their names, separated by spaces.
func (m *Base) Print(names string, values ...edn.ID) edn.Value {
	var kvs []edn.ID
	for i, name := range strings.Fields(names) {
		kvs = append(kvs, m.V.InternKeyword(name), values[i])
	}
	return m.PrintMap(kvs)
}

// PrintMap returns a record whose fields are keys and values in turn.
func (m *Base) PrintMap(kvs []edn.ID) edn.Value {
	return m.V.Value(m.V.InternTagged(m.RecordName, m.V.InternMap(kvs)))
}

// Class returns the class of a value.
func (m *Base) Class(id edn.ID) int32 { return int32(m.V.Same(id)) }

// Classes returns the classes of values.
func (m *Base) Classes(ids []edn.ID) []int32 {
	var list []int32
	for _, id := range ids {
		list = append(list, m.Class(id))
	}
	return list
}

// Text returns the text of a class.
func (m *Base) Text(class int32) string { return m.V.Text(edn.ID(class)) }

// Vector returns a vector of classes.
func (m *Base) Vector(classes []int32) edn.ID { return m.V.InternVector(IDs(classes)) }

// InOrder returns classes in the order in which a set of them prints, which does not depend on their numbers.
func (m *Base) InOrder(classes []int32) (ordered []int32) {
	for _, k := range m.V.Sorted(IDs(classes)) {
		ordered = append(ordered, classes[k])
	}
	return ordered
}

// Sequence returns the items of a vector or a list. ok is false for any other value.
func (m *Base) Sequence(id edn.ID) (items []edn.ID, ok bool) {
	if k := m.V.Kind(id); k != edn.KindVector && k != edn.KindList {
		return nil, false
	}
	return m.V.Items(id), true
}

// Pair returns the items of a sequence of two. ok is false for any other value.
func (m *Base) Pair(id edn.ID) (first, second edn.ID, ok bool) {
	if items, _ := m.Sequence(id); len(items) == 2 {
		return items[0], items[1], true
	}
	return 0, 0, false
}

// BadInit returns the error for an initial value that is not what the model wants, such as "a set such as #{1 2}".
func BadInit(b *models.Binding, want string) error {
	return models.ParamErrorf("%s's %s must be %s, not %s", b.Spec.Name, models.ParamInit, want, b.Values.Text(*b.InitID))
}
