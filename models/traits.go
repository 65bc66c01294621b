package models

import (
	"context"
	"iter"

	"clew/edn"
	"clew/jepsen"
)

// Traits are all that a model may offer beyond its steps. A field that is nil or false says that the model does not
// have the trait; the zero Traits are always right. Each field says what the model promises with it and what a reader
// or a search gains. Figures compare one machine with itself, without and with the trait.
//
// models/laws_test.go checks the promises.
type Traits struct {
	// Reading a history. Only a Reader needs these; they are called in this order.

	// Survey sees the whole history, with all of its independent keys, before any operation is read. It sets the
	// parameters of the reading that the history shows, unless the spec sets them. It returns an error if the history
	// shows two readings. So [1 2] can be a value in one history, and the value 2 of the key 1 in another.
	Survey func(s *Spec, h *jepsen.History) error
	// AnyOrder says that reading an operation leaves nothing behind. Then the two halves of a long history are read
	// side by side: 1M operations of a register in 20 ms instead of 33 ms.
	AnyOrder func(h *jepsen.History) bool
	// Finish sees all operations and may complete their columns, such as the rank of a value among all others. If
	// there is an error, row is the operation that it is about.
	Finish func(c *Columns) (row Row, err error)
	// Settle returns the model that the operations turned out to be of. So a map to which nothing is appended is not
	// searched as a map of strings.
	Settle func() Model
	// Opening begins to gather what the first operations show of the initial value. Without it, a test that begins
	// with other contents than the model's default is invalid instead of unknown with a hint.
	Opening func() Opening
	// FromAny yields the operations as they would be if nothing were known of the initial value: they are linearizable from
	// some value if and only if those of one FromAny are. It is for a model whose updates add up, so that they happen to a
	// value that is not known yet. Without it, a history that may begin with more values than are tried is undecided.
	FromAny func(ops *Operations) iter.Seq[FromAny]
	// Refused says that an operation succeeded in doing nothing, so that its completion may have another value than
	// its invocation. Otherwise that is worth a warning.
	Refused func(op Op) bool
	// Text returns the text of a value class in sentences, "" if operations have no values. Otherwise it is the
	// class's EDN.
	Text func(class int32) string
	// Place returns what follows the text of a value class in sentences, such as " of key :x", where a value alone would not
	// say of which key it is.
	Place func(class int32) string

	// Because says why op, which cannot happen in s, cannot, in a sentence that names op: "the value is 2, not 1".
	// Without it, or if it returns "", that is Model.Why, whose words are Knossos's where it has the model.
	Because func(s State, op Op) string

	// Steps.

	// Run begins a run in a state, which it leaves as it is. For states that grow with the history, Step copies and a
	// run does not: a set's final state after 200,000 adds takes 1.2 s instead of 31 s, together with the check.
	Run func(s State) Run
	// Outcomes calls yield once with every state that Step would append, until yield returns false. It is for steps
	// with very many outcomes: a crashed drain of n different elements has 2^n. A search can then stop at its limits
	// within a step.
	Outcomes func(s State, op Op, yield func(State) bool)
	// Fits says whether op can happen in s, and whether it then leaves s as it is. It is for a model with very many
	// states, where that takes less time than to look up a step that is remembered. No step has several outcomes.
	Fits func(s State, op Op) (possible, same bool)
	// StepNumber returns the state that op leads to, or -1 if op cannot happen. It is for a model that numbers its
	// states from 0 on, as it meets them. A State is its number alone, and no step has several outcomes. The search
	// then does not number them again.
	StepNumber func(state int32, op Op) int32
	// Weight returns about how many more bytes are held for a state than its numbers take. The search counts them, and
	// ends before they exceed its limit.
	Weight func(s State) int64
	// Expects says which steps a replay from the initial state is about to take, one after another. It is for a model that
	// asks another program for its steps, and can ask for many at once.
	Expects func(steps []Op)
	// Within bounds the steps to come, for a model that holds memory of its own or whose steps take long. The function
	// that it returns gives the memory back.
	Within func(ctx context.Context, memory *Memory) (release func())

	// Deciding.

	// Shape returns the family of data types that the operations fit, nil if none. It is called once all operations
	// have been read. Package fastpath has a near-linear decision for every shape; a search is exponential at worst.
	Shape func() Shape
	// Partition splits the state into parts that are decided by themselves.
	Partition *Partition
	// IsRegister says that a state is one value class, that the only operations are Read, Write, CAS and FailedCAS,
	// and that the model has Visibility. Engines may use Kind, A and B instead of calling Step, and staged and matching
	// decide nothing else: 10,000 transactions of one key each by 50 clients take 0.09 s instead of 1.04 s.
	IsRegister bool
	// MayIdle says that op, which can change a state, may also succeed without being an update, such as a delete of what
	// is not there. If an answer tells which, op is one or the other.
	MayIdle func(op Op) bool
	// RefusesNothing says that every operation is always possible. Every verdict is vacuous then.
	RefusesNothing bool

	// Told says what operations tell of their positions, for a model whose state does not count its updates.
	Told *Told
	// Positions says where operations stand in the order of updates, if their answers tell it.
	Positions *Positions
	// Beyond judges answers that are about the order as a whole.
	Beyond *Beyond

	// Searching.

	// Overwrites says that op can happen in every state and always leaves the same one, whatever was there before.
	// The search need not try a write that is overwritten before anything sees it: 10,000 operations of a register by
	// 20 clients take 1.7 s, and are undecided after 20 s without.
	Overwrites func(op Op) bool
	// Rank orders states that differ in how much is still possible: whatever can happen in a row from a state can also
	// happen from those of the same group with a lower rank. 1,000 operations of a lease, 40 crashed, take 0.1 s
	// instead of more than 3 s.
	Rank func(s State) (group State, rank int32)
	// Narrows says that op leads to at most one state, and that whatever can happen in a row after it can also happen
	// without it: it only tells more of the state. Where it leaves the state as it is, the search need not try it later,
	// like a read. No operation of the model overwrites, and it has no Liveness.
	Narrows func(op Op) bool
	// Lookahead rules out orders by sums or bounds.
	Lookahead *Lookahead
	// Guide says which operations are worth trying.
	Guide *Guide
	// Liveness says which values of a state still matter.
	Liveness *Liveness
	// Levels says which sums the answers show.
	Levels *Levels
	// Hindsight returns a model with smaller states, under which exactly these operations are linearizable if and only
	// if they are under this one: it uses what their answers show later. It returns nil if the answers contradict each
	// other. A log of which few offsets are told has as many states as orders of its appends; if it is known what reads
	// will find, a state is its length.
	Hindsight func(ops *Operations) Model
	// Projections returns some of the operations under models that see less of a state, or refuse less, and are easier:
	// whatever operations can happen in a row here can do so there. So if a projection is not linearizable, these are not.
	// Without bounds, the order of a bank's transfers does not matter: a wrong read among 5,000 events takes 0.9 s instead of
	// 2.4 s. A key of a map is a register, for which there are more engines. Each has the events of these operations.
	Projections func(ops *Operations) []*Operations

	// Hard says what makes its operations hard to decide, and what to change in a test. It is called once all operations
	// have been read. Without it, repeated values are what makes a history hard, and more keys with fewer operations
	// each help.
	Hard func() Hard

	// Cores: which operations of a failure can be left out.

	// Droppable says that the model is closed under dropping values.
	Droppable *Droppable
	// Alone returns a model with the same initial value for some of all operations, those invoked up to event t. Under it,
	// what only the others make does not count. If all operations are linearizable up to t, these are under that model. So a
	// core of transactions need not have all that appended to the lists that it reads. The model is not changed.
	Alone func(all, some *Columns, t int32) Model
	// Visibility says which operations can have seen the effect of others.
	Visibility *Visibility
	// FindVisibility finds the Visibility of some operations by stepping. A state has one place then, with the state
	// itself as the value there. It returns nil if they lead to many states, if a step fails, or if none of them
	// overwrites: then no state is ever surely gone. The core of cas-register.star had all 6,000 updates of a history;
	// it has 2 operations with this.
	FindVisibility func(ops *Operations) *Visibility

	// FindKinds finds by stepping which operations never change a state and which overwrite it, as far as that is easy.
	// 10,000 operations of 20 clients on a register took 5 s if its model declared nothing; they take 55 ms. It is called
	// before any search.
	FindKinds func(ops *Operations)

	// Anomaly returns the kind of failure of an operation whose answer shows it for certain: with the operations that
	// began before it returned, it cannot happen in any order. Otherwise it returns "". It takes at most linear time for
	// each value of the answer. With it, a failure that a search found has the name that people search for.
	Anomaly func(ops *Operations, row Row) Anomaly

	// Declared says what the author of the model declares beyond its steps.
	Declared *Declared
}

