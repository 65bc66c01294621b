package testfile

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"clew/edn"
	"clew/internal/fressian"
	"clew/internal/opmap"
)

// part is a chunk that has been decoded. It has a table of values of its own, so that
// chunks can be decoded side by side.
type part struct {
	chunk
	values *edn.Values
	keys   keys
	shapes []*shape
	shape  shape  // the one without keys
	ops    []op   // in order
	text   []byte // the ops' other values, in order: see op
	kvs    []edn.ID
	data   []byte // the block
	seen   [8]others
	next   int // index into seen of the next to be replaced
	err    error
	bug    any // the panic of decoding
}

// op is an operation. Its other values are a text, as opmap.Event.Lay takes them; the text
// begins where that of the op before ends. If the op has no shape, the text is the op map.
type op struct {
	typ, process, f, value, key edn.ID
	index, offset               int64
	processInt, valueInt        int64 // if process or value is plain
	shape                       int32 // none: -1
	end                         int   // of its text
	has                         opmap.Fields
}

// plain stands for an integer, which needs no place in the table of a part.
const plain edn.ID = -1

// keys are the keys that have a place in an op.
type keys struct{ index, time, typ, process, f, value, key edn.ID }

// shape is the keys of op maps, in order. The shapes of a part form a tree.
type shape struct {
	parent *shape
	key    edn.ID
	n      int32 // its number among the shapes of the part
	next   []*shape
}

// maxShapes bounds the shapes of a part, and maxKeys the keys of a shape. Op maps beyond
// that are kept as text.
const (
	maxShapes = 1000
	maxKeys   = 64
)

// usualChunk is how many operations Jepsen puts into a chunk.
const usualChunk = 1 << 14

// decoded decodes chunks side by side and gives them to merge in order.
func (f *File) decoded(chunks []chunk, merge func(*part) error) error {
	ahead := runtime.GOMAXPROCS(0)
	parts := make(chan chan *part, ahead) // its capacity bounds how many there are at once
	spare := make(chan *part, ahead+2)
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer close(parts)
		for _, c := range chunks {
			one := make(chan *part, 1)
			select {
			case parts <- one:
				var old part
				select {
				case p := <-spare:
					old = part{ops: p.ops[:0], text: p.text[:0], kvs: p.kvs, data: p.data}
				default:
				}
				go func() { one <- f.decode(c, old) }()
			case <-done:
				return
			}
		}
	}()
	for one := range parts {
		p := <-one
		if p.bug != nil {
			panic(p.bug) // panic where it is caught, and the file is named
		}
		if p.err != nil {
			return p.err
		}
		if err := merge(p); err != nil {
			return err
		}
		select {
		case spare <- p:
		default:
		}
	}
	return nil
}

// decode reads the op maps of a chunk. It reuses the memory of an old part.
func (f *File) decode(c chunk, old part) (p *part) {
	p = &old
	p.chunk, p.values, p.shape.n = c, edn.NewLooseValues(), -1
	defer func() { p.bug = recover() }()
	b, _, err := f.header(c.offset)
	if err != nil {
		p.err = err
		return p
	}
	data, err := f.data(b, p.data)
	if err != nil {
		p.err = err
		return p
	}
	p.data = data
	v := p.values
	p.keys = keys{v.InternKeyword("index"), v.InternKeyword("time"), v.InternKeyword("type"), v.InternKeyword("process"),
		v.InternKeyword("f"), v.InternKeyword("value"), v.InternKeyword("key")}
	r := fressian.NewReader(data, f.at(b.offset+blockHeader), v)
	next := r.More
	if b.kind == fressianBlock {
		l := r.List()
		next = func() bool { return r.Next(&l) }
	}
	p.ops = slices.Grow(p.ops, min(len(data)/20+1, usualChunk))
	p.text = slices.Grow(p.text, min(len(data), 32*usualChunk))
	for next() && p.err == nil {
		if len(p.ops)%4096 == 0 && f.ctx.Err() != nil {
			p.err = fmt.Errorf("%s: %w", f.name, context.Cause(f.ctx))
			return p
		}
		p.err = p.op(f, r)
	}
	if err := r.Err(); err != nil {
		p.err = err
	}
	return p
}

