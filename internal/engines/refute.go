package engines

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"clew/fallback"
	"clew/internal/engines/configs"
	"clew/jepsen"
	"clew/models"
)

// before finds what comes before a failure.
var before = Turns{Engines: []fallback.Engine{configs.Window{}, configs.Frontier{}}, First: turnWork, Turn: turnWork, Apart: math.MaxInt64}

// loosener decides operations under a looser model, and gives up if it finds no
// refutation. A linearization, including its crashed operations, is one under the
// looser model too. So what fails there also fails under the model itself, at the
// same return or earlier. The model itself decides what comes before.
type loosener struct{}

// looser returns a model in which more is linearizable, or nil.
func looser(m models.Model) models.Model {
	if relaxed := m.Traits().Relaxed; relaxed != nil {
		return relaxed()
	}
	return nil
}

// Name implements fallback.Engine.
func (loosener) Name() string { return "loosener" }

// Decide implements fallback.Engine.
func (loosener) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	a := before.Decide(ctx, ops.Under(looser(ops.Model)), lim)
	if a.Verdict != jepsen.Invalid {
		return fallback.Answer{Cause: fallback.GaveUp, Work: a.Work}
	}
	return failsBy(ctx, ops, lim, a.FailEvent, a.Work)
}

// refuter looks for a refutation by relaxed, and gives up if it finds none.
type refuter struct{}

// Name implements fallback.Engine.
func (refuter) Name() string { return "refuter" }

// refuterSteps is how many steps a refutation takes at most, or a few for each
// operation.
const refuterSteps = 100_000

// Decide implements fallback.Engine.
func (refuter) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	fail, work, ok := relaxed(ctx, ops, lim, max(refuterSteps, 4*ops.Len()))
	if !ok {
		return fallback.Answer{Cause: fallback.GaveUp, Work: work}
	}
	return failsBy(ctx, ops, lim, fail, work)
}

// failsBy finds where operations fail that are known to fail at a
// return or earlier.
func failsBy(ctx context.Context, ops *models.Operations, lim fallback.Limits, fail int32, work int64) fallback.Answer {
	cut := ops.Prefix(fail - 1)
	a := before.Decide(ctx, cut.Operations, lim)
	a.Renumber(cut)
	a.Work += work
	switch a.Verdict {
	case jepsen.Valid:
		a.Verdict, a.FailEvent = jepsen.Invalid, fail
	case jepsen.Unknown:
		return fallback.Answer{Cause: fallback.GaveUp, Work: a.Work}
	}
	return a
}

// maxRelaxedStates is how many states a model may have. Some models have
// infinitely many, ever larger states if operations can be repeated without
// limit. The search goes breadth first so that it reaches the small ones.
const maxRelaxedStates = 500

// relaxedWork is the work of looking at one row: keys and maps are slow.
const relaxedWork = 10

// relaxed decides operations as if each crashed one could happen again and
// again once it is invoked. Operations that are not linearizable even then are
// not linearizable, and fail at the return that it returns or earlier. It
// returns false if it finds no refutation, or takes too many steps: in this
// setting some models have infinitely many states.
//
// Precondition: none. Complexity: linear in the number of configurations
// without their used counts, which does not grow with the number of crashed
// operations.
func relaxed(ctx context.Context, ops *models.Operations, lim fallback.Limits, maxSteps int) (fail int32, work int64, ok bool) {
	l := fallback.NewLayout(ctx, ops, lim)
	defer l.Release()
	type node struct {
		k, state int32
		mask     []uint64
	}
	var queue []node
	seen, furthest := map[string]bool{}, int32(-1)
	enter := func(k, state int32, mask []uint64) {
		for int(k) < len(l.Ends) {
			readAll(l, k, state, mask)
			if returning := l.Slot[l.OpenRows(k)[0]]; fallback.HasBit(mask, returning) {
				fallback.ClearBit(mask, returning)
				k++
				continue
			}
			if key := nodeKey(k, state, mask); !seen[key] {
				seen[key] = true
				queue = append(queue, node{k, state, mask})
				l.Take(int64(120+2*len(key)) + l.Space.Spent())
			}
			break
		}
		furthest = max(furthest, k)
	}
	if l.Cause == "" {
		enter(0, l.Space.Number(ops.Model.Init()), make([]uint64, l.Words))
	}
	for steps := 0; len(queue) > 0; steps++ {
		if steps == maxSteps || l.Space.Met() > maxRelaxedStates || int(furthest) == len(l.Ends) || !l.Tick() {
			return 0, l.Done(), false
		}
		n := queue[0]
		queue = queue[1:]
		open := l.OpenRows(n.k)
		l.Work += relaxedWork * (len(open) + len(l.Crashed))
		for i, row := range open {
			class := l.Class[row]
			// A read that could happen has happened, and of twins the first to return
			// goes first.
			if fallback.HasBit(n.mask, l.Slot[row]) || l.Space.Reads[class] || l.HasTwin(open[:i], n.mask, class) {
				continue
			}
			for _, state := range l.Space.Step(n.state, class) {
				mask := slices.Clone(n.mask)
				fallback.SetBit(mask, l.Slot[row])
				enter(n.k, state, mask)
			}
		}
		for _, c := range l.Crashed {
			// An open twin goes before a crashed one.
			if ops.Inv[c.Rows[0]] > l.Ends[n.k] || l.HasTwin(open, n.mask, c.Class) {
				continue
			}
			for _, state := range l.Space.Step(n.state, c.Class) {
				enter(n.k, state, slices.Clone(n.mask))
			}
		}
	}
	if l.Cause != "" || int(furthest) == len(l.Ends) {
		return 0, l.Done(), false
	}
	return l.Ends[furthest], l.Done(), true
}

// readAll linearizes the open rows that change nothing and fit the state.
func readAll(l *fallback.Layout, k, state int32, mask []uint64) {
	for _, row := range l.OpenRows(k) {
		if class := l.Class[row]; l.Space.Reads[class] && len(l.Space.Step(state, class)) > 0 {
			fallback.SetBit(mask, l.Slot[row])
		}
	}
}

// nodeKey returns a node as a key.
func nodeKey(k, state int32, mask []uint64) string {
	key := binary.LittleEndian.AppendUint64(nil, uint64(k)<<32|uint64(uint32(state)))
	for _, word := range mask {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	return string(key)
}
