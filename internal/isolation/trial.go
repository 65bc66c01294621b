package isolation

import (
	"fmt"
	"maps"
	"slices"

	"clew/models"
)

// # All orders of a few transactions
//
// Decides: whether a few transactions on registers are at a level that asks for an order or for snapshots, by trying all orders.
//
// Cost: exponential, so there are at most mostTried transactions.
//
// It checks again what the search of package transaction refutes. It has nothing in common with that but the steps of
// transactions: it goes on from a snapshot or commit to the next one, and looks at what is there.

// mostTried bounds the transactions that are tried in all orders.
const mostTried = 12

// trial tries all orders.
type trial struct {
	r     *Registers
	rows  []int32
	of    Relation
	split bool
	seen  map[string]bool
}

// tried reports whether some order of a few transactions is at a level, and whether all orders were tried.
func (r *Registers) tried(rows []int32, level models.Level) (at, all bool) {
	if len(rows) > mostTried {
		return false, false
	}
	x := &trial{r, rows, relations[level].of, relations[level].split, map[string]bool{}}
	now := map[int32]int32{}
	for _, row := range rows {
		for _, s := range r.steps(row) {
			now[s.Slot] = r.shape.Init(s.Slot)
		}
	}
	return x.goesOn(0, 0, now), true
}

// goesOn reports whether there is a way on, given which rows have taken their snapshots, which have committed, and what is there.
func (x *trial) goesOn(started, committed int, now map[int32]int32) bool {
	done := true
	for i, row := range x.rows {
		done = done && (committed&(1<<i) != 0 || x.r.Res[row] == models.Open)
	}
	if done {
		return true
	}
	id := fmt.Sprint(started, committed, now)
	if x.seen[id] {
		return false
	}
	x.seen[id] = true
	for i, row := range x.rows {
		bit := 1 << i
		switch {
		case started&bit == 0:
			if !x.mayStart(i, started, committed) || !x.r.explains(row, now) {
				continue
			}
			if x.split && x.goesOn(started|bit, committed, now) || !x.split && x.goesOn(started|bit, committed|bit, x.r.after(row, now)) {
				return true
			}
		case committed&bit == 0 && x.goesOn(started, committed|bit, x.r.after(row, now)):
			return true
		}
	}
	return false
}

// mayStart reports whether a row may take its snapshot: what comes before it in time has committed, and no other one that
// writes a key that it writes is open.
func (x *trial) mayStart(i, started, committed int) bool {
	for j, other := range x.rows {
		if i == j || committed&(1<<j) != 0 {
			continue
		}
		if x.r.inTimeWhy(other, x.rows[i], x.of) != 0 {
			return false
		}
		if started&(1<<j) != 0 && slices.ContainsFunc(x.r.steps(other), func(s models.RegisterStep) bool {
			_, writes := x.r.leaves(x.rows[i], s.Slot)
			return s.Write && writes
		}) {
			return false
		}
	}
	return true
}

// explains reports whether all that a row read fits what is there, and what it had written.
func (r *Registers) explains(row int32, now map[int32]int32) bool {
	for i, s := range r.steps(row) {
		if s.Write {
			continue
		}
		there := now[s.Slot]
		for _, before := range r.steps(row)[:i] {
			if before.Write && before.Slot == s.Slot {
				there = before.Value
			}
		}
		if there != s.Value {
			return false
		}
	}
	return true
}

// after returns what is there after a row has committed.
func (r *Registers) after(row int32, now map[int32]int32) map[int32]int32 {
	next := maps.Clone(now)
	r.write(row, next)
	return next
}

// write writes what a row does.
func (r *Registers) write(row int32, now map[int32]int32) {
	for _, s := range r.steps(row) {
		if s.Write {
			now[s.Slot] = s.Value
		}
	}
}
