package models

import (
	"cmp"
	"maps"
	"slices"
)

// Run makes unordered-queue a Runner: see bagRun.
func (q *unorderedQueue) Run(s State) Run {
	r := &bagRun{q: q, since: map[int32]sinces{}}
	for _, x := range s {
		r.put(x)
	}
	return r
}

// bagRun is a bag under way. A crashed dequeue took any of the elements that were
// there, and nobody need know which: it is a debt, to be paid with an element
// that was there when the dequeue happened, and that nothing else takes.
//
// Debts are numbered from 1 on. An element that came when there were d of them
// can pay those from d+1 on, so what can pay debt i can pay all later ones; by
// Hall's theorem all can be paid if and only if, for every i, at least i elements
// came before debt i did. slack counts those that are too many. Of equal elements
// a dequeue that says which takes the one that came last: it can pay the least.
// Once there are no more elements than debts, the bag may be empty; if a dequeue
// finds it so, all debts are paid.
//
// A step takes constant time, and one linear in the number of debts if it takes an
// element that some of them could have been paid with.
type bagRun struct {
	q     *unorderedQueue
	n     int32            // elements
	since map[int32]sinces // by value: for each of its elements how many debts there were
	slack []int32          // by debt, from 0: slack[i] is of debt i+1

	// The states in which the first debt was made, and the steps from there.
	before State
	steps  []Op
}

// sinces are numbers that ascend, at least one.
type sinces struct {
	last   int32
	before []int32
}

// all is the numbers.
func (s sinces) all() []int32 { return append(slices.Clip(s.before), s.last) }

func (r *bagRun) put(x int32) { r.add(x, int32(len(r.slack))) }

// add adds an element that came when there were that many debts.
func (r *bagRun) add(x, since int32) {
	s, more := r.since[x]
	if more {
		s.before = append(s.before, s.last)
	}
	s.last = since
	r.since[x] = s
	r.n++
}

// take takes an element out, if there is one that no debt needs.
func (r *bagRun) take(x int32) (since int32, ok bool) {
	s, there := r.since[x]
	since = s.last
	if !there || slices.Contains(r.slack[since:], 0) {
		return 0, false
	}
	for i := since; int(i) < len(r.slack); i++ {
		r.slack[i]--
	}
	if last := len(s.before) - 1; last < 0 {
		delete(r.since, x)
	} else {
		s.before, s.last = s.before[:last], s.before[last]
		r.since[x] = s
	}
	r.n--
	return since, true
}

// putBack undoes take.
func (r *bagRun) putBack(x, since int32) {
	r.add(x, since)
	for i := since; int(i) < len(r.slack); i++ {
		r.slack[i]++
	}
}

func (r *bagRun) Apply(op Op) Outcome {
	outcome := r.apply(op)
	if outcome == One && len(r.slack) > 0 {
		r.steps = append(r.steps, op)
	}
	return outcome
}

func (r *bagRun) apply(op Op) Outcome {
	switch op.Kind {
	case Enqueue:
		r.put(op.A)
	case Dequeue:
		_, ok := r.take(op.A)
		return oneIf(ok)
	case DequeueAny:
		return r.owe()
	case DequeueEmpty:
		if int(r.n) > len(r.slack) {
			return Impossible
		}
		r.n, r.slack, r.steps = 0, r.slack[:0], r.steps[:0]
		clear(r.since)
	case Drain:
		return r.drain(r.q.drains[op.A])
	case DrainAny:
		if r.n > 0 {
			return Several
		}
	default:
		return Impossible
	}
	return One
}

// owe takes any element. Which one it was is clear if all are equal.
func (r *bagRun) owe() Outcome {
	switch {
	case int(r.n) == len(r.slack):
		return Impossible
	case len(r.slack) == 0 && len(r.since) == 1:
		for x := range r.since {
			r.take(x)
		}
		return One
	case len(r.slack) == 0:
		r.before = r.State()
	}
	r.slack = append(r.slack, r.n-int32(len(r.slack))-1)
	return One
}

// drain takes elements one after the other, all or none.
func (r *bagRun) drain(values []int32) Outcome {
	taken := make([]int32, 0, len(values))
	for _, x := range values {
		since, ok := r.take(x)
		if !ok {
			for i, since := range slices.Backward(taken) {
				r.putBack(values[i], since)
			}
			return Impossible
		}
		taken = append(taken, since)
	}
	return One
}

// element is one that debts may be paid with.
type element struct{ value, since int32 }

// State is the least state: each debt in turn is paid with the greatest element
// that can pay it. Later debts can be paid with whatever is left, so this keeps the
// least (Edmonds 1971: the greedy basis of a matroid). O(n log n) for n elements.
func (r *bagRun) State() State {
	var s State
	if len(r.slack) == 0 {
		for _, x := range slices.Sorted(maps.Keys(r.since)) {
			s = append(s, slices.Repeat([]int32{x}, 1+len(r.since[x].before))...)
		}
		return s
	}
	var elements []element
	for x, since := range r.since {
		for _, d := range since.all() {
			elements = append(elements, element{x, d})
		}
	}
	slices.SortFunc(elements, func(a, b element) int { return cmp.Compare(a.since, b.since) })
	var pool greatestFirst
	for i := range int32(len(r.slack)) {
		for len(elements) > 0 && elements[0].since <= i {
			pool.push(elements[0].value)
			elements = elements[1:]
		}
		pool.pop()
	}
	s = append(s, pool...)
	for _, e := range elements {
		s = append(s, e.value)
	}
	slices.Sort(s)
	return s
}

// States takes the steps since the first debt once more, with Step.
func (r *bagRun) States(poll func()) []State {
	if len(r.slack) == 0 {
		return []State{r.State()}
	}
	set := []State{r.before}
	for _, op := range r.steps {
		set = stepAll(poll, r.q, nil, set, op)
	}
	return set
}
