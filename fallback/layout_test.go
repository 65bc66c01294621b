package fallback

import (
	"context"
	"testing"

	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

func TestALayoutThatWouldNotFitIsNotMade(t *testing.T) {
	ops := testops.Endless(1000, testops.Counter{}) // half a million open rows at all returns
	l := NewLayout(context.Background(), ops, Limits{Memory: models.NewMemory(1 << 20)})
	if l.Cause != jepsen.OutOfMemory || l.open != nil {
		t.Errorf("%q with %d open rows, want out-of-memory before there are any", l.Cause, len(l.open))
	}
}

// asked counts the steps that a model is asked for.
type asked struct {
	testops.Counter
	steps *int
}

func (m asked) Step(dst []models.State, s models.State, op models.Op) []models.State {
	*m.steps++
	return m.Counter.Step(dst, s, op)
}

func TestTheModelIsAskedOnceForAStep(t *testing.T) {
	for _, few := range []int32{0, 1} { // states that have the table
		steps := 0
		space, class := NewSpace(testops.Endless(2, asked{steps: &steps}))
		space.few = few
		state := space.Number(models.State{0})
		for range 3 {
			for _, c := range class {
				space.Step(state, c)
			}
		}
		if steps != len(class) {
			t.Errorf("%d steps with a table for %d states, want one for each of %d operations", steps, few, len(class))
		}
		if first, then := space.worked(), space.worked(); first == 0 || then != 0 {
			t.Errorf("it says that it worked %d and then %d, want something and then nothing", first, then)
		}
	}
}
