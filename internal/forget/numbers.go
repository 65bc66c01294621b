package forget

import "clew/fastpath"

// numbers gives values numbers from 0 on. If values are sparse, it is a map, and otherwise a table by value.
type numbers struct {
	dense  []int32 // by value: its number plus 1, or 0
	sparse map[int32]int32
}

// numbersUpTo returns numbers for values, of which so many things have one.
func numbersUpTo(things int, values ...[]int32) (x numbers) {
	least, most := int32(0), int32(0)
	for _, all := range values {
		for _, v := range all {
			least, most = min(least, v), max(most, v)
		}
	}
	if least < 0 || fastpath.Sparse(int64(most), int64(things)) {
		x.sparse = map[int32]int32{}
	} else {
		x.dense = make([]int32, most+1)
	}
	return x
}

// of returns the number of a value, or -1.
func (x *numbers) of(value int32) int32 {
	if x.sparse != nil {
		return x.sparse[value] - 1
	}
	return x.dense[value] - 1
}

func (x *numbers) set(value, number int32) {
	if x.sparse != nil {
		x.sparse[value] = number + 1
	} else {
		x.dense[value] = number + 1
	}
}
