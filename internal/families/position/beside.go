package position

import (
	"cmp"
	"slices"
	"sort"

	"clew/fastpath"
	"clew/models"
)

// beside is about operations that never returned and change the state without moving it, such as grants of leases. No
// position says when they happened, if they did.
type beside struct {
	rows    []models.Row           // by invocation
	byPlace map[int32][]models.Row // by what they may change
	used    []int32                // places in fill of those in the order
	marks   []mark
	retried int // the last block for which marks were tried, plus 1
}

// mark is where a replay stood before operations that may do more or less than they say, as something beside the order
// decides it.
type mark struct {
	block, gap, order, due, used int
	latest                       int32
	state                        models.State
	open                         []models.Row
}

// maxMarks bounds the marks to which a replay goes back.
const maxMarks = 16

// list finds the operations beside the order.
func (x *replay) list() {
	b := &x.beside
	if b.byPlace != nil {
		return
	}
	b.byPlace = map[int32][]models.Row{}
	places := map[int32]bool{} // that change without a move
	for row, changes := range x.changes[:x.in.Len()] {
		if changes {
			for _, c := range x.p.Makes(nil, x.in.Op(models.Row(row))) {
				places[c.Place] = true
			}
		}
	}
	for row := range models.Row(x.in.Len()) {
		if x.in.Res[row] != models.Open || x.at[row] != none || !x.alters(row) {
			continue
		}
		some := false
		for _, c := range x.p.Makes(nil, x.in.Op(row)) {
			if places[c.Place] {
				some = true
				b.byPlace[c.Place] = append(b.byPlace[c.Place], row)
			}
		}
		if some {
			b.rows = append(b.rows, row)
		}
	}
}

// candidates returns operations beside the order, one of each meaning, that may have happened at a position and changed
// what some cells show, or anything if there are none.
func (x *replay) candidates(cells []models.Cell, at int64) (rows []models.Row) {
	x.list()
	met := map[models.Op]bool{}
	add := func(list []models.Row) {
		end := sort.Search(len(list), func(i int) bool { return x.lo[list[i]] > at })
		for k := end - 1; k >= max(0, end-maxTried) && len(rows) < maxTried; k-- {
			if op := x.in.Op(list[k]); !met[op] && !x.done[list[k]] && !x.fills(list[k]) {
				met[op] = true
				rows = append(rows, list[k])
			}
		}
	}
	if len(cells) == 0 {
		add(x.beside.rows)
	}
	for _, c := range cells {
		add(x.beside.byPlace[c.Place])
	}
	return rows
}

// prepared takes the step of an operation after one beside the order, if it cannot happen before that. If it may be the
// update of its position, what made the position may be an update that never returned instead.
func (x *replay) prepared(row models.Row, at int64) bool {
	if x.p.Aside == nil {
		return false
	}
	first := func(other models.Row) bool { return x.after(other, row, at) }
	if slices.ContainsFunc(x.candidates(x.seen(row), at), first) {
		return true
	}
	if x.moves[row] != models.MayMove {
		return false
	}
	end := sort.Search(len(x.fill), func(i int) bool { return x.lo[x.fill[i].row] > at })
	for k := end - 1; k >= max(0, end-maxTried); k-- {
		if f := &x.fill[k]; x.moves[f.row] == models.MayMove && !f.used && f.at == none && first(f.row) {
			return true
		}
	}
	return false
}

// after takes the steps of two operations, if both can happen and only the second one may move the state.
func (x *replay) after(first, row models.Row, at int64) bool {
	if x.in.Inv[first] > x.in.Res[row] {
		return false
	}
	before, latest, n := slices.Clone(x.now()), x.latest, len(x.order)
	if now, _ := x.p.At(before); x.step(first, now) && x.step(row, at) {
		x.happened(first)
		return true
	}
	x.latest = latest
	x.cut(n)
	x.begin(before)
	return false
}

// happened notes that an operation beside the order is in it.
func (x *replay) happened(row models.Row) {
	x.filled = true
	if k, found := x.filling(row); found {
		x.fill[k].used = true
		x.beside.used = append(x.beside.used, int32(k))
	}
}

// filling returns the place of an operation in fill.
func (x *replay) filling(row models.Row) (k int, found bool) {
	return slices.BinarySearchFunc(x.fill, row, func(f filler, row models.Row) int { return int(f.row - row) })
}

// fills says whether an operation fills a gap.
func (x *replay) fills(row models.Row) bool {
	k, found := x.filling(row)
	return found && x.fill[k].used
}

