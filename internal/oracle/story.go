package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Cores of at most maxStory operations must have a story, which is compared with all orders of the core.
const maxStory = 7

// Told checks the story and the replay of a failure against all orders of its core, if the core is small. It needs no
// verdict of the oracle.
func Told(r *report.Result, ops *models.Operations) error {
	e := NewExaminer(ops, Answer{}, Options{}).of(r)
	if err := e.story(); err != nil {
		return err
	}
	return e.replay()
}

// story checks each statement of a story against all orders of the core.
func (e *evidence) story() error {
	sentences := e.r.Story.Sentences
	if len(e.r.Core) > maxStory {
		return nil
	}
	if n := len(sentences); n < 1 || n > 4 {
		return fmt.Errorf("a story of %d sentences for the core %v", n, e.r.Core)
	}
	byIndex := map[int64]jepsen.Operation{}
	for _, op := range e.r.Core {
		if _, twice := byIndex[e.h.LastIndex(op)]; twice {
			return nil // its sentences are ambiguous, as the history is
		}
		byIndex[e.h.LastIndex(op)] = op
	}
	var told []jepsen.Operation
	orders := e.ordersOfCore(false)
	for _, sentence := range sentences {
		named, err := namedIn(sentence, byIndex)
		if err == nil {
			err = e.told(sentence, named, orders)
		}
		if err != nil {
			return fmt.Errorf("%w in %q, core %v", err, sentence, e.r.Core)
		}
		told = append(told, named...)
	}
	for _, op := range e.r.Core {
		if !slices.Contains(told, op) && !strings.Contains(sentences[0], " operations (index ") {
			return fmt.Errorf("operation %d of the core is not in the story %q", op, sentences)
		}
	}
	return nil
}

// told checks one sentence, which names some operations.
func (e *evidence) told(sentence string, named []jepsen.Operation, orders [][]jepsen.Operation) error {
	before := func(words string) []jepsen.Operation {
		of, _, _ := strings.Cut(sentence, words)
		return named[:strings.Count(of, "(index ")]
	}
	failing := e.h.OpOf[e.r.FailEvent.OrNone()]
	switch {
	case strings.Contains(sentence, " operations (index "):
		return nil // that they are in the core is all it says
	case strings.HasSuffix(sentence, ", in this order or another"):
		if !slices.ContainsFunc(orders, func(order []jepsen.Operation) bool { return slices.Equal(order, named) }) {
			return fmt.Errorf("no such order among %v", orders)
		}
	case strings.Contains(sentence, " happened first"):
		for _, order := range orders {
			among := slices.DeleteFunc(slices.Clone(order), func(op jepsen.Operation) bool { return !slices.Contains(named, op) })
			if among = among[:min(len(among), len(named))]; !slices.Equal(among, named[:len(among)]) {
				return fmt.Errorf("the order %v works as well", order)
			}
		}
	case strings.HasPrefix(sentence, "if ") && strings.Contains(sentence, ", then that could not happen"):
		return e.neverAfter(failing, named[1])
	case strings.Contains(sentence, " must have happened"):
		if _, without, says := strings.Cut(sentence, ", or else "); says {
			must, other := before(" must have happened")[0], named[len(named)-strings.Count(without, "(index "):][0]
			if err := e.neverWithout(other, must); err != nil {
				return err
			}
		}
		for _, op := range before(" must have happened") {
			for _, order := range orders {
				if !slices.Contains(order, op) {
					return fmt.Errorf("operation %d is not in the order %v, which works", op, order)
				}
			}
		}
	case strings.Contains(sentence, " may have happened or not") || strings.HasSuffix(sentence, " cannot have happened by then"):
		may := before(" may have happened or not")
		if !strings.Contains(sentence, " may have happened or not") {
			may = nil
		}
		for i, op := range named {
			in := 0
			for _, order := range orders {
				if slices.Contains(order, op) {
					in++
				}
			}
			if i < len(may) && (in == 0 || in == len(orders)) || i >= len(may) && in > 0 {
				return fmt.Errorf("operation %d is in %d of %d orders", op, in, len(orders))
			}
		}
	case strings.Contains(sentence, " began after "):
		for _, op := range e.r.Core {
			if op != failing && e.h.Status[op] == jepsen.Succeeded && e.h.Completion[op] < jepsen.Event(e.fail()) && e.h.Completion[op] > e.h.Invocation[failing] {
				return fmt.Errorf("operation %d had not returned", op)
			}
		}
		fallthrough
	default:
		if !slices.Contains(named, failing) {
			return fmt.Errorf("it does not name the failing operation")
		}
	}
	return nil
}

