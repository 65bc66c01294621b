package isolation

import (
	"cmp"
	"slices"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// # Lists that transactions append to
//
// Decides: the versions of each key, who read them, and the anomalies that are not cycles.
//
// Precondition: no value is appended twice to one key.
//
// Cost: linear in the operations, the elements of the longest list of each key, and those of lists that are not its beginning.
//
// Each element is a version. The longest list that was read is the order of versions, and the first of several such lists. Where another
// list contradicts it, the order is not certain, and no cycle rests on it. What
// a transaction read of a key, less what it had itself appended at the end, is a version that others made. A transaction
// that crashed has happened if one that has happened read one of its elements.
//
// Lemma 6. Besides the cycles, a history without anomalies of this file is at a level that asks for an order, or for snapshots, if and
// only if the level's graph says so: of each list the part from outside is a beginning of the order of versions, behind it is
// what the transaction had appended by then, and what one transaction appends to a key has the order in which it appends it.

// Lists is a history of transactions that append to lists.
type Lists struct {
	History
	Found
	Shower []int32 // by key: the transaction that read the longest list, or -1

	shape    *models.TxnListsShape
	txn      []int32 // by transaction: its number in the shape
	owner    []int32 // by element: the transaction that appends it, or one of those below
	order    [][]int32
	position []int32 // by element: its place in the order, plus 1
	place    []int32 // by element: its place in the longest list that the model has seen, plus 1
	agreed   []int32 // by key: how much of that is without anomalies
	bad      []int32 // by key: the same, or how much of it some transaction has read since
	replaced []bool  // by element: its transaction appends more to the key
	own      ownReads
	at       int32 // the place of the read that is looked at
	asking   *graphed
	ops      *models.Operations
}

// Owners that are not transactions. A failed one is failedOwner minus its place.
const (
	initialOwner int32 = -1 - iota
	noOwner
	failedOwner
)

// NewLists reads transactions. The columns' events are without gaps. Of each failed transaction it gets the elements that it would
// have appended. It returns the two transactions that append the same value, if there are such.
func NewLists(c *models.Columns, process []int32, shape *models.TxnListsShape, failed [][]int32) (l *Lists, twice [2]int32, ambiguous bool) {
	l = &Lists{shape: shape, txn: c.A}
	l.Inv, l.Res, l.Process, l.Events = c.Inv, c.Res, process, c.Events
	if twice, ambiguous = l.owners(failed); ambiguous {
		return nil, twice, true
	}
	l.happen()
	l.orders()
	l.made()
	l.agree()
	l.reads()
	l.updates(failed)
	l.lostUpdates()
	l.touches()
	slices.SortStableFunc(l.Anomalies, func(a, b Anomaly) int { return cmp.Compare(a.Txn, b.Txn) })
	return l, twice, false
}

// Key returns the key with a number.
func (l *Lists) Key(key int32) edn.ID { return l.shape.Key(key) }

// Value returns the value of an element.
func (l *Lists) Value(element int32) edn.ID { return l.shape.Value(element) }

func (l *Lists) steps(txn int32) []models.ListStep { return l.shape.Of(l.txn[txn]) }

func (l *Lists) owners(failed [][]int32) (twice [2]int32, ambiguous bool) {
	l.owner = make([]int32, l.shape.Elements)
	for e := range l.owner {
		l.owner[e] = noOwner
	}
	for _, list := range l.shape.Init {
		for _, e := range list {
			l.owner[e] = initialOwner
		}
	}
	for i, elements := range failed {
		for _, e := range elements {
			if l.owner[e] == noOwner {
				l.owner[e] = failedOwner - int32(i)
			}
		}
	}
	l.replaced = make([]bool, l.shape.Elements)
	last := make([]int32, l.shape.Slots) // by key: the transaction whose last append was found, plus 1
	for txn := range int32(len(l.Inv)) {
		for _, s := range slices.Backward(l.steps(txn)) {
			if !s.Append {
				continue
			}
			l.replaced[s.Value] = last[s.Slot] == txn+1
			last[s.Slot] = txn + 1
			if by := l.owner[s.Value]; by >= initialOwner {
				return [2]int32{by, txn}, true
			}
			l.owner[s.Value] = txn
		}
	}
	return twice, false
}

// happen finds which transactions have happened, and the longest list of each key.
func (l *Lists) happen() {
	l.Happened = make([]bool, len(l.Inv))
	l.order = make([][]int32, l.shape.Slots)
	l.Shower = make([]int32, l.shape.Slots)
	for k := range l.Shower {
		l.order[k], l.Shower[k] = l.first(k), -1
	}
	var todo []int32
	for txn, res := range l.Res {
		if l.Happened[txn] = res != models.Open; l.Happened[txn] {
			todo = append(todo, int32(txn))
		}
	}
	for i := 0; i < len(todo); i++ {
		for _, s := range l.steps(todo[i]) {
			if s.Append {
				continue
			}
			list := l.shape.List(s)
			rest := list
			if s.Value >= 0 {
				rest = list[min(len(list), len(l.order[s.Slot])):] // the others are in a list that was read
			}
			for _, e := range rest {
				if by := l.owner[e]; by >= 0 && !l.Happened[by] {
					l.Happened[by] = true
					todo = append(todo, by)
				}
			}
			if s.Value > int32(len(l.order[s.Slot])) {
				l.order[s.Slot], l.Shower[s.Slot] = list, todo[i]
			}
		}
	}
}

// orders finds the order of versions of each key, if some lists are not beginnings of the longest one that the model has seen.
func (l *Lists) orders() {
	if len(l.shape.Odd) > 0 {
		for k := range l.order {
			l.order[k], l.Shower[k] = l.first(k), -1
		}
		for txn := range int32(len(l.Inv)) {
			for _, s := range l.steps(txn) {
				if s.Append || !l.Happened[txn] {
					continue
				}
				if list := l.shape.List(s); len(list) > len(l.order[s.Slot]) {
					l.order[s.Slot], l.Shower[s.Slot] = list, txn
				}
			}
		}
	}
	l.position = positions(l.order, l.shape.Elements)
}

// positions returns by element its first place in a list of its key, plus 1.
func positions(lists [][]int32, elements int) []int32 {
	at := make([]int32, elements)
	for _, list := range lists {
		for i, e := range list {
			if at[e] == 0 {
				at[e] = int32(i) + 1
			}
		}
	}
	return at
}

// first returns the initial list of a key.
func (l *Lists) first(key int) []int32 {
	if key < len(l.shape.Init) {
		return l.shape.Init[key]
	}
	return nil
}

// made lists the versions of each key.
func (l *Lists) made() {
	slots := l.shape.Slots
	l.Made, l.Unread, l.Values = make([][]int32, slots), make([][]int32, slots), make([][]int32, slots)
	for k, list := range l.order {
		l.Made[k] = make([]int32, len(list))
		for i, e := range list {
			if l.Made[k][i] = max(-1, l.owner[e]); l.position[e] != int32(i)+1 {
				l.Made[k][i] = -1 // twice in the list
			}
		}
		l.Values[k] = slices.Clone(list)
	}
	for txn := range int32(len(l.Inv)) {
		if !l.Happened[txn] {
			continue
		}
		for _, s := range l.steps(txn) {
			if made := l.Unread[s.Slot]; s.Append && l.position[s.Value] == 0 && (len(made) == 0 || made[len(made)-1] != txn) {
				l.Unread[s.Slot] = append(made, txn)
				l.Values[s.Slot] = append(l.Values[s.Slot], s.Value)
			}
		}
	}
}

// agree finds of how many versions of each key the order is certain: on those all reads agree.
func (l *Lists) agree() {
	if len(l.shape.Odd) == 0 {
		return
	}
	l.Sure = make([]int32, l.shape.Slots)
	for k := range l.Sure {
		l.Sure[k] = int32(len(l.order[k]))
	}
	for txn := range int32(len(l.Inv)) {
		for _, s := range l.steps(txn) {
			if s.Append || !l.Happened[txn] {
				continue
			}
			order := l.order[s.Slot][:l.Sure[s.Slot]]
			for i, e := range l.shape.List(s) {
				if i < len(order) && e != order[i] {
					l.Sure[s.Slot] = int32(i)
					break
				}
			}
		}
	}
}

// known returns the place of an element in the order of versions, plus 1, or 0 if that is not certain.
func (l *Lists) known(element, key int32) int32 {
	if at := l.position[element]; at <= l.sure(key) {
		return at
	}
	return 0
}

// found returns an anomaly, and adds it unless the transaction has it already.
func (l *Lists) found(kind Kind, txn, other, key, element int32) *Anomaly {
	x := Anomaly{Kind: kind, Txn: txn, Other: max(-1, other), Failed: -1, Key: key, Element: element, Step: l.at}
	if other <= failedOwner {
		x.Failed = failedOwner - other
	}
	for i := len(l.Anomalies) - 1; i >= 0 && l.Anomalies[i].Txn == txn; i-- {
		if a := &l.Anomalies[i]; a.Kind == kind && a.Other == x.Other && a.Failed == x.Failed && a.Key == key && a.Element == element {
			return a
		}
	}
	l.Anomalies = append(l.Anomalies, x)
	return &l.Anomalies[len(l.Anomalies)-1]
}

// updates looks at the order in which elements were appended.
func (l *Lists) updates(failed [][]int32) {
	before := make([]int32, l.shape.Slots) // by key: the place of what the transaction appended before, plus 1
	for txn := range int32(len(l.Inv)) {
		if !l.Happened[txn] {
			continue
		}
		for _, s := range l.steps(txn) {
			before[s.Slot] = 0
		}
		for _, s := range l.steps(txn) {
			if !s.Append {
				continue
			}
			at := l.position[s.Value]
			if at == 0 {
				at = int32(len(l.order[s.Slot])) + 1
			}
			if at < before[s.Slot] {
				l.found(Incompatible, l.Shower[s.Slot], txn, s.Slot, s.Value).Within = true
			}
			before[s.Slot] = at
		}
	}
	if len(failed) == 0 {
		return
	}
	for k, list := range l.order {
		dirty := initialOwner
		for _, e := range list {
			switch by := l.owner[e]; {
			case by <= failedOwner:
				dirty = by
			case dirty <= failedOwner && by >= 0 && l.Res[by] != models.Open:
				l.found(DirtyUpdate, by, dirty, int32(k), e)
				dirty = initialOwner
			}
		}
	}
}

// lostUpdates finds transactions that read the same version of a key and then appended to it.
func (l *Lists) lostUpdates() {
	type version struct{ key, list, txn int32 }
	var all []version
	seen := make([]int32, l.shape.Slots) // by key: 1 and up: its first read, in steps, plus 1; -1: appended
	for txn, res := range l.Res {
		if res == models.Open {
			continue
		}
		steps := l.steps(int32(txn))
		for _, s := range steps {
			seen[s.Slot] = 0
		}
		for i, s := range steps {
			switch {
			case !s.Append && seen[s.Slot] == 0:
				seen[s.Slot] = int32(i) + 1
			case s.Append:
				if seen[s.Slot] > 0 {
					all = append(all, version{s.Slot, steps[seen[s.Slot]-1].Value, int32(txn)})
				}
				seen[s.Slot] = -1
			}
		}
	}
	slices.SortFunc(all, func(a, b version) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.list, b.list), cmp.Compare(a.txn, b.txn))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].key == all[0].key && all[n].list == all[0].list {
			n++
		}
		if n > 1 {
			lost := l.found(LostUpdate, all[0].txn, -1, all[0].key, -1)
			for _, x := range all[:n] {
				lost.Others = append(lost.Others, x.txn)
			}
		}
		all = all[n:]
	}
}

