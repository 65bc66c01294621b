package fastpath

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clew/models"
)

// sweepType is a data type that a sweep decides, for tests.
type sweepType struct {
	name   string
	decide func(c *models.Columns, want Want) Decision
	init   string
	next   step
	// completed and crashed are the operations that small histories consist of.
	completed, crashed []models.Op
	// opened is what a completed operation is in a prefix in which it is open;
	// nil: itself. keep is false where it says nothing then.
	opened func(c *models.Columns, op models.Op) models.Op
	// says is false for operations that say nothing while they are open.
	says func(op models.Op) bool
	// like is what an operation may turn out to have been when it happens.
	like func(op models.Op) []models.Op
	// owned: A is the process.
	owned bool
	// core says what is wrong with a core, given the history up to the failure.
	core func(k *sweepType, c *models.Columns, d Decision) string
}

func (k *sweepType) oracle(c *models.Columns) *oracle {
	return &oracle{c, k.init, k.next, map[position]bool{}}
}

func (k *sweepType) linearizable(c *models.Columns) bool {
	return k.oracle(c).linearizable(c.Events, all(c))
}

// cut is the history up to and including event t, as a model has it; rows are
// what it keeps.
func (k *sweepType) cut(c *models.Columns, t int32) (cut *models.Columns, rows []int32) {
	cut = &models.Columns{Events: t + 1}
	for i := range int32(c.Len()) {
		op, res := c.Op(i), c.Res[i]
		if c.Inv[i] > t {
			break
		}
		if res > t {
			if k.opened != nil && res != models.Open {
				op = k.opened(c, op)
			}
			res = models.Open
			if !k.says(op) {
				continue
			}
		}
		cut.Append(c.Inv[i], res, op)
		rows = append(rows, i)
	}
	return cut, rows
}

func (k *sweepType) firstFailing(c *models.Columns) int32 {
	if k.linearizable(c) {
		return -1
	}
	ends := slices.Sorted(slices.Values(c.Res))
	low, high := 0, len(ends) // the first failing one: prefixes of valid histories are valid
	for low < high {
		mid := (low + high) / 2
		if ends[mid] == models.Open {
			high = mid
			continue
		}
		if cut, _ := k.cut(c, ends[mid]); k.linearizable(cut) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return ends[low]
}

// replay checks a witness: every step is possible, no operation stands after
// one that was invoked after it had returned, nothing that returned is missing,
// and the last operation is one that returned.
func (k *sweepType) replay(c *models.Columns, witness []int32) error {
	in := make([]bool, c.Len())
	states, latest := []string{k.init}, int32(-1)
	for n, i := range witness {
		switch {
		case in[i]:
			return fmt.Errorf("position %d: operation %d again", n, i)
		case c.Res[i] < latest:
			return fmt.Errorf("position %d: operation %d had returned before an earlier one was invoked", n, i)
		}
		in[i] = true
		latest = max(latest, c.Inv[i])
		var after []string
		for _, s := range states {
			after = k.next(after, c.Op(i), s)
		}
		slices.Sort(after)
		if states = slices.Compact(after); len(states) == 0 {
			return fmt.Errorf("position %d: operation %d cannot happen", n, i)
		}
	}
	for i := range in {
		if !in[i] && c.Res[i] != models.Open {
			return fmt.Errorf("operation %d is missing", i)
		}
	}
	if n := len(witness); n > 0 && c.Res[witness[n-1]] == models.Open {
		return fmt.Errorf("the last operation never returned")
	}
	return nil
}

func showSweep(c *models.Columns) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d events\n", c.Events)
	for i := range c.Len() {
		res := fmt.Sprint(c.Res[i])
		if c.Res[i] == models.Open {
			res = "crashed"
		}
		fmt.Fprintf(&s, "%3d: kind %d, %d %d [%d, %s]\n", i, c.Kind[i], c.A[i], c.B[i], c.Inv[i], res)
	}
	return s.String()
}

