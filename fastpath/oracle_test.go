package fastpath

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"clew/models"
)

// The oracle: an exhaustive search (Wing and Gong), and plain definitions of
// what the evidence must be. It shares no code with the package.

// oracle says whether the history up to and including event t is linearizable,
// where what returns later is optional and keeps its value.
type oracle struct {
	c    *models.Columns
	init string
	next step
	seen map[position]bool
}

// step appends the states that an operation can lead to.
type step func(dst []string, op models.Op, state string) []string

// position is where a search stands: what it has linearized, and the state.
type position struct {
	done  uint32
	state string
}

func newOracle(c *models.Columns, init int32) *oracle {
	return &oracle{c, registerState(init), stepOfRegister, map[position]bool{}}
}

func registerState(value int32) string {
	return string(binary.LittleEndian.AppendUint32(nil, uint32(value)))
}

func stepOfRegister(dst []string, op models.Op, state string) []string {
	if next, ok := sequential(op.Kind, op.A, op.B, int32(binary.LittleEndian.Uint32([]byte(state)))); ok {
		dst = append(dst, registerState(next))
	}
	return dst
}

func (o *oracle) linearizable(t int32, ops uint32) bool {
	clear(o.seen)
	return o.search(t, ops, 0, o.init)
}

// search tries to linearize the operations of ops that are not in done.
func (o *oracle) search(t int32, ops, done uint32, state string) bool {
	due, must := int32(models.Open), false
	for x := ops &^ done; x != 0; x &= x - 1 {
		if res := o.c.Res[bits.TrailingZeros32(x)]; res <= t {
			due, must = min(due, res), true
		}
	}
	if !must {
		return true
	}
	key := position{done, state}
	if o.seen[key] {
		return false
	}
	o.seen[key] = true
	for x := ops &^ done; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		if o.c.Inv[i] > due || o.c.Inv[i] > t {
			continue
		}
		for _, next := range o.next(nil, o.c.Op(int32(i)), state) {
			if o.search(t, ops, done|1<<i, next) {
				return true
			}
		}
	}
	return false
}

func sequential(kind models.Kind, a, b, state int32) (int32, bool) {
	if kind == models.Write {
		return a, true
	}
	if a != state {
		return state, false
	}
	if kind == models.CAS {
		return b, true
	}
	return state, true
}

func all(c *models.Columns) uint32 { return 1<<c.Len() - 1 }

// firstFailing is the event of the first failing completion, or -1.
func (o *oracle) firstFailing() int32 {
	if o.linearizable(o.c.Events, all(o.c)) {
		return -1
	}
	ends := slices.Sorted(slices.Values(o.c.Res))
	for _, t := range ends {
		if t == models.Open || !o.linearizable(t, all(o.c)) {
			return t
		}
	}
	panic("not reached")
}

// closed says whether a choice of operations of the history up to t parts none
// from what it may have seen.
func closed(c *models.Columns, t int32, ops uint32) bool {
	for i := range c.Len() {
		if ops>>i&1 == 0 || c.Kind[i] == models.Write {
			continue
		}
		for p := range c.Len() {
			if ops>>p&1 == 0 && p != i && maySee(c, t, i, p) {
				return false
			}
		}
	}
	return true
}

func maySee(c *models.Columns, t int32, i, p int) bool {
	res := func(x int) int32 {
		if c.Res[x] > t {
			return models.Open
		}
		return c.Res[x]
	}
	leavesIt := func(x int) bool {
		return c.Inv[x] <= t && (c.Kind[x] == models.Write && c.A[x] == c.A[i] ||
			c.Kind[x] == models.CAS && c.B[x] == c.A[i] && c.A[x] != c.B[x])
	}
	if !leavesIt(p) || c.Inv[p] > res(i) {
		return false
	}
	for q := range c.Len() {
		if q != i && leavesIt(q) && res(p) < c.Inv[q] && res(q) < c.Inv[i] {
			return false
		}
	}
	return true
}

