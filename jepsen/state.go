package jepsen

import (
	"slices"

	"clew/edn"
)

// Saved is what a Builder holds, for a program of the same build that goes on later. Its fields are exported so that
// package encoding/gob can store it.
type Saved struct {
	History  []byte   // as Packer packs it
	Texts    [][]byte // by event: its op map, if it was one
	Built    bool
	Skipped  []SavedSkip
	Forms    []byte // those of Skipped, packed
	Warnings []string
	Record   Record

	Events, SkippedEvents, Warned    int
	LastIndex, NoIndex, FirstNoIndex int64
	Duplicates, Descents             int
}

// SavedSkip is a SkippedEvent with numbers of packed forms.
type SavedSkip struct {
	Before            Event
	Index             int64
	Type              Type
	Process, F, Value int
}

// Save returns what the builder holds: the operations that Forget keeps, and what they and later warnings need. Events
// that a model may refuse, because they lack a value or are not a client's, are lost, except for their warning. It returns
// false if operations are not paired by process. Linear time and space.
func (b *Builder) Save() (*Saved, bool) {
	h := b.h
	if len(b.timed) > 0 || h.lines != nil || b.done || b.err != nil {
		return nil, false
	}
	s := &Saved{
		History: h.NewPacker().Append(nil, h), Built: h.built, Warnings: slices.Clone(h.Warnings), Warned: b.warned,
		Events: h.Events, SkippedEvents: h.Skipped, LastIndex: b.lastIndex, NoIndex: b.noIndex, FirstNoIndex: b.firstNo,
		Duplicates: b.duplicates, Descents: b.descents, Record: h.Record(),
	}
	for e := range h.Type {
		s.Texts = append(s.Texts, slices.Clone(h.text(Event(e))))
	}
	forms := h.Values.NewPacker()
	for _, x := range h.skipped[max(0, len(h.skipped)-maxRecentSkips):] {
		s.Skipped = append(s.Skipped, SavedSkip{x.Before, x.Index, x.Type, forms.Number(x.Process), forms.Number(x.F), forms.Number(x.Value)})
	}
	s.Forms = forms.Append(nil)
	if b.notClients > 0 {
		s.Warnings = append(s.Warnings, b.skippedClients())
	}
	return s, true
}

// Restore returns a Builder that goes on from what another one has saved.
func Restore(o Options, s *Saved) (*Builder, error) {
	b := NewBuilder(o)
	old, _, err := Unpack(s.History)
	if err != nil {
		return nil, err
	}
	if len(s.Texts) != len(old.Type) {
		return nil, errPacked
	}
	v := old.Values
	forms, _, err := v.Unpack(s.Forms)
	if err != nil {
		return nil, err
	}
	h := b.h
	h.Values, h.built = v, s.Built
	b.nemesis = v.InternKeyword("nemesis")
	for t := Invoke; t <= Info; t++ {
		b.types[t] = v.InternKeyword(t.Name())
	}
	for _, x := range s.Skipped {
		form := func(n int) edn.ID { return forms[min(max(n, 0), len(forms)-1)] }
		h.skipped = append(h.skipped, SkippedEvent{x.Before, x.Index, x.Type, form(x.Process), form(x.F), form(x.Value)})
	}
	all := make([]bool, old.Operations())
	for op := range all {
		all[op] = true
	}
	b.replay(old.kept(all))
	for _, text := range s.Texts {
		h.texts.AddText(text)
	}
	h.Warnings, b.warned = s.Warnings, s.Warned
	if s.Record.Init != "" || s.Record.Lacks != "" || len(s.Record.Damage) > 0 {
		*h.noted() = s.Record
	}
	h.Events, h.Skipped = s.Events, s.SkippedEvents
	b.lastIndex, b.noIndex, b.firstNo, b.duplicates, b.descents = s.LastIndex, s.NoIndex, s.FirstNoIndex, s.Duplicates, s.Descents
	b.forgot = true
	return b, nil
}
