package fastpath

import (
	"context"

	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// Want says what a caller needs in addition to the verdict. Wants can be or-ed.
type Want uint8

// The wants.
const (
	WantVerdict Want = 0
	WantWitness Want = 1 << (iota - 1) // if valid, an order of linearization
	WantFailure                        // if invalid, where it fails first, a core, why, and an order up to there
)

// Rows that do not stand for an operation.
const (
	// Initial stands for the initial value, as if an operation had written it
	// before everything else.
	Initial models.Row = -1

	// Missing stands for an operation that never happened.
	Missing models.Row = -2
)

// Decision is a verdict with the evidence that was asked for. Its operations are rows
// of the columns that were decided, and its events are events of the same columns.
type Decision struct {
	// Verdict is Unknown if this package does not decide the history.
	Verdict jepsen.Verdict

	// Reason is set if Verdict is Unknown, or if it is Invalid and FailEvent is
	// unknown. Otherwise it is nil.
	Reason *Finding

	// Witness holds the operations of a valid history in an order of linearization.
	// It omits operations that never returned, unless something saw their effect.
	Witness []models.Row

	// FailEvent is the event of the first failing completion: the first completion
	// such that the history up to and including it is not linearizable. In that
	// prefix, operations that are still open may take effect, with the value that
	// they will return, or not. FailEvent is -1 if it is unknown because some prefix
	// is ambiguous. Even then the history up to BoundEvent is not linearizable.
	FailEvent, BoundEvent int32

	// Before is a witness like Witness, for the history up to just before
	// FailEvent, if one is wanted. It is nil if FailEvent is unknown.
	Before []models.Row

	// Core holds, in ascending order, operations that on their own, cut at
	// FailEvent, are not linearizable. No smaller choice of operations has this
	// property; the file of the data type says what a choice is. The core
	// contains the operation that fails. It is empty if FailEvent is unknown.
	Core []models.Row

	// Why says what is wrong with the core. It is nil in the rare case that
	// only a search of all orders showed this: some value may have been seen
	// from several operations, and each possibility is wrong.
	Why *Finding
}

// Undecided returns the decision about an ambiguous history.
func Undecided(reason *Finding) Decision {
	return Decision{Reason: reason, FailEvent: -1, BoundEvent: -1}
}

// Path decides columns of one shape in near-linear time. It panics if the
// context stops it, so callers use Decide.
type Path func(ctx context.Context, c *models.Columns, want Want) Decision

// PathOf returns the Path by which decide decides columns of a shape.
func PathOf[S models.Shape](shape S, decide func(ctx context.Context, c *models.Columns, shape S, want Want) Decision) Path {
	return func(ctx context.Context, c *models.Columns, want Want) Decision { return decide(ctx, c, shape, want) }
}

// Decide decides columns. If the context ends first, the reason is Stopped.
func (p Path) Decide(ctx context.Context, c *models.Columns, want Want) (d Decision) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case stop{}:
			d = Undecided(Stopped.Of())
		default:
			panic(p)
		}
	}()
	poll(ctx)
	return p(ctx, c, want)
}

// Family is a family of data types. It returns the path for a shape, or nil if
// the shape does not belong to the family. For a shape of the family that it
// does not decide it returns the reason, such as "takes no initial contents".
type Family func(shape models.Shape) (path Path, refusal string)

// stop is the panic that ends a decision.
type stop struct{}

// poll ends a decision that is no longer wanted; see Path.Decide.
func poll(ctx context.Context) {
	if limits.Over(ctx) {
		panic(stop{})
	}
}
