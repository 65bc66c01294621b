package gen

import (
	"slices"
	"strconv"
)

// longBalance is the initial balance of every account of a bank.
const longBalance = 20

// longBank is a bank. All amounts are even except for the one of a bug's transfer.
// Whatever crashed transfers did, balances from before it, and odd ones without
// it, are impossible. So are balances whose sum is wrong.
type longBank struct {
	*long
	now, stale []int
	steps      int
}

func newLongBank(l *long) longObject {
	return &longBank{long: l, now: slices.Repeat([]int{longBalance}, l.Keys)}
}

func (x *longBank) read(*longThread) (longOp, bool) { return longOp{f: ":read"}, true }

func (x *longBank) change(*longThread) longOp {
	from := x.r.IntN(x.Keys)
	to := (from + 1 + x.r.IntN(max(1, x.Keys-1))) % x.Keys
	return longOp{f: ":transfer", changes: true, key: from, two: to, a: 2 * (1 + x.r.IntN(upTo(x.Values, 5)))}
}

func (x *longBank) bug(*longThread) (longOp, bool) {
	x.steps++
	from := slices.Index(x.now, slices.Max(x.now)) // this account holds something
	to := (from + 1) % x.Keys
	wrong := longOp{f: ":read", forced: true, last: true}
	switch {
	case x.Kind == ImpossibleRead:
		wrong.list = slices.Clone(x.now)
		wrong.list[from]--
		wrong.list[to]++
		return wrong, true
	case x.steps == 1:
		x.stale = slices.Clone(x.now)
		if x.Kind == TornRead {
			x.stale[from]--
		}
		return longOp{f: ":transfer", changes: true, key: from, two: to, a: 1, forced: x.Kind == LostWrite}, true
	}
	wrong.list = x.stale
	return wrong, true
}

func (x *longBank) apply(o *longOp) outcome {
	if !o.changes {
		o.list = slices.Clone(x.now)
		return done
	}
	if x.now[o.key] < o.a {
		return refused
	}
	x.now[o.key] -= o.a
	x.now[o.two] += o.a
	return done
}

func (x *longBank) value(b []byte, o *longOp, returned bool) []byte {
	switch {
	case o.changes:
		b = number(append(b, "{:from "...), o.key)
		b = number(append(b, ", :to "...), o.two)
		b = number(append(b, ", :amount "...), o.a)
	case !returned:
		return number(b, -1)
	default:
		return longBalances(b, o.list)
	}
	return append(b, '}')
}

// longBalances prints the balances of accounts.
func longBalances(b []byte, list []int) []byte {
	b = append(b, '{')
	for i, n := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(number(b, i), ' ')
		b = strconv.AppendInt(b, int64(n), 10) // -1 is a balance, too
	}
	return append(b, '}')
}

// longCounter is a counter. Operations add 1, or one of a few numbers.
type longCounter struct {
	*long
	now  int
	sure int // the sum of adds that do not crash
	step int
}

func newLongCounter(l *long) longObject { return &longCounter{long: l} }

func (x *longCounter) read(*longThread) (longOp, bool) { return longOp{f: ":read"}, true }

func (x *longCounter) change(*longThread) longOp {
	o := longOp{f: ":add", changes: true, a: 1}
	if x.Values > 1 {
		o.a += x.r.IntN(x.Values)
	}
	return o
}

// ghost returns never before a lost write, since a crashed add would make up for it.
func (x *longCounter) ghost(*longOp) haunting {
	if x.Kind == LostWrite && x.phase != after {
		return never
	}
	return perhaps
}

// bug reads less than the sum of all completed adds, or more than the sum of all adds.
func (x *longCounter) bug(*longThread) (longOp, bool) {
	x.step++
	switch {
	case x.Kind == ImpossibleRead:
		return longOp{f: ":read", a: (2*x.Operations + x.Processes) * max(x.Values, 1), forced: true, last: true}, true
	case x.step == 1:
		return longOp{f: ":add", changes: true, a: 1, forced: x.Kind == LostWrite}, true
	case x.Kind == LostWrite:
		return longOp{f: ":read", last: true}, true
	}
	return longOp{f: ":read", a: x.sure - 1, forced: true, last: true}, true
}

func (x *longCounter) apply(o *longOp) outcome {
	if !o.changes {
		o.a = x.now
		return done
	}
	x.now += o.a
	if !o.crashes {
		x.sure += o.a
	}
	return done
}

func (x *longCounter) value(b []byte, o *longOp, returned bool) []byte {
	if !o.changes && !returned {
		return number(b, -1)
	}
	return number(b, o.a)
}

// longCount is counting-semaphore. Only increments crash, so the count is never less than it
// would be without them.
type longCount struct {
	*long
	now, steps int
}

func newLongCount(l *long) longObject { return &longCount{long: l} }

func (x *longCount) change(*longThread) longOp {
	return longOp{f: [...]string{":incr", ":decr"}[x.r.IntN(2)], changes: true}
}

func (x *longCount) mayCrash(_ *longThread, o *longOp) bool { return o.f == ":incr" }

// bug increments, and finds that the count is 0.
func (x *longCount) bug(*longThread) (longOp, bool) {
	if x.steps++; x.steps == 1 {
		return longOp{f: ":incr", changes: true, forced: true, ok: true}, true
	}
	return longOp{f: ":decr", changes: true, forced: true, last: true}, true
}

func (x *longCount) apply(o *longOp) outcome {
	switch {
	case o.f == ":incr":
		x.now++
	case x.now == 0:
		return done
	default:
		x.now--
	}
	o.ok = true
	return done
}

