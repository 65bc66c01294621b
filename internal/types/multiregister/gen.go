package multiregister

import (
	"slices"

	"clew/internal/gen"
)

// object is multi-register in generated histories. A transaction has its steps in List, with
// three numbers for each: whether it writes, the key and the value. In long histories it
// writes or reads a key, and may read another one.
type object struct {
	*gen.Maker
	now []int
}

func newObject(m *gen.Maker) gen.Object {
	return &object{m, slices.Repeat([]int{-1}, m.Keys)}
}

// The kinds of steps.
const (
	reads = iota
	writes
)

func (x *object) Read(*gen.Thread) gen.Op {
	o := gen.Op{F: ":txn", List: []int{reads, x.Rand.IntN(x.Keys), -1, reads, x.Rand.IntN(x.Keys), -1}}
	if x.Rand.IntN(2) == 0 {
		o.List = o.List[:3]
	}
	return o
}

func (x *object) Change(t *gen.Thread) gen.Op {
	o := x.Read(t)
	o.Changes, o.List[0], o.List[2] = true, writes, x.Write()
	if x.Steps == 0 || x.Small {
		return o
	}
	for o.List = o.List[:3]; len(o.List) < 3*x.Steps && x.Rand.IntN(x.Steps) > 0; {
		if x.Rand.IntN(2) == 0 {
			o.List = append(o.List, reads, x.Rand.IntN(x.Keys), -1)
		} else {
			o.List = append(o.List, writes, x.Rand.IntN(x.Keys), x.Write())
		}
	}
	return o
}

func (x *object) Call(*gen.Thread) gen.Op {
	o := gen.Op{F: x.OneOf(":txn", ":txn", ":read", ":write"), Changes: true}
	for range x.Rand.IntN(4) {
		key := x.Rand.IntN(x.Keys)
		if x.Options.OneKey && len(o.List) > 0 {
			key = o.List[1]
		}
		if x.Chance(0.5) {
			o.List = append(o.List, reads, key, -1)
		} else {
			o.List = append(o.List, writes, key, x.Any())
		}
	}
	return o
}

func (x *object) Start(b []byte) []byte {
	b = append(b, '{')
	for key := range x.now {
		if x.Chance(0.7) {
			x.now[key] = x.Write()
			b = append(x.key(b, key), ' ')
			b = append(x.Print(b, x.now[key]), ", "...)
		}
	}
	return append(b, '}')
}

// Bug writes one key, or both if the read is to be torn.
func (x *object) Bug(*gen.Thread) gen.Op {
	change, read := gen.Op{F: ":txn", Changes: true}, gen.Op{F: ":txn"}
	o := x.Overwrite(change, read)
	kind := reads
	if o.Changes {
		kind = writes
	}
	o.List = []int{kind, 0, o.A}
	if x.Kind == gen.TornRead {
		if o.List = append(o.List, kind, x.Keys-1, o.A); o.Last {
			o.List[2]++
		}
	}
	return o
}

// Play returns the operation of a transaction of a script. A read sees the last of its marks.
func (x *object) Play(txn *gen.Txn) gen.Op {
	o := gen.Op{F: ":txn", Changes: true}
	for _, s := range txn.Steps {
		key, mark := s.Key*(x.Keys-1), s.Marks[len(s.Marks)-1]
		if !s.Write {
			o.List = append(o.List, reads, key, mark)
			continue
		}
		o.List = append(o.List, writes, key, mark)
		if !txn.Fails {
			x.now[key] = mark
		}
	}
	return o
}

// untold is the value of a read whose answer is nil, whatever it saw.
const untold = -2

// Played does nothing: others go on with what was written.
func (x *object) Played() {}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	for m := o.List; len(m) > 0; m = m[3:] {
		if m[0] == writes {
			x.now[m[1]] = m[2]
		} else if m[2] = x.now[m[1]]; x.Small && !x.Options.NilReadsExact && x.Chance(0.1) {
			m[2] = untold
		}
	}
	return gen.Done
}

func (x *object) Err(o *gen.Op) {
	for m := o.List; len(m) > 0; m = m[3:] {
		switch {
		case !x.Small:
			m[2] = (m[2] + 1) % x.Mark
		case m[0] == reads:
			m[2] = x.Any()
		}
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	if len(o.List) == 0 && x.Chance(0.5) {
		return append(b, "nil"...)
	}
	b = append(b, '[')
	for m := o.List; len(m) > 0; m = m[3:] {
		if len(m) < len(o.List) {
			b = append(b, ' ')
		}
		name, value := x.OneOf(":write", ":w"), m[2]
		if m[0] == reads {
			name = x.OneOf(":read", ":r")
			if value == untold {
				name = ":read" // of :r, nil would be what was read
			}
			if !returned || value == untold {
				value = -1
			}
		}
		b = append(append(append(b, '['), name...), ' ')
		b = append(x.key(b, m[1]), ' ')
		b = append(x.Print(b, value), ']')
	}
	return append(b, ']')
}

// key prints a key.
func (x *object) key(b []byte, key int) []byte {
	if !x.Small {
		return gen.AppendNumber(b, key)
	}
	return append(b, [...]string{":x", ":y", x.OneOf("[1 2]", "(1 2N)")}[key]...)
}
