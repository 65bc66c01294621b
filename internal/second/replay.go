package second

import (
	"slices"
)

// Replay says whether an order of a history's operations, numbered by their
// invocations, is a linearization, as Naive reads the history. It goes by the definition,
// and uses nothing of clew. Idle operations are in the order and do nothing.
func Replay(text string, o Options, order, idle []int) (bool, error) {
	ops, spec, init, err := reading(text, o)
	if err != nil {
		return false, err
	}
	var sequence []Op
	for _, number := range order {
		i := slices.IndexFunc(ops, func(a Op) bool { return a.number == number })
		if i < 0 || slices.ContainsFunc(sequence, func(a Op) bool { return a.number == number }) {
			return false, nil
		}
		sequence = append(sequence, ops[i])
	}
	for _, a := range ops {
		if !a.Crashed && !slices.Contains(order, a.number) {
			return false, nil
		}
	}
	for i, a := range sequence {
		for _, b := range sequence[i:] {
			if !b.Crashed && b.end < a.start {
				return false, nil
			}
		}
	}
	states := [][]string{init}
	for _, a := range sequence {
		if slices.Contains(idle, a.number) {
			continue
		}
		var next [][]string
		for _, s := range states {
			for _, after := range spec(o, s, a) {
				if !slices.ContainsFunc(next, func(s []string) bool { return slices.Equal(s, after) }) {
					next = append(next, after)
				}
			}
		}
		states = next
	}
	return len(states) > 0, nil
}
