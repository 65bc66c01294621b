package gen

import "slices"

// longRegister is register, cas-register and versioned-register.
type longRegister struct {
	*long
	now, version   int
	cas, versioned bool
	told           int // the version of the marked value
	steps          int
}

func newLongRegister(l *long) longObject {
	return &longRegister{long: l, now: -1, cas: l.Model != "register", versioned: l.Model == "versioned-register"}
}

func (x *longRegister) read(*longThread) (longOp, bool) { return longOp{f: ":read"}, true }

func (x *longRegister) change(*longThread) longOp {
	if !x.cas || x.r.IntN(2) == 0 {
		return longOp{f: ":write", changes: true, a: x.write()}
	}
	from := x.now
	if from < 0 || from >= x.mark || x.Values > 0 && x.r.IntN(2) == 0 {
		from = x.r.IntN(max(x.Values, 1))
	}
	return longOp{f: ":cas", changes: true, a: from, b: x.write()}
}

func (x *longRegister) bug(*longThread) (longOp, bool) {
	x.steps++
	switch {
	case x.Kind == WrongAnswer:
		return longOp{f: ":read", last: true}, true
	case x.Kind == ImpossibleRead:
		return longOp{f: ":read", a: x.mark + 2, key: x.version, forced: true, last: true}, true
	case x.steps == 1:
		x.told = x.version + 1
		return longOp{f: ":write", changes: true, a: x.mark}, true
	case x.steps == 2:
		return longOp{f: ":write", changes: true, a: x.mark + 1, key: x.version + 1, forced: x.Kind == LostWrite}, true
	}
	return longOp{f: ":read", a: x.mark, key: x.told, forced: true, last: true}, true
}

func (x *longRegister) apply(o *longOp) outcome {
	switch o.f {
	case ":read":
		o.a, o.key = x.now, x.version
		return done
	case ":write":
		x.now = o.a
	default:
		if x.now != o.a {
			return refused
		}
		x.now = o.b
	}
	x.version++
	o.key = x.version
	return done
}

func (x *longRegister) value(b []byte, o *longOp, returned bool) []byte {
	read := o.f == ":read" && !returned
	if x.versioned && !read {
		version := o.key
		if !returned {
			version = -1
		}
		b = append(number(append(b, '['), version), ' ')
	}
	switch {
	case read:
		return append(b, "nil"...)
	case o.f == ":cas":
		b = append(number(append(b, '['), o.a), ' ')
		b = append(number(b, o.b), ']')
	default:
		b = number(b, o.a)
	}
	if x.versioned {
		b = append(b, ']')
	}
	return b
}

// longRegisters is multi-register. A transaction writes or reads a key, and may
// read another one.
type longRegisters struct {
	*long
	now   []int
	steps int
}

func newLongRegisters(l *long) longObject {
	return &longRegisters{long: l, now: slices.Repeat([]int{-1}, l.Keys)}
}

func (x *longRegisters) read(*longThread) (longOp, bool) {
	o := longOp{f: ":txn", key: x.r.IntN(x.Keys), two: x.r.IntN(x.Keys)}
	if x.r.IntN(2) == 0 {
		o.two = -1
	}
	return o, true
}

func (x *longRegisters) change(t *longThread) longOp {
	o, _ := x.read(t)
	o.changes, o.a = true, x.write()
	return o
}

// bug writes one key, or both if the read is to be torn.
func (x *longRegisters) bug(*longThread) (longOp, bool) {
	x.steps++
	o := longOp{f: ":txn", changes: true, two: -1, ok: x.Kind == TornRead}
	if o.ok {
		o.two = x.Keys - 1
	}
	switch {
	case x.Kind == WrongAnswer:
		return longOp{f: ":txn", two: -1, last: true}, true
	case x.Kind == ImpossibleRead:
		o.a = x.mark + 2
	case x.steps == 1:
		o.a, o.b = x.mark, x.mark
		return o, true
	case x.steps == 2:
		o.a, o.b, o.forced = x.mark+1, x.mark+1, x.Kind == LostWrite
		return o, true
	case x.Kind == TornRead:
		o.a, o.b = x.mark+1, x.mark
	default:
		o.a = x.mark
	}
	o.changes, o.ok, o.forced, o.last = false, false, true, true
	return o, true
}

