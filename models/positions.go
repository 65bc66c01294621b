package models

// Positions is for a model whose state counts its updates, and whose operations say where they stand in that count: a
// revision of etcd, the zxid of ZooKeeper, the offset of a log, a commit timestamp. An update with position p brought
// the state to p. An operation that leaves the count as it is, such as a read, has the position of the state that it
// saw. The positions are part of the answers, so Step refuses an operation that says another position.
//
// With them a history is replayed in the order that it tells, instead of searched: PositionShape.
type Positions struct {
	// Name says what a position is called, such as "revision".
	Name string
	// Dense says that every update adds one to the position. Otherwise it is only greater than those before it.
	Dense bool
	// Of returns the position that op says, or false if it says none.
	Of func(op Op) (position int64, told bool)
	// Moves says whether op is an update.
	Moves func(op Op) Moving
	// Aside, unless it is nil, says whether op changes the state although it never moves it, such as a grant of a lease.
	// Makes and Sees say what it changes, and what depends on that.
	Aside func(op Op) bool
	// At returns the position of a state, or false if the first operation that says one decides it.
	At func(s State) (position int64, known bool)
	// Makes and Sees, unless they are nil, are as in Visibility. An operation that crashed may leave some of the cells
	// that Makes appends, and not others.
	Makes func(dst []Cell, op Op) []Cell
	Sees  func(dst []Cell, op Op) (cells []Cell, all bool)
	// Depends, unless it is nil, appends the places on which it depends whether op can happen, whatever Sees says of them.
	Depends func(dst []int32, op Op) []int32
	// Vague, unless it is nil, says that op may leave less than Makes appends, and depend on less than Sees appends, even
	// if it is certain to be an update.
	Vague func(op Op) bool
	// Beside says that positions are told beside the answers that the model reads, so that its state has no first one.
	Beside bool
	// None, unless it is nil, says that a cell stands for a place that has no value.
	None func(c Cell) bool
	// Clues, unless it is nil, appends what op's answer shows of earlier updates.
	Clues func(dst []Clue, op Op) []Clue
	// Made, unless it is nil, says whether op may have brought the state to a position, and whether it is known what the
	// update at that position left. If op may not, Step refuses to bring the state there by it.
	Made func(op Op, position int64) (may, known bool)
}

// Moving says whether an operation brings the state to a new position.
type Moving uint8

// Whether an operation is an update: never, whenever it happens, or as it turns out.
const (
	NeverMoves Moving = iota
	AlwaysMoves
	MayMove
)

// Clue says that the update at a position left a cell there. If Count is not 0, it was the Count-th in a row to replace
// the value of that place since there was none.
type Clue struct {
	Position int64
	Cell     Cell
	Count    int64
	Any      bool // it left some value there, which need not be that of the cell
}

// PositionShape is any model with Positions: its operations are replayed in the order that their positions tell.
type PositionShape struct{ Model Model }

func (PositionShape) shape() {}
