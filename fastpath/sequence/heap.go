package sequence

import "clew/models"

// entry is an operation in a heap, by a number and then by its return.
type entry struct {
	by       int64
	res, row int32
}

func (e entry) before(other entry) bool {
	return e.by < other.by || e.by == other.by && e.res < other.res
}

// heap is a binary heap.
type heap []entry

func (h *heap) push(e entry) {
	*h = append(*h, e)
	list := *h
	i := len(list) - 1
	for ; i > 0 && e.before(list[(i-1)/2]); i = (i - 1) / 2 {
		list[i] = list[(i-1)/2]
	}
	list[i] = e
}

// pop takes out the first.
func (h *heap) pop() models.Row {
	list := *h
	first, e := list[0].row, list[len(list)-1]
	list = list[:len(list)-1]
	*h = list
	i := 0
	for child := 1; child < len(list); child = 2*i + 1 {
		if child+1 < len(list) && list[child+1].before(list[child]) {
			child++
		}
		if !list[child].before(e) {
			break
		}
		list[i] = list[child]
		i = child
	}
	if len(list) > 0 {
		list[i] = e
	}
	return first
}
