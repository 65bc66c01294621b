package testkit

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// Type is a data type that a sweep decides, for tests.
type Type struct {
	Name   string
	Decide func(c *models.Columns, want fastpath.Want) fastpath.Decision
	Init   string
	Next   Step
	// Completed and Crashed are the operations that small histories consist of.
	Completed, Crashed []models.Op
	// Opened is what a completed operation is in a prefix in which it is open;
	// nil: itself.
	Opened func(c *models.Columns, op models.Op) models.Op
	// Says is false for operations that say nothing while they are open.
	Says func(op models.Op) bool
	// Like is the operations that an operation may turn out to have been when
	// it happens.
	Like func(op models.Op) []models.Op
	// Owned: A is the process.
	Owned bool
	// Numbered says whether the A of an operation could be any other number
	// just as well.
	Numbered func(op models.Op) bool
	// Core says what is wrong with a core, given the history up to the failure.
	Core func(k *Type, c *models.Columns, d fastpath.Decision) string
}

func (k *Type) oracle(c *models.Columns) *Oracle { return NewOracle(c, k.Init, k.Next) }

// Linearizable says whether a history is linearizable.
func (k *Type) Linearizable(c *models.Columns) bool {
	return k.oracle(c).Linearizable(c.Events, All(c))
}

// Cut is the history up to and including event t, as a model reads it; rows are
// the operations that it keeps.
func (k *Type) Cut(c *models.Columns, t int32) (cut *models.Columns, rows []int32) {
	cut = &models.Columns{Events: t + 1}
	for i := range int32(c.Len()) {
		op, res := c.Op(i), c.Res[i]
		if c.Inv[i] > t {
			break
		}
		if res > t {
			if k.Opened != nil && res != models.Open {
				op = k.Opened(c, op)
			}
			res = models.Open
			if !k.Says(op) {
				continue
			}
		}
		cut.Append(c.Inv[i], res, op)
		rows = append(rows, i)
	}
	return cut, rows
}

