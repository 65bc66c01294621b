package fastpath

import "clew/models"

// Verdict is what a procedure found out.
type Verdict uint8

const (
	Ambiguous Verdict = iota // not decided here: see Decision.Reason
	Valid
	Invalid
)

func (v Verdict) String() string {
	return [...]string{"ambiguous", "valid", "invalid"}[v]
}

// Want says what a caller needs besides the verdict; wants are or-ed.
type Want uint8

const (
	WantVerdict Want = 0
	WantWitness Want = 1 << (iota - 1) // if valid, an order of linearization
	WantFailure                        // if invalid, where it fails first, a core, and why
)

// Initial stands where an operation's index is expected and means the initial
// value, as if an operation had written it before everything else.
const Initial int32 = -1

// Decision is a verdict and the evidence that was asked for. Operations are
// indices into the columns.
type Decision struct {
	Verdict Verdict

	// Reason is set if Verdict is Ambiguous, or Fail unknown.
	Reason Ambiguity

	// Witness holds the operations in an order of linearization. Operations
	// that never returned are left out unless something saw their effect.
	Witness []int32

	// Fail is the event of the first failing completion: the first completion
	// with which the history up to it is not linearizable, where operations
	// that are still open may take effect, with the value that they will
	// return, or not. It is -1 if it is not known: the history is not
	// linearizable, but some prefix is ambiguous. Even then the history up to
	// Bound is not linearizable.
	Fail, Bound int32

	// Core holds, in ascending order, operations that are not linearizable by
	// themselves, cut at Fail, while no smaller choice is: the file of the
	// type says what a choice is. It contains the operation that fails. It is
	// empty if Fail is not known.
	Core []int32

	// Why says what is wrong with the core.
	Why Explanation
}

// Cause is why a history is ambiguous.
type Cause uint8

const (
	NotAmbiguous Cause = iota
	Repeated           // Reader may have seen the value from more than one operation
	Unsupported        // Reader is an operation of a kind that is not handled here
	Branching          // Reader and others took values that are not known, in too many possible ways
	Stopped            // it was told to give up
)

// Ambiguity is why a procedure could not decide.
type Ambiguity struct {
	Cause     Cause
	Reader    int32    // the operation that saw Value
	Value     int32    // its id
	Producers [2]int32 // two of the operations that Reader may have seen; or Initial
}

// Pattern is the shape of a violation.
type Pattern uint8

const (
	// NoPattern: a search of all orders found none. It is rare: some value may
	// have been seen from several operations, and each way is wrong.
	NoPattern Pattern = iota

	// NeverWritten: Ops[0] saw a value that nothing had written when it
	// returned. If some operation wrote it later, Ops[1] is the first.
	NeverWritten

	// Overwritten: Ops[0] saw a value last written by Ops[1] (or Initial),
	// though Ops[2], which ran between them, had replaced it or saw another.
	Overwritten

	// InitialLate: Ops[1] belongs to the initial value: it saw it, or a value
	// that only cas operations had made of it. Yet Ops[0], which belongs to
	// another value, had returned before Ops[1] was invoked.
	InitialLate

	// Interleaved: the operations of one value X (with what cas operations
	// made of it) come all before or all after those of another value Y. But
	// Ops[0] of X had returned before Ops[1] of Y was invoked, and Ops[2] of Y
	// before Ops[3] of X was.
	Interleaved

	// Backwards: in a chain of cas, each replacing what the one before it left,
	// Ops[0] comes after Ops[1] (each a link, or a read of what a link left).
	// But Ops[0] had returned before Ops[1] was invoked.
	Backwards

	// ReplacedTwice: Ops[0] and Ops[1] are cas operations that both replaced
	// the one value that Ops[2] (or Initial) had written.
	ReplacedTwice

	// Circle: each operation of Ops is a cas that saw the value which only the
	// next one leaves, and the last saw that of the first: none can have begun.
	Circle

	// NeverAdded: Ops[0] took or saw a value that nothing had added when it
	// returned. If some operation added it later, Ops[1] is the first.
	NeverAdded

	// RemovedTwice: Ops[0] and Ops[1] both took the value that Ops[2] added, the
	// only one to do so.
	RemovedTwice

	// SeenAfterRemoved: Ops[1] saw a value first or on top, though Ops[0] had
	// taken it, and returned, before Ops[1] was invoked.
	SeenAfterRemoved

	// NotEmpty: Ops[0] found the container empty, but all the time that it ran
	// some of the values that Ops[1:] added were certainly inside.
	NotEmpty

	// OutOfOrder: Ops[0], which added a value V, or took or saw it, had returned
	// before Ops[1], the add of W, was invoked. Yet Ops[2] took W, or saw it
	// first in the queue, and had returned before Ops[3], which took V or saw it
	// first, was invoked. Ops[3] is Missing if nothing took V.
	OutOfOrder

	// BothFirst: Ops[0] had returned having seen V first in the queue, before
	// Ops[1] took V or saw it first; it is Missing if nothing took V. All that
	// time V was first. Likewise W, with Ops[2] and Ops[3]. But these times
	// overlap.
	BothFirst

	// Overtaken: Ops[0] took or saw a value, but all the time that it ran some
	// of the values of higher priority that Ops[1:] added were certainly inside.
	Overtaken

	// Buried: Ops[0], which added a value V, or took or saw it, had returned
	// before Ops[1], the add of W, was invoked. While Ops[2] ran, which took or
	// saw V, W was certainly inside, on top of V: Ops[3] is the operation that
	// took or saw W later, or Missing if W was never taken.
	Buried
)

