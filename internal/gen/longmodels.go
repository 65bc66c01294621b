package gen

import (
	"slices"
	"strconv"
)

// newLongObject is the object of a model, or nil if there is none.
func (l *long) newLongObject() longObject {
	switch l.Model {
	case "register", "cas-register":
		return &longRegister{long: l, now: -1, cas: l.Model == "cas-register"}
	case "multi-register":
		return &longRegisters{long: l, now: slices.Repeat([]int32{-1}, l.Keys)}
	case "lookup-set":
		return &longSet{long: l, in: map[int32]bool{}}
	case "fifo-queue", "unordered-queue":
		return &longQueue{long: l, fifo: l.Model == "fifo-queue"}
	case "stack", "priority-queue":
		return &longStack{longQueue{long: l}, l.Model == "stack"}
	case "kv":
		if l.Appends {
			return &longTexts{longKV{long: l}, make([][]int32, l.Keys)}
		}
		return &longKV{long: l, now: slices.Repeat([]int32{-1}, l.Keys)}
	case "bank":
		return &longBank{long: l, now: slices.Repeat([]int32{longBalance}, l.Keys)}
	case "counter":
		return &longCounter{long: l}
	case "id-generator":
		return &longIDs{long: l}
	case "log":
		return &longLog{long: l}
	}
	return nil
}

// longKV is kv without :append, :delete and :cas: its keys are registers.
type longKV struct {
	*long
	now []int32
}

func (x *longKV) call(changes bool) longOp {
	o := longOp{f: ":get", changes: changes, key: int32(x.r.IntN(x.Keys)), a: -1}
	if changes {
		o.f, o.a = ":put", x.write()
	}
	return o
}

func (x *longKV) fault(p phase, value int32) longOp {
	if p == looking {
		return longOp{f: ":get"}
	}
	return longOp{f: ":put", changes: true, a: value}
}

func (x *longKV) apply(o *longOp) bool {
	if o.changes {
		x.now[o.key] = o.a
	} else {
		o.a = x.now[o.key]
	}
	return true
}

func (x *longKV) see(o *longOp, value int32) { o.a = value }

func (x *longKV) saw(o *longOp) bool { return !o.changes && o.a == x.mark }

func (x *longKV) value(b []byte, o *longOp, returned bool) []byte {
	n := o.a
	if !o.changes && !returned {
		n = -1
	}
	b = append(number(append(b, '['), o.key), ' ')
	return append(number(b, n), ']')
}

// longBalance is what every account of a bank holds at first.
const longBalance = 20

// longBank is a bank. All amounts are even but for the one of a fault's transfer:
// balances from before it, and others that do not add up to even ones, are then
// impossible after it, whatever crashed transfers did.
type longBank struct {
	*long
	now, stale []int32
}

func (x *longBank) call(changes bool) longOp {
	if !changes {
		return longOp{f: ":read"}
	}
	from := x.r.IntN(x.Keys)
	to := (from + 1 + x.r.IntN(max(1, x.Keys-1))) % x.Keys
	return longOp{f: ":transfer", changes: true, key: int32(from), two: int32(to), a: 2 * int32(1+x.r.IntN(upTo(x.Values, 5)))}
}

func (x *longBank) fault(p phase, _ int32) longOp {
	switch p {
	case looking:
		return longOp{f: ":read"}
	case marking:
		return x.call(true)
	}
	x.stale = slices.Clone(x.now)
	from := x.richest()
	return longOp{f: ":transfer", changes: true, key: from, two: (from + 1) % int32(x.Keys), a: 1}
}

// richest is an account that holds something.
func (x *longBank) richest() int32 { return int32(slices.Index(x.now, slices.Max(x.now))) }

func (x *longBank) apply(o *longOp) bool {
	if !o.changes {
		o.list = slices.Clone(x.now)
		return true
	}
	if x.now[o.key] < o.a {
		return false
	}
	x.now[o.key] -= o.a
	x.now[o.two] += o.a
	return true
}

