package priorityqueue

import (
	"clew/internal/gen"
)

// ordered are values that a priority queue can compare: 1 and 1.0 differ, but
// neither comes first.
var ordered = []gen.Value{
	{"1", "1N"}, {"2", "2N", "+2"}, {"3"}, {"1.0"}, {"-7", "-7N"}, {"0.5"}, {"3.0"}, {"12"}, {"2.5"}, {"4"}, {"5"}, {"-1"},
}

// highest returns the places of the elements that have the highest priority.
func highest(g *gen.SmallHistory, elements []string) []int {
	priority := func(e string) float64 {
		if g.Options.Least {
			return -gen.Number(e)
		}
		return gen.Number(e)
	}
	var best []int
	for i, e := range elements {
		switch {
		case len(best) == 0 || priority(e) > priority(elements[best[0]]):
			best = []int{i}
		case priority(e) == priority(elements[best[0]]):
			best = append(best, i)
		}
	}
	return best
}
