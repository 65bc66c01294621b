package home

import (
	"clew/edn"
	"clew/models"
)

// Text returns a value as Clojure's str prints it inside a sentence: nil is empty, and
// strings have no quotes.
func Text(v *edn.Values, id edn.ID) string {
	switch v.Kind(id) {
	case edn.KindNil:
		return ""
	case edn.KindString:
		return v.Str(id)
	}
	return v.Text(id)
}

// Field is a field of a record.
type Field struct {
	Name  string
	Value edn.ID
}

// Record returns a Clojure record.
func Record(v *edn.Values, name string, fields ...Field) edn.Value {
	var kvs []edn.ID
	for _, f := range fields {
		kvs = append(kvs, v.InternKeyword(f.Name), f.Value)
	}
	return v.Value(v.InternTagged(name, v.InternMap(kvs)))
}

func IDs(s models.State) []edn.ID {
	list := make([]edn.ID, len(s))
	for i, x := range s {
		list[i] = edn.ID(x)
	}
	return list
}
