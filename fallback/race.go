package fallback

import (
	"context"

	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// Race runs engines side by side, each with its share of the memory, and takes
// the first verdict: engines are exact, so it does not matter whose it is. The
// others are stopped, and have ended before Race answers. If none decides, the
// verdict is Unknown, with the cause of the first engine in the list; Passed is
// that of the engine that got furthest, and Held is the sum over all of them.
type Race []Engine

// Name implements Engine.
func (Race) Name() string { return "competition" }

// Decide implements Engine.
func (r Race) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) Answer {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type finish struct {
		place  int
		answer Answer
		panic  any
	}
	finished := make(chan finish)
	for i, e := range r {
		go func() {
			f := finish{place: i}
			defer func() {
				f.panic = recover()
				finished <- f
			}()
			f.answer = e.Decide(ctx, ops, limits.Limits{Memory: lim.Memory.Share(len(r)), Passed: lim.Passed, Held: lim.Held})
		}()
	}
	answers := make([]Answer, len(r))
	winner := -1
	var panicked any
	for range r {
		f := <-finished
		answers[f.place] = f.answer
		answers[f.place].By = r[f.place].Name()
		switch {
		case f.panic != nil:
			panicked = f.panic
			stop()
		case winner < 0 && f.answer.Verdict != jepsen.Unknown:
			winner = f.place
			stop()
		}
	}
	if panicked != nil {
		panic(panicked)
	}
	if winner < 0 {
		for _, a := range answers[1:] {
			answers[0].Passed = max(answers[0].Passed, a.Passed)
			answers[0].Held += a.Held
		}
	}
	return answers[max(winner, 0)]
}
