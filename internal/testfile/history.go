package testfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"clew/edn"
	"clew/internal/fressian"
	"clew/internal/opmap"
)

type chunk struct {
	offset int64
	first  int64 // the number of its first operation, -1 if it is not known
}

func (f *File) value(b block, v *edn.Values) (edn.ID, error) {
	data, err := f.data(b, nil)
	if err != nil {
		return edn.Nil, err
	}
	r := fressian.NewReader(data, f.at(b.offset+blockHeader), v)
	id := r.Value()
	return id, r.Err()
}

// mapOf reads the map in a block. Other blocks may have parts of it: an int32 says which
// block has the rest, 0 if none has.
func (f *File) mapOf(b block, v *edn.Values) (edn.ID, error) {
	var kvs []edn.ID
	for seen := map[int64]bool{}; ; {
		if seen[b.offset] {
			return edn.Nil, f.errorf(b.offset, "the map in this block contains itself")
		}
		seen[b.offset] = true
		data, err := f.data(b, nil)
		if err != nil {
			return edn.Nil, err
		}
		rest, at := int32(0), b.offset+blockHeader
		switch {
		case b.kind == partialMap && len(data) >= 4:
			rest, data, at = int32(binary.BigEndian.Uint32(data)), data[4:], at+4
		case b.kind != fressianBlock:
			return edn.Nil, f.errorf(b.offset, "expected a map, found %s", b.kind)
		}
		r := fressian.NewReader(data, f.at(at), v)
		id := r.Value()
		switch {
		case r.Err() != nil:
			return edn.Nil, r.Err()
		case v.Kind(id) != edn.KindMap:
			return edn.Nil, f.errorf(at, "expected a map, found %s", v.Value(id))
		}
		kvs = append(append([]edn.ID(nil), v.Items(id)...), kvs...) // reversed: of equal keys the last counts
		if rest == 0 {
			return v.InternMap(kvs), nil
		}
		if b, err = f.block(rest, f.at(b.offset+blockHeader)); err != nil {
			return edn.Nil, f.cutOff(err)
		}
	}
}

// cutOff returns an error. If the file is cut off, the error has the place.
func (f *File) cutOff(err error) error {
	if errors.Is(err, errCut) {
		return f.errorf(f.size, "expected more of the test, found the end of the file: it is cut off")
	}
	return err
}

// Test returns the map of the test.
func (f *File) Test(v *edn.Values) (edn.ID, error) {
	_, test, err := f.test(v)
	return test, err
}

func (f *File) test(v *edn.Values) (root block, test edn.ID, err error) {
	if root, err = f.block(f.root, f.at(f.index+blockHeader)); err != nil {
		return root, edn.Nil, f.cutOff(err)
	}
	test, err = f.mapOf(root, v)
	return root, test, err
}

// part returns what the test has under a key: a block, or a value.
func (f *File) part(key string, v *edn.Values) (b block, value edn.ID, err error) {
	root, test, err := f.test(v)
	if err != nil {
		return b, edn.Nil, err
	}
	value, _ = v.Get(test, v.InternKeyword(key))
	if v.Kind(value) != edn.KindTagged || v.Str(value) != "block-ref" {
		return b, value, nil
	}
	fields := v.Items(v.Items(value)[0])
	if len(fields) != 1 || v.Kind(fields[0]) != edn.KindInt {
		return b, edn.Nil, f.errorf(root.offset, "expected a reference to a block under :%s, found %s", key, v.Value(value))
	}
	id, _ := v.Int(fields[0])
	b, err = f.block(int32(id), f.at(root.offset))
	return b, value, err
}

// Results returns what the checkers said of the test. There are none before they are done.
func (f *File) Results(v *edn.Values) (results edn.ID, ok bool, err error) {
	b, value, err := f.part("results", v)
	if err != nil {
		return edn.Nil, false, f.cutOff(err)
	}
	if b.length > 0 {
		value, err = f.mapOf(b, v)
	}
	return value, err == nil && v.Kind(value) == edn.KindMap, err
}