// replay checks a witness in linear time: every step is possible, no operation
// stands after one that was invoked after it had returned, and nothing that
// returned is missing. What never returned is there only if it was seen.
func replay(c *models.Columns, init int32, witness []int32) error {
	in := make([]bool, c.Len())
	state, ok, latest := init, true, int32(-1)
	for k, i := range witness {
		if in[i] {
			return fmt.Errorf("position %d: operation %d again", k, i)
		}
		in[i] = true
		if c.Res[i] < latest {
			return fmt.Errorf("position %d: operation %d had returned before an earlier one was invoked", k, i)
		}
		latest = max(latest, c.Inv[i])
		if c.Res[i] == models.Open && (k+1 == len(witness) || c.Kind[witness[k+1]] == models.Write) {
			return fmt.Errorf("position %d: operation %d never returned, nor did anything see it", k, i)
		}
		if state, ok = sequential(c.Kind[i], c.A[i], c.B[i], state); !ok {
			return fmt.Errorf("position %d: operation %d cannot happen in state %d", k, i, state)
		}
	}
	for i := range in {
		if !in[i] && c.Res[i] != models.Open {
			return fmt.Errorf("operation %d is missing", i)
		}
	}
	return nil
}

// counts is what a run of comparisons has seen.
type counts struct {
	histories, valid, invalid, ambiguous, failUnknown, unexplained int
	coreSize                                                       [17]int
	patterns                                                       [Buried + 1]int
}

func (n *counts) String() string {
	return fmt.Sprintf("%d histories: %d valid, %d invalid (%d without first failing completion, %d unexplained), %d ambiguous (%.1f%%); core sizes %v; patterns %v",
		n.histories, n.valid, n.invalid, n.failUnknown, n.unexplained, n.ambiguous,
		100*float64(n.ambiguous)/float64(max(1, n.histories)), n.coreSize, n.patterns)
}

type decider func(*models.Columns, int32, Want) Decision

// compare checks a decision and all its evidence against the oracle.
func (n *counts) compare(t *testing.T, decide decider, c *models.Columns, init int32) {
	t.Helper()
	o := newOracle(c, init)
	d := decide(c, init, WantWitness|WantFailure)
	n.histories++
	if d.Verdict == Ambiguous {
		n.ambiguous++
		if d.Reason.Cause != Repeated {
			t.Fatalf("ambiguous without a reason\n%s", show(c, init))
		}
		checkReason(t, c, init, d.Reason)
		return
	}
	want := o.firstFailing()
	if (want < 0) != (d.Verdict == Valid) {
		t.Fatalf("%v, first failing completion is %d\n%s", d.Verdict, want, show(c, init))
	}
	if d.Verdict == Valid {
		n.valid++
		if err := replay(c, init, d.Witness); err != nil {
			t.Fatalf("witness %v: %v\n%s", d.Witness, err, show(c, init))
		}
		return
	}
	n.invalid++
	if d.Bound < want {
		t.Fatalf("bound %d, first failing completion %d\n%s", d.Bound, want, show(c, init))
	}
	if d.Fail < 0 {
		n.failUnknown++
		checkReason(t, c, init, d.Reason)
		return
	}
	if d.Fail != want {
		t.Fatalf("first failing completion %d, not %d\n%s", want, d.Fail, show(c, init))
	}
	n.checkCore(t, o, d)
	n.checkWhy(t, c, d)
}

func checkReason(t *testing.T, c *models.Columns, init int32, r Ambiguity) {
	t.Helper()
	a, b := r.Producers[0], r.Producers[1]
	if a == b || c.A[r.Reader] != r.Value {
		t.Fatalf("reason %+v\n%s", r, show(c, init))
	}
	for _, p := range r.Producers {
		ok := p == Initial && r.Value == init
		if p >= 0 {
			ok = maySeeAtAll(c, r.Reader, p)
		}
		if !ok {
			t.Fatalf("reason %+v\n%s", r, show(c, init))
		}
	}
}

