package forget

import (
	"context"

	"clew/edn"
	"clew/internal/engines/configs"
	"clew/jepsen"
	"clew/models"
)

// # Registers whose values repeat
//
// A search finds an event before which all that has returned leads to one value (package configs). The register begins with
// that, and what came before is forgotten. While many operations are open, or crashed updates may have happened or not,
// there are several values for long: then the search gives up, and all is held until there is twice as much, when it tries again.

// pace is how many steps of a search for each return are worth it.
const pace = 16

// searched does what Needed does for a register. It returns false if nothing can be forgotten.
func searched(part *models.Operations, decided int32) (kept Kept, ok bool) {
	done, state, ok := configs.Before(context.Background(), part, decided, pace)
	if !ok || altered(part, decided, done) {
		return Kept{}, false
	}
	init := part.History.Values.Text(edn.ID(state[0]))
	return settled(&part.Columns, decided, done, &State{Init: init}, true), true
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
