package multiregister

import (
	"slices"

	"clew/edn"
	"clew/internal/types/register"
	"clew/models"
)

// multiRegisterKey is a key of a multiRegister that no transaction ties to another. A and B
// are classes of its values.
type multiRegisterKey struct {
	register.Register
	whole *multiRegister
	slot  int32
}

// project is Partition.Project. A part of one key is a register, on which a transaction is a
// read, a write, or a cas that reads and then writes.
func (m *multiRegister) project(part int32, c *models.Columns) models.Model {
	for _, txn := range c.A {
		if _, ok := m.onRegister(part, m.txns[txn]); !ok {
			return m
		}
	}
	for i, txn := range c.A {
		op, _ := m.onRegister(part, m.txns[txn])
		c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
	}
	k := &multiRegisterKey{Register: register.OfKey(m.V, orNil(m.first[part])), whole: m, slot: part}
	shape := models.RegisterShape{Init: k.Initial[0], CAS: slices.Contains(c.Kind, models.CAS)}
	k.Offered.Shape = func() models.Shape { return shape }
	k.Offered.Text = k.text
	return k
}

// onRegister returns a transaction as an operation on the register at a slot. ok is false
// if the transaction does anything else. Registers have no operation for a transaction that
// contradicts itself, and cannot distinguish a key that holds nil from an absent one.
func (m *multiRegister) onRegister(slot int32, txn []microOp) (op models.Op, ok bool) {
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
	case left == int32(edn.Nil) && m.first[slot] == absent:
		return op, false
	case left == none:
		return models.Op{Kind: models.Read, A: saw, B: 0}, true
	case saw == none:
		return models.Op{Kind: models.Write, A: left, B: 0}, true
	}
	return models.Op{Kind: models.CAS, A: saw, B: left}, true
}

func (k *multiRegisterKey) Why(s models.State, op models.Op) string {
	if op.Kind == models.Write {
		return ""
	}
	return k.Text(s[0]) + "≠" + k.Text(op.A)
}

func (k *multiRegisterKey) Record(s models.State) edn.Value {
	if s[0] == k.Initial[0] {
		return k.whole.Record(nil) // the key may be absent or hold nil
	}
	return k.whole.Record(models.State{k.slot, s[0]})
}

// text returns a value with its key.
func (k *multiRegisterKey) text(class int32) string {
	return "[" + k.V.Text(k.whole.keys[k.slot]) + " " + k.Text(class) + "]"
}
