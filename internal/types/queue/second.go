package queue

import (
	"slices"

	"clew/internal/second"
)

func secondFIFO(o second.Options, s []string, a second.Op) [][]string {
	return SecondQueue(o, s, a, func(s []string) [][2]any {
		if len(s) == 0 {
			return nil
		}
		return [][2]any{{s[0], s[1:]}}
	})
}

func secondBag(o second.Options, s []string, a second.Op) [][]string {
	return SecondQueue(o, s, a, func(s []string) [][2]any {
		var ways [][2]any
		for i := range s {
			ways = append(ways, [2]any{s[i], second.Sorted(slices.Delete(slices.Clone(s), i, i+1))})
		}
		return ways
	})
}

// otherNames are other names of a queue's operations.
var otherNames = map[string]string{":push": ":enqueue", ":insert": ":enqueue", ":pop": ":dequeue", ":poll": ":dequeue"}

// SecondQueue stands for any container that hands out its elements. take returns
// the ways to take one: which one, and what is left.
func SecondQueue(o second.Options, s []string, a second.Op, take func([]string) [][2]any) [][]string {
	value := a.Value.Canon()
	empty := !o.Knossos && (value == "nil" || value == ":empty")
	var next [][]string
	f := a.F
	if name, ok := otherNames[f]; ok {
		f = name
	}
	switch f {
	case ":enqueue":
		return [][]string{append(slices.Clone(s), value)}
	case ":peek":
		first := slices.ContainsFunc(take(s), func(way [2]any) bool { return way[0] == value })
		return second.Stay(s, a.Crashed || empty && len(s) == 0 || first)
	case ":dequeue":
		if empty && (!a.Crashed || value == ":empty") {
			return second.Stay(s, len(s) == 0)
		}
		for _, way := range take(s) {
			if empty || way[0] == value {
				next = append(next, way[1].([]string))
			}
		}
		return next
	}
	// A drain is a number of dequeues in a row.
	list, known := a.Value.Items, a.Value.IsList()
	states := [][]string{s}
	if !known {
		next = states
	}
	for i := 0; (!known || i < len(list)) && len(states) > 0; i++ {
		var after [][]string
		for _, s := range states {
			for _, way := range take(s) {
				if !known || way[0] == list[i].Canon() {
					after = append(after, way[1].([]string))
				}
			}
		}
		states = after
		if !known {
			next = append(next, states...)
		}
	}
	if known {
		return states
	}
	return next
}