// Missing stands in the Ops of an Explanation for an operation that never
// happened.
const Missing int32 = -1

// Explanation is a violation as data, for a sentence that names operations.
type Explanation struct {
	Pattern Pattern
	Ops     []int32
}

// result is what the decide of a type returns.
type result struct {
	verdict Verdict
	reason  Ambiguity   // ambiguous
	witness []int32     // valid and wanted
	keys    []int32     // invalid: operations that show it
	end     int32       // invalid: the history up to this event is invalid, too
	loose   bool        // invalid: end is likely far too late
	why     Explanation // invalid
}

// algorithm is what the shared machinery needs to know of a data type.
type algorithm struct {
	decide func(in input, witness bool) result
	needs  func(in input) needs
	// step is nil where decide does not find ambiguous in the small what it
	// decides in the large.
	step func(op models.Op, state int32) (int32, bool)
	// always says whether an operation belongs to every sub-history; nil: none does.
	always func(op models.Op) bool
	// explain explains a minimal core; nil: decide does.
	explain func(core input) Explanation
	// keysAreCore says that the keys are a core, and that decide explains them.
	keysAreCore bool
}

// needs appends to out the operations that a sub-history with operation o must
// contain, too.
type needs func(o int32, out []int32) []int32

// run decides a history and gathers the evidence that is wanted.
func (a *algorithm) run(c *models.Columns, init int32, want Want) (d Decision) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case stopped{}:
			d = Decision{Reason: Ambiguity{Cause: Stopped}, Fail: -1, Bound: -1}
		default:
			panic(p)
		}
	}()
	in := newInput(c, init)
	r := a.decide(in, want&WantWitness != 0)
	d = Decision{Verdict: r.verdict, Reason: r.reason, Witness: r.witness, Fail: -1, Bound: -1}
	if r.verdict == Invalid && want&WantFailure != 0 {
		a.failure(in, r, &d)
		d.Fail = in.original(d.Fail, c)
		d.Bound = in.original(d.Bound, c)
		if d.Why.Pattern == NeverWritten {
			d.Why.Ops = append(d.Why.Ops, laterProducer(c, c.A[d.Why.Ops[0]], d.Fail)...)
		}
		if d.Why.Pattern == NeverAdded {
			d.Why.Ops = append(d.Why.Ops, laterAdd(c, c.A[d.Why.Ops[0]], d.Fail)...)
		}
	}
	if d.Reason.Cause != NotAmbiguous {
		d.Reason.Value = c.A[d.Reason.Reader]
	}
	return d
}
