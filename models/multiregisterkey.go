package models

import (
	"slices"

	"clew/edn"
)

// multiRegisterKey is a key of a multiRegister that no transaction ties to another. A and B
// are classes of its values.
type multiRegisterKey struct {
	register
	whole *multiRegister
	slot  int32
}

// project is Partition.Project. A part of one key is a register, on which a transaction is a
// read, a write, or a cas that reads and then writes.
func (m *multiRegister) project(part int32, c *Columns) Model {
	for _, txn := range c.A {
		if _, ok := m.onRegister(part, m.txns[txn]); !ok {
			return m
		}
	}
	for i, txn := range c.A {
		op, _ := m.onRegister(part, m.txns[txn])
		c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
	}
	k := &multiRegisterKey{register: register{v: m.v, init: orNil(m.init[part]), traits: registerTraits}, whole: m, slot: part}
	shape := RegisterShape{Init: k.init, CAS: slices.Contains(c.Kind, CAS)}
	k.traits.Shape = func() Shape { return shape }
	k.traits.Text = k.text
	return k
}

// onRegister returns a transaction as an operation on the register at a slot. ok is false
// if the transaction does anything else. Registers have no operation for a transaction that
// contradicts itself, and cannot distinguish a key that holds nil from an absent one.
func (m *multiRegister) onRegister(slot int32, txn []microOp) (op Op, ok bool) {
	const none = absent
	saw, left := none, none
	for _, mop := range txn {
		now := left
		if left == none {
			now = saw
		}
		switch {
		case mop.slot != slot, !mop.write && now != none && now != mop.value:
			return op, false
		case mop.write:
			left = mop.value
		case left == none:
			saw = mop.value
		}
	}
	switch {
	case left == int32(edn.Nil) && m.init[slot] == absent:
		return op, false
	case left == none:
		return Op{Read, saw, 0}, true
	case saw == none:
		return Op{Write, left, 0}, true
	}
	return Op{CAS, saw, left}, true
}

func (k *multiRegisterKey) Why(s State, op Op) string {
	if op.Kind == Write {
		return ""
	}
	return k.v.Text(edn.ID(s[0])) + "≠" + k.v.Text(edn.ID(op.A))
}

func (k *multiRegisterKey) Record(s State) edn.Value {
	if s[0] == k.init {
		return k.whole.Record(nil) // the key may be absent or hold nil
	}
	return k.whole.Record(State{k.slot, s[0]})
}

// text returns a value with its key.
func (k *multiRegisterKey) text(class int32) string {
	return "[" + k.v.Text(k.whole.keys[k.slot]) + " " + k.v.Text(edn.ID(class)) + "]"
}
