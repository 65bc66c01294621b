package multiregister

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// Txn is the kind of multi-register's operations. A is the transaction.
const Txn models.Kind = 0

// multiRegister is a map of registers that transactions read and write; each transaction is
// atomic. A state holds the slot and the value class of every key whose value is not the
// initial one, sorted by slot. Keys that no transaction ties together, directly or through
// others, are independent of each other.
type multiRegister struct {
	home.Base
	fTxn          edn.ID
	fRead, fWrite [2]edn.ID // :read and :r, :write and :w
	nilReadsExact bool
	keys          []edn.ID
	slot          models.Numbering // of keys: their places in a state
	first         []int32          // by slot: the initial value
	rest          int32            // the initial value of a key that is given none
	tied          []int32          // by slot: a lower slot tied to it, or itself
	steps         []microOp        // of all transactions
	ends          []int32          // by transaction: where its steps end
	wrote         []int32          // by slot: the latest transaction that wrote it, as numbered by mark
}

// absent is the value of a key that is not in the map. It reads as nil.
const absent int32 = -1

// microOp is a step of a transaction.
type microOp = models.RegisterStep

var multiRegisterDefinition = models.Definition{
	Name: "multi-register", Fs: ":txn [[:read k v] [:write k v] ..], also :read and :write with such a vector",
	Called: []string{"rw-register", "txn"},
	About:  "a map of registers, read and written together",
	Params: []models.Param{models.ParamNilReads}, NilReads: nilReads,
	Default: "{}",
	Record:  "knossos.model.MultiRegister",
	Infer: func(s *models.Seen) models.Fit {
		if s.Any(":txn") && home.OnlyReadsLists(s) {
			return models.MayFit
		}
		return models.FitsIf(s.Any(":txn") && !home.AppendsToLists(s) || s.Only(":read", ":write") && home.HasSteps(s, ":read", ":write"))
	},
	New: newMultiRegister,
	Elsewhere: func(s *models.Seen) string {
		if home.HasAppends(s) {
			return appendsToLists
		}
		return ""
	},
}

// appendsToLists says where to go with a history of transactions that append to lists.
const appendsToLists = "such transactions are of the model list-append, with :f :txn"

func newMultiRegister(b *models.Binding) (models.Reader, error) {
	v, init := b.Values, b.InitID
	m := &multiRegister{
		Base:          home.NewBase(b),
		fTxn:          v.InternKeyword("txn"),
		fRead:         [2]edn.ID{v.InternKeyword("read"), v.InternKeyword("r")},
		fWrite:        [2]edn.ID{v.InternKeyword("write"), v.InternKeyword("w")},
		nilReadsExact: b.Spec.NilReadsExact,
		rest:          absent,
	}
	m.Offered = models.Traits{
		Because: m.because,
		Finish:  m.finish,
		Opening: m.opening,
		Run:     m.run,
		Shape: func() models.Shape {
			return models.TxnRegistersShape{
				Init: func(slot int32) int32 { return orNil(m.first[slot]) },
				Of:   m.txn,

				Failed: m.failed,
				Key:    func(slot int32) edn.ID { return m.keys[slot] },
			}
		},
		Partition:   &models.Partition{Of: m.part, Project: m.project},
		Levels:      &models.Levels{Start: m.start, Moves: m.moves, Shows: m.atLeastOnce},
		Projections: m.keyByKey,
		Visibility:  &models.Visibility{Makes: m.makes, Sees: m.sees},
		Anomaly: func(ops *models.Operations, row models.Row) models.Anomaly {
			kind := home.Saw(ops, row, func(place int32) int32 { return orNil(m.value(m.Init(), place)) })
			if kind == models.NeverWritten && m.passes(ops.Op(row)) {
				return ""
			}
			return kind
		},
		Hard: func() models.Hard { // more keys do not help if transactions tie them together
			return models.Hard{Change: []string{"write each value only once", "touch fewer keys in a transaction"}}
		},
		Liveness: &models.Liveness{
			At:      func(s models.State, place int32) int32 { return orNil(m.value(s, place)) },
			Shows:   m.shows,
			Leaves:  func(dst []models.Cell, op models.Op) ([]models.Cell, bool) { return m.makes(dst, op), true },
			Becomes: func(dst []models.Cell, cell models.Cell) []models.Cell { return append(dst, cell) }, // a value stays what it is
			Forget:  home.Forget1,
		},
	}
	if init == nil {
		return m, nil
	}
	each, rest, ok := b.PerKey()
	if !ok {
		return nil, home.BadInit(b, "a map such as {:x 0 :y 0}, or {:default 0}")
	}
	if rest != nil {
		m.rest = int32(*rest)
	}
	for kvs := each; len(kvs) > 0; kvs = kvs[2:] {
		m.first[m.slotOf(kvs[0])] = int32(v.Same(kvs[1]))
	}
	return m, nil
}

