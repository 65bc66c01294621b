package register

import (
	"math/rand/v2"
	"testing"

	"clew/fastpath"
	"clew/models"
)

// TestACycleOfBlocksHasACycleOfTwo tests the lemma of zones.go on random
// blocks, against a search for a cycle of any length.
func TestACycleOfBlocksHasACycleOfTwo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cyclic := 0
	for range 20_000 {
		blocks := randomBlocks(rng, 2+rng.IntN(6))
		two := false
		for i, x := range blocks {
			for _, y := range blocks[:i] {
				two = two || x.minRes < y.maxInv && y.minRes < x.maxInv
			}
		}
		if two != hasCycle(blocks) {
			t.Fatalf("cycle of two: %v; %v", two, blocks)
		}
		if two {
			cyclic++
		}
	}
	t.Logf("%d of 20000 cyclic", cyclic)
}

// TestZonesClashIffBlocksHaveACycle compares the sweep with the definition.
func TestZonesClashIffBlocksHaveACycle(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		blocks := randomBlocks(rng, 2+rng.IntN(6))
		init, rest := int32(-1), blocks
		if rng.IntN(2) == 0 { // the first block is the initial value's
			blocks[0].minRes = -1
			init, rest = blocks[0].maxInv, blocks[1:]
		}
		z := make(zones, 2*len(blocks))
		for _, b := range rest {
			z.add(b)
		}
		x, y, found := z.clash(init)
		if found != hasCycle(blocks) {
			t.Fatalf("found %v; init %d; %v", found, init, blocks)
		}
		if found && !(x.minRes < y.maxInv && y.minRes < x.maxInv) {
			t.Fatalf("%v and %v do not clash; %v", x, y, blocks)
		}
	}
}

// TestZoneStartsAreALinearOrder: without a cycle, no block stands before
// one whose zone starts earlier.
func TestZoneStartsAreALinearOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		blocks := randomBlocks(rng, 2+rng.IntN(4))
		if hasCycle(blocks) {
			continue
		}
		for _, x := range blocks {
			for _, y := range blocks {
				if min(x.minRes, x.maxInv) < min(y.minRes, y.maxInv) && y.minRes < x.maxInv {
					t.Fatalf("%v starts before %v", x, y)
				}
			}
		}
	}
}

// randomBlocks makes blocks with distinct events in [0, 2n).
func randomBlocks(rng *rand.Rand, n int) []block {
	events := rng.Perm(2 * n)
	blocks := make([]block, n)
	for i := range blocks {
		blocks[i] = block{int32(events[2*i]), int32(events[2*i+1])}
	}
	return blocks
}

// hasCycle keeps removing blocks that no other block must stand before.
func hasCycle(blocks []block) bool {
	left := append([]block{}, blocks...)
	for len(left) > 0 {
		k := -1
		for i, x := range left {
			free := true
			for j, y := range left {
				free = free && (i == j || y.minRes >= x.maxInv)
			}
			if free {
				k = i
			}
		}
		if k < 0 {
			return true
		}
		left = append(left[:k], left[k+1:]...)
	}
	return false
}

// TestWhatWasReplacedCanNotBeSeen tests the prune's lemma. An operation that the prune rules out
// as producer of a read is not the last to leave the value before that read in any linearization.
func TestWhatWasReplacedCanNotBeSeen(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	ruledOut := 0
	for range 5000 {
		c := small(rng, true)
		if c.Len() > 7 {
			continue
		}
		in := fastpath.NewInput(t.Context(), c, 0)
		late := newReplaced(in)
		asCASRegister.History(c).Orders(func(order []int32) {
			last := fastpath.Initial
			for _, o := range order {
				res := int32(-1)
				if last >= 0 {
					res = c.Res[last]
				}
				if c.Kind[o] != models.Write && late.replacedBefore(res, c.A[o], c.Inv[o]) {
					t.Fatalf("%d saw %d in %v\n%s", o, last, order, asCASRegister.Show(c))
				}
				if _, ok := leaves(in, o); ok {
					last = o
				}
			}
		})
		for o := range int32(c.Len()) {
			for p := range int32(c.Len()) {
				if c.Kind[o] == models.Read && maySeeAtAll(c, o, p) && late.replacedBefore(c.Res[p], c.A[o], c.Inv[o]) {
					ruledOut++
				}
			}
		}
	}
	t.Logf("%d pairs ruled out", ruledOut)
}

// TestReplacedIsTheEarliestReturn compares the two best per operation with
// a scan of all operations.
func TestReplacedIsTheEarliestReturn(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		c := small(rng, true)
		late := newReplaced(fastpath.NewInput(t.Context(), c, 0))
		for res := int32(-1); res < c.Events; res++ {
			for value := range int32(6) {
				want := models.Open
				for i := range c.Inv {
					sameRead := c.A[i] == value && (c.Kind[i] == models.Read || c.Kind[i] == models.CAS && c.B[i] == value)
					if c.Inv[i] > res && !sameRead {
						want = min(want, c.Res[i])
					}
				}
				if got := late.until(res, value); got != want {
					t.Fatalf("value %d after %d: until %d, not %d\n%s", value, res, got, want, asCASRegister.Show(c))
				}
			}
		}
	}
}
