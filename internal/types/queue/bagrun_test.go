package queue

import (
	"testing"

	"clew/models"
)

// TestABagThatWasFoundEmptyIsAsNew steps through a bag that is found empty, once because it
// has no elements and once because a debt has taken the last one.
func TestABagThatWasFoundEmptyIsAsNew(t *testing.T) {
	run := (&Unordered{}).run(nil)
	for i, op := range []models.Op{
		{Kind: models.DequeueEmpty},
		{Kind: models.Enqueue, A: 3}, {Kind: models.DequeueAny}, {Kind: models.DequeueEmpty}, // one value: it is known which was taken
		{Kind: models.Enqueue, A: 4}, {Kind: models.Enqueue, A: 5}, {Kind: models.DequeueAny}, {Kind: models.Dequeue, A: 5}, {Kind: models.DequeueEmpty},
		{Kind: models.Enqueue, A: 6}, {Kind: models.DequeueAny}, {Kind: models.DequeueEmpty},
	} {
		if got := run.Apply(op); got != models.One {
			t.Fatalf("step %d, %v: %v outcomes, want one", i, op, got)
		}
	}
	if state := run.State(); len(state) != 0 {
		t.Errorf("%v is left", state)
	}
}

// TestABagKeepsWhatItsDebtsNeed has two debts and the elements to pay them with: neither
// element can be taken, but one that came later can.
func TestABagKeepsWhatItsDebtsNeed(t *testing.T) {
	run := (&Unordered{}).run(models.State{4, 5})
	for i, step := range []struct {
		op   models.Op
		want models.Outcome
	}{
		{models.Op{Kind: models.DequeueAny}, models.One}, {models.Op{Kind: models.DequeueAny}, models.One},
		{models.Op{Kind: models.Dequeue, A: 4}, models.Impossible}, {models.Op{Kind: models.Dequeue, A: 5}, models.Impossible},
		{models.Op{Kind: models.Enqueue, A: 6}, models.One}, {models.Op{Kind: models.Dequeue, A: 4}, models.Impossible}, {models.Op{Kind: models.Dequeue, A: 6}, models.One},
		{models.Op{Kind: models.DequeueAny}, models.Impossible}, {models.Op{Kind: models.DequeueEmpty}, models.One},
	} {
		if got := run.Apply(step.op); got != step.want {
			t.Fatalf("step %d, %v: %v outcomes, want %v", i, step.op, got, step.want)
		}
	}
}
