package fallback

import (
	"context"
	"encoding/binary"
	"slices"

	"clew/models"
)

// fewCrashed is how many crashed operations every engine copes with.
const fewCrashed = 10

// manyCrashed says whether more have crashed.
func manyCrashed(ops *models.Operations) bool {
	n := 0
	for _, res := range ops.Res {
		if res == models.Open {
			n++
		}
	}
	return n > fewCrashed
}

// refute looks for a refutation by relaxed, and has an engine find what comes
// before the failure. It is Unknown where there is none.
func refute(ctx context.Context, engine Engine, ops *models.Operations, limits Limits) Answer {
	fail, ok := relaxed(ctx, ops, limits, max(easySteps, 4*ops.Len()))
	if !ok {
		return Answer{}
	}
	a := decidePrefix(ctx, engine, ops, fail-1, limits)
	if a.Verdict == Valid {
		a.Verdict, a.Fail = Invalid, fail
	}
	return a
}

// maxRelaxedStates is how many states a model may have. Some have no end of ever
// larger ones where what is added has no limit; the search goes by breadth so
// that it meets the small ones.
const maxRelaxedStates = 500

// relaxed decides operations as if each crashed one could happen again and again
// once it is invoked. What is not linearizable even then is not linearizable, and
// fails at the return that it gives or before. It is false where that is no
// refutation, or where it takes too many steps: the states of some models have no
// end then.
//
// Precondition: none. Complexity: linear in the configurations without their
// used counts, which do not grow with the number of crashed operations.
func relaxed(ctx context.Context, ops *models.Operations, limits Limits, maxSteps int) (fail int32, ok bool) {
	l := newLayout(ctx, Rules{}, ops, limits)
	defer func() { l.give(l.taken) }()
	type node struct {
		k, state int32
		mask     []uint64
	}
	var queue []node
	seen, furthest := map[string]bool{}, int32(-1)
	enter := func(k, state int32, mask []uint64) {
		for int(k) < len(l.ends) {
			l.readAll(k, state, mask)
			if returning := l.slot[l.openRows(k)[0]]; hasBit(mask, returning) {
				clearBit(mask, returning)
				k++
				continue
			}
			if key := nodeKey(k, state, mask); !seen[key] {
				seen[key] = true
				queue = append(queue, node{k, state, mask})
				l.take(int64(120+2*len(key)) + l.space.spent())
			}
			break
		}
		furthest = max(furthest, k)
	}
	if l.cause == "" {
		enter(0, l.space.number(ops.Model.Init()), make([]uint64, l.words))
	}
	for steps := 0; len(queue) > 0; steps++ {
		if steps == maxSteps || len(l.space.states) > maxRelaxedStates || int(furthest) == len(l.ends) || l.cause != "" || steps%64 == 0 && !l.poll() {
			return 0, false
		}
		n := queue[0]
		queue = queue[1:]
		open := l.openRows(n.k)
		for i, row := range open {
			class := l.class[row]
			// A read that could happen has, and of twins the first to return goes first.
			if hasBit(n.mask, l.slot[row]) || l.space.reads[class] || l.hasTwin(open[:i], n.mask, class) {
				continue
			}
			for _, state := range l.space.step(n.state, class) {
				mask := slices.Clone(n.mask)
				setBit(mask, l.slot[row])
				enter(n.k, state, mask)
			}
		}
		for _, c := range l.crashed {
			// An open twin goes before a crashed one.
			if ops.Inv[c.rows[0]] > l.ends[n.k] || l.hasTwin(open, n.mask, c.class) {
				continue
			}
			for _, state := range l.space.step(n.state, c.class) {
				enter(n.k, state, slices.Clone(n.mask))
			}
		}
	}
	if l.cause != "" || int(furthest) == len(l.ends) {
		return 0, false
	}
	return l.ends[furthest], true
}

// readAll linearizes the open rows that change nothing and fit the state.
func (l *layout) readAll(k, state int32, mask []uint64) {
	for _, row := range l.openRows(k) {
		if class := l.class[row]; l.space.reads[class] && len(l.space.step(state, class)) > 0 {
			setBit(mask, l.slot[row])
		}
	}
}

// nodeKey is a node as a key.
func nodeKey(k, state int32, mask []uint64) string {
	key := binary.LittleEndian.AppendUint64(nil, uint64(k)<<32|uint64(uint32(state)))
	for _, word := range mask {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	return string(key)
}
