package staged

import (
	"math/bits"
	"slices"

	"clew/fallback"
	"clew/models"
)

// registerSpace holds the configurations of a register without their crashed
// operations. A node is (e, s, mask): the return to be passed, the value, and
// which of the operations open there are linearized. The code that walks over
// the nodes counts how many crashed operations of each class are used.
//
// Crashed operations matter only in runs directly before a completed read or cas
// that needs their last value. Such a run visits distinct values, and a write
// inside it makes its earlier steps useless. So an edge between nodes is an open
// operation, a run up to a value that an open read needs, or a run up to a value
// that an open cas needs and that cas.
//
// Exchanges settle which operation serves a step of a run. Each of them leaves
// all values unchanged:
//
//   - an open operation goes before a crashed one of equal meaning, and of open
//     ones the one that returns first;
//   - an open cas from s to b goes before an open write of b that returns later,
//     if the value is s;
//   - a crashed cas from x to y goes before a crashed write of y (rule G).
//
// Every edge linearizes a completed operation, so nodes have ranks.
type registerSpace struct {
	*fallback.Layout
	Rules

	values fallback.Numbering
	kind   []models.Kind // by row
	a, b   []int32       // by row, as numbers
	twin   []int32       // by row: the crash class of equal meaning, or -1

	classes []runClass
	writes  []int32     // by value: the class of its crashed writes, or -1
	from    [][]runStep // by value: the crashed cas from it
	into    [][]runStep // by value: the crashed cas to it

	e, s   []int32 // by node
	masks  []uint64
	first  []int32 // by node: where its edges begin, or -1 if they are not known
	count  []int32
	edges  []edge
	table  []int32 // hash table of nodes, -1 if it is free
	mask   []uint64
	banned stamps // crash classes that have an open twin
	saved  stamps // values to which an open cas from the node's value leads
	wanted stamps // values that an open read needs
	hops   []int32
	queue  []int32
}

// runClass holds the crashed writes of a value, or the crashed cas of two values.
type runClass struct {
	from, to int32 // from is -1 if it is a write
	rows     []int32
	inv      []int32 // by row
}

// runStep is a crashed cas, seen from one of its values.
type runStep struct{ value, class int32 }

// edge is a run up to a value (none if land is -1) and an open row (none if row is -1).
type edge struct{ to, row, land int32 }

// stamps is a set of numbers that empties in constant time.
type stamps struct {
	at  []int32
	now int32
}

func (s *stamps) empty(n int) {
	if s.now++; s.at == nil || s.now < 0 {
		s.at, s.now = make([]int32, n), 1
	}
}
func (s *stamps) add(i int32)      { s.at[i] = s.now }
func (s *stamps) has(i int32) bool { return s.at[i] == s.now }

// newRegisterSpace takes time linear in the operations.
func newRegisterSpace(l *fallback.Layout, r Rules) *registerSpace {
	x := &registerSpace{Layout: l, Rules: r, values: fallback.Numbering{}}
	n := l.Ops.Len()
	x.Take(24 * int64(n))
	x.kind, x.a, x.b, x.twin = l.Ops.Kind, make([]int32, n), make([]int32, n), make([]int32, n)
	x.values.Of(l.Ops.Model.Init()[0])
	for i := range n {
		x.a[i], x.b[i] = x.values.Of(l.Ops.A[i]), x.values.Of(l.Ops.B[i])
		if x.kind[i] == models.Write {
			x.b[i] = x.a[i]
		}
	}
	v := len(x.values)
	x.Take(64 * int64(v))
	x.writes, x.from, x.into, x.hops = slices.Repeat([]int32{-1}, v), make([][]runStep, v), make([][]runStep, v), make([]int32, v)
	x.group()
	x.mask = make([]uint64, x.Words)
	x.grow()
	return x
}

