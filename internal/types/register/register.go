package register

import (
	"fmt"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/option"
	"clew/jepsen"
	"clew/models"
)

// Register is one value. A cas-register also has compare-and-set.
type Register struct {
	home.Base
	fRead, fWrite    edn.ID
	fCAS             edn.ID // Nil if the model has no cas
	nilReadsExact    bool
	observeFailedCAS bool
	knossos          bool
}

var registerDefinition = models.Definition{
	Name: "register", Fs: ":read, :write", About: "one value",
	Params: []models.Param{models.ParamNilReads}, NilReads: nilReads,
	Repeating: []string{"write"},
	Default:   "nil",
	Record:    "knossos.model.Register",
	Infer: func(s *models.Seen) models.Fit {
		if !s.Any(":read", ":write") || !s.Only(":read", ":write") {
			return models.NoFit
		}
		return fits(s)
	},
	Elsewhere: misfit,
	New:       func(b *models.Binding) (models.Reader, error) { return newRegister(b), nil },
}

var casRegisterDefinition = models.Definition{
	Name: "cas-register", Fs: ":read, :write, :cas [old new]", About: "one value with compare-and-set",
	Called: []string{"rmw"},
	Params: []models.Param{models.ParamNilReads, models.ParamFailedCAS}, NilReads: nilReads,
	Repeating: []string{"write", "cas"},
	Default:   "nil",
	Record:    "knossos.model.CASRegister",
	Object:    "rmw", ObjectInit: "0",
	Infer: func(s *models.Seen) models.Fit {
		if !s.Any(":cas") || !s.Only(":read", ":write", ":cas") {
			return models.NoFit
		}
		return fits(s)
	},
	New: newCASRegister,
}

// fits says whether a history's values are those of a register. Steps of transactions are not. Reads alone may be of other
// models: if they are of collections, those would answer otherwise.
func fits(s *models.Seen) models.Fit {
	alone := !s.Any(":write", ":cas")
	if misfit(s) != "" || home.HasSteps(s, ":read", ":write") || alone && home.Returned(s, ":read").Collections > 0 {
		return models.NoFit
	}
	return models.Fits
}

// misfit says why a history of reads and writes is not of a register, or "": what is read looks otherwise than what is
// written.
func misfit(s *models.Seen) string {
	if !s.Any(":write", ":cas") || !s.Only(":read", ":write", ":cas") {
		return ""
	}
	read, written := home.Returned(s, ":read"), home.Written(s)
	switch {
	case tellsVersions(s):
		return "writes are called with [nil value] and return [version value], so it is a versioned-register"
	case read.Collections > 0 && written.Collections == 0 && written.Scalars > 0:
		return "reads return collections of what is written one by one, so it is no register, and no model of clew has that " +
			"(a set has :add, a log has :append); docs/own-models.md says how to write one"
	case read.Scalars > 0 && read.Collections == 0 && written.Collections > 0 && written.Scalars == 0:
		return "collections are written, and single values are read, so it is no register; " +
			"docs/own-models.md says how to write a model"
	}
	return ""
}

func newRegister(b *models.Binding) *Register {
	r := &Register{
		Base:          home.NewBase(b),
		fRead:         b.Values.InternKeyword("read"),
		fWrite:        b.Values.InternKeyword("write"),
		nilReadsExact: b.Spec.NilReadsExact,
	}
	r.Initial = models.State{int32(edn.Nil)}
	if b.InitID != nil {
		r.Initial = models.State{int32(*b.InitID)}
	}
	r.Offered = registerTraits
	r.Offered.Because = func(s models.State, op models.Op) string { return Differs("the value", r.Text(s[0]), r.Text(op.A), op) }
	r.Offered.Shape = func() models.Shape { return models.RegisterShape{Init: r.Initial[0], CAS: r.fCAS != edn.Nil} }
	r.Offered.AnyOrder = func(*jepsen.History) bool { return true }
	r.Offered.Opening = r.opening
	return r
}

// OfKey returns the register of one key of a map whose states print by themselves.
func OfKey(v *edn.Values, initial int32) Register {
	return Register{Base: home.Base{V: v, Initial: models.State{initial}, Offered: registerTraits}}
}

// registerTraits are those of every model that is one value. They depend on operations alone, so that the registers
// of many keys share them.
var registerTraits = models.Traits{
	Run:        func(s models.State) models.Run { return &registerRun{s[0]} },
	IsRegister: true,
	Overwrites: func(op models.Op) bool { return op.Kind == models.Write },
	Droppable:  &models.Droppable{Touches: registerTouches},
	Visibility: &models.Visibility{Makes: registerMakes, Sees: registerSees},
	Anomaly:    anomaly,
}

func anomaly(ops *models.Operations, row models.Row) models.Anomaly {
	return home.Saw(ops, row, func(int32) int32 { return ops.Model.Init()[0] })
}

func newCASRegister(b *models.Binding) (models.Reader, error) {
	r := newRegister(b)
	r.fCAS = b.Values.InternKeyword("cas")
	r.observeFailedCAS, r.knossos = b.Spec.ObserveFailedCAS, b.Spec.Knossos
	return r, nil
}

func (r *Register) Read(o models.Operation) (models.Op, bool, error) {
	failed := o.Status == jepsen.Failed
	switch {
	case o.FID == r.fRead:
		wild := o.ValueID == edn.Nil && !r.nilReadsExact
		return models.Op{Kind: models.Read, A: r.Class(o.ValueID), B: 0}, !failed && !wild, nil
	case o.FID == r.fWrite:
		return models.Op{Kind: models.Write, A: r.Class(o.ValueID), B: 0}, !failed, nil
	case o.FID == r.fCAS && r.fCAS != edn.Nil:
		from, to, err := r.pair(o.ValueID)
		if failed {
			return models.Op{Kind: models.FailedCAS, A: from, B: 0}, err == nil, nil
		}
		return models.Op{Kind: models.CAS, A: from, B: to}, true, err
	case failed:
		return models.Op{}, false, nil
	}
	return models.Op{}, false, models.ErrUnknownF
}

