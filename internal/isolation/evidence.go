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
		return l.follow(a.Cycle, l.holds), true
	}
	return "", false
}

// inOrder says what is wrong with the order in time of transactions.
func (h *History) inOrder(order []int32, of Relation) string {
	last := map[int32]int32{} // by process, by key, or for all: the earliest return of those that come later in the order
	at := func(id, txn int32) bool {
		first, some := last[id]
		if some && first < h.Inv[txn] {
			return false
		}
		if res := h.Res[txn]; res != models.Open && (!some || res < first) {
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
			ok = at(h.Process[txn], txn)
		case of&KeyTime != 0:
			for _, key := range h.touched(txn) {
				ok = at(key, txn) && ok
			}
		}
		if !ok {
			return "the order of transactions contradicts that in time"
		}
	}
	return h.complete(order)
}

// complete says whether transactions that returned are missing.
func (h *History) complete(txns []int32) string {
	there := make([]bool, len(h.Inv))
	for _, txn := range txns {
		if there[txn] {
			return "a transaction happens twice"
		}
		there[txn] = true
	}
	for txn, res := range h.Res {
		if res != models.Open && !there[txn] {
			return "a transaction is missing"
		}
	}
	return ""
}

// stored is what snapshots and commits are replayed on.
type stored struct {
	explains func(txn int32) bool    // whether all that a transaction read fits what is stored
	updates  func(txn int32) []int32 // the keys that it updates
	update   func(txn int32)
}

// replay says what is wrong with snapshots and commits.
func (l *Lists) replay(points []int32, of Relation) string {
	lists := slices.Grow(slices.Clone(l.shape.Init), l.shape.Slots)[:l.shape.Slots]
	for key := range l.shape.Init {
		lists[key] = slices.Clip(lists[key])
	}
	return l.History.replay(points, of, stored{
		func(txn int32) bool { return l.explained(txn, lists) },
		func(txn int32) (keys []int32) {
			for _, s := range l.steps(txn) {
				if s.Append {
					keys = append(keys, s.Slot)
				}
			}
			return keys
		},
		func(txn int32) {
			for _, s := range l.steps(txn) {
				if s.Append {
					lists[s.Slot] = append(lists[s.Slot], s.Value)
				}
			}
		},
	})
}

// replay says what is wrong with snapshots and commits.
func (h *History) replay(points []int32, of Relation, on stored) string {
	commit := map[int32]int32{} // by key: the place of the last commit that updated it
	snapshot := make([]int32, len(h.Inv))
	session := map[int32]int32{} // by process: the latest call of those that have taken their snapshot
	var commits []int32
	for i, p := range points {
		txn := p / 2
		if p%2 == 0 {
			snapshot[txn] = int32(i) + 1
			session[h.Process[txn]] = max(session[h.Process[txn]], h.Inv[txn]+1)
			if !on.explains(txn) {
				return "a snapshot does not explain a read"
			}
			continue
		}
		if snapshot[txn] == 0 {
			return "a transaction commits before its snapshot"
		}
		commits = append(commits, txn)
		if res := h.Res[txn]; of&Process != 0 && res != models.Open && session[h.Process[txn]] > res+1 {
			return "a process does not see what it did before"
		}
		keys := on.updates(txn)
		for _, key := range keys {
			if commit[key] > snapshot[txn] {
				return "two transactions overlap that update the same key"
			}
		}
		on.update(txn)
		for _, key := range keys {
			commit[key] = int32(i) + 1
		}
	}
	return h.complete(commits)
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

// follow says what is wrong with a cycle, given which steps hold.
func (h *History) follow(c *Cycle, holds func(s Step) bool) string {
	for i, s := range c.Steps {
		if s.To != c.Steps[(i+1)%len(c.Steps)].From || s.From == s.To || !h.Happened[s.From] {
			return "the steps do not make a cycle"
		}
		if s.Why&(Process|Time|KeyTime) != 0 && !h.inTimeStep(s) || !holds(s) {
			return "a step of the cycle does not hold"
		}
	}
	if kindOf(c.Steps) != c.Kind {
		return "the cycle has another name"
	}
	return ""
}

// inTimeStep reports whether a step in time holds.
func (h *History) inTimeStep(s Step) bool {
	return h.Res[s.From] != models.Open && h.Res[s.From] < h.Inv[s.To] && (s.Why != Process || h.Process[s.From] == h.Process[s.To])
}

// Direct reports whether the micro-operations of its transactions alone show a step.
func (l *Lists) Direct(Step) bool { return true }

// holds reports whether there are micro-operations behind a step.
func (l *Lists) holds(s Step) bool {
	_, _, holds := l.Behind(s)
	return holds
}
