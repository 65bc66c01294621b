package forget

import (
	"context"

	"clew/edn"
	"clew/internal/engines/configs"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// # Where no sweep decides
//
// Where no sweep decides, a search finds an event before which all that has returned leads to one state (package configs).
// What goes on begins with that, and what came before is forgotten. The value of a register, perhaps with its version, the total
// of a counter, and the permits of a semaphore that are held are kept as what they are. Other states are kept as a path
// (path.go). While many operations are open, or crashed updates may have happened or not, there are
// several states for long: then the search gives up, and all is held until there is twice as much, when it tries again.

// pace is how many steps of a search for each return are worth it.
const pace = 16

// stateOfOne returns how a state of a model is kept, nil if it is kept as a path or not at all.
func stateOfOne(m models.Model) func(v *edn.Values, s models.State) *State {
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

// searched does what Needed does where no sweep decides. of may be nil. It returns false if nothing can be forgotten.
func searched(part *models.Operations, decided int32, of func(*edn.Values, models.State) *State) (kept Kept, ok bool) {
	past, ok := configs.Before(context.Background(), part, unaltered(part, decided), pace)
	if !ok {
		return Kept{}, false
	}
	if d := part.Model.Traits().Declared; d != nil {
		d.Doubt() // of what is forgotten, too
	}
	if of != nil {
		kept = settled(&part.Columns, decided, past.Done, of(part.History.Values, past.State), true)
		kept.At = past.State
		return kept, true
	}
	path, ok := pathTo(part.Model, past, part.Op)
	if !ok {
		return Kept{}, false
	}
	kept = settled(&part.Columns, decided, past.Done, &State{IsPath: true}, true)
	kept.Path, kept.At = path, past.State
	for _, row := range path.Rows {
		kept.Rows[row] = true
	}
	return kept, true
}

// unaltered returns the first invocation before an event of an update that returns later, with another value than it was
// called with. If its answer turns out to be wrong it counts as crashed, and then it has been another update from the
// beginning.
func unaltered(part *models.Operations, decided int32) int32 {
	h := part.History
	for row, op := range part.Of {
		begin, end := h.Invocation[op], h.Completion[op]
		if part.Inv[row] < decided && part.Res[row] >= decided && end != jepsen.None && h.Value[begin] != h.Value[end] && part.Model.Mutates(part.Op(models.Row(row))) {
			return part.Inv[row]
		}
	}
	return decided
}

// KnowsOnlyState says whether what is held of a model that goes on in another state may explain an anomaly wrongly: what
// added to a counter before, or wrote a value, is forgotten.
func KnowsOnlyState(m models.Model) bool {
	_, sums := models.ShapeOf[models.CounterShape](m)
	return sums || m.Traits().IsRegister
}
