package porcupine

import (
	"context"
	"sync"
	"time"

	theirs "github.com/anishathalye/porcupine"

	"clew/fallback"
	"clew/internal/engines"
	"clew/internal/engines/configs"
	"clew/jepsen"
	"clew/models"
)

// budgets are how many steps a search may take before the next one has its turn. A
// history that porcupine's search decides in some milliseconds is not worth
// preparing another search. After it, Window decides most linearizable histories,
// knowing nothing of the model. If the model has many states with a hash,
// porcupine's search then goes on where it stopped. The long budgets are about a
// second.
type budgets struct {
	easy               int // porcupine's
	window, windowEach int // Window's, and more of it for each operation
	hashed             int // porcupine's, if the model has many states with a hash
	long               int // Window's, if the model has many states
}

// Tests change budget.
var budget = budgets{easy: 10_000, window: 500, windowEach: 4, hashed: 2_000_000, long: 2_000_000}

// complete gives a model its StepContext, as porcupine does. It also gives it a
// Hash if it has none and == compares its states. Without a Hash, porcupine
// compares a new state with all those that the same operations lead to.
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
	if model.Equal == nil && model.Hash == nil {
		model.Hash = hashOfComparable
	}
	return model
}

// check decides the partitions of a history side by side. As in porcupine, one illegal
// partition is enough, and check does not wait for the others. It panics if that may be
// the fault of a step that changes its state in place.
func check(model Model, partitions [][]Event, timeout time.Duration) CheckResult {
	steps := budget
	model.Partition, model.PartitionEvent = nil, nil
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if len(partitions) == 1 && timeout <= 0 {
		return judge(ctx, model, partitions[0], steps, false).must()
	}
	results := make(chan judgment, len(partitions))
	for _, events := range partitions {
		go func() { results <- judge(ctx, model, events, steps, false) }()
	}
	var late <-chan time.Time
	if timeout > 0 {
		late = time.After(timeout)
	}
	for range partitions {
		select {
		case j := <-results:
			if r := j.must(); r != Ok {
				return r
			}
		case <-late:
			return Unknown
		}
	}
	return Ok
}

// checkAll decides all partitions side by side, and returns what it has found of each: one or more orders of
// operations, which it numbers by call. Those that it had no time for have none.
func checkAll(model Model, partitions [][]Event, timeout time.Duration) (CheckResult, [][][]int) {
	steps := budget
	model.Partition, model.PartitionEvent = nil, nil
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if timeout > 0 {
		ctx, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	judged := make([]judgment, len(partitions))
	var all sync.WaitGroup
	for i, events := range partitions {
		all.Go(func() { judged[i] = judge(ctx, model, events, steps, true) })
	}
	all.Wait()
	result, found := Ok, make([][][]int, len(partitions))
	for i, j := range judged {
		if r := j.must(); r == Illegal || result == Ok {
			result = r
		}
		found[i] = j.found
	}
	return result, found
}

// judgment is the result of a partition.
type judgment struct {
	result  CheckResult
	found   [][]int // orders of rows: a linearization, or what can be linearized. Only if it is to be shown
	changed string  // unless "", why the result is useless
}

// judge decides a partition, and checks the model's states if it is illegal.
func judge(ctx context.Context, model Model, events []Event, steps budgets, show bool) (j judgment) {
	if j.result, j.found = decide(ctx, model, events, steps, show); j.result == Illegal {
		j.changed = changed(ctx, model, events)
	}
	return j
}

// must returns the result, or panics in the goroutine of the caller.
func (j judgment) must() CheckResult {
	if j.changed != "" {
		panic("porcupine: " + j.changed)
	}
	return j.result
}

// decide decides a partition, and returns orders of its rows if they are to be shown. It returns Unknown only if the
// context is done.
func decide(ctx context.Context, model Model, events []Event, steps budgets, show bool) (result CheckResult, found [][]int) {
	if len(events) == 0 {
		return Ok, nil
	}
	p := newPart(events)
	if p == nil {
		return asTheyDo(ctx, model, events, show)
	}
	defer func() {
		if recover() != nil {
			// A function of the model has panicked. If that is the model's fault it also
			// panics in porcupine. If not, we have asked for a step that porcupine does
			// not ask for.
			result, found = asTheyDo(ctx, model, events, show)
		}
	}()
	w := newWGL(model, p)
	w.show = show
	r, order := w.run(ctx, steps.easy), []models.Row(nil)
	if r != Unknown {
		order = w.order(r)
	} else if ctx.Err() == nil {
		r, order = p.search(ctx, model, w, steps)
	}
	switch {
	case r == Unknown && ctx.Err() == nil:
		return asTheyDo(ctx, model, events, show)
	case r == Unknown || !show:
		return r, nil
	}
	rows := make([]int, len(order))
	for i, row := range order {
		rows[i] = int(row)
	}
	return r, [][]int{rows}
}

// asTheyDo lets porcupine itself decide. It cannot be stopped, but a step can
// refuse, and then its search soon ends. A panic of the model ends the process, as
// it does in porcupine.
func asTheyDo(ctx context.Context, model Model, events []Event, show bool) (CheckResult, [][]int) {
	step := model.StepContext
	model.StepContext = func(_ context.Context, state, input, output any) (bool, any) {
		if ctx.Err() != nil {
			return false, state
		}
		return step(ctx, state, input, output)
	}
	var result CheckResult
	var found [][]int
	if show {
		var info LinearizationInfo
		result, info = theirs.CheckEventsVerbose(model, events, 0)
		found = info.PartialLinearizations()[0]
	} else {
		result = theirs.CheckEventsTimeout(model, events, 0)
	}
	if ctx.Err() != nil {
		return Unknown, found
	}
	return result, found
}

// search decides a part by the general search, or goes on with porcupine's if that
// is likely to be faster. It also returns a linearization, or one of what comes before the
// first failing return.
func (p *part) search(ctx context.Context, model Model, w *wgl, steps budgets) (CheckResult, []models.Row) {
	m := newNumbered(ctx, model, p)
	ops := &models.Operations{Model: m, Columns: p.columns}
	ask := func(e fallback.Engine) (CheckResult, []models.Row) {
		a := e.Decide(ctx, ops, fallback.Limits{})
		switch {
		case ctx.Err() != nil:
			return Unknown, nil // the model may have given up within a step
		case a.Verdict == jepsen.Invalid:
			return Illegal, a.Order
		case a.Verdict == jepsen.Valid:
			return Ok, a.Order
		}
		return Unknown, nil
	}
	if r, order := ask(configs.Window{MaxSteps: steps.window + steps.windowEach*ops.Len()}); r != Unknown {
		return r, order
	}
	if m.explore() {
		columns, rows := p.opened(m)
		ops.Columns = columns
		r, order := ask(engines.New("", 0))
		return r, p.closed(r, order, rows)
	}
	if model.Hash != nil {
		ops.Model = nil // only one of the searches holds its states
		if r := w.run(ctx, steps.hashed); r != Unknown || ctx.Err() != nil {
			return r, w.order(r)
		}
		ops.Model = newNumbered(ctx, model, p)
	}
	*w = wgl{}
	if r, order := ask(configs.Window{MaxSteps: steps.long}); r != Unknown {
		return r, order
	}
	return ask(engines.Race{configs.Window{}, configs.Frontier{}})
}
