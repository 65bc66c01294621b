package queue

import (
	"slices"

	"clew/internal/second"
)

func secondFIFO(o second.Options, s []string, a second.Op) [][]string {
	return SecondQueue(o, s, a, func(_ []string, i int) bool { return i == 0 })
}

func secondBag(o second.Options, s []string, a second.Op) [][]string {
	return SecondQueue(o, s, a, func([]string, int) bool { return true })
}

// otherNames are other names of a queue's operations.
var otherNames = map[string]string{":push": ":enqueue", ":insert": ":enqueue", ":pop": ":dequeue", ":poll": ":dequeue"}

// SecondQueue stands for any container that hands out its elements. may says which
// places they can be taken from.
func SecondQueue(o second.Options, s []string, a second.Op, may func(s []string, i int) bool) [][]string {
	// take returns what may be left when an element is taken: a value, or any if it is "".
	take := func(s []string, value string) (ways [][]string) {
		for i, x := range s {
			if (value == "" || x == value) && may(s, i) {
				ways = append(ways, slices.Delete(slices.Clone(s), i, i+1))
			}
		}
		return ways
	}
	value := a.Value.Canon()
	empty := !o.Knossos && (value == "nil" || value == ":empty")
	f := a.F
	if name, ok := otherNames[f]; ok {
		f = name
	}
	switch f {
	case ":enqueue":
		return [][]string{append(slices.Clone(s), value)}
	case ":peek":
		return second.Stay(s, a.Crashed || empty && len(s) == 0 || len(take(s, value)) > 0)
	case ":dequeue":
		switch {
		case empty && (!a.Crashed || value == ":empty"):
			return second.Stay(s, len(s) == 0)
		case empty:
			value = ""
		}
		return take(s, value)
	}
	// A drain is a number of dequeues in a row.
	list, known := a.Value.Parts(), a.Value.IsList()
	states := [][]string{s}
	all := states
	for i := 0; (!known || i < len(list)) && len(states) > 0; i++ {
		wanted := ""
		if known {
			wanted = list[i]
		}
		var after [][]string
		for _, s := range states {
			after = append(after, take(s, wanted)...)
		}
		states = after
		all = append(all, states...)
	}
	if known {
		return states
	}
	return all
}