func (m *multiRegister) slotOf(key edn.ID) int32 {
	key = m.V.Same(key)
	slot := m.slot.Of(int32(key))
	if int(slot) == len(m.keys) {
		m.keys = append(m.keys, key)
		m.first = append(m.first, m.rest)
		m.tied = append(m.tied, slot)
		m.wrote = append(m.wrote, 0)
	}
	return slot
}

// tie puts the keys of a transaction into one part.
func (m *multiRegister) tie(txn []microOp) {
	for _, mop := range txn {
		a, b := m.lowest(txn[0].Slot), m.lowest(mop.Slot)
		m.tied[max(a, b)] = min(a, b)
	}
}

// mark marks the outer steps of the latest transaction.
func (m *multiRegister) mark(txn []microOp) {
	n := int32(len(m.ends))
	for i, mop := range txn {
		if mop.Write {
			m.wrote[mop.Slot] = n
		} else {
			txn[i].Outer = m.wrote[mop.Slot] != n
		}
	}
	for i, mop := range slices.Backward(txn) {
		if mop.Write {
			txn[i].Outer = m.wrote[mop.Slot] != -n
			m.wrote[mop.Slot] = -n
		}
	}
}

// lowest returns the lowest slot that is tied to a slot; it stands for their part. Each
// call halves the path there for the next one.
func (m *multiRegister) lowest(slot int32) int32 {
	for m.tied[slot] != slot {
		m.tied[slot] = m.tied[m.tied[slot]]
		slot = m.tied[slot]
	}
	return slot
}

// finish ties every slot to the lowest of its part.
func (m *multiRegister) finish(*models.Columns) (row int32, err error) {
	for slot := range m.tied {
		m.tied[slot] = m.tied[m.tied[slot]] // slots are tied only to lower ones, which are done
	}
	return 0, nil
}

func (m *multiRegister) Read(o models.Operation) (models.Op, bool, error) {
	if o.FID != m.fTxn && o.FID != m.fRead[0] && o.FID != m.fWrite[0] {
		return models.Op{}, false, models.ErrUnknownF
	}
	begin := len(m.steps)
	switch m.V.Kind(o.ValueID) {
	case edn.KindNil:
	case edn.KindVector, edn.KindList:
		items := m.V.Items(o.ValueID)
		for _, item := range items {
			mop, err := m.microOp(item)
			if err != nil {
				m.steps = m.steps[:begin]
				return models.Op{}, false, err
			}
			// It is unknown what a crashed transaction would have read, and what a nil read
			// saw, unless it saw nil.
			unknown := o.Status == jepsen.Crashed || mop.Value == int32(edn.Nil) && !m.sawNil(o, item)
			if mop.Write || !unknown {
				m.steps = hugepages.Append(m.steps, mop)
			}
		}
	default:
		return models.Op{}, false, fmt.Errorf("expected [[:read k v] [:write k v] ..], found %s", m.V.Text(o.ValueID))
	}
	if o.GivenID != o.ValueID && o.GivenID != edn.Nil && o.Status == jepsen.Succeeded {
		if err := m.repeats(o); err != nil {
			m.steps = m.steps[:begin]
			return models.Op{}, false, err
		}
	}
	n := int32(len(m.ends))
	m.ends = hugepages.Append(m.ends, int32(len(m.steps)))
	txn := m.txn(n)
	m.tie(txn)
	m.mark(txn)
	return models.Op{Kind: Txn, A: n}, len(txn) > 0, nil
}

