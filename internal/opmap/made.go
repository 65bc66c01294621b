package opmap

import (
	"slices"
	"strings"

	"clew/edn"
)

// Layout says how op maps with certain keys in a certain order are printed. It is
// for readers of formats other than text, which make events themselves. An event
// that is laid out prints, and is kept, as if it had been read from its op map.
type Layout struct {
	// Misnamed applies to events that are laid out. Of sets it for op maps.
	Misnamed *Misnamed

	last  *step
	spare bool // the history has too many layouts, so such op maps are kept as text
}

// Layouts are the layouts of a history.
type Layouts struct{ tree }

// Of returns the layout of op maps with the given keys, spelled as they print,
// such as ":index". There must be at least one key, and all must differ.
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

// Lay lays out an event. The texts of values that an Event does not hold
// come in the order of their keys, each followed by a newline and none
// containing one. Like Text, they are valid only until the next event.
func (ev *Event) Lay(l *Layout, others []byte, v *edn.Values) {
	ev.Misnamed = l.Misnamed
	if l.spare {
		ev.Text = l.last.rebuild(nil, others, v, ev)
		return
	}
	ev.layout, ev.others = l.last, slices.Clip(others)
}

// AppendText appends the op map of an event as it was, or would have been,
// printed. It appends nothing if the event has no op map.
func (ev *Event) AppendText(dst []byte, v *edn.Values) []byte {
	if ev.Text == nil && ev.layout != nil {
		return ev.layout.rebuild(dst, ev.others, v, ev)
	}
	return append(dst, ev.Text...)
}
