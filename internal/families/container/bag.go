package container

import (
	"context"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// # Unordered queue (a bag)
//
// Decides: enqueues, dequeues, and dequeues that found the bag empty. Drains are not decided here.
//
// Precondition: none if no completed dequeue found the bag empty. Otherwise it must not
// matter which of several enqueues of one value a dequeue took. The k-th enqueue of a
// value by return is paired with its k-th dequeue by invocation. Every enqueue must have
// been invoked before its dequeue returned. One more condition applies if dequeues
// crashed that may have taken anything. No value that was enqueued several times may then
// have been enqueued more often than completed dequeues took it, if any dequeue named it.
//
// Cost: O(operations + events + ids). It is times log(events) if two sorts of dequeues
// crashed: some that may have taken anything, and others whose value is known.
//
// Rests on two sweeps. Counting: an enqueued value is there from the enqueue's invocation on, and a
// dequeue takes its value at its return. If the value is not there then, that return is the first
// failing completion. Nothing else can go wrong without empty answers. (If every dequeue is paired
// with an enqueue invoked before it returned, the count is right and needs no sweep.) Gaps: between
// two events the bag may be empty under two conditions. No value was certainly inside then (its
// enqueue had returned, its dequeue had not been invoked). And crashed dequeues can have taken all
// that nothing else took: at least as many of them had been invoked as such values had been
// enqueued. Whether one gap is used does not matter to another: what crashed dequeues had taken by
// the earlier gap, they have also taken by the later one. So an empty answer needs one such gap
// while it runs.
//
// Crashed operations: a crashed enqueue is omitted unless a dequeue takes its value. A crashed
// dequeue of a known value can be omitted if the bag is never found empty; otherwise it takes its
// value as soon as it can. Of a value's crashed dequeues, those invoked first take part, up to
// the number of enqueues that completed dequeues leave. Whichever others took part, the k-th of
// them in order of invocation would not be invoked before the k-th of these. And in no order is a
// gap empty before which more enqueues of the value returned than dequeues of it were invoked.
//
// If dequeues that may have taken anything crashed as well, they may take such a value instead of
// its own crashed dequeue. They have to if a gap is used after the value's enqueue returned and
// before its own dequeue was invoked. So here it does matter which gaps are used. Let a gap be
// used, and let g be the last gap used before it. Then at least these values must be taken: those
// taken up to g, and those whose enqueue returned after g. The others were taken by g, or their own
// dequeues had been invoked. gapchoice.go finds the best g, which is no earlier than the last
// invocation of an empty answer that has returned.
//
// A prefix is a history whose open operations crashed and keep their values. So if
// no dequeue crashed that may have taken anything, an empty answer without a gap
// is the first failing completion. Otherwise such dequeues may have taken a value
// until another dequeue returns it. Then that dequeue is the one that fails.
//
// # Core
//
// A choice is a set of values and of empty answers. It consists of the operations of these
// values. If there are empty answers, it also has all crashed dequeues that may have taken
// anything, and the operations of the initial values. The core is a choice that, cut at
// the first failing completion, is not linearizable, while every smaller choice is. It
// contains the operation that fails: without that operation the rest is linearizable.

// unordered decides a history of the kinds of containers without Peek.
func unordered(ctx context.Context, c *models.Columns, shape models.BagShape, want fastpath.Want) fastpath.Decision {
	return fastpath.WithInitial(c, shape.Init, models.Enqueue, func(all *models.Columns) fastpath.Decision {
		return runBag(ctx, all, len(shape.Init), want)
	})
}

// runBag decides a history whose first operations are initial.
func runBag(ctx context.Context, c *models.Columns, initial int, want fastpath.Want) fastpath.Decision {
	in := fastpath.NewInput(ctx, c, 0)
	r := decideBag(in, want&fastpath.WantWitness != 0)
	d := fastpath.Decision{Verdict: r.Verdict, Reason: r.Reason, Witness: r.Witness, FailEvent: -1, BoundEvent: -1}
	if r.Verdict == jepsen.Invalid && want&fastpath.WantFailure != 0 {
		bagFailure(in, r, initial, &d)
		d.FailEvent, d.BoundEvent = in.Original(d.FailEvent), in.Original(d.BoundEvent)
	}
	return d
}

// decideBag decides a history. The End of its result is the event at which an empty
// answer failed. The history is likely, but not certain, to fail there first.
func decideBag(in fastpath.Input, witness bool) fastpath.Result {
	empties := false
	for i, kind := range in.Kind {
		switch {
		case kind > models.DequeueEmpty || kind == models.DequeueAny && in.Res[i] != models.Open:
			return fastpath.Result{Reason: fastpath.Unsupported.Of(int32(i))}
		case kind == models.DequeueEmpty && in.Res[i] != models.Open:
			empties = true
		}
	}
	b := bag{in: in, returns: in.Returns()}
	var a *fastpath.Finding
	if empties {
		a = b.pair()
	}
	if !empties || a != nil { // otherwise all are paired, and the count is right
		if o := b.count(witness && !empties); o >= 0 {
			return fastpath.Result{Verdict: jepsen.Invalid, Keys: []int32{o}, End: in.Res[o], Why: b.tooOften(o)}
		}
	}
	switch {
	case !empties:
		return fastpath.Result{Verdict: jepsen.Valid, Witness: b.order}
	case a != nil:
		return fastpath.Result{Reason: a}
	}
	if e := b.findGaps(witness); e >= 0 {
		return fastpath.Result{Verdict: jepsen.Invalid, Keys: []int32{e}, End: in.Res[e], Why: b.neverEmpty(e)}
	}
	r := fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		r.Witness = b.witness()
	}
	return r
}

