package opmap

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// Nearly all op maps of a history are printed alike: the same keys in the same order, with the
// same text between the values. A Reader learns this layout from the op maps that it reads in
// the general way, entry by entry. It reads later ones by comparing the text between the values
// with what it has learned. If it meets anything unusual, it reads the op map again from its
// start in the general way. So both ways give the same events and errors, which FuzzQuick tests.

// tree holds what has been learned: the steps of op maps, from the root.
type tree struct {
	steps step
	all   []*step // by number
	known int     // how many steps there are
}

// step is the text before a value, or at the end, shared by op maps that
// are alike up to that point. The steps of a Reader form a tree.
type step struct {
	words [2]uint64 // the text in little-endian order, if short
	masks [2]uint64
	first *step  // the last one met among next
	size  int    // of the text
	has   Fields // of the key, 0 if checkers do not need it
	end   bool   // it closes the op map

	all    Fields    // if it closes the op map: the keys of an event
	plain  int       // in the same case: whether its keys are the usual ones
	order  []Fields  // in the same case: the keys that a checker needs, except :index
	odd    *Misnamed // in the same case
	n      int       // its number
	text   string    // white space, a key that is a keyword, white space; or the closing text
	parent *step
	next   []*step
}

// maxSteps bounds the tree. If a history has more ways to print an op map, those
// met later are read in the general way. A layout's number must fit in a byte.
const maxSteps = 64

// extent is where the general way found a key and its value.
type extent struct {
	key, keyEnd, value, valueEnd int
	has                          Fields
	twice                        bool // the key has come before
}

// learn adds the op map from i to closing, which has been read, to the
// tree. Its keys must be keywords with only spaces and commas around them.
func (r *Reader) learn(i, closing int) {
	data := r.maps.Data()
	at, from := &r.steps, i // from is where the text of the next step begins
	for n, e := range r.entries {
		blank := from
		if n == 0 {
			blank++
		}
		if data[e.key] != ':' || !isSpace(data[blank:e.key]) ||
			e.keyEnd == e.value || !isSpace(data[e.keyEnd:e.value]) {
			return
		}
		if at = r.grow(at, step{text: string(data[from:e.value]), has: e.has}); at == nil {
			return
		}
		from = e.valueEnd
	}
	if len(r.entries) > 0 && isSpace(data[from:closing]) {
		r.grow(at, step{text: string(data[from : closing+1]), end: true})
	}
}

func isSpace(text []byte) bool {
	for _, c := range text {
		if c != ' ' && c != ',' {
			return false
		}
	}
	return true
}

// grow returns the step after another one, or nil if there are too many.
func (t *tree) grow(parent *step, next step) *step {
	for _, old := range parent.next {
		if old.text == next.text {
			return old
		}
	}
	if t.known == maxSteps {
		return nil
	}
	t.known++
	next.parent, next.n, next.size = parent, len(t.all), len(next.text)
	if next.end {
		for s := parent; s != nil; s = s.parent {
			next.all |= s.has &^ hasOtherIndex
			if s.has != 0 && s.has&HasIndex == 0 {
				next.order = append(next.order, s.has)
			}
		}
		slices.Reverse(next.order)
		next.odd = misnamedAmong(next.keys())
		next.plain = next.usual()
	}
	if len(next.text) <= 16 {
		var text, mask [16]byte
		for i := range copy(text[:], next.text) {
			mask[i] = 0xff
		}
		for i := range next.words {
			next.words[i] = binary.LittleEndian.Uint64(text[8*i:])
			next.masks[i] = binary.LittleEndian.Uint64(mask[8*i:])
		}
	}
	parent.next = append(parent.next, &next)
	parent.first = parent.next[0]
	t.all = append(t.all, &next)
	return &next
}

// keys returns the keys of the op maps that a step closes.
func (p *step) keys() (keys []string) {
	for s := p.parent; s.parent != nil; s = s.parent {
		keys = append(keys, strings.Trim(s.text, "{ ,"))
	}
	slices.Reverse(keys)
	return keys
}