func (x *longBank) see(o *longOp, value int32) {
	if value == x.mark {
		o.list = x.stale
		return
	}
	from := x.richest()
	o.list = slices.Clone(x.now)
	o.list[from]--
	o.list[(from+1)%int32(x.Keys)]++
}

func (x *longBank) saw(o *longOp) bool {
	return !o.changes && !slices.ContainsFunc(o.list, func(n int32) bool { return n%2 != 0 })
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
func longBalances(b []byte, list []int32) []byte {
	b = append(b, '{')
	for i, n := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(number(b, int32(i)), ' ')
		b = strconv.AppendInt(b, int64(n), 10) // -1 is a balance, too
	}
	return append(b, '}')
}

// longCounter is a counter to which 1 is added.
type longCounter struct {
	*long
	now int32
}

func (x *longCounter) call(changes bool) longOp {
	if changes {
		return longOp{f: ":add", changes: true, a: 1}
	}
	return longOp{f: ":read"}
}

func (x *longCounter) fault(phase, int32) longOp { return longOp{f: ":read"} }

func (x *longCounter) apply(o *longOp) bool {
	if o.changes {
		x.now++
	} else {
		o.a = x.now
	}
	return true
}

func (x *longCounter) see(o *longOp, _ int32) { o.a = int32(2*x.Operations + x.Processes) }

func (x *longCounter) saw(*longOp) bool { return false }

func (x *longCounter) value(b []byte, o *longOp, returned bool) []byte {
	if !o.changes && !returned {
		return number(b, -1)
	}
	return number(b, o.a)
}

// longIDs is id-generator. Its fault is an id that was returned before.
type longIDs struct {
	*long
	now, told int32 // told is an id that was returned
}

func (x *longIDs) call(bool) longOp { return longOp{f: ":generate", changes: true} }

func (x *longIDs) fault(phase, int32) longOp { return x.call(true) }

func (x *longIDs) apply(o *longOp) bool {
	x.now++
	o.a = x.now
	return true
}

func (x *longIDs) see(o *longOp, _ int32) { o.a = x.told }

func (x *longIDs) saw(*longOp) bool { return false }

func (x *longIDs) value(b []byte, o *longOp, returned bool) []byte {
	if !returned {
		return number(b, -1)
	}
	x.told = o.a
	return number(b, o.a)
}

// longLog is a log. Appends tell their offsets if each has a value of its own.
type longLog struct {
	*long
	now []int32
}

func (x *longLog) call(changes bool) longOp {
	switch {
	case changes:
		return longOp{f: ":append", changes: true, a: x.write()}
	case x.r.IntN(2) == 0:
		return longOp{f: ":tail"}
	}
	return longOp{f: ":read-at", key: int32(x.r.IntN(len(x.now) + 1))}
}

func (x *longLog) fault(phase, int32) longOp {
	return longOp{f: ":read-at", key: int32(x.r.IntN(len(x.now) + 1))}
}

func (x *longLog) apply(o *longOp) bool {
	switch {
	case o.changes:
		o.key = int32(len(x.now))
		x.now = append(x.now, o.a)
	case o.f == ":tail":
		o.a = int32(len(x.now))
	case int(o.key) < len(x.now):
		o.a = x.now[o.key]
	default:
		o.a = -1
	}
	return true
}

func (x *longLog) see(o *longOp, value int32) { o.a = value }

func (x *longLog) saw(*longOp) bool { return false }

func (x *longLog) value(b []byte, o *longOp, returned bool) []byte {
	switch {
	case o.changes && returned && x.Values == 0:
		return append(number(append(b, "{:offset "...), o.key), '}')
	case o.changes || returned:
		return number(b, o.a)
	case o.f == ":tail":
		return number(b, -1)
	}
	return number(b, o.key)
}