// sweepCounts is what a run of comparisons has seen.
type sweepCounts struct {
	histories, valid, invalid, ambiguous, failUnknown, crashed int
	coreSize                                                   [9]int
	patterns                                                   map[Pattern]int
	causes                                                     map[Cause]int
}

func (n *sweepCounts) String() string {
	return fmt.Sprintf("%d histories: %d valid, %d invalid (%d without first failing completion), %d ambiguous %v, %d with a crash; core sizes %v; patterns %v",
		n.histories, n.valid, n.invalid, n.failUnknown, n.ambiguous, n.causes, n.crashed, n.coreSize, n.patterns)
}

// compare checks a decision and its evidence against the oracle.
func (n *sweepCounts) compare(t *testing.T, k *sweepType, c *models.Columns) Decision {
	t.Helper()
	if n.patterns == nil {
		n.patterns, n.causes = map[Pattern]int{}, map[Cause]int{}
	}
	before := showSweep(c)
	d := k.decide(c, WantWitness|WantFailure)
	if showSweep(c) != before {
		t.Fatalf("the decision changed the history\n%s", before)
	}
	n.histories++
	if slices.Contains(c.Res, models.Open) {
		n.crashed++
	}
	if d.Verdict == Ambiguous {
		n.ambiguous++
		n.causes[d.Reason.Cause]++
		if d.Reason.Cause == NotAmbiguous || d.Fail != -1 || int(d.Reason.Reader) >= c.Len() {
			t.Fatalf("ambiguous: %+v\n%s", d, showSweep(c))
		}
		return d
	}
	if v := k.decide(c, WantVerdict); v.Verdict != d.Verdict {
		t.Fatalf("%v, and %v if evidence is wanted\n%s", v.Verdict, d.Verdict, showSweep(c))
	}
	want := k.firstFailing(c)
	if (want < 0) != (d.Verdict == Valid) {
		t.Fatalf("%v, first failing completion is %d\n%s", d.Verdict, want, showSweep(c))
	}
	if d.Verdict == Valid {
		n.valid++
		if err := k.replay(c, d.Witness); err != nil {
			t.Fatalf("witness %v: %v\n%s", d.Witness, err, showSweep(c))
		}
		return d
	}
	n.invalid++
	if d.Bound < want {
		t.Fatalf("bound %d, first failing completion %d\n%s", d.Bound, want, showSweep(c))
	}
	if d.Fail < 0 {
		n.failUnknown++
		n.causes[d.Reason.Cause]++
		if d.Reason.Cause == NotAmbiguous {
			t.Fatalf("no reason: %+v\n%s", d, showSweep(c))
		}
		return d
	}
	if d.Fail != want {
		t.Fatalf("first failing completion %d, not %d\n%s", want, d.Fail, showSweep(c))
	}
	n.coreSize[min(len(n.coreSize)-1, len(d.Core))]++
	n.patterns[d.Why.Pattern]++
	fail := int32(slices.Index(c.Res, d.Fail))
	problem := ""
	core, rows := k.cut(c, d.Fail)
	core = rowsOf(core, rows, d.Core)
	switch {
	case !slices.IsSorted(d.Core) || len(slices.Compact(slices.Clone(d.Core))) != len(d.Core):
		problem = "not ascending"
	case !slices.Contains(d.Core, fail):
		problem = "without the failing operation"
	case core.Len() != len(d.Core):
		problem = "of operations that say nothing yet"
	case k.linearizable(core):
		problem = "linearizable"
	case d.Why.Pattern == NoPattern || len(d.Why.Ops) == 0:
		problem = "not explained"
	default:
		problem = k.core(k, c, d)
	}
	for _, i := range d.Why.Ops {
		if i != Missing && !slices.Contains(d.Core, i) && problem == "" && (d.Why.Pattern != NeverAdded || c.Inv[i] < d.Fail) {
			problem = "explained by others"
		}
	}
	if problem != "" {
		t.Fatalf("core %v is %s, cut at %d; %+v\n%s", d.Core, problem, d.Fail, d.Why, showSweep(c))
	}
	return d
}

