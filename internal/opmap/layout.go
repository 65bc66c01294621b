package opmap

import (
	"bytes"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/layouts"
)

// Nearly all op maps of a history are printed alike: the same keys in the same order, with the
// same text between the values. A Reader learns this layout from the op maps that it reads in
// the general way, entry by entry. It reads later ones by comparing the text between the values
// with what it has learned. If it meets anything unusual, it reads the op map again from its
// start in the general way. So both ways give the same events and errors, which FuzzQuick tests.

// step is a step of a layout. The steps of a Reader form a tree.
type step = layouts.Step[about]

// about says what a step means.
type about struct {
	has  Fields // of the key, 0 if checkers do not need it
	end  bool   // it closes the op map
	hole hole   // what comes after the step, which follows from these

	// If it closes the op map:
	all    Fields    // the keys of an event
	others int       // how many keys checkers do not need
	plain  int       // whether its keys are the usual ones
	row    bool      // it can be a Row
	last   int       // its number in the layouts by which op maps are printed
	order  []Fields  // the keys that a checker needs, except :index
	odd    *Misnamed // a suspicious key
}

// hole says what comes after a step. Those before typeHole are mostly integers.
type hole uint8

const (
	otherHole hole = iota
	indexHole
	processHole
	valueHole
	keyHole
	typeHole
	fHole
	noHole
)

func (a about) what() hole {
	switch {
	case a.end:
		return noHole
	case a.has == HasType:
		return typeHole
	case a.has == HasF:
		return fHole
	case a.has == HasProcess:
		return processHole
	case a.has&HasIndex != 0:
		return indexHole
	case a.has == HasValue:
		return valueHole
	case a.has == HasKey:
		return keyHole
	}
	return otherHole
}

type extent struct {
	key, keyEnd, value, valueEnd int
	has                          Fields
	twice                        bool // the key has come before
}

// learn adds the op map from i to closing, which has been read, to the
// tree. Its keys must be keywords with only spaces and commas around them. So a token ends
// where the text of a step stands after it.
func (r *Reader) learn(i, closing int) {
	data := r.maps.Data()
	at, from := &r.tree.Root, i // from is where the text of the next step begins
	for n, e := range r.entries {
		blank := from
		if n == 0 {
			blank++
		}
		if data[e.key] != ':' || !isSpace(data[blank:e.key]) || n > 0 && blank == e.key ||
			e.keyEnd == e.value || !isSpace(data[e.keyEnd:e.value]) {
			return
		}
		if at = grow(&r.tree, at, string(data[from:e.value]), about{has: e.has}); at == nil {
			return
		}
		from = e.valueEnd
	}
	if len(r.entries) > 0 && isSpace(data[from:closing]) {
		grow(&r.tree, at, string(data[from:closing+1]), about{end: true})
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
func grow(t *layouts.Tree[about], parent *step, text string, what about) *step {
	what.hole = what.what()
	next, isNew := t.Grow(parent, text, what)
	if !isNew || !what.end {
		return next
	}
	a, steps := &next.About, stepsTo(next)
	for _, s := range steps {
		a.all |= s.About.has &^ hasOtherIndex
		if s.About.has != 0 && s.About.has&HasIndex == 0 {
			a.order = append(a.order, s.About.has)
		}
		if s.About.hole == otherHole {
			a.others++
		}
	}
	a.odd = misnamedAmong(keysOf(steps))
	a.plain = usual(a.order)
	a.row = a.plain != unusual && a.odd == nil
	a.last = next.Number
	return next
}

// keysOf returns the keys of op maps with a layout.
func keysOf(steps []*step) (keys []string) {
	for _, s := range steps {
		if !s.About.end {
			keys = append(keys, strings.Trim(s.Text, "{ ,"))
		}
	}
	return keys
}

// stepsTo returns the steps of the layout that ends with the given one.
func stepsTo(last *step) (steps []*step) {
	for s := last; s.Parent != nil; s = s.Parent {
		steps = append(steps, s)
	}
	slices.Reverse(steps)
	return steps
}

// usual returns the order of :process and :value, if :type and :f are the
// only other keys that a checker needs.
func usual(needed []Fields) int {
	order := slices.DeleteFunc(slices.Clone(needed), func(has Fields) bool { return has == HasType || has == HasF })
	switch {
	case len(needed) != 4 || len(order) != 2 || order[0]|order[1] != HasProcess|HasValue:
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

// quick reads the op map at i if it is like others. Otherwise it returns -1: the caller
// must provide more text or read it in the general way. A scout records what it reads.
func (r *Reader) quick(i int, ev *Event) int {
	maps, scouts := &r.maps, r.block != nil
	data := maps.Data()
	if !scouts {
		*ev = Event{}
		ev.Line, ev.Col = maps.Place()
	}
	r.others, r.f = r.others[:0], edn.Nil
	lines := false
	at, step := i, &r.like.Root
	for {
		if next := step.First; next != nil && next.At(data, at) {
			step = next
		} else if step = step.After(data, at); step == nil {
			return -1
		}
		at += step.Size
		if step.About.end {
			break
		}
		begin := at
		simple := false
		if r.syntax != nil {
			at = r.scanLine(step.About.has, at)
		} else if scouts {
			at, simple = r.scan(step.About.has, at)
		} else {
			at, simple = r.hole(step.About.has, at, ev)
		}
		if at < 0 {
			return -1
		}
		if !simple {
			lines = lines || bytes.IndexByte(data[begin:at], '\n') >= 0
		}
		if step.About.has == 0 && r.syntax == nil {
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
	ev.Text, ev.Has, ev.Misnamed = data[i:at:at], step.About.all, step.About.odd
	if !lines {
		ev.layout, ev.others = step, r.others
	}
	return end
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
