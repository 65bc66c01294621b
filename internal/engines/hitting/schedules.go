package hitting

import (
	"math"

	"clew/fallback"
	"clew/models"
)

// family streams strong d-hitting families of schedules (Ozkan, Majumdar &
// Niksic, "Checking linearizability using hitting families", PPoPP 2019,
// Algorithm 1).
//
// Operations are a poset: x < y if x returned before y began. A schedule is a
// linear extension of it. It strongly hits a tuple (x1 .. xd) if each xi runs as
// late as it can. That is, everything after xi is some xj with j >= i, or had to
// wait for one. A family is strongly d-hitting if some schedule of it strongly
// hits every tuple of d operations that can run in this order.
//
// Chains cover the poset. The family has a schedule for every chain and every
// tuple (x2 .. xd), at most m n^(d-1) for n operations in m chains. All x1 of one
// chain share it. Algorithm 1 inserts one operation after another: those of the
// tuple and of the chain as late as possible, others right after their last
// predecessor. The result is the operations sorted by
//
//   - level: the greatest j for which xj <= y, or 1;
//   - rung: how many operations of the chain are <= y;
//   - and among equals any order that extends the poset, here that of the returns.
//
// So it is built here by counting, in time linear in n. Both numbers only grow
// along the poset, so this is a schedule. It strongly hits every tuple. What comes
// after xj, j >= 2, has a level k >= j, since no xk with k > j is before xj. So it
// is xk or comes after it. What comes after an x1 of the chain has a higher level,
// or level 1 and x1's rung or a higher one. So it is x1 or comes after it.
//
// A crashed operation may take effect at any time after its invocation, or never.
// Nothing comes after it, so it is a chain of its own, and optional. It is in the
// schedules of its own chain and of the tuples that name it, and left out of all
// others. Without crashes there are as many chains as processes, or fewer: a
// process takes the chain of one that will not go on, as Jepsen's do after a
// crash. So there are as many chains as operations are open at once.
type family struct {
	c      *models.Columns
	chains [][]int32 // rows
	after  []int32   // by row: the first row that begins once it has returned
	byRes  []int32   // rows by return, crashed ones last
	poll   func() bool

	order  []int32   // rows by rung and return
	rung   []int32   // by row
	level  [][]int32 // by length of the tuple so far and row; leftOut if it is not in any schedule
	tuple  []int32
	result []int32
	start  []int32 // by key: where it begins

	seen []uint64 // fingerprints of schedules, hashed
}

// leftOut is the level of a crashed operation that a schedule does not name.
const leftOut = -1

// maxSeen bounds the schedules that are remembered, to 8 MB. Until they take
// half of that, each finds a place within the given number of probes. After
// that, later ones take the places of earlier ones.
const (
	maxSeen = 1 << 20
	probes  = 32
)

// newFamily prepares families up to a depth. If poll returns false, each ends.
func newFamily(ops *models.Operations, depth int, poll func() bool) *family {
	c, n := &ops.Columns, ops.Len()
	f := &family{c: c, poll: poll, after: make([]int32, n), byRes: make([]int32, 0, n), order: make([]int32, n), rung: make([]int32, n),
		result: make([]int32, n), start: make([]int32, max(n, depth)+2)}
	for range depth {
		f.level = append(f.level, make([]int32, n))
	}
	begun := int32(0)
	for e, row := range fallback.RowsAt(ops) {
		switch {
		case row < 0:
		case c.Inv[row] == int32(e):
			f.after[row] = int32(n) // unless it returns
			begun++
		default:
			f.after[row] = begun
			f.byRes = append(f.byRes, row)
		}
	}
	for i, res := range c.Res {
		if res == models.Open {
			f.byRes = append(f.byRes, int32(i))
		}
	}
	f.chain()
	f.seen = make([]uint64, places(n, depth))
	return f
}

// places returns how many fingerprints of schedules are remembered: all, if
// there are few.
func places(n, depth int) int {
	p := 1
	for p < maxSeen && float64(p) < 2*familyBound(n, n, depth) {
		p *= 2
	}
	return p
}

// familyBound returns m n^(d-1).
func familyBound(chains, n, depth int) float64 {
	return float64(chains) * math.Pow(float64(n), float64(depth-1))
}

