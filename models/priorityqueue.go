package models

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"clew/edn"
)

// priorityQueue hands out an element of highest priority. Elements are their
// own priorities, in the order of Clojure's compare; of several elements that
// compare as equal it may hand out any. A state holds the elements from the
// highest priority down, equal ones by class, repeated ones repeated.
//
// B of its operations is the rank of A among all values of the history; ranks
// have no gaps, and the highest priority has the highest rank. Finish assigns
// the ranks, since that takes all values.
type priorityQueue struct {
	queueReader
	fInsert, fPoll edn.ID
	least          bool // the least element comes first
	rank           map[int32]int32
}

var priorityQueueDefinition = Definition{
	Name: "priority-queue", Fs: ":enqueue v (or :insert), :dequeue (or :poll), :peek", About: "the element of highest priority first",
	Params: []Param{ParamPriority},
	Record: "clew.model.PriorityQueue",
	Object: "priorityqueue",
	Verbs: map[string]string{":enqueue": "enqueued", ":insert": "inserted", ":dequeue": "dequeued", ":poll": "polled",
		":peek": "peeked at"},
	Knossos: nilIsAnElement,
	Infer:   mayBeAQueue,
	New:     newPriorityQueue,
}

func newPriorityQueue(b *Binding) (Reader, error) {
	q, err := newQueueReader(b)
	return &priorityQueue{queueReader: q, fInsert: b.v.InternKeyword("insert"), fPoll: b.v.InternKeyword("poll"),
		least: b.Spec.Priority == "min", rank: map[int32]int32{}}, err
}

func (q *priorityQueue) Read(o Operation) (Op, bool, error) {
	switch o.f {
	case q.fInsert:
		o.f = q.fEnqueue
	case q.fPoll:
		o.f = q.fDequeue
	case q.fDrain:
		return Op{}, false, ErrUnknownF
	}
	return q.queueReader.Read(o)
}

// Finish ranks the values. It takes O(v log v) comparisons for v different
// values.
func (q *priorityQueue) Finish(c *Columns) (row int32, err error) {
	var values []int32
	at := map[int32]int32{} // by value: the first row that has it
	for i, kind := range c.Kind {
		if kind == DequeueAny || kind == DequeueEmpty {
			continue
		}
		if _, ok := at[c.A[i]]; !ok {
			at[c.A[i]] = int32(i)
			values = append(values, c.A[i])
		}
	}
	for _, x := range q.init {
		if _, ok := at[x]; !ok {
			at[x] = 0
			values = append(values, x)
		}
	}
	o := newOrder(q.v)
	slices.SortFunc(values, func(x, y int32) int {
		n, ok := o.compare(edn.ID(x), edn.ID(y))
		if !ok && err == nil {
			row = max(at[x], at[y])
			err = fmt.Errorf("expected values that have an order, found %s and %s", q.v.Text(edn.ID(x)), q.v.Text(edn.ID(y)))
		}
		return cmp.Or(n, cmp.Compare(x, y))
	})
	if err == nil && len(values) == 1 && !o.ordered(edn.ID(values[0])) {
		err = fmt.Errorf("expected a value that has an order, found %s", q.v.Text(edn.ID(values[0])))
	}
	if err != nil && c.Len() > 0 {
		return row, err
	}
	q.rankAll(values, o)
	for i, kind := range c.Kind {
		if kind != DequeueAny && kind != DequeueEmpty {
			c.B[i] = q.rank[c.A[i]]
		}
	}
	slices.SortFunc(q.init, q.before)
	return 0, nil
}

// rankAll ranks values that ascend.
func (q *priorityQueue) rankAll(values []int32, o *order) {
	if q.least {
		slices.Reverse(values)
	}
	rank := int32(0)
	for i, x := range values {
		if i > 0 {
			if n, _ := o.compare(edn.ID(values[i-1]), edn.ID(x)); n != 0 {
				rank++
			}
		}
		q.rank[x] = rank
	}
}

// before is the order of elements in a state.
func (q *priorityQueue) before(x, y int32) int {
	return cmp.Or(cmp.Compare(q.rank[y], q.rank[x]), cmp.Compare(x, y))
}

