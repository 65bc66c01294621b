package cdcl

// heap holds groups that are to be decided. The most active comes first and,
// among equally active ones, the one that was made first.
type heap struct {
	activity []float64
	groups   []int32
	place    []int32 // by group: where it is in groups, or -1
}

// add makes a group that is not to be decided yet.
func (h *heap) add() int32 {
	h.activity, h.place = append(h.activity, 0), append(h.place, -1)
	return int32(len(h.place) - 1)
}

func (h *heap) bytes() int64 {
	return 8*int64(cap(h.activity)) + 4*int64(cap(h.groups)+cap(h.place))
}

func (h *heap) before(a, b int32) bool {
	if h.activity[a] != h.activity[b] {
		return h.activity[a] > h.activity[b]
	}
	return a < b
}

// insert adds a group to those to be decided, unless it is one already.
func (h *heap) insert(g int32) {
	if h.place[g] < 0 {
		h.groups = append(h.groups, g)
		h.up(int32(len(h.groups) - 1))
	}
}

// bump adds to the activity of a group, and returns the new activity.
func (h *heap) bump(g int32, by float64) float64 {
	h.activity[g] += by
	if h.place[g] >= 0 {
		h.up(h.place[g])
	}
	return h.activity[g]
}

// rescale multiplies all activities. This keeps their order unless some become
// equal. Then the heap may be slightly out of order.
func (h *heap) rescale(by float64) {
	for i := range h.activity {
		h.activity[i] *= by
	}
}

// pop removes and returns the first group.
func (h *heap) pop() (g int32, ok bool) {
	n := len(h.groups) - 1
	if n < 0 {
		return 0, false
	}
	g = h.groups[0]
	h.place[g] = -1
	last := h.groups[n]
	h.groups = h.groups[:n]
	if n > 0 {
		h.groups[0] = last
		h.down(0)
	}
	return g, true
}

func (h *heap) up(i int32) {
	g := h.groups[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(g, h.groups[parent]) {
			break
		}
		h.groups[i] = h.groups[parent]
		h.place[h.groups[i]] = i
		i = parent
	}
	h.groups[i], h.place[g] = g, i
}

func (h *heap) down(i int32) {
	g, n := h.groups[i], int32(len(h.groups))
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && h.before(h.groups[child+1], h.groups[child]) {
			child++
		}
		if !h.before(h.groups[child], g) {
			break
		}
		h.groups[i] = h.groups[child]
		h.place[h.groups[i]] = i
		i = child
	}
	h.groups[i], h.place[g] = g, i
}
