package models

import (
	"cmp"
	"fmt"
	"slices"

	"clew/edn"
)

// priorityQueue hands out an element of highest priority. Elements are their own
// priorities, in the order of Clojure's compare. Of several elements that compare as equal
// it may hand out any. A state holds the elements from the highest priority down, equal
// ones by class, repeated ones repeated.
//
// B of its operations is the rank of A among all values of the history. Ranks have no gaps,
// and the highest priority has the highest rank. Finish assigns the ranks, since that takes
// all values.
type priorityQueue struct {
	queueReader
	fInsert, fPoll edn.ID
	least          bool // the least element comes first
	rank           *ranks
	ranked         []int32 // the values by rank
	begin          []int32 // by rank: where its values begin in ranked
}

var priorityQueueDefinition = Definition{
	Name: "priority-queue", Fs: ":enqueue v (or :insert), :dequeue (or :poll), :peek", About: "the element of highest priority first",
	Called:    []string{"heap"},
	Params:    []Param{ParamPriority},
	Repeating: []string{"enqueue", "insert"},
	Default:   "[]",
	Record:    "clew.model.PriorityQueue",
	Object:    "priorityqueue",
	Verbs: map[string]string{":enqueue": "enqueued", ":insert": "inserted", ":dequeue": "dequeued", ":poll": "polled",
		":peek": "peeked at"},
	Knossos: nilIsAnElement,
	Infer:   mayBeAQueue,
	New:     newPriorityQueue,
}

