package fastpath

// The violations that the sweeps (flips.go, locks.go, ownerlocks.go, bag.go, growset.go)
// find. They are numbered apart from those of the other types.
const (
	// Unchanged: Ops[0] found or left its element present, or absent, as it
	// cannot have been after Ops[1] (Initial: at first). No operation could have
	// changed that in between: those that ran were needed elsewhere.
	Unchanged Pattern = 100 + iota

	// HeldAlready: Ops[0] acquired when nothing was free. Ops[1:] are the
	// acquires that held the lock or its permits, the latest last, at most
	// maxHolders of them; none of their releases had begun, or they were needed
	// elsewhere. For locks with an owner Ops[1:] belong to owners that had not
	// begun to release them.
	HeldAlready

	// NotHeld: Ops[0] released what was not held. Ops[1] is the release before
	// it, or Missing if there was none.
	NotHeld

	// TakenTooOften: Ops[0] took a value that had been added at most as often as
	// it was taken before, by Ops[1:]. Where nothing took it before, nothing had
	// added it. At most maxHolders operations are named.
	TakenTooOften

	// NeverEmpty: Ops[0] found the bag empty, but all the time that it ran it
	// held something: some of the values that Ops[1:] added were certainly
	// inside, or more than crashed operations can have taken.
	NeverEmpty

	// Incomparable: Ops[0] and Ops[1] read sets of which neither contains the
	// other.
	Incomparable

	// NotRead: Ops[0] added a value, or read it (Initial: it was there at first),
	// and had returned before Ops[1],
	// which did not read the value, was invoked.
	NotRead

	// AddedBefore: Ops[0], which added a value, had returned before Ops[1], which
	// was the first to add another, was invoked. But Ops[2] read the other value
	// without the first.
	AddedBefore

	// NotASet: Ops[0] read something that is not a set.
	NotASet
)

// Causes of ambiguity that the sweeps have.
const (
	// Overlapping: Reader was invoked while an older operation of the same owner,
	// Producers[0], was open. (The owner crashed in it and went on under the same
	// name.)
	Overlapping Cause = 100 + iota

	// Counted: Reader acquires or releases several permits that belong to
	// nobody, which is too hard to decide fast.
	Counted

	// Pairing: it matters which of the operations that added Value Reader took.
	Pairing
)

// maxHolders bounds the operations that an explanation names.
const maxHolders = 16
