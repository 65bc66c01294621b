package gen

// members is a set of numbers from 0 on.
type members []uint64

func (m members) has(n int) bool { return n>>6 < len(m) && m[n>>6]>>(n&63)&1 == 1 }

func (m *members) put(n int, in bool) {
	for n>>6 >= len(*m) {
		*m = append(*m, 0)
	}
	(*m)[n>>6] &^= 1 << (n & 63)
	if in {
		(*m)[n>>6] |= 1 << (n & 63)
	}
}

// longSet is set. It prints the whole set, so it reads only as often as the
// bytes of the other operations allow.
type longSet struct {
	*long
	in    members
	now   []int
	spent int // on reads, in elements
	steps int
}

func newLongSet(l *long) longObject { return &longSet{long: l} }

// longElements is how many elements take as many bytes as an event.
const longElements = 12

func (x *longSet) read(*longThread) (longOp, bool) {
	if x.spent+len(x.now) > longElements*(x.started+1) {
		return longOp{}, false
	}
	x.spent += len(x.now)
	return longOp{f: ":read"}, true
}

func (x *longSet) change(*longThread) longOp {
	return longOp{f: ":add", changes: true, a: x.write()}
}

// bug reads the set without the last added element, whether that is in the set
// or lost. Or it reads the set with an element that is not in it.
func (x *longSet) bug(*longThread) (longOp, bool) {
	x.steps++
	switch {
	case x.Kind == ImpossibleRead:
		return longOp{f: ":read", a: len(x.now), ok: true, forced: true, last: true}, true
	case x.steps == 1:
		return longOp{f: ":add", changes: true, a: x.mark, forced: x.Kind == LostWrite}, true
	case x.Kind == LostWrite:
		return longOp{f: ":read", last: true}, true
	}
	return longOp{f: ":read", a: len(x.now) - 1, forced: true, last: true}, true
}

func (x *longSet) apply(o *longOp) outcome {
	switch {
	case !o.changes:
		o.a = len(x.now)
	case !x.in.has(o.a):
		x.in.put(o.a, true)
		x.now = append(x.now, o.a)
	}
	return done
}

func (x *longSet) value(b []byte, o *longOp, returned bool) []byte {
	switch {
	case o.changes:
		return number(b, o.a)
	case !returned:
		return number(b, -1)
	}
	b = append(b, "#{"...)
	for i, e := range x.now[:o.a] {
		if i > 0 {
			b = append(b, ' ')
		}
		b = number(b, e)
	}
	if o.ok {
		b = append(b, ' ')
		b = number(b, x.mark+2)
	}
	return append(b, '}')
}

// longLookup is lookup-set.
type longLookup struct {
	*long
	in    members
	steps int
}

func newLongLookup(l *long) longObject { return &longLookup{long: l} }

func (x *longLookup) read(*longThread) (longOp, bool) {
	return longOp{f: ":contains", a: x.known()}, true
}

func (x *longLookup) change(*longThread) longOp {
	if x.r.IntN(2) == 0 {
		return longOp{f: ":insert", changes: true, a: x.write()}
	}
	return longOp{f: ":remove", changes: true, a: x.known()}
}

// known returns any element, or one of the last.
func (x *longLookup) known() int {
	if x.Values > 0 {
		return x.write()
	}
	return max(0, x.fresh-1-x.r.IntN(2*x.Processes))
}

func (x *longLookup) bug(*longThread) (longOp, bool) {
	x.steps++
	switch {
	case x.Kind == ImpossibleRead && x.steps == 1: // so that it was not there initially either
		return longOp{f: ":contains", a: x.mark + 2}, true
	case x.Kind == ImpossibleRead:
		return longOp{f: ":contains", a: x.mark + 2, ok: true, forced: true, last: true}, true
	case x.steps == 1:
		return longOp{f: ":insert", changes: true, a: x.mark}, true
	case x.Kind == Duplicate:
		return longOp{f: ":insert", changes: true, a: x.mark, ok: true, forced: true, last: true}, true
	case x.steps == 2:
		return longOp{f: ":remove", changes: true, a: x.mark, ok: true, forced: x.Kind == LostWrite}, true
	}
	return longOp{f: ":contains", a: x.mark, ok: true, forced: true, last: true}, true
}

func (x *longLookup) apply(o *longOp) outcome {
	was := x.in.has(o.a)
	if o.ok = was; o.f == ":insert" {
		o.ok = !was
	}
	if o.changes {
		x.in.put(o.a, o.f == ":insert")
	}
	return done
}

func (x *longLookup) value(b []byte, o *longOp, returned bool) []byte {
	if !returned {
		return number(b, o.a)
	}
	b = number(append(b, '['), o.a)
	if o.ok {
		return append(b, " true]"...)
	}
	return append(b, " false]"...)
}
