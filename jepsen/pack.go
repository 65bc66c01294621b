package jepsen

import (
	"encoding/binary"
	"errors"
	"math"

	"clew/edn"
)

// Packer packs histories as bytes, such as those of the keys of one history, so that other
// machines can check them. A history takes about 10 bytes for each event, and has each
// value once. Unpack reads it.
//
// It packs everything that a decision needs, and where the events stand. It leaves out the
// other keys of op maps, the events that were skipped, and warnings. Unlike the op maps of
// WriteEDN, the bytes can hold any history. They are for programs of the same build.
type Packer struct {
	forms     *edn.Packer
	processes []int32 // by process: 1 + its number, 0 if it has none
	used      []int32 // the processes that have one
	events    []byte
}

// NewPacker returns a packer for a history and for those of its keys.
func (h *History) NewPacker() *Packer {
	return &Packer{forms: h.Values.NewPacker(), processes: make([]int32, len(h.Processes))}
}

// The first byte of an event holds its type and these flags.
const (
	packedType  = 1<<2 - 1
	packedKey   = 1 << 2 // it has a :key
	packedPlace = 1 << 3 // its place does not follow from that of the event before
)

// Append appends a history, packed. Linear time.
func (p *Packer) Append(dst []byte, h *History) []byte {
	out, before, begun := p.events[:0], run{}, Operation(0)
	for e := range Event(len(h.Type)) {
		head, key, place := byte(h.Type[e]), h.Key(e), h.place(e)
		follows := before.after(place.event - before.event)
		if key != edn.Nil {
			head |= packedKey
		}
		if place != follows {
			head |= packedPlace
		}
		out = binary.AppendUvarint(append(out, head), uint64(place.event-before.event))
		out = binary.AppendUvarint(out, uint64(p.process(h.Process[e])))
		out = binary.AppendUvarint(out, uint64(p.forms.Number(h.F[e])))
		out = binary.AppendUvarint(out, uint64(p.forms.Number(h.Value[e])))
		if key != edn.Nil {
			out = binary.AppendUvarint(out, uint64(p.forms.Number(key)))
		}
		if place != follows {
			out = binary.AppendVarint(out, place.index-follows.index)
			out = binary.AppendVarint(out, int64(place.line)-int64(follows.line))
			out = binary.AppendVarint(out, int64(place.col)-int64(follows.col))
		}
		if h.Type[e] == Invoke {
			begun++
		} else {
			out = binary.AppendUvarint(out, uint64(begun-1-h.OpOf[e]))
		}
		before = place
	}
	p.events = out
	built := uint64(0)
	if h.built {
		built = 1
	}
	var head []byte
	for _, n := range []uint64{built, uint64(len(h.Type)), uint64(begun), uint64(len(p.used))} {
		head = binary.AppendUvarint(head, n)
	}
	for _, process := range p.used {
		head = binary.AppendUvarint(head, uint64(p.forms.Number(h.Processes[process])))
		p.processes[process] = 0
	}
	p.used = p.used[:0]
	return append(append(p.forms.Append(dst), head...), out...)
}

// process numbers the processes of a packed history in order of appearance.
func (p *Packer) process(process int32) int32 {
	if p.processes[process] == 0 {
		p.used = append(p.used, process)
		p.processes[process] = int32(len(p.used))
	}
	return p.processes[process] - 1
}

var errPacked = errors.New("expected a packed history, found something else")

// Unpack reads a packed history. Its n-th event is inWhole[n] of the whole history.
func Unpack(packed []byte) (h *History, inWhole []Event, err error) {
	h = &History{Values: edn.NewValues()}
	forms, rest, err := h.Values.Unpack(packed)
	if err != nil {
		return nil, nil, err
	}
	u := unpacker{rest: rest}
	h.built = u.below(2) == 1
	n := u.below(len(rest))
	operations := u.below(n + 1)
	for range u.below(len(rest)) {
		h.Processes = append(h.Processes, forms[u.below(len(forms))])
	}
	if u.bad {
		return nil, nil, errPacked
	}
	h.Type, h.Process, h.OpOf = make([]Type, 0, n), make([]int32, 0, n), make([]Operation, n)
	h.F, h.Value = make([]edn.ID, 0, n), make([]edn.ID, 0, n)
	h.Invocation, h.Completion, h.Status = make([]Event, 0, operations), make([]Event, 0, operations), make([]Status, 0, operations)
	inWhole = make([]Event, 0, n)
	var place run
	for e := range Event(n) {
		head := byte(u.below(1 << 4))
		place = place.after(Event(u.below(math.MaxInt32)))
		h.Type = append(h.Type, Type(head&packedType))
		h.Process = append(h.Process, int32(u.below(len(h.Processes))))
		h.F = append(h.F, forms[u.below(len(forms))])
		h.Value = append(h.Value, forms[u.below(len(forms))])
		if head&packedKey != 0 {
			h.setKey(e, forms[u.below(len(forms))])
		}
		if head&packedPlace != 0 {
			place.index += u.signed()
			place.line += int32(u.signed())
			place.col += int32(u.signed())
		}
		if h.Type[e] == Invoke {
			h.begin(e)
		} else if op := len(h.Invocation) - 1 - u.below(len(h.Invocation)); !u.bad {
			h.end(Operation(op), e)
		}
		if u.bad {
			return nil, nil, errPacked
		}
		h.places.add(place.index, place.line, place.col)
		inWhole = append(inWhole, place.event)
	}
	h.Events = n
	return h, inWhole, nil
}

type unpacker struct {
	rest []byte
	bad  bool
}

// below returns a number from 0 on and below a limit; 0 if there is none.
func (u *unpacker) below(limit int) int {
	n, size := binary.Uvarint(u.rest)
	if size <= 0 || n >= uint64(limit) {
		u.bad = true
		return 0
	}
	u.rest = u.rest[size:]
	return int(n)
}

func (u *unpacker) signed() int64 {
	n, size := binary.Varint(u.rest)
	if size <= 0 {
		u.bad = true
		return 0
	}
	u.rest = u.rest[size:]
	return n
}