// fixed returns the keys of a Jepsen op's fields. A map of other keys comes behind them.
func (k *keys) fixed() [6]edn.ID { return [6]edn.ID{k.index, k.time, k.typ, k.process, k.f, k.value} }

// op reads an operation: a map, or a Jepsen op, whose fields stand in a fixed order with a
// map of other keys behind them.
func (p *part) op(f *File, r *fressian.Reader) error {
	o := op{offset: r.Offset(), shape: -1}
	begins := len(p.text)
	if !r.Op() {
		kvs, err := p.entries(f, r, &o)
		if err == nil && !p.shaped(&o, &p.shape, kvs) {
			err = p.spelled(f, &o, begins, kvs)
		}
		return p.add(o, err)
	}
	o.index = r.Int()
	time := r.Int()
	o.typ = r.Value()
	o.process, o.processInt = intOrValue(r)
	o.f = r.Value()
	o.value, o.valueInt = intOrValue(r)
	o.has = opmap.HasIndex | opmap.HasType | opmap.HasProcess | opmap.HasF | opmap.HasValue
	p.text = append(strconv.AppendInt(p.text, time, 10), '\n')
	if p.recall(r, &o) {
		return p.add(o, nil)
	}
	emptied, put := r.Caches()
	raw, text := r.Rest(), len(p.text)
	kvs, err := p.entries(f, r, &o)
	at := &p.shape
	for _, key := range p.keys.fixed() {
		at = p.under(at, key)
	}
	switch {
	case err != nil:
	case !p.shaped(&o, at, kvs):
		err = p.spelled(f, &o, begins, p.whole(&o, time, kvs))
	case o.has&opmap.HasKey == 0:
		if e, n := r.Caches(); e == emptied && n == put {
			p.seen[p.next%len(p.seen)] = others{e, raw[:len(raw)-len(r.Rest())], o.shape, p.text[text:len(p.text):len(p.text)]}
			p.next++
		}
	}
	return p.add(o, err)
}

// add adds an operation whose text has been added, unless there is an error.
func (p *part) add(o op, err error) error {
	if err == nil {
		o.end = len(p.text)
		p.ops = append(p.ops, o)
	}
	return err
}

// others is a map of other keys that has been read. Its bytes are the same map until the
// caches are emptied, if it puts nothing into them. Most operations have the same map as
// one shortly before.
type others struct {
	emptied int
	raw     []byte
	shape   int32
	text    []byte
}

// recall reads a map of other keys if it has been seen.
func (p *part) recall(r *fressian.Reader, o *op) bool {
	emptied, _ := r.Caches()
	for i := range p.seen {
		if s := &p.seen[i]; len(s.raw) > 0 && s.emptied == emptied && bytes.HasPrefix(r.Rest(), s.raw) {
			r.Skip(len(s.raw))
			o.shape = s.shape
			p.text = append(p.text, s.text...)
			return true
		}
	}
	return false
}

// entries reads the keys and values of a map. They are valid until the next call.
func (p *part) entries(f *File, r *fressian.Reader, o *op) ([]edn.ID, error) {
	kvs, ok := r.Entries(p.kvs[:0])
	if !ok && r.Err() == nil {
		id := r.Value()
		if r.Err() == nil && p.values.Kind(id) != edn.KindMap {
			return nil, f.errorf(o.offset, "expected an op map, found %s", p.values.Text(id))
		}
		kvs = append(kvs, p.values.Items(id)...)
	}
	p.kvs = kvs
	return kvs, r.Err()
}