// pair reads [old new]. As Knossos does, it takes nil for a pair of nils. Only with Knossos's semantics does it ignore
// further elements: elsewhere, they show that the first one is a key.
func (r *Register) pair(value edn.ID) (from, to int32, err error) {
	if value == edn.Nil {
		return int32(edn.Nil), int32(edn.Nil), nil
	}
	items, _ := r.Sequence(value)
	switch {
	case len(items) == 2 || len(items) > 2 && r.knossos:
		return r.Class(items[0]), r.Class(items[1]), nil
	case len(items) == 3:
		return 0, 0, fmt.Errorf("expected [old new], found %s; if the first element is a key, give %s", r.V.Text(value), option.Independent)
	}
	return 0, 0, fmt.Errorf("expected [old new], found %s", r.V.Text(value))
}

func (r *Register) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch next, ok := After(s[0], op); {
	case !ok:
		return dst
	case next == s[0]:
		return append(dst, s)
	default:
		return models.Only(dst, next)
	}
}

// After returns the value after an operation, and whether the operation can happen.
func After(now int32, op models.Op) (next int32, ok bool) {
	switch op.Kind {
	case models.Write:
		return op.A, true
	case models.CAS:
		return op.B, now == op.A
	case models.FailedCAS:
		return now, now != op.A
	}
	return now, now == op.A
}

type registerRun struct{ now int32 }

func (r *registerRun) Apply(op models.Op) models.Outcome {
	next, ok := After(r.now, op)
	if ok {
		r.now = next
	}
	return models.OneIf(ok)
}

func (r *registerRun) State() models.State { return models.State{r.now} }

func (r *Register) Mutates(op models.Op) bool {
	return op.Kind == models.Write || op.Kind == models.CAS
}

// registerTouches is Droppable.Touches. The initial value is never in the way of others. A
// failed cas that is observed needs some other value to be there.
func registerTouches(op models.Op) (values []int32, all bool) {
	switch op.Kind {
	case models.CAS:
		return []int32{op.A, op.B}, false
	case models.FailedCAS:
		return nil, true
	}
	return []int32{op.A}, false
}

func registerMakes(dst []models.Cell, op models.Op) []models.Cell {
	switch {
	case op.Kind == models.Write:
		return append(dst, models.Cell{Place: 0, Value: op.A})
	case op.Kind == models.CAS && op.A != op.B:
		return append(dst, models.Cell{Place: 0, Value: op.B})
	}
	return dst
}

func registerSees(dst []models.Cell, op models.Op) (cells []models.Cell, all bool) {
	switch op.Kind {
	case models.Write:
		return dst, false
	case models.FailedCAS:
		return dst, true
	}
	return append(dst, models.Cell{Place: 0, Value: op.A}), false
}

func (r *Register) Why(s models.State, op models.Op) string {
	state, a := edn.ID(s[0]), edn.ID(op.A)
	switch {
	case op.Kind == models.Read && r.fCAS == edn.Nil:
		return r.V.Text(state) + "≠" + r.V.Text(a)
	case op.Kind == models.Read:
		return "can't read " + home.Text(r.V, a) + " from register " + home.Text(r.V, state)
	case op.Kind == models.CAS:
		return "can't CAS " + home.Text(r.V, state) + " from " + home.Text(r.V, a) + " to " + home.Text(r.V, edn.ID(op.B))
	case op.Kind == models.FailedCAS:
		return "CAS from " + home.Text(r.V, a) + " can't fail in register " + home.Text(r.V, state)
	}
	return ""
}

// Differs says why an operation of a register cannot happen, of which what says which it is.
func Differs(what, now, saw string, op models.Op) string {
	if op.Kind == models.FailedCAS {
		return what + " is " + now + ", so it cannot fail"
	}
	return what + " is " + now + ", not " + saw
}

func (r *Register) Record(s models.State) edn.Value {
	return r.Print("value", edn.ID(s[0]))
}

func (r *Register) opening() models.Opening {
	return home.NewPlaces(home.Places{
		Shows: func(dst []models.Cell, op models.Op) []models.Cell {
			if op.Kind == models.Read || op.Kind == models.CAS {
				dst = append(dst, models.Cell{Place: 0, Value: op.A})
			}
			return dst
		},
		Leaves:  registerMakes,
		Mutates: r.Mutates,
		Start: func(cells []models.Cell) []edn.ID {
			if value := edn.ID(cells[0].Value); value != edn.Nil {
				return []edn.ID{value}
			}
			return nil
		},
	})
}

// nilReads counts reads of nil. One is late if another operation had succeeded before it began. Otherwise all of them can come
// first in any linearization: nothing that comes before them there had returned.
func nilReads(h *jepsen.History) (n int, late bool) {
	read := h.Values.InternKeyword("read")
	isOne := func(op jepsen.Operation) bool {
		return h.F[h.Invocation[op]] == read && h.OpValue(op) == edn.Nil
	}
	others := false // have succeeded
	for e, op := range h.OpOf {
		switch {
		case h.Status[op] != jepsen.Succeeded:
		case !isOne(op):
			others = others || h.Type[e] != jepsen.Invoke
		case h.Type[e] == jepsen.Invoke:
			n++
			late = late || others
		}
	}
	return n, late
}
