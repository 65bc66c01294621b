package porcupine

import (
	"context"
	"time"

	theirs "github.com/anishathalye/porcupine"

	"clew/fallback"
	"clew/fallback/auto"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// budgets are how many steps a search may take before the next one has its turn.
// What porcupine decides in some milliseconds is not worth the preparation of
// another search. Then Window decides most histories that are linearizable,
// knowing nothing of the model. The long budget is some seconds.
type budgets struct {
	easy               int // porcupine's
	window, windowEach int // Window's, and more of it for each operation
	long               int // Window's, if the model has many states
}

// budget is a switch for tests.
var budget = budgets{easy: 10_000, window: 500, windowEach: 4, long: 2_000_000}

// complete gives a model its StepContext, as porcupine does.
func complete(model Model) Model {
	switch {
	case model.StepContext != nil:
	case model.Step == nil:
		panic("model must define Step or StepContext")
	default:
		model.StepContext = func(_ context.Context, state, input, output any) (bool, any) {
			return model.Step(state, input, output)
		}
	}
	return model
}

// check decides the partitions of a history side by side. As in porcupine, one
// that is illegal is enough, and nobody waits for the others.
func check(model Model, partitions [][]Event, timeout time.Duration) CheckResult {
	steps := budget
	model.Partition, model.PartitionEvent = nil, nil
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if len(partitions) == 1 && timeout <= 0 {
		return decide(ctx, model, partitions[0], steps)
	}
	results := make(chan CheckResult, len(partitions))
	for _, events := range partitions {
		go func() { results <- decide(ctx, model, events, steps) }()
	}
	var late <-chan time.Time
	if timeout > 0 {
		late = time.After(timeout)
	}
	for range partitions {
		select {
		case r := <-results:
			if r != Ok {
				return r
			}
		case <-late:
			return Unknown
		}
	}
	return Ok
}

// decide decides a partition. It is Unknown only if the context is done.
func decide(ctx context.Context, model Model, events []Event, steps budgets) (result CheckResult) {
	if len(events) == 0 {
		return Ok
	}
	if r := asTheyDo(ctx, model, events, steps.easy); r != Unknown || ctx.Err() != nil {
		return r
	}
	p := newPart(events)
	if p == nil {
		return asTheyDo(ctx, model, events, 0)
	}
	defer func() {
		if recover() != nil {
			// A function of the model has panicked. If the fault is the model's it
			// does so in porcupine too; if not, we have asked what porcupine does
			// not ask.
			result = asTheyDo(ctx, model, events, 0)
		}
	}()
	a := p.search(ctx, newNumbered(ctx, model, p), steps)
	switch {
	case ctx.Err() != nil:
		return Unknown // the model may have given up within a step
	case a.Verdict == jepsen.Invalid:
		return Illegal
	case a.Verdict == jepsen.Valid:
		return Ok
	}
	return asTheyDo(ctx, model, events, 0)
}

// asTheyDo lets porcupine decide, in at most the given number of steps unless
// that is 0. Porcupine cannot be stopped, but a step can refuse, and then its
// search soon ends. A panic of the model ends the process, as it does there.
func asTheyDo(ctx context.Context, model Model, events []Event, steps int) CheckResult {
	taken, step, stopped := 0, model.StepContext, false
	model.StepContext = func(_ context.Context, state, input, output any) (bool, any) {
		if stopped = stopped || steps > 0 && taken == steps || ctx.Err() != nil; stopped {
			return false, state
		}
		taken++
		return step(ctx, state, input, output)
	}
	ok := theirs.CheckEvents(model, events)
	switch {
	case stopped || ctx.Err() != nil:
		return Unknown
	case ok:
		return Ok
	}
	return Illegal
}

// search decides a part by the general search.
func (p *part) search(ctx context.Context, m *numbered, steps budgets) fallback.Answer {
	ops := &models.Operations{Model: m, Columns: p.columns}
	first := fallback.Window{MaxSteps: steps.window + steps.windowEach*ops.Len()}
	a := first.Decide(ctx, ops, limits.Limits{})
	if a.Cause != fallback.GaveUp {
		return a
	}
	if m.explore() {
		ops.Columns = p.opened(m)
		return auto.Engine("", 0).Decide(ctx, ops, limits.Limits{})
	}
	a = fallback.Window{MaxSteps: steps.long}.Decide(ctx, ops, limits.Limits{})
	if a.Cause != fallback.GaveUp {
		return a
	}
	return fallback.Race{fallback.Window{}, fallback.Frontier{}}.Decide(ctx, ops, limits.Limits{})
}
