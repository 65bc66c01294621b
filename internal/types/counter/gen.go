package counter

import (
	"strconv"

	"clew/internal/gen"
)

// The kinds of counters' small histories.
const (
	anyAdds  = iota // everything
	unitAdds        // adds of one amount, and reads
	answers         // increments that return the new value, of one amount or of some
)

// object is a counter in generated histories. In long ones operations add 1, or one of a few
// numbers.
type object struct {
	*gen.Maker
	now  int
	sure int // the sum of adds that do not crash

	kind int
	echo bool  // increments repeat their argument, rather than return the new value
	by   []int // what is added
}

func newObject(m *gen.Maker) gen.Object {
	x := &object{Maker: m}
	if !m.Small {
		return x
	}
	x.kind, x.echo, x.by = m.Rand.IntN(3), m.Chance(0.3), []int{1, 1, 2, 3, -1, 0}
	switch {
	case x.kind == unitAdds || x.kind == answers && m.Chance(0.5):
		x.by = x.by[m.Rand.IntN(5):][:1]
	case x.kind == answers && m.Chance(0.7):
		x.by = x.by[:4]
	}
	return x
}

func (x *object) Read(*gen.Thread) gen.Op { return gen.Op{F: ":read"} }

// Change adds A. In small histories it may subtract -A, and with Ok it does not say how much.
func (x *object) Change(*gen.Thread) gen.Op {
	o := gen.Op{F: x.OneOf(":add", ":add", ":incr", ":increment", ":decr", ":decrement", ":add-and-get"), Changes: true, A: 1}
	if !x.Small {
		if x.Values > 1 {
			o.A += x.Rand.IntN(x.Values)
		}
		return o
	}
	o.A = x.by[x.Rand.IntN(len(x.by))]
	switch {
	case x.kind == unitAdds:
		o.F = ":add"
	case x.kind == answers && o.A == 1 && x.Chance(0.5):
		o.F, o.Ok = ":incr", true
	case x.kind == answers:
		o.F = ":add-and-get"
	case o.F == ":decr" || o.F == ":decrement":
		o.A, o.Ok = -o.A, o.A == 1 && x.Chance(0.7)
	case o.F == ":incr" || o.F == ":increment":
		o.Ok = o.A == 1 && x.Chance(0.7)
	}
	return o
}

func (x *object) Start(b []byte) []byte {
	x.now = x.Rand.IntN(5) - 2
	return x.Int(b, x.now)
}

// Ghost returns never before a lost write, since a crashed add would make up for it.
func (x *object) Ghost(*gen.Op) gen.Haunting {
	if x.Kind == gen.LostWrite && x.Phase != gen.After {
		return gen.Never
	}
	return gen.Perhaps
}

// Bug reads less than the sum of all completed adds, or more than the sum of all adds.
func (x *object) Bug(*gen.Thread) gen.Op {
	switch {
	case x.Kind == gen.ImpossibleRead:
		return gen.Wrong(gen.Op{F: ":read", A: (2*x.Operations + x.Processes) * max(x.Values, 1)})
	case x.Step == 0:
		return gen.Op{F: ":add", Changes: true, A: 1, Forced: x.Kind == gen.LostWrite}
	case x.Kind == gen.LostWrite:
		return gen.Op{F: ":read", Last: true}
	}
	return gen.Wrong(gen.Op{F: ":read", A: x.sure - 1})
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	if !o.Changes {
		o.A = x.now
		return gen.Done
	}
	x.now += o.A
	o.B = x.now
	if !o.Crashes {
		x.sure += o.A
	}
	return gen.Done
}

func (x *object) Err(o *gen.Op) {
	o.B = x.now + x.Rand.IntN(6) - 1 // often about right
	if !o.Changes {
		o.A = o.B
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case !o.Changes && !returned:
		return append(b, "nil"...)
	case !returned || !o.Changes || o.F == ":add" || o.F != ":add-and-get" && x.echo:
		return x.amount(b, o)
	case o.F == ":add-and-get":
	case x.kind != answers && x.Chance(0.5):
		return append(b, "nil"...)
	case o.Ok || x.Chance(0.5):
		return x.Int(b, o.B)
	}
	b = append(x.amount(append(b, '['), o), ' ')
	return append(x.Int(b, o.B), ']')
}

// amount prints how much an operation adds or subtracts, or what it read.
func (x *object) amount(b []byte, o *gen.Op) []byte {
	switch {
	case o.Ok:
		return append(b, "nil"...)
	case o.F == ":decr" || o.F == ":decrement":
		return x.Int(b, -o.A)
	}
	return x.Int(b, o.A)
}

// count is counting-semaphore in generated histories. Only increments crash in long ones, so the
// count is never less than it would be without them.
type count struct {
	*gen.Maker
	now int
}

func newCount(m *gen.Maker) gen.Object { return &count{Maker: m} }

func (x *count) Change(*gen.Thread) gen.Op {
	most := 2
	if x.Small {
		most = 3
	}
	return gen.Op{F: [...]string{":incr", ":decr", ":decr"}[x.Rand.IntN(most)], Changes: true}
}

func (x *count) MayCrash(_ *gen.Thread, o *gen.Op) bool { return o.F == ":incr" }

// Bug increments, and finds that the count is 0.
func (x *count) Bug(*gen.Thread) gen.Op {
	if x.Step == 0 {
		return gen.Op{F: ":incr", Changes: true, Forced: true, Ok: true}
	}
	return gen.Wrong(gen.Op{F: ":decr", Changes: true})
}

func (x *count) Apply(o *gen.Op) gen.Outcome {
	switch {
	case o.F == ":incr":
		x.now++
	case x.now == 0:
		o.Ok = false
		return gen.Done
	default:
		x.now--
	}
	o.Ok = true
	return gen.Done
}

func (x *count) Err(o *gen.Op) {
	o.Ok = o.F == ":incr" || (x.now == 0) == x.Chance(0.8) // most are wrong
}

func (x *count) Value(b []byte, o *gen.Op, returned bool) []byte {
	if !returned {
		return append(b, "nil"...)
	}
	return strconv.AppendBool(b, o.Ok)
}