// bag holds what is known about a history. Operations are rows plus 1.
type bag struct {
	in      fastpath.Input
	returns []int32 // by event: the operation that returns
	partner []int32 // by row: the operation paired with it, or unused
	marks   []mark  // by event
	any     bool    // dequeues that may have taken anything crashed
	waits   bool    // in addition, there are marks of values that wait
	gaps    []int32 // for the witness, by row of an empty answer: the event before its gap, or -1
	order   []int32
}

// mark says what an event does to the values that are certainly inside.
type mark uint8

const (
	nothing mark = iota
	enters       // a value is certainly inside from now on
	leaves       // it no longer is
	stays        // a value is certainly inside that no known dequeue takes
	takes        // a crashed dequeue may take such a value from now on
	answers      // an empty answer returns
	waits        // a value is inside that only such dequeues can take so far
	served       // its own crashed dequeue can take it from now on
)

// unused is the partner of a crashed enqueue that is not needed, or of a
// dequeue that did not happen.
const unused = -1

// count performs the counting sweep. It returns the dequeue that fails, or
// -1. It leaves crashed enqueues that are not needed out of the order.
func (b *bag) count(witness bool) int32 {
	in := b.in
	if !witness {
		there := make([]int32, in.IDs)
		i := 0
		for t := range in.Events {
			if i < in.Len() && in.Inv[i] == t {
				if in.Kind[i] == models.Enqueue {
					there[in.A[i]]++
				}
				i++
			} else if o := b.returns[t]; o > 0 && in.Kind[o-1] == models.Dequeue {
				if there[in.A[o-1]]--; there[in.A[o-1]] < 0 {
					return o - 1
				}
			}
		}
		return -1
	}
	type shelf struct{ there, crashed int32 } // crashed: a list of rows plus 1
	shelves := make([]shelf, in.IDs)
	next := make([]int32, in.Len())
	b.order = make([]int32, 0, in.Len())
	i := int32(0)
	for t := range in.Events {
		if int(i) < in.Len() && in.Inv[i] == t {
			s := &shelves[in.A[i]]
			switch {
			case in.Kind[i] != models.Enqueue:
			case in.Res[i] == models.Open:
				next[i] = s.crashed
				s.crashed = i + 1
			default:
				s.there++
				b.order = append(b.order, i)
			}
			i++
			continue
		}
		o := b.returns[t] - 1
		if o < 0 || in.Kind[o] != models.Dequeue {
			continue
		}
		switch s := &shelves[in.A[o]]; {
		case s.there > 0:
			s.there--
		case s.crashed > 0:
			b.order = append(b.order, s.crashed-1)
			s.crashed = next[s.crashed-1]
		default:
			return o
		}
		b.order = append(b.order, o)
	}
	return -1
}

