package priorityqueue

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/hugepages"
	"clew/internal/radix"
	"clew/internal/types/queue"
	"clew/models"
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
	queue.Reader
	fInsert, fPoll edn.ID
	least          bool          // the least element comes first
	ranks          home.PerValue // plus 1; 0 for values that have none
	ranked         []int32       // the values by rank
	begin          []int32       // by rank: where its values begin in ranked
}

var priorityQueueDefinition = models.Definition{
	Name: "priority-queue", Fs: ":enqueue v (or :insert), :dequeue (or :poll), :peek", About: "the element of highest priority first",
	Called:     []string{"heap"},
	Params:     []models.Param{models.ParamPriority},
	NilOutputs: []string{"dequeue", "poll", "peek"},
	Repeating:  []string{"enqueue", "insert"},
	Default:    "[]",
	Record:     "clew.model.PriorityQueue",
	Object:     "priorityqueue",
	Verbs: map[string]string{":enqueue": "enqueued", ":insert": "inserted", ":dequeue": "dequeued", ":poll": "polled",
		":peek": "peeked at"},
	Knossos: queue.NilIsAnElement,
	Infer:   queue.MayBeAQueue,
	New:     newPriorityQueue,
}

func newPriorityQueue(b *models.Binding) (models.Reader, error) {
	reader, err := queue.NewReader(b)
	q := &priorityQueue{Reader: reader, fInsert: b.Values.InternKeyword("insert"), fPoll: b.Values.InternKeyword("poll"),
		least: b.Spec.Priority == "min"}
	q.Offered = q.Offers(models.Traits{
		Shape:  func() models.Shape { return models.PriorityShape{Init: q.Initial} },
		Finish: q.finish,
		Run:    q.run,
		Because: func(s models.State, op models.Op) string {
			if len(s) == 0 || q.rank(s[0]) == q.rank(op.A) {
				return q.absent(s, op)
			}
			return q.Because(s, op, s[0], "first")
		},
		Guide: &models.Guide{Course: q.course, Keeps: q.keeps},
	})
	return q, err
}

func (q *priorityQueue) Read(o models.Operation) (models.Op, bool, error) {
	switch o.FID {
	case q.fInsert:
		o.FID = q.FEnqueue
	case q.fPoll:
		o.FID = q.FDequeue
	case q.FDrain:
		return models.Op{}, false, models.ErrUnknownF
	}
	return q.Reader.Read(o)
}

// finish ranks the values. It takes linear time for numbers that floating point can
// distinguish; else O(v log v) comparisons for v distinct values.
func (q *priorityQueue) finish(c *models.Columns) (row models.Row, err error) {
	q.ranks = home.PerValue{}
	var values []int32
	meet := func(x int32) {
		if q.ranks.Of(x) == 0 {
			q.ranks.Set(x, 1)
			values = hugepages.Append(values, x)
		}
	}
	for i, kind := range c.Kind {
		if hasRank(kind) {
			meet(c.A[i])
		}
	}
	for _, x := range q.Initial {
		meet(x)
	}
	o := newOrder(q.V)
	values, x, y, ok := o.sorted(values)
	if !ok && c.Len() > 0 {
		if x == y {
			err = fmt.Errorf("expected a value that can be ordered, found %s", q.Text(x))
		} else if _, ok := o.compare(edn.ID(x), edn.ID(y)); ok {
			err = fmt.Errorf("expected numbers that Clojure compares exactly, found %s and %s", q.Text(x), q.Text(y))
		} else {
			err = fmt.Errorf("expected values that can be ordered, found %s and %s", q.Text(x), q.Text(y))
		}
		return max(firstOf(c, x), firstOf(c, y)), err
	}
	q.rankAll(values, o)
	for i, kind := range c.Kind {
		if hasRank(kind) {
			c.B[i] = q.rank(c.A[i])
		}
	}
	slices.SortFunc(q.Initial, q.before)
	return 0, nil
}

// hasRank says whether operations of a kind have a value, and hence a rank.
func hasRank(kind models.Kind) bool { return kind != models.DequeueAny && kind != models.DequeueEmpty }

// firstOf returns the first row with a value, 0 if only the initial state has it.
func firstOf(c *models.Columns, x int32) models.Row {
	for i, kind := range c.Kind {
		if hasRank(kind) && c.A[i] == x {
			return models.Row(i)
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
				q.ranks.Set(x, int32(len(q.begin)))
				continue
			}
		}
		q.begin = hugepages.Append(q.begin, int32(i))
		q.ranks.Set(x, int32(len(q.begin)))
	}
}

