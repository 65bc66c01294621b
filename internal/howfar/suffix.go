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
	once := updates[:0] // an operation without a key is one of each key
	for _, x := range updates {
		if n := len(once) - 1; n >= 0 && once[n].Operation == x.Operation {
			once[n].Lost = once[n].Lost || x.Lost
		} else {
			once = append(once, x)
		}
	}
	updates = once
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
	if runs(updates, func(Update) int { return 0 })[0] == 1 {
		f.Suffix = report.SuffixAll
	} else if node := oneNode(h, updates); node != edn.Nil {
		f.Suffix, f.Node = report.SuffixNode, h.Values.Text(node)
	} else if slices.ContainsFunc(updates, func(x Update) bool { return x.Key != updates[0].Key }) {
		f.Suffix = report.SuffixEachKey
		for _, n := range runs(updates, func(x Update) int { return x.Key }) {
			if n > 1 {
				f.Suffix = ""
			}
		}
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

// oneNode returns the node that acknowledged all of the updates that were lost, if they are a suffix of its own, or nil.
func oneNode(h *jepsen.History, updates []Update) edn.ID {
	value := h.Extra("node")
	nodeOf := func(x Update) edn.ID {
		n, _ := value(h.Completion[x.Operation])
		return n.ID()
	}
	node := edn.Nil
	for _, x := range updates {
		if !x.Lost {
			continue
		}
		if n := nodeOf(x); n == edn.Nil || node != edn.Nil && h.Values.Same(n) != h.Values.Same(node) {
			return edn.Nil
		} else {
			node = n
		}
	}
	if runs(updates, func(x Update) edn.ID { return h.Values.Same(nodeOf(x)) })[h.Values.Same(node)] != 1 {
		return edn.Nil
	}
	return node
}