// rowsOf is the columns of some operations; rows are those that cut has.
func rowsOf(cut *models.Columns, rows, ops []int32) *models.Columns {
	c := &models.Columns{Events: cut.Events}
	for at, i := range rows {
		if slices.Contains(ops, i) {
			c.Append(cut.Inv[at], cut.Res[at], cut.Op(int32(at)))
		}
	}
	return c
}

// prefixes decides every prefix that ends in a completion as a history of its
// own: where it is decided, it is decided rightly.
func (n *sweepCounts) prefixes(t *testing.T, k *sweepType, c *models.Columns) {
	t.Helper()
	fail := k.firstFailing(c)
	for _, end := range c.Res {
		if end == models.Open {
			continue
		}
		cut, _ := k.cut(c, end)
		if d := k.decide(cut, WantVerdict); d.Verdict != Ambiguous && (d.Verdict == Invalid) != (fail >= 0 && fail <= end) {
			t.Fatalf("up to %d: %v, first failing completion is %d\n%s", end, d.Verdict, fail, showSweep(c))
		}
	}
}

// random makes a history: half of the time a run of the type, which may be
// spoiled, else anything.
func (k *sweepType) random(rng *rand.Rand) *models.Columns {
	if rng.IntN(2) == 0 {
		c := k.run(rng, 2+rng.IntN(12), 1+rng.IntN(6), max(0, 0.8*rng.Float64()-0.3))
		if rng.IntN(2) == 0 && c.Len() > 0 {
			k.spoil(c, rng)
		}
		return c
	}
	return k.anything(rng, 1+rng.IntN(9))
}

func (k *sweepType) spoil(c *models.Columns, rng *rand.Rand) {
	i := rng.IntN(c.Len())
	from := k.completed
	if c.Res[i] == models.Open {
		from = k.crashed
	}
	op := from[rng.IntN(len(from))]
	if k.owned {
		op.A = c.A[i]
	}
	c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
}

// anything is a history of random operations in a random order.
func (k *sweepType) anything(rng *rand.Rand, ops int) *models.Columns {
	c := &models.Columns{}
	var open []int32
	wide := 1 + rng.IntN(4)
	crash := rng.IntN(3) == 0
	fresh := int32(100)
	owner := func() int32 { // a process that is not busy
		for {
			p := rng.Int32N(5)
			if rng.IntN(30) == 0 || !slices.ContainsFunc(open, func(i int32) bool { return c.A[i] == p }) {
				return p
			}
		}
	}
	for started := 0; started < ops || len(open) > 0; c.Events++ {
		if started < ops && len(open) < wide && (len(open) == 0 || rng.IntN(2) == 0) {
			started++
			op := k.completed[rng.IntN(len(k.completed))]
			crashes := crash && rng.IntN(3) == 0
			if crashes {
				op = k.crashed[rng.IntN(len(k.crashed))]
			}
			if k.owned {
				op.A = owner()
				if crashes && rng.IntN(2) == 0 {
					fresh++
					op.A = fresh
				}
			}
			if !crashes {
				open = append(open, int32(c.Len()))
			}
			c.Append(c.Events, models.Open, op)
			continue
		}
		n := rng.IntN(len(open))
		c.Res[open[n]] = c.Events
		open = slices.Delete(open, n, n+1)
	}
	return c
}

