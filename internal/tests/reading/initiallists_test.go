package reading_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// A listStep appends an element to a list or, if that is 0, sees the list.
type listStep struct {
	key     string
	element int
	saw     []int
}

// listOps are transactions of the histories below, each with what it does.
var listOps = map[tiny][]listStep{
	ok("txn", "[[:append :x 1]]", "[[:append :x 1]]"):                         {{"x", 1, nil}},
	{"txn", "[[:append :x 1]]", "info", ""}:                                   {{"x", 1, nil}},
	{"txn", "[[:append :x 1]]", "fail", ""}:                                   {{"x", 1, nil}},
	ok("txn", "[[:append :x 2]]", "[[:append :x 2]]"):                         {{"x", 2, nil}},
	ok("txn", "[[:append :y 9]]", "[[:append :y 9]]"):                         {{"y", 9, nil}},
	ok("txn", "[[:r :x nil]]", "[[:r :x []]]"):                                {{"x", 0, []int{}}},
	ok("txn", "[[:r :x nil]]", "[[:r :x [1]]]"):                               {{"x", 0, []int{1}}},
	ok("txn", "[[:r :x nil]]", "[[:r :x [9]]]"):                               {{"x", 0, []int{9}}},
	ok("txn", "[[:r :x nil]]", "[[:r :x [9 1]]]"):                             {{"x", 0, []int{9, 1}}},
	ok("txn", "[[:r :y nil]]", "[[:r :y [8]]]"):                               {{"y", 0, []int{8}}},
	ok("txn", "[[:r :x nil] [:append :x 1]]", "[[:r :x [9]] [:append :x 1]]"): {{"x", 0, []int{9}}, {"x", 1, nil}},
	ok("txn", "[[:r :y nil] [:r :x nil]]", "[[:r :y [8]] [:r :x [9]]]"):       {{"y", 0, []int{8}}, {"x", 0, []int{9}}},
}

// holds reports whether some order of a history's transactions is possible from the given lists.
func (h tinyHistory) holds(lists map[string][]int) bool {
	done := make([]bool, len(h.ops))
	var from func(map[string][]int) bool
	from = func(lists map[string][]int) bool {
		left := func(i int) bool { return !done[i] && h.ops[i].end == "ok" }
		all := true
		for i, op := range h.ops {
			if all = all && !left(i); done[i] || op.end == "fail" {
				continue
			}
			tooEarly := false
			for j := range h.ops {
				tooEarly = tooEarly || j != i && left(j) && h.returned(j) < h.called(i)
			}
			after, possible := map[string][]int{}, !tooEarly
			maps.Copy(after, lists)
			for _, step := range listOps[op] {
				if step.element > 0 {
					after[step.key] = append(slices.Clone(after[step.key]), step.element)
				} else {
					possible = possible && (op.end != "ok" || slices.Equal(after[step.key], step.saw))
				}
			}
			if possible {
				done[i] = true
				found := from(after)
				if done[i] = false; found {
					return true
				}
			}
		}
		return all
	}
	return from(lists)
}

// wasThere reports whether a history shows that a list was there at first: a transaction that returned before an append to it was
// called, whatever became of that, saw it, and nothing appends its elements.
func (h tinyHistory) wasThere(key string, list []int) bool {
	first := len(h.events)
	for i, op := range h.ops {
		for _, step := range listOps[op] {
			if step.element > 0 && step.key == key {
				first = min(first, h.called(i))
			}
			if step.element > 0 && step.key == key && slices.Contains(list, step.element) {
				return false
			}
		}
	}
	for i, op := range h.ops {
		for _, step := range listOps[op] {
			if step.element == 0 && step.key == key && slices.Equal(step.saw, list) && h.returned(i) < first {
				return true
			}
		}
	}
	return false
}

// appendsTwice reports whether an element is appended to a list by two transactions.
func (h tinyHistory) appendsTwice() bool {
	appended := map[string]bool{}
	for _, op := range h.ops {
		for _, step := range listOps[op] {
			if place := fmt.Sprint(step.key, step.element); step.element > 0 {
				if appended[place] {
					return true
				}
				appended[place] = true
			}
		}
	}
	return false
}

// TestFirstListsOfSmallHistoriesAgainstEnumeration: a history of lists is undecided if and only if it is not linearizable from
// empty lists, but from lists that it shows to have been there. All histories of two transactions and of three are tried.
func TestFirstListsOfSmallHistoriesAgainstEnumeration(t *testing.T) {
	t.Parallel()
	var inits []map[string][]int
	for _, x := range [][]int{nil, {1}, {2}, {9}, {9, 1}, {1, 9}} {
		for _, y := range [][]int{nil, {8}, {9}} {
			inits = append(inits, map[string][]int{"x": x, "y": y})
		}
	}
	counts := map[jepsen.Verdict]int{}
	ops := slices.SortedFunc(maps.Keys(listOps), func(a, b tiny) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	tinyHistories(ops, func(h tinyHistory) {
		if h.appendsTwice() {
			return // an element is appended once
		}
		want, candidates := jepsen.Invalid, []string{}
		if h.holds(nil) {
			want = jepsen.Valid
		} else {
			for _, init := range inits {
				if h.holds(init) && !slices.ContainsFunc([]string{"x", "y"}, func(key string) bool { return len(init[key]) > 0 && !h.wasThere(key, init[key]) }) {
					want, candidates = jepsen.Unknown, append(candidates, spelled(init))
				}
			}
		}
		counts[want]++
		text := h.text()
		r := kit.CheckedText(t, text, models.Spec{Name: "list-append"}, clew.Options{})
		if r.Verdict != want || (r.Cause == jepsen.InitialValue) != (want == jepsen.Unknown) {
			t.Fatalf("%v %s %s; expected %v of\n%s", r.Verdict, r.Cause, r.Explanation, want, text)
		}
		if want == jepsen.Unknown && !slices.Contains(candidates, r.LikelyInit) {
			t.Fatalf("%s is likely, expected one of %q of\n%s", r.LikelyInit, candidates, text)
		}
	})
	if t.Logf("%v", counts); len(counts) < 3 || counts[jepsen.Unknown] < 50 {
		t.Errorf("expected more: %v", counts)
	}
}

// spelled returns lists as an initial value.
func spelled(lists map[string][]int) string {
	var parts []string
	for _, key := range []string{"x", "y"} {
		if len(lists[key]) > 0 {
			parts = append(parts, fmt.Sprint(":", key, " ", lists[key]))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
