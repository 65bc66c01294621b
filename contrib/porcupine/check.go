package porcupine

import (
	"context"
	"math"
	"runtime"
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
// knowing nothing of the model.
type budgets struct {
	easy, easyEach     int // porcupine's, and more of it for each operation
	window, windowEach int // Window's, and more of it for each operation
	more               int // porcupine's, if the model has many states
}

// Tests change budget.
var budget = budgets{easy: 10_000, easyEach: 10, window: 500, windowEach: 1, more: math.MaxInt}

// If the model has many states, searches do so much work in their turns. Porcupine's has a first one of
// about 50 ms: as long as it goes on alone, it is faster than the library.
const (
	firstTurn = 1 << 21
	turnWork  = 1 << 20
)

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

// check decides the partitions of a history. It panics if the result may be the fault of a step that changes its state in
// place.
func check(model Model, partitions [][]Event, timeout time.Duration) CheckResult {
	return first(len(partitions), timeout, judging(model, partitions, false))
}

// checkAll decides all partitions, and returns what it has found of each: one or more orders of operations, which it numbers
// by call. Those that it had no time for have none.
func checkAll(model Model, partitions [][]Event, timeout time.Duration) (CheckResult, [][][]int) {
	return every(len(partitions), timeout, judging(model, partitions, true))
}

// judging returns what decides a partition.
func judging(model Model, partitions [][]Event, show bool) judge {
	steps := budget
	model.Partition, model.PartitionEvent = nil, nil
	return func(ctx context.Context, i int) judgment { return judged(ctx, model, partitions[i], steps, show) }
}

// judge decides one of several partitions.
type judge func(ctx context.Context, i int) judgment

// first decides n partitions side by side. As in porcupine, one illegal partition is enough, and first does not wait for the
// others.
func first(n int, timeout time.Duration, judge judge) CheckResult {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if n == 1 && timeout <= 0 {
		return judge(ctx, 0).must()
	}
	results := make(chan judgment, n)
	for i := range n {
		go func() { results <- judge(ctx, i) }()
	}
	var late <-chan time.Time
	if timeout > 0 {
		late = time.After(timeout)
	}
	for range n {
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

// every decides n partitions side by side, and waits for all.
func every(n int, timeout time.Duration, judge judge) (CheckResult, [][][]int) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if timeout > 0 {
		ctx, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	judged := make([]judgment, n)
	var all sync.WaitGroup
	for i := range n - 1 {
		all.Go(func() { judged[i] = judge(ctx, i) })
	}
	if n > 0 {
		judged[n-1] = judge(ctx, n-1)
	}
	all.Wait()
	result, found := Ok, make([][][]int, n)
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
	result CheckResult
	found  [][]int // orders of rows: a linearization, or what can be linearized. Only if it is to be shown
	wrong  string  // unless "", why the result is useless
}

// judged decides a partition, and looks at the answer once more.
func judged(ctx context.Context, model Model, events []Event, steps budgets, show bool) judgment {
	if len(events) == 0 {
		return judgment{result: Ok}
	}
	if p := newPart(events); p != nil {
		if j := p.judge(ctx, model, steps, show); j.result != Unknown || ctx.Err() != nil {
			return j
		}
	}
	result, found := asTheyDo(ctx, model, events, show)
	return judgment{result: result, found: found}
}

// judge returns Unknown if the context is done, or if porcupine itself has to decide.
func (p *part) judge(ctx context.Context, model Model, steps budgets, show bool) (j judgment) {
	defer func() {
		if recover() != nil {
			// A function of the model has panicked. If that is the model's fault it also
			// panics in porcupine. If not, we have asked for a step that porcupine does
			// not ask for.
			j = judgment{result: Unknown}
		}
	}()
	m := newNumbered(ctx, model, p)
	result, orders := p.decide(ctx, m, steps, show)
	switch {
	case result == Unknown:
		return judgment{result: Unknown}
	case result == Illegal:
		j.wrong = m.changed(p)
	case m.doubt && !m.replays(p, orders[0]):
		if j.wrong = m.changed(p); j.wrong == "" {
			return judgment{result: Unknown}
		}
	}
	j.result = result
	if !show {
		return j
	}
	for _, order := range orders {
		rows := make([]int, len(order))
		for i, row := range order {
			rows[i] = int(row)
		}
		j.found = append(j.found, rows)
	}
	return j
}

// must returns the result, or panics in the goroutine of the caller.
func (j judgment) must() CheckResult {
	if j.wrong != "" {
		panic("porcupine: " + j.wrong)
	}
	return j.result
}

// decide decides a partition. It also returns a linearization, or what could be linearized if that is to be shown.
func (p *part) decide(ctx context.Context, m *numbered, steps budgets, show bool) (CheckResult, [][]models.Row) {
	w := newWGL(m, p)
	w.more = steps.more
	if show {
		w.shown = &shown{longest: make([]*place, len(p.calls))}
	}
	if r := w.run(ctx, steps.easy+steps.easyEach*len(p.calls)); r != Unknown {
		return r, w.orders(r)
	}
	runtime.Gosched() // other partitions may be easy
	if ctx.Err() != nil {
		return Unknown, nil
	}
	return p.search(ctx, m, w, steps)
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

// search decides a part by other searches than porcupine's, which has paused. If the model has many
// states, it is not known which search is the best. So they take turns, and the first verdict counts. It
// also returns a linearization, or one of what comes before the first failing return.
func (p *part) search(ctx context.Context, m *numbered, w *wgl, steps budgets) (CheckResult, [][]models.Row) {
	m.classify(p)
	ops := &models.Operations{Model: m, Columns: p.columns}
	ask := func(decide func(context.Context, *models.Operations, fallback.Limits) fallback.Answer) (CheckResult, []models.Row) {
		a := decide(ctx, ops, fallback.Limits{})
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
	r, order := ask(configs.Window{MaxSteps: steps.window + steps.windowEach*ops.Len()}.Decide)
	if r == Unknown && m.explore() {
		columns, rows := p.opened(m)
		ops.Columns = columns
		r, order = ask(engines.New("", 0).Decide)
		order = p.closed(r, order, rows)
	} else if r == Unknown && ctx.Err() == nil {
		r, order = ask(engines.Turns{Engines: []fallback.Engine{w, configs.Window{}}, First: firstTurn, Turn: turnWork, Apart: math.MaxInt64}.Decide)
	}
	return r, [][]models.Row{order}
}