// shaped takes the keys and values of an op, and says whether it has a shape: the one that
// goes on from at.
func (p *part) shaped(o *op, at *shape, kvs []edn.ID) bool {
	for i := 0; i < len(kvs); i += 2 {
		if at = p.under(at, kvs[i]); at == nil || !p.field(o, kvs[i], kvs[i+1]) {
			return false
		}
	}
	o.shape = at.n
	return true
}

// spelled keeps an op with all its keys and values as text, in place of its other values. A
// key may stand there twice if its values are equal. Jepsen's nemeses merge their own :type
// and :f into the other keys of an op.
func (p *part) spelled(f *File, o *op, begins int, kvs []edn.ID) error {
	values := make(map[edn.ID]edn.ID, len(kvs)/2)
	var once []edn.ID
	for i := 0; i < len(kvs); i += 2 {
		key, value := kvs[i], kvs[i+1]
		if before, twice := values[key]; !twice {
			p.field(o, key, value)
			once = append(once, key, value)
		} else if !p.equal(value, before) {
			return f.errorf(o.offset, "expected an op map with different keys, found %s", p.values.AppendMap(nil, kvs))
		}
		values[key] = value
	}
	o.shape = -1
	p.text = p.values.AppendMap(p.text[:begins], once)
	return nil
}

// equal says whether two values are equal. This includes collections, whose classes differ
// in the table of a part even if the values are equal.
func (p *part) equal(a, b edn.ID) bool {
	v := edn.NewValues()
	c := p.values.CopierInto(v)
	return v.Same(c.ID(a)) == v.Same(c.ID(b))
}

// intOrValue reads an object. An integer is returned as plain and n.
func intOrValue(r *fressian.Reader) (id edn.ID, n int64) {
	if n, ok := r.PlainInt(); ok {
		return plain, n
	}
	return r.Value(), 0
}

// whole returns the keys and values of a Jepsen op, the others last.
func (p *part) whole(o *op, time int64, others []edn.ID) []edn.ID {
	v := p.values
	if o.process == plain {
		o.process = v.InternInt(o.processInt)
	}
	if o.value == plain {
		o.value = v.InternInt(o.valueInt)
	}
	fields := [6]edn.ID{v.InternInt(o.index), v.InternInt(time), o.typ, o.process, o.f, o.value}
	var kvs []edn.ID
	for i, key := range p.keys.fixed() {
		kvs = append(kvs, key, fields[i])
	}
	return append(kvs, others...)
}

// field takes a key of an op, and says whether a shape can have it.
func (p *part) field(o *op, key, value edn.ID) bool {
	switch key {
	case p.keys.typ:
		o.typ, o.has = value, o.has|opmap.HasType
	case p.keys.process:
		o.process, o.has = value, o.has|opmap.HasProcess
	case p.keys.f:
		o.f, o.has = value, o.has|opmap.HasF
	case p.keys.value:
		o.value, o.has = value, o.has|opmap.HasValue
	case p.keys.key:
		o.key, o.has = value, o.has|opmap.HasKey
	case p.keys.index:
		n, ok := p.values.Int(value)
		if !ok {
			return false
		}
		o.index, o.has = n, o.has|opmap.HasIndex
	default:
		p.text = append(p.values.AppendText(p.text, value), '\n')
	}
	return true
}

// under returns the shape with one more key. It returns nil if the key is in it already, or
// if there are too many.
func (p *part) under(s *shape, key edn.ID) *shape {
	for i, next := range s.next {
		if next.key == key {
			s.next[0], s.next[i] = next, s.next[0]
			return next
		}
	}
	keys := 1
	for a := s; a.parent != nil; a = a.parent {
		if keys++; a.key == key {
			return nil
		}
	}
	if keys > maxKeys || len(p.shapes) == maxShapes {
		return nil
	}
	next := &shape{parent: s, key: key, n: int32(len(p.shapes))}
	p.shapes = append(p.shapes, next)
	s.next = append(s.next, next)
	return next
}