// FromAny are operations under a model that begins without a value. The first operation that shows one, in the order of a
// linearization, is a certain row; no other one can happen before it.
type FromAny struct {
	*Operations
	// Start returns the initial value from which the rows of a linearization, or the first of them, can happen. It returns
	// false if they do not show it.
	Start func(order []Row) (init edn.ID, shown bool)
}

// Hard says, in words, what is true of a model whose history was too hard.
type Hard struct {
	// Why says what makes it hard, besides operations that crashed or are open at once. It is "" if nothing does.
	Why string
	// Change says what to change in the test, such as "touch fewer keys in a transaction".
	Change []string
	// Once comes before Change if some updates are alike: "use each value only once".
	Once string
}

// Partition is for a model in which every operation touches only one part of the state. A history is linearizable if
// and only if the operations of every part are (Horn & Kroening's P-compositionality, 2015). So the cost of a search
// follows its busiest part and not the whole, and parts are decided side by side. 4,000 transactions of one key each by
// 10 clients on 10 keys take 46 ms, and are undecided after 20 s as a whole.
type Partition struct {
	// Of returns the part that op touches.
	Of func(op Op) int32
	// Keys says that a part is the edn.ID of its key. So no other operation can show that parts belong together.
	Keys bool
	// Project, unless it is nil, returns a simpler model for a part, in which its operations mean the same, or the
	// model itself if there is none. It may replace the operations in the part's columns, row by row, with those of the
	// simpler model. A key of a map is a register then, for which there are more engines.
	Project func(part int32, c *Columns) Model
	// Cells, unless it is nil, says for the whole state which cells operations leave and depend on. A part is a place.
	Cells *Visibility
}

