package fastpath

import (
	"context"

	"clew/jepsen"
	"clew/models"
)

// Want says what a caller needs besides the verdict; wants are or-ed.
type Want uint8

// The wants.
const (
	WantVerdict Want = 0
	WantWitness Want = 1 << (iota - 1) // if valid, an order of linearization
	WantFailure                        // if invalid, where it fails first, a core, why, and an order up to there
)

// Rows that stand for no operation.
const (
	// Initial stands for the initial value, as if an operation had written it
	// before everything else.
	Initial models.Row = -1

	// Missing stands for an operation that never happened.
	Missing models.Row = -2
)

// Decision is a verdict and the evidence that was asked for. Operations are
// rows of the columns that were decided, and events are those of the same
// columns.
type Decision struct {
	// Verdict is Unknown if the history is not decided here.
	Verdict jepsen.Verdict

	// Reason is set if Verdict is Unknown, or if it is Invalid and FailEvent is
	// not known. Otherwise it is nil.
	Reason Ambiguity

	// Witness holds, if the history is valid, the operations in an order of
	// linearization. Operations that never returned are left out unless something
	// saw their effect.
	Witness []models.Row

	// FailEvent is the event of the first failing completion: the first
	// completion such that the history up to and including it is not
	// linearizable. In that prefix, operations that are still open may take
	// effect, with the value that they will return, or not. FailEvent is -1 if
	// it is not known: the history is not linearizable, but some prefix is
	// ambiguous. Even then the history up to BoundEvent is not linearizable.
	FailEvent, BoundEvent int32

	// Before is a witness, as Witness is, of the history up to just before
	// FailEvent. It is nil if FailEvent is not known.
	Before []models.Row

	// Core holds, in ascending order, operations that are not linearizable by
	// themselves, cut at FailEvent. No smaller choice of operations has this
	// property; the file of the data type says what a choice is. The core
	// contains the operation that fails. It is empty if FailEvent is not known.
	Core []models.Row

	// Why says what is wrong with the core. It is nil if only a search of all
	// orders showed that the core is wrong, which is rare: some value may have
	// been seen from several operations, and each possibility is wrong.
	Why Violation
}

// Undecided is the decision about a history that is ambiguous.
func Undecided(reason Ambiguity) Decision {
	return Decision{Reason: reason, FailEvent: -1, BoundEvent: -1}
}

// Path decides columns of one shape in near-linear time. It panics if the
// context stops it: callers use Decide.
type Path func(ctx context.Context, c *models.Columns, want Want) Decision

// Decide decides columns. If the context ends before it has finished, the
// reason is Stopped.
func (p Path) Decide(ctx context.Context, c *models.Columns, want Want) (d Decision) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case Stopped{}:
			d = Undecided(Stopped{})
		default:
			panic(p)
		}
	}()
	poll(ctx)
	return p(ctx, c, want)
}

// Family is a family of data types. It gives the path for a shape, or nil if the
// shape is not of the family. For a shape of the family that it does not decide
// it says why: "takes no initial contents".
type Family func(shape models.Shape) (path Path, refusal string)

// poll ends a decision that nobody is waiting for any more; see Path.Decide.
func poll(ctx context.Context) {
	if ctx.Err() != nil {
		panic(Stopped{})
	}
}
