package models

import "slices"

// # Courses of a priority queue
//
// What is in a priority queue follows from which operations have happened: a search
// has only to choose which. Few choices matter.
//
// All operations here are open at once, so that time allows every order of them, and
// what lies below, or above, does so in rank. L is a linearization of what is left
// from a state on; the goal is the first to return. Each lemma changes L so that it
// begins as the course says, and stays a linearization. An exchange of two operations
// of equal meaning, or of a crashed remove with one that takes the same and must
// happen sooner, is always possible. Peeks and empty answers that fit the state have
// happened.
//
//  1. If an element w is first and has to go before the goal (a remove or a peek of
//     something below it, or an empty answer), a remove of w may come next, and not a
//     crashed one that takes any element if some open one takes w. For the first
//     remove of w in L can come first of all: what stood before it takes nothing that
//     needs w, and does without w what it did with it. (A peek of w would have
//     happened.) While w is inside, none of them is below it.
//  2. If the goal removes v, and v is first, it may come next. As 1.
//  3. If the goal removes v, v is not inside, and nothing is above it, an add of v may
//     come next, and then the goal. For let L have them in this order, the remove of v
//     that follows the first add of v exchanged with the goal. What lies between takes
//     no v, and so does without it what it did with it, but for peeks of v: these fit
//     once v is there, and happen before the goal.
//  4. If the goal adds v, or is a peek of v that needs such an add, and nothing is
//     above v or the goal is the add: either the add comes next, or what must happen
//     some time and is below v, a target. For take of all L the one with the fewest
//     operations before the add. The last of these cannot be moved behind the add. So it
//     is below v, and no add. And it does not belong to a crashed process: of such a
//     remove nobody knows until something below what it takes happens, and right
//     before that it can stand as well.
//     Let t be the first target in L. If something above t is first, 1 says with t as
//     the goal how L may begin, and if t removes an element that is there, or is not,
//     2 or 3. If t is a peek of what is not there, the add of that comes next: before
//     it L has no target, so as above nothing has to stand there.
//
// So before a remove there is nothing to choose. Before an add it is to be chosen
// which targets below it come first. An add waits until it returns, or until its value
// is needed; what is far below does not matter.

// The courses of a priority queue. From putIn on they say, as one more than its rank,
// how low the targets reach; the rank of an empty answer is -1.
const (
	takeOut Course = Directly + 1 + iota // what is first has to go: 1
	fetch                                // an add of the goal's value has to come: 3, or 4 without targets
	putIn                                // 4
)

// Steer makes priority-queue Steering.
func (q *priorityQueue) Steer(s State, goal Op, others []Op) Course {
	switch {
	case goal.Kind == DequeueAny:
		return Anyhow
	case goal.Kind == DequeueEmpty, goal.Kind != Enqueue && q.top(s) > goal.B:
		return takeOut
	case goal.Kind != Enqueue && q.has(s, goal.A):
		return Directly
	case goal.Kind == Dequeue:
		return fetch
	}
	lowest := goal.B
	for _, op := range others {
		switch op.Kind {
		case Dequeue, Peek:
			lowest = min(lowest, op.B)
		case DequeueEmpty:
			lowest = -1
		}
	}
	switch {
	case lowest < goal.B:
		return putIn + Course(lowest+1)
	case goal.Kind == Peek:
		return fetch
	}
	return Directly
}

// Keeps makes priority-queue Steering.
func (q *priorityQueue) Keeps(s State, c Course, goal, next Op, crashed bool, others []Op) bool {
	if c == takeOut {
		switch next.Kind {
		case Dequeue:
			return next.A == s[0]
		case DequeueAny:
			return !removes(others, s[0])
		}
		return false
	}
	if next.Kind == Enqueue && next.A == goal.A {
		return goal.Kind != Enqueue
	}
	if c == fetch {
		return false
	}
	top, lowest := q.top(s), int32(c-putIn)-1
	switch next.Kind {
	case Dequeue:
		return lowest < top || !crashed && top < goal.B
	case DequeueAny:
		return lowest < top && !removes(others, s[0])
	case Enqueue:
		return top <= next.B && next.B < goal.B && !q.has(s, next.A) &&
			(removes(others, next.A) || slices.ContainsFunc(others, func(op Op) bool { return op.Kind == Peek && op.A == next.A }))
	}
	return false
}

// removes says whether one of some operations removes a value.
func removes(ops []Op, x int32) bool {
	return slices.ContainsFunc(ops, func(op Op) bool { return op.Kind == Dequeue && op.A == x })
}

// top is the rank of what is first, -1 if nothing is there.
func (q *priorityQueue) top(s State) int32 {
	if len(s) == 0 {
		return -1
	}
	return q.rank.of(s[0])
}

func (q *priorityQueue) has(s State, x int32) bool {
	_, found := slices.BinarySearchFunc(s, x, q.before)
	return found
}