// tooOften names the dequeues that took the value of o before o did.
func (b *bag) tooOften(o int32) *fastpath.Finding {
	var before []models.Row
	for i, kind := range b.in.Kind {
		if kind == models.Dequeue && b.in.A[i] == b.in.A[o] && b.in.Res[i] < b.in.Res[o] && len(before) < fastpath.MaxNamed {
			before = append(before, int32(i))
		}
	}
	return TakenTooOften.Of(append(before, o)...)
}

// stock holds what the history does with a value.
type stock struct {
	// dequeues counts those that take part: the completed ones, and the first
	// crashed ones as long as there are enqueues for them.
	enqueues, returned, dequeues int32
	first, last                  int32 // dequeues that are not yet paired, by invocation
}

// pair pairs dequeues with enqueues and fills in marks, or returns why it
// cannot. In that case the count may be wrong.
func (b *bag) pair() *fastpath.Finding {
	in := b.in
	stocks := make([]stock, in.IDs)
	b.marks = make([]mark, in.Events)
	for i, kind := range in.Kind {
		y := &stocks[in.A[i]]
		open := in.Res[i] == models.Open
		switch {
		case kind == models.Enqueue:
			y.enqueues++
			if !open {
				y.returned++
			}
		case kind == models.Dequeue && !open:
			y.dequeues++
		case kind == models.DequeueAny:
			b.any = true
			b.marks[in.Inv[i]] = takes
		case kind == models.DequeueEmpty && !open:
			b.marks[in.Res[i]] = answers
		}
	}
	b.partner = make([]int32, in.Len())
	next := make([]int32, in.Len()) // links lists of dequeues
	for i, kind := range in.Kind {
		if kind != models.Dequeue {
			continue
		}
		y := &stocks[in.A[i]]
		switch open := in.Res[i] == models.Open; {
		case open && (y.returned == 0 || y.enqueues == y.dequeues):
			b.partner[i] = unused // there is nothing else to take
			continue
		case open && b.any && y.enqueues > 1, !open && b.any && y.enqueues > y.dequeues:
			return Untold.Of(int32(i))
		case open:
			y.dequeues++
		case y.enqueues < y.dequeues:
			return Pairing.Of(int32(i))
		}
		if y.first == 0 {
			y.first = int32(i) + 1
		} else {
			next[y.last] = int32(i) + 1
		}
		y.last = int32(i)
	}
	return b.match(stocks, next)
}

// match pairs the k-th enqueue of a value by return (crashed ones last)
// with its k-th dequeue by invocation.
func (b *bag) match(stocks []stock, next []int32) *fastpath.Finding {
	in := b.in
	for t, o := range b.returns {
		e := o - 1
		if e < 0 || in.Kind[e] != models.Enqueue {
			continue
		}
		y := &stocks[in.A[e]]
		d := y.first - 1
		if d < 0 {
			b.marks[t] = stays
			continue
		}
		y.first = next[d]
		b.partner[e], b.partner[d] = d+1, o
		switch {
		case in.Inv[d] > int32(t) && in.Res[d] == models.Open && b.any:
			b.marks[t], b.marks[in.Inv[d]] = waits, served
			b.waits = true
		case in.Inv[d] > int32(t):
			b.marks[t], b.marks[in.Inv[d]] = enters, leaves
		case in.Inv[e] > in.Res[d]:
			return Pairing.Of(d)
		}
	}
	for i, kind := range in.Kind {
		if kind != models.Enqueue || in.Res[i] != models.Open {
			continue
		}
		y := &stocks[in.A[i]]
		d := y.first - 1
		if d < 0 {
			b.partner[i] = unused
			continue
		}
		y.first = next[d]
		b.partner[i], b.partner[d] = d+1, int32(i)+1
		if in.Inv[i] > in.Res[d] {
			return Pairing.Of(d)
		}
	}
	return nil
}

