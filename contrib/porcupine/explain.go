package porcupine

import (
	"context"
	"errors"
	"fmt"

	"clew"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Explain says why a history is not linearizable. It returns clew's result: the first failing return, the few
// operations that contradict each other, and a sentence that says why. The result's Text is for people, WriteSVG
// draws it, and clew.WritePage writes a page on which every order of these operations can be tried. Operations have the
// words of the model's DescribeOperation, and states those of DescribeState. The index of an operation is its place in the
// history, or that of its call or its return in a history of events.
//
// If the model has partitions, the result is that of the first one that is not linearizable, or else of the last one. It is
// vacuous if all are.
// Explain returns an error for a history that makes no sense, for a step that changes its state in place, and for one
// that panics. Steps must not expect that the times allow the order in which they are asked for.
func Explain(model Model, history []Operation) (*report.Result, error) {
	return Positioned{Model: model}.Explain(history)
}

// ExplainEvents does for events what Explain does for operations.
func ExplainEvents(model Model, history []Event) (*report.Result, error) {
	return Positioned{Model: model}.ExplainEvents(history)
}

// operationsOf returns events as operations, whose times are their places.
func operationsOf(partitions [][]Event) (parts [][]Operation, err error) {
	for _, events := range partitions {
		p := newPart(events)
		if p == nil {
			return nil, errNoSense
		}
		ops := make([]Operation, len(p.calls))
		for row, c := range p.calls {
			call, back := p.columns.Inv[row], p.columns.Res[row]
			ops[row] = Operation{ClientId: events[call].ClientId, Input: c.input, Output: c.output, Call: int64(call), Return: int64(back)}
		}
		parts = append(parts, ops)
	}
	return parts, nil
}

var errNoSense = errors.New("the history makes no sense: expected every operation to have one call and then one return")

// operationPlaces returns where the operations of partitions stand in a history, nil for a partition with others.
func operationPlaces(history []Operation, parts [][]Operation) (places [][][2]int64) {
	type times struct {
		client     int
		call, back int64
	}
	of := map[times][]int64{}
	for i, o := range history {
		k := times{o.ClientId, o.Call, o.Return}
		of[k] = append(of[k], int64(i))
	}
	for _, ops := range parts {
		var own [][2]int64
		for _, o := range ops {
			k := times{o.ClientId, o.Call, o.Return}
			if len(of[k]) == 0 {
				own = nil
				break
			}
			own = append(own, [2]int64{of[k][0], of[k][0]})
			of[k] = of[k][1:]
		}
		places = append(places, own)
	}
	return places
}

// eventPlaces returns where the calls and the returns of partitions stand in a history, by call, nil for a partition with
// other events.
func eventPlaces(history []Event, partitions [][]Event) (places [][][2]int64) {
	type end struct {
		kind EventKind
		id   int
	}
	of := map[end]int64{}
	for i, e := range history {
		of[end{e.Kind, e.Id}] = int64(i)
	}
	for _, events := range partitions {
		var own [][2]int64
		for _, id := range calls(events) {
			from, called := of[end{CallEvent, id}]
			to, returned := of[end{ReturnEvent, id}]
			if !called || !returned {
				own = nil
				break
			}
			own = append(own, [2]int64{from, to})
		}
		places = append(places, own)
	}
	return places
}

// explainFirst explains the first of the partitions that is not linearizable, or else the last one. Their operations have
// places in the history.
func (x Positioned) explainFirst(parts [][]Operation, places [][][2]int64) (last *report.Result, err error) {
	if len(parts) == 0 {
		parts, places = [][]Operation{nil}, [][][2]int64{nil}
	}
	vacuous := report.NoOperations
	for i, ops := range parts {
		if last, err = x.explain(context.Background(), ops, places[i]); err != nil || last.Verdict != jepsen.Valid {
			return last, err
		}
		vacuous = report.VacuousTogether(vacuous, last.Vacuous)
	}
	last.Vacuous = vacuous
	return last, nil
}

// explain says why a partition is not linearizable. The places of its operations are nil if they are not known.
func (x Positioned) explain(ctx context.Context, ops []Operation, places [][2]int64) (*report.Result, error) {
	events := eventsOf(ops)
	p := newPart(events)
	if p == nil {
		return nil, errNoSense
	}
	m := newNumbered(ctx, complete(x.Model), p)
	m.classify(p)
	open, some := x.open(p)
	check := func() (*report.Result, error) {
		intervals := make([]jepsen.Interval, len(ops))
		for row, i := range calls(events) {
			o := ops[i]
			intervals[row] = jepsen.Interval{Process: o.ClientId, F: x.kind(p.calls[row]), Input: p.columns.A[row], Call: o.Call, Return: o.Return}
			if open[row] {
				intervals[row].Status = jepsen.Crashed
			}
			if places != nil {
				intervals[row].Indices = &places[i]
			}
		}
		h, err := jepsen.FromIntervals(intervals)
		if err != nil {
			return nil, err
		}
		h.Tell(jepsen.Words{Call: func(op jepsen.Operation) string { return m.label(p.calls[op]) }})
		return clew.Check(ctx, h, models.Own(x.own(m).Definition()), clew.Options{})
	}
	r, err := check()
	if err == nil && some && r.Verdict == jepsen.Valid && !m.goesOn(p, r.Witness) {
		clear(open)
		r, err = check()
	}
	if err == nil && r.Verdict == jepsen.Invalid {
		if what := m.changed(p); what != "" {
			return nil, errors.New(what)
		}
	}
	return r, err
}

// The :f's of operations, and of those that say they are not updates. Their value is their class.
const (
	operation   = "operation"
	observation = "observation"
)

// label returns an operation in the model's words, or else as porcupine has it.
func (m *numbered) label(k call) string {
	if m.model.DescribeOperation != nil {
		return text.Line(m.model.DescribeOperation(k.input, k.output))
	}
	return text.Line(fmt.Sprintf("%v -> %v", k.input, k.output))
}

// own returns the model as one of clew, in the model's words.
func (x Positioned) own(m *numbered) models.Func[int32] {
	describe := func(state int32) string {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.model.DescribeState != nil {
			return m.model.DescribeState(m.states[state])
		}
		return fmt.Sprintf("%v", m.states[state])
	}
	class := func(c models.Call) int32 {
		n, _ := c.Value.Int()
		return int32(n)
	}
	step := func(state int32, c models.Call) ([]int32, error) {
		to := m.lockedStep(state, models.Op{A: class(c)})
		if to == none {
			return nil, models.Inconsistent("the state is %s", describe(state))
		}
		return []int32{to}, nil
	}
	f := models.Func[int32]{
		Name:     "model",
		About:    "a model of porcupine",
		Init:     m.init[0],
		Describe: func(state int32) any { return describe(state) },
		Label: func(c models.Call) string {
			return m.label(m.calls[class(c)])
		},
		Ops: map[string]models.StepFunc[int32]{operation: step, observation: step},
	}
	if x.Position != nil {
		f.Reads, f.SparsePositions = []string{observation}, x.Sparse
		f.Position = func(c models.Call) (position int64, update, known bool) {
			k := m.calls[class(c)]
			return x.Position(k.input, k.output)
		}
	}
	return f
}
