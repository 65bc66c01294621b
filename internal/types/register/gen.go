package register

import "clew/internal/gen"

// object is register, cas-register and versioned-register in generated histories. A version
// is the one that an update leaves, or that a read sees.
type object struct {
	*gen.Maker
	now, version   int
	cas, versioned bool
	told           int // the version of the marked value
}

func newObject(m *gen.Maker) gen.Object {
	return &object{Maker: m, now: -1, cas: m.Model != "register", versioned: m.Model == "versioned-register"}
}

func (x *object) Read(*gen.Thread) gen.Op { return gen.Op{F: ":read"} }

func (x *object) Change(*gen.Thread) gen.Op {
	if !x.cas || x.Rand.IntN(2) == 0 {
		return gen.Op{F: ":write", Changes: true, A: x.Any()}
	}
	from := x.now
	if from < 0 && !x.Small || from >= x.Mark || x.Values > 0 && x.Rand.IntN(2) == 0 {
		from = x.Rand.IntN(max(x.Values, 1))
	}
	return gen.Op{F: ":cas", Changes: true, A: from, B: x.Any()}
}

func (x *object) Start(b []byte) []byte {
	x.now, x.version = x.Any(), x.Rand.IntN(3)
	return x.Value(b, &gen.Op{F: ":read", A: x.now, Key: x.version}, true)
}

func (x *object) Bug(*gen.Thread) gen.Op {
	if x.Step == 0 {
		x.told = x.version + 1
	}
	o := x.Overwrite(gen.Op{F: ":write", Changes: true, Key: x.version + 1}, gen.Op{F: ":read", Key: x.told})
	if x.Kind == gen.ImpossibleRead {
		o.Key = x.version
	}
	return o
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	switch {
	case o.F == ":read":
		if o.A, o.Key = x.now, x.version; x.Small && !x.Options.NilReadsExact && x.Chance(0.1) {
			o.A = -1
		}
		return gen.Done
	case o.F == ":write":
		x.now = o.A
	case x.now != o.A:
		return gen.Refused
	default:
		x.now = o.B
	}
	x.version++
	o.Key = x.version
	return gen.Done
}

func (x *object) Err(o *gen.Op) {
	switch {
	case !x.Small:
		x.Maker.Err(o)
		return
	case o.F == ":read":
		o.A = x.Any()
	case o.F == ":cas" && !x.versioned:
		o.A, o.B = x.Any(), x.Any()
	}
	if o.Key = max(0, x.version+x.Rand.IntN(4)-1); x.Chance(0.2) { // often about right
		o.Key = -1
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	read := o.F == ":read" && !returned
	if !x.versioned || read && !(x.Small && x.Chance(0.2)) {
		return x.value(b, o, read)
	}
	version := o.Key
	if !returned {
		version = -1
	}
	b, end := x.Open(b)
	b = append(gen.AppendNumber(b, version), ' ')
	return append(x.value(b, o, read), end)
}

// value prints what was written or read, or what to compare and write.
func (x *object) value(b []byte, o *gen.Op, read bool) []byte {
	switch {
	case read:
		return append(b, "nil"...)
	case o.F != ":cas":
		return x.Print(b, o.A)
	case !x.Small || x.versioned:
	case x.Options.Knossos && x.Chance(0.1):
		return x.Sequence(b, o.A, o.B, x.Write())
	case o.A < 0 && o.B < 0 && x.Chance(0.5):
		return append(b, "nil"...)
	}
	return x.Sequence(b, o.A, o.B)
}
