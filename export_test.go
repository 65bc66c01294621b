package clew

import (
	"context"
	"math"

	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Look returns what Follow finds when it looks at a history that grows: a failure, or nil.
func Look(h *jepsen.History, spec models.Spec) *report.Result {
	f := follower{ctx: context.Background(), spec: spec}
	f.look(h)
	return f.found
}

// FollowTo returns what Follow says of a whole history after a look at what came before.
func FollowTo(seen, whole *jepsen.History, spec models.Spec) (*report.Result, error) {
	f := follower{ctx: context.Background(), later: context.Background(), spec: spec}
	f.look(seen)
	return f.whole(whole)
}

// Stretch makes a monitor look after each so many events, and no fewer.
func (m *Monitor) Stretch(events int) {
	m.step, m.longest, m.share, m.values = events, events, math.MaxInt, 0
}

// SaveOften makes a monitor save its state after every look.
func (m *Monitor) SaveOften() { m.keeper.often = true }
