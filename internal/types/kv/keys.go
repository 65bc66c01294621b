package kv

import (
	"slices"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// keying says what the key of an operation may be.
type keying uint8

// Keyings.
const (
	named   keying = iota // a :key of its own
	paired                // the first of a pair that can mean nothing else
	either                // the first of a pair, or none if the pair is a value
	keyless               // none
	unclear               // Read reports what is wrong
	keyings               // the number of keyings
)

// survey requires that either all operations have keys and show them in the same way, or none
// has one.
func (m *kv) survey(s *models.Spec, h *jepsen.History) error {
	if s.KVKeys != "" {
		return nil
	}
	first := slices.Repeat([]jepsen.Operation{jepsen.None}, int(keyings))
	for op, inv := range h.Invocation {
		f, o := h.F[inv], jepsen.Operation(op)
		if h.Status[op] == jepsen.Failed && !(s.ObserveFailedCAS && f == m.fCAS) || !m.knows(f) {
			continue
		}
		k := m.keying(models.Operation{FID: f, GivenID: h.Value[inv], ValueID: h.OpValue(o), KeyID: h.Key(inv), Status: h.Status[op]})
		if first[k] == jepsen.None {
			first[k] = o
		}
		if k == keyless && f == m.fGet && first[either] == jepsen.None && m.isPair(h.OpValue(o)) {
			first[either] = o
		}
	}
	has := func(k keying) bool { return first[k] != jepsen.None }
	mixed := func(a, b jepsen.Operation, format string, args ...any) error {
		at := max(a, b)
		return h.Errorf(h.LastEvent(at), "%w", models.ParamErrorf(format, append([]any{h.Name(a), h.Name(b)}, args...)...))
	}
	for _, k := range []keying{paired, either, keyless} {
		if has(named) && has(k) {
			return mixed(first[named], first[k], "%s has a :key, and %s has none: give every operation its :key")
		}
	}
	switch {
	case has(paired) && has(keyless):
		return mixed(first[paired], first[keyless], "%s has a key, and %s has none: give every operation its key, as :key or in [key value]")
	case has(either) && has(keyless):
		return mixed(first[either], first[keyless], "%s may be [key value], and %s has no key: give %s %s if no operation has one and pairs are values, or every operation its key",
			models.ParamKVKeys, models.KVKeysNone)
	case has(paired), has(either):
		s.KVKeys = models.KVKeysPairs
	case has(keyless):
		s.KVKeys = models.KVKeysNone
	}
	return nil
}

// keying says what the key of an operation may be, from its invocation.
func (m *kv) keying(o models.Operation) keying {
	switch {
	case m.isNamed(o):
		return named
	case !m.isPair(o.GivenID):
		if m.mayBeKey(o) || m.several(o.FID, o.GivenID) {
			return unclear
		}
		return keyless
	}
	second := m.V.Items(o.GivenID)[1]
	switch o.FID {
	case m.fCAS:
		if !m.isPair(second) {
			return keyless // from one value to another
		}
	case m.fGet, m.fDelete:
		if second == edn.Nil {
			return paired
		}
	case m.fAppend:
		return paired // only strings are appended
	}
	return either
}