func maySeeAtAll(c *models.Columns, i, p int32) bool {
	v := c.A[p]
	if c.Kind[p] == models.CAS {
		v = c.B[p]
	}
	return c.Kind[p] != models.Read && v == c.A[i] && c.Inv[p] < c.Res[i]
}

func (n *counts) checkCore(t *testing.T, o *oracle, d Decision) {
	t.Helper()
	core := uint32(0)
	for _, i := range d.Core {
		core |= 1 << i
	}
	n.coreSize[min(16, len(d.Core))]++
	fail := int32(slices.Index(o.c.Res, d.Fail))
	problem := ""
	switch {
	case !slices.IsSorted(d.Core) || bits.OnesCount32(core) != len(d.Core):
		problem = "not ascending"
	case core>>fail&1 == 0:
		problem = "without the failing operation"
	case !closed(o.c, d.Fail, core):
		problem = "not closed"
	case o.linearizable(d.Fail, core):
		problem = "linearizable"
	}
	for s := (core - 1) & core; s != 0 && problem == ""; s = (s - 1) & core {
		if closed(o.c, d.Fail, s) && !o.linearizable(d.Fail, s) {
			problem = fmt.Sprintf("not minimal: %b", s)
		}
	}
	if problem != "" {
		t.Fatalf("core %v is %s, cut at %d\n%s", d.Core, problem, d.Fail, show(o.c, -9))
	}
}

// checkWhy checks what the pattern claims about invocations and returns.
func (n *counts) checkWhy(t *testing.T, c *models.Columns, d Decision) {
	t.Helper()
	ops := d.Why.Ops
	n.patterns[d.Why.Pattern]++
	ok := true
	before := func(a, b int32) bool { return c.Res[a] < c.Inv[b] }
	leaves := func(p int32) int32 {
		if c.Kind[p] == models.CAS {
			return c.B[p]
		}
		return c.A[p]
	}
	switch d.Why.Pattern {
	case NoPattern:
		n.unexplained++
	case NeverWritten:
		ok = len(ops) == 1 || leaves(ops[1]) == c.A[ops[0]] && c.Inv[ops[1]] > d.Fail
		ops = ops[:1]
	case Overwritten:
		ok = before(ops[2], ops[0]) && (ops[1] == Initial || before(ops[1], ops[2]) && leaves(ops[1]) == c.A[ops[0]])
	case InitialLate, Backwards:
		ok = before(ops[0], ops[1])
	case Interleaved:
		ok = before(ops[0], ops[1]) && before(ops[2], ops[3])
	case ReplacedTwice:
		ok = ops[0] != ops[1] && c.A[ops[0]] == c.A[ops[1]] && (ops[2] == Initial || leaves(ops[2]) == c.A[ops[0]])
	case Circle:
		for k, o := range ops {
			ok = ok && c.A[o] == c.B[ops[(k+1)%len(ops)]]
		}
	}
	for _, o := range ops {
		ok = ok && (o == Initial || slices.Contains(d.Core, o))
	}
	if !ok {
		t.Fatalf("core %v, explanation %+v\n%s", d.Core, d.Why, show(c, -9))
	}
}

// show prints a history for people.
func show(c *models.Columns, init int32) string {
	var s strings.Builder
	fmt.Fprintf(&s, "init %d, %d events\n", init, c.Events)
	for i := range c.Len() {
		res := fmt.Sprint(c.Res[i])
		if c.Res[i] == models.Open {
			res = "crashed"
		}
		fmt.Fprintf(&s, "%3d: %v %d %d [%d, %s]\n", i, [...]string{"read", "write", "cas"}[c.Kind[i]], c.A[i], c.B[i], c.Inv[i], res)
	}
	return s.String()
}
