package fastpath

import (
	"testing"

	"clew/models"
)

// A decision that nobody waits for ends soon: it asks again and again.
func TestADecisionGivesUpWhenItIsTold(t *testing.T) {
	c := &models.Columns{}
	// Of a stack every other element is popped: the removes that crashed took the
	// rest.
	event := int32(0)
	op := func(kind models.Kind, value int32, crashed bool) {
		res := event + 1
		if crashed {
			res = models.Open
		}
		c.Append(event, res, models.Op{Kind: kind, A: value})
		event += 2
	}
	for i := range int32(20) {
		op(models.DequeueAny, 0, true)
		op(models.Enqueue, 2*i+1, false)
		op(models.Enqueue, 2*i+2, false)
	}
	for i := range int32(20) {
		op(models.Dequeue, 39-2*i, false)
	}
	c.Events = event
	asked := 0
	c.Stop = func() bool { asked++; return false }
	if d := Stack(c, 0, WantWitness|WantFailure); d.Reason.Cause == Stopped {
		t.Fatal("it gave up by itself")
	}
	if asked < 10 {
		t.Fatalf("it asked %d times", asked)
	}
	for n := 1; n <= asked; n++ {
		left := n
		c.Stop = func() bool { left--; return left == 0 }
		if d := Stack(c, 0, WantWitness|WantFailure); d.Verdict != Ambiguous || d.Reason.Cause != Stopped || left != 0 {
			t.Fatalf("told to stop at the %dth time it was asked: %+v, asked %d times more", n, d, -left)
		}
	}
}
