package home

import "clew/models"

// Saw returns the kind of failure of an operation whose answer shows a cell of the state that cannot have been there,
// or "". For every cell that the operation sees, it looks at what may have left that cell. initial returns the value at
// a place of the initial state. Linear time for each cell.
//
// A value has been replaced if, after each operation that may have left it, another operation left or saw another
// value, and returned before this one began. So no order of the operations puts the value there, whichever left it.
func Saw(ops *models.Operations, row models.Row, initial func(place int32) int32) models.Anomaly {
	vis := ops.Model.Traits().Visibility
	if ops.Res[row] == models.Open {
		return ""
	}
	seen, _ := vis.Sees(nil, ops.Op(row))
	makes := vis.Makes(nil, ops.Op(row))
	found := models.Anomaly("")
	for _, cell := range seen {
		x := writersOf(ops, row, cell, vis)
		if initial(cell.Place) == cell.Value {
			x.before, x.latest, x.only = true, max(x.latest, -1), -1
		}
		switch replaced := x.latest < x.other; {
		case !x.before && x.after:
			return models.FutureRead
		case !x.before:
			return models.NeverWritten
		case x.only >= 0 && torn(ops, row, seen, x.only, initial, vis):
			return models.TornRead
		case replaced && placed(makes, cell.Place):
			found = models.LostUpdate
		case replaced && found == "":
			found = models.StaleRead
		}
	}
	return found
}

// writers are what the operations besides one have to do with a cell that it saw.
type writers struct {
	before, after bool       // some left the cell, and began before the one returned, or later
	latest        int32      // the latest return of those before, models.Open if one has none; -2 if there are none
	other         int32      // the latest invocation of those that had left or seen another value when the one began
	only          models.Row // the only one of those before, or -1
}

func writersOf(ops *models.Operations, row models.Row, cell models.Cell, vis *models.Visibility) writers {
	x := writers{latest: -2, other: -2, only: -1}
	var cells []models.Cell
	for i := range models.Row(ops.Len()) {
		if i == row {
			continue
		}
		op := ops.Op(i)
		cells = vis.Makes(cells[:0], op)
		made, differs := judge(cells, cell)
		cells, _ = vis.Sees(cells[:0], op)
		_, saw := judge(cells, cell)
		switch {
		case made && ops.Inv[i] > ops.Res[row]:
			x.after = true
		case made:
			if x.only = i; x.before {
				x.only = -1
			}
			x.before, x.latest = true, max(x.latest, ops.Res[i])
		}
		if (differs || saw) && ops.Res[i] < ops.Inv[row] {
			x.other = max(x.other, ops.Inv[i])
		}
	}
	return x
}

// judge says whether some cells have the value of a cell, or another value at its place.
func judge(cells []models.Cell, cell models.Cell) (same, other bool) {
	for _, x := range cells {
		same = same || x == cell
		other = other || x.Place == cell.Place && x.Value != cell.Value
	}
	return same && !other, other
}

func placed(cells []models.Cell, place int32) bool {
	for _, x := range cells {
		if x.Place == place {
			return true
		}
	}
	return false
}

// torn says whether an operation saw only a part of what another one, from, had left: at a place that both know, it saw
// a value that can only be older.
func torn(ops *models.Operations, row models.Row, seen []models.Cell, from models.Row, initial func(int32) int32, vis *models.Visibility) bool {
	for _, left := range vis.Makes(nil, ops.Op(from)) {
		for _, cell := range seen {
			if cell.Place != left.Place || cell.Value == left.Value {
				continue
			}
			x := writersOf(ops, row, cell, vis)
			if (x.before || initial(cell.Place) == cell.Value) && x.latest < ops.Inv[from] {
				return true
			}
		}
	}
	return false
}

// Beyond says how an answer contradicts a level of its model.
type Beyond struct {
	Level int64
	Above bool // it shows or leaves more than there can be, not less
	// Missing is NeverWritten if nothing ever raises the level, FutureRead if that happens only later, or "".
	Missing models.Anomaly
}

// ByLevels returns the kind that name gives to the first level which an answer contradicts, or "". The sums are those of
// internal/engines/levels.go: what had returned before an operation began has happened, and what began after it
// returned has not. Linear time for each level.
func ByLevels(ops *models.Operations, row models.Row, name func(op models.Op, x Beyond) models.Anomaly) models.Anomaly {
	lv := ops.Model.Traits().Levels
	if ops.Res[row] == models.Open {
		return ""
	}
	op := ops.Op(row)
	own := lv.Moves(nil, op)
	for _, b := range lv.Shows(nil, op) {
		x := sumsOf(ops, row, b.Level, lv)
		if x.most+x.ownMost < b.Least || x.least+x.ownLeast > b.Most {
			return name(op, Beyond{Level: b.Level, Above: x.most+x.ownMost < b.Least, Missing: x.missing()})
		}
	}
	for _, m := range own {
		if x := sumsOf(ops, row, m.Level, lv); lv.NotNegative && x.ownMost < 0 && x.left+x.ownMost < 0 {
			return name(op, Beyond{Level: m.Level, Above: true, Missing: x.missing()})
		}
	}
	return ""
}

// sums are what a level can be just before an operation takes effect.
type sums struct {
	least, most       int64
	left              int64 // at most, once all that has returned before the operation returns has happened
	ownLeast, ownMost int64 // what the operation itself does
	raised, later     bool
}

func (x *sums) missing() models.Anomaly {
	switch {
	case x.raised:
		return ""
	case x.later:
		return models.FutureRead
	}
	return models.NeverWritten
}

func sumsOf(ops *models.Operations, row models.Row, level int64, lv *models.Levels) (x sums) {
	start := lv.Start(level)
	x.least, x.most, x.left, x.raised = start, start, start, start > 0
	var moves []models.Move
	for i := range models.Row(ops.Len()) {
		moves = lv.Moves(moves[:0], ops.Op(i))
		for _, m := range moves {
			switch {
			case m.Level != level:
			case i == row:
				x.ownLeast, x.ownMost = x.ownLeast+m.Least, x.ownMost+m.Most
			case ops.Inv[i] > ops.Res[row]:
				x.later = x.later || m.Most > 0
			default:
				x.add(m, ops.Res[i] < ops.Inv[row], ops.Res[i] < ops.Res[row])
			}
		}
	}
	return x
}

// add adds a move of another operation, which had returned before the one began (sure) or before it returned (done).
func (x *sums) add(m models.Move, sure, done bool) {
	x.raised = x.raised || m.Most > 0
	up, down := max(m.Most, 0), min(m.Least, 0)
	x.most, x.least, x.left = x.most+up, x.least+down, x.left+up
	if sure {
		x.most += min(m.Most, 0)
		x.least += max(m.Least, 0)
	}
	if done {
		x.left += min(m.Most, 0)
	}
}
