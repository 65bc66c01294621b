package configs

import (
	"context"
	"slices"

	"clew/fallback"
	"clew/models"
)

// # What is settled
//
// Before finds an event before which a history may be forgotten: all that has returned by then leads to one configuration
// (window.go defines them). What comes later is linearizable from its state if and only if the whole is, so some operations
// count as having happened, and a search of what is left begins with that state.
//
// Configurations that others make redundant do not count, since those can do whatever these can, whatever comes. The rules
// that look at what comes later are off: more may come than is known. Crashed operations that the configuration has linearized
// count as having happened; the others may still happen at any time. A configuration in which an update is covered but may
// still be used does not count as one: it stands for two.

// paceSlack is how many steps Before may take in any case.
const paceSlack = 10_000

// Past is what Before finds.
type Past struct {
	Done  []bool       // by row: it is linearized
	State models.State // after those
	Order []models.Row // leads there; it lacks operations that are covered, which change nothing
}

// Before returns what is linearized before the last return, among those before an event, that leads to one
// configuration. It returns false if there is none, if the search takes more than some steps for each return
// and some slack, or if the operations up to there are not linearizable. Operations that were invoked before the event are
// known to return or to have crashed.
//
// Precondition: none. Complexity: linear.
func Before(ctx context.Context, ops *models.Operations, until int32, pace int) (past Past, ok bool) {
	l := fallback.NewLayout(ctx, ops, fallback.Limits{})
	defer l.Release()
	m := newTransitions(l, Rules{NoLookahead: true, NoGuide: true, NoForgetting: true, NoNeeds: true, NoRanks: true})
	if m.Cause != "" {
		return Past{}, false
	}
	s := newFrontierSearch(m)
	s.start(0, s.Space.Number(ops.Model.Init()), make([]uint64, s.width))
	last, c, now := int32(-1), make([]uint64, s.width), int32(0) // the return, and its configuration
	var order []int32
	for k := int32(0); int(k) < len(s.Ends) && s.Ends[k] < until; k++ {
		s.maxSteps = paceSlack + pace*int(k)
		if failed := s.run(k, k+1); failed >= 0 || s.isSpent() || s.Cause != "" {
			break
		}
		if len(s.layer.states) == 1 && s.isSettled(s.layer.configs[:s.width]) {
			last, now = k, s.layer.states[0]
			copy(c, s.layer.configs)
			order = append(order, s.orderTo(s.layer.trail[0])...)
			s.trail, s.layer.trail[0] = s.trail[:0], -1
		}
	}
	if last < 0 {
		return Past{}, false
	}
	done := make([]bool, ops.Len())
	for row, res := range ops.Res {
		done[row] = res <= s.Ends[last] || res != models.Open && ops.Inv[row] < s.Ends[last] && s.discharged(c, models.Row(row))
	}
	for crash, class := range s.Crashed {
		for _, row := range class.Rows[:s.used(c, crash)] {
			done[row] = true
		}
	}
	order = slices.DeleteFunc(order, func(row int32) bool { return row < 0 }) // of what is covered and has returned
	return Past{done, s.Space.States[now], order}, true
}

// isSettled says whether no update is covered but may still be used. Reads are never gone: they have no bit for that.
func (s *frontierSearch) isSettled(c []uint64) bool {
	k := s.at + 1
	if int(k) == len(s.Ends) {
		return true
	}
	for _, row := range s.OpenRows(k) {
		if !s.Space.Reads[s.Class[row]] && s.discharged(c, row) && s.free(c, row) {
			return false
		}
	}
	return true
}
