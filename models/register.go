package models

import (
	"fmt"

	"clew/edn"
	"clew/jepsen"
)

// Kinds of register and cas-register. A is the value read or written, or the
// value that a cas expects; B is the value that a cas leaves. Both are value
// classes of the history (edn.Values.Same).
const (
	Read      Kind = iota // saw A
	Write                 // sets A
	CAS                   // saw A, sets B
	FailedCAS             // saw a value other than A; changes nothing
)

// register is one value; with cas, compare-and-set as well.
type register struct {
	v                *edn.Values
	init             int32
	fRead, fWrite    edn.ID
	fCAS             edn.ID // Nil where the model has no cas
	nilReadsExact    bool
	observeFailedCAS bool
}

func newRegister(s Spec, v *edn.Values, init *edn.ID) (definition, error) {
	r := &register{
		v:             v,
		fRead:         v.InternKeyword("read"),
		fWrite:        v.InternKeyword("write"),
		nilReadsExact: s.NilReadsExact,
	}
	if init != nil {
		r.init = int32(*init)
	}
	return r, nil
}

func newCASRegister(s Spec, v *edn.Values, init *edn.ID) (definition, error) {
	d, err := newRegister(s, v, init)
	r := d.(*register)
	r.fCAS = v.InternKeyword("cas")
	r.observeFailedCAS = s.ObserveFailedCAS
	return r, err
}

func (r *register) read(o operation) (Op, bool, error) {
	failed := o.status == jepsen.Failed
	switch {
	case o.f == r.fRead:
		wild := o.value == edn.Nil && !r.nilReadsExact
		return Op{Read, int32(r.v.Same(o.value)), 0}, !failed && !wild, nil
	case o.f == r.fWrite:
		return Op{Write, int32(r.v.Same(o.value)), 0}, !failed, nil
	case o.f == r.fCAS && r.fCAS != edn.Nil:
		from, to, err := r.pair(o.value)
		if failed {
			return Op{FailedCAS, from, 0}, err == nil, nil
		}
		return Op{CAS, from, to}, true, err
	case failed:
		return Op{}, false, nil
	}
	return Op{}, false, errUnknownF
}

// pair reads [old new]. Like Knossos it ignores further elements and takes nil
// for a pair of nils.
func (r *register) pair(value edn.ID) (from, to int32, err error) {
	switch r.v.Kind(value) {
	case edn.KindNil:
		return int32(edn.Nil), int32(edn.Nil), nil
	case edn.KindVector, edn.KindList:
		if items := r.v.Items(value); len(items) >= 2 {
			return int32(r.v.Same(items[0])), int32(r.v.Same(items[1])), nil
		}
	}
	return 0, 0, fmt.Errorf("expected [old new], found %s", r.v.Text(value))
}

func (r *register) Init() State { return State{r.init} }

func (r *register) Step(dst []State, s State, op Op) []State {
	switch op.Kind {
	case Read:
		if s[0] == op.A {
			return append(dst, s)
		}
	case Write:
		return only(dst, op.A)
	case CAS:
		if s[0] == op.A {
			return only(dst, op.B)
		}
	case FailedCAS:
		if s[0] != op.A {
			return append(dst, s)
		}
	}
	return dst
}

func (r *register) Mutates(op Op) bool { return op.Kind == Write || op.Kind == CAS }

// Overwrites makes registers Overwriting.
func (r *register) Overwrites(op Op) bool { return op.Kind == Write }

// Touches makes registers Valued. A failed cas that is observed needs some
// other value to be there.
func (r *register) Touches(op Op) (values []int32, all bool) {
	switch op.Kind {
	case CAS:
		return []int32{op.A, op.B}, false
	case FailedCAS:
		return nil, true
	}
	return []int32{op.A}, false
}

// Makes makes registers Replacing.
func (r *register) Makes(op Op) (value int32, ok bool) {
	if op.Kind == CAS {
		return op.B, op.A != op.B
	}
	return op.A, op.Kind == Write
}

// Sees makes registers Replacing.
func (r *register) Sees(op Op, value int32) bool {
	return op.Kind == FailedCAS || op.Kind != Write && op.A == value
}

// SingleValue says that registers are.
func (r *register) SingleValue() {}

// Shape makes registers Shaped.
func (r *register) Shape() Shape { return RegisterShape{Init: r.init, CAS: r.fCAS != edn.Nil} }

func (r *register) Why(s State, op Op) string {
	state, a := edn.ID(s[0]), edn.ID(op.A)
	switch {
	case op.Kind == Read && r.fCAS == edn.Nil:
		return r.v.Text(state) + "≠" + r.v.Text(a)
	case op.Kind == Read:
		return "can't read " + str(r.v, a) + " from register " + str(r.v, state)
	case op.Kind == CAS:
		return "can't CAS " + str(r.v, state) + " from " + str(r.v, a) + " to " + str(r.v, edn.ID(op.B))
	case op.Kind == FailedCAS:
		return "CAS from " + str(r.v, a) + " can't fail in register " + str(r.v, state)
	}
	return ""
}

func (r *register) Record(s State) edn.ID {
	name := "knossos.model.Register"
	if r.fCAS != edn.Nil {
		name = "knossos.model.CASRegister"
	}
	return record(r.v, name, "value", edn.ID(s[0]))
}

// str is a value as Clojure's str has it inside a sentence: nil is empty, and
// strings stand without quotes.
func str(v *edn.Values, id edn.ID) string {
	switch v.Kind(id) {
	case edn.KindNil:
		return ""
	case edn.KindString:
		return v.Str(id)
	}
	return v.Text(id)
}

// record is a Clojure record with one field.
func record(v *edn.Values, name, field string, value edn.ID) edn.ID {
	return v.InternTagged(name, v.InternMap([]edn.ID{v.InternKeyword(field), value}))
}