// chain covers the rows with as few chains as possible. Each row joins a chain
// whose last row has returned.
func (f *family) chain() {
	var free []int // chains whose last row has returned
	returned := 0
	at := make([]int, f.c.Len()) // by row: its chain
	for i := range int32(f.c.Len()) {
		for f.c.Res[f.byRes[returned]] < f.c.Inv[i] {
			free = append(free, at[f.byRes[returned]])
			returned++
		}
		n := len(f.chains)
		if last := len(free) - 1; last >= 0 && f.c.Res[i] != models.Open {
			n, free = free[last], free[:last]
		} else {
			f.chains = append(f.chains, nil)
		}
		f.chains[n] = append(f.chains[n], i)
		at[i] = n
	}
}

// familyBytes returns about how many bytes a family holds.
func familyBytes(n, depth int) int64 { return int64(4*n*(8+depth) + 8*places(n, depth)) }

// each calls yield with the schedules of the family of a depth, except those
// that it remembers having yielded before. It returns false if yield or poll
// did. A schedule is valid until yield returns.
func (f *family) each(depth int, yield func(schedule []int32) bool) bool {
	for _, chain := range f.chains {
		f.choose(chain)
		if !f.extend(depth, chain, yield) {
			return false
		}
	}
	return true
}

// choose makes the rows of a chain those that run late.
func (f *family) choose(chain []int32) {
	for i := range f.level[0] {
		f.level[0][i] = 0
		if f.c.Res[i] == models.Open {
			f.level[0][i] = leftOut
		}
	}
	f.level[0][chain[0]] = 0 // it may have crashed
	own, before := int32(0), int32(0)
	for i := range f.rung {
		for before < own && f.c.Res[chain[before]] < f.c.Inv[i] {
			before++
		}
		f.rung[i] = before
		if int(own) < len(chain) && chain[own] == int32(i) {
			own++
			f.rung[i] = own
		}
	}
	f.order = f.sortBy(f.order, f.byRes, f.rung)
}

// sortBy puts rows into dst, ordered by their keys. Rows of equal keys keep
// their order. It leaves out rows whose key is leftOut.
func (f *family) sortBy(dst, rows, key []int32) []int32 {
	clear(f.start)
	most := int32(0)
	for _, k := range key {
		f.start[k+1]++ // this counts those left out, too
		most = max(most, k)
	}
	sum := int32(0)
	for k := range most + 1 {
		n := f.start[k+1]
		f.start[k+1] = sum
		sum += n
	}
	dst = dst[:sum]
	for _, i := range rows {
		if k := key[i]; k != leftOut {
			dst[f.start[k+1]] = i
			f.start[k+1]++
		}
	}
	return dst
}

// extend goes through all tuples of depth-1 rows that begin with the one so far.
func (f *family) extend(depth int, chain []int32, yield func([]int32) bool) bool {
	if !f.poll() {
		return false
	}
	k := int32(len(f.tuple))
	if int(k) == depth-1 {
		f.result = f.sortBy(f.result, f.order, f.level[k])
		return f.known() || yield(f.result)
	}
	for x := range int32(f.c.Len()) {
		// Some row of the chain has to be able to run before the tuple.
		if x == chain[0] || f.c.Res[x] < f.c.Inv[chain[0]] || !f.mayFollow(x) {
			continue
		}
		level := f.level[k+1]
		copy(level, f.level[k])
		for y := f.after[x]; int(y) < len(level); y++ {
			if level[y] != leftOut {
				level[y] = k + 1
			}
		}
		level[x] = k + 1
		f.tuple = append(f.tuple, x)
		ok := f.extend(depth, chain, yield)
		f.tuple = f.tuple[:k]
		if !ok {
			return false
		}
	}
	return true
}

// mayFollow says whether x can run after the tuple so far.
func (f *family) mayFollow(x int32) bool {
	for _, y := range f.tuple {
		if x == y || f.c.Res[x] < f.c.Inv[y] {
			return false
		}
	}
	return true
}

// known says whether the schedule was yielded before, as far as that is
// remembered. Two different schedules have the same fingerprint of 63 bits only
// by accident.
func (f *family) known() bool {
	h := uint64(14695981039346656037)
	for _, row := range f.result {
		h = (h ^ uint64(row)) * 1099511628211
		h ^= h >> 29
	}
	h |= 1 // so it never equals an empty place
	last := uint64(len(f.seen) - 1)
	for i := range uint64(min(probes, len(f.seen))) {
		switch place := &f.seen[(h>>20+i)&last]; *place {
		case h:
			return true
		case 0:
			*place = h
			return false
		}
	}
	f.seen[h>>20&last] = h
	return false
}
