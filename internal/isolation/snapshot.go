package isolation

import (
	"cmp"
	"maps"
	"slices"

	"clew/jepsen"
)

// # Snapshot isolation
//
// Decides: whether each transaction can have a point in time at which it takes a snapshot, and a later one at which it commits, so
// that it reads from its snapshot what had been committed, and no two that update the same key overlap.
//
// Cost: linear, and a search with at most snapshotWork steps for transactions that must overlap and of which several
// update the same key, in an order that nothing read. Beyond that the answer is Unknown.
//
// Rests on: Cerone and Gotsman, "Analysing snapshot isolation", JACM 2018, and on the following.
//
// Lemma 4. The conditions are edges between points. WW, WR, First and Process: the former commits before the latter
// takes its snapshot. RW: the reader takes its snapshot before the other commits. These are the edges of the split view. For
// versions that nothing read it remains that no two of their transactions overlap that update the same key. So if the split
// view has no cycle, and no key has two of them that are not First, each topological order is a solution.
//
// Lemma 5. Otherwise let both points of each of them be one node. Components of that graph do not depend on each other:
// if each has a solution, these one after the other are a solution of all, in which transactions of different components do
// not overlap. And of each solution of all, the points of a component are a solution of that component.

// snapshotWork bounds the edges that the search follows.
const snapshotWork = 20_000_000

// mostPairs bounds the pairs of transactions whose order is looked for.
const mostPairs = 1_000_000

// snapshots sets the verdict of an answer, given the split view, which has no cycle, and the place of each point in it. It also sets
// points for the transactions that happened or, if there are none, transactions that can have no order.
func (x *graphed) snapshots(a *Answer, v *view, of []int32) {
	a.Verdict = jepsen.Unknown
	place := make([]int32, len(of)) // by point
	for p, c := range of {
		place[p] = v.len() - 1 - c
	}
	open := x.open()
	joined, group := *v, of
	if len(open) > 0 {
		joined = v.joined(open)
		group, _ = joined.components()
	}
	s := &ordering{v: v, group: group, left: snapshotWork}
	inGroup, most := map[int32][]pair{}, mostPairs
	for _, key := range open {
		byGroup := map[int32][]int32{}
		for _, txn := range key {
			byGroup[group[2*txn]] = append(byGroup[group[2*txn]], txn)
		}
		for c, txns := range byGroup {
			if most -= len(txns) * (len(txns) - 1) / 2; most < 0 {
				return
			}
			for i, a := range txns {
				for _, b := range txns[:i] {
					inGroup[c] = append(inGroup[c], pair{b, a})
				}
			}
		}
	}
	members := map[int32][]int32{}
	if len(inGroup) > 0 {
		for p, c := range group {
			if inGroup[c] != nil {
				members[c] = append(members[c], int32(p))
			}
		}
	}
	for _, c := range slices.Sorted(maps.Keys(inGroup)) {
		s.more = map[int32][]int32{}
		switch solved := s.solve(inGroup[c]); {
		case s.left < 0:
			return
		case !solved:
			a.Verdict, a.Open, a.Around = jepsen.Invalid, txnsOf(inGroup[c]), x.around(members[c])
			return
		}
		s.replace(members[c], place)
	}
	points := make([]int32, v.len())
	for p, at := range place {
		points[at] = int32(p)
	}
	if len(open) > 0 {
		for i := range points {
			points[i] = int32(i)
		}
		slices.SortFunc(points, func(a, b int32) int { return cmp.Or(cmp.Compare(group[b], group[a]), cmp.Compare(place[a], place[b])) })
	}
	a.Points = slices.DeleteFunc(points, func(p int32) bool { return p/2 >= v.g.Txns || !x.Happened[p/2] })
	a.Verdict = jepsen.Valid
}

// around returns the transactions of points.
func (x *graphed) around(points []int32) (txns []int32) {
	for _, p := range points {
		if p/2 < x.g.Txns {
			txns = append(txns, p/2)
		}
	}
	slices.Sort(txns)
	return slices.Compact(txns)
}

