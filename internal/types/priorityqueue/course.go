package priorityqueue

import (
	"slices"

	"clew/models"
)

// # Courses of a priority queue
//
// The contents of a priority queue follow from which operations have happened: a search has
// only to choose which. Few choices matter.
//
// All operations here are open at once, so that time allows every order of them, and
// "below" and "above" refer to rank. L is a linearization of the rest from a state on; the
// goal is the first to return. Each lemma changes L so that it begins as the course says
// and stays a linearization. Two operations of equal meaning can always be exchanged. So
// can a crashed remove and one that takes the same element and must happen sooner. Peeks
// and empty answers that fit the state have happened.
//
//  1. Let an element w be first, and have to go before the goal (a remove or a peek of
//     something below it, or an empty answer). Then a remove of w may come next. It need not
//     be a crashed one that takes any element if some open one takes w. Proof: the first
//     remove of w in L can come first of all. The operations before it take nothing that
//     needs w, and do the same without w. (A peek of w would have happened.) While w is
//     inside, none of them is below it.
//  2. If the goal removes v, and v is first, the goal may come next. Proof: as in 1.
//  3. If the goal removes v, v is not inside, and nothing is above it, an add of v may come
//     next, and then the goal. Proof: let L have them in this order, with the remove of v
//     that follows the first add of v exchanged with the goal. The operations between them
//     take no v, and so do the same without it, except peeks of v: these fit once v is
//     there, and happen before the goal.
//  4. Let the goal add v, or be a peek of v that needs such an add while nothing is above v.
//     Call an operation below v that must happen some time a target. Then either the add
//     comes next, or a target. Proof: take, of all L, one with the fewest operations before
//     the add. The last of these cannot be moved behind the add. So it is below v, and not
//     an add. It does not belong to a crashed process either: nothing depends on such a
//     remove until something below what it takes happens, and it can stand right before that
//     as well.
//     Let t be the first target in L. If something above t is first, lemma 1 with t as the
//     goal says how L may begin. If t removes an element, lemma 2 says so if it is there,
//     and lemma 3 if it is not. If t is a peek of an element that is not there, the add of
//     it comes next: before it L has no target, so as above nothing has to stand there.
//
// So before a remove there is nothing to choose. Before an add, the choice is which targets
// below it come first. An add waits until it returns, or until its value is needed;
// elements far below do not matter.

// The courses of a priority queue. From putIn on, they say how low the targets reach, as
// one more than the rank; the rank of an empty answer is -1.
const (
	takeOut models.Course = models.Directly + 1 + iota // the first element has to go: 1
	fetch                                              // an add of the goal's value has to come: 3, or 4 without targets
	putIn                                              // 4
)

func (q *priorityQueue) course(s models.State, goal models.Op, others []models.Op) models.Course {
	switch {
	case goal.Kind == models.DequeueAny:
		return models.Anyhow
	case goal.Kind == models.DequeueEmpty, goal.Kind != models.Enqueue && q.top(s) > goal.B:
		return takeOut
	case goal.Kind != models.Enqueue && q.has(s, goal.A):
		return models.Directly
	case goal.Kind == models.Dequeue:
		return fetch
	}
	lowest := goal.B
	for _, op := range others {
		switch op.Kind {
		case models.Dequeue, models.Peek:
			lowest = min(lowest, op.B)
		case models.DequeueEmpty:
			lowest = -1
		}
	}
	switch {
	case lowest < goal.B:
		return putIn + models.Course(lowest+1)
	case goal.Kind == models.Peek:
		return fetch
	}
	return models.Directly
}

func (q *priorityQueue) keeps(s models.State, c models.Course, goal, next models.Op, crashed bool, others []models.Op) bool {
	if c == takeOut {
		switch next.Kind {
		case models.Dequeue:
			return next.A == s[0]
		case models.DequeueAny:
			return !removes(others, s[0])
		}
		return false
	}
	if next.Kind == models.Enqueue && next.A == goal.A {
		return goal.Kind != models.Enqueue
	}
	if c == fetch {
		return false
	}
	top, lowest := q.top(s), int32(c-putIn)-1
	switch next.Kind {
	case models.Dequeue:
		return lowest < top || !crashed && top < goal.B
	case models.DequeueAny:
		return lowest < top && !removes(others, s[0])
	case models.Enqueue:
		return top <= next.B && next.B < goal.B && !q.has(s, next.A) &&
			(removes(others, next.A) || slices.ContainsFunc(others, func(op models.Op) bool { return op.Kind == models.Peek && op.A == next.A }))
	}
	return false
}

// removes says whether one of some operations removes a value.
func removes(ops []models.Op, x int32) bool {
	return slices.ContainsFunc(ops, func(op models.Op) bool { return op.Kind == models.Dequeue && op.A == x })
}

// top returns the rank of the first element, -1 if there is none.
func (q *priorityQueue) top(s models.State) int32 {
	if len(s) == 0 {
		return -1
	}
	return q.rank(s[0])
}

func (q *priorityQueue) has(s models.State, x int32) bool {
	_, found := slices.BinarySearchFunc(s, x, q.before)
	return found
}
