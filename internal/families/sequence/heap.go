package sequence

import "clew/models"

// entry is an operation with a number.
type entry struct {
	by  int64
	row models.Row
}

// heap is a binary heap: the least number is first.
type heap []entry

func (h *heap) push(e entry) {
	*h = append(*h, e)
	list := *h
	i := len(list) - 1
	for ; i > 0 && e.by < list[(i-1)/2].by; i = (i - 1) / 2 {
		list[i] = list[(i-1)/2]
	}
	list[i] = e
}

// pop removes and returns the first row.
func (h *heap) pop() models.Row {
	list := *h
	first, e := list[0].row, list[len(list)-1]
	list = list[:len(list)-1]
	*h = list
	i := 0
	for child := 1; child < len(list); child = 2*i + 1 {
		if child+1 < len(list) && list[child+1].by < list[child].by {
			child++
		}
		if list[child].by >= e.by {
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