// group finds the crash classes that can change the value.
func (x *registerSpace) group() {
	classAt := map[int32]int32{}
	for _, c := range x.Crashed {
		row := c.Rows[0]
		k := runClass{from: -1, to: x.b[row], rows: c.Rows}
		switch {
		case x.kind[row] == models.CAS && x.a[row] != x.b[row]:
			k.from = x.a[row]
		case x.kind[row] != models.Write:
			continue
		}
		for _, row := range c.Rows {
			k.inv = append(k.inv, x.Ops.Inv[row])
		}
		id := int32(len(x.classes))
		x.classes, classAt[c.Class] = append(x.classes, k), id
		if k.from < 0 {
			x.writes[k.to] = id
		} else {
			x.from[k.from] = append(x.from[k.from], runStep{k.to, id})
			x.into[k.to] = append(x.into[k.to], runStep{k.from, id})
		}
		x.Take(120 + 8*int64(len(c.Rows)))
	}
	for i := range x.twin {
		if c, ok := classAt[x.Class[i]]; ok {
			x.twin[i] = c
		} else {
			x.twin[i] = -1
		}
	}
}

// fits says whether a row changes nothing and fits a value.
func (x *registerSpace) fits(row, s int32) bool {
	switch x.kind[row] {
	case models.Read:
		return x.a[row] == s
	case models.CAS:
		return x.a[row] == s && x.b[row] == s
	case models.FailedCAS:
		return x.a[row] != s
	}
	return false
}

// advance linearizes in x.mask all open reads that fit, and passes returns that
// are linearized. It calls read, unless nil, with the rows.
func (x *registerSpace) advance(e, s int32, read func(row int32)) int32 {
	for int(e) < len(x.Ends) {
		open := x.OpenRows(e)
		x.Work += len(open)
		for _, row := range open {
			if !fallback.HasBit(x.mask, x.Slot[row]) && x.fits(row, s) {
				fallback.SetBit(x.mask, x.Slot[row])
				if read != nil {
					read(row)
				}
			}
		}
		if !fallback.HasBit(x.mask, x.Slot[open[0]]) {
			break
		}
		fallback.ClearBit(x.mask, x.Slot[open[0]])
		e++
	}
	return e
}

// start returns the first node.
func (x *registerSpace) start() int32 {
	clear(x.mask)
	return x.arrive(0, 0)
}

// arrive returns the node that x.mask leads to after advance.
func (x *registerSpace) arrive(e, s int32) int32 {
	e = x.advance(e, s, nil)
	if int(e) == len(x.Ends) {
		s = 0 // nothing depends on it any more
	}
	at := x.hash(e, s)
	for ; x.table[at] >= 0; at = (at + 1) & (len(x.table) - 1) {
		n := x.table[at]
		if x.e[n] == e && x.s[n] == s && slices.Equal(x.maskOf(n), x.mask) {
			return n
		}
	}
	n := int32(len(x.e))
	x.table[at] = n
	x.e, x.s, x.first, x.count = append(x.e, e), append(x.s, s), append(x.first, -1), append(x.count, 0)
	x.masks = append(x.masks, x.mask...)
	x.Take(40 + 8*int64(x.Words))
	if 2*len(x.e) > len(x.table) {
		x.grow()
	}
	return n
}

func (x *registerSpace) maskOf(n int32) []uint64 {
	return x.masks[int(n)*x.Words : (int(n)+1)*x.Words]
}

func (x *registerSpace) hash(e, s int32) int {
	h := (uint64(uint32(e))<<32 | uint64(uint32(s))) * 0x9e3779b97f4a7c15
	for _, w := range x.mask {
		h = (h ^ h>>29 ^ w) * 0xbf58476d1ce4e5b9
	}
	return int((h ^ h>>32) & uint64(len(x.table)-1))
}

// grow doubles the hash table.
func (x *registerSpace) grow() {
	x.table = slices.Repeat([]int32{-1}, max(1024, 2*len(x.table)))
	for n := range int32(len(x.e)) {
		copy(x.mask, x.maskOf(n))
		at := x.hash(x.e[n], x.s[n])
		for x.table[at] >= 0 {
			at = (at + 1) & (len(x.table) - 1)
		}
		x.table[at] = n
	}
}

// rank returns how many completed operations are linearized at a node.
func (x *registerSpace) rank(n int32) int32 {
	rank := x.e[n]
	for _, w := range x.maskOf(n) {
		rank += int32(bits.OnesCount64(w))
	}
	return rank
}

// invoked returns how many crashed operations of a class were invoked before return e.
func (x *registerSpace) invoked(c, e int32) int32 {
	n, _ := slices.BinarySearch(x.classes[c].inv, x.Ends[e])
	return int32(n)
}

