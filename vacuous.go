package clew

import (
	"clew/edn"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// vacuous returns why a valid verdict is vacuous, or "". An operation that returned
// counts as evidence in either of these cases:
//
//   - its completion has a value that its invocation lacks: the system has answered. If an update returns nil, it
//     has not
//   - it cannot happen in one of the first states of the witness
//
// Linear time, and constant time if one of the first operations is evidence.
func (c *checking) vacuous() string {
	h, ops := c.h, c.ops
	if h.Operations() == 0 {
		return report.NoOperations
	}
	if ops.Model.Traits().RefusesNothing {
		return report.NotRefusable
	}
	why, row, sampled := report.NoneReturned, 0, false
	for op := range jepsen.Operation(h.Operations()) {
		kept := row < len(ops.Of) && ops.Of[row] == op
		if kept {
			row++
		}
		if h.Status[op] == jepsen.Crashed || h.Status[op] == jepsen.Failed && !kept {
			continue
		}
		value := h.OpValue(op)
		asks := !kept || !ops.Model.Mutates(ops.Op(int32(row-1)))
		switch {
		case kept && value != h.Value[h.Invocation[op]] && (asks || value != edn.Nil):
			return ""
		case kept && !sampled:
			if sampled = true; c.refuses() {
				return ""
			}
		}
		switch {
		case asks && value == edn.Nil:
			why = report.AnswersNil
		case why == report.NoneReturned:
			why = report.NotRefusable
		}
	}
	return why
}

// refuses looks at this many parts of a history, and at this many states of each. One state of a lock or of a queue
// is enough to refuse something.
const (
	sampledParts  = 8
	sampledStates = 32
)

// refuses reports whether one of the first operations of the witness that returned could not have happened in one of
// its first states. A user's own model counts as refusing: its steps are not taken again for this.
func (c *checking) refuses() bool {
	if c.ops.Model.Traits().Declared != nil {
		return true
	}
	for i, part := range c.parts[:min(len(c.parts), sampledParts)] {
		order := c.decisions[i].Order
		order = order[:min(len(order), sampledStates)]
		after, err := models.Replay(part.Model, &part.Columns, order)
		if err != nil {
			return true // the self-check reports it
		}
		states := append([]models.State{part.Model.Init()}, after...)
		for _, row := range order {
			for _, s := range states {
				if part.Res[row] != models.Open && len(part.Model.Step(nil, s, part.Op(row))) == 0 {
					return true
				}
			}
		}
	}
	return false
}

// vacuousKeys returns why the verdict of all keys together is vacuous, or "".
func vacuousKeys(keys []report.KeyResult) string {
	if len(keys) == 0 {
		return report.NoOperations
	}
	why := keys[0].Vacuous()
	for _, k := range keys[1:] {
		why = report.VacuousTogether(why, k.Vacuous())
	}
	return why
}
