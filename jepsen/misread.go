package jepsen

import (
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/opmap"
)

// Misread is an event that may have its value, or its :key, under another key than the one
// that counts. An example is a read with a :result and no :value. It is the first event
// with its :f, type and keys. A model that needs the value refuses the history.
type Misread struct {
	Process, F, Value, Key edn.ID
	Returned               bool // it is an :ok; otherwise it is an :invoke
	OfKey                  bool // its :key is missing; otherwise its value is

	keys opmap.Misnamed
	at   edn.Pos
	name string // "process 0's :ok :read (index 3)"
}

// Err returns the error of a history in which the missing part would count.
func (m *Misread) Err() error {
	what, none := "what it was called with", "nil"
	switch {
	case m.OfKey:
		what = "the key that it is about"
	case m.Returned:
		what = "what it returned"
	}
	if m.keys.Expected[0] == '"' { // in JSON
		none = "null"
	}
	return m.at.Errorf("%s has %s and no %s; expected %s for %s, or %s if there is none",
		m.name, m.keys.Found, m.keys.Expected, m.keys.Expected, what, none)
}

// maxMisread bounds the events that are kept because of their keys.
const maxMisread = 100

// misnamed notes an event that may have its value, or its :key, under another key. If the
// value is present, and nil, it only warns.
func (b *Builder) misnamed(t Type, e *opmap.Event, position int64) {
	h, keys := b.h, e.Misnamed
	certain := keys.Known && keys.Missing
	if t == Invoke && !keys.Invoked || t == OK && !keys.Returned || t == Fail || t == Info || !certain && e.Value != edn.Nil {
		return
	}
	m := Misread{Process: e.Process, F: h.Values.Same(e.F), Value: e.Value, Key: e.Key, Returned: t == OK,
		OfKey: strings.Trim(keys.Expected, `:"`) == "key", keys: *keys, at: b.at(e)}
	same := func(o Misread) bool { return o.F == m.F && o.Returned == m.Returned && o.keys == m.keys }
	if len(b.misread) == maxMisread || slices.ContainsFunc(b.misread, same) {
		return
	}
	index := position
	if e.Has&opmap.HasIndex != 0 {
		index = e.Index
	}
	m.name = fmt.Sprintf("process %s's %s (index %d)", h.Values.Text(e.Process), b.call(e), index)
	b.misread = append(b.misread, m)
	if keys.Missing {
		h.Misread = append(h.Misread, m)
		return
	}
	b.warn("%s%s has %s, but its %s is nil, and that counts", b.line(e.Line), m.name, keys.Found, keys.Expected)
}

// otherName says which key of an op map may stand for one that it lacks: " :proc and", ""
// if none does.
func (b *Builder) otherName(e *opmap.Event, missing string) string {
	op := *e
	op.Text = e.AppendText(nil, b.h.Values)
	for _, key := range op.Keys() {
		if opmap.IsOtherName(key, missing) {
			return " " + key + " and"
		}
	}
	return ""
}
