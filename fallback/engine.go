package fallback

import (
	"context"
	"fmt"

	"clew/jepsen"
	"clew/models"
)

// Engine decides whether operations are linearizable.
type Engine interface {
	// Name returns the engine's name as an algorithm, and in a result's Analyzer.
	Name() string
	// Decide runs until it knows the answer, or until a limit or the context stops
	// it. It leaves nothing running when it returns.
	Decide(ctx context.Context, ops *models.Operations, lim Limits) Answer
}

// GaveUp is the cause of an unknown verdict if the engine was told to give up
// after a while, or does not decide the model. Then another engine is asked, so
// this cause never appears in a result.
const GaveUp jepsen.Cause = "gave-up"

// Answer is a verdict with its evidence. Operations are rows of the decided
// operations' columns.
type Answer struct {
	Verdict jepsen.Verdict
	Cause   jepsen.Cause // if Unknown
	By      string       // the engine that gave the answer if several were asked, else ""

	// Passed and Held say how far the engine got, if Unknown. Passed counts the
	// completions up to which it found a linearization. Held counts the
	// configurations that it held then.
	Passed, Held int64
	// FailsBy is the event of a completion by which the operations are certain not to be
	// linearizable, if Unknown and one is known, else 0. They may fail before. FailsAs says
	// how that is known.
	FailsBy int32
	FailsAs string

	// Order is the linearization if Valid. If Invalid, it is a linearization of
	// the operations up to just before FailEvent. Optional operations that
	// never happen are left out.
	Order []models.Row
	// Others are other linearizations up to just before FailEvent, if Invalid and
	// if the engine knows any. They serve to show more configurations.
	Others [][]models.Row
	// FailEvent is the event of the first failing completion, if Invalid.
	FailEvent int32

	// Work is the work of all engines together, in units of some nanoseconds each.
	// It depends on the operations alone as long as no limit stops an engine and
	// none run side by side.
	Work int64

	// Depth is 0 unless an engine that tries schedules gave the answer. If Valid, it is
	// the depth at which the engine found the linearization, otherwise the
	// depth at which it ended. Schedules is how many schedules it has tried.
	Depth     int
	Schedules int64
}

// MaxOthers bounds Answer.Others.
const MaxOthers = 10

// Renumber turns the rows of an answer about a cut into rows of the whole
// history, in place.
func (a Answer) Renumber(cut models.Cut) {
	cut.Whole(a.Order)
	cut.Whole(a.Others...)
}

// HowFar says how far the search behind an Unknown answer got. It returns "" if
// the operations have no completions to pass.
func (a Answer) HowFar(ops *models.Operations) string {
	completions := len(Completions(ops))
	switch {
	case completions == 0:
		return ""
	case a.Cause == jepsen.DepthExhausted:
		return fmt.Sprintf("none of %d schedules, up to depth %d, is a linearization", a.Schedules, a.Depth)
	case a.Depth > 0:
		return fmt.Sprintf("the search had tried %d schedules", a.Schedules)
	}
	return fmt.Sprintf("the search had passed %d of %d completions, and held %d configurations", a.Passed, completions, a.Held)
}

// Completions returns the events at which operations return, in order.
func Completions(ops *models.Operations) []int32 {
	returns := make([]bool, ops.Events)
	for _, res := range ops.Res {
		if res != models.Open {
			returns[res] = true
		}
	}
	var ends []int32
	for e, r := range returns {
		if r {
			ends = append(ends, int32(e))
		}
	}
	return ends
}