func (q *priorityQueue) Step(dst []State, s State, op Op) []State {
	switch op.Kind {
	case Enqueue:
		i, _ := slices.BinarySearchFunc(s, op.A, q.before)
		return append(dst, slices.Insert(slices.Clone(s), i, op.A))
	case DequeueEmpty:
		if len(s) == 0 {
			return append(dst, s)
		}
		return dst
	}
	for i, x := range s {
		switch {
		case q.rank[x] != q.rank[s[0]]:
			return dst
		case i > 0 && x == s[i-1] || op.Kind != DequeueAny && x != op.A:
		case op.Kind == Peek:
			dst = append(dst, s)
		default:
			dst = append(dst, slices.Delete(slices.Clone(s), i, i+1))
		}
	}
	return dst
}

// Run makes priority-queue a Runner. A step takes time logarithmic in the number
// of priorities, and linear in the number of values that share one: 1 and 1.0.
func (q *priorityQueue) Run(s State) Run {
	r := &priorityRun{q: q, count: map[int32]int32{}, values: map[int32][]int32{}}
	for _, x := range s {
		r.put(x)
	}
	return r
}

type priorityRun struct {
	q      *priorityQueue
	count  map[int32]int32   // by value: how many there are
	values map[int32][]int32 // by rank: those that are there
	ranks  greatestFirst     // each rank that has values once
}

func (r *priorityRun) put(x int32) {
	rank := r.q.rank[x]
	if r.count[x]++; r.count[x] > 1 {
		return
	}
	if len(r.values[rank]) == 0 {
		heap.Push(&r.ranks, rank)
	}
	r.values[rank] = append(r.values[rank], x)
}

// take takes a value of the highest rank.
func (r *priorityRun) take(x int32) {
	if r.count[x]--; r.count[x] > 0 {
		return
	}
	delete(r.count, x)
	rank := r.ranks[0]
	left := slices.DeleteFunc(r.values[rank], func(y int32) bool { return x == y })
	if r.values[rank] = left; len(left) == 0 {
		delete(r.values, rank)
		heap.Pop(&r.ranks)
	}
}

func (r *priorityRun) Apply(op Op) Outcome {
	if op.Kind == Enqueue {
		r.put(op.A)
		return One
	}
	if len(r.ranks) == 0 {
		return oneIf(op.Kind == DequeueEmpty)
	}
	first := r.values[r.ranks[0]]
	x := op.A
	switch {
	case op.Kind == DequeueAny && len(first) > 1:
		return Several
	case op.Kind == DequeueAny:
		x = first[0]
	case op.Kind == DequeueEmpty || !slices.Contains(first, x):
		return Impossible
	}
	if op.Kind != Peek {
		r.take(x)
	}
	return One
}

func (r *priorityRun) State() State {
	var s State
	for _, x := range slices.SortedFunc(maps.Keys(r.count), r.q.before) {
		s = append(s, slices.Repeat([]int32{x}, int(r.count[x]))...)
	}
	return s
}

func (r *priorityRun) States(func()) []State { return []State{r.State()} }

// greatestFirst has the greatest number first.
type greatestFirst []int32

func (h greatestFirst) Len() int           { return len(h) }
func (h greatestFirst) Less(i, j int) bool { return h[i] > h[j] }
func (h greatestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *greatestFirst) Push(x any)        { *h = append(*h, x.(int32)) }

func (h *greatestFirst) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// Shape makes priority-queue Shaped.
func (q *priorityQueue) Shape() Shape { return PriorityShape{q.init} }

func (q *priorityQueue) Why(s State, op Op) string {
	if op.Kind == Dequeue && len(s) == 0 {
		return "can't dequeue " + str(q.v, edn.ID(op.A)) + " from empty priority queue"
	}
	return q.why(s, op)
}

func (q *priorityQueue) Record(s State) edn.Value {
	return record(q.v, q.record, field{"items", q.v.InternVector(ids(s))})
}

