package container

import "math"

// gapChooser computes, while a sweep goes over the gaps of a bag, a number for
// using a gap. Some values wait for their own crashed dequeue; this is how
// many of them others must take instead. It is the least number over all
// choices of the gaps used earlier that leave no empty answer without a gap.
//
// It is a tree over the gaps. A gap may be the last one used so far if it has a number: of
// values taken up to it. Its worth is this number plus those added to it or to a later
// gap. A value that waits adds 1 to all gaps before its enqueue returned, and takes it
// back once it is served. So the worth of a gap is what is taken up to it and now, as the
// next. A node has the least worth in its subtree, without what is added to gaps after it.
type gapChooser struct {
	b     *bag
	nodes []gapNode // the root is 1; the children of i are 2i and 2i+1
	first int32     // the leaf of gap -1, which means none; the leaf of the gap after event t is first+1+t
	since int32     // gaps before this one cannot be the last used
	from  []int32   // for the witness, by gap: the one used before it
}

// gapNode is a node: least is the least worth in its subtree, that of gap at.
type gapNode struct{ least, added, at int32 }

// unusable is the worth of a gap that cannot be used.
const unusable = math.MaxInt32 / 2

func newGapChooser(b *bag, witness bool) *gapChooser {
	w := &gapChooser{b: b, first: 1, since: -1}
	for w.first < b.in.Events+1 {
		w.first *= 2
	}
	w.nodes = make([]gapNode, 2*w.first)
	for i := range w.nodes {
		w.nodes[i].least = unusable
	}
	w.set(-1, 0)
	if witness {
		w.from = make([]int32, b.in.Events)
	}
	return w
}

// set gives a gap its number of taken values.
func (w *gapChooser) set(gap, number int32) {
	leaf := &w.nodes[w.first+1+gap]
	leaf.least, leaf.at = number+leaf.added, gap
	w.mend(gap)
}

// add adds to the worth of all gaps up to the given one.
func (w *gapChooser) add(gap, n int32) {
	leaf := &w.nodes[w.first+1+gap]
	leaf.added += n
	leaf.least += n
	w.mend(gap)
}

// mend recomputes the nodes above a gap's leaf.
func (w *gapChooser) mend(gap int32) {
	for i := (w.first + 1 + gap) / 2; i > 0; i /= 2 {
		left, right := &w.nodes[2*i], &w.nodes[2*i+1]
		node := gapNode{right.least, left.added + right.added, right.at}
		if least := left.least + right.added; least < node.least {
			node.least, node.at = least, left.at
		}
		w.nodes[i] = node
	}
}

// pass advances to the gap after event t.
func (w *gapChooser) pass(t int32, m mark) {
	in := w.b.in
	switch m {
	case answers:
		for inv := in.Inv[w.b.returns[t]-1]; w.since < inv; w.since++ {
			w.set(w.since, unusable)
		}
	case waits:
		w.add(t-1, 1)
	case served:
		enqueue := w.b.partner[in.OpInvoked(t)] - 1
		w.add(in.Res[enqueue]-1, -1)
	}
}

// use reports whether the gap after event t can be used if at most that many
// waiting values can be taken. If so, it may be the last one used from now on.
func (w *gapChooser) use(t, most int32) bool {
	best := w.nodes[1]
	if best.least > most {
		return false
	}
	if w.from != nil {
		w.from[t] = best.at
	}
	w.set(t, best.least)
	return true
}

// choose chooses the gaps of all empty answers, given the last that can be
// used. It separates the values taken in them from their own dequeues.
func (w *gapChooser) choose(last int32) {
	in := w.b.in
	next := int32(math.MaxInt32) // the used gap after event t
	used := last
	after := make([]int32, in.Events)
	for t := in.Events - 1; t >= 0; t-- {
		if t == used {
			next, used = t, w.from[t]
		}
		after[t] = next
	}
	for t, m := range w.b.marks {
		switch m {
		case answers:
			e := w.b.returns[t] - 1
			w.b.gaps[e] = after[in.Inv[e]]
		case waits:
			enqueue := w.b.returns[t] - 1
			if dequeue := w.b.partner[enqueue] - 1; after[t] < in.Inv[dequeue] {
				w.b.partner[enqueue], w.b.partner[dequeue] = 0, unused
			}
		}
	}
}