func (k *Type) firstFailing(c *models.Columns) int32 {
	if k.Linearizable(c) {
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
		if cut, _ := k.Cut(c, ends[mid]); k.Linearizable(cut) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return ends[low]
}

// Replay checks a witness: every step is possible, no operation stands after
// one that was invoked after it had returned, nothing that returned is missing,
// and the last operation is one that returned.
func (k *Type) Replay(c *models.Columns, witness []int32) error {
	in := make([]bool, c.Len())
	states, latest := []string{k.Init}, int32(-1)
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
			after = k.Next(after, c.Op(i), s)
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

// Show prints a history for people.
func Show(c *models.Columns) string {
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

// Compare checks a decision and its evidence against the oracle.
func (k *Type) Compare(t *testing.T, n *Counts, c *models.Columns) fastpath.Decision {
	t.Helper()
	before := Show(c)
	d := k.Decide(c, fastpath.WantWitness|fastpath.WantFailure)
	if Show(c) != before {
		t.Fatalf("the decision changed the history\n%s", before)
	}
	n.Histories++
	if slices.Contains(c.Res, models.Open) {
		n.Crashed++
	}
	if d.Verdict == jepsen.Unknown {
		n.Ambiguous++
		if d.Reason == nil || d.FailEvent != -1 {
			t.Fatalf("ambiguous: %+v\n%s", d, Show(c))
		}
		n.Undecided(d.Reason)
		for _, row := range d.Reason.Rows() {
			if int(*row) >= c.Len() {
				t.Fatalf("ambiguous: %+v\n%s", d.Reason, Show(c))
			}
		}
		return d
	}
	if v := k.Decide(c, fastpath.WantVerdict); v.Verdict != d.Verdict {
		t.Fatalf("%v, and %v if evidence is wanted\n%s", v.Verdict, d.Verdict, Show(c))
	}
	want := k.firstFailing(c)
	if (want < 0) != (d.Verdict == jepsen.Valid) {
		t.Fatalf("%v, first failing completion is %d\n%s", d.Verdict, want, Show(c))
	}
	if d.Verdict == jepsen.Valid {
		n.Valid++
		if err := k.Replay(c, d.Witness); err != nil {
			t.Fatalf("witness %v: %v\n%s", d.Witness, err, Show(c))
		}
		return d
	}
	n.Invalid++
	if d.BoundEvent < want {
		t.Fatalf("bound %d, first failing completion %d\n%s", d.BoundEvent, want, Show(c))
	}
	if d.FailEvent < 0 {
		n.FailUnknown++
		if d.Reason == nil {
			t.Fatalf("no reason: %+v\n%s", d, Show(c))
		}
		n.Undecided(d.Reason)
		return d
	}
	if d.FailEvent != want {
		t.Fatalf("first failing completion %d, not %d\n%s", want, d.FailEvent, Show(c))
	}
	n.Failed(d.Core, d.Why)
	if err := k.Replay(k.before(c, d)); err != nil {
		t.Fatalf("witness %v of what was before %d: %v\n%s", d.Before, d.FailEvent, err, Show(c))
	}
	if problem := k.problem(c, d); problem != "" {
		t.Fatalf("core %v is %s, cut at %d; %+v\n%s", d.Core, problem, d.FailEvent, d.Why, Show(c))
	}
	return d
}

// problem says what is wrong with a core or its violation, or "".
func (k *Type) problem(c *models.Columns, d fastpath.Decision) string {
	fail := int32(slices.Index(c.Res, d.FailEvent))
	core, rows := k.Cut(c, d.FailEvent)
	core = RowsOf(core, rows, d.Core)
	switch {
	case !slices.IsSorted(d.Core) || len(slices.Compact(slices.Clone(d.Core))) != len(d.Core):
		return "not ascending"
	case !slices.Contains(d.Core, fail):
		return "without the failing operation"
	case core.Len() != len(d.Core):
		return "of operations that say nothing yet"
	case k.Linearizable(core):
		return "linearizable"
	case d.Why == nil || len(d.Why.Rows()) == 0:
		return "not explained"
	}
	if problem := k.Core(k, c, d); problem != "" {
		return problem
	}
	_, never := d.Why.(*fastpath.NeverAdded)
	for _, row := range d.Why.Rows() {
		if i := *row; i >= 0 && !slices.Contains(d.Core, i) && (!never || c.Inv[i] < d.FailEvent) {
			return "explained by others"
		}
	}
	return ""
}

// before is the history up to just before the failure, and the decision's
// witness of it, as rows of that history.
func (k *Type) before(c *models.Columns, d fastpath.Decision) (cut *models.Columns, witness []int32) {
	cut, rows := k.Cut(c, d.FailEvent-1)
	for _, row := range d.Before {
		witness = append(witness, int32(slices.Index(rows, row)))
	}
	return cut, witness
}

// RowsOf is the columns of some operations; rows are the operations that cut
// holds.
func RowsOf(cut *models.Columns, rows, ops []int32) *models.Columns {
	c := &models.Columns{Events: cut.Events}
	for at, i := range rows {
		if slices.Contains(ops, i) {
			c.Append(cut.Inv[at], cut.Res[at], cut.Op(int32(at)))
		}
	}
	return c
}

// prefixes decides every prefix that ends in a completion as a history of its
// own. If a prefix is decided, the decision must be right.
func (k *Type) prefixes(t *testing.T, c *models.Columns) {
	t.Helper()
	fail := k.firstFailing(c)
	for _, end := range c.Res {
		if end == models.Open {
			continue
		}
		cut, _ := k.Cut(c, end)
		if d := k.Decide(cut, fastpath.WantVerdict); d.Verdict != jepsen.Unknown && (d.Verdict == jepsen.Invalid) != (fail >= 0 && fail <= end) {
			t.Fatalf("up to %d: %v, first failing completion is %d\n%s", end, d.Verdict, fail, Show(c))
		}
	}
}

// Random makes a history: half of the time a run of the data type, which may be
// spoiled, otherwise anything.
func (k *Type) Random(rng *rand.Rand) *models.Columns {
	if rng.IntN(2) == 0 {
		c := k.Run(rng, 2+rng.IntN(12), 1+rng.IntN(6), max(0, 0.8*rng.Float64()-0.3))
		if rng.IntN(2) == 0 && c.Len() > 0 {
			k.Spoil(c, rng)
		}
		return c
	}
	return k.anything(rng, 1+rng.IntN(9))
}

// Spoil changes one operation.
func (k *Type) Spoil(c *models.Columns, rng *rand.Rand) {
	i := rng.IntN(c.Len())
	from := k.Completed
	if c.Res[i] == models.Open {
		from = k.Crashed
	}
	op := from[rng.IntN(len(from))]
	if k.Owned {
		op.A = c.A[i]
	}
	c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
}

// anything is a history of random operations in a random order.
func (k *Type) anything(rng *rand.Rand, ops int) *models.Columns {
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
			op := k.Completed[rng.IntN(len(k.Completed))]
			crashes := crash && rng.IntN(3) == 0
			if crashes {
				op = k.Crashed[rng.IntN(len(k.Crashed))]
			}
			if k.Owned {
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

// Run lets processes work on the data type. Each operation happens at one
// instant; an operation that cannot happen waits, and may crash in the end.
func (k *Type) Run(rng *rand.Rand, ops, processes int, crash float64) *models.Columns {
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
	states := []string{k.Init}
	for started, busy := 0, 0; started < ops || busy > 0; {
		p := &procs[rng.IntN(processes)]
		switch {
		case p.op == 0 && started < ops:
			started++
			busy++
			op := k.Completed[rng.IntN(len(k.Completed))]
			if k.Owned {
				op.A = p.owner
			}
			p.op, p.happens, p.waited = int32(c.Len())+1, false, 0
			c.Append(c.Events, models.Open, op)
			c.Events++
		case p.op == 0:
		case !p.happens:
			op := c.Op(p.op - 1)
			way, after := k.happen(op, states)
			crashes := rng.Float64() < crash
			if len(after) == 0 {
				if p.waited++; p.waited < 8 {
					break
				}
				crashes = true
			} else if !crashes || rng.IntN(2) == 0 {
				states = append([]string{}, after[rng.IntN(len(after))])
				op = way
			}
			i := p.op - 1
			p.happens = true
			if crashes {
				lost := k.Crashed[rng.IntN(len(k.Crashed))]
				if slices.Contains(k.Crashed, withoutOwner(op, k.Owned)) {
					lost = op
				} else if k.Owned {
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

// happen is what an operation turns out to have been if it happens in one of
// some states, and the states after it. If it cannot happen, there are no such
// states.
func (k *Type) happen(op models.Op, states []string) (way models.Op, after []string) {
	ways := []models.Op{op}
	if k.Like != nil {
		ways = append(ways, k.Like(op)...)
	}
	for _, way := range ways {
		for _, s := range states {
			after = k.Next(after, way, s)
		}
		if len(after) > 0 {
			return way, after
		}
	}
	return op, nil
}

func withoutOwner(op models.Op, owned bool) models.Op {
	if owned {
		op.A = 0
	}
	return op
}

// Every compares every history of n operations.
func (k *Type) Every(t *testing.T, n int, ops func(open bool) []models.Op) {
	var counted Counts
	Shapes(n, func(inv, res []int32) {
		c := &models.Columns{Events: 2 * int32(n)}
		var add func(i int)
		add = func(i int) {
			if i == n {
				k.Compare(t, &counted, c)
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

// Alphabet is the operations that crashed, or that completed.
func (k *Type) Alphabet(open bool) []models.Op {
	if open {
		return k.Crashed
	}
	return k.Completed
}

// RandomHistories compares random histories of some types.
func RandomHistories(t *testing.T, types ...*Type) {
	histories := 20_000
	if Long {
		histories = 1_000_000
	}
	for _, k := range types {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			var n Counts
			for range histories {
				c := k.Random(rng)
				k.Compare(t, &n, c)
				if rng.IntN(8) == 0 {
					k.prefixes(t, c)
				}
			}
			t.Log(&n)
		})
	}
}

// WholeHistory is the core of locks: all operations invoked up to the failure.
func WholeHistory(_ *Type, c *models.Columns, d fastpath.Decision) string {
	for i := range int32(c.Len()) {
		if slices.Contains(d.Core, i) != (c.Inv[i] < d.FailEvent) {
			return "not the history up to the failure"
		}
	}
	return ""
}

// Ops are operations of the given kinds, each kind with each of the values.
func Ops(kinds []models.Kind, values ...int32) []models.Op {
	var list []models.Op
	for _, kind := range kinds {
		for _, v := range values {
			list = append(list, models.Op{Kind: kind, A: v})
		}
	}
	return list
}

// Row is an operation for cases: kind, A, B, invocation and return.
type Row struct {
	Kind     models.Kind
	A, B     int32
	Inv, Res int32
}

// At makes a Row.
func At(kind models.Kind, a, b, inv, res int32) Row { return Row{kind, a, b, inv, res} }

// Columns makes columns of rows.
func Columns(rows ...Row) *models.Columns {
	c := &models.Columns{}
	for _, r := range rows {
		c.Append(r.Inv, r.Res, models.Op{Kind: r.Kind, A: r.A, B: r.B})
		c.Events = max(c.Events, r.Inv+1)
		if r.Res != models.Open {
			c.Events = max(c.Events, r.Res+1)
		}
	}
	return c
}

// Expect compares a decision with what a case says. why may be nil.
func Expect(t *testing.T, d fastpath.Decision, verdict jepsen.Verdict, fail int32, core []int32, why fastpath.Violation) {
	t.Helper()
	if d.Verdict != verdict || d.FailEvent != fail || !slices.Equal(d.Core, core) || !reflect.DeepEqual(d.Why, why) {
		t.Errorf("%+v: %T%+v", d, d.Why, d.Why)
	}
	if verdict == jepsen.Unknown && d.Reason == nil {
		t.Error("no reason")
	}
}

// sparse is a history with gaps between its events.
func sparse(c *models.Columns, factor int32) *models.Columns {
	wide := &models.Columns{Events: c.Events * factor}
	for i := range int32(c.Len()) {
		res := c.Res[i]
		if res != models.Open {
			res *= factor
		}
		wide.Append(c.Inv[i]*factor, res, c.Op(i))
	}
	return wide
}

// GapsDoNotMatter decides histories whose events are sparse, and whose values
// are too if they are mere numbers.
func GapsDoNotMatter(t *testing.T, types ...*Type) {
	const factor, step = 1000, 1_000_003
	for _, k := range types {
		t.Run(k.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			for range 2000 {
				c := k.Random(rng)
				d := k.Decide(c, fastpath.WantWitness|fastpath.WantFailure)
				wide := sparse(c, factor)
				for i := range wide.A {
					if k.Owned || k.Numbered != nil && k.Numbered(wide.Op(int32(i))) {
						wide.A[i] = wide.A[i]*step + 5
					}
				}
				w := k.Decide(wide, fastpath.WantWitness|fastpath.WantFailure)
				if w.FailEvent >= 0 {
					w.FailEvent /= factor
				}
				if w.Verdict != d.Verdict || w.FailEvent != d.FailEvent || !slices.Equal(w.Witness, d.Witness) || !slices.Equal(w.Before, d.Before) || !slices.Equal(w.Core, d.Core) {
					t.Fatalf("%+v, sparse %+v\n%s", d, w, Show(c))
				}
			}
		})
	}
}

// LongHistories checks the evidence for long histories, half of them spoiled: a
// witness replays, and the history just before the first failing completion has
// a witness. There is no oracle for them.
func LongHistories(t *testing.T, types ...*Type) {
	histories := 30
	if Long {
		histories = 1000
	}
	for _, k := range types {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, 8))
			valid, invalid := 0, 0
			for range histories {
				c := k.Run(rng, 200+rng.IntN(1000), 1<<rng.IntN(6), 0)
				if rng.IntN(2) == 0 {
					k.Spoil(c, rng)
				}
				d := k.Decide(c, fastpath.WantWitness|fastpath.WantFailure)
				switch {
				case d.Verdict == jepsen.Valid:
					valid++
				case d.Verdict == jepsen.Invalid && d.FailEvent >= 0:
					invalid++
					if core, rows := k.Cut(c, d.FailEvent); k.Decide(RowsOf(core, rows, d.Core), fastpath.WantVerdict).Verdict == jepsen.Valid {
						t.Fatalf("core %v is linearizable\n%s", d.Core, Show(c))
					}
					cut, before := k.before(c, d)
					if err := k.Replay(cut, before); err != nil && !slices.Contains(cut.Kind, models.DequeueAny) {
						t.Fatal(err)
					}
					c = cut
					if d = k.Decide(c, fastpath.WantWitness); d.Verdict != jepsen.Valid {
						t.Fatalf("%v just before the first failing completion", d.Verdict)
					}
				default:
					continue
				}
				if err := k.Replay(c, d.Witness); err != nil && !slices.Contains(c.Kind, models.DequeueAny) {
					t.Fatal(err)
				}
			}
			t.Logf("%d valid, %d invalid", valid, invalid)
		})
	}
}
