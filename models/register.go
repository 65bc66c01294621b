package models

import (
	"fmt"

	"clew/edn"
	"clew/jepsen"
)

// Kinds of register and cas-register. A is the value read or written, or the value that a
// cas expects; B is the value that a cas leaves. Both are value classes of the history
// (edn.Values.Same).
const (
	Read      Kind = iota // saw A
	Write                 // sets A
	CAS                   // saw A, sets B
	FailedCAS             // saw a value other than A; changes nothing
)

// register is one value. A cas-register also has compare-and-set.
type register struct {
	v                *edn.Values
	record           string
	init             int32
	fRead, fWrite    edn.ID
	fCAS             edn.ID // Nil if the model has no cas
	nilReadsExact    bool
	observeFailedCAS bool
	traits           Traits
}

var registerDefinition = Definition{
	Name: "register", Fs: ":read, :write", About: "one value",
	Params:    []Param{ParamNilReads},
	Repeating: []string{"write"},
	Default:   "nil",
	Record:    "knossos.model.Register",
	Infer: func(s *Seen) Fit {
		return fitsIf(s.Any(":read", ":write") && s.Only(":read", ":write"))
	},
	New: func(b *Binding) (Reader, error) { return newRegister(b), nil },
}

var casRegisterDefinition = Definition{
	Name: "cas-register", Fs: ":read, :write, :cas [old new]", About: "one value with compare-and-set",
	Called:    []string{"rmw"},
	Params:    []Param{ParamNilReads, ParamFailedCAS},
	Repeating: []string{"write", "cas"},
	Default:   "nil",
	Record:    "knossos.model.CASRegister",
	Object:    "rmw", ObjectInit: "0",
	Infer: func(s *Seen) Fit {
		return fitsIf(s.Any(":cas") && s.Only(":read", ":write", ":cas"))
	},
	New: newCASRegister,
}

func newRegister(b *Binding) *register {
	r := &register{
		v:             b.v,
		record:        b.record,
		fRead:         b.v.InternKeyword("read"),
		fWrite:        b.v.InternKeyword("write"),
		nilReadsExact: b.Spec.NilReadsExact,
	}
	if b.init != nil {
		r.init = int32(*b.init)
	}
	r.traits = registerTraits
	r.traits.Shape = func() Shape { return RegisterShape{Init: r.init, CAS: r.fCAS != edn.Nil} }
	r.traits.AnyOrder = func(*jepsen.History) bool { return true }
	r.traits.Opening = r.opening
	return r
}

// registerTraits are those of every model that is one value. They depend on operations alone, so that the registers
// of many keys share them.
var registerTraits = Traits{
	Run:        func(s State) Run { return &registerRun{s[0]} },
	IsRegister: true,
	Overwrites: func(op Op) bool { return op.Kind == Write },
	Droppable:  &Droppable{Touches: registerTouches},
	Visibility: &Visibility{Makes: registerMakes, Sees: registerSees},
}

// Traits implements Model.
func (r *register) Traits() *Traits { return &r.traits }

func newCASRegister(b *Binding) (Reader, error) {
	r := newRegister(b)
	r.fCAS = b.v.InternKeyword("cas")
	r.observeFailedCAS = b.Spec.ObserveFailedCAS
	return r, nil
}

func (r *register) Read(o Operation) (Op, bool, error) {
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
	return Op{}, false, ErrUnknownF
}

// pair reads [old new]. As Knossos does, it ignores further elements and takes nil for a
// pair of nils.
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

type registerRun struct{ now int32 }

func (r *registerRun) Apply(op Op) Outcome {
	switch op.Kind {
	case Read:
		return oneIf(r.now == op.A)
	case Write:
		r.now = op.A
		return One
	case CAS:
		if r.now != op.A {
			return Impossible
		}
		r.now = op.B
		return One
	case FailedCAS:
		return oneIf(r.now != op.A)
	}
	return Impossible
}

func (r *registerRun) State() State { return State{r.now} }

func (r *registerRun) States(func()) []State { return []State{r.State()} }

func (r *register) Mutates(op Op) bool { return op.Kind == Write || op.Kind == CAS }

// registerTouches is Droppable.Touches. The initial value is never in the way of others. A
// failed cas that is observed needs some other value to be there.
func registerTouches(op Op) (values []int32, all bool) {
	switch op.Kind {
	case CAS:
		return []int32{op.A, op.B}, false
	case FailedCAS:
		return nil, true
	}
	return []int32{op.A}, false
}

func registerMakes(dst []Cell, op Op) []Cell {
	switch {
	case op.Kind == Write:
		return append(dst, Cell{0, op.A})
	case op.Kind == CAS && op.A != op.B:
		return append(dst, Cell{0, op.B})
	}
	return dst
}

func registerSees(dst []Cell, op Op) (cells []Cell, all bool) {
	switch op.Kind {
	case Write:
		return dst, false
	case FailedCAS:
		return dst, true
	}
	return append(dst, Cell{0, op.A}), false
}

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

func (r *register) Record(s State) edn.Value {
	return record(r.v, r.record, field{"value", edn.ID(s[0])})
}

// str returns a value as Clojure's str prints it inside a sentence: nil is empty, and
// strings have no quotes.
func str(v *edn.Values, id edn.ID) string {
	switch v.Kind(id) {
	case edn.KindNil:
		return ""
	case edn.KindString:
		return v.Str(id)
	}
	return v.Text(id)
}

// field is a field of a record.
type field struct {
	name  string
	value edn.ID
}

// record returns a Clojure record.
func record(v *edn.Values, name string, fields ...field) edn.Value {
	var kvs []edn.ID
	for _, f := range fields {
		kvs = append(kvs, v.InternKeyword(f.name), f.value)
	}
	return v.Value(v.InternTagged(name, v.InternMap(kvs)))
}

func (r *register) opening() Opening {
	return newPlaces(places{
		shows: func(dst []Cell, op Op) []Cell {
			if op.Kind == Read || op.Kind == CAS {
				dst = append(dst, Cell{0, op.A})
			}
			return dst
		},
		leaves: registerMakes,
		puts:   r.Mutates,
		start: func(cells []Cell) []edn.ID {
			if value := edn.ID(cells[0].Value); value != edn.Nil {
				return []edn.ID{value}
			}
			return nil
		},
	})
}