// neverAfter says how an operation of the core happens after another one.
func (e *evidence) neverAfter(first, second jepsen.Operation) error {
	for _, order := range e.ordersOfCore(true) {
		if i := slices.Index(order, first); i >= 0 && slices.Contains(order[i:], second) {
			return fmt.Errorf("operation %d is after %d in the order %v", second, first, order)
		}
	}
	return nil
}

// neverWithout says how an operation of the core happens without another one, before the failing one.
func (e *evidence) neverWithout(op, other jepsen.Operation) error {
	for _, order := range e.ordersOfCore(true) {
		i := slices.Index(order, op)
		if i >= 0 && !slices.Contains(order[:i], other) && !slices.Contains(order[:i], e.h.OpOf[e.r.FailEvent.OrNone()]) {
			return fmt.Errorf("operation %d is without %d in the order %v", op, other, order)
		}
	}
	return nil
}

// namedIn returns the operations that a sentence names by their indices.
func namedIn(sentence string, byIndex map[int64]jepsen.Operation) (named []jepsen.Operation, err error) {
	for _, found := range indices.FindAllStringSubmatch(sentence, -1) {
		index, err := strconv.ParseInt(found[1], 10, 64)
		if err != nil {
			return nil, err
		}
		op, in := byIndex[index]
		if !in {
			return nil, fmt.Errorf("index %d is not in the core", index)
		}
		named = append(named, op)
	}
	return named, nil
}

// failed checks that a failed operation, as if it had crashed, makes all that had begun linearizable if the explanation says so,
// or else the core alone.
func (e *evidence) failed() error {
	found := wouldExplain.FindStringSubmatch(e.r.Explanation)
	if found == nil || e.r.Spec.Name == "" {
		return nil
	}
	for op, status := range e.h.Status {
		op := jepsen.Operation(op)
		if status != jepsen.Failed || strconv.FormatInt(e.h.LastIndex(op), 10) != found[1] {
			continue
		}
		ops, err := e.r.Spec.Read(e.h.Crashing(op))
		if err != nil {
			return err
		}
		var core, all []models.Row
		for row, of := range ops.Of {
			if of == op || slices.Contains(e.r.Core, of) {
				core = append(core, models.Row(row))
			}
			if of == op || e.h.Status[of] != jepsen.Failed {
				all = append(all, models.Row(row))
			}
		}
		explains := func(rows []models.Row) bool {
			return Decide(ops.Alone(rows, e.fail()).Operations, e.options).Linearizable
		}
		if len(all) > mostExplained {
			return nil
		}
		if partly := found[2] != "explain it"; explains(all) == partly || partly && !explains(core) {
			return fmt.Errorf("operation %d would not %s, core %v", op, found[2], e.r.Core)
		}
		return nil
	}
	return fmt.Errorf("no failed operation is at index %s", found[1])
}

// mostExplained is how many operations there may be for that: what had begun may be the whole history.
const mostExplained = 16

var wouldExplain = regexp.MustCompile(`; process \S+'s [^;]*\(index (-?[0-9]+)\) would (explain it|have left that, but it would not explain all)$`)

var indices = regexp.MustCompile(`\(index (-?[0-9]+)\)`)

// ordersOfCore returns all orders of a core's operations, without the failing one, that
// hold whatever had returned before it. Or it returns all orders of some of its operations,
// the failing one among them.
func (e *evidence) ordersOfCore(some bool) (orders [][]jepsen.Operation) {
	part := e.ofCore()
	returned := func(row int) bool { return part.Res[row] < e.fail() }
	used := make([]bool, part.Len())
	var extend func(order []jepsen.Operation, states []models.State)
	extend = func(order []jepsen.Operation, states []models.State) {
		complete := true
		for row := range part.Of {
			complete = complete && (used[row] || !returned(row))
		}
		if complete || some {
			orders = append(orders, slices.Clone(order))
		}
		for row, op := range part.Of {
			mayBeNext := !used[row] && (some || part.Res[row] != e.fail())
			for other := range part.Of {
				mayBeNext = mayBeNext && (used[other] || part.Res[other] >= part.Inv[row])
			}
			if !mayBeNext {
				continue
			}
			if next := e.step(part.Model, states, part.Op(models.Row(row))); len(next) > 0 {
				used[row] = true
				extend(append(order, op), next)
				used[row] = false
			}
		}
	}
	extend(nil, []models.State{part.Model.Init()})
	return orders
}
