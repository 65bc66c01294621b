package fastpath

import (
	"slices"

	"clew/jepsen"
	"clew/models"
)

// Linearizability is closed under prefixes, so an event by which the history is
// not linearizable bounds the first failing completion from above. The operations
// that show a violation give such a bound, and it is usually tight. If the history
// just before it is linearizable, the search ends; otherwise the evidence there
// gives a lower bound. Each round costs a decision, and two rounds are usual.

// MaxDescents is the number of rounds after which the bound is halved instead.
// So no history can force as many rounds as it has completions.
const MaxDescents = 16

// Failure finds the first failing completion of an invalid history, whose result is r, and then
// the core. If a witness is wanted, it also finds a witness of the history before that completion.
func (a *Algorithm) Failure(in Input, r Result, witness bool, d *Decision) {
	low := int32(-1) // the history up to here was not found to be invalid
	for round := 0; ; round++ {
		in.Poll()
		d.BoundEvent = r.End
		t := r.End - 1
		if (r.Loose || round >= MaxDescents-a.FewerDescents) && low+1 < t {
			t = low + (r.End-low)/2
		}
		just := t == r.End-1
		before := a.Decide(in.Cut(t), witness && just)
		switch {
		case before.Verdict == jepsen.Invalid:
			r = before
		case !just:
			low = t
		case before.Verdict == jepsen.Valid:
			d.FailEvent, d.Before = d.BoundEvent, before.Witness
			if a.Evidence != nil {
				a.Evidence(in.Cut(d.FailEvent), r, d)
			} else {
				a.coreInTime(in.Cut(d.FailEvent), r, d)
			}
			return
		default:
			d.Reason = before.Reason
			return
		}
	}
}

// coreInTime finds a core unless the context ends first. The failing
// completion is known by then and stands.
func (a *Algorithm) coreInTime(in Input, r Result, d *Decision) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case stop{}:
			d.Core, d.Why = nil, nil
		default:
			panic(p)
		}
	}()
	if !r.Alone {
		a.Core(in, r.Keys, d)
		return
	}
	alone := *a
	alone.Always = nil
	alone.Core(in, r.Keys, d)
	for o := range int32(in.Len()) {
		if a.stays(in.Op(o)) {
			d.Core = append(d.Core, o)
		}
	}
	slices.Sort(d.Core)
}

// Core finds a minimal core of in, which contains the keys, and explains it.
func (a *Algorithm) Core(in Input, keys []models.Row, d *Decision) {
	ops := a.grow(in, keys)
	sub := in.Pick(ops)
	kept := a.Shrink(sub)
	sub = sub.Pick(kept)
	for _, k := range kept {
		d.Core = append(d.Core, ops[k])
	}
	if a.Explain != nil {
		d.Why = a.Explain(sub)
	} else if r := a.Decide(sub, false); r.Verdict == jepsen.Invalid {
		d.Why = r.Why
	}
	d.Why.Renumber(func(o models.Row) models.Row { return d.Core[o] })
}

// grow returns an invalid closed sub-history in ascending order. It consists of the keys and
// what they need; if that is not enough, of more and more of the latest operations as well.
func (a *Algorithm) grow(in Input, keys []int32) []int32 {
	need := a.Needs(in)
	for extra := 0; ; extra = 2*extra + len(keys) {
		seeds := slices.Clone(keys)
		for o := in.Len() - 1; o >= 0 && o >= in.Len()-extra; o-- {
			seeds = append(seeds, int32(o))
		}
		for o := range int32(in.Len()) {
			if a.stays(in.Op(o)) {
				seeds = append(seeds, o)
			}
		}
		ops := need.closure(in.Len(), seeds)
		if extra >= in.Len() || a.Invalid(in.Pick(ops)) {
			return ops
		}
	}
}

// stays reports whether an operation belongs to every choice.
func (a *Algorithm) stays(op models.Op) bool { return a.Always != nil && a.Always(op) }

