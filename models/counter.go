package models

import (
	"fmt"
	"math"
	"strconv"

	"clew/edn"
	"clew/jepsen"
)

// Kinds of counter. A is the class of an integer.
const (
	counterAdd  Kind = iota // adds A
	counterRead             // saw A
)

var counterDefinition = Definition{
	Name: "counter", Fs: ":add n, :read", About: "a number that is added to",
	Record: "clew.model.Counter",
	New:    newCounter,
}

// counter is a number that operations add to, be it less than 0. A state holds
// its upper and its lower 32 bits.
type counter struct {
	v           *edn.Values
	record      string
	fAdd, fRead edn.ID
	init        int64
}

func newCounter(b *Binding) (Reader, error) {
	m := &counter{v: b.v, record: b.record, fAdd: b.v.InternKeyword("add"), fRead: b.v.InternKeyword("read")}
	if init, given := b.Init(); given {
		n, ok := init.Int()
		if !ok || n < -maxInitial || n > maxInitial {
			return nil, paramErrorf("counter's %s is an integer from %d to %d, not %v", ParamInit, -maxInitial, maxInitial, init)
		}
		m.init = n
	}
	return m, nil
}

// maxInitial bounds the initial value, and maxAdded what one operation adds: the
// sum of as many as a history can hold stays an int64.
const (
	maxInitial = 1 << 61
	maxAdded   = math.MaxInt32
)

func (m *counter) Read(o Operation) (Op, bool, error) {
	n, ok := m.v.Int(o.value)
	op := Op{A: int32(m.v.Same(o.value))}
	switch o.f {
	case m.fAdd:
		if !ok || n < -maxAdded || n > maxAdded {
			return op, false, fmt.Errorf("expected an integer from %d to %d, found %s", -maxAdded, maxAdded, m.v.Text(o.value))
		}
		op.Kind = counterAdd
		return op, true, nil
	case m.fRead:
		if o.status == jepsen.Crashed {
			return op, false, nil
		}
		if !ok {
			return op, false, fmt.Errorf("expected the integer that was read, found %s", m.v.Text(o.value))
		}
		op.Kind = counterRead
		return op, true, nil
	}
	return op, false, ErrUnknownF
}

// stateOf is a number as a state, and number is the number again.
func stateOf(n int64) State { return State{int32(n >> 32), int32(n)} }

func number(s State) int64 { return int64(s[0])<<32 | int64(uint32(s[1])) }

// amount is the integer that an operation adds or saw.
func (m *counter) amount(op Op) int64 {
	n, _ := m.v.Int(edn.ID(op.A))
	return n
}

func (m *counter) Init() State { return stateOf(m.init) }

func (m *counter) Step(dst []State, s State, op Op) []State {
	switch {
	case op.Kind == counterAdd:
		return append(dst, stateOf(number(s)+m.amount(op)))
	case number(s) == m.amount(op):
		return append(dst, s)
	}
	return dst
}

func (m *counter) Mutates(op Op) bool { return op.Kind == counterAdd && m.amount(op) != 0 }

func (m *counter) Why(s State, op Op) string {
	return "can't read " + strconv.FormatInt(m.amount(op), 10) + " from counter " + strconv.FormatInt(number(s), 10)
}

func (m *counter) Record(s State) edn.Value {
	return record(m.v, m.record, field{"value", m.v.InternInt(number(s))})
}
