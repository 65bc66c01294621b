package porcupine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	theirs "github.com/anishathalye/porcupine"

	"clew/internal/effort"
	"clew/jepsen"
)

// answer is what an operation returned, or nothing if that is not known.
type answer struct {
	value int
	at    int64
}

// placed is a register whose answers tell a position, and the same with that counter in its state.
func placed(sparse bool) (positioned Positioned, counter Model) {
	type state struct {
		value int
		at    int64
	}
	step := func(value int, in input, out any) (bool, int) {
		a, known := out.(answer)
		switch in.f {
		case 0:
			return !known || a.value == value, value
		case 1:
			return true, in.value
		}
		return !known || a.value == value, (value + in.value) % 4 // a fetch-and-add
	}
	positioned = Positioned{Sparse: sparse, Model: Model{
		Init: func() any { return 0 },
		Step: func(s, in, out any) (bool, any) { return anyOf(step(s.(int), in.(input), out)) },
	}, Position: func(in, out any) (int64, bool, bool) {
		a, known := out.(answer)
		return a.at, in.(input).f != 0, known
	}}
	counter = Model{Init: func() any { return state{0, -1} }, Step: func(now, in, out any) (bool, any) {
		s := now.(state)
		ok, next := step(s.value, in.(input), out)
		a, known := out.(answer)
		switch update := in.(input).f != 0; {
		case known && sparse && update:
			ok = ok && a.at > s.at
		case known && sparse:
			ok = ok && a.at >= s.at
		case known && update:
			ok = ok && (s.at < 0 || a.at == s.at+1)
		case known:
			ok = ok && (s.at < 0 || a.at == s.at)
		case update && (sparse || s.at >= 0):
			a.at = s.at + 1
		default:
			a.at = s.at
		}
		return ok, state{next, a.at}
	}}
	return positioned, counter
}

func anyOf(ok bool, value int) (bool, any) { return ok, value }

// told makes a small history of the register: an operation takes effect at some time between its call and its return. Some
// outputs are unknown, and some are wrong.
func told(r *rand.Rand, sparse bool) []Operation {
	ops := make([]Operation, 1+r.IntN(7))
	now, at, lies := 0, int64(r.IntN(3)), r.IntN(3) == 0
	for i := range ops {
		effect := int64(10 * (i + 1))
		in := input{r.IntN(3), r.IntN(4)}
		seen := now
		if in.f == 1 {
			now = in.value
		} else if in.f == 2 {
			now = (now + in.value) % 4
		}
		if in.f != 0 {
			if at++; sparse {
				at += int64(r.IntN(2))
			}
		}
		out := answer{seen, at}
		if lies && r.IntN(4) == 0 {
			out.at = max(0, at+int64(r.IntN(3))-1)
		}
		if lies && r.IntN(4) == 0 {
			out.value = r.IntN(4)
		}
		ops[i] = Operation{ClientId: i, Input: in, Output: out, Call: effect - int64(r.IntN(25)), Return: effect + int64(r.IntN(25))}
		if r.IntN(4) == 0 {
			ops[i].Output = nil
			if r.IntN(4) > 0 {
				ops[i].Return = 1000
			}
		}
	}
	return ops
}

func TestPositionsAsPorcupineHasThemInAState(t *testing.T) {
	n := 4000
	if effort.Few() {
		n = 600
	}
	counts := map[string]int{}
	for seed := range n {
		r, sparse := rand.New(rand.NewPCG(uint64(seed), 41)), seed%2 == 1
		model, counter := placed(sparse)
		ops := told(r, sparse)
		want := theirs.CheckOperations(counter, ops)
		counts[fmt.Sprint(want)]++
		if got := model.CheckOperations(ops); got != want {
			t.Fatalf("seed %d, sparse %t: %t, porcupine %t of\n%s", seed, sparse, got, want, show(ops))
		}
		if got := model.CheckEvents(eventsOf(ops)); got != want {
			t.Fatalf("seed %d, sparse %t: %t of events, porcupine %t of\n%s", seed, sparse, got, want, show(ops))
		}
		result, info := model.CheckOperationsVerbose(ops, time.Minute)
		if (result == Ok) != want {
			t.Fatalf("seed %d: %s, porcupine %t of\n%s", seed, result, want, show(ops))
		}
		order := info.PartialLinearizations()[0][0]
		if ofEvents, shown := model.CheckEventsVerbose(eventsOf(ops), time.Minute); ofEvents != result || len(shown.PartialLinearizations()[0][0]) != len(order) {
			t.Fatalf("seed %d: %s of events, and %s of\n%s", seed, ofEvents, result, show(ops))
		}
		if result == Ok && len(order) != len(ops) {
			t.Fatalf("seed %d: %v of\n%s", seed, order, show(ops))
		}
		state, at := model.Init(), int64(-1)
		for _, i := range order {
			ok, next := model.Step(state, ops[i].Input, ops[i].Output)
			position, _, known := model.Position(ops[i].Input, ops[i].Output)
			if ok = ok && (!known || position >= at); !ok {
				t.Fatalf("seed %d, sparse %t: the order %v is not possible for\n%s", seed, sparse, order, show(ops))
			}
			if state = next; known {
				at = position
			}
		}
	}
	t.Log(counts)
}

