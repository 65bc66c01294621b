package models

import "testing"

// TestABagThatWasFoundEmptyIsAsNew steps through a bag that is found empty, once because it
// has no elements and once because a debt has taken the last one.
func TestABagThatWasFoundEmptyIsAsNew(t *testing.T) {
	run := (&unorderedQueue{}).run(nil)
	for i, op := range []Op{
		{Kind: DequeueEmpty},
		{Kind: Enqueue, A: 3}, {Kind: DequeueAny}, {Kind: DequeueEmpty}, // one value: it is known which was taken
		{Kind: Enqueue, A: 4}, {Kind: Enqueue, A: 5}, {Kind: DequeueAny}, {Kind: Dequeue, A: 5}, {Kind: DequeueEmpty},
		{Kind: Enqueue, A: 6}, {Kind: DequeueAny}, {Kind: DequeueEmpty},
	} {
		if got := run.Apply(op); got != One {
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
	run := (&unorderedQueue{}).run(State{4, 5})
	for i, step := range []struct {
		op   Op
		want Outcome
	}{
		{Op{Kind: DequeueAny}, One}, {Op{Kind: DequeueAny}, One},
		{Op{Kind: Dequeue, A: 4}, Impossible}, {Op{Kind: Dequeue, A: 5}, Impossible},
		{Op{Kind: Enqueue, A: 6}, One}, {Op{Kind: Dequeue, A: 4}, Impossible}, {Op{Kind: Dequeue, A: 6}, One},
		{Op{Kind: DequeueAny}, Impossible}, {Op{Kind: DequeueEmpty}, One},
	} {
		if got := run.Apply(step.op); got != step.want {
			t.Fatalf("step %d, %v: %v outcomes, want %v", i, step.op, got, step.want)
		}
	}
}