func newPriorityQueue(b *Binding) (Reader, error) {
	reader, err := newQueueReader(b)
	q := &priorityQueue{queueReader: reader, fInsert: b.v.InternKeyword("insert"), fPoll: b.v.InternKeyword("poll"),
		least: b.Spec.Priority == "min", rank: &ranks{sparse: map[int32]int32{}}}
	q.traits = q.offers(Traits{
		Shape:  func() Shape { return PriorityShape{q.init} },
		Finish: q.finish,
		Run:    q.run,
		Guide:  &Guide{Course: q.course, Keeps: q.keeps},
	})
	return q, err
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

// finish ranks the values. It takes linear time for numbers that floating point can
// distinguish; else O(v log v) comparisons for v distinct values.
func (q *priorityQueue) finish(c *Columns) (row Row, err error) {
	q.rank = newRanks(c, q.init)
	values := make([]int32, 0, len(q.rank.dense))
	meet := func(x int32) {
		if q.rank.of(x) == unranked {
			q.rank.set(x, 0)
			values = append(values, x)
		}
	}
	for i, kind := range c.Kind {
		if hasRank(kind) {
			meet(c.A[i])
		}
	}
	for _, x := range q.init {
		meet(x)
	}
	o := newOrder(q.v)
	values, x, y, ok := o.sorted(values)
	if !ok && c.Len() > 0 {
		if x == y {
			err = fmt.Errorf("expected a value that can be ordered, found %s", q.v.Text(edn.ID(x)))
		} else if _, ok := o.compare(edn.ID(x), edn.ID(y)); ok {
			err = fmt.Errorf("expected numbers that Clojure compares exactly, found %s and %s", q.v.Text(edn.ID(x)), q.v.Text(edn.ID(y)))
		} else {
			err = fmt.Errorf("expected values that can be ordered, found %s and %s", q.v.Text(edn.ID(x)), q.v.Text(edn.ID(y)))
		}
		return max(firstOf(c, x), firstOf(c, y)), err
	}
	q.rankAll(values, o)
	for i, kind := range c.Kind {
		if hasRank(kind) {
			c.B[i] = q.rank.of(c.A[i])
		}
	}
	slices.SortFunc(q.init, q.before)
	return 0, nil
}

// hasRank says whether operations of a kind have a value, and hence a rank.
func hasRank(kind Kind) bool { return kind != DequeueAny && kind != DequeueEmpty }

// firstOf returns the first row with a value, 0 if only the initial state has it.
func firstOf(c *Columns, x int32) Row {
	for i, kind := range c.Kind {
		if hasRank(kind) && c.A[i] == x {
			return Row(i)
		}
	}
	return 0
}

// rankAll ranks values that ascend.
func (q *priorityQueue) rankAll(values []int32, o *order) {
	if q.least {
		slices.Reverse(values)
	}
	q.ranked = values
	for i, x := range values {
		if i > 0 && !o.unequal {
			if n, _ := o.compare(edn.ID(values[i-1]), edn.ID(x)); n == 0 {
				q.rank.set(x, int32(len(q.begin))-1)
				continue
			}
		}
		q.rank.set(x, int32(len(q.begin)))
		q.begin = append(q.begin, int32(i))
	}
}

// ofRank returns the values of a rank.
func (q *priorityQueue) ofRank(rank int32) []int32 {
	end := len(q.ranked)
	if int(rank)+1 < len(q.begin) {
		end = int(q.begin[rank+1])
	}
	return q.ranked[q.begin[rank]:end]
}

// before compares elements by their order in a state.
func (q *priorityQueue) before(x, y int32) int {
	return cmp.Or(cmp.Compare(q.rank.of(y), q.rank.of(x)), cmp.Compare(x, y))
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
		case q.rank.of(x) != q.rank.of(s[0]):
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

// run begins a run. A step takes time logarithmic in the number of
// priorities in the queue. It is linear in the number of values of the history that share
// one, such as 1 and 1.0.
func (q *priorityQueue) run(s State) Run {
	r := &priorityRun{q: q}
	for _, x := range s {
		r.put(x)
	}
	return r
}

type priorityRun struct {
	q     *priorityQueue
	count perValue
	ranks greatestFirst // each rank that has values, once
}

func (r *priorityRun) put(x int32) {
	if r.count.add(x, 1) > 1 {
		return
	}
	if rank := r.q.rank.of(x); !r.hasOther(rank, x) {
		r.ranks.push(rank)
	}
}

// take takes a value of the greatest rank.
func (r *priorityRun) take(x int32) {
	if r.count.add(x, -1) > 0 {
		return
	}
	if !r.hasOther(r.ranks[0], x) {
		r.ranks.pop()
	}
}

// hasOther says whether another value of a rank is in the queue.
func (r *priorityRun) hasOther(rank, x int32) bool {
	if len(r.q.begin) == len(r.q.ranked) {
		return false // each has a rank of its own
	}
	return slices.ContainsFunc(r.q.ofRank(rank), func(y int32) bool { return x != y && r.count.of(y) > 0 })
}

func (r *priorityRun) Apply(op Op) Outcome {
	if op.Kind == Enqueue {
		r.put(op.A)
		return One
	}
	if len(r.ranks) == 0 {
		return oneIf(op.Kind == DequeueEmpty)
	}
	x := op.A
	switch {
	case op.Kind == DequeueAny:
		values := r.q.ofRank(r.ranks[0])
		x = values[slices.IndexFunc(values, func(y int32) bool { return r.count.of(y) > 0 })]
		if r.hasOther(r.ranks[0], x) {
			return Several
		}
	case op.Kind == DequeueEmpty || op.B != r.ranks[0] || r.count.of(x) == 0:
		return Impossible
	}
	if op.Kind != Peek {
		r.take(x)
	}
	return One
}

func (r *priorityRun) State() State {
	var s State
	values := r.count.values()
	slices.SortFunc(values, r.q.before)
	for _, x := range values {
		s = append(s, slices.Repeat([]int32{x}, int(r.count.of(x)))...)
	}
	return s
}

func (r *priorityRun) States(func()) []State { return []State{r.State()} }

// greatestFirst is a heap: the greatest number is first.
type greatestFirst []int32

func (h *greatestFirst) push(x int32) {
	list := append(*h, x)
	i := len(list) - 1
	for ; i > 0 && list[(i-1)/2] < x; i = (i - 1) / 2 {
		list[i] = list[(i-1)/2]
	}
	list[i], *h = x, list
}

// pop takes out the first number.
func (h *greatestFirst) pop() {
	last := len(*h) - 1
	x, list := (*h)[last], (*h)[:last]
	*h = list
	if last == 0 {
		return
	}
	i := 0
	for child := 1; child < last; child = 2*i + 1 {
		if child+1 < last && list[child+1] > list[child] {
			child++
		}
		if list[child] <= x {
			break
		}
		list[i] = list[child]
		i = child
	}
	list[i] = x
}

func (q *priorityQueue) Why(s State, op Op) string {
	if op.Kind == Dequeue && len(s) == 0 {
		return "can't dequeue " + str(q.v, edn.ID(op.A)) + " from empty priority queue"
	}
	return q.why(s, op)
}

func (q *priorityQueue) Record(s State) edn.Value {
	return record(q.v, q.record, field{"items", q.v.InternVector(ids(s))})
}
