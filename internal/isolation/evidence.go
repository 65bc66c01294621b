package isolation

import (
	"slices"

	"clew/models"
)

// # Evidence, checked again
//
// An answer can be checked without the graph: snapshots and commits are replayed on lists, and each step of a cycle is
// compared with what its two transactions read and appended. Orders are replayed by the model itself (models.Replay); inOrder only
// looks at their order in time.
//
// Cost: linear in the operations and in all elements that were read.

// Wrong says what is wrong with the evidence of an answer, or "", and whether it has evidence that can be checked.
func (l *Lists) Wrong(a Answer) (why string, checked bool) {
	switch {
	case a.Order != nil:
		return l.inOrder(a.Order, relations[a.Level].of), true
	case a.Points != nil:
		return l.replay(a.Points, relations[a.Level].of), true
	case a.Cycle != nil:
		return l.follow(a.Cycle), true
	}
	return "", false
}

// inOrder says what is wrong with the order in time of transactions.
func (l *Lists) inOrder(order []int32, of Relation) string {
	last := map[int32]int32{} // by process, by key, or for all: the earliest return of those that come later in the order
	at := func(id, txn int32) bool {
		first, some := last[id]
		if some && first < l.Inv[txn] {
			return false
		}
		if res := l.Res[txn]; res != models.Open && (!some || res < first) {
			last[id] = res
		}
		return true
	}
	for _, txn := range slices.Backward(order) {
		ok := true
		switch {
		case of&Time != 0:
			ok = at(0, txn)
		case of&Process != 0:
			ok = at(l.Process[txn], txn)
		case of&KeyTime != 0:
			for _, key := range l.touched(txn) {
				ok = at(key, txn) && ok
			}
		}
		if !ok {
			return "the order of transactions contradicts that in time"
		}
	}
	return l.complete(order)
}

// complete says whether transactions that returned are missing.
func (l *Lists) complete(txns []int32) string {
	there := make([]bool, len(l.Inv))
	for _, txn := range txns {
		if there[txn] {
			return "a transaction happens twice"
		}
		there[txn] = true
	}
	for txn, res := range l.Res {
		if res != models.Open && !there[txn] {
			return "a transaction is missing"
		}
	}
	return ""
}

// replay says what is wrong with snapshots and commits.
func (l *Lists) replay(points []int32, of Relation) string {
	lists := slices.Grow(slices.Clone(l.shape.Init), l.shape.Slots)[:l.shape.Slots]
	for key := range l.shape.Init {
		lists[key] = slices.Clip(lists[key])
	}
	commit := make([]int32, l.shape.Slots) // by key: the place of the last commit that updated it
	snapshot := make([]int32, len(l.Inv))
	session := map[int32]int32{} // by process: the latest call of those that have taken their snapshot
	var commits []int32
	for i, p := range points {
		txn := p / 2
		if p%2 == 0 {
			snapshot[txn] = int32(i) + 1
			session[l.Process[txn]] = max(session[l.Process[txn]], l.Inv[txn]+1)
			if !l.explained(txn, lists) {
				return "a snapshot does not explain a read"
			}
			continue
		}
		if snapshot[txn] == 0 {
			return "a transaction commits before its snapshot"
		}
		commits = append(commits, txn)
		if res := l.Res[txn]; of&Process != 0 && res != models.Open && session[l.Process[txn]] > res+1 {
			return "a process does not see what it did before"
		}
		for _, s := range l.steps(txn) {
			if s.Append {
				if commit[s.Slot] > snapshot[txn] {
					return "two transactions overlap that update the same key"
				}
				lists[s.Slot] = append(lists[s.Slot], s.Value)
			}
		}
		for _, s := range l.steps(txn) {
			if s.Append {
				commit[s.Slot] = int32(i) + 1
			}
		}
	}
	return l.complete(commits)
}

// explained reports whether lists explain all reads of a transaction.
func (l *Lists) explained(txn int32, lists [][]int32) bool {
	var own []models.ListStep
	for _, s := range l.steps(txn) {
		if s.Append {
			own = append(own, s)
			continue
		}
		list := l.shape.List(s)
		n := len(lists[s.Slot])
		if len(list) < n || !slices.Equal(list[:n], lists[s.Slot]) {
			return false
		}
		for _, mine := range own {
			if mine.Slot == s.Slot {
				if n == len(list) || list[n] != mine.Value {
					return false
				}
				n++
			}
		}
		if n != len(list) {
			return false
		}
	}
	return true
}

// follow says what is wrong with a cycle.
func (l *Lists) follow(c *Cycle) string {
	for i, s := range c.Steps {
		if s.To != c.Steps[(i+1)%len(c.Steps)].From || s.From == s.To || !l.Happened[s.From] {
			return "the steps do not make a cycle"
		}
		if _, _, holds := l.Behind(s); !holds {
			return "a step of the cycle does not hold"
		}
	}
	if kindOf(c.Steps) != c.Kind {
		return "the cycle has another name"
	}
	return ""
}
