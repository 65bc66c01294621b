package testfile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/opmap"
)

type merger struct {
	f       *File
	v       *edn.Values
	take    func(*opmap.Event) error
	layouts opmap.Layouts
	events  int64
}

func (m *merger) merge(p *part) error {
	if p.first >= 0 && p.first != m.events {
		return m.f.errorf(p.offset, "expected the events from %d on, as the vector of chunks says, found those from %d on", p.first, m.events)
	}
	copier := p.values.CopierInto(m.v)
	layouts := make([]*opmap.Layout, len(p.shapes))
	begins := 0
	var e opmap.Event
	for i := range p.ops {
		o := &p.ops[i]
		if m.events%4096 == 0 && m.f.ctx.Err() != nil {
			return fmt.Errorf("%s: %w", m.f.name, context.Cause(m.f.ctx))
		}
		e = opmap.Event{
			Type: copier.ID(o.typ), Process: m.id(copier, o.process, o.processInt), F: copier.ID(o.f),
			Value: m.id(copier, o.value, o.valueInt), Key: copier.ID(o.key),
			Index: o.index, Has: o.has, End: o.offset,
		}
		if text := p.text[begins:o.end:o.end]; o.shape < 0 {
			e.Text = text
		} else {
			if layouts[o.shape] == nil {
				layouts[o.shape] = m.layout(p, p.shapes[o.shape])
			}
			e.Lay(layouts[o.shape], text, m.v)
		}
		begins = o.end
		m.events++
		if err := m.take(&e); err != nil {
			return m.located(err, o.offset)
		}
	}
	return nil
}

// id returns a value of a part in the table of the history.
func (m *merger) id(copier *edn.Copier, id edn.ID, n int64) edn.ID {
	if id == plain {
		return m.v.InternInt(n)
	}
	return copier.ID(id)
}

func (m *merger) layout(p *part, s *shape) *opmap.Layout {
	var texts []string
	for ; s.parent != nil; s = s.parent {
		texts = append(texts, p.values.Text(s.key))
	}
	slices.Reverse(texts)
	return m.layouts.Of(texts)
}

// located adds the offset of an event to an error about it.
func (m *merger) located(err error, offset int64) error {
	var at *edn.Error
	if errors.As(err, &at) && at.Offset == 0 {
		return m.f.errorf(offset, "%s", at.Msg)
	}
	return err
}