// findGaps performs the sweep over the gaps. For every completed empty answer
// it finds a gap before its return in which the bag may be empty, the latest
// if it does not matter. It returns the first answer without a gap, or -1.
func (b *bag) findGaps(witness bool) int32 {
	if witness {
		b.gaps = make([]int32, b.in.Len())
	}
	var w *gapChooser
	if b.waits {
		w = newGapChooser(b, witness)
	}
	inside := [...]int32{enters: 1, leaves: -1, served: 0}
	short := [...]int32{stays: 1, takes: -1, served: 0}
	certain, missing := int32(0), int32(0) // values certainly inside; crashed dequeues that are missing
	good := int32(-1)
	for t, m := range b.marks {
		if m == answers {
			e := b.returns[t] - 1
			if good < b.in.Inv[e] {
				return e
			}
			if witness {
				b.gaps[e] = good
			}
		}
		certain += inside[m]
		missing += short[m]
		if w != nil {
			w.pass(int32(t), m)
		}
		if certain == 0 && (w == nil && missing <= 0 || w != nil && w.use(int32(t), -missing)) {
			good = int32(t)
		}
	}
	if w != nil && witness {
		w.choose(good)
	}
	return -1
}

// neverEmpty names enqueues whose values were certainly inside while e ran.
func (b *bag) neverEmpty(e int32) *fastpath.Finding {
	in := b.in
	var adds []models.Row
	for i, kind := range in.Kind {
		if kind != models.Enqueue || in.Res[i] > in.Res[e] || len(adds) >= fastpath.MaxNamed {
			continue
		}
		if d := b.partner[i]; d == 0 || in.Inv[d-1] > in.Inv[e] && in.Inv[d-1] > in.Res[i] {
			adds = append(adds, int32(i))
		}
	}
	return NeverEmpty.Of(append(adds, e)...)
}

// witness puts a value's enqueue at its return and its dequeue at its
// invocation, or both at one event if they overlap. What crashed dequeues
// took goes just before the next gap that an empty answer uses.
func (b *bag) witness() []int32 {
	in := b.in
	inGap := make([]int32, in.Events) // the empty answers of the gap after an event: a list
	next := make([]int32, in.Len())
	last := int32(-1)
	for i, kind := range in.Kind {
		if kind == models.DequeueEmpty && in.Res[i] != models.Open {
			g := b.gaps[i]
			next[i], inGap[g] = inGap[g], int32(i)+1
			last = max(last, g)
		}
	}
	order := make([]int32, 0, in.Len())
	var takers []int32
	left := 0
	i := int32(0)
	for t := range in.Events {
		if int(i) < in.Len() && in.Inv[i] == t {
			p := b.partner[i] - 1
			switch {
			case in.Kind[i] == models.DequeueAny:
				takers = append(takers, i)
			case p < 0 || in.Inv[p] > t:
			case t > last && in.Kind[i] == models.Enqueue && in.Res[p] == models.Open:
				b.partner[i] = 0 // the dequeue is not needed
			case t > last && in.Res[i] == models.Open && in.Kind[i] == models.Dequeue:
				if in.Res[p] > t {
					b.partner[p] = 0 // the same
				}
			case in.Kind[i] == models.Enqueue: // within its dequeue, which had begun
				order = append(order, i, p)
			case in.Res[p] < t:
				order = append(order, i)
			default:
				order = append(order, p, i)
			}
			i++
		} else if o := b.returns[t] - 1; o >= 0 && in.Kind[o] == models.Enqueue {
			if d := b.partner[o]; d == 0 || in.Inv[d-1] > t {
				order = append(order, o)
				if d == 0 {
					left++
				}
			}
		}
		if inGap[t] == 0 {
			continue
		}
		order = append(order, takers[:left]...)
		takers, left = takers[left:], 0
		for e := inGap[t]; e > 0; e = next[e-1] {
			order = append(order, e-1)
		}
	}
	return order
}

