package languages

import (
	"slices"

	"clew/fallback"
)

// automata holds finite languages of words of numbers, as the nodes of one
// acyclic automaton. A node says whether its language has the empty word, and has
// an edge for every number with which a word of it may begin. No two nodes have
// the same language. So languages are equal if and only if their nodes are, and
// shared parts are held once.
//
// A node is made after those that its edges lead to, and has a greater number.
type automata struct {
	ends  []bool  // by node: the empty word is in its language
	first []int32 // by node: where its edges begin; they end where the next node's begin
	value []int32 // by edge: ascending within a node
	to    []int32 // by edge
	table []int32 // nodes by hash, less 1: 0 is free

	unions fallback.Memo // by pair of nodes, the smaller one first
	memos  int           // how many pairs it has

	value2, to2 []int32 // edges of nodes in the making
	frames      []frame
	tick        func() bool // counts a step, and says whether to go on
}

// frame is a union of two nodes in progress. i and j are the edges that come
// next, and the edges before them are in value2 and to2 from start on.
type frame struct{ a, b, i, j, start int32 }

// The language nothing has no words, and blank has only the empty word.
const (
	nothing int32 = iota
	blank
)

func newAutomata(tick func() bool) *automata {
	a := &automata{first: []int32{0}, table: make([]int32, 64), tick: tick}
	a.intern(false, 0)
	a.intern(true, 0)
	return a
}

// bytes returns about how much memory the automata hold.
func (a *automata) bytes() int64 {
	return int64(cap(a.ends)) + 4*int64(cap(a.first)+cap(a.value)+cap(a.to)+cap(a.value2)+cap(a.to2)+len(a.table)) + 24*int64(a.memos)
}

// intern returns the node with the edges in the making from start on, and
// removes these.
func (a *automata) intern(ends bool, start int) int32 {
	value, to := a.value2[start:], a.to2[start:]
	at := a.find(ends, value, to)
	n := a.table[at] - 1
	if n < 0 {
		n = int32(len(a.ends))
		a.ends = append(a.ends, ends)
		a.value, a.to = append(a.value, value...), append(a.to, to...)
		a.first = append(a.first, int32(len(a.value)))
		a.table[at] = n + 1
		if 2*len(a.ends) > len(a.table) {
			a.rehash(2 * len(a.table))
		}
	}
	a.value2, a.to2 = a.value2[:start], a.to2[:start]
	return n
}

