package register

import (
	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/models"
)

// This file defines directly what the evidence for a register must be.

// registerType returns a register that begins with 0.
func registerType(name string, decide decider) *testkit.Type {
	return &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return decide(c, 0, want)
		},
		Spec:        oracle.Spec{Init: oracle.State(0), Step: stepOfRegister},
		Says:        func(op models.Op) bool { return op.Kind != models.Read },
		Closed:      closedRegister,
		Why:         whyHolds,
		Unexplained: true,
		Later: func(why *fastpath.Finding) models.Row {
			if why.Is(NeverWritten) {
				return why.Rows[1]
			}
			return fastpath.Missing
		},
		Doubt: func(c *models.Columns, reason *fastpath.Finding) bool { return repeated(c, 0, reason) },
		Seen:  func(next models.Op) bool { return next.Kind != models.Write },
		Kinds: []string{"read", "write", "cas"},
	}
}

var (
	asRegister    = registerType("register", decideAsRegister)
	asCASRegister = registerType("cas-register", decideAsCASRegister)
)

func stepOfRegister(dst []string, op models.Op, state string) []string {
	if next, ok := sequential(op.Kind, op.A, op.B, oracle.Number(state, 0)); ok {
		dst = append(dst, oracle.State(next))
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

// closedRegister says which choices of operations of the history up to the
// failure keep each one together with what it may have seen.
func closedRegister(c *models.Columns, d fastpath.Decision) func(ops oracle.Set) bool {
	needs := make([]oracle.Set, c.Len()) // by row: what it may have seen
	for i := range c.Len() {
		for p := range c.Len() {
			if c.Kind[i] != models.Write && p != i && maySee(c, d.FailEvent, i, p) {
				needs[i] |= 1 << p
			}
		}
	}
	return func(ops oracle.Set) bool {
		for i, need := range needs {
			if ops>>i&1 != 0 && need&^ops != 0 {
				return false
			}
		}
		return true
	}
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

type decider func(*models.Columns, int32, fastpath.Want) fastpath.Decision

func decideAsRegister(c *models.Columns, init int32, want fastpath.Want) fastpath.Decision {
	return testkit.Decide(Path, models.RegisterShape{Init: init}, c, want)
}

func decideAsCASRegister(c *models.Columns, init int32, want fastpath.Want) fastpath.Decision {
	return testkit.Decide(Path, models.RegisterShape{Init: init, CAS: true}, c, want)
}

// repeated reports whether a reason for ambiguity is true.
func repeated(c *models.Columns, init int32, reason *fastpath.Finding) bool {
	ok := reason.Is(fastpath.Repeated) && reason.Rows[1] != reason.Rows[2]
	if !ok {
		return false
	}
	reader := reason.Rows[0]
	for _, p := range reason.Rows[1:] {
		ok = ok && (p == fastpath.Initial && c.A[reader] == init || p >= 0 && maySeeAtAll(c, reader, p))
	}
	return ok
}

func maySeeAtAll(c *models.Columns, i, p int32) bool {
	v := c.A[p]
	if c.Kind[p] == models.CAS {
		v = c.B[p]
	}
	return c.Kind[p] != models.Read && v == c.A[i] && c.Inv[p] < c.Res[i]
}

// whyHolds checks what the violation claims about invocations and returns.
func whyHolds(c *models.Columns, d fastpath.Decision) bool {
	ok := true
	before := func(a, b int32) bool { return c.Res[a] < c.Inv[b] }
	leaves := func(p int32) int32 {
		if c.Kind[p] == models.CAS {
			return c.B[p]
		}
		return c.A[p]
	}
	switch v := d.Why.Rows; d.Why.Pattern {
	case NeverWritten:
		reader, writer := v[0], v[1]
		ok = writer == fastpath.Missing || leaves(writer) == c.A[reader] && c.Inv[writer] > d.FailEvent
	case Overwritten:
		reader, writer, replacer := v[0], v[1], v[2]
		ok = before(replacer, reader) && (writer == fastpath.Initial || before(writer, replacer) && leaves(writer) == c.A[reader])
	case InitialLate, Backwards:
		ok = before(v[0], v[1])
	case Replaced:
		ok = before(v[0], v[1]) && before(v[2], v[3])
	case ReplacedTwice:
		first, second, writer := v[0], v[1], v[2]
		ok = first != second && c.A[first] == c.A[second] && (writer == fastpath.Initial || leaves(writer) == c.A[first])
	case Circle:
		for k, o := range v {
			ok = ok && c.A[o] == c.B[v[(k+1)%len(v)]]
		}
	default:
		return false
	}
	return ok
}