// closure returns the operations that the seeds need, including the seeds, in ascending order.
func (need Needs) closure(n int, seeds []int32) []int32 {
	in := make([]bool, n)
	var ops, todo []int32
	for _, o := range seeds {
		if !in[o] {
			in[o] = true
			todo = append(todo, o)
		}
	}
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		ops = append(ops, o)
		from := len(todo)
		todo = need(o, todo)
		fresh := todo[:from]
		for _, p := range todo[from:] {
			if !in[p] {
				in[p] = true
				fresh = append(fresh, p)
			}
		}
		todo = fresh
	}
	slices.Sort(ops)
	return ops
}

// Shrink returns a minimal invalid closed choice of the operations of in, which is
// invalid as a whole. Starting with the latest, it removes operations together with
// those that need them, and more at a time as long as that works. A closed sub-history
// of a linearizable one is linearizable. So if an operation could not be removed once,
// neither it nor what it needs can be removed later: one pass is enough.
func (a *Algorithm) Shrink(in Input) []int32 {
	n := in.Len()
	need := a.Needs(in)
	kept := make([]int32, n)
	for i := range kept {
		kept[i] = int32(i)
	}
	fixed := make([]bool, n)
	for o := range fixed {
		fixed[o] = a.stays(in.Op(int32(o)))
	}
	for end, size := n, 1; end > 0; {
		if fixed[kept[end-1]] {
			end--
			continue
		}
		out := kept[max(0, end-size):end]
		without := need.without(n, kept, out, fixed)
		switch {
		case a.Invalid(in.Pick(without)):
			kept = without
			end, _ = slices.BinarySearch(kept, out[0])
			size *= 2
		case size > 1:
			size = 1
		default:
			for _, o := range need.closure(n, out) {
				fixed[o] = true
			}
		}
	}
	return kept
}

// without returns kept minus the operations of out that are not fixed, and
// minus everything that needs one of them.
func (need Needs) without(n int, kept, out []int32, fixed []bool) []int32 {
	gone := make([]bool, n)
	for _, o := range out {
		gone[o] = !fixed[o]
	}
	var buf []int32
	for more := true; more; {
		more = false
		for _, o := range kept {
			if gone[o] {
				continue
			}
			buf = need(o, buf[:0])
			if slices.ContainsFunc(buf, func(p int32) bool { return gone[p] }) {
				gone[o], more = true, true
			}
		}
	}
	var rest []int32
	for _, o := range kept {
		if !gone[o] {
			rest = append(rest, o)
		}
	}
	return rest
}

// Invalid decides a sub-history. The procedure may find a sub-history ambiguous that it could
// decide within the whole history. If such a sub-history is small, Invalid searches it.
func (a *Algorithm) Invalid(in Input) bool {
	switch r := a.Decide(in, false); {
	case r.Verdict != jepsen.Unknown:
		return r.Verdict == jepsen.Invalid
	case a.Step != nil && in.Len() <= maxSearch:
		return !a.search(in)
	}
	return false
}

// maxSearch bounds the operations of a sub-history that is searched. There
// are then at most 2^maxSearch configurations for each state.
const maxSearch = 16

// search tries all orders of a tiny history.
func (a *Algorithm) search(in Input) bool {
	type config struct {
		done  uint32
		state int32
	}
	seen := map[config]bool{}
	must := uint32(0)
	for i, r := range in.Res {
		if r != models.Open {
			must |= 1 << i
		}
	}
	var try func(c config) bool
	try = func(c config) bool {
		if c.done&must == must {
			return true
		}
		if seen[c] {
			return false
		}
		seen[c] = true
		due := models.Open // the first return among operations not done yet
		for i, r := range in.Res {
			if c.done>>i&1 == 0 {
				due = min(due, r)
			}
		}
		for i := int32(0); int(i) < in.Len() && in.Inv[i] < due; i++ {
			if c.done>>i&1 != 0 {
				continue
			}
			if state, ok := a.Step(in.Op(i), c.state); ok && try(config{c.done | 1<<i, state}) {
				return true
			}
		}
		return false
	}
	return try(config{0, in.Init})
}
