package forget

import "clew/fastpath"

// numbers gives values numbers from 0 on.
type numbers struct {
	ranks *fastpath.Ranks // unless nil, values are sparse
	by    []int32         // by value, or by its rank: the number plus 1, or 0
}

// numbersUpTo returns numbers for some values, of which so many things have one.
func numbersUpTo(things int, values ...[]int32) (x numbers) {
	least, most := int32(0), int32(0)
	for _, all := range values {
		for _, v := range all {
			least, most = min(least, v), max(most, v)
		}
	}
	if least < 0 || fastpath.Sparse(int64(most), int64(things)) {
		ranks := fastpath.RanksOf(values...)
		x.ranks, most = &ranks, ranks.Len()
	}
	x.by = make([]int32, most+1)
	return x
}

// at returns the place of the number of a value.
func (x *numbers) at(value int32) *int32 {
	if x.ranks != nil {
		value = x.ranks.Of(value)
	}
	return &x.by[value]
}

// of returns the number of a value, or -1.
func (x *numbers) of(value int32) int32 { return *x.at(value) - 1 }

func (x *numbers) set(value, number int32) { *x.at(value) = number + 1 }
