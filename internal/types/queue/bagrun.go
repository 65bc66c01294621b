package queue

import (
	"cmp"
	"slices"

	"clew/internal/home"
	"clew/models"
)

func (q *Unordered) run(s models.State) models.Run {
	r := &bagRun{q: q}
	for _, x := range s {
		r.put(x)
	}
	return r
}

// bagRun is a bag under way. A crashed dequeue took any of the elements that were there,
// and no answer depends on which yet. It is a debt, to be paid with an element that was
// there when the dequeue happened and that nothing else takes.
//
// Debts are numbered from 1 on. An element that came when there were d debts can pay those
// from d+1 on. So an element that can pay debt i can pay all later ones. By Hall's theorem
// all can be paid if and only if, for every i, at least i elements came before debt i did.
// slack counts the elements beyond these i. Of equal elements, a dequeue that names the
// value takes the one that came last. That one can pay the fewest debts. Once there are no
// more elements than debts, the bag may be empty. If a dequeue finds it empty, all debts
// are paid.
//
// A step takes amortized constant time. It takes time linear in the number of debts if it
// takes an element that could have paid some of them.
type bagRun struct {
	q     *Unordered
	last  home.PerValue // by value: the place of its element that came last, plus 1
	all   []element
	free  []int32 // places in all that hold no element
	kinds int32   // how many distinct values there are
	sum   int64   // their sum: the value itself if there is only one
	slack []int32 // by debt, from 0: slack[i] is of debt i+1

	// The state in which the first debt was made, and the steps from there.
	before models.State
	steps  []models.Op
}

// element is a value, and the number of debts when it came. before is the place, plus 1, of
// the equal element that came before it. Of equal elements, later ones have seen at least
// as many debts.
type element struct{ value, since, before int32 }

// gone is the value of a place that holds no element.
const gone = -1

// len returns the number of elements, including those that debts will be paid with.
func (r *bagRun) len() int { return len(r.all) - len(r.free) }

func (r *bagRun) put(x int32) { r.add(x, int32(len(r.slack))) }

// add adds an element that came when there were since debts.
func (r *bagRun) add(x, since int32) {
	e := element{x, since, r.last.Of(x)}
	if e.before == 0 {
		r.kinds++
		r.sum += int64(x)
	}
	at := len(r.all)
	if last := len(r.free) - 1; last >= 0 {
		at, r.free = int(r.free[last]), r.free[:last]
		r.all[at] = e
	} else {
		r.all = append(r.all, e)
	}
	r.last.Set(x, int32(at+1))
}

// take takes an element out if there is one that no debt needs.
func (r *bagRun) take(x int32) (since int32, ok bool) {
	at := r.last.Of(x) - 1
	if at < 0 {
		return 0, false
	}
	e := &r.all[at]
	since = e.since
	if slices.Contains(r.slack[since:], 0) {
		return 0, false
	}
	for i := since; int(i) < len(r.slack); i++ {
		r.slack[i]--
	}
	if e.before == 0 {
		r.kinds--
		r.sum -= int64(x)
	}
	r.last.Set(x, e.before)
	e.value, r.free = gone, append(r.free, at)
	return since, true
}

// empty takes all elements out.
func (r *bagRun) empty() {
	for _, e := range r.all {
		if e.value != gone {
			r.last.Set(e.value, 0)
		}
	}
	r.kinds, r.sum, r.all, r.free = 0, 0, r.all[:0], r.free[:0]
}

// putBack undoes take.
func (r *bagRun) putBack(x, since int32) {
	r.add(x, since)
	for i := since; int(i) < len(r.slack); i++ {
		r.slack[i]++
	}
}

func (r *bagRun) Apply(op models.Op) models.Outcome {
	outcome := r.apply(op)
	if outcome == models.One && len(r.slack) > 0 {
		r.steps = append(r.steps, op)
	}
	return outcome
}

func (r *bagRun) apply(op models.Op) models.Outcome {
	switch op.Kind {
	case models.Enqueue:
		r.put(op.A)
	case models.Dequeue:
		_, ok := r.take(op.A)
		return models.OneIf(ok)
	case models.DequeueAny:
		return r.owe()
	case models.DequeueEmpty:
		if r.len() > len(r.slack) {
			return models.Impossible
		}
		r.slack, r.steps = r.slack[:0], r.steps[:0]
		r.empty()
	case models.Drain:
		return r.drain(r.q.drains[op.A])
	case models.DrainAny:
		if r.len() > 0 {
			return models.Several
		}
	default:
		return models.Impossible
	}
	return models.One
}

// owe takes any element. It is clear which one if all are equal.
func (r *bagRun) owe() models.Outcome {
	switch {
	case r.len() == len(r.slack):
		return models.Impossible
	case len(r.slack) == 0 && r.kinds == 1:
		r.take(int32(r.sum))
		return models.One
	case len(r.slack) == 0:
		r.before = r.State()
	}
	r.slack = append(r.slack, int32(r.len()-len(r.slack)-1))
	return models.One
}

// drain takes elements one after the other, all or none.
func (r *bagRun) drain(values []int32) models.Outcome {
	taken := make([]int32, 0, len(values))
	for _, x := range values {
		since, ok := r.take(x)
		if !ok {
			for i, since := range slices.Backward(taken) {
				r.putBack(values[i], since)
			}
			return models.Impossible
		}
		taken = append(taken, since)
	}
	return models.One
}

// State returns the least state: each debt in turn is paid with the greatest element that
// can pay it. Later debts can be paid with any element that is left, so this keeps the
// least (Edmonds 1971: the greedy basis of a matroid). O(n log n) for n elements.
func (r *bagRun) State() models.State {
	var s models.State
	elements := slices.DeleteFunc(slices.Clone(r.all), func(e element) bool { return e.value == gone })
	slices.SortFunc(elements, func(a, b element) int { return cmp.Compare(a.since, b.since) })
	var pool home.GreatestFirst
	for i := range int32(len(r.slack)) {
		for len(elements) > 0 && elements[0].since <= i {
			pool.Push(elements[0].value)
			elements = elements[1:]
		}
		pool.Pop()
	}
	s = append(s, pool...)
	for _, e := range elements {
		s = append(s, e.value)
	}
	slices.Sort(s)
	return s
}

// States repeats the steps since the first debt with Step.
func (r *bagRun) States(poll func()) []models.State {
	if len(r.slack) == 0 {
		return []models.State{r.State()}
	}
	set := []models.State{r.before}
	for _, op := range r.steps {
		set = models.StepAll(poll, r.q, nil, set, op)
	}
	return set
}