// usual returns the order of :process and :value, if :type and :f are the
// only other keys that a checker needs.
func (p *step) usual() int {
	order := slices.DeleteFunc(slices.Clone(p.order), func(has Fields) bool { return has == HasType || has == HasF })
	switch {
	case len(p.order) != 4 || len(order) != 2 || order[0]|order[1] != HasProcess|HasValue:
		return unusual
	case order[0] == HasProcess:
		return processFirst
	}
	return valueFirst
}

const (
	unusual = iota
	processFirst
	valueFirst
)

// at reports whether the step's text stands at i.
func (p *step) at(data []byte, i int) bool {
	if d := data[i:]; p.masks[0] != 0 && len(d) >= 16 {
		return binary.LittleEndian.Uint64(d)&p.masks[0] == p.words[0] && binary.LittleEndian.Uint64(d[8:])&p.masks[1] == p.words[1]
	} else {
		return len(d) >= len(p.text) && string(d[:len(p.text)]) == p.text
	}
}

// quick reads the op map at i if it is like others. Otherwise it returns -1: the caller
// must provide more text or read it in the general way. A scout records what it reads.
func (r *Reader) quick(i int, ev *Event) int {
	maps, scouts := &r.maps, r.block != nil
	data := maps.Data()
	if !scouts {
		*ev = Event{}
		ev.Line, ev.Col = maps.Place()
	}
	r.others = r.others[:0]
	lines := false
	at, step := i, &r.steps
	for {
		if next := step.first; next != nil && next.at(data, at) {
			step = next
		} else if step = step.after(data, at); step == nil {
			return -1
		}
		at += step.size
		if step.end {
			break
		}
		begin := at
		simple := false
		if scouts {
			at, simple = r.scan(step.has, at)
		} else {
			at, simple = r.hole(step.has, at, ev)
		}
		if at < 0 {
			return -1
		}
		if !simple {
			lines = lines || bytes.IndexByte(data[begin:at], '\n') >= 0
		}
		if step.has == 0 {
			r.others = append(append(r.others, data[begin:at]...), '\n')
		}
	}
	end := at
	if !lines {
		end = maps.QuickLineEnd(at)
	}
	if scouts {
		r.note(i, at, step, lines, end > at)
		return end
	}
	ev.Text, ev.Has, ev.Misnamed = data[i:at:at], step.all, step.odd
	if !lines {
		ev.layout, ev.others = step, r.others
	}
	return end
}

// after returns the step that matches at i and moves it to the front, or returns nil.
func (p *step) after(data []byte, i int) *step {
	for k, next := range p.next {
		if next.at(data, i) {
			p.next[0], p.next[k] = next, p.next[0]
			p.first = next
			return next
		}
	}
	return nil
}

// hole reads the value of a key at i. It reports whether the value is
// simple and so contains no line end.
func (r *Reader) hole(has Fields, i int, ev *Event) (end int, simple bool) {
	maps := &r.maps
	switch has {
	case HasType:
		ev.Type, end = maps.QuickKeyword(i)
		return end, true
	case HasF:
		ev.F, end = maps.QuickKeyword(i)
		return end, true
	case HasProcess:
		var n int64
		if n, end = maps.QuickInt(i); end >= 0 {
			ev.Process = r.values.InternInt(n)
		}
		return end, true
	case HasIndex | hasOtherIndex:
		ev.Index, end = maps.QuickInt(i)
		return end, true
	case HasValue:
		ev.Value, end, simple = maps.QuickValue(i)
		return end, simple
	case HasKey:
		ev.Key, end, simple = maps.QuickValue(i)
		return end, simple
	}
	return maps.QuickSkip(i)
}

// scan does what hole does, for a scout.
func (r *Reader) scan(has Fields, i int) (end int, simple bool) {
	maps, rec := &r.maps, &r.record
	switch has {
	case HasType:
		r.typ, end = maps.QuickKeyword(i)
		return end, true
	case HasF:
		r.f, end = maps.QuickKeyword(i)
		return end, true
	case HasProcess:
		rec.process, end = maps.QuickInt(i)
		return end, true
	case HasIndex | hasOtherIndex:
		rec.index, end = maps.QuickInt(i)
		return end, true
	case HasValue:
		rec.value, end, simple = maps.QuickScan(i)
		return end, simple
	case HasKey:
		r.key, end, simple = maps.QuickScan(i)
		return end, simple
	}
	return maps.QuickSkip(i)
}
