package howfar

import (
	"cmp"
	"slices"

	"clew/edn"
	"clew/jepsen"
	"clew/report"
)

// Update is an update that was acknowledged.
type Update struct {
	Operation jepsen.Operation // of the whole history
	Key       int              // of which part
	Lost      bool             // it must have been forgotten
}

// Tell says which updates were forgotten, and whether they are a suffix: of all that were acknowledged, the last ones by some
// time. One update alone does not show that.
func Tell(h *jepsen.History, updates []Update, smallest bool) *report.Forgotten {
	ended := func(x Update) jepsen.Event { return h.Completion[x.Operation] }
	slices.SortFunc(updates, func(x, y Update) int { return cmp.Compare(ended(x), ended(y)) })
	f := &report.Forgotten{Of: len(updates), Smallest: smallest}
	for _, x := range updates {
		if !x.Lost {
			continue
		}
		if f.Count++; f.Count == 1 {
			f.First, f.FirstIndex = h.Name(x.Operation), h.Index(ended(x))
		}
		f.Last, f.LastIndex = h.Name(x.Operation), h.Index(ended(x))
	}
	if f.Count < 2 || !smallest {
		return f
	}
	node := h.Extra("node")
	nodeOf := func(x Update) edn.ID {
		n, _ := node(ended(x))
		return n.ID()
	}
	byNode := runs(updates, nodeOf)
	switch byKey := runs(updates, func(x Update) int { return x.Key }); {
	case runs(updates, func(Update) int { return 0 })[0] == 1:
		f.Suffix = report.SuffixAll
	case len(byNode) == 1 && byNode[onlyKey(byNode)] == 1 && onlyKey(byNode) != edn.Nil:
		f.Suffix, f.Node = report.SuffixNode, h.Values.Text(onlyKey(byNode))
	case slices.ContainsFunc(updates, func(x Update) bool { return x.Key != updates[0].Key }) && !slices.ContainsFunc(valuesOf(byKey), func(n int) bool { return n > 1 }):
		f.Suffix = report.SuffixEachKey
	}
	return f
}

// runs counts, by group, how many runs of updates were lost with none between them that was kept. Groups that lost none are
// left out.
func runs[G comparable](updates []Update, group func(Update) G) map[G]int {
	lost, count := map[G]bool{}, map[G]int{}
	for _, x := range updates {
		g := group(x)
		if x.Lost && !lost[g] {
			count[g]++
		}
		lost[g] = x.Lost
	}
	return count
}

func onlyKey[G comparable](of map[G]int) (key G) {
	for key = range of {
	}
	return key
}

func valuesOf[G comparable](of map[G]int) (all []int) {
	for _, n := range of {
		all = append(all, n)
	}
	return all
}
