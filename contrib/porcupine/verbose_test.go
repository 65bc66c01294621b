package porcupine

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	theirs "github.com/anishathalye/porcupine"

	"clew/internal/effort"
)

// What a Verbose check shows can be replayed, respects all times, and is complete if the history is linearizable.
func TestWhatAVerboseCheckShowsReplays(t *testing.T) {
	n := 500
	if effort.Few() {
		n = 100
	}
	for _, alone := range []bool{false, true} {
		ourselves(t, alone)
		for name, model := range small {
			r := rand.New(rand.NewPCG(39, 1))
			for range n {
				ops := random(r, strings.Contains(name, "cannot compare"))
				want, other := theirs.CheckOperationsVerbose(model, ops, time.Minute)
				got, info := CheckOperationsVerbose(model, ops, time.Minute)
				if err := shows(model, got, info, other); got != want || err != nil {
					t.Fatalf("%s: %s, porcupine says %s (%v) of\n%s", name, got, want, err, show(ops))
				}
				want, other = theirs.CheckEventsVerbose(model, eventsOf(ops), time.Minute)
				got, info = CheckEventsVerbose(model, eventsOf(ops), time.Minute)
				if err := shows(model, got, info, other); got != want || err != nil {
					t.Fatalf("%s: %s of events, porcupine says %s (%v) of\n%s", name, got, want, err, show(ops))
				}
				if err := Visualize(model, info, io.Discard); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// shows checks what a check shows beside what porcupine shows of the same history.
func shows(model Model, result CheckResult, info, other LinearizationInfo) error {
	model = complete(model)
	ours, theirs := info.PartialLinearizationsOperations(), other.PartialLinearizationsOperations()
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d partitions, porcupine has %d", len(ours), len(theirs))
	}
	for p, orders := range ours {
		longest, most := 0, 0
		for _, order := range theirs[p] {
			most = max(most, len(order))
		}
		for i, order := range orders {
			ids := info.PartialLinearizations()[p][i]
			if distinct := slices.Clone(ids); len(slices.Compact(slices.Sorted(slices.Values(distinct)))) != len(ids) {
				return fmt.Errorf("an operation is twice in %v", ids)
			}
			state, ok := model.Init(), true
			for k, o := range order {
				for _, later := range order[k+1:] {
					if later.Return < o.Call {
						return fmt.Errorf("%v is before %v, which returned before it", o, later)
					}
				}
				if ok, state = model.StepContext(context.Background(), state, o.Input, o.Output); !ok {
					return fmt.Errorf("%v cannot happen in %v", o, order[:k])
				}
			}
			longest = max(longest, len(order))
		}
		if result == Ok && longest != most {
			return fmt.Errorf("a linearization of %d operations, porcupine has one of %d", longest, most)
		}
	}
	return nil
}

// The history in a LinearizationInfo is set here as the library would set it.
func TestTheHistoryThatIsShownIsTheLibrarys(t *testing.T) {
	if !known.ok {
		t.Fatal("the library's types are not as expected")
	}
	t.Cleanup(func() { known.ok = true })
	model := small["register"]
	model.Partition = func(ops []Operation) [][]Operation {
		half := len(ops) / 2
		return [][]Operation{ops[:half], ops[half:]}
	}
	r := rand.New(rand.NewPCG(39, 3))
	for range 100 {
		ops := random(r, false)
		times := r.Perm(2 * len(ops)) // all different: the library sorts others anyhow
		for i := range ops {
			a, b := int64(times[2*i]), int64(times[2*i+1])
			ops[i].Call, ops[i].Return, ops[i].ClientId, ops[i].Metadata = min(a, b), max(a, b), 7*i, i
		}
		events := eventsOf(ops)
		for i := range events {
			events[i].Id, events[i].ClientId, events[i].Metadata = 3-2*events[i].Id, i, -i
		}
		var infos [2][]LinearizationInfo
		for i := range infos {
			known.ok = i == 0
			_, ofOperations := CheckOperationsVerbose(model, ops, 0)
			_, ofEvents := CheckEventsVerbose(model, events, 0)
			infos[i] = append(infos[i], ofOperations, ofEvents)
		}
		if !reflect.DeepEqual(infos[0], infos[1]) {
			t.Fatalf("%+v\nthe library has %+v", infos[0], infos[1])
		}
	}
	model.Partition = func([]Operation) [][]Operation { return nil }
	for i := range 2 {
		known.ok = i == 0
		if result, info := CheckOperationsVerbose(model, nil, 0); result != Ok || !reflect.DeepEqual(info, LinearizationInfo{}) {
			t.Errorf("%s of no partition, %+v", result, info)
		}
	}
}

// The operations that had returned before the first failing return are in what is shown.
func TestAVerboseCheckShowsWhatComesBeforeTheFailure(t *testing.T) {
	model := small["register"]
	r := rand.New(rand.NewPCG(39, 2))
	var ops []Operation
	for i := range 300 { // pairs that overlap, and then a read of what was never written
		at := int64(10 * i)
		ops = append(ops, Operation{ClientId: 0, Input: input{1, i % 4}, Call: at, Return: at + 4, Output: 0},
			Operation{ClientId: 1, Input: input{1, r.IntN(4)}, Call: at + 1, Return: at + 5, Output: 0})
	}
	ops = append(ops, Operation{ClientId: 0, Input: input{0, 0}, Call: 4000, Return: 4001, Output: 77})
	for _, alone := range []bool{false, true} {
		ourselves(t, alone)
		result, info := CheckOperationsVerbose(model, ops, time.Minute)
		if orders := info.PartialLinearizations()[0]; result != Illegal || len(orders) != 1 || len(orders[0]) != 600 {
			t.Errorf("%s, and %d orders are shown", result, len(orders))
		}
	}
}

// Partitions for which there was no time have no order. The history is shown all the same.
func TestAVerboseCheckEndsInTime(t *testing.T) {
	model := small["stack with a Hash"]
	step := model.Step
	model.Step = func(state, in, out any) (bool, any) {
		time.Sleep(time.Millisecond)
		return step(state, in, out)
	}
	var ops []Operation
	for i := range 40 {
		ops = append(ops, Operation{ClientId: i, Input: input{1, i}, Call: 0, Return: 10, Output: 0})
	}
	ops = append(ops, Operation{Input: input{0, 0}, Call: 20, Return: 21, Output: 77})
	result, info := CheckOperationsVerbose(model, ops, 50*time.Millisecond)
	var page strings.Builder
	if err := Visualize(model, info, &page); err != nil || result != Unknown || !strings.Contains(page.String(), `"ClientId":39`) {
		t.Errorf("%s, %v", result, err)
	}
}