func (x *longRegisters) apply(o *longOp) outcome {
	if o.changes {
		x.now[o.key] = o.a
	} else {
		o.a = x.now[o.key]
	}
	switch {
	case o.ok:
		x.now[o.two] = o.b
	case o.two >= 0:
		o.b = x.now[o.two]
	}
	return done
}

func (x *longRegisters) value(b []byte, o *longOp, returned bool) []byte {
	b = x.micro(append(b, '['), o.changes, o.key, o.a, returned)
	if o.two >= 0 {
		b = x.micro(append(b, ' '), o.ok, o.two, o.b, returned)
	}
	return append(b, ']')
}

// micro prints a part of a transaction.
func (x *longRegisters) micro(b []byte, writes bool, key, value int, returned bool) []byte {
	name := "[:read "
	switch {
	case writes:
		name = "[:write "
	case !returned:
		value = -1
	}
	b = append(number(append(b, name...), key), ' ')
	return append(number(b, value), ']')
}

// longKV is kv without :append, :delete and :cas: its keys are registers.
type longKV struct {
	*long
	now   []int
	steps int
}

func newLongKV(l *long) longObject {
	x := &longKV{long: l, now: slices.Repeat([]int{-1}, l.Keys)}
	if l.Appends {
		return &longTexts{x, make([][]int, l.Keys)}
	}
	return x
}

func (x *longKV) read(*longThread) (longOp, bool) {
	return longOp{f: ":get", key: x.r.IntN(x.Keys)}, true
}

func (x *longKV) change(*longThread) longOp {
	return longOp{f: ":put", changes: true, key: x.r.IntN(x.Keys), a: x.write()}
}

func (x *longKV) bug(*longThread) (longOp, bool) {
	x.steps++
	switch {
	case x.Kind == WrongAnswer:
		return longOp{f: ":get", key: x.r.IntN(x.Keys), last: true}, true
	case x.Kind == ImpossibleRead:
		return longOp{f: ":get", a: x.mark + 2, forced: true, last: true}, true
	case x.steps == 1:
		return longOp{f: ":put", changes: true, a: x.mark}, true
	case x.steps == 2:
		return longOp{f: ":put", changes: true, a: x.mark + 1, forced: x.Kind == LostWrite}, true
	}
	return longOp{f: ":get", a: x.mark, forced: true, last: true}, true
}

func (x *longKV) apply(o *longOp) outcome {
	if o.changes {
		x.now[o.key] = o.a
	} else {
		o.a = x.now[o.key]
	}
	return done
}

func (x *longKV) value(b []byte, o *longOp, returned bool) []byte {
	n := o.a
	if !o.changes && !returned {
		n = -1
	}
	b = append(number(append(b, '['), o.key), ' ')
	return append(number(b, n), ']')
}

// longTexts is kv with short strings. Most updates append to them.
type longTexts struct {
	*longKV
	texts [][]int // by key: the pieces of its string
}

// longestText is how many pieces a string has before it is replaced.
const longestText = 10

func (x *longTexts) change(t *longThread) longOp {
	o := x.longKV.change(t)
	if len(x.texts[o.key]) < longestText {
		o.f = ":append"
	}
	return o
}

func (x *longTexts) apply(o *longOp) outcome {
	switch o.f {
	case ":get":
		o.list = slices.Clone(x.texts[o.key])
	case ":put":
		x.texts[o.key] = []int{o.a}
	default:
		x.texts[o.key] = append(x.texts[o.key], o.a)
	}
	return done
}

// err makes a get see another last piece.
func (x *longTexts) err(o *longOp) {
	if n := len(o.list); n > 0 {
		o.list[n-1] = (o.list[n-1] + 1) % x.mark
	} else {
		o.list = []int{0}
	}
}

func (x *longTexts) value(b []byte, o *longOp, returned bool) []byte {
	b = append(number(append(b, '['), o.key), ' ')
	pieces := o.list
	switch {
	case o.changes:
		pieces = []int{o.a}
	case !returned || len(pieces) == 0:
		return append(b, "nil]"...)
	}
	b = append(b, '"')
	for _, piece := range pieces {
		b = append(number(b, piece), '.')
	}
	return append(b, `"]`...)
}
