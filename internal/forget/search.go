package forget

import (
	"context"

	"clew/edn"
	"clew/internal/engines/configs"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// # Registers whose values repeat, and other numbers
//
// Where no sweep decides, a search finds an event before which all that has returned leads to one state (package configs):
// the value of a register, perhaps with its version, the total of a counter, or the permits of a semaphore that are held. What goes on begins with that,
// and what came before is forgotten. While many operations are open, or crashed updates may have happened or not, there are
// several states for long: then the search gives up, and all is held until there is twice as much, when it tries again.

// pace is how many steps of a search for each return are worth it.
const pace = 16

// stateOfOne returns how a state of a model is kept, nil if it is not.
func stateOfOne(m models.Model) func(v *edn.Values, s models.State) *State {
	if m.Traits().IsRegister {
		return func(v *edn.Values, s models.State) *State { return &State{Init: v.Text(edn.ID(s[0]))} }
	}
	if _, is := models.ShapeOf[models.CounterShape](m); is {
		return func(_ *edn.Values, s models.State) *State { return &State{Number: home.Number(s)} }
	}
	if _, is := models.ShapeOf[models.VersionsShape](m); is {
		return func(v *edn.Values, s models.State) *State {
			return &State{Number: int64(s[0]), Value: v.Text(edn.ID(s[1]))}
		}
	}
	if _, is := models.ShapeOf[models.SemaphoreShape](m); is {
		return func(_ *edn.Values, s models.State) *State { return &State{Number: int64(s[0])} }
	}
	return nil
}

// searched does what Needed does for a model whose states can be kept. It returns false if nothing can be forgotten.
func searched(part *models.Operations, decided int32, of func(*edn.Values, models.State) *State) (kept Kept, ok bool) {
	done, state, ok := configs.Before(context.Background(), part, decided, pace)
	if !ok || altered(part, decided, done) {
		return Kept{}, false
	}
	return settled(&part.Columns, decided, done, of(part.History.Values, state), true), true
}

// altered reports whether some update that is open at an event, and not done before it, returns with another value than it was
// called with. If its answer turns out to be wrong it counts as crashed, and then it has been another update from the beginning.
func altered(part *models.Operations, decided int32, done []bool) bool {
	h := part.History
	for row, op := range part.Of {
		begin, end := h.Invocation[op], h.Completion[op]
		if part.Inv[row] < decided && part.Res[row] >= decided && !done[row] && end != jepsen.None && h.Value[begin] != h.Value[end] && part.Model.Mutates(part.Op(models.Row(row))) {
			return true
		}
	}
	return false
}

// KnowsOnlyState says whether what is held of a model that goes on in another state may explain an anomaly wrongly: what
// added to a counter before, or wrote a value, is forgotten.
func KnowsOnlyState(m models.Model) bool {
	_, sums := models.ShapeOf[models.CounterShape](m)
	return sums || m.Traits().IsRegister
}