// left says whether a class has an operation left before return e after used of
// them are used.
func (x *registerSpace) left(c, e, used int32) bool {
	inv := x.classes[c].inv
	return int(used) < len(inv) && inv[used] < x.Ends[e]
}

// ban finds the crash classes whose effect some open operation also has, at a node.
func (x *registerSpace) ban(n int32) {
	x.banned.empty(len(x.classes) + 1)
	x.Work += len(x.OpenRows(x.e[n])) + len(x.values)
	x.saved.empty(len(x.values))
	if x.NoTwins {
		return
	}
	mask := x.maskOf(n)
	for _, row := range x.OpenRows(x.e[n]) {
		if fallback.HasBit(mask, x.Slot[row]) {
			continue
		}
		if c := x.twin[row]; c >= 0 {
			x.banned.add(c)
		}
		if x.kind[row] == models.CAS && x.a[row] == x.s[n] {
			x.saved.add(x.b[row])
		}
	}
}

// reach finds the values to which runs lead from a node, if every class could be
// used without limit once it is invoked. It puts their distances in steps into
// x.hops, or 0 for values that are not reached, and returns the values in the
// order of distance.
func (x *registerSpace) reach(n int32) []int32 {
	x.ban(n)
	clear(x.hops)
	e, s := x.e[n], x.s[n]
	x.queue = x.queue[:0]
	visit := func(y, hops int32) {
		if y != s && x.hops[y] == 0 {
			x.hops[y] = hops
			x.queue = append(x.queue, y)
		}
	}
	for y, c := range x.writes {
		if c >= 0 && !x.banned.has(c) && !x.saved.has(int32(y)) && x.left(c, e, 0) {
			visit(int32(y), 1)
		}
	}
	step := func(v, hops int32) {
		for _, t := range x.from[v] {
			if !x.banned.has(t.class) && x.left(t.class, e, 0) {
				visit(t.value, hops)
			}
		}
	}
	step(s, 1)
	for i := 0; i < len(x.queue); i++ {
		step(x.queue[i], x.hops[x.queue[i]]+1)
	}
	return x.queue
}

// children returns a node's edges. The values of runs are reachable as reach says.
func (x *registerSpace) children(n int32) []edge {
	if x.first[n] < 0 {
		x.expand(n)
	}
	return x.edges[x.first[n] : x.first[n]+x.count[n]]
}

func (x *registerSpace) expand(n int32) {
	x.Work += 20
	e, s := x.e[n], x.s[n]
	open, mask := x.OpenRows(e), slices.Clone(x.maskOf(n))
	first := len(x.edges)
	goTo := func(row, land, to int32) {
		copy(x.mask, mask)
		if row >= 0 {
			fallback.SetBit(x.mask, x.Slot[row])
		}
		to = x.arrive(e, to)
		x.edges = append(x.edges, edge{to, row, land})
	}
	free := func(i int) bool {
		return !fallback.HasBit(mask, x.Slot[open[i]]) && (x.NoTwins || !x.HasTwin(open[:i], mask, x.Class[open[i]]))
	}
	x.saved.empty(len(x.values))
	for i, row := range open {
		switch {
		case !free(i):
		case x.kind[row] == models.CAS && x.a[row] == s:
			x.saved.add(x.b[row])
			goTo(row, -1, x.b[row])
		case x.kind[row] == models.Write && (x.NoTwins || !x.saved.has(x.b[row])):
			goTo(row, -1, x.b[row])
		}
	}
	reached := x.reach(n)
	x.wanted.empty(len(x.values))
	for _, row := range open {
		switch {
		case fallback.HasBit(mask, x.Slot[row]):
		case x.kind[row] == models.Read, x.kind[row] == models.CAS && x.a[row] == x.b[row]:
			x.wanted.add(x.a[row])
		case x.kind[row] == models.FailedCAS:
			// This needs any other value, so the first value of a run will do.
			for _, y := range reached {
				if x.hops[y] == 1 {
					x.wanted.add(y)
				}
			}
		}
	}
	for _, y := range reached {
		if x.wanted.has(y) {
			goTo(-1, y, y)
			continue
		}
		for i, row := range open {
			if x.kind[row] == models.CAS && x.a[row] == y && free(i) {
				goTo(row, y, x.b[row])
			}
		}
	}
	x.first[n], x.count[n] = int32(first), int32(len(x.edges)-first)
	x.Take(16 * int64(x.count[n]))
}