// open returns, for each key with several, the transactions that made versions that nothing read and whose order is not known.
func (x *graphed) open() (open [][]int32) {
	whole := x.whole(x.following())
	for k, made := range x.Unread {
		last := int32(-1)
		for _, txn := range x.Made[k] {
			if txn >= 0 {
				last = txn
			}
		}
		next := last
		if x.unreadPlace(int32(k), last) < 0 && len(whole[k]) > 0 {
			next = whole[k][0]
		}
		if rest := slices.DeleteFunc(slices.Clone(made), func(txn int32) bool { return txn == next }); len(rest) > 1 {
			open = append(open, rest)
		}
	}
	return open
}

// joined returns the split view with edges from the commits of some transactions to their snapshots.
func (v *view) joined(txns [][]int32) view {
	join := make([]bool, v.len())
	for _, key := range txns {
		for _, txn := range key {
			join[2*txn+1] = true
		}
	}
	w := view{g: v.g, split: true, first: make([]int32, len(v.first))}
	for p := range v.len() {
		w.to = append(w.to, v.to[v.first[p]:v.first[p+1]]...)
		if join[p] {
			w.to = append(w.to, p-1)
		}
		w.first[p+1] = int32(len(w.to))
	}
	return w
}

// pair are two transactions that must not overlap.
type pair struct{ a, b int32 }

func txnsOf(pairs []pair) (txns []int32) {
	for _, p := range pairs {
		txns = append(txns, p.a, p.b)
	}
	slices.Sort(txns)
	return slices.Compact(txns)
}

// ordering orders pairs within one group of points.
type ordering struct {
	v     *view
	group []int32
	more  map[int32][]int32 // by commit: the snapshots that come later because of a pair
	left  int64
	seen  map[int32]bool
}

// solve orders all pairs, if it can: those first for which there is only one order. Otherwise more is as it was before.
func (s *ordering) solve(pairs []pair) bool {
	var added []int32
	undo := func() bool {
		for _, commit := range slices.Backward(added) {
			s.more[commit] = s.more[commit][:len(s.more[commit])-1]
		}
		return false
	}
	add := func(p pair) {
		s.more[2*p.a+1] = append(s.more[2*p.a+1], 2*p.b)
		added = append(added, 2*p.a+1)
	}
	pairs = slices.Clone(pairs)
	for changed := true; changed; {
		changed = false
		rest := pairs[:0]
		for _, p := range pairs {
			ab, ba := !s.reaches(2*p.b, 2*p.a+1), !s.reaches(2*p.a, 2*p.b+1)
			switch {
			case s.left < 0 || !ab && !ba:
				return undo()
			case ab && ba:
				rest = append(rest, p)
			case ab:
				add(p)
				changed = true
			default:
				add(pair{p.b, p.a})
				changed = true
			}
		}
		pairs = rest
	}
	if len(pairs) == 0 {
		return true
	}
	for _, p := range []pair{pairs[0], {pairs[0].b, pairs[0].a}} {
		n := len(added)
		add(p)
		if s.solve(pairs[1:]) {
			return true
		}
		s.more[added[n]] = s.more[added[n]][:len(s.more[added[n]])-1]
		added = added[:n]
	}
	return undo()
}

// reaches says whether a point comes before another one of its group.
func (s *ordering) reaches(from, to int32) bool {
	s.seen = map[int32]bool{from: true}
	todo := []int32{from}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p == to {
			return true
		}
		for _, next := range [][]int32{s.v.to[s.v.first[p]:s.v.first[p+1]], s.more[p]} {
			for _, q := range next {
				s.left--
				if s.group[q] == s.group[p] && !s.seen[q] {
					s.seen[q] = true
					todo = append(todo, q)
				}
			}
		}
	}
	return false
}

// replace gives the points of a group new places, with the pairs ordered.
func (s *ordering) replace(members, place []int32) {
	before := map[int32]int32{}
	after := func(p int32, do func(q int32)) {
		for _, next := range [][]int32{s.v.to[s.v.first[p]:s.v.first[p+1]], s.more[p]} {
			for _, q := range next {
				if s.group[q] == s.group[p] {
					do(q)
				}
			}
		}
	}
	for _, p := range members {
		after(p, func(q int32) { before[q]++ })
	}
	var ready []int32
	for _, p := range members {
		if before[p] == 0 {
			ready = append(ready, p)
		}
	}
	for i := 0; i < len(ready); i++ {
		place[ready[i]] = int32(i)
		after(ready[i], func(q int32) {
			if before[q]--; before[q] == 0 {
				ready = append(ready, q)
			}
		})
	}
}
