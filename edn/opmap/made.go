package opmap

import (
	"slices"
	"strings"

	"clew/edn"
)

// Layout is how op maps with certain keys in a certain order are printed. It is
// for readers of forms that are no text, which make events themselves: an event
// that is laid out prints, and is kept, as if it had been read from its op map.
type Layout struct {
	// Misnamed is that of events that are laid out. Of finds it for op maps.
	Misnamed *Misnamed

	last  *step
	spare bool // the history has too many layouts: such op maps are kept as text
}

// Layouts are the layouts of a history.
type Layouts struct{ tree }

// Of is the layout of op maps with the given keys, all different, as they print:
// ":index". There is one at least.
func (l *Layouts) Of(keys []string) *Layout {
	var layout Layout
	at := &l.steps
	add := func(next step) {
		parent := at
		if !layout.spare {
			at = l.grow(parent, next)
		}
		if layout.spare = layout.spare || at == nil; layout.spare {
			next.parent = parent
			at = &next
		}
	}
	before := "{"
	for _, key := range keys {
		next := step{text: before + key + " "}
		if name, is := strings.CutPrefix(key, ":"); is {
			_, next.has = new(Event).field([]byte(name))
		}
		add(next)
		before = ", "
	}
	add(step{text: "}", end: true})
	layout.last, layout.Misnamed = at, misnamedAmong(keys)
	return &layout
}

// Lay lays an event out. The values of the keys that an Event does not hold are
// given as text in the order of the keys, each with a newline behind it and none
// in it. Like Text, they are kept only until the next event.
func (ev *Event) Lay(l *Layout, others []byte, v *edn.Values) {
	ev.Misnamed = l.Misnamed
	if l.spare {
		ev.Text = l.last.rebuild(nil, others, v, ev)
		return
	}
	ev.layout, ev.others = l.last, slices.Clip(others)
}

// AppendText appends the op map of an event as it was printed, or as it would have
// been. It appends nothing if the event has no op map.
func (ev *Event) AppendText(dst []byte, v *edn.Values) []byte {
	if ev.Text == nil && ev.layout != nil {
		return ev.layout.rebuild(dst, ev.others, v, ev)
	}
	return append(dst, ev.Text...)
}