// bagFailure finds the first failing completion, a witness of the history
// before it, and the core. It tries prefixes around the place where the
// history seems to fail, in growing steps, and then by halving.
func bagFailure(in fastpath.Input, r fastpath.Result, initial int, d *fastpath.Decision) {
	low, high := int32(-1), in.Events-1 // valid up to low; invalid up to high
	guess, step := r.End, int32(1)
	for low+1 < high {
		in.Poll()
		t := guess
		if t <= low || t >= high || step > in.Events/4 {
			t = low + (high-low)/2
		}
		before := decideBag(in.Cut(t), t == high-1)
		switch before.Verdict {
		case jepsen.Invalid:
			high, r = t, before
			guess = min(t-1, before.End)
		case jepsen.Valid:
			low = t
			d.Before = before.Witness
			guess = t + step
			step *= 2
		default:
			d.BoundEvent, d.Reason, d.Before = high, before.Reason, nil
			return
		}
	}
	d.FailEvent, d.BoundEvent = high, high
	if d.Before == nil { // it was not yet known that this prefix is the last
		d.Before = decideBag(in.Cut(low), true).Witness
	}
	if r.Why.Is(NeverEmpty) {
		cut := in.Cut(high)
		lasts := make([]int32, in.IDs) // 1 for initial values
		for _, v := range in.A[:initial] {
			lasts[v] = 1
		}
		cut.B = make([]int32, cut.Len())
		for i, kind := range cut.Kind {
			if kind == models.Enqueue || kind == models.Dequeue {
				cut.B[i] = lasts[cut.A[i]]
			}
		}
		bagCore.Core(cut, append(r.Keys, in.OpReturning(high)), d)
		return
	}
	d.Why = r.Why
	for i, kind := range in.Kind {
		if in.A[i] == in.A[r.Keys[0]] && (kind == models.Enqueue && in.Inv[i] < high || kind == models.Dequeue && in.Res[i] <= high) {
			d.Core = append(d.Core, int32(i))
		}
	}
}

// bagCore holds what the shared machinery needs to find a core. B marks the
// operations of initial values.
var bagCore = &fastpath.Algorithm{
	Decide: decideBag,
	Needs:  needsValues,
	Always: func(op models.Op) bool { return op.Kind == models.DequeueAny || op.B != 0 },
}

// TakenTooOften (before, taker): taker took a value that had been added at most as often as it had been
// taken before. The operations before took it, the latest last, at most
// fastpath.MaxNamed of them. If there are none, nothing had added the value.
var TakenTooOften = &fastpath.Pattern{Name: "taken-too-often", ChooseKind: takenTooOften, Choose: func(t models.Teller, v []models.Row) string {
	before := fastpath.ListProcesses(len(v) - 1)
	switch counts := onlyCounts(t, v); {
	case counts && len(v) == 1:
		return "{did 0}, but the count was still 0"
	case counts:
		return "{did -1}, but the count was already 0: " + before + " had done so before"
	case len(v) == 1:
		return "{did 0}, but nothing had added it by then"
	}
	return "{did -1}, but had not been added often enough: " + before + " had taken it before"
}}

// takenTooOften is TakenTooOften.ChooseKind.
func takenTooOften(t models.Teller, v []models.Row) models.Anomaly {
	switch {
	case onlyCounts(t, v):
		return models.NegativeBalance
	case len(v) == 1:
		return models.NeverWritten
	}
	return models.Duplicate
}

// onlyCounts reports whether the elements have no values, so that the container is a count.
func onlyCounts(t models.Teller, v []models.Row) bool { return t.Value(v[len(v)-1]) == "" }

// NeverEmpty (adds, empty): empty found the bag empty, but the bag held something all the time
// that it ran. Some of the values that the adds added were certainly inside. If
// there are none, more was inside than crashed operations can have taken.
var NeverEmpty = &fastpath.Pattern{Name: "never-empty", Kind: models.WrongEmpty, Choose: func(t models.Teller, v []models.Row) string {
	switch counts := onlyCounts(t, v); {
	case counts && len(v) == 1:
		return "{who 0} found a count of 0 although it was higher throughout than crashed operations can have taken"
	case len(v) == 1:
		return "{who 0} found nothing although more was there throughout than crashed operations can have taken"
	}
	return foundEmpty(t, v)
}}

// Pairing: it matters which of the operations that added its value the operation took.
var Pairing = &fastpath.Pattern{Choose: func(t models.Teller, v []models.Row) string {
	if onlyCounts(t, v) {
		return "when the count was 0 depends on which increment {name 0} took"
	}
	return "value {value 0} was added several times, and when nothing was there depends on which one {name 0} took"
}}

// Untold: the operation took a value that was added several times. Operations that crashed may have taken others of it,
// and empty answers depend on that.
var Untold = &fastpath.Pattern{Choose: func(t models.Teller, v []models.Row) string {
	if onlyCounts(t, v) {
		return "when the count was 0 depends on which crashed operations took one"
	}
	return "when nothing was there depends on what each crashed {f 0} took, and value {value 0} was added several times"
}}
