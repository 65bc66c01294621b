package models

// Kinds of queues. A is the value, or for Drain an index into the model's drains.
const (
	Enqueue      Kind = iota
	Dequeue           // took A
	DequeueAny        // crashed: took any element that the order allows
	DequeueEmpty      // found the queue empty; also a peek that did so
	Peek              // saw A first
	Drain             // took these, one after another
	DrainAny          // crashed: took some, one after another
	Size              // there were A elements
)

// Kinds of counter. A is the number added. B is a place in the model's totals.
const (
	Plus      Kind = iota // adds A
	Total                 // saw B
	PlusTotal             // adds A, and saw B then
)

// Generate is the kind of id-generator: it gave out A, a value class. If ids grow, B is a
// place in the model's numbers.
const Generate Kind = 0

// Kinds of log. A is the class of the value. B is a place, which counts from 0.
const (
	AppendTo    Kind = iota // append A, at place B-1 (0: the place is not told)
	AppendNever             // it told two places for one value
	ReadAt                  // saw A at B
	ReadNothing             // saw nothing at B
	Tail                    // saw that there are B values
	ReadLog                 // saw the model's list A
)

// Kinds of lookup-set. A is the element.
const (
	Insert        Kind = iota // A was absent, and is in the set now
	InsertPresent             // A was in the set already
	InsertAny                 // crashed: A is in the set now, whether or not it was before
	Remove                    // A was in the set, and is absent now
	RemoveAbsent              // A was absent already
	RemoveAny                 // crashed: A is absent now, whether or not it was before
	Has                       // A was in the set
	HasNot                    // A was absent
)

// Kinds of locks.
const (
	Acquire Kind = iota
	Release
)

// Kinds of register and cas-register. A is the value read or written, or the value that a
// cas expects; B is the value that a cas leaves. Both are value classes of the history
// (edn.Values.Same).
const (
	Read      Kind = iota // saw A
	Write                 // sets A
	CAS                   // saw A, sets B
	FailedCAS             // saw a value other than A; changes nothing
)

// Kinds of set. A is the value added, or the set read, as an index into sets. If no set
// equals the value that was read, A is the class of that value.
const (
	Add Kind = iota
	ReadSet
	ReadNoSet
)

// Kinds of stacks: those of queues, under the names that stacks use. A is the value.
const (
	Push     = Enqueue
	Pop      = Dequeue      // took A
	PopAny   = DequeueAny   // crashed: took the element on top
	PopEmpty = DequeueEmpty // found the stack empty; also a peek that did so
)
