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

func IDs(s models.State) []edn.ID {
	list := make([]edn.ID, len(s))
	for i, x := range s {
		list[i] = edn.ID(x)
	}
	return list
}