// run lets processes work on the type. Each operation happens at an instant; one
// that cannot happen waits, or crashes in the end.
func (k *sweepType) run(rng *rand.Rand, ops, processes int, crash float64) *models.Columns {
	type process struct {
		op      int32 // plus 1
		owner   int32
		happens bool
		waited  int
	}
	c := &models.Columns{}
	procs := make([]process, processes)
	fresh := int32(processes)
	for i := range procs {
		procs[i].owner = int32(i)
	}
	states := []string{k.init}
	for started, busy := 0, 0; started < ops || busy > 0; {
		p := &procs[rng.IntN(processes)]
		switch {
		case p.op == 0 && started < ops:
			started++
			busy++
			op := k.completed[rng.IntN(len(k.completed))]
			if k.owned {
				op.A = p.owner
			}
			p.op, p.happens, p.waited = int32(c.Len())+1, false, 0
			c.Append(c.Events, models.Open, op)
			c.Events++
		case p.op == 0:
		case !p.happens:
			op := c.Op(p.op - 1)
			ways := []models.Op{op}
			if k.like != nil {
				ways = append(ways, k.like(op)...)
			}
			way := -1
			var after []string
			for w := range ways {
				after = after[:0]
				for _, s := range states {
					after = k.next(after, ways[w], s)
				}
				if len(after) > 0 {
					way = w
					break
				}
			}
			crashes := rng.Float64() < crash
			if way < 0 {
				if p.waited++; p.waited < 8 {
					break
				}
				crashes = true
			} else if !crashes || rng.IntN(2) == 0 {
				states = append([]string{}, after[rng.IntN(len(after))])
				op = ways[way]
			}
			i := p.op - 1
			p.happens = true
			if crashes {
				lost := k.crashed[rng.IntN(len(k.crashed))]
				if slices.Contains(k.crashed, withoutOwner(op, k.owned)) {
					lost = op
				} else if k.owned {
					lost.A = op.A
				}
				op = lost
				p.op = 0
				busy--
				if fresh++; crash == 0 || rng.IntN(20) > 0 {
					p.owner = fresh
				}
			}
			c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
		default:
			c.Res[p.op-1] = c.Events
			c.Events++
			p.op = 0
			busy--
		}
	}
	return c
}

func withoutOwner(op models.Op, owned bool) models.Op {
	if owned {
		op.A = 0
	}
	return op
}

func everySweep(t *testing.T, k *sweepType, n int, ops func(open bool) []models.Op) {
	var counted sweepCounts
	shapes(n, func(inv, res []int32) {
		c := &models.Columns{Events: 2 * int32(n)}
		var add func(i int)
		add = func(i int) {
			if i == n {
				counted.compare(t, k, c)
				return
			}
			for _, op := range ops(res[i] == models.Open) {
				c.Append(inv[i], res[i], op)
				add(i + 1)
				c.Inv, c.Res, c.Kind, c.A, c.B = c.Inv[:i], c.Res[:i], c.Kind[:i], c.A[:i], c.B[:i]
			}
		}
		add(0)
	})
	t.Log(&counted)
}

func (k *sweepType) alphabet(open bool) []models.Op {
	if open {
		return k.crashed
	}
	return k.completed
}

func randomSweep(t *testing.T, types ...*sweepType) {
	histories := 20_000
	if long {
		histories = 1_000_000
	}
	for _, k := range types {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			var n sweepCounts
			for range histories {
				c := k.random(rng)
				n.compare(t, k, c)
				if rng.IntN(8) == 0 {
					n.prefixes(t, k, c)
				}
			}
			t.Log(&n)
		})
	}
}

// wholeHistory is the core of locks: all operations invoked up to the failure.
func wholeHistory(_ *sweepType, c *models.Columns, d Decision) string {
	for i := range int32(c.Len()) {
		if slices.Contains(d.Core, i) != (c.Inv[i] < d.Fail) {
			return "not the history up to the failure"
		}
	}
	return ""
}

func ops(kinds []models.Kind, values ...int32) []models.Op {
	var list []models.Op
	for _, kind := range kinds {
		for _, v := range values {
			list = append(list, models.Op{Kind: kind, A: v})
		}
	}
	return list
}

func maskOf(rows []int32) uint32 {
	m := uint32(0)
	for _, i := range rows {
		m |= 1 << i
	}
	return m
}
