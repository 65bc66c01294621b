package multiregister

import (
	"slices"

	"clew/edn"
	"clew/internal/types/register"
	"clew/models"
)

// multiRegisterKey is a key of a multiRegister by itself. A and B are classes of its values.
type multiRegisterKey struct {
	register.Register
	whole *multiRegister
	slot  int32
}

// project is Partition.Project. A part of one key is a register, on which a transaction is a
// read, a write, or a cas that reads and then writes.
func (m *multiRegister) project(part int32, c *models.Columns) models.Model {
	for _, txn := range c.A {
		if _, ok := m.onRegister(part, m.txn(txn)); !ok {
			return m
		}
	}
	for i, txn := range c.A {
		op, _ := m.onRegister(part, m.txn(txn))
		c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
	}
	return m.register(part, c)
}

// register returns the model of the register at a slot, which has some operations.
func (m *multiRegister) register(slot int32, c *models.Columns) *multiRegisterKey {
	k := &multiRegisterKey{Register: register.OfKey(m.V, orNil(m.first[slot])), whole: m, slot: slot}
	shape := models.RegisterShape{Init: k.Initial[0], CAS: slices.Contains(c.Kind, models.CAS)}
	k.Offered.Shape = func() models.Shape { return shape }
	k.Offered.Because = func(s models.State, op models.Op) string {
		return register.Differs(k.V.Text(m.keys[slot]), k.Text(s[0]), k.Text(op.A), op)
	}
	k.Offered.Place = func(int32) string { return k.place() }
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
		case mop.Slot != slot, !mop.Write && now != none && now != mop.Value:
			return op, false
		case mop.Write:
			left = mop.Value
		case left == none:
			saw = mop.Value
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

// keyByKey returns the operations of each key that transactions tie to others, as those of a register. It leaves out keys for
// which registers have no operation.
func (m *multiRegister) keyByKey(ops *models.Operations) (keys []*models.Operations) {
	rows := make([][]models.Row, len(m.keys)) // by slot
	for row := range models.Row(ops.Len()) {
		for _, mop := range m.txn(ops.A[row]) {
			if n := len(rows[mop.Slot]); n == 0 || rows[mop.Slot][n-1] != row {
				rows[mop.Slot] = append(rows[mop.Slot], row)
			}
		}
	}
	var one []microOp
	for slot := range int32(len(rows)) {
		key := ops.Select(rows[slot])
		fits := key.Len() > 0
		for i := range key.A {
			one = slices.DeleteFunc(append(one[:0], m.txn(key.A[i])...), func(mop microOp) bool { return mop.Slot != slot })
			op, ok := m.onRegister(slot, one)
			key.Kind[i], key.A[i], key.B[i] = op.Kind, op.A, op.B
			fits = fits && ok
		}
		if fits {
			key.Model = m.register(slot, &key.Columns)
			keys = append(keys, key)
		}
	}
	return keys
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

// place says of which key a value is.
func (k *multiRegisterKey) place() string { return " of key " + k.V.Text(k.whole.keys[k.slot]) }
