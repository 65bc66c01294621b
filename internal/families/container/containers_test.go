package container

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/models"
)

// containerType returns a container for tests; fronts says which elements of a state can be
// removed. A state holds two numbers for each element, value and priority, in the order of adding.
func containerType(name string, shape models.Shape, fronts func(s string) []int) *testkit.Type {
	return &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, shape, c, want)
		},
		Spec: oracle.Spec{Step: func(dst []string, op models.Op, s string) []string {
			return stepOfContainer(dst, op, s, fronts)
		}},
		Closed:      closedContainer,
		Why:         whyHolds,
		Unexplained: true,
		Doubt:       repeated,
		Kinds:       []string{"add", "remove", "any", "empty", "peek", "drain", "drain-any"},
	}
}

var (
	queueKind = containerType("queue", models.FIFOShape{}, func(string) []int { return []int{0} })
	stackKind = containerType("stack", models.LIFOShape{}, func(s string) []int { return []int{len(s)/elementSize - 1} })
	heapKind  = containerType("priority queue", models.PriorityShape{}, func(s string) []int {
		var best []int
		for i := range len(s) / elementSize {
			if len(best) > 0 && priority(s, i) > priority(s, best[0]) {
				best = nil
			}
			if len(best) == 0 || priority(s, i) == priority(s, best[0]) {
				best = append(best, i)
			}
		}
		return best
	})
	allKinds = []*testkit.Type{queueKind, heapKind, stackKind}
)

const elementSize = 8 // bytes of a state

func priority(s string, i int) int32 { return oracle.Number(s, 2*i+1) }

func stepOfContainer(dst []string, op models.Op, s string, fronts func(s string) []int) []string {
	switch {
	case op.Kind == models.Enqueue:
		return append(dst, s+oracle.State(op.A, op.B))
	case op.Kind == models.DequeueEmpty:
		if s == "" {
			dst = append(dst, s)
		}
		return dst
	case s == "":
		return dst
	}
	for _, i := range fronts(s) {
		switch {
		case op.Kind != models.DequeueAny && oracle.Number(s, 2*i) != op.A:
		case op.Kind == models.Peek:
			return append(dst, s)
		default:
			dst = append(dst, s[:elementSize*i]+s[elementSize*(i+1):])
		}
	}
	return dst
}

// repeated reports whether a reason for ambiguity is true.
func repeated(c *models.Columns, reason *fastpath.Finding) bool {
	if !reason.Is(fastpath.Repeated) {
		return false
	}
	a, b, value := reason.Rows[1], reason.Rows[2], c.A[reason.Rows[0]]
	return a != b && c.Kind[a] == models.Enqueue && c.A[a] == value && c.Kind[b] == models.Enqueue && c.A[b] == value
}

// closedContainer says which choices are made of all operations of some values, of
// empty answers, and of all unknown removes.
func closedContainer(c *models.Columns, d fastpath.Decision) func(ops oracle.Set) bool {
	always, units := oracle.Set(0), map[int32]oracle.Set{} // by value, or less than 0
	for i := range int32(c.Len()) {
		switch {
		case c.Inv[i] > d.FailEvent:
		case c.Kind[i] == models.DequeueAny:
			always |= 1 << i
		case c.Kind[i] == models.DequeueEmpty:
			units[-1-i] = 1 << i
		default:
			units[c.A[i]] |= 1 << i
		}
	}
	return oracle.Unions(always, slices.Collect(maps.Values(units)))
}

// whyHolds checks what a violation claims.
func whyHolds(c *models.Columns, d fastpath.Decision) bool {
	before := func(a, b int32) bool { return b == fastpath.Missing || c.Res[a] < c.Inv[b] }
	rows := d.Why.Rows
	if slices.Contains(rows, fastpath.Initial) {
		return false
	}
	last := len(rows) - 1
	switch d.Why.Pattern {
	case fastpath.NeverAdded:
		taker, adder := rows[0], rows[1]
		return adder == fastpath.Missing || c.Kind[adder] == models.Enqueue && c.A[taker] == c.A[adder] && c.Inv[adder] > d.FailEvent
	case RemovedTwice:
		first, second, adder := rows[0], rows[1], rows[2]
		return first != second && c.Kind[first] == models.Dequeue && c.Kind[second] == models.Dequeue &&
			c.A[first] == c.A[second] && c.A[first] == c.A[adder] && c.Kind[adder] == models.Enqueue
	case SeenAfterRemoved:
		remove, peek := rows[0], rows[1]
		return c.Kind[peek] == models.Peek && c.A[remove] == c.A[peek] && before(remove, peek)
	case NotEmpty:
		return c.Kind[rows[last]] == models.DequeueEmpty && last > 0
	case Overtaken:
		for _, o := range rows[:last] {
			if c.B[o] <= c.B[rows[last]] {
				return false
			}
		}
		return last > 0
	case OutOfOrder:
		v, w, tookW, tookV := rows[0], rows[1], rows[2], rows[3]
		return before(v, w) && before(tookW, tookV) && c.A[w] == c.A[tookW] && c.A[v] != c.A[w] &&
			(tookV == fastpath.Missing || c.A[tookV] == c.A[v])
	case BothFirst:
		firstV, tookV, firstW, tookW := rows[0], rows[1], rows[2], rows[3]
		return before(firstV, tookV) && before(firstW, tookW) && c.A[firstV] != c.A[firstW]
	case Buried:
		below, above, took, tookAbove := rows[0], rows[1], rows[2], rows[3]
		return before(below, above) && before(took, tookAbove) && c.A[below] == c.A[took] && c.A[below] != c.A[above]
	}
	return false
}