// sawNil says whether a read of nil saw nil. In a :txn with [:r k nil] it did, as in Elle; [:read k nil] may have seen
// anything, as in Knossos.
func (m *multiRegister) sawNil(o models.Operation, step edn.ID) bool {
	return m.nilReadsExact || o.FID == m.fTxn && m.V.Items(step)[0] == m.fRead[1]
}

// txn returns the steps of a transaction.
func (m *multiRegister) txn(n int32) []microOp {
	begin, end := int32(0), m.ends[n]
	if n > 0 {
		begin = m.ends[n-1]
	}
	return m.steps[begin:end:end]
}

// failed is TxnRegistersShape.Failed.
func (m *multiRegister) failed(h *jepsen.History) (txns []jepsen.Operation, writes [][]microOp) {
	for i, status := range h.Status {
		op := jepsen.Operation(i)
		if status != jepsen.Failed {
			continue
		}
		var would []microOp
		items, _ := m.Sequence(h.Value[h.Invocation[op]])
		for _, item := range items {
			parts, _ := m.Sequence(item)
			if len(parts) != 3 {
				continue
			}
			slot, known := m.slot.Has(int32(m.V.Same(parts[1])))
			if write, _ := m.names(parts[0]); write && known {
				would = append(would, microOp{Slot: slot, Value: m.Class(parts[2]), Write: true})
			}
		}
		if would != nil {
			txns, writes = append(txns, op), append(writes, would)
		}
	}
	return txns, writes
}

// repeats returns an error unless a completion has the micro-operations of its invocation.
// A completion may fill in only the values that were read.
func (m *multiRegister) repeats(o models.Operation) error {
	given, found := m.V.Items(o.GivenID), m.V.Items(o.ValueID)
	if _, ok := m.Sequence(o.GivenID); !ok || len(given) != len(found) {
		return fmt.Errorf("expected the micro-operations of its invocation%s, %s, found %s", called(o), m.V.Text(o.GivenID), m.V.Text(o.ValueID))
	}
	for i := range given {
		if given[i] != found[i] && !m.sameStep(given[i], found[i]) {
			return fmt.Errorf("expected micro-operation %d to be that of its invocation%s, %s, found %s", i+1, called(o), m.V.Text(given[i]), m.V.Text(found[i]))
		}
	}
	return nil
}

// called says where an operation was invoked, if that is known.
func called(o models.Operation) string {
	if o.History == nil {
		return ""
	}
	inv := o.History.Invocation[o.Of]
	return fmt.Sprintf(" (index %d, line %d)", o.History.Index(inv), o.History.Line(inv))
}

// sameStep says whether a micro-operation of a completion is the given one of the
// invocation. microOp has read it before. The value of a read may differ.
func (m *multiRegister) sameStep(given, found edn.ID) bool {
	call, _ := m.Sequence(given)
	step := m.V.Items(found)
	if len(call) < 2 || m.V.Same(call[1]) != m.V.Same(step[1]) {
		return false
	}
	writes, reads := m.names(call[0])
	if wrote, _ := m.names(step[0]); wrote {
		return writes && len(call) == 3 && m.V.Same(call[2]) == m.V.Same(step[2])
	}
	return reads
}

// names says whether the name of a micro-operation means a write or a read. It is a string in JSON, unless :f is :txn.
func (m *multiRegister) names(f edn.ID) (write, read bool) {
	if m.V.Kind(f) == edn.KindString {
		f = m.V.InternKeyword(m.V.Str(f))
	}
	f = m.V.Same(f)
	return slices.Contains(m.fWrite[:], f), slices.Contains(m.fRead[:], f)
}

func (m *multiRegister) microOp(item edn.ID) (microOp, error) {
	if parts, _ := m.Sequence(item); len(parts) == 3 {
		mop := microOp{Slot: m.slotOf(parts[1]), Value: m.Class(parts[2])}
		write, read := m.names(parts[0])
		if mop.Write = write; write || read {
			return mop, nil
		}
	}
	why := ""
	if home.IsAppend(m.V, item) {
		why = " (" + appendsToLists + ")"
	}
	return microOp{}, fmt.Errorf("expected [:read k v] or [:write k v], found %s%s", m.V.Text(item), why)
}

