package home

// GreatestFirst is a heap: the greatest number is first.
type GreatestFirst []int32

func (h *GreatestFirst) Push(x int32) {
	list := append(*h, x)
	i := len(list) - 1
	for ; i > 0 && list[(i-1)/2] < x; i = (i - 1) / 2 {
		list[i] = list[(i-1)/2]
	}
	list[i], *h = x, list
}

// Pop takes out the first number.
func (h *GreatestFirst) Pop() {
	last := len(*h) - 1
	x, list := (*h)[last], (*h)[:last]
	*h = list
	if last == 0 {
		return
	}
	i := 0
	for child := 1; child < last; child = 2*i + 1 {
		if child+1 < last && list[child+1] > list[child] {
			child++
		}
		if list[child] <= x {
			break
		}
		list[i] = list[child]
		i = child
	}
	list[i] = x
}