// touches lists the keys of each transaction.
func (l *Lists) touches() {
	at := make([]int32, l.shape.Slots) // by key: the transaction that was the last to have it, plus 1
	l.From = make([]int32, 1, len(l.Inv)+1)
	for txn := range int32(len(l.Inv)) {
		for _, s := range l.steps(txn) {
			if at[s.Slot] != txn+1 {
				at[s.Slot] = txn + 1
				l.Touched = append(l.Touched, s.Slot)
			}
		}
		l.From = append(l.From, int32(len(l.Touched)))
	}
}

// ReadLists is NewLists for operations of a model of that shape, with the transactions that failed.
func ReadLists(ops *models.Operations) (l *Lists, twice [2]int32, ambiguous bool) {
	shape, _ := models.ShapeOf[models.TxnListsShape](ops.Model)
	txns, failed := shape.Failed(ops.History)
	process := make([]int32, ops.Len())
	for row, op := range ops.Of {
		process[row] = ops.History.Process[ops.History.Invocation[op]]
	}
	l, twice, ambiguous = NewLists(&ops.Columns, process, &shape, failed)
	if l != nil {
		l.Failed, l.ops = txns, ops
	}
	return l, twice, ambiguous
}

// Showing returns the transactions that show steps and which of some transactions happened, besides these themselves.
func (l *Lists) Showing(steps []Step, txns []int32) (all []int32) {
	add := func(key int32) {
		if by := l.Shower[key]; by >= 0 && !slices.Contains(all, by) && !slices.Contains(txns, by) {
			all = append(all, by)
		}
	}
	for _, s := range steps {
		if s.Key >= 0 && s.Why&(WW|RW|First) != 0 {
			add(s.Key)
		}
	}
	for _, txn := range txns {
		if l.Res[txn] != models.Open {
			continue
		}
		for _, s := range l.steps(txn) {
			if s.Append && l.position[s.Value] > 0 {
				add(s.Slot)
				break
			}
		}
	}
	return all
}

// answer says whether the history is at a level.
func (l *Lists) answer(x *graphed, level models.Level) Answer {
	for i := range l.Anomalies {
		if a := &l.Anomalies[i]; a.Kind != LostUpdate && a.Breaks(level) {
			return Answer{Level: level, Verdict: jepsen.Invalid, Anomaly: a}
		}
	}
	return x.at(level)
}

// At says whether the history is at a level.
func (l *Lists) At(level models.Level) Answer { return l.answer(l.asked(), level) }

// Cycle returns a short cycle that contradicts a level, or nil if there is none. Other anomalies do not matter.
func (l *Lists) Cycle(level models.Level) *Cycle { return l.asked().at(level).Cycle }

// Levels says at which levels the history is.
func (l *Lists) Levels() []Answer {
	return all(func(level models.Level) Answer { return l.answer(l.asked(), level) })
}

// Cycles returns cycles of all kinds.
func (l *Lists) Cycles() []Cycle { return l.asked().of(false).cycles(&l.asking.left) }

func (l *Lists) asked() *graphed {
	if l.asking == nil {
		l.asking = l.graphed(l.graph)
	}
	return l.asking
}
