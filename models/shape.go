package models

// Shape is what a near-linear decision needs to know about a model besides the columns of
// its operations. It is the family of data types that the model belongs to, with its
// parameters. Package fastpath uses the shape and does not know any model by name.
//
// A model with a Shape promises that its kinds are those that the shape names.
type Shape interface{ shape() }

// ShapeOf returns a model's shape if it is of type S.
func ShapeOf[S Shape](m Model) (shape S, ok bool) {
	if of := m.Traits().Shape; of != nil {
		shape, ok = of().(S)
	}
	return shape, ok
}

// The shapes. The comment of each names the kinds of its operations.
type (
	// RegisterShape is one value: Read, Write, and also CAS if CAS is set. A FailedCAS fits
	// no near-linear decision.
	RegisterShape struct {
		Init int32 // the initial value class
		CAS  bool
	}

	// FIFOShape, LIFOShape and PriorityShape are containers of unique values: Enqueue,
	// Dequeue, DequeueAny, DequeueEmpty, Peek. B is the priority. A FIFOShape also has
	// Drain, whose A is a place in Drains, and DrainAny, and Size if Sizes is set. Sizes fit
	// no near-linear decision.
	FIFOShape struct {
		Init   []int32
		Drains [][]int32
		Sizes  bool
	}
	LIFOShape     struct{ Init []int32 }
	PriorityShape struct{ Init []int32 }

	// BagShape hands out its elements in any order. Its kinds are those of containers
	// without Peek.
	BagShape struct{ Init []int32 }

	// LookupSetShape is a set that is asked element by element: Insert to HasNot.
	LookupSetShape struct{ Init []int32 }

	// GrowSetShape is a set that only grows and is read as a whole: Add, ReadSet,
	// ReadNoSet. The A of a ReadSet is a place in Sets.
	GrowSetShape struct {
		Init []int32
		Sets []State
	}

	// SemaphoreShape is permits without owners: Acquire and Release of B permits. Held of
	// them are held initially. A mutex is one permit, and its B is 0.
	SemaphoreShape struct {
		Held, Permits int32
		Counted       bool // B is how many permits; otherwise it says nothing
	}

	// OwnerLockShape is a lock or semaphore that only the owner that holds it gives back:
	// Acquire and Release. A is the owner, and B is the number of permits. Holds is how
	// many permits one owner may hold (0: all that there are). Permits is how many all
	// owners may hold together (0: one owner at a time, and any number).
	OwnerLockShape struct{ Holds, Permits int32 }

	// FencedLockShape is a lock with an owner and growing fences: Acquire and Release; A is
	// the owner, B the fence.
	FencedLockShape struct{ Holds int32 }

	// VersionsShape is a register that counts its updates: Read, Write, CAS. A is the
	// version plus 1, or 0 if it is not known, and B is an index into Args.
	VersionsShape struct {
		First, Value int32 // initial version and value
		Nil          int32 // the value that says nothing
		Args         [][2]int32
	}

	// CounterShape is a number that is added to: Plus, Total, PlusTotal. The B of those
	// that show a number is a place in Totals.
	CounterShape struct {
		Init   int64
		Totals []int64
	}

	// IDsShape gives out ids: Generate. No two are the same, and none is one of Given, which
	// are sorted. If they grow, B is a place in Numbers, and each number is greater
	// than those before it.
	IDsShape struct {
		Growing bool
		Numbers []int64
		Given   []int32
	}

	// LogShape is a list that is appended to: AppendTo to ReadLog. The A of a ReadLog is a
	// place in Lists.
	LogShape struct {
		Init  []int32
		Lists [][]int32
	}
)

func (RegisterShape) shape()   {}
func (FIFOShape) shape()       {}
func (LIFOShape) shape()       {}
func (PriorityShape) shape()   {}
func (BagShape) shape()        {}
func (LookupSetShape) shape()  {}
func (GrowSetShape) shape()    {}
func (SemaphoreShape) shape()  {}
func (OwnerLockShape) shape()  {}
func (FencedLockShape) shape() {}
func (VersionsShape) shape()   {}
func (CounterShape) shape()    {}
func (IDsShape) shape()        {}
func (LogShape) shape()        {}
