package listappend

import (
	"slices"

	"clew/internal/gen"
)

// object is list-append in generated histories. A transaction has its steps in List, with three numbers for each: whether
// it appends, the key, and the value or how much of the list it reads. In long histories a key gets up to mostAppends
// elements, as in Jepsen's, and a new one takes its place.
type object struct {
	*gen.Maker
	now    [][]int // by key
	active []int   // the keys in use
	bug    [2]int  // the keys of the bug
	unique bool    // every value is appended once
	shown  [][]int // what the reads of a script show
}

const mostAppends = 100

func newObject(m *gen.Maker) gen.Object {
	x := &object{Maker: m, now: make([][]int, m.Keys), bug: [2]int{-1, -1}, unique: !m.Small || m.Chance(0.7)}
	for key := range m.Keys {
		x.active = append(x.active, key)
	}
	return x
}

// key returns a key in use.
func (x *object) key() int { return x.active[x.Rand.IntN(len(x.active))] }

// The kinds of steps.
const (
	reads = iota
	appends
	shows // reads what a script says: the number of the list
)

// value returns a value to append.
func (x *object) value() int {
	if x.unique && x.Small {
		x.Fresh++
		return 100 + x.Fresh
	}
	return x.Write()
}

func (x *object) Read(*gen.Thread) gen.Op {
	o := gen.Op{F: ":txn", List: []int{reads, x.key(), 0, reads, x.key(), 0}}
	if x.Rand.IntN(2) == 0 {
		o.List = o.List[:3]
	}
	return o
}

func (x *object) Change(t *gen.Thread) gen.Op {
	o := x.Read(t)
	o.Changes, o.List[0], o.List[2] = true, appends, x.value()
	return o
}

func (x *object) Call(t *gen.Thread) gen.Op {
	o := gen.Op{F: ":txn", Changes: true}
	for range 1 + x.Rand.IntN(3) {
		key := x.key()
		if x.Chance(0.5) {
			o.List = append(o.List, reads, key, 0)
		} else {
			o.List = append(o.List, appends, key, x.value())
		}
	}
	return o
}

// Bug appends to one key, or to two if the read is to be torn, and then reads them.
func (x *object) Bug(*gen.Thread) gen.Op {
	if x.Step == 0 {
		x.bug = [2]int{x.active[0], x.active[len(x.active)-1]}
	}
	first, last := x.bug[0], x.bug[1]
	switch {
	case x.Kind == gen.ImpossibleRead:
		x.bug = [2]int{-1, -1}
		return gen.Wrong(gen.Op{F: ":txn", List: []int{reads, first, -1 - x.Mark}})
	case x.Step == 0:
		o := gen.Op{F: ":txn", Changes: true, Forced: x.Kind == gen.LostWrite, List: []int{appends, first, x.Mark}}
		if x.Kind == gen.TornRead {
			o.List = append(o.List, appends, last, x.Mark)
		}
		return o
	}
	x.bug = [2]int{-1, -1} // they may be replaced again
	o := gen.Op{F: ":txn", List: []int{reads, first, len(x.now[first])}}
	if x.Kind == gen.TornRead {
		o.List = append(o.List, reads, last, max(0, len(x.now[last])-1))
	} else if x.Kind == gen.StaleRead {
		o.List[2]--
	}
	return gen.Wrong(o)
}

// Play returns the operation of a transaction of a script.
func (x *object) Play(txn *gen.Txn) gen.Op {
	if x.bug[0] < 0 {
		x.bug = [2]int{x.active[0], x.active[len(x.active)-1]}
	}
	o := gen.Op{F: ":txn", Changes: true}
	for _, s := range txn.Steps {
		key := x.bug[s.Key]
		if s.Write {
			o.List = append(o.List, appends, key, s.Marks[0])
		} else {
			o.List = append(o.List, shows, key, len(x.shown))
			x.shown = append(x.shown, slices.Concat(x.now[key], s.Marks))
		}
	}
	return o
}

// Played replaces the keys of the script.
func (x *object) Played() {
	for i, key := range x.active {
		if slices.Contains(x.bug[:], key) {
			x.replace(i)
		}
	}
}

// replace puts a new key in the place of one in use.
func (x *object) replace(i int) {
	x.active[i] = len(x.now)
	x.now = append(x.now, nil)
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	for m := o.List; len(m) > 0; m = m[3:] {
		if m[0] == appends {
			x.now[m[1]] = append(x.now[m[1]], m[2])
			if at := slices.Index(x.active, m[1]); at >= 0 && !x.Small && len(x.now[m[1]]) >= mostAppends && !slices.Contains(x.bug[:], m[1]) {
				x.replace(at)
			}
		} else {
			m[2] = len(x.now[m[1]])
		}
	}
	return gen.Done
}

func (x *object) Err(o *gen.Op) {
	for m := o.List; len(m) > 0; m = m[3:] {
		if m[0] == reads {
			m[2] = max(0, min(len(x.now[m[1]]), m[2]+x.Rand.IntN(3)-1))
			if m[2] > 0 && x.Chance(0.1) {
				m[2] = -1 - x.value()
			}
		}
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	b = append(b, '[')
	for m := o.List; len(m) > 0; m = m[3:] {
		if len(m) < len(o.List) {
			b = append(b, ' ')
		}
		if m[0] == appends {
			b = x.Print(append(x.name(append(b, "[:append "...), m[1]), ' '), m[2])
		} else if b = append(x.name(append(b, "[:r "...), m[1]), ' '); !returned {
			b = append(b, "nil"...)
		} else if m[0] == shows {
			b = append(x.Items(append(b, '['), x.shown[m[2]]), ']')
		} else {
			b = x.list(b, m[1], m[2])
		}
		b = append(b, ']')
	}
	return append(b, ']')
}

// list prints the beginning of a key's list. If the length is below 0, it ends in another value.
func (x *object) list(b []byte, key, length int) []byte {
	list := x.now[key]
	if length < 0 {
		list = append(slices.Clone(list[:max(0, len(list)-1)]), -1-length)
	} else {
		list = list[:min(length, len(list))]
	}
	if len(list) == 0 && x.Small && x.Chance(0.5) {
		return append(b, "nil"...)
	}
	return append(x.Items(append(b, '['), list), ']')
}

// name prints a key.
func (x *object) name(b []byte, key int) []byte {
	if !x.Small {
		return gen.AppendNumber(b, key)
	}
	return append(b, [...]string{":x", ":y", x.OneOf("[1 2]", "(1 2N)")}[key]...)
}
