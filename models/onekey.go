package models

import (
	"cmp"

	"clew/edn"
	"clew/internal/option"
	"clew/jepsen"
)

// oneKey returns an error if the operations that count differ in their :key and the model
// does not look at it. They would be taken for operations on one object. A :key that is the
// same everywhere does not matter. Linear time, constant without a :key.
func (s Spec) oneKey(ops *Operations, d *Definition) error {
	h := ops.History
	if d.ReadsKeys || s.own != nil || !h.HasKeys() {
		return nil
	}
	for _, op := range ops.Of {
		first, key := keyOf(h, ops.Of[0]), keyOf(h, op)
		if h.Values.Same(key) == h.Values.Same(first) {
			continue
		}
		described := func(key edn.ID) string {
			if key == edn.Nil {
				return "none"
			}
			return h.Values.Text(key)
		}
		return h.Errorf(h.LastEvent(op), "%s does not look at :key, and two differ: that of %s is %s, and that of %s is %s; use values [key value] with %s, or a history for each key",
			d.Name, h.Name(ops.Of[0]), described(first), h.Name(op), described(key), option.Independent)
	}
	return nil
}

// keyOf returns the :key of an operation: that of its invocation, or else of its
// completion.
func keyOf(h *jepsen.History, op jepsen.Operation) edn.ID {
	key := h.Key(h.Invocation[op])
	if h.Status[op] != jepsen.Succeeded {
		return key
	}
	return cmp.Or(key, h.Key(h.Completion[op]))
}