func (x *longCount) value(b []byte, o *longOp, returned bool) []byte {
	if !returned {
		return append(b, "nil"...)
	}
	return strconv.AppendBool(b, o.ok)
}

// longIDs is id-generator.
type longIDs struct {
	*long
	now, steps int
}

func newLongIDs(l *long) longObject { return &longIDs{long: l} }

func (x *longIDs) change(*longThread) longOp { return longOp{f: ":generate", changes: true} }

func (x *longIDs) bug(t *longThread) (longOp, bool) {
	o := x.change(t)
	if x.steps++; x.steps > 1 {
		o.a, o.forced, o.last = x.now, true, true
	}
	return o, true
}

func (x *longIDs) apply(o *longOp) outcome {
	x.now++
	o.a = x.now
	return done
}

func (x *longIDs) value(b []byte, o *longOp, returned bool) []byte {
	if !returned {
		return number(b, -1)
	}
	return number(b, o.a)
}

// longLog is a log. Appends tell their offsets if each has a value of its own.
// Appends of a bug always do.
type longLog struct {
	*long
	now   []int
	steps int
}

func newLongLog(l *long) longObject { return &longLog{long: l} }

func (x *longLog) change(*longThread) longOp {
	return longOp{f: ":append", changes: true, a: x.write(), ok: x.Values == 0}
}

func (x *longLog) read(*longThread) (longOp, bool) {
	if x.r.IntN(2) == 0 {
		return longOp{f: ":tail"}, true
	}
	return longOp{f: ":read-at", key: x.r.IntN(len(x.now) + 1)}, true
}

// bug appends a value and does not find it at its offset, or appends another one there.
func (x *longLog) bug(*longThread) (longOp, bool) {
	x.steps++
	more := longOp{f: ":append", changes: true, a: x.mark, key: len(x.now), ok: true}
	wrong := longOp{f: ":read-at", key: len(x.now) - 1, a: -1, forced: true, last: true}
	switch {
	case x.Kind == ImpossibleRead:
		wrong.key, wrong.a = x.r.IntN(len(x.now)+1), x.mark+2
	case x.steps == 1:
		more.forced = x.Kind == LostWrite
		return more, true
	case x.Kind == Duplicate:
		more.a, more.key, more.forced, more.last = x.mark+1, len(x.now)-1, true, true
		return more, true
	case x.Kind == LostWrite:
		wrong.key = len(x.now)
	}
	return wrong, true
}

func (x *longLog) apply(o *longOp) outcome {
	switch {
	case o.changes:
		o.key = len(x.now)
		x.now = append(x.now, o.a)
	case o.f == ":tail":
		o.a = len(x.now)
	case o.key < len(x.now):
		o.a = x.now[o.key]
	default:
		o.a = -1
	}
	return done
}

func (x *longLog) value(b []byte, o *longOp, returned bool) []byte {
	switch {
	case o.changes && returned && o.ok:
		return append(number(append(b, "{:offset "...), o.key), '}')
	case o.changes && returned:
		return append(b, "nil"...)
	case o.changes || returned:
		return number(b, o.a)
	case o.f == ":tail":
		return number(b, -1)
	}
	return number(b, o.key)
}

// longLease is a lease with some owners. A claim learns its epoch when it returns.
type longLease struct {
	*long
	owner, epoch int // -1: no owner, no epoch
	owners       int
	steps        int
	first        longOp // the first operation of the bug
}

func newLongLease(l *long) longObject {
	return &longLease{long: l, owner: -1, epoch: -1, owners: upTo(l.Values, 3)}
}

func (x *longLease) read(*longThread) (longOp, bool) { return longOp{f: ":check"}, true }

// change claims the lease, or lets its owner renew or release it.
func (x *longLease) change(*longThread) longOp {
	n := x.r.IntN(4)
	if n < 2 || x.owner < 0 || x.owner >= x.owners {
		return longOp{f: ":claim", changes: true, a: x.r.IntN(x.owners)}
	}
	return longOp{f: [...]string{2: ":renew", 3: ":release"}[n], changes: true, a: x.owner, b: x.epoch}
}

// bug claims the lease twice. The second claim has an epoch that is not greater, or
// comes before a check that sees the first.
func (x *longLease) bug(*longThread) (longOp, bool) {
	x.steps++
	o := longOp{f: ":claim", changes: true, a: x.owners}
	switch {
	case x.Kind == ImpossibleRead:
		return longOp{f: ":check", a: x.owners + 2, b: x.epoch + 1, forced: true, last: true}, true
	case x.steps == 1:
		return o, true
	case x.steps == 2:
		o.a++
		o.b = x.epoch + 1
		if o.forced = x.Kind != StaleRead; x.Kind == Duplicate {
			o.b, o.last = x.epoch, true
		}
		x.first = longOp{f: ":check", a: x.owner, b: x.epoch, forced: true, last: true}
		return o, true
	}
	return x.first, true
}

func (x *longLease) apply(o *longOp) outcome {
	switch {
	case o.f == ":check":
		o.a, o.b = x.owner, x.epoch
		return done
	case o.f == ":claim":
		x.epoch++
		o.b = x.epoch
		x.owner = o.a
		return done
	case o.a != x.owner || o.b != x.epoch:
		return refused
	case o.f == ":release":
		x.owner = -1
	}
	return done
}

func (x *longLease) value(b []byte, o *longOp, returned bool) []byte {
	switch {
	case o.f == ":check" && (!returned || o.a < 0):
		return append(b, "nil"...)
	case o.f == ":claim" && !returned:
		return number(b, o.a)
	}
	b = append(number(append(b, '['), o.a), ' ')
	return append(number(b, o.b), ']')
}
