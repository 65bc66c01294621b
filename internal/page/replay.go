package page

import (
	"context"

	"clew/internal/story"
	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

// replay is what a page steps through: every order of a core, or one order of what is drawn.
type replay struct {
	Core  *story.Replay `json:"core"`  // or null
	Steps []replayStep  `json:"steps"` // one for each point of the drawing, and the failure
}

// replayStep is an operation of an order.
type replayStep struct {
	Op    jepsen.Operation `json:"op"`
	State string           `json:"state"` // after it, "" if it is too large to be shown
	Why   string           `json:"why"`   // why it cannot happen, or ""
}

// newReplay returns the replay of a small core, or nil if there are too many orders.
func newReplay(ctx context.Context, r *report.Result) *replay {
	ops := r.ModelOps(ctx)
	if ops == nil {
		return nil
	}
	if core := story.NewReplay(ctx, ops, r.FailEvent.OrNone(), ops.Among(r.Core)); core != nil {
		return &replay{Core: core}
	}
	return nil
}

// steps returns the order of a window, or nil if it has none.
func steps(w *report.Window) *replay {
	r := &replay{}
	for _, p := range w.Points {
		if !p.Attempt {
			r.Steps = append(r.Steps, replayStep{Op: w.Ops[p.Op].Operation, State: p.State})
		}
	}
	for _, x := range w.Ops {
		if x.Failing {
			r.Steps = append(r.Steps, replayStep{Op: x.Operation, Why: text.Shorten(text.Line(x.Why), maxSentence)})
		}
	}
	if len(r.Steps) < 2 {
		return nil
	}
	return r
}
