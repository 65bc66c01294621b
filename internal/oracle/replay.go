package oracle

import (
	"context"
	"fmt"
	"slices"

	"clew/internal/story"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Cores of at most maxReplay operations must have a replay, whose table is compared with all orders of the core.
const maxReplay = 5

// replay checks what a page says about every order of a core, with and without each of its operations: each
// step of it that is possible leads to the same states, and the others are impossible.
func (e *evidence) replay() error {
	if len(e.r.Core) > maxReplay {
		return nil
	}
	part := e.ofCore()
	r := story.NewReplay(context.Background(), e.ops, jepsen.Event(e.fail()), e.ops.Among(e.r.Core))
	if r == nil || !r.Without {
		return fmt.Errorf("the core %v has no replay", e.r.Core)
	}
	rowOf := func(op jepsen.Operation) int { return slices.Index(r.Ops, op) }
	texts := func(states []models.State) (all []string) {
		for _, s := range states {
			all = append(all, report.StateText(part.Model.Record(s), 160))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	done := make([]bool, part.Len())
	var extend func(left int, order []jepsen.Operation, states []models.State, numbers []int32) error
	extend = func(left int, order []jepsen.Operation, states []models.State, numbers []int32) error {
		complete := true
		for i := range part.Of {
			complete = complete && (done[i] || i == left || part.Res[i] > e.fail())
		}
		if complete && left < 0 {
			return fmt.Errorf("the order %v of the core works", order)
		}
		for i, op := range part.Of {
			mayBeNext := !done[i] && i != left && rowOf(op) >= 0
			for other := range part.Of {
				mayBeNext = mayBeNext && (done[other] || other == left || part.Res[other] >= part.Inv[i])
			}
			if !mayBeNext {
				continue
			}
			next := e.step(part.Model, states, part.Op(models.Row(i)))
			var to []int32
			var said []string
			for _, s := range numbers {
				entry := r.Next[s][rowOf(op)]
				if entry == nil {
					return fmt.Errorf("the replay does not know operation %d after %v", op, order)
				}
				for _, t := range entry {
					if t >= 0 && !slices.Contains(to, t) {
						to, said = append(to, t), append(said, r.States[t])
					}
				}
			}
			slices.Sort(said)
			if want := texts(next); !slices.Equal(slices.Compact(said), want) {
				return fmt.Errorf("the replay has the states %q after %v and %d, want %q", said, order, op, want)
			}
			if len(next) == 0 {
				continue
			}
			done[i] = true
			if err := extend(left, append(slices.Clone(order), op), next, to); err != nil {
				return err
			}
			done[i] = false
		}
		return nil
	}
	for left := -1; left < part.Len(); left++ {
		if err := extend(left, nil, []models.State{part.Model.Init()}, []int32{0}); err != nil {
			return err
		}
	}
	return nil
}