// Lookahead is for a model that can often see, by sums or bounds, what the order of operations cannot change. A search
// then need not try every order: 5,000 events of a bank with 10 crashed transfers take 0.02 to 0.7 s instead of 1 to
// 4 s, or more than 20 s. The model has no operations that overwrite. The more others there are, the more may follow
// and the less may lead.
type Lookahead struct {
	// MayFollow says whether op may happen in a state to which some of the others lead from s. Each is used at most
	// once, in any order. False means that op cannot; true means nothing.
	MayFollow func(s State, op Op, others []Op) bool
	// MayLead says whether an op that can happen in s may as well go first. True means that op can move to the front.
	// If some of the others, in any order, can happen from s and op after them, op and then these can happen too. Both
	// ways lead to the same state. False means nothing. None of the others is a pure read.
	MayLead func(s State, op Op, others []Op) bool
	// Never, unless it is nil, says that op cannot happen in s, nor in any state that operations lead to from there. False
	// means nothing.
	Never func(s State, op Op) bool
}

// Levels is for a model whose operations raise and lower levels, and whose answers bound them: the number of elements
// of a queue, or of those that are a certain value, the balance of an account, how often a key has been set to a value.
// A level lies between what the completed operations make of it and what the open ones may make of it. If an answer is
// beyond that, the history is not linearizable, whatever the order. A pop of a value that nothing pushed is refuted in a
// millisecond, with 40 crashed operations that a search would try in every order.
type Levels struct {
	// Start returns a level of the initial state.
	Start func(level int64) int64
	// Moves appends what op adds to levels if it happens.
	Moves func(dst []Move, op Op) []Move
	// Shows appends what an op that has completed says of levels as they are right after it.
	Shows func(dst []Bound, op Op) []Bound
	// NotNegative says that no level is ever less than 0.
	NotNegative bool
	// Whole, unless it is 0, is a level that no other exceeds, such as the number of all elements.
	Whole int64
}