// find returns the place of a node in the table, or the free place where it belongs.
func (a *automata) find(ends bool, value, to []int32) int {
	h := uint64(len(value))
	if ends {
		h |= 1 << 32
	}
	for i, v := range value {
		h = (h ^ uint64(uint32(v)) ^ uint64(uint32(to[i]))<<32) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	last := len(a.table) - 1
	at := int((h*0x9e3779b97f4a7c15)>>32) & last
	for ; a.table[at] != 0; at = (at + 1) & last {
		n := a.table[at] - 1
		if a.ends[n] == ends && slices.Equal(a.values(n), value) && slices.Equal(a.targets(n), to) {
			break
		}
	}
	return at
}

func (a *automata) rehash(size int) {
	a.table = make([]int32, size)
	for n := range int32(len(a.ends)) {
		a.table[a.find(a.ends[n], a.values(n), a.targets(n))] = n + 1
	}
}

// values returns the numbers with which words of a language begin, and targets
// returns what may follow each.
func (a *automata) values(n int32) []int32  { return a.value[a.first[n]:a.first[n+1]] }
func (a *automata) targets(n int32) []int32 { return a.to[a.first[n]:a.first[n+1]] }

// edge adds an edge to the node in the making. The edges of a node ascend.
func (a *automata) edge(value, to int32) {
	a.value2, a.to2 = append(a.value2, value), append(a.to2, to)
}

// push returns the words of a language with a number in front.
func (a *automata) push(value, n int32) int32 {
	a.edge(value, n)
	return a.intern(false, len(a.value2)-1)
}

// pop returns what follows a number in front.
func (a *automata) pop(value, n int32) int32 {
	for i, v := range a.values(n) {
		if v == value {
			return a.targets(n)[i]
		}
	}
	return nothing
}

// without returns the words that do not begin with a number.
func (a *automata) without(value, n int32) int32 {
	start := len(a.value2)
	for i, v := range a.values(n) {
		if v != value {
			a.edge(v, a.targets(n)[i])
		}
	}
	return a.intern(a.ends[n], start)
}

// notBlank returns the words of a language except the empty one.
func (a *automata) notBlank(n int32) int32 {
	start := len(a.value2)
	a.value2, a.to2 = append(a.value2, a.values(n)...), append(a.to2, a.targets(n)...)
	return a.intern(false, start)
}

// union returns the words of either language. It walks down as long as they differ.
// Its result is useless if tick said that it may not go on.
func (a *automata) union(x, y int32) int32 {
	if n, known := a.known(x, y); known {
		return n
	}
	a.frames = append(a.frames[:0], a.begin(x, y))
	n := nothing
	for len(a.frames) > 0 && a.tick() {
		f := &a.frames[len(a.frames)-1]
		below, known := a.merge(f)
		if !known {
			a.frames = append(a.frames, below)
			continue
		}
		n = a.intern(a.ends[f.a] || a.ends[f.b], int(f.start))
		a.unions.Put(f.a, f.b, n)
		a.memos++
		a.frames = a.frames[:len(a.frames)-1]
	}
	a.value2, a.to2 = a.value2[:0], a.to2[:0]
	return n
}

// begin returns the frame of a union that is to be made.
func (a *automata) begin(x, y int32) frame {
	x, y = min(x, y), max(x, y)
	return frame{x, y, a.first[x], a.first[y], int32(len(a.value2))}
}

// known returns a union that is obvious or was made before.
func (a *automata) known(x, y int32) (n int32, known bool) {
	switch {
	case x == y || y == nothing:
		return x, true
	case x == nothing:
		return y, true
	}
	return a.unions.Get(min(x, y), max(x, y))
}

// merge merges edges until none is left, or until it needs another union.
func (a *automata) merge(f *frame) (below frame, known bool) {
	endA, endB := a.first[f.a+1], a.first[f.b+1]
	for f.i < endA || f.j < endB {
		switch {
		case f.j == endB || f.i < endA && a.value[f.i] < a.value[f.j]:
			a.edge(a.value[f.i], a.to[f.i])
			f.i++
		case f.i == endA || a.value[f.j] < a.value[f.i]:
			a.edge(a.value[f.j], a.to[f.j])
			f.j++
		default:
			n, known := a.known(a.to[f.i], a.to[f.j])
			if !known {
				return a.begin(a.to[f.i], a.to[f.j]), false
			}
			a.edge(a.value[f.i], n)
			f.i++
			f.j++
		}
	}
	return frame{}, true
}

// collect drops all nodes that none of the roots reaches, and gives the others new
// numbers. It calls roots with a function that marks a root, and again with one
// that renumbers it.
func (a *automata) collect(roots func(each func(n *int32))) {
	number := make([]int32, len(a.ends)) // 0: not reached
	number[nothing], number[blank] = 1, 1
	roots(func(n *int32) { number[*n] = 1 })
	for n := len(number) - 1; n > int(blank); n-- {
		if number[n] != 0 {
			for _, to := range a.targets(int32(n)) {
				number[to] = 1
			}
		}
	}
	kept, edges := int32(0), int32(0)
	for n, reached := range number {
		if reached == 0 {
			continue
		}
		from, end := a.first[n], a.first[n+1]
		number[n], a.ends[kept], a.first[kept] = kept, a.ends[n], edges
		for i := from; i < end; i++ {
			a.value[edges], a.to[edges] = a.value[i], number[a.to[i]]
			edges++
		}
		kept++
	}
	a.first[kept] = edges
	a.ends, a.first, a.value, a.to = a.ends[:kept], a.first[:kept+1], a.value[:edges], a.to[:edges]
	a.unions, a.memos = fallback.Memo{}, 0
	size := 64
	for size < 4*len(a.ends) {
		size *= 2
	}
	a.rehash(size)
	roots(func(n *int32) { *n = number[*n] })
}