// containerRun describes a history of a real container. Each operation takes
// effect at a random instant between its invocation and its completion.
type containerRun struct {
	ops, processes int
	adds, peeks    float64 // shares of the operations; the others are removes
	crash          float64 // share of operations that never return
	unknown        float64 // share of crashed removes whose value is unknown
	values         int32   // values added; 0: each once
	priorities     int32   // how many; 0: nearly each value has its own
	capUnknown     int
	order          func(v int32) int32
}

func (s containerRun) run(k *testkit.Type, rng *rand.Rand) *models.Columns {
	type process struct {
		op                     int32
		busy, applied, crashes bool
	}
	c := &models.Columns{}
	procs := make([]process, s.processes)
	busy := 0
	content := newReal(k)
	fresh, unknown := int32(0), 0
	for started := 0; ; {
		p := &procs[rng.IntN(s.processes)]
		switch {
		case !p.busy && started == s.ops:
			if busy == 0 {
				return c
			}
		case !p.busy:
			started++
			busy++
			*p = process{op: int32(c.Len()), busy: true, crashes: rng.Float64() < s.crash}
			op := models.Op{Kind: models.Dequeue}
			switch x := rng.Float64(); {
			case x < s.adds:
				op = models.Op{Kind: models.Enqueue, A: fresh}
				fresh++
				if s.values > 0 {
					op.A = rng.Int32N(s.values)
				}
				switch {
				case k != heapKind:
				case s.order != nil:
					op.B = s.order(op.A)
				case s.priorities > 0:
					op.B = op.A * 7 % s.priorities
				default:
					op.B = int32(uint64(op.A) * 2654435761 % uint64(s.ops))
				}
			case x < s.adds+s.peeks:
				op.Kind = models.Peek
			}
			c.Append(c.Events, models.Open, op)
			c.Events++
		case !p.applied:
			p.applied = true
			i := p.op
			left := p.crashes && rng.IntN(2) == 0 // it never takes effect
			if c.Kind[i] == models.Enqueue {
				if !left {
					content.add(c.A[i], c.B[i])
				}
				break
			}
			v, pri, ok := content.front()
			if !ok {
				c.Kind[i] = models.DequeueEmpty
				break
			}
			c.A[i], c.B[i] = v, pri
			if c.Kind[i] == models.Dequeue {
				if !left {
					content.remove()
				}
				if p.crashes && rng.Float64() < s.unknown && (s.capUnknown == 0 || unknown < s.capUnknown) {
					unknown++
					c.Kind[i], c.A[i], c.B[i] = models.DequeueAny, 0, 0
				}
			}
		default:
			p.busy = false
			busy--
			if !p.crashes {
				c.Res[p.op] = c.Events
			}
			c.Events++
		}
	}
}

// real is a sequential container.
type real struct {
	k    *testkit.Type
	list [][2]int32
	head int
}

func newReal(k *testkit.Type) *real { return &real{k: k} }

func (r *real) add(v, pri int32) {
	r.list = append(r.list, [2]int32{v, pri})
	if r.k != heapKind {
		return
	}
	for i := len(r.list) - 1; i > 0 && r.list[(i-1)/2][1] < r.list[i][1]; i = (i - 1) / 2 {
		r.list[i], r.list[(i-1)/2] = r.list[(i-1)/2], r.list[i]
	}
}

func (r *real) at() int {
	if r.k == stackKind {
		return len(r.list) - 1
	}
	return r.head
}

func (r *real) front() (v, pri int32, ok bool) {
	if len(r.list) == r.head {
		return 0, 0, false
	}
	x := r.list[r.at()]
	return x[0], x[1], true
}

