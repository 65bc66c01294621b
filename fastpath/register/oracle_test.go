package register

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/fastpath/internal/testkit"
	"clew/jepsen"
	"clew/models"
)

// Plain definitions of what the evidence for a register must be.

func newOracle(c *models.Columns, init int32) *testkit.Oracle {
	return testkit.NewOracle(c, registerState(init), stepOfRegister)
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

type decider func(*models.Columns, int32, fastpath.Want) fastpath.Decision

func decideAsRegister(c *models.Columns, init int32, want fastpath.Want) fastpath.Decision {
	return testkit.Decide(Path, models.RegisterShape{Init: init}, c, want)
}

func decideAsCASRegister(c *models.Columns, init int32, want fastpath.Want) fastpath.Decision {
	return testkit.Decide(Path, models.RegisterShape{Init: init, CAS: true}, c, want)
}

// compare checks a decision and all its evidence against the oracle.
func compare(t *testing.T, n *testkit.Counts, decide decider, c *models.Columns, init int32) {
	t.Helper()
	o := newOracle(c, init)
	d := decide(c, init, fastpath.WantWitness|fastpath.WantFailure)
	n.Histories++
	if d.Verdict == jepsen.Unknown {
		n.Ambiguous++
		checkReason(t, c, init, d.Reason)
		return
	}
	want := o.FirstFailing()
	if (want < 0) != (d.Verdict == jepsen.Valid) {
		t.Fatalf("%v, first failing completion is %d\n%s", d.Verdict, want, show(c, init))
	}
	if d.Verdict == jepsen.Valid {
		n.Valid++
		if err := replay(c, init, d.Witness); err != nil {
			t.Fatalf("witness %v: %v\n%s", d.Witness, err, show(c, init))
		}
		return
	}
	n.Invalid++
	if d.BoundEvent < want {
		t.Fatalf("bound %d, first failing completion %d\n%s", d.BoundEvent, want, show(c, init))
	}
	if d.FailEvent < 0 {
		n.FailUnknown++
		checkReason(t, c, init, d.Reason)
		return
	}
	if d.FailEvent != want {
		t.Fatalf("first failing completion %d, not %d\n%s", want, d.FailEvent, show(c, init))
	}
	if err := replay(testkit.Cut(c, want-1), init, d.Before); err != nil {
		t.Fatalf("witness %v of what was before %d: %v\n%s", d.Before, want, err, show(c, init))
	}
	n.Failed(d.Core, d.Why)
	checkCore(t, o, d)
	checkWhy(t, c, d)
}

func checkReason(t *testing.T, c *models.Columns, init int32, reason fastpath.Ambiguity) {
	t.Helper()
	r, ok := reason.(*fastpath.Repeated)
	if !ok {
		t.Fatalf("ambiguous without a reason\n%s", show(c, init))
	}
	a, b := r.Producers[0], r.Producers[1]
	if a == b {
		t.Fatalf("reason %+v\n%s", r, show(c, init))
	}
	for _, p := range r.Producers {
		ok := p == fastpath.Initial && c.A[r.Reader] == init
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

func checkCore(t *testing.T, o *testkit.Oracle, d fastpath.Decision) {
	t.Helper()
	core := uint32(0)
	for _, i := range d.Core {
		core |= 1 << i
	}
	fail := int32(slices.Index(o.C.Res, d.FailEvent))
	problem := ""
	switch {
	case !slices.IsSorted(d.Core) || bits.OnesCount32(core) != len(d.Core):
		problem = "not ascending"
	case core>>fail&1 == 0:
		problem = "without the failing operation"
	case !closed(o.C, d.FailEvent, core):
		problem = "not closed"
	case o.Linearizable(d.FailEvent, core):
		problem = "linearizable"
	}
	for s := (core - 1) & core; s != 0 && problem == ""; s = (s - 1) & core {
		if closed(o.C, d.FailEvent, s) && !o.Linearizable(d.FailEvent, s) {
			problem = fmt.Sprintf("not minimal: %b", s)
		}
	}
	if problem != "" {
		t.Fatalf("core %v is %s, cut at %d\n%s", d.Core, problem, d.FailEvent, show(o.C, -9))
	}
}

// checkWhy checks what the violation claims about invocations and returns.
func checkWhy(t *testing.T, c *models.Columns, d fastpath.Decision) {
	t.Helper()
	ok := true
	before := func(a, b int32) bool { return c.Res[a] < c.Inv[b] }
	leaves := func(p int32) int32 {
		if c.Kind[p] == models.CAS {
			return c.B[p]
		}
		return c.A[p]
	}
	later := fastpath.Missing
	switch v := d.Why.(type) {
	case nil:
		return
	case *NeverWritten:
		later = v.Writer
		ok = later == fastpath.Missing || leaves(later) == c.A[v.Reader] && c.Inv[later] > d.FailEvent
	case *Overwritten:
		ok = before(v.Replacer, v.Reader) && (v.Writer == fastpath.Initial || before(v.Writer, v.Replacer) && leaves(v.Writer) == c.A[v.Reader])
	case *InitialLate:
		ok = before(v.Other, v.Late)
	case *Backwards:
		ok = before(v.Later, v.Earlier)
	case *Interleaved:
		ok = before(v.EarlyX, v.LateY) && before(v.EarlyY, v.LateX)
	case *ReplacedTwice:
		ok = v.First != v.Second && c.A[v.First] == c.A[v.Second] && (v.Writer == fastpath.Initial || leaves(v.Writer) == c.A[v.First])
	case *Circle:
		for k, o := range v.CAS {
			ok = ok && c.A[o] == c.B[v.CAS[(k+1)%len(v.CAS)]]
		}
	default:
		t.Fatalf("violation %T", v)
	}
	for _, o := range d.Why.Rows() {
		ok = ok && (*o == fastpath.Initial || *o == later || slices.Contains(d.Core, *o))
	}
	if !ok {
		t.Fatalf("core %v, violation %T%+v\n%s", d.Core, d.Why, d.Why, show(c, -9))
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