func (m *multiRegister) Step(dst []models.State, s models.State, op models.Op) []models.State {
	for _, mop := range m.txn(op.A) {
		switch {
		case mop.Write:
			s = m.with(s, mop.Slot, mop.Value)
		case orNil(m.value(s, mop.Slot)) != mop.Value:
			return dst
		}
	}
	return append(dst, s)
}

// run begins a run. A step takes time linear in its transaction.
func (m *multiRegister) run(s models.State) models.Run {
	r := &multiRegisterRun{m: m, now: slices.Clone(m.first)}
	for i := 0; i < len(s); i += 2 {
		r.now[s[i]] = s[i+1]
	}
	return r
}

type multiRegisterRun struct {
	m    *multiRegister
	now  []int32   // by slot
	undo []microOp // what the current transaction has overwritten
}

func (r *multiRegisterRun) Apply(op models.Op) models.Outcome {
	r.undo = r.undo[:0]
	for _, mop := range r.m.txn(op.A) {
		switch {
		case mop.Write:
			r.undo = append(r.undo, microOp{Slot: mop.Slot, Value: r.now[mop.Slot]})
			r.now[mop.Slot] = mop.Value
		case orNil(r.now[mop.Slot]) != mop.Value:
			for _, old := range slices.Backward(r.undo) {
				r.now[old.Slot] = old.Value
			}
			return models.Impossible
		}
	}
	return models.One
}

func (r *multiRegisterRun) State() models.State {
	var s models.State
	for slot, value := range r.now {
		if value != r.m.first[slot] {
			s = append(s, int32(slot), value)
		}
	}
	return s
}

func (m *multiRegister) value(s models.State, slot int32) int32 {
	return home.At1(s, slot, m.first[slot])
}

// with returns s with another value at a slot.
func (m *multiRegister) with(s models.State, slot, value int32) models.State {
	return home.Put1(s, slot, value, m.first[slot])
}

func orNil(value int32) int32 {
	if value == absent {
		return int32(edn.Nil)
	}
	return value
}

func (m *multiRegister) Mutates(op models.Op) bool {
	for _, mop := range m.txn(op.A) {
		if mop.Write {
			return true
		}
	}
	return false
}

func (m *multiRegister) makes(dst []models.Cell, op models.Op) []models.Cell {
	for _, mop := range m.txn(op.A) {
		if mop.Write && mop.Outer {
			dst = append(dst, models.Cell{Place: mop.Slot, Value: mop.Value})
		}
	}
	return dst
}

// passes reports whether a transaction read what one wrote and itself replaced, or what it writes itself.
func (m *multiRegister) passes(op models.Op) bool {
	for _, read := range m.txn(op.A) {
		for txn := range int32(len(m.ends)) {
			if !read.Write && slices.ContainsFunc(m.txn(txn), func(s microOp) bool { return s.Write && s.Slot == read.Slot && s.Value == read.Value }) {
				return true
			}
		}
	}
	return false
}

// level returns the level of a cell: how often it has been written.
func level(c models.Cell) int64 { return int64(c.Place)<<32 | int64(c.Value) }

func (m *multiRegister) start(level int64) int64 {
	if orNil(m.first[level>>32]) == int32(level) {
		return 1
	}
	return 0
}

func (m *multiRegister) moves(dst []models.Move, op models.Op) []models.Move {
	for _, mop := range m.txn(op.A) {
		if mop.Write && mop.Outer {
			dst = append(dst, models.By(level(models.Cell{Place: mop.Slot, Value: mop.Value}), 1))
		}
	}
	return dst
}

// atLeastOnce is Levels.Shows. If a transaction writes what it has read, that is not what it read.
func (m *multiRegister) atLeastOnce(dst []models.Bound, op models.Op) []models.Bound {
	before := len(dst)
	for _, mop := range m.txn(op.A) {
		if cell := (models.Cell{Place: mop.Slot, Value: mop.Value}); !mop.Write && mop.Outer {
			dst = append(dst, models.Bound{Level: level(cell), Least: 1, Most: models.Unbounded})
		} else if mop.Write && mop.Outer {
			for i := range dst[before:] {
				if dst[before+i].Level == level(cell) {
					dst[before+i].Least++
				}
			}
		}
	}
	return dst
}

