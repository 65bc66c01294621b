package forget

import (
	"clew/fastpath"
	"clew/models"
)

// # Queues
//
// Decides which operations of a FIFO or unordered queue later completions still depend on. Linear time and space.
//
// Precondition: no element went in again before it was out, among the operations that are kept. Histories with drains
// or sizes are kept whole.
//
// What contradicts in a history with unique elements is: an element that goes out and was not in, or goes out twice; two
// elements of a FIFO queue of which the first to go in is the last to go out; and an empty answer throughout which some
// element was inside (Bouajjani, Emmi, Enea, Hamza: "On reducing linearizability to state reachability", 2015). An
// operation that returns later was invoked after everything that is over (see past.over). So an element that went out is
// forgotten with both of its operations once they are over: whatever comes later, it cannot have gone out before it, and
// a later answer that has it fails because it is not in. An empty answer is forgotten once it is over.
//
// The one exception is an element that stayed inside although an answer says that it was gone. Only a crashed dequeue can
// have taken it, so it must not come out later. Then all answers are kept that may say so: elements that went in after
// it, or that came out after a peek of it, and empty answers that returned after it had gone in. So are all elements that
// were inside during these: they say when the queue was empty. A peek is kept with its element.
//
// What is kept is about as large as what is inside, the number of open operations, and the crashed operations.
func container(p past, init []int32, ordered bool, keep []bool) bool {
	elements, crashed, ok := p.elements(init, keep)
	if ok {
		p.contents(elements, crashed, ordered, keep)
	}
	return ok
}

// contents keeps what container says, of elements of which crashed dequeues may have taken some.
func (p past) contents(elements *elements, crashed, ordered bool, keep []bool) {
	inside := models.Open // when an element that is inside was certainly there first
	for i := range elements.all {
		x := &elements.all[i]
		out := x.out >= 0 && p.returned(x.out)
		switch {
		case x.in == initially && out:
			keep[x.out] = true // the model has the element again, and nothing else takes it out
		case x.in == initially:
			inside = -1
		case x.in == missing || x.goneBefore(&p, p.oldest) && !keep[x.in]:
		case out:
			keep[x.in], keep[x.out] = true, true
		default:
			keep[x.in] = true
			inside = min(inside, p.Res[x.in])
		}
	}
	first := models.Open // the first invocation of a peek of an element that is inside
	for row, kind := range p.Kind {
		if x := elements.of(p.A[row]); kind == models.Peek && p.returned(models.Row(row)) && x != nil && (x.out < 0 || !p.returned(x.out)) {
			first, inside = min(first, p.Inv[row]), min(inside, p.Res[row]) // its enqueue may have crashed
		}
	}
	empty := models.Open // the first invocation of an empty answer that an element inside may contradict
	for row, kind := range p.Kind {
		if row := models.Row(row); kind == models.DequeueEmpty && p.returned(row) {
			if contradicts := crashed && inside < p.Res[row]; contradicts || !p.over(row) {
				keep[row], empty = true, min(empty, p.Inv[row])
			}
		}
	}
	for i := range elements.all {
		x := &elements.all[i]
		if crashed && x.in >= 0 && x.out >= 0 && p.returned(x.out) && (p.Res[x.out] > empty || ordered && (inside < p.Inv[x.in] || first < p.Res[x.out])) {
			keep[x.in], keep[x.out] = true, true
		}
	}
	for row, kind := range p.Kind {
		if row := models.Row(row); kind == models.Peek {
			x := elements.of(p.A[row])
			before := x != nil && x.in >= 0 && p.Res[row] < p.Inv[x.in] // the same element went in again since
			keep[row] = keep[row] || x == nil || x.in < 0 || !before && keep[x.in]
		}
	}
}

// elements returns the elements by their values, and keeps crashed dequeues, if there are any. It returns false if the
// precondition fails.
func (p *past) elements(init []int32, keep []bool) (_ *elements, crashed, ok bool) {
	elements := &elements{numbers: numbersUpTo(p.Len(), p.A, init), all: make([]element, 0, p.Len()+len(init))}
	for _, x := range init {
		if elements.of(x) != nil {
			return nil, false, false
		}
		elements.add(x).in = initially
	}
	again := false
	for row, kind := range p.Kind {
		row := models.Row(row)
		if kind == models.Dequeue && p.Res[row] == models.Open {
			kind = models.DequeueAny // its answer is not known, or does not matter
		}
		x := elements.of(p.A[row])
		switch kind {
		case models.Enqueue, models.Dequeue:
			if x == nil {
				x = elements.add(p.A[row])
			}
			switch {
			case kind == models.Dequeue && (x.out == missing || !p.returned(x.out)):
				x.out = row
			case kind == models.Dequeue && x.next != 0:
				return nil, false, false
			case kind == models.Dequeue:
				x.next = row // it fails, or the element goes in again
			case x.in == missing:
				x.in = row
			case x.goneBefore(p, min(p.Inv[row], p.oldest)): // otherwise a peek of the first one may be needed
				out := missing
				if x.next != 0 {
					out = x.next
				}
				*x, again = element{in: row, out: out}, true
			default:
				return nil, false, false
			}
		case models.DequeueAny:
			crashed, keep[row] = true, true
		case models.DequeueEmpty, models.Peek:
		default:
			return nil, false, false
		}
	}
	return elements, crashed, !again || !crashed
}

// element is an element of a queue: the rows of the operations by which it went in and out.
type element struct {
	in, out models.Row
	next    models.Row // another operation by which it goes out; 0 if there is none
}

// elements are the elements of a queue by their values.
type elements struct {
	numbers numbers
	all     []element
}

// of returns the element of a value, or nil.
func (x *elements) of(value int32) *element {
	if n := x.numbers.of(value); n >= 0 {
		return &x.all[n]
	}
	return nil
}

// add adds an element. The others do not move, since there is room for all.
func (x *elements) add(value int32) *element {
	x.numbers.set(value, int32(len(x.all)))
	x.all = append(x.all, element{in: missing, out: missing})
	return &x.all[len(x.all)-1]
}

// Rows of an element that are not there.
const (
	missing   models.Row = -1
	initially models.Row = -2
)

// goneBefore says whether an element went in and out before an event.
func (x *element) goneBefore(p *past, event int32) bool {
	return x.in >= 0 && x.out >= 0 && p.Res[x.out] < event && p.returned(x.out) && (p.Res[x.in] < event || p.Res[x.in] == models.Open)
}

// numbers gives values numbers from 0 on.
type numbers struct {
	ranks *fastpath.Ranks // unless nil, values are sparse
	by    []int32         // by value, or by its rank: the number plus 1, or 0
}

// numbersUpTo returns numbers for some values, of which so many things have one.
func numbersUpTo(things int, values ...[]int32) (x numbers) {
	least, most := int32(0), int32(0)
	for _, all := range values {
		for _, v := range all {
			least, most = min(least, v), max(most, v)
		}
	}
	if least < 0 || fastpath.Sparse(int64(most), int64(things)) {
		ranks := fastpath.RanksOf(values...)
		x.ranks, most = &ranks, ranks.Len()
	}
	x.by = make([]int32, most+1)
	return x
}

// at returns the place of the number of a value.
func (x *numbers) at(value int32) *int32 {
	if x.ranks != nil {
		value = x.ranks.Of(value)
	}
	return &x.by[value]
}

// of returns the number of a value, or -1.
func (x *numbers) of(value int32) int32 { return *x.at(value) - 1 }

func (x *numbers) set(value, number int32) { *x.at(value) = number + 1 }