func (r *real) remove() {
	switch r.k {
	case queueKind:
		r.head++
	case stackKind:
		r.list = r.list[:len(r.list)-1]
	default:
		last := len(r.list) - 1
		r.list[0] = r.list[last]
		r.list = r.list[:last]
		for i := 0; 2*i+1 < last; {
			j := 2*i + 1
			if j+1 < last && r.list[j+1][1] > r.list[j][1] {
				j++
			}
			if r.list[j][1] <= r.list[i][1] {
				break
			}
			r.list[i], r.list[j] = r.list[j], r.list[i]
			i = j
		}
	}
}

// smallContainer makes a random history. Half of these are runs, some with
// an operation spoiled. The others are arbitrary.
func smallContainer(k *testkit.Type, rng *rand.Rand) *models.Columns {
	s := containerRun{ops: 2 + rng.IntN(10), processes: 1 + rng.IntN(6), adds: 0.3 + 0.4*rng.Float64(),
		crash: max(0, 0.8*rng.Float64()-0.3), unknown: max(0, 1.5*rng.Float64()-0.5), capUnknown: 4}
	if rng.IntN(2) == 0 {
		s.peeks = rng.Float64() * (1 - s.adds)
	}
	if rng.IntN(6) == 0 {
		s.values = 2 + rng.Int32N(8)
	}
	s.priorities = 1 + rng.Int32N(5)
	c := s.run(k, rng)
	if rng.IntN(2) == 0 {
		if rng.IntN(2) == 0 {
			i := rng.IntN(c.Len())
			other := c.Op(rng.Int32N(int32(c.Len())))
			switch {
			case other.Kind == models.DequeueAny || c.Kind[i] == models.DequeueAny || c.Kind[i] == models.Enqueue:
			case other.Kind == models.DequeueEmpty:
				c.Kind[i], c.A[i], c.B[i] = models.DequeueEmpty, 0, 0
			default:
				c.A[i], c.B[i] = other.A, other.B
				if c.Kind[i] == models.DequeueEmpty {
					c.Kind[i] = models.Dequeue
				}
			}
		}
		return c
	}
	return scramble(c, rng, s.priorities)
}

// scramble gives the operations of a history other kinds and values. It
// mostly adds each value once and removes it once.
func scramble(c *models.Columns, rng *rand.Rand, priorities int32) *models.Columns {
	n := int32(0)
	var left []int32
	peeks := rng.IntN(2)
	empties := rng.IntN(12)
	for i := range c.Inv {
		op := models.Op{Kind: models.Enqueue, A: n}
		switch x := rng.IntN(10); {
		case x < 4 || n == 0 || len(left) == 0 && x < 7:
			left = append(left, n)
			n++
		case c.Res[i] == models.Open && rng.IntN(2) == 0:
			op = models.Op{Kind: models.DequeueAny}
		case rng.IntN(12) < empties-7:
			op = models.Op{Kind: models.DequeueEmpty}
		case x < 9-2*peeks:
			if len(left) > 0 && rng.IntN(40) > 0 {
				k := rng.IntN(len(left))
				op = models.Op{Kind: models.Dequeue, A: left[k]}
				left = slices.Delete(left, k, k+1)
			} else {
				op = models.Op{Kind: models.Dequeue, A: rng.Int32N(n)}
			}
		default:
			op = models.Op{Kind: models.Peek, A: rng.Int32N(n)}
		}
		c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, 0
	}
	// Permuting the values lets them be removed before they are added.
	perm := rng.Perm(int(n) + 1)
	some := rng.IntN(3) == 0
	for i, kind := range c.Kind {
		if !hasValue(kind) {
			continue
		}
		if some && kind != models.Enqueue {
			c.A[i] = int32(perm[c.A[i]])
		}
		c.B[i] = c.A[i] * 3 % priorities
	}
	return c
}

func TestRandomContainers(t *testing.T) {
	for _, k := range allKinds {
		t.Run(k.Name, func(t *testing.T) {
			randomContainers(t, k, testkit.Sample{Seed: 1, Full: 7000, Long: 1_000_000, Prefixes: 8, Make: func(rng *rand.Rand) *models.Columns {
				c := smallContainer(k, rng)
				if k != heapKind {
					clear(c.B)
				}
				return c
			}})
		})
	}
}

// randomContainers also counts the histories with unknown removes.
func randomContainers(t *testing.T, k *testkit.Type, s testkit.Sample) {
	t.Helper()
	unknown, make := 0, s.Make
	s.Make = func(rng *rand.Rand) *models.Columns {
		c := make(rng)
		if slices.Contains(c.Kind, models.DequeueAny) {
			unknown++
		}
		return c
	}
	k.Random(t, s)
	t.Log("with unknown removes:", unknown)
}
