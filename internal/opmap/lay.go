package opmap

import (
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/layouts"
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
type Layouts struct{ tree layouts.Tree[about] }

// Of returns the layout of op maps with the given keys, spelled as they print,
// such as ":index". There must be at least one key, and all must differ.
func (l *Layouts) Of(keys []string) *Layout { return layoutOf(&l.tree, keys) }

func layoutOf(tree *layouts.Tree[about], keys []string) *Layout {
	var layout Layout
	at := &tree.Root
	add := func(text string, what about) {
		parent := at
		if !layout.spare {
			at = grow(tree, parent, text, what)
		}
		if layout.spare = layout.spare || at == nil; layout.spare {
			at = &step{Parent: parent, Text: text, About: what}
		}
	}
	before := "{"
	for _, key := range keys {
		add(before+key+" ", about{has: fieldOf(key)})
		before = ", "
	}
	add("}", about{end: true})
	layout.last, layout.Misnamed = at, misnamedAmong(keys)
	return &layout
}

// fieldOf returns what a checker takes from a key, which may be ":index".
func fieldOf(key string) (has Fields) {
	if name, is := strings.CutPrefix(key, ":"); is {
		_, has = new(Event).field([]byte(name))
	}
	return has
}

// Lay lays out an event. The texts of values that an Event does not hold
// come in the order of their keys, each followed by a newline and none
// containing one. Like Text, they are valid only until the next event.
func (ev *Event) Lay(l *Layout, others []byte, v *edn.Values) {
	ev.Misnamed = l.Misnamed
	if l.spare {
		ev.Text = rebuild(l.last, nil, others, v, ev)
		return
	}
	ev.layout, ev.others = l.last, slices.Clip(others)
}

// AppendText appends the op map of an event as it was, or would have been,
// printed. It appends nothing if the event has no op map.
func (ev *Event) AppendText(dst []byte, v *edn.Values) []byte {
	if ev.Text == nil && ev.layout != nil {
		return rebuild(ev.layout, dst, ev.others, v, ev)
	}
	return append(dst, ev.Text...)
}
