package models

import "testing"

// TestABagThatWasFoundEmptyIsAsNew steps through a bag that is found empty, once for want
// of elements and once because a debt has taken the last one.
func TestABagThatWasFoundEmptyIsAsNew(t *testing.T) {
	run := (&unorderedQueue{}).Run(nil)
	for i, op := range []Op{
		{Kind: DequeueEmpty},
		{Kind: Enqueue, A: 3}, {Kind: DequeueAny}, {Kind: DequeueEmpty}, // of one value: it is known which
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
