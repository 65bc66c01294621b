package container

import (
	"fmt"
	"slices"
	"strings"

	"clew/fastpath"
	"clew/internal/hugepages"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// # Containers
//
// This file holds what the queue, the stack and the priority queue share.
//
// Decides: add (Enqueue), remove (Dequeue), Peek and empty answers (DequeueEmpty) of an
// initially empty container, with unknown removes (DequeueAny: crashed, took any element
// that the order allows, or nothing). Histories with initial contents are not decided.
//
// Precondition: every value is added once, counting crashed adds if some completed
// operation saw the value. Containers are closed under dropping the operations of
// a value. So if some values are added more often and the operations of the others
// are not linearizable, neither is the history; otherwise it is ambiguous.
//
// Rests on: Lee and Mathur, "Efficient Decrease-and-Conquer Linearizability Monitoring"
// (OOPSLA 2025). Its procedures are for complete histories. tune applies its tuning of
// intervals. Its proofs need the tuning: with unchanged intervals, the answers are wrong.
//
// Crashed operations: a crashed peek says nothing. A crashed add whose value no completed
// operation saw is dropped together with its value. If the value was seen, the add did happen,
// and its return at infinity forces nothing to come after it. A crashed remove of a known
// value counts as one that returns after everything else: if it never happened, the value just
// stays inside until then. Of several removes of a value at most one can happen, and the
// earliest crashed one can do whatever the others could. Unknown removes are in unknown.go.
//
// # Time
//
// Slot s is the gap after event s. An operation takes effect in one of the slots inv to
// res-1. Let T be the number of events. Slot T lies after everything: removes that never
// happened stand there, after event T. A value is certainly inside while its zone lasts.
//
// # Core
//
// A core is a choice of values, with all operations of each, and of empty answers. All unknown
// removes belong to every choice: without them a history can only get worse. The core is
// minimal among the choices that, cut at the first failing completion, are not linearizable.

// container says how one container differs from the others.
type container struct {
	// plain decides histories without unknown removes. For an invalid one it
	// names the elements that show it, and other operations that do.
	plain func(c *contents, witness bool) fastpath.Result
	// why explains a minimal core.
	why func(c *contents) *fastpath.Finding
	// match is a shortcut for unknown removes, or nil.
	match func(c *contents) (m matching, ok bool)
}

// algorithm returns the container's Algorithm.
func (k *container) algorithm() *fastpath.Algorithm {
	return &fastpath.Algorithm{Decide: k.decide, Needs: needsValues, Always: isUnknownRemove, Explain: k.explain, Later: laterAdd}
}

func isUnknownRemove(op models.Op) bool { return isUnknown(op.Kind) }

func isUnknown(kind models.Kind) bool { return kind == models.DequeueAny }

// needsValues ties the operations of a value together.
func needsValues(in fastpath.Input) fastpath.Needs {
	byValue := groupByValue(in)
	return func(o int32, out []int32) []int32 {
		if !hasValue(in.Kind[o]) {
			return out
		}
		return append(out, byValue.Of(in.A[o])...)
	}
}

// groupByValue groups the operations that have a value.
func groupByValue(in fastpath.Input) fastpath.Groups {
	return fastpath.GroupBy(in.Len(), in.IDs, func(o int32) int32 {
		if !hasValue(in.Kind[o]) {
			return none
		}
		return in.A[o]
	})
}

func hasValue(kind models.Kind) bool {
	return kind == models.Enqueue || kind == models.Dequeue || kind == models.Peek
}

// element is a value that was added.
type element struct {
	add, rem   int32 // operations; rem is none if it was never removed
	aInv, aRes int32 // the add, tuned
	mInv, mRes int32 // over peeks and remove: the last invocation, the first return
	rRes       int32 // when the remove returns
	twice      bool  // added twice
}

const none int32 = -1

// forward reports whether the value has a zone, [aRes, mInv), during which it is certainly inside.
func (e *element) forward() bool { return e.aRes < e.mInv }

// contents is the history of a container, prepared for a decision.
type contents struct {
	fastpath.Input
	elements []element
	of       []int32 // by value: its element plus 1; 0 if it has none
	peeks    int     // completed peeks
	peekFrom []int32 // by element, where its peeks begin in peekOps
	peekOps  []int32 // by invocation
	empties  []int32 // completed empty answers, by invocation
	unknown  []int32 // unknown removes, by invocation
	reason   *fastpath.Finding
	byValue  *fastpath.Groups // only filled if some value was added twice
	scratch  []int32          // what byEvent returns
}

// byEvent returns n zeros, at most Events+4, always in the same memory. Each caller has finished
// with the previous result, and memory costs most when it is first touched.
func (c *contents) byEvent(n int32) []int32 {
	if c.scratch == nil {
		c.scratch = hugepages.Make[int32](c.Events + 4)
	} else {
		clear(c.scratch)
	}
	return c.scratch[:n]
}

// prepare reads the operations. It fails if some value alone shows that the
// history is not linearizable, or if a kind is not handled.
func prepare(in fastpath.Input) (*contents, fastpath.Result) {
	c := &contents{Input: in, of: hugepages.Make[int32](in.IDs)}
	if bad := c.adds(); bad != none {
		return nil, fastpath.Result{Reason: fastpath.Unsupported.Of(bad)}
	}
	if bad := c.others(); bad != none {
		return nil, c.alone(bad)
	}
	if bad := c.tune(); bad != none {
		return nil, c.alone(bad)
	}
	if c.peeks > 0 {
		c.listPeeks()
	}
	return c, fastpath.Result{Verdict: jepsen.Valid}
}

// adds makes an element of every value that is added. It returns an operation
// that is not handled, or none.
func (c *contents) adds() int32 {
	n := 0
	for _, kind := range c.Kind {
		if kind == models.Enqueue {
			n++
		}
	}
	c.elements = hugepages.Make[element](n)[:0]
	for i, kind := range c.Kind {
		switch kind {
		case models.Enqueue:
			if e := c.of[c.A[i]]; e != 0 {
				c.elements[e-1].twice = true
				continue
			}
			c.elements = append(c.elements, element{add: int32(i), rem: none,
				aInv: c.Inv[i], aRes: c.Res[i], mInv: -1, mRes: models.Open, rRes: models.Open})
			c.of[c.A[i]] = int32(len(c.elements))
		case models.Dequeue, models.Peek, models.DequeueEmpty:
		case models.DequeueAny:
			if c.Res[i] != models.Open {
				return int32(i)
			}
		default:
			return int32(i)
		}
	}
	return none
}

// others collects what happened to the elements. It returns an operation
// that took a value already taken or never added, or none.
func (c *contents) others() int32 {
	for i, kind := range c.Kind {
		res := c.Res[i]
		switch {
		case kind == models.Enqueue:
		case kind == models.DequeueAny:
			c.unknown = append(c.unknown, int32(i))
		case kind == models.DequeueEmpty:
			if res != models.Open {
				c.empties = append(c.empties, int32(i))
			}
		case c.of[c.A[i]] == 0:
			if res != models.Open {
				return int32(i)
			}
		case kind == models.Peek:
			if res != models.Open {
				c.peeks++
				e := &c.elements[c.of[c.A[i]]-1]
				e.mInv, e.mRes = c.Inv[i], min(e.mRes, res)
			}
		default:
			e := &c.elements[c.of[c.A[i]]-1]
			switch {
			case e.rem == none || e.rRes == models.Open && res != models.Open:
				e.rem, e.rRes = int32(i), res
			case res != models.Open && !e.twice:
				return int32(i)
			}
		}
	}
	return none
}

// tune drops the values that do not count. It narrows the intervals of the others by
// what is known about a value: it is inside when it is seen, and is not seen once it
// is out. It returns the add of a value that on its own is not linearizable, or none.
func (c *contents) tune() int32 {
	kept := c.elements[:0]
	for i := range c.elements {
		e := c.elements[i]
		v := c.A[e.add]
		c.of[v] = 0
		seen := e.mRes != models.Open || e.rRes != models.Open
		if e.twice && !c.onceForAll(&e, seen) || e.aRes == models.Open && !seen {
			continue
		}
		if e.rRes == models.Open {
			e.rRes = c.Events + 1
		}
		if e.rem == none {
			e.mInv = c.Events
		} else {
			e.mInv = max(e.mInv, c.Inv[e.rem])
		}
		e.mRes = min(e.mRes, e.rRes)
		if e.aInv > e.mRes || e.mInv > e.rRes {
			return e.add
		}
		e.aRes = min(e.aRes, e.mRes)
		e.mInv = max(e.mInv, e.aInv)
		kept = append(kept, e)
		c.of[v] = int32(len(kept))
	}
	c.elements = kept
	return none
}

// onceForAll reports whether a value with several adds may count as added at most once: it was
// never seen, and all adds but one crashed. Otherwise it records why the value is ambiguous.
func (c *contents) onceForAll(e *element, seen bool) bool {
	if c.byValue == nil {
		all := groupByValue(c.Input)
		c.byValue = &all
	}
	adds, completed := [2]int32{none, none}, 0
	reader := none
	for _, i := range c.byValue.Of(c.A[e.add]) {
		if c.Kind[i] != models.Enqueue {
			if c.Res[i] != models.Open && reader == none {
				reader = i
			}
			continue
		}
		if !seen && c.Res[i] == models.Open {
			continue
		}
		if completed < 2 {
			adds[completed] = i
		}
		completed++
	}
	if completed < 2 {
		if completed == 1 {
			e.add, e.aInv, e.aRes = adds[0], c.Inv[adds[0]], c.Res[adds[0]]
		} else {
			e.aRes = models.Open
		}
		return true
	}
	if c.reason == nil {
		if reader == none {
			reader = adds[1]
		}
		c.reason = fastpath.Repeated.Of(reader, adds[0], adds[1])
	}
	return false
}

// listPeeks lists the completed peeks of each element.
func (c *contents) listPeeks() {
	c.peekFrom = make([]int32, len(c.elements)+2)
	c.each(func(e, _ int32) { c.peekFrom[e+2]++ })
	for e := range c.elements {
		c.peekFrom[e+2] += c.peekFrom[e+1]
	}
	c.peekOps = make([]int32, c.peekFrom[len(c.elements)+1])
	c.each(func(e, op int32) {
		c.peekOps[c.peekFrom[e+1]] = op
		c.peekFrom[e+1]++
	})
}

// each calls f with every completed peek that counts.
func (c *contents) each(f func(e, op int32)) {
	for i, kind := range c.Kind {
		if kind == models.Peek && c.Res[i] != models.Open {
			if e := c.of[c.A[i]]; e != 0 {
				f(e-1, int32(i))
			}
		}
	}
}

// peeksOf returns the peeks of an element, by invocation.
func (c *contents) peeksOf(e int32) []int32 {
	if c.peeks == 0 {
		return nil
	}
	return c.peekOps[c.peekFrom[e]:c.peekFrom[e+1]]
}

// peekSpan returns the slots of a peek, tuned: from inv to res-1.
func (c *contents) peekSpan(e *element, op int32) (inv, res int32) {
	return max(c.Inv[op], e.aInv), min(c.Res[op], e.rRes)
}

// fail returns the result for an invalid history. The operations of some
// elements show it, together with the given operations and all others of the
// same values. The history has gone wrong when the last of these returns.
func (c *contents) fail(why *fastpath.Finding, elements []int32, ops ...int32) fastpath.Result {
	r := fastpath.Result{Verdict: jepsen.Invalid, Why: why}
	values, besides := make([]bool, c.IDs), map[int32]bool{}
	for _, e := range elements {
		values[c.A[c.elements[e].add]] = true
	}
	for _, o := range ops {
		if hasValue(c.Kind[o]) {
			values[c.A[o]] = true
		} else {
			besides[o] = true
		}
	}
	for i, kind := range c.Kind {
		if hasValue(kind) && values[c.A[i]] || !hasValue(kind) && besides[int32(i)] {
			r.Keys = append(r.Keys, int32(i))
			if c.Res[i] != models.Open {
				r.End = max(r.End, c.Res[i])
			}
		}
	}
	for len(r.Keys) > 0 && c.Inv[r.Keys[len(r.Keys)-1]] > r.End {
		r.Keys = r.Keys[:len(r.Keys)-1] // it never returned
	}
	return r
}

// alone returns the result for a history that is invalid because of the value of an operation, whatever unknown removes took.
func (c *contents) alone(op int32) fastpath.Result {
	r := c.fail(nil, nil, op)
	r.Alone = true
	return r
}

// emptySlots gives each empty answer a slot in which nothing is certainly
// inside: the first that it covers. If an answer has no such slot, it
// returns that answer and the elements that fill the answer's slots. It works on Events+2 zeros.
func (c *contents) emptySlots(free []int32) (slots []int32, filled []int32, bad int32) {
	if len(c.empties) == 0 {
		return nil, nil, none
	}
	// By slot: how many zones begin, minus how many end; then the next free slot.
	for i := range c.elements {
		if e := &c.elements[i]; e.forward() {
			free[e.aRes]++
			free[e.mInv]--
		}
	}
	inside := int32(0)
	for s, d := range free {
		inside += d
		free[s] = inside
	}
	next := c.Events + 1
	for s := c.Events; s >= 0; s-- {
		if free[s] == 0 {
			next = s
		}
		free[s] = next
	}
	slots = make([]int32, len(c.empties))
	for k, op := range c.empties {
		slots[k] = free[c.Inv[op]]
		if slots[k] >= c.Res[op] {
			chain := c.chain(c.Inv[op], c.Res[op], func(*element) bool { return true })
			return nil, chain, op
		}
	}
	return slots, nil, none
}

// chain returns a smallest set of elements whose zones fill the slots from
// inv to res-1. Zones that count must fill all of these slots.
func (c *contents) chain(inv, res int32, counts func(e *element) bool) []int32 {
	zone := make([]int32, res) // by slot: the zone that begins there, plus 1
	for i := range c.elements {
		if e := &c.elements[i]; e.forward() && e.aRes < res && counts(e) {
			zone[e.aRes] = int32(i) + 1
		}
	}
	var chain []int32
	best, reach, filled := none, int32(-1), inv
	for s := int32(0); filled < res; s++ {
		if s < res && zone[s] != 0 && c.elements[zone[s]-1].mInv > reach {
			best = zone[s] - 1
			reach = c.elements[best].mInv
		}
		if s >= filled {
			if reach <= filled {
				panic("containers: the slots are not filled")
			}
			chain = append(chain, best)
			filled = reach
		}
	}
	return chain
}

// decide prepares a history and decides it.
func (k *container) decide(in fastpath.Input, witness bool) fastpath.Result {
	in.Poll()
	c, r := prepare(in)
	if c == nil {
		return r
	}
	certain := c.reason == nil
	r = k.plain(c, witness && certain)
	if r.Verdict == jepsen.Invalid && len(c.unknown) > 0 {
		r = k.withUnknown(c, witness && certain)
	}
	if r.Verdict == jepsen.Valid {
		if !certain {
			return fastpath.Result{Reason: c.reason}
		}
		r.Witness = c.untilLastReturn(r.Witness)
	}
	return r
}

// untilLastReturn returns an order without the crashed operations at its end.
func (c *contents) untilLastReturn(order []int32) []int32 {
	for len(order) > 0 && c.Res[order[len(order)-1]] == models.Open {
		order = order[:len(order)-1]
	}
	return order
}

// explain explains a minimal core.
func (k *container) explain(in fastpath.Input) *fastpath.Finding {
	if why, ok := explainValue(in); ok {
		return why
	}
	c, r := prepare(in)
	if c == nil {
		return r.Why
	}
	if len(c.unknown) > 0 {
		return nil // with unknown removes it is hard to say what is certain
	}
	return k.why(c)
}

// explainValue explains a core that one value alone, or an empty answer, shows to be wrong.
func explainValue(in fastpath.Input) (why *fastpath.Finding, ok bool) {
	add, rem := none, none
	for i, kind := range in.Kind {
		o := int32(i)
		switch {
		case kind == models.DequeueEmpty && slices.ContainsFunc(in.Kind, isUnknown):
			return nil, true
		case kind == models.DequeueEmpty:
			var adds []int32
			for p, k := range in.Kind {
				if k == models.Enqueue {
					adds = append(adds, int32(p))
				}
			}
			return NotEmpty.Of(append(adds, o)...), true
		case kind == models.DequeueAny:
		case add != none && in.A[add] != in.A[o]:
			return nil, false // several values
		case kind == models.Enqueue:
			add = o
		case kind == models.Dequeue && in.Res[o] != models.Open && rem != none:
			return RemovedTwice.Of(rem, o, add), add != none
		case kind == models.Dequeue && in.Res[o] != models.Open:
			rem = o
		}
	}
	for i := range in.Kind {
		o := int32(i)
		switch {
		case !hasValue(in.Kind[i]) || o == add || in.Res[o] == models.Open:
		case add == none:
			return fastpath.NeverAdded.Of(o, fastpath.Missing), true
		case rem != none && in.Kind[o] == models.Peek && in.Inv[o] > in.Res[rem]:
			return SeenAfterRemoved.Of(rem, o), true
		}
	}
	return nil, false
}

// laterAdd finds the first operation invoked after the failure that adds a
// value which had never been added.
func laterAdd(c *models.Columns, why *fastpath.Finding, failEvent int32) {
	if !why.Is(fastpath.NeverAdded) {
		return
	}
	for p := range int32(c.Len()) {
		if c.Kind[p] == models.Enqueue && c.A[p] == c.A[why.Rows[0]] && c.Inv[p] > failEvent {
			why.Rows[1] = p
			return
		}
	}
}

// RemovedTwice (first, second, adder): first and second both took the value that only adder added.
var RemovedTwice = &fastpath.Pattern{Name: "removed-twice", Kind: models.Duplicate, Relate: fastpath.Steps(fastpath.Seen(2, 0), fastpath.Seen(2, 1)),
	Says: "{did 0}, and again by {who 1}, but it was added only once, by {who 2}"}

// SeenAfterRemoved (remove, peek): peek saw a value first or on top, although remove had
// taken it and returned before peek was invoked.
var SeenAfterRemoved = &fastpath.Pattern{Name: "seen-after-removed", Kind: models.Resurrected, Relate: fastpath.Against(0, 1),
	Says: "{did 1} after {had 0}"}

// NotEmpty (adds, empty): empty found the container empty, but all the time that it ran,
// some of the values that the adds added were certainly inside.
var NotEmpty = &fastpath.Pattern{Name: "not-empty", Kind: models.WrongEmpty, Choose: foundEmpty}

// foundEmpty says that the last operation found the container empty although some of the
// values that the others added were inside all the time that it ran.
func foundEmpty(t models.Teller, v []models.Row) string {
	if onlyCounts(t, v) {
		return "{who -1} found a count of 0 although it was at least 1 throughout"
	}
	return "{who -1} found nothing although " + someOf(v[:len(v)-1]) + " was there throughout"
}

// someOf names the values that the first operations added: "at least one of the values 1, 2 and others".
func someOf(rows []models.Row) string {
	var values []string
	for k, row := range rows[:min(len(rows), fastpath.MaxListed)] {
		if row == fastpath.Initial {
			return "an initial element"
		}
		values = append(values, fmt.Sprintf("{value %d}", k))
	}
	switch {
	case len(rows) > fastpath.MaxListed:
		return "at least one of the values " + strings.Join(values, ", ") + " and others"
	case len(rows) > 1:
		return "at least one of the values " + text.AllOf(values)
	}
	return "value " + values[0]
}
