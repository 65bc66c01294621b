package container

import "clew/internal/hugepages"

// maxTree holds numbers that may get smaller, and finds the next one in either
// direction that exceeds a bound. Each node is the greatest of the 16 below it.
type maxTree struct{ levels [][]int32 }

const fan = 16

func newMaxTree(n int) *maxTree {
	t := &maxTree{}
	for {
		t.levels = append(t.levels, hugepages.Make[int32](n))
		if n <= fan {
			return t
		}
		n = (n + fan - 1) / fan
	}
}

// put sets a number before build.
func (t *maxTree) put(i, x int32) { t.levels[0][i] = x }

func (t *maxTree) build() {
	for k, level := range t.levels[1:] {
		for i := range level {
			level[i] = greatest(t.levels[k], int32(i))
		}
	}
}

// greatest returns the greatest number in block i of a level.
func greatest(level []int32, i int32) int32 {
	best := int32(-1 << 31)
	for _, x := range level[i*fan : min(int(i+1)*fan, len(level))] {
		best = max(best, x)
	}
	return best
}

// set makes a number smaller.
func (t *maxTree) set(i, x int32) {
	old := t.levels[0][i]
	t.levels[0][i] = x
	for k := 1; k < len(t.levels); k++ {
		i /= fan
		above := &t.levels[k][i]
		if *above > old {
			return
		}
		old = *above
		if *above = greatest(t.levels[k-1], i); *above == old {
			return
		}
	}
}

// findLast returns the last index up to i of a number greater than x, or -1.
func (t *maxTree) findLast(i, x int32) int32 {
	if i < 0 {
		return -1
	}
	for k := range t.levels {
		level := t.levels[k]
		for from := i &^ (fan - 1); i >= from; i-- {
			if level[i] > x {
				for k--; k >= 0; k-- {
					level = t.levels[k]
					for i = min((i+1)*fan, int32(len(level))) - 1; level[i] <= x; i-- {
					}
				}
				return i
			}
		}
		if i < 0 {
			return -1
		}
		i /= fan
	}
	return -1
}

// findFirst returns the first index from i on of a number greater than x, or -1.
func (t *maxTree) findFirst(i, x int32) int32 {
	for k := range t.levels {
		level := t.levels[k]
		for to := min(i|(fan-1), int32(len(level))-1); i <= to; i++ {
			if level[i] > x {
				for k--; k >= 0; k-- {
					level = t.levels[k]
					for i *= fan; level[i] <= x; i++ {
					}
				}
				return i
			}
		}
		if int(i) >= len(level) {
			return -1
		}
		i /= fan
	}
	return -1
}
