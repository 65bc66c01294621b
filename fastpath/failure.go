package fastpath

import (
	"slices"

	"clew/models"
)

// The first failing completion, and the minimal core.
//
// Linearizability is closed under prefixes, so an event by which the history
// is not linearizable is an upper bound of the first failing completion. The
// operations that show a violation give such a bound, and mostly a tight one:
// if the history just before it is linearizable we are done, else the evidence
// there gives a lower bound. Each round costs a decision, two rounds are usual.

// maxDescents is the number of rounds after which the bound is halved instead,
// so that no history can make us take as many rounds as it has completions.
var maxDescents = 16

// failure finds the first failing completion of a history that r has found to
// be invalid, then the core.
func (a *algorithm) failure(in input, r result, d *Decision) {
	low := int32(-1) // the history up to here was not found to be invalid
	for round := 0; ; round++ {
		in.poll()
		d.Bound = r.end
		t := r.end - 1
		if (r.loose || round >= maxDescents) && low+1 < t {
			t = low + (r.end-low)/2
		}
		before := a.decide(in.cut(t), false)
		switch {
		case before.verdict == Invalid:
			r = before
		case t < r.end-1:
			low = t
		case before.verdict == Valid:
			d.Fail = d.Bound
			if a.keysAreCore {
				d.Core, d.Why = r.keys, r.why
				return
			}
			a.core(in.cut(d.Fail), r.keys, d)
			return
		default:
			d.Reason = before.reason
			return
		}
	}
}

// core finds a minimal core of in, which holds the keys, and explains it.
func (a *algorithm) core(in input, keys []int32, d *Decision) {
	ops := a.grow(in, keys)
	sub := in.pick(ops)
	kept := a.shrink(sub)
	sub = sub.pick(kept)
	for _, k := range kept {
		d.Core = append(d.Core, ops[k])
	}
	why := Explanation{}
	if a.explain != nil {
		why = a.explain(sub)
	} else if r := a.decide(sub, false); r.verdict == Invalid {
		why = r.why
	}
	if why.Pattern != NoPattern {
		d.Why = Explanation{why.Pattern, slices.Clone(why.Ops)}
		for i, o := range d.Why.Ops {
			if o != Initial {
				d.Why.Ops[i] = d.Core[o]
			}
		}
	}
}

// grow returns a closed sub-history, in ascending order, that is invalid: the
// keys with what they need if that suffices, else more and more of the latest
// operations.
func (a *algorithm) grow(in input, keys []int32) []int32 {
	need := a.needs(in)
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
		if extra >= in.Len() || a.invalid(in.pick(ops)) {
			return ops
		}
	}
}

// stays says whether an operation belongs to every choice.
func (a *algorithm) stays(op models.Op) bool { return a.always != nil && a.always(op) }

// closure returns the operations that seeds need, themselves included, in
// ascending order.
func (need needs) closure(n int, seeds []int32) []int32 {
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

// shrink returns a minimal invalid closed choice of the operations of in, which
// is invalid as a whole. From the latest on it leaves out operations with those
// that need them, more at a time while that goes well. A closed sub-history of
// a linearizable one is linearizable, so an operation that could not be left
// out once never can, nor can what it needs: one pass is enough.
func (a *algorithm) shrink(in input) []int32 {
	n := in.Len()
	need := a.needs(in)
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
		case a.invalid(in.pick(without)):
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

// without is kept less the operations of out that are not fixed, and less all
// that needs one of these.
func (need needs) without(n int, kept, out []int32, fixed []bool) []int32 {
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

// invalid decides a sub-history. The procedure may find ambiguous what it can
// decide with the whole history around it; small ones are searched then.
func (a *algorithm) invalid(in input) bool {
	switch r := a.decide(in, false); {
	case r.verdict != Ambiguous:
		return r.verdict == Invalid
	case a.step != nil && in.Len() <= maxSearch:
		return !a.search(in)
	}
	return false
}

// maxSearch bounds the operations of a sub-history that is searched, and with
// them the configurations to 2^maxSearch for each state.
const maxSearch = 16

// search tries all orders of a tiny history.
func (a *algorithm) search(in input) bool {
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
		due := models.Open // the first return of what is to come
		for i, r := range in.Res {
			if c.done>>i&1 == 0 {
				due = min(due, r)
			}
		}
		for i := int32(0); int(i) < in.Len() && in.Inv[i] < due; i++ {
			if c.done>>i&1 != 0 {
				continue
			}
			if state, ok := a.step(in.Op(i), c.state); ok && try(config{c.done | 1<<i, state}) {
				return true
			}
		}
		return false
	}
	return try(config{0, in.init})
}
