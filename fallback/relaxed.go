package fallback

import (
	"context"
	"encoding/binary"
	"slices"

	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// Refute looks for a refutation by relaxed, in at most maxSteps steps, and lets
// an engine find what comes before the failure. It answers Unknown if it finds
// no refutation.
func Refute(ctx context.Context, engine Engine, ops *models.Operations, lim limits.Limits, maxSteps int) Answer {
	fail, work, ok := relaxed(ctx, ops, lim, maxSteps)
	if !ok {
		return Answer{Work: work}
	}
	return failsBy(ctx, engine, ops, lim, fail, work)
}

// RefuteUnder decides operations under a looser model, and lets an engine find what
// comes before the failure. It answers Unknown if it finds no refutation. A
// linearization, including its crashed operations, is one under the looser model too.
// So what fails there also fails under the model itself, at the same return or
// earlier. The model itself decides what comes before.
func RefuteUnder(ctx context.Context, looser models.Model, engine Engine, ops *models.Operations, lim limits.Limits) Answer {
	a := engine.Decide(ctx, ops.Under(looser), lim)
	if a.Verdict != jepsen.Invalid {
		return Answer{Work: a.Work}
	}
	return failsBy(ctx, engine, ops, lim, a.FailEvent, a.Work)
}

// failsBy lets an engine find where operations fail that are known to fail at a
// return or earlier.
func failsBy(ctx context.Context, engine Engine, ops *models.Operations, lim limits.Limits, fail int32, work int64) Answer {
	cut := ops.Prefix(fail - 1)
	a := engine.Decide(ctx, cut.Operations, lim)
	a.Renumber(cut)
	a.Work += work
	if a.Verdict == jepsen.Valid {
		a.Verdict, a.FailEvent = jepsen.Invalid, fail
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
func relaxed(ctx context.Context, ops *models.Operations, lim limits.Limits, maxSteps int) (fail int32, work int64, ok bool) {
	l := NewLayout(ctx, Rules{}, ops, lim)
	defer l.Release()
	type node struct {
		k, state int32
		mask     []uint64
	}
	var queue []node
	seen, furthest := map[string]bool{}, int32(-1)
	enter := func(k, state int32, mask []uint64) {
		for int(k) < len(l.Ends) {
			l.readAll(k, state, mask)
			if returning := l.Slot[l.OpenRows(k)[0]]; HasBit(mask, returning) {
				ClearBit(mask, returning)
				k++
				continue
			}
			if key := nodeKey(k, state, mask); !seen[key] {
				seen[key] = true
				queue = append(queue, node{k, state, mask})
				l.Take(int64(120+2*len(key)) + l.space.Spent())
			}
			break
		}
		furthest = max(furthest, k)
	}
	if l.Cause == "" {
		enter(0, l.space.Number(ops.Model.Init()), make([]uint64, l.Words))
	}
	for steps := 0; len(queue) > 0; steps++ {
		if steps == maxSteps || l.space.met() > maxRelaxedStates || int(furthest) == len(l.Ends) || !l.Tick() {
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
			if HasBit(n.mask, l.Slot[row]) || l.space.reads[class] || l.HasTwin(open[:i], n.mask, class) {
				continue
			}
			for _, state := range l.space.Step(n.state, class) {
				mask := slices.Clone(n.mask)
				SetBit(mask, l.Slot[row])
				enter(n.k, state, mask)
			}
		}
		for _, c := range l.Crashed {
			// An open twin goes before a crashed one.
			if ops.Inv[c.Rows[0]] > l.Ends[n.k] || l.HasTwin(open, n.mask, c.Class) {
				continue
			}
			for _, state := range l.space.Step(n.state, c.Class) {
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
func (l *Layout) readAll(k, state int32, mask []uint64) {
	for _, row := range l.OpenRows(k) {
		if class := l.Class[row]; l.space.reads[class] && len(l.space.Step(state, class)) > 0 {
			SetBit(mask, l.Slot[row])
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
