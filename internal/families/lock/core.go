package lock

import (
	"cmp"
	"slices"

	"clew/fastpath"
	"clew/models"
)

// # Cores of locks
//
// The core of a failure has the operations that still hold the lock, or a permit, with the failing one and those that its
// sentence names. All others can be left out in groups: what stands between two places of the sweep's order at which as
// much is held, an acquire with its release at least.
//
// Rests on: the sweep's order is one that any linearization can begin with (locks.go, ownerlocks.go). What is left of it
// without a group is possible, since as much is held before what follows. Without owners that is all that counts. Locks
// with owners have groups of one owner each: for the others, less is held meanwhile, and without an acquire fewer fences are
// in the way. So if the history is linearizable, then so is the rest, and if the rest fails, the history does.
//
// Crashed operations, and others that have not returned by then: they are in the order if the sweep needed them. An acquire
// that is not can only get in the way if no release can follow it, and a release if it has no acquire.
//
// Complexity: O(n log n).

// core returns the rows of a core. t is when the failing operation returns, and order what has been linearized by then.
// change is by how much an operation changes what is held, by its owner if it is owned.
func core(in fastpath.Input, t int32, order []int32, owned bool, change func(i int32) int32, why *fastpath.Finding) []models.Row {
	of := func(i int32) int32 {
		if owned {
			return in.A[i]
		}
		return 0
	}
	rows := in.UpTo(t)
	ordered, kept := make([]bool, len(rows)), make([]bool, len(rows))
	has := [2]map[int32]bool{{}, {}} // by kind, the owners of what is kept
	keep := func(i int32) {
		kept[i], has[in.Kind[i]][of(i)] = true, true
	}
	byOwner := slices.Clone(order)
	slices.SortStableFunc(byOwner, func(i, j int32) int { return cmp.Compare(of(i), of(j)) })
	for from, to := 0, 0; from < len(byOwner); from = to {
		for to < len(byOwner) && of(byOwner[to]) == of(byOwner[from]) {
			ordered[byOwner[to]] = true
			to++
		}
		for _, i := range needed(byOwner[from:to], change, why.Rows) {
			keep(i)
		}
	}
	keep(in.OpReturning(t))
	return slices.DeleteFunc(rows, func(i int32) bool {
		switch pending := !ordered[i]; {
		case kept[i] || !pending:
			return !kept[i]
		case owned && in.Kind[i] == models.Acquire:
			return true
		default:
			return !has[models.Acquire+models.Release-in.Kind[i]][of(i)]
		}
	})
}

// needed returns the operations that lead from nothing to what is held after the last one, and those that are named, with few
// others.
func needed(order []int32, change func(i int32) int32, named []models.Row) (kept []int32) {
	levels := make([]int32, len(order)) // after each
	places := map[int32][]int{}         // by level: after which operations it is held
	level, next := int32(0), []int{}    // next: the places of what is named
	for k, i := range order {
		level += change(i)
		levels[k] = level
		places[level] = append(places[level], k)
		if slices.Contains(named, i) {
			next = append(next, k)
		}
	}
	level = 0
	for k := 0; ; k++ {
		until := len(order)
		if n, _ := slices.BinarySearch(next, k); n < len(next) {
			until = next[n]
		}
		if n, _ := slices.BinarySearch(places[0], k); level != 0 && n < len(places[0]) {
			until = min(until, places[0][n]) // what is held later may have another fence
		}
		at := places[level]
		if n, _ := slices.BinarySearch(at, until); n > 0 && at[n-1] >= k {
			k = at[n-1] + 1 // a group, without anything that is named
		}
		if k == len(order) {
			return kept
		}
		kept, level = append(kept, order[k]), levels[k]
	}
}
