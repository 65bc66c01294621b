package javaqueue

import (
	"slices"

	"clew/internal/home"
	"clew/models"
)

func (m *javaQueue) run(s models.State) models.Run {
	r := &javaRun{m: m}
	r.fill(s)
	return r
}

// javaRun is a java-queue under way. Elements stay at their places when others are taken
// from among them, and each value knows its places. So every step takes amortized time
// linear in its own argument and answer. Once most places are free, the elements move
// together.
type javaRun struct {
	m     *javaQueue
	items []int32         // by place, first in first
	gone  []bool          // by place: the element has been taken
	at    map[int32]*line // by value: the places of its elements; none is empty
	first int             // no element is before this place
	n     int             // elements
}

// line is places, ascending; those before next are used up.
type line struct {
	places []int32
	next   int
}

func (r *javaRun) fill(s models.State) {
	r.items, r.gone, r.at, r.first, r.n = make([]int32, 0, len(s)), make([]bool, 0, len(s)), map[int32]*line{}, 0, 0
	for _, x := range s {
		r.put(x)
	}
}

func (r *javaRun) put(x int32) {
	l := r.at[x]
	if l == nil {
		l = &line{}
		r.at[x] = l
	}
	l.places = append(l.places, int32(len(r.items)))
	r.items, r.gone = append(r.items, x), append(r.gone, false)
	r.n++
}

// take takes the first element that equals x and says whether there was one.
func (r *javaRun) take(x int32) bool {
	l := r.at[x]
	if l == nil {
		return false
	}
	r.gone[l.places[l.next]] = true
	if l.next++; l.next == len(l.places) {
		delete(r.at, x)
	}
	r.n--
	for r.first < len(r.items) && r.gone[r.first] {
		r.first++
	}
	return true
}

// takeAll takes all elements that equal x.
func (r *javaRun) takeAll(x int32) {
	for r.take(x) {
	}
}

// tidy moves the elements together if most places are free.
func (r *javaRun) tidy() {
	if len(r.items) > 2*r.n+64 {
		r.fill(r.State())
	}
}

func (r *javaRun) has(x int32) bool { return r.at[x] != nil }

func (r *javaRun) Apply(op models.Op) models.Outcome {
	switch op.Kind {
	case javaSize:
		return models.OneIf(int(op.A) == r.n)
	case javaIsEmpty:
		return models.OneIf(r.n > 0)
	case javaNothing:
		return models.OneIf(r.n == 0)
	case javaRefused:
		return models.Impossible
	case javaPeek:
		return models.OneIf(r.n > 0 && r.items[r.first] == op.A)
	case javaContains:
		return models.OneIf(says(op, r.has(op.A)))
	case javaContainsAll:
		return models.OneIf(says(op, !slices.ContainsFunc(r.m.lists[op.A], func(x int32) bool { return !r.has(x) })))
	case javaToArray:
		return models.OneIf(r.n == len(r.m.lists[op.A]) && slices.Equal(r.State(), r.m.lists[op.A]))
	case javaToString:
		text := r.m.texts[op.A]
		return models.OneIf(r.n <= len(text) && r.m.prints(r.State(), text))
	}
	defer r.tidy()
	return models.OneIf(r.change(op))
}

// change takes a step that can change the queue.
func (r *javaRun) change(op models.Op) bool {
	switch op.Kind {
	case javaOffer:
		r.put(op.A)
	case javaPoll, javaPollAny:
		if r.n == 0 {
			return op.Kind == javaPollAny
		}
		if op.Kind == javaPoll && r.items[r.first] != op.A {
			return false
		}
		r.take(r.items[r.first])
	case javaClear:
		r.fill(nil)
	case javaRemove:
		if !says(op, r.has(op.A)) {
			return false
		}
		r.take(op.A)
	case javaAddAll:
		if !says(op, len(r.m.lists[op.A]) > 0) {
			return false
		}
		for _, x := range r.m.lists[op.A] {
			r.put(x)
		}
	case javaRemoveAll:
		return r.takeEach(op, slices.DeleteFunc(slices.Clone(r.m.lists[op.A]), func(x int32) bool { return !r.has(x) }))
	case javaRetainAll:
		kept := home.NewMembers(r.m.lists[op.A])
		var others []int32
		for x := range r.at {
			if !kept.Has(x) {
				others = append(others, x)
			}
		}
		return r.takeEach(op, others)
	}
	return true
}

// takeEach takes all elements that equal one of the given values, all of which are present.
// It does so only if the operation may have answered whether there are any.
func (r *javaRun) takeEach(op models.Op, values []int32) bool {
	if !says(op, len(values) > 0) {
		return false
	}
	for _, x := range values {
		r.takeAll(x)
	}
	return true
}

func (r *javaRun) State() models.State {
	s := make(models.State, 0, r.n)
	for place := r.first; place < len(r.items); place++ {
		if !r.gone[place] {
			s = append(s, r.items[place])
		}
	}
	return s
}