// overdue takes the steps of operations without a position that returned before an event, and could not happen yet.
func (x *replay) overdue(event int32) (r fastpath.Result, failed bool) {
	for len(x.open) > 0 {
		f := slices.MinFunc(x.open, func(a, b models.Row) int { return cmp.Compare(x.in.Res[a], x.in.Res[b]) })
		if x.in.Res[f] >= event {
			break
		}
		if !x.late(f) {
			return x.lost(f), true
		}
	}
	return r, false
}

// late takes the step of an operation without a position that could not happen before, after one that waits.
func (x *replay) late(row models.Row) bool {
	at, _ := x.p.At(x.now())
	waiting := slices.Clone(x.open)
	slices.SortFunc(waiting, func(a, b models.Row) int { return cmp.Compare(x.in.Res[a], x.in.Res[b]) })
	for _, other := range waiting {
		for _, first := range [...]models.Row{x.spoiled(other), other} {
			if first >= 0 && first != row && x.changes[first] && x.after(first, row, at) {
				x.open = slices.DeleteFunc(x.open, func(f models.Row) bool { return f == row || f == first })
				return true
			}
		}
	}
	if !x.prepared(row, at) {
		return false
	}
	x.open = slices.DeleteFunc(x.open, func(f models.Row) bool { return f == row })
	return true
}

// cut makes the order shorter, and forgets where the replay stood with more of it.
func (x *replay) cut(n int) {
	for k := len(x.starts); k > 0 && x.starts[k-1].order > n; k-- {
		x.starts = x.starts[:k-1]
	}
	for k := len(x.beside.marks); k > 0 && x.beside.marks[k-1].order > n; k-- {
		x.beside.marks = x.beside.marks[:k-1]
	}
	for _, row := range x.order[n:] {
		x.done[row] = false
	}
	x.order = x.order[:n]
}

// mark notes where the replay stands, if the next position is one to go back to.
func (x *replay) mark() {
	if x.p.Aside == nil || len(x.unclear(x.blocks[x.k])) == 0 {
		return
	}
	b := &x.beside
	b.marks = append(b.marks, x.stand())
	if len(b.marks) > 2*maxMarks {
		b.marks = append(b.marks[:0], b.marks[maxMarks:]...)
	}
}

// stand returns where the replay stands.
func (x *replay) stand() mark {
	return mark{x.k, x.g, len(x.order), x.due, len(x.beside.used), x.latest, slices.Clone(x.now()), slices.Clone(x.open)}
}

// unclear returns what the operations of a position depend on that may do more or less than they say.
func (x *replay) unclear(b block) (cells []models.Cell) {
	for _, row := range x.rows[b.from:b.to] {
		if x.vague[row] {
			cells = append(cells, x.seen(row)...)
		}
	}
	return cells
}

// retry goes back to a mark, lets something beside the order happen there, and takes all steps since again. It returns
// false if nothing helps.
func (x *replay) retry() bool {
	b, failed := &x.beside, x.k
	marks := b.marks[max(0, len(b.marks)-maxMarks):]
	if failed < b.retried || len(marks) == 0 {
		return false
	}
	b.retried = failed + 1
	var m mark
	for k := len(marks) - 1; k >= 0 && x.work < stepsPerOperation*x.in.Len()+freeSteps; k-- {
		m, b.marks = marks[k], marks[:k:k]
		at, _ := x.p.At(m.state)
		for _, row := range x.candidates(x.unclear(x.blocks[m.block]), at) {
			x.returnTo(m)
			if x.step(row, at) {
				x.happened(row)
				if x.through(failed) {
					return true
				}
			}
			x.work += failed - m.block
			b.marks = marks[:k:k]
		}
	}
	x.returnTo(m)
	x.through(failed) // and fails as before
	return false
}

// returnTo goes back to a mark.
func (x *replay) returnTo(m mark) {
	x.cut(m.order)
	x.k, x.g, x.due, x.latest, x.open = m.block, m.gap, m.due, m.latest, append(x.open[:0], m.open...)
	x.begin(slices.Clone(m.state))
	for _, k := range x.beside.used[m.used:] {
		x.fill[k].used = false
	}
	x.beside.used = x.beside.used[:m.used]
	for x.last.end > 0 && x.last.from >= m.gap {
		x.last = run{}
		if n := len(x.before); n > 0 {
			x.last, x.before = x.before[n-1], x.before[:n-1]
		}
	}
}

// through takes the steps up to and with a block. It returns false if they cannot all happen.
func (x *replay) through(block int) bool {
	for ; x.k <= block; x.k++ {
		if _, failed := x.position(); failed {
			return false
		}
	}
	x.k = block
	return true
}
