package edn

import (
	"encoding/binary"
	"errors"
)

// Packer packs forms as bytes, each form once, to send them to another program of the
// same build. Unpack reads them. Nothing may be added to the table in the meantime.
type Packer struct {
	from   *Values
	number []int32 // by form of from: its number, 0 if not packed
	packed []ID    // the forms whose numbers are above that of True
	out    []byte
}

// NewPacker returns a packer of the forms of a table.
func (v *Values) NewPacker() *Packer {
	p := &Packer{from: v, number: make([]int32, len(v.forms))}
	p.number[False], p.number[True] = int32(False), int32(True)
	return p
}

// Number returns the index of a form in what Unpack will return.
func (p *Packer) Number(id ID) int {
	if p.number[id] == 0 && id != Nil {
		p.pack(id)
		p.packed = append(p.packed, id)
		p.number[id] = int32(True) + int32(len(p.packed))
	}
	return int(p.number[id])
}

func (p *Packer) pack(id ID) {
	f := &p.from.forms[id]
	switch {
	case f.kind.collection():
		items := p.from.items(id)
		for _, item := range items {
			p.Number(item)
		}
		p.out = binary.AppendUvarint(append(p.out, byte(f.kind)), uint64(len(items)))
		for _, item := range items {
			p.out = binary.AppendUvarint(p.out, uint64(p.number[item]))
		}
	case f.plain():
		p.out = binary.AppendVarint(append(p.out, packedInt), f.at)
	default:
		text := p.from.texts[f.n]
		p.out = binary.AppendUvarint(append(p.out, byte(f.kind)), uint64(len(text)))
		p.out = append(p.out, text...)
	}
}

// packedInt takes the place of the kind for an integer packed as a number.
// Other forms are packed as texts.
const packedInt = 0xff

// plain reports whether a form is an integer in its plain spelling.
func (f *form) plain() bool { return f.kind == KindInt && f.n == 0 }

// Append appends the forms that have been given numbers, and forgets them.
// Numbers start over after it.
func (p *Packer) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(p.packed)))
	dst = append(dst, p.out...)
	for _, id := range p.packed {
		p.number[id] = 0
	}
	p.packed, p.out = p.packed[:0], p.out[:0]
	return dst
}

var errPacked = errors.New("expected packed forms, found something else")

// Unpack interns the forms that Append has written, in the order of their
// numbers. It also returns the bytes after them.
func (v *Values) Unpack(packed []byte) (ids []ID, rest []byte, err error) {
	n, packed, ok := unpackLength(packed)
	if !ok {
		return nil, nil, errPacked
	}
	ids = append(make([]ID, 0, n+3), Nil, False, True)
	var items []ID
	for range n {
		if len(packed) == 0 {
			return nil, nil, errPacked
		}
		kind := packed[0]
		packed = packed[1:]
		if kind == packedInt {
			n, size := binary.Varint(packed)
			if size <= 0 {
				return nil, nil, errPacked
			}
			ids, packed = append(ids, v.InternInt(n)), packed[size:]
			continue
		}
		length, more, ok := unpackLength(packed)
		if !ok {
			return nil, nil, errPacked
		}
		packed = more
		if !Kind(kind).collection() {
			ids, packed = append(ids, v.internText(Kind(kind), string(packed[:length]))), packed[length:]
			continue
		}
		items = items[:0]
		for range length {
			item, size := binary.Uvarint(packed)
			if size <= 0 || item >= uint64(len(ids)) {
				return nil, nil, errPacked
			}
			items, packed = append(items, ids[item]), packed[size:]
		}
		ids = append(ids, v.intern(Kind(kind), items))
	}
	return ids, packed, nil
}

// unpackLength returns how many bytes or forms follow. Each takes at least one byte.
func unpackLength(packed []byte) (n int, rest []byte, ok bool) {
	length, size := binary.Uvarint(packed)
	if size <= 0 || length > uint64(len(packed)-size) {
		return 0, nil, false
	}
	return int(length), packed[size:], true
}
