package fallback

import (
	"context"

	"clew/models"
)

// Race runs engines side by side, each with its share of the memory, and takes
// the first verdict: they are exact, so it does not matter whose it is. The
// others are stopped, and have ended before it answers. Where none decides, the
// verdict is unknown for the cause of the first engine of the list; the furthest
// of them counts, and what they held together.
type Race []Engine

// Name implements Engine.
func (Race) Name() string { return "competition" }

// Decide implements Engine.
func (r Race) Decide(ctx context.Context, ops *models.Operations, limits Limits) Answer {
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
			f.answer = e.Decide(ctx, ops, Limits{Memory: limits.Memory.share(len(r)), Passed: limits.Passed, Held: limits.Held})
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
		case winner < 0 && f.answer.Verdict != Unknown:
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

// Auto is the general search that is asked where nobody asks for an engine:
// Window alone as long as the history is easy, so that the same history always
// gets the same evidence, and then Window and Frontier in a race, with Porcupine
// where few have crashed and its memory is small. None is strong everywhere.
// Where many operations of a register have crashed it is Staged first, and then
// among the others; where many of another model have, Relaxed before the race.
type Auto struct{}

// easySteps is how long a history counts as easy, some tens of milliseconds, and
// easyPerOperation where it is long: ten busy processes take 4 to 5. easyNodes is
// the like for Staged, a second or two.
const (
	easySteps        = 100_000
	easyPerOperation = 20
	easyNodes        = 2_000_000
)

// porcupineRows is how many operations Porcupine's memory, which grows with the
// square of them, is no matter for.
const porcupineRows = 2000

// Name implements Engine.
func (Auto) Name() string { return "auto" }

// racers are the engines that race where a history is hard.
func racers(ops *models.Operations) Race {
	race := Race{Window{}, Frontier{}}
	_, single := ops.Model.(models.SingleValue)
	switch many := manyCrashed(ops); {
	case many && single:
		return append(race, Staged{})
	case !many && ops.Len() <= porcupineRows:
		return append(race, Porcupine{})
	}
	return race
}

// Decide implements Engine.
func (Auto) Decide(ctx context.Context, ops *models.Operations, limits Limits) Answer {
	first, many := Engine(Window{MaxSteps: max(easySteps, easyPerOperation*ops.Len())}), manyCrashed(ops)
	if _, single := ops.Model.(models.SingleValue); single && many {
		first, many = Staged{MaxNodes: max(easyNodes, 4*ops.Len())}, false
	}
	a := first.Decide(ctx, ops, limits)
	if a.Cause != GaveUp {
		a.By = first.Name()
		return a
	}
	race := racers(ops)
	if many {
		if a := refute(ctx, race, ops, limits); a.Verdict == Invalid {
			return a
		}
	}
	return race.Decide(ctx, ops, limits)
}
