package porcupine

import (
	"context"
	"time"

	"clew/jepsen"
	"clew/report"
)

// Positioned is a model of a system whose outputs tell where an operation stands in the order of updates, such as a
// revision of etcd, the zxid of ZooKeeper or the offset in a log. Its methods replay a history in that order instead of
// searching for one. The verdict is that of the model with a counter of updates in its state, whose operations have to
// tell that counter.
//
// An operation with an unknown output, which returns at the end, may have happened or not. As long as it tells no position,
// it counts as an update whenever that is possible.
type Positioned struct {
	Model
	// Position returns the position that an operation tells, and whether it is an update. An operation that is not an update
	// never changes the state. known is false if it tells none, such as one with an unknown output.
	Position func(input, output any) (position int64, update, known bool)
	// Sparse says that an update's position is greater than those before it. Otherwise every update adds one.
	Sparse bool
}

// CheckOperations does what the function CheckOperations does.
func (x Positioned) CheckOperations(history []Operation) bool {
	return x.CheckOperationsTimeout(history, 0) == Ok
}

// CheckOperationsTimeout does what the function CheckOperationsTimeout does.
func (x Positioned) CheckOperationsTimeout(history []Operation, timeout time.Duration) CheckResult {
	parts, _ := partitioned(x.Model, history)
	return first(len(parts), timeout, x.judging(parts))
}

// CheckEvents does what the function CheckEvents does.
func (x Positioned) CheckEvents(history []Event) bool {
	return x.CheckEventsTimeout(history, 0) == Ok
}

// CheckEventsTimeout does what the function CheckEventsTimeout does.
func (x Positioned) CheckEventsTimeout(history []Event, timeout time.Duration) CheckResult {
	parts, err := operationsOf(partitionedEvents(x.Model, history))
	if err != nil {
		return CheckEventsTimeout(x.Model, history, timeout) // as porcupine answers
	}
	return first(len(parts), timeout, x.judging(parts))
}

// CheckOperationsVerbose does what the function CheckOperationsVerbose does.
func (x Positioned) CheckOperationsVerbose(history []Operation, timeout time.Duration) (CheckResult, LinearizationInfo) {
	parts, events := partitioned(x.Model, history)
	result, found := every(len(parts), timeout, x.judging(parts))
	return result, operationsInfo(parts, events, found)
}

// CheckEventsVerbose does what the function CheckEventsVerbose does.
func (x Positioned) CheckEventsVerbose(history []Event, timeout time.Duration) (CheckResult, LinearizationInfo) {
	partitions := partitionedEvents(x.Model, history)
	parts, err := operationsOf(partitions)
	if err != nil {
		return CheckEventsVerbose(x.Model, history, timeout)
	}
	result, found := every(len(parts), timeout, x.judging(parts))
	return result, eventsInfo(partitions, found)
}

// Explain does what the function Explain does.
func (x Positioned) Explain(history []Operation) (*report.Result, error) {
	parts, _ := partitioned(x.Model, history)
	return x.explainFirst(parts, operationPlaces(history, parts))
}

// ExplainEvents does what the function ExplainEvents does.
func (x Positioned) ExplainEvents(history []Event) (*report.Result, error) {
	partitions := partitionedEvents(x.Model, history)
	parts, err := operationsOf(partitions)
	if err != nil {
		return nil, err
	}
	return x.explainFirst(parts, eventPlaces(history, partitions))
}

// kind returns the :f of an operation.
func (x Positioned) kind(c call) string {
	if x.Position != nil {
		if _, update, _ := x.Position(c.input, c.output); !update {
			return observation
		}
	}
	return operation
}

// open says which updates may be taken for ones that never return: they tell no position, and return after all calls, and
// after the returns of all others.
func (x Positioned) open(p *part) (open []bool, some bool) {
	open = make([]bool, len(p.calls))
	if x.Position == nil {
		return open, false
	}
	matters := int32(0)
	for row, c := range p.calls {
		_, update, known := x.Position(c.input, c.output)
		open[row] = update && !known
		matters = max(matters, p.columns.Inv[row])
		if !open[row] {
			matters = max(matters, p.columns.Res[row])
		}
	}
	for row, res := range p.columns.Res {
		open[row] = open[row] && res > matters
		some = some || open[row]
	}
	return open, some
}

// goesOn says whether the operations that a linearization leaves out can follow it.
func (m *numbered) goesOn(p *part, order []jepsen.Operation) bool {
	state, in := m.init[0], make([]bool, len(p.calls))
	take := func(row int) bool {
		in[row] = true
		state = m.lockedStep(state, p.columns.Op(int32(row)))
		return state != none
	}
	for _, op := range order {
		if !take(int(op)) {
			return false
		}
	}
	for row := range in {
		if !in[row] && !take(row) {
			return false
		}
	}
	return true
}

// judging returns what decides a partition.
func (x Positioned) judging(parts [][]Operation) judge {
	x.Model = complete(x.Model)
	return func(ctx context.Context, i int) judgment { return x.judged(ctx, parts[i]) }
}

// judged decides a partition. What it has found is an order of its operations.
func (x Positioned) judged(ctx context.Context, ops []Operation) (j judgment) {
	r, err := x.explain(ctx, ops, nil)
	switch {
	case err == errNoSense:
		j.result, _ = asTheyDo(ctx, x.Model, eventsOf(ops), false)
		return j
	case ctx.Err() != nil && (err != nil || r.Verdict == jepsen.Unknown):
		r = &report.Result{}
	case err != nil:
		return judgment{wrong: err.Error()}
	}
	order := r.Witness
	switch r.Verdict {
	case jepsen.Valid:
		j.result = Ok
	case jepsen.Invalid:
		j.result, order = Illegal, r.Prior
	default:
		j.result = Unknown
	}
	ids := calls(eventsOf(ops))
	rows, in := make([]int, 0, len(ids)), make([]bool, len(ids))
	for _, op := range order {
		rows, in[op] = append(rows, ids[op]), true
	}
	for op, id := range ids { // see goesOn
		if r.Verdict == jepsen.Valid && !in[op] {
			rows = append(rows, id)
		}
	}
	j.found = [][]int{rows}
	return j
}