// Partitions are decided side by side: none ends before the other has begun.
func TestPositionsOfPartitionsSideBySide(t *testing.T) {
	model, _ := placed(false)
	var history []Operation
	for i := range 4 {
		history = append(history, Operation{ClientId: i, Input: input{1, i}, Output: answer{0, int64(i/2 + 1)}, Call: int64(i), Return: int64(i)})
	}
	model.Partition = func(ops []Operation) [][]Operation {
		return [][]Operation{{ops[0], ops[2]}, {ops[1], ops[3]}}
	}
	for name, check := range map[string]func() CheckResult{
		"CheckOperationsTimeout": func() CheckResult { return model.CheckOperationsTimeout(history, 0) },
		"CheckOperationsVerbose": func() CheckResult {
			r, info := model.CheckOperationsVerbose(history, 0)
			if found := info.PartialLinearizations(); fmt.Sprint(found) != "[[[0 1]] [[0 1]]]" {
				t.Errorf("it found %v", found)
			}
			return r
		},
	} {
		var begun atomic.Int32
		model.Init = func() any {
			begun.Add(1)
			for end := time.Now().Add(time.Minute); begun.Load() < 2; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Errorf("%s: one partition has waited for another", name)
					break
				}
			}
			return 0
		}
		if got := check(); got != Ok {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// One illegal partition is enough, whatever the others are.
func TestOneIllegalPartitionWithPositionsIsEnough(t *testing.T) {
	model, _ := placed(false)
	good := []Operation{{Input: input{1, 5}, Output: answer{0, 7}, Return: 1}}
	bad := []Operation{{Input: input{0, 0}, Output: answer{3, 7}, Return: 1}}
	for _, parts := range [][][]Operation{{good, bad}, {bad, good}, {backwards, bad}, {bad, backwards}} {
		model.Partition = func([]Operation) [][]Operation { return parts }
		if got := model.CheckOperations(nil); got {
			t.Errorf("%v is linearizable", parts)
		}
		if got, _ := model.CheckOperationsVerbose(nil, 0); got != Illegal {
			t.Errorf("%v: %s", parts, got)
		}
	}
}

// backwards is an operation that returns before it is called.
var backwards = []Operation{{Input: input{1, 5}, Output: answer{0, 7}, Call: 3, Return: 1}}

// An explanation has a sentence about positions.
func TestPositionsAreExplained(t *testing.T) {
	model, _ := placed(false)
	r, err := model.Explain([]Operation{
		{ClientId: 1, Input: input{1, 5}, Output: answer{0, 7}, Call: 0, Return: 1},
		{ClientId: 2, Input: input{1, 5}, Output: answer{0, 8}, Call: 2, Return: 3},
		{ClientId: 1, Input: input{0, 0}, Output: answer{5, 7}, Call: 4, Return: 5},
	})
	if err != nil || r.Verdict != jepsen.Invalid || !strings.Contains(r.Explanation, "says position 7, although") {
		t.Errorf("%v: %v", err, r)
	}
	events := []Event{
		{Kind: CallEvent, Value: input{1, 5}, Id: 3}, {Kind: ReturnEvent, Value: answer{0, 7}, Id: 3},
		{Kind: CallEvent, Value: input{1, 5}, Id: 4}, {Kind: ReturnEvent, Value: answer{0, 8}, Id: 4},
		{Kind: CallEvent, Value: input{0, 0}, Id: 5}, {Kind: ReturnEvent, Value: answer{5, 7}, Id: 5},
	}
	if r, err := model.ExplainEvents(events); err != nil || r.Verdict != jepsen.Invalid || !strings.Contains(r.Explanation, "says position 7, although") {
		t.Errorf("%v of events: %v", err, r)
	}
	if _, err := model.ExplainEvents(events[1:]); err != errNoSense {
		t.Errorf("%v of a return without a call", err)
	}
	over, initial := make(chan struct{}), model.Init
	model.Init = func() any {
		<-over
		return initial()
	}
	if got := model.CheckOperationsTimeout(told(rand.New(rand.NewPCG(1, 1)), false), 1); got != Unknown {
		t.Errorf("%s after a nanosecond", got)
	}
	close(over)
	if want, got := theirs.CheckOperations(model.Model, backwards), model.CheckOperations(backwards); got != want {
		t.Errorf("%t of a history that makes no sense, porcupine %t", got, want)
	}
	model.Position = func(_, out any) (int64, bool, bool) { return out.(answer).at, false, true }
	if _, err := model.Explain([]Operation{{Input: input{1, 5}, Output: answer{0, 7}, Call: 0, Return: 1}}); err == nil || !strings.Contains(err.Error(), "is not an update") {
		t.Errorf("%v of an update that says it is not one", err)
	}
}