// chunks finds the whole chunks of the history, and how many operations it has, -1 if that
// is not known.
func (f *File) chunks() (all []chunk, count int64, err error) {
	v := edn.NewValues()
	b, value, err := f.part("history", v)
	if err == nil && b.kind == fressianBlock && b.length == blockHeader+1 { // before there are operations
		value, err = f.value(b, v)
		b = block{}
	}
	switch {
	case errors.Is(err, errCut):
		f.ends, f.endsAt = cut, f.size
	case err != nil:
		return nil, 0, err
	case b.length == 0 && value != edn.Nil:
		return nil, 0, f.errorf(f.index, "expected a test whose :history is in a block of its own, found another value there")
	case b.length == 0:
		count = -1
	default:
		if all, count, err = f.vector(b, 0, map[int64]bool{}); err != nil {
			return nil, 0, err
		}
	}
	// Jepsen writes the test again behind its whole history. Only when it has thrown away
	// old blocks does the index come first, and the test may come before its history.
	if f.ends == whole && b.kind == bigVector && f.blocks[f.root] < b.offset && b.offset < f.index {
		f.ends, f.endsAt = running, f.size
	}
	for _, offset := range f.later {
		all, count = append(all, chunk{offset, -1}), -1
	}
	return all, count, nil
}

// vector returns the chunks in a block: its own operations, or the blocks that a vector
// names. A vector has its int64 count. For each block it has the int64 number of the first
// operation and the int32 number of the block.
func (f *File) vector(b block, first int64, seen map[int64]bool) (all []chunk, count int64, err error) {
	if seen[b.offset] {
		return nil, 0, f.errorf(b.offset, "the block occurs in the history twice")
	}
	seen[b.offset] = true
	switch b.kind {
	case fressianBlock, fressianStream:
		return []chunk{{b.offset, first}}, -1, nil
	case indexBlock, partialMap:
		return nil, 0, f.errorf(b.offset, "expected the events of a history, found %s", b.kind)
	}
	data, err := f.data(b, nil)
	if err != nil {
		return nil, 0, err
	}
	const head, entry = 8, 12
	if len(data) < head || (len(data)-head)%entry != 0 {
		return nil, 0, f.errorf(b.offset, "expected a vector of a count and pairs of %d bytes, found %d bytes", entry, len(data))
	}
	count = int64(binary.BigEndian.Uint64(data))
	for at := head; at < len(data); at += entry {
		from := f.at(b.offset + blockHeader + int64(at))
		part, err := f.block(int32(binary.BigEndian.Uint32(data[at+8:])), from)
		if errors.Is(err, errCut) {
			f.ends, f.endsAt = cut, f.size
			return all, -1, nil
		}
		if err != nil {
			return nil, 0, err
		}
		below, _, err := f.vector(part, first+int64(binary.BigEndian.Uint64(data[at:])), seen)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, below...)
	}
	return all, count, nil
}

// Events passes the events of the history to take, in order. An event is valid until take
// returns. Values are interned in v.
func (f *File) Events(v *edn.Values, take func(*opmap.Event) error) error {
	chunks, count, err := f.chunks()
	if err != nil {
		return err
	}
	if len(chunks) == 0 && f.ends != whole {
		return NoHistory{f.errorf(f.endsAt, "expected a whole chunk of the history, found %s", f.ends.found())}
	}
	if len(chunks) == 0 && count < 0 {
		return NoHistory{f.errorf(f.index, "expected a history, found none: the test has not written a chunk of it yet")}
	}
	m := merger{f: f, v: v, take: take}
	if err := f.decoded(chunks, m.merge); err != nil {
		return err
	}
	if count >= 0 && m.events != count {
		return f.errorf(f.index, "expected a history of %d events, found %d", count, m.events)
	}
	if f.ends != whole {
		why := [...]string{cut: "the file is cut off", running: "the file ends before the test did: the test was killed or is still running",
			growing: "the file ends in an unfinished chunk: the test was killed or is still running"}[f.ends]
		f.warnings = append(f.warnings, fmt.Sprintf("%s (offset %d); the history ends with its last whole chunk, after %d events", why, f.endsAt, m.events))
	}
	return nil
}

// Warnings returns what is missing in the history, once it has been read.
func (f *File) Warnings() []string { return f.warnings }