// rank returns the rank of a value, -1 if it has none.
func (q *priorityQueue) rank(x int32) int32 { return q.ranks.Of(x) - 1 }

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
	return cmp.Or(cmp.Compare(q.rank(y), q.rank(x)), cmp.Compare(x, y))
}

func (q *priorityQueue) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch op.Kind {
	case models.Enqueue:
		i, _ := slices.BinarySearchFunc(s, op.A, q.before)
		return append(dst, slices.Insert(slices.Clone(s), i, op.A))
	case models.DequeueEmpty:
		if len(s) == 0 {
			return append(dst, s)
		}
		return dst
	}
	for i, x := range s {
		switch {
		case q.rank(x) != q.rank(s[0]):
			return dst
		case i > 0 && x == s[i-1] || op.Kind != models.DequeueAny && x != op.A:
		case op.Kind == models.Peek:
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
func (q *priorityQueue) run(s models.State) models.Run {
	r := &priorityRun{q: q}
	for _, x := range s {
		r.put(x)
	}
	return r
}

type priorityRun struct {
	q     *priorityQueue
	count home.PerValue
	ranks home.GreatestFirst // each rank that has values, once
}

func (r *priorityRun) put(x int32) {
	if r.count.Add(x, 1) > 1 {
		return
	}
	if rank := r.q.rank(x); !r.hasOther(rank, x) {
		r.ranks.Push(rank)
	}
}

// take takes a value of the greatest rank.
func (r *priorityRun) take(x int32) {
	if r.count.Add(x, -1) > 0 {
		return
	}
	if !r.hasOther(r.ranks[0], x) {
		r.ranks.Pop()
	}
}

// hasOther says whether another value of a rank is in the queue.
func (r *priorityRun) hasOther(rank, x int32) bool {
	if len(r.q.begin) == len(r.q.ranked) {
		return false // each has a rank of its own
	}
	return slices.ContainsFunc(r.q.ofRank(rank), func(y int32) bool { return x != y && r.count.Of(y) > 0 })
}

func (r *priorityRun) Apply(op models.Op) models.Outcome {
	if op.Kind == models.Enqueue {
		r.put(op.A)
		return models.One
	}
	if len(r.ranks) == 0 {
		return models.OneIf(op.Kind == models.DequeueEmpty)
	}
	x := op.A
	switch {
	case op.Kind == models.DequeueAny:
		values := r.q.ofRank(r.ranks[0])
		x = values[slices.IndexFunc(values, func(y int32) bool { return r.count.Of(y) > 0 })]
		if r.hasOther(r.ranks[0], x) {
			return models.Several
		}
	case op.Kind == models.DequeueEmpty || op.B != r.ranks[0] || r.count.Of(x) == 0:
		return models.Impossible
	}
	if op.Kind != models.Peek {
		r.take(x)
	}
	return models.One
}

func (r *priorityRun) State() models.State {
	values := r.count.Values()
	keyed := hugepages.Make[radix.Keyed](len(values))
	for i, x := range values {
		keyed[i] = radix.Keyed{Key: uint64(math.MaxInt32-r.q.rank(x))<<32 | uint64(x), Number: x} // as before sorts
	}
	s := hugepages.Make[int32](len(values))[:0]
	for _, k := range radix.Sort(keyed) {
		for range r.count.Of(k.Number) {
			s = append(s, k.Number)
		}
	}
	return s
}

func (q *priorityQueue) Why(s models.State, op models.Op) string {
	if op.Kind == models.Dequeue && len(s) == 0 {
		return "can't dequeue " + home.Text(q.V, edn.ID(op.A)) + " from empty priority queue"
	}
	return q.Reason(s, op)
}

// absent says why an element cannot come out that no other one comes before.
func (q *priorityQueue) absent(s models.State, op models.Op) string {
	if len(s) > 0 && (op.Kind == models.Dequeue || op.Kind == models.Peek) {
		return q.Text(op.A) + " is not in the queue"
	}
	return q.Because(s, op, 0, "")
}

func (q *priorityQueue) Record(s models.State) edn.Value {
	return q.Print("items", q.Vector(s))
}
