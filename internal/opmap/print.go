package opmap

import (
	"bytes"
	"slices"
	"strings"

	"clew/edn"
)

// Printer prints kept op maps, one after another, as [edn.Values.AppendText]
// prints maps. It does not intern them because a history has too many. It
// works out the order of keys once for all op maps that are printed alike.
type Printer struct {
	texts   *Texts
	v       *edn.Values
	bare    *plan
	plans   []*plan // by layout, from 1; nil: not worked out yet
	at      cursor  // of the text printed last
	others  [][]byte
	scratch *edn.Values // for values that are not plain
}

// plan lists what an op map prints, in order.
type plan struct {
	fields  []field
	unusual bool // its keys do not print as they are spelled
}

// field is a key, the text before it, and the source of its value.
type field struct {
	before, key string
	has         Fields
	other       int // if has is 0, the index of its value among those of other keys
}

// NewPrinter returns a printer of op maps whose events' values are in v.
func (t *Texts) NewPrinter(v *edn.Values) *Printer {
	return &Printer{texts: t, v: v, plans: make([]*plan, len(t.layouts)+1)}
}

// Append appends the i-th text. It adds the event's :index and :value whether
// or not the text contains them. Without a text it prints the event alone.
func (p *Printer) Append(dst []byte, i int, ev *Event) []byte {
	layout, text := p.texts.find(i, &p.at)
	if layout > 0 {
		if plan := p.plan(layout); !plan.unusual {
			if end, ok := p.print(dst, plan, p.split(text), ev); ok {
				return end
			}
		}
		text = p.texts.rebuild(layout, text, p.v, ev)
	}
	if len(text) > 0 {
		if end, ok := p.general(dst, text, ev); ok {
			return end
		}
	}
	end, _ := p.print(dst, p.alone(ev), nil, ev)
	return end
}

// alone returns the plan for an event without a text.
func (p *Printer) alone(ev *Event) *plan {
	if ev.Key != edn.Nil {
		return newPlan([]field{{key: ":process", has: HasProcess}, {key: ":type", has: HasType}, {key: ":f", has: HasF}, {key: ":key", has: HasKey}})
	}
	if p.bare == nil {
		p.bare = newPlan([]field{{key: ":process", has: HasProcess}, {key: ":type", has: HasType}, {key: ":f", has: HasF}})
	}
	return p.bare
}

func (p *Printer) plan(layout int) *plan {
	if p.plans[layout] == nil {
		p.plans[layout] = p.planOf(p.texts.layouts[layout-1])
	}
	return p.plans[layout]
}

// planOf returns the plan for the layout that ends with the given step.
func (p *Printer) planOf(last *step) *plan {
	steps := stepsTo(last)
	var fields []field
	for i, key := range keysOf(steps) {
		fields = append(fields, field{key: key, has: steps[i].About.has})
	}
	other := 0
	for k := range fields {
		if fields[k].has == 0 {
			fields[k].other = other
			other++
		}
	}
	plan := newPlan(fields)
	values := edn.NewValues()
	for k, f := range plan.fields {
		id, err := values.ParseLenient([]byte(f.key))
		if err != nil || values.Kind(id) != edn.KindKeyword || values.Text(id) != f.key || k > 0 && plan.fields[k-1].key == f.key {
			plan.unusual = true
		}
	}
	return plan
}

// newPlan sorts fields and adds those that every op map has.
func newPlan(fields []field) *plan {
	var all Fields
	for _, f := range fields {
		all |= f.has
	}
	if all&HasIndex == 0 {
		fields = append(fields, field{key: ":index", has: HasIndex})
	}
	if all&HasValue == 0 {
		fields = append(fields, field{key: ":value", has: HasValue})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.key, b.key) })
	for k := range fields {
		fields[k].before = ", "
	}
	fields[0].before = "{"
	return &plan{fields: fields}
}

// split returns the values of other keys.
func (p *Printer) split(text []byte) [][]byte {
	p.others = p.others[:0]
	for len(text) > 0 {
		var other []byte
		other, text, _ = bytes.Cut(text, []byte{'\n'})
		p.others = append(p.others, other)
	}
	return p.others
}

// print prints an op map according to a plan. It gives up if a text is not a value.
func (p *Printer) print(dst []byte, plan *plan, others [][]byte, ev *Event) ([]byte, bool) {
	for _, f := range plan.fields {
		dst = append(dst, f.before...)
		dst = append(append(dst, f.key...), ' ')
		if f.has != 0 {
			dst = appendField(dst, f.has, p.v, ev)
			continue
		}
		var ok bool
		if dst, ok = p.other(dst, others[f.other]); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

func (p *Printer) other(dst, text []byte) ([]byte, bool) {
	if isPlain(text) {
		return append(dst, text...), true
	}
	id, err := p.values().ParseLenient(text)
	if err != nil {
		return dst, false
	}
	return p.scratch.AppendText(dst, id), true
}

// maxScratch bounds how many forms a table of temporary values may hold.
const maxScratch = 1 << 16

func (p *Printer) values() *edn.Values {
	if p.scratch == nil || p.scratch.Len() > maxScratch {
		p.scratch = edn.NewValues()
	}
	return p.scratch
}

// isPlain reports whether a value is nil, true, false or a run of digits of
// any length. These print as they are spelled; all others are parsed.
func isPlain(text []byte) bool {
	switch string(text) {
	case "nil", "true", "false":
		return true
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// general prints an op map by parsing it.
func (p *Printer) general(dst, text []byte, ev *Event) ([]byte, bool) {
	v := p.values()
	id, err := v.ParseLenient(text)
	if err != nil {
		return dst, false
	}
	value, err := v.ParseLenient(p.v.AppendText(nil, ev.Value))
	if err != nil {
		return dst, false
	}
	return v.AppendText(dst, Shown(v, slices.Clone(v.Items(id)), ev.Index, value)), true
}

// Shown returns the op map of an event as results show it: with its :value, and with its
// :index if the op map has none.
func Shown(v *edn.Values, kvs []edn.ID, index int64, value edn.ID) edn.ID {
	key := v.InternKeyword("index")
	hasIndex := false
	for i := 0; i < len(kvs); i += 2 {
		hasIndex = hasIndex || kvs[i] == key
	}
	if !hasIndex {
		kvs = append(kvs, key, v.InternInt(index))
	}
	return v.InternMap(v.Put(kvs, "value", value))
}
