package container

import (
	"math/rand/v2"
	"testing"

	"clew/fastpath"
	"clew/models"
)

// TestACycleOfQueueValuesHasACycleOfTwo tests the lemma of queue.go for the two orders,
// by enqueue and by narrowed stretches, against a search for a cycle of any length.
func TestACycleOfQueueValuesHasACycleOfTwo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cyclic, longer := 0, 0
	for range 30_000 {
		h := smallContainer(queueKind, rng)
		c, _ := prepare(fastpath.NewInput(t.Context(), h, 0))
		if c == nil {
			continue
		}
		firsts := make([]stretch, len(c.elements))
		if c.stretches(firsts) != nil {
			continue
		}
		before := func(v, w int) bool {
			return v != w && (c.elements[v].aRes < c.elements[w].aInv || firsts[v].end <= firsts[w].start)
		}
		two := false
		for v := range firsts {
			for w := range v {
				two = two || before(v, w) && before(w, v)
			}
		}
		if two != cycle(len(firsts), before) {
			t.Fatalf("cycle of two: %v\n%s", two, queueKind.Show(h))
		}
		raw := func(v, w int) bool {
			x, y := &c.elements[v], &c.elements[w]
			return v != w && (x.aRes < y.aInv || max(x.mRes, x.mInv) <= min(y.mRes, y.mInv))
		}
		rawTwo := false
		for v := range firsts {
			for w := range v {
				rawTwo = rawTwo || raw(v, w) && raw(w, v)
			}
		}
		if two {
			cyclic++
		}
		if two && !rawTwo {
			longer++
		}
	}
	if longer == 0 {
		t.Error("narrowing never made a difference")
	}
	t.Logf("%d with a cycle, %d of them only because stretches were narrowed", cyclic, longer)
}

// cycle keeps removing elements that nothing comes before, and reports whether any remain.
func cycle(n int, before func(v, w int) bool) bool {
	gone := make([]bool, n)
	for range n {
		found := false
		for w := 0; w < n && !found; w++ {
			free := !gone[w]
			for v := range n {
				free = free && (gone[v] || !before(v, w))
			}
			if free {
				gone[w], found = true, true
			}
		}
		if !found {
			return true
		}
	}
	return false
}

func TestCoverFindsTheNextFreeSlots(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 1 + rng.Int32N(700)
		c, naive := newCover(n, true), make([]bool, n)
		for range 30 {
			if n > 1 {
				a := rng.Int32N(n - 1)
				b := min(a+1+rng.Int32N(1+rng.Int32N(n)), n-1)
				c.add(a, b)
				for s := a; s < b; s++ {
					naive[s] = true
				}
			}
			for s := range n {
				next, previous := s, s
				for naive[next] {
					next++
				}
				for previous >= 0 && naive[previous] {
					previous--
				}
				if got := c.next(s); got != next {
					t.Fatalf("next of %d is %d, not %d", s, got, next)
				}
				if previous >= 0 && c.previous(s) != previous {
					t.Fatalf("previous of %d is %d, not %d", s, c.previous(s), previous)
				}
			}
		}
	}
}

func TestMaxTreeFindsWhatExceedsABound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		n := int32(1 + rng.IntN(600))
		tree, naive := newMaxTree(int(n)), make([]int32, n)
		for i := range n {
			naive[i] = rng.Int32N(1000)
			tree.put(i, naive[i])
		}
		tree.build()
		for range 300 {
			i := rng.Int32N(n)
			naive[i] = min(naive[i], rng.Int32N(1000)-1)
			tree.set(i, naive[i])
			i, x := rng.Int32N(n), rng.Int32N(1000)
			last, next := i, i
			for last >= 0 && naive[last] <= x {
				last--
			}
			for next < n && naive[next] <= x {
				next++
			}
			if next == n {
				next = -1
			}
			if tree.findLast(i, x) != last || tree.findFirst(i, x) != next {
				t.Fatalf("%d of %d: %d and %d, not %d and %d", i, n, tree.findLast(i, x), tree.findFirst(i, x), last, next)
			}
		}
	}
}

// TestManyViolationsInContainers: whatever evidence is found first, the
// first failing completion is early.
func TestManyViolationsInContainers(t *testing.T) {
	const n = 20_000
	for _, k := range allKinds {
		c := &models.Columns{Events: 4 * n}
		for v := int32(0); v < n; v += 2 { // two adds, then two removes in the wrong order
			first, second := v, v+1
			if k == queueKind {
				first, second = second, first
			}
			t := 4 * v
			c.Append(t, t+1, models.Op{Kind: models.Enqueue, A: v, B: v})
			c.Append(t+2, t+3, models.Op{Kind: models.Enqueue, A: v + 1, B: v + 1})
			c.Append(t+4, t+5, models.Op{Kind: models.Dequeue, A: first, B: first})
			c.Append(t+6, t+7, models.Op{Kind: models.Dequeue, A: second, B: second})
		}
		if d := k.Decide(c, fastpath.WantFailure); d.FailEvent != 5 || len(d.Core) != 3 {
			t.Errorf("%s: %+v", k.Name, d)
		}
	}
}