func (m *multiRegister) sees(dst []models.Cell, op models.Op) (cells []models.Cell, all bool) {
	for _, mop := range m.txn(op.A) {
		if !mop.Write && mop.Outer {
			dst = append(dst, models.Cell{Place: mop.Slot, Value: mop.Value})
		}
	}
	return dst, false
}

// shows is Liveness.Shows. If a transaction reads another value than it has written itself, it
// needs a value that is never there.
func (m *multiRegister) shows(dst []models.Cell, op models.Op) (cells []models.Cell, needs bool) {
	cells, _ = m.sees(dst, op)
	txn := m.txn(op.A)
	for i, mop := range txn {
		if mop.Write || mop.Outer {
			continue
		}
		for _, own := range slices.Backward(txn[:i]) {
			if own.Write && own.Slot == mop.Slot {
				if own.Value != mop.Value {
					cells = append(cells, models.Cell{Place: mop.Slot, Value: home.Never})
				}
				break
			}
		}
	}
	return cells, true
}

func (m *multiRegister) Why(s models.State, op models.Op) string {
	for _, mop := range m.txn(op.A) {
		if mop.Write {
			s = m.with(s, mop.Slot, mop.Value)
		} else if saw := orNil(m.value(s, mop.Slot)); saw != mop.Value {
			return m.Text(saw) + "≠" + m.Text(mop.Value)
		}
	}
	return ""
}

// because is Traits.Because. It says which key another value is at.
func (m *multiRegister) because(s models.State, op models.Op) string {
	for _, mop := range m.txn(op.A) {
		if mop.Write {
			s = m.with(s, mop.Slot, mop.Value)
		} else if saw := orNil(m.value(s, mop.Slot)); saw != mop.Value {
			return m.V.Text(m.keys[mop.Slot]) + " is " + m.Text(saw) + ", not " + m.Text(mop.Value)
		}
	}
	return ""
}

func (m *multiRegister) Record(s models.State) edn.Value {
	var kvs []edn.ID
	for slot, key := range m.keys { // in the order of slots, as in the state
		value := m.first[slot]
		if len(s) > 0 && s[0] == int32(slot) {
			value, s = s[1], s[2:]
		}
		if value != absent {
			kvs = append(kvs, key, edn.ID(value))
		}
	}
	return m.PrintMap(kvs)
}

// part returns the part that the keys are in: all keys of a transaction are in the same one.
func (m *multiRegister) part(op models.Op) int32 { return m.tied[m.txn(op.A)[0].Slot] }

func (m *multiRegister) opening() models.Opening {
	return home.NewPlaces(home.Places{
		Shows: func(dst []models.Cell, op models.Op) []models.Cell {
			cells, _ := m.sees(dst, op)
			return cells
		},
		Leaves: func(dst []models.Cell, op models.Op) []models.Cell {
			for _, mop := range m.txn(op.A) {
				if mop.Write {
					dst = append(dst, models.Cell{Place: mop.Slot, Value: mop.Value})
				}
			}
			return dst
		},
		Start: func(cells []models.Cell) []edn.ID {
			return home.MapOf(m.V, cells, func(slot int32) edn.ID { return m.keys[slot] })
		},
	})
}

// nilReads counts those of [:read k nil], and of [:r k nil] outside a :txn: in one that saw nil.
func nilReads(h *jepsen.History) (n int, late bool) {
	v := h.Values
	read, short, txn := v.InternKeyword("read"), v.InternKeyword("r"), v.InternKeyword("txn")
	for op, inv := range h.Invocation {
		if h.Status[op] != jepsen.Succeeded {
			continue
		}
		for _, step := range v.Items(h.OpValue(jepsen.Operation(op))) {
			if step := v.Items(step); len(step) == 3 && step[2] == edn.Nil && (step[0] == read || step[0] == short && h.F[inv] != txn) {
				n++
			}
		}
	}
	return n, n > 0
}
