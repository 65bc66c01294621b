package home

import (
	"clew/edn"
	"clew/models"
)

// Integers numbers the integers that operations show, from 0 on.
type Integers struct {
	numbers models.Numbering
	List    []int64
}

// Of returns the number of an integer in a table.
func (x *Integers) Of(v *edn.Values, id edn.ID) int32 {
	n := x.numbers.Of(int32(v.Same(id)))
	if int(n) == len(x.List) {
		k, _ := v.Int(id)
		x.List = append(x.List, k)
	}
	return n
}

// StateOf returns a number as a state, and number returns it as a number again.
func StateOf(n int64) models.State { return models.State{int32(n >> 32), int32(n)} }

func Number(s models.State) int64 { return int64(s[0])<<32 | int64(uint32(s[1])) }