// Move is an amount that is added to a level: from Least to Most, if it depends on the state.
type Move struct{ Level, Least, Most int64 }

// Unbounded is more than any level.
const Unbounded = 1 << 40

// By returns a Move of a certain amount.
func By(level, amount int64) Move { return Move{level, amount, amount} }

// Bound says that a level is from Least to Most.
type Bound struct{ Level, Least, Most int64 }

// Guide is for a model that knows which operations are worth trying before the goal. The goal must happen next, because
// it returns before all other open operations. The open operations may happen in any order that the model allows.
// Operations that only read and fit the state have already happened. With it, 10,000 operations of a priority queue by
// 20 clients over 20 values take 80 ms instead of 3.4 s; with a wrong answer 1.3 s, and more than 20 s without.
type Guide struct {
	// Course returns the way from s to a goal that has not happened. others are the other open operations that return
	// and have not happened.
	Course func(s State, goal Op, others []Op) Course
	// Keeps says whether next keeps to a course of the model's own. next can happen in s and is not the goal. If the
	// rest has a linearization, it has one that begins with the goal or with an operation that keeps to the course.
	Keeps func(s State, c Course, goal, next Op, crashed bool, others []Op) bool
}

// Course is a way to a goal. Courses above Directly are the model's own.
type Course int32

// Courses that need no model.
const (
	Anyhow   Course = iota // anything may come next
	Directly               // only the goal may
)

// Liveness is for a model whose state has a value at each of some places. Operations show some places and leave
// others. A value that nothing will show is dead, and as good as any other: states that differ only in dead values are
// one, and writes are overwritten place by place. 10,000 operations on a key with appends by 10 clients take at most
// 0.6 s instead of 6 s or more.
type Liveness struct {
	// At returns the value at a place.
	At func(s State, place int32) int32
	// Shows appends the cells that op depends on. If there are none, op can happen in every state. needs says that op
	// can happen only if they are all there.
	Shows func(dst []Cell, op Op) (cells []Cell, needs bool)
	// Leaves appends a cell for each place where op leaves another value. blindly says that op leaves these values
	// whatever was there before.
	Leaves func(dst []Cell, op Op) (cells []Cell, blindly bool)
	// Becomes appends the cells that operations show and that may follow this cell before it is blindly replaced.
	Becomes func(dst []Cell, cell Cell) []Cell
	// Forget returns s with one and the same value in every cell that is not seen and that no operation shows.
	Forget func(s State, seen func(Cell) bool) State
}

// Cell is a place of a state, and a value there.
type Cell struct{ Place, Value int32 }

// Droppable is for a model that is closed under dropping values. Take all operations that touch a value out of a
// linearizable history, and also those of the values that these operations tie it to. The rest is linearizable. So a
// core has few values.
type Droppable struct {
	// Lasting, unless it is nil, returns the values that cannot be dropped. Initial values would be in the way of
	// others if nothing took them.
	Lasting func() []int32
	// Touches returns the values that op touches. all says that op depends on every value, so that no value can be
	// dropped while op stays.
	Touches func(op Op) (values []int32, all bool)
}

// Visibility is for a model whose state has a value at each of some places. A value is gone once another replaces it.
// If nothing sees the values that an operation makes, the operation can be dropped from a linearizable history. So a
// core has what its operations can have seen, and nothing else.
type Visibility struct {
	// Makes appends the cells that op leaves, one for each place whose value it replaces.
	Makes func(dst []Cell, op Op) []Cell
	// Sees appends the cells that op depends on. all says that op depends on every cell; then Sees appends none.
	Sees func(dst []Cell, op Op) (cells []Cell, all bool)
}

// Declared is for a model of the caller's own that searches use as its author declares it. The author declares which
// operations change nothing, which overwrite, and which parts the state has. Every step of a search is compared with
// the declarations. A history that is not linearizable is decided again without them, because a search may never have
// stepped where they are wrong.
type Declared struct {
	// Bare returns the model without the declarations. It has the same states.
	Bare func() Model
	// Doubt looks for wrong declarations beyond the steps of searches, for a bounded time. It panics with a Failure.
	Doubt func()
}
