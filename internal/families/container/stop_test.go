package container

import (
	"context"
	"testing"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// A decision that is no longer wanted ends soon: it asks its context again and again.
func TestADecisionGivesUpWhenItIsTold(t *testing.T) {
	c := &models.Columns{}
	// Every other element of the stack is popped. The crashed removes took the rest.
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
	path, _ := Path(models.LIFOShape{})
	ctx := &impatient{Context: context.Background(), left: -1}
	if d := path.Decide(ctx, c, fastpath.WantWitness|fastpath.WantFailure); d.Reason.Is(fastpath.Stopped) {
		t.Fatal("it gave up by itself")
	}
	asked := -1 - ctx.left
	if asked < 10 {
		t.Fatalf("it asked %d times", asked)
	}
	for n := 1; n <= asked; n++ {
		ctx.left = n
		if d := path.Decide(ctx, c, fastpath.WantWitness|fastpath.WantFailure); d.Verdict != jepsen.Unknown || !d.Reason.Is(fastpath.Stopped) || ctx.left != 0 {
			t.Fatalf("told to stop at the %dth time it was asked: %+v, asked %d times more", n, d, -ctx.left)
		}
	}
}

// impatient is a context that ends once it has been asked that many times.
type impatient struct {
	context.Context
	left int
}

func (c *impatient) Err() error {
	if c.left--; c.left == 0 {
		return context.Canceled
	}
	return nil
}
