package home

import (
	"maps"

	"clew/internal/hugepages"
)

// PerValue maps each value to a number, 0 unless another was set. Values are numbered as
// they appear, so the runs of a whole history keep them in a slice. One key of many may
// have few values, with any numbers. Numbers that are large compared to the steps taken so
// far are in a map, so a run never costs more than its steps. A step takes amortized
// constant time.
type PerValue struct {
	near  []int32 // by value
	far   map[int32]int32
	steps int
}

// valuesForAStep is how many numbers a slice may hold for each step of a run.
const valuesForAStep = 16

func (p *PerValue) Of(x int32) int32 {
	if uint32(x) < uint32(len(p.near)) {
		return p.near[x]
	}
	return p.far[x]
}

func (p *PerValue) Set(x, n int32) {
	p.steps++
	switch {
	case uint32(x) < uint32(len(p.near)):
		p.near[x] = n
	case int(x) < valuesForAStep*p.steps:
		p.reach(x)
		p.near[x] = n
	case n == 0:
		delete(p.far, x)
	default:
		if p.far == nil {
			p.far = map[int32]int32{}
		}
		p.far[x] = n
	}
}

// Add adds n to the number of x and returns the sum.
func (p *PerValue) Add(x, n int32) int32 {
	if uint32(x) < uint32(len(p.near)) {
		p.steps++
		p.near[x] += n
		return p.near[x]
	}
	n += p.Of(x)
	p.Set(x, n)
	return n
}

// reach extends the slice to a value.
func (p *PerValue) reach(x int32) {
	near := hugepages.Make[int32](max(4*len(p.near), int(x)+1, 64))
	copy(near, p.near)
	maps.DeleteFunc(p.far, func(y, n int32) bool {
		if int(y) < len(near) {
			near[y] = n
			return true
		}
		return false
	})
	p.near = near
}

// Values returns the values whose number is not 0, in no particular order.
func (p *PerValue) Values() []int32 {
	var values []int32
	for x, n := range p.near {
		if n != 0 {
			values = append(values, int32(x))
		}
	}
	for x := range p.far {
		values = append(values, x)
	}
	return values
}
