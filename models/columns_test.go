package models

import "testing"

func TestAppendWritesOverWhatAColumnHeldBefore(t *testing.T) {
	var c Columns
	c.Append(0, 1, Op{A: 1, B: 7})
	c.Inv, c.Res, c.Kind, c.A, c.B = c.Inv[:0], c.Res[:0], c.Kind[:0], c.A[:0], c.B[:0]
	c.Append(0, 1, Op{A: 1})
	if op := c.Op(0); op != (Op{A: 1}) {
		t.Errorf("%+v, want a B of 0", op)
	}
}