// order compares values as Clojure's compare does: nil before everything,
// numbers by their size (1 is as great as 1.0), strings, characters, keywords
// and symbols by their text, false before true, vectors by length, then by
// their elements. Values of different sorts have no order; neither have NaN and
// the values that compare does not take.
type order struct {
	v       *edn.Values
	numbers map[edn.ID]*big.Rat // of those that are not plain integers
}

func newOrder(v *edn.Values) *order { return &order{v, map[edn.ID]*big.Rat{}} }

// sort is the sort of a value: it can be compared only with values of the same
// sort.
func (o *order) sort(x edn.ID) (sort edn.Kind, ok bool) {
	switch k := o.v.Kind(x); k {
	case edn.KindInt, edn.KindRatio, edn.KindFloat, edn.KindDecimal:
		return edn.KindInt, !strings.HasSuffix(o.v.Text(x), "NaN")
	case edn.KindNil, edn.KindBool, edn.KindChar, edn.KindString, edn.KindKeyword, edn.KindSymbol, edn.KindVector:
		return k, true
	default:
		return k, false
	}
}

// ordered says whether a value can be compared with itself.
func (o *order) ordered(x edn.ID) bool {
	_, ok := o.compare(x, x)
	return ok
}

// compare is less than, equal to or greater than 0 if x is before, equal to or
// after y. ok is false if they have no order.
func (o *order) compare(x, y edn.ID) (n int, ok bool) {
	a, okA := o.sort(x)
	b, okB := o.sort(y)
	switch {
	case !okA || !okB:
		return 0, false
	case a == edn.KindNil || b == edn.KindNil:
		return cmp.Compare(a, b), true // KindNil is the least kind
	case a != b:
		return 0, false
	}
	switch a {
	case edn.KindInt:
		return o.compareNumbers(x, y), true
	case edn.KindBool:
		return cmp.Compare(x, y), true // edn.False < edn.True
	case edn.KindKeyword, edn.KindSymbol:
		return compareNames(o.v.Str(x), o.v.Str(y)), true
	case edn.KindVector:
		return o.compareVectors(o.v.Items(x), o.v.Items(y))
	}
	return cmp.Compare(o.v.Str(x), o.v.Str(y)), true
}

func (o *order) compareVectors(x, y []edn.ID) (n int, ok bool) {
	if len(x) != len(y) {
		return cmp.Compare(len(x), len(y)), true
	}
	for i := range x {
		if n, ok = o.compare(x[i], y[i]); n != 0 || !ok {
			return n, ok
		}
	}
	return 0, true
}

// compareNames puts names without a namespace first.
func compareNames(x, y string) int {
	a, m, namespacedX := strings.Cut(x, "/")
	b, n, namespacedY := strings.Cut(y, "/")
	switch {
	case namespacedX && namespacedY:
		return cmp.Or(cmp.Compare(a, b), cmp.Compare(m, n))
	case namespacedX:
		return 1
	case namespacedY:
		return -1
	}
	return cmp.Compare(x, y)
}

func (o *order) compareNumbers(x, y edn.ID) int {
	m, okX := o.v.Int(x)
	n, okY := o.v.Int(y)
	if okX && okY {
		return cmp.Compare(m, n)
	}
	if a, b := o.infinite(x), o.infinite(y); a != 0 || b != 0 {
		return cmp.Compare(a, b)
	}
	return o.number(x).Cmp(o.number(y))
}

// infinite is 1 or -1 for the infinities, 0 for other numbers.
func (o *order) infinite(x edn.ID) int {
	switch text := o.v.Text(x); {
	case strings.HasSuffix(text, "-Inf") || strings.HasSuffix(text, "-Infinity"):
		return -1
	case strings.HasSuffix(text, "Inf") || strings.HasSuffix(text, "Infinity"):
		return 1
	}
	return 0
}

func (o *order) number(x edn.ID) *big.Rat {
	r, ok := o.numbers[x]
	if !ok {
		if r, ok = new(big.Rat).SetString(strings.TrimRight(o.v.Str(o.v.Same(x)), "MN")); !ok {
			r = new(big.Rat)
		}
		o.numbers[x] = r
	}
	return r
}
