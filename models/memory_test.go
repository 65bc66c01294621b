package models

import "testing"

func TestAShareComesOutOfTheWhole(t *testing.T) {
	whole := NewMemory(100)
	half := whole.Share(2)
	if !half.Take(50) || half.Left() != 0 || whole.Left() != 50 {
		t.Errorf("%d bytes left of the half, %d of the whole", half.Left(), whole.Left())
	}
	if half.Take(1) {
		t.Error("the half gave more than it had")
	}
	half.Give(51)
	if half.Left() != 50 || whole.Left() != 100 {
		t.Errorf("%d bytes left of the half, %d of the whole, after all was given back", half.Left(), whole.Left())
	}
	if !whole.Take(80) || half.Take(30) {
		t.Error("the half gave what the whole no longer had")
	}
}

func TestNoBudgetHasNoEnd(t *testing.T) {
	var none *Memory
	if !none.Take(1<<62) || none.Share(3) != nil {
		t.Error("no budget has an end")
	}
	none.Give(1)
}
