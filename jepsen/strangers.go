package jepsen

import (
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/edn/opmap"
)

// Stranger is an event that was skipped because its process is neither a client nor
// :nemesis: the first one with its :f. A model that knows the :f refuses the history, since
// nothing would check an event that looks like a client's operation.
type Stranger struct {
	Process, F, Value, Key edn.ID

	at   edn.Pos
	name string // "process \"a\"'s :invoke :write (index 3)"
}

// errStranger says what to do about a Stranger.
const errStranger = "its process is not an integer, so it would not be checked; with clients all, every process but :nemesis is a client"

// Err returns the error of a history in which the stranger's operations would count.
func (s *Stranger) Err() error { return s.at.Errorf("%s: %s", s.name, errStranger) }

// isClient says whether the process of an event is a client; it is not an integer. If it is
// not, the event is skipped.
func (b *Builder) isClient(e *opmap.Event, position int64) (bool, error) {
	v := b.h.Values
	index := position
	if e.Has&opmap.HasIndex != 0 {
		index = e.Index
	}
	switch {
	case e.Has&opmap.HasProcess == 0:
		return false, b.at(e).Errorf("%s (index %d) has%s no :process; expected the process that performs the operation", b.call(e), index, b.otherName(e, "process"))
	case e.Process == b.nemesis:
		b.skip(e, index)
		return false, nil
	case b.opts.AllClients:
		return true, nil
	}
	b.skip(e, index)
	b.strange++
	if f := v.Same(e.F); !b.strangeFs[f] {
		b.strangeFs[f] = true
		b.h.Strangers = append(b.h.Strangers, Stranger{e.Process, e.F, e.Value, e.Key, b.at(e),
			fmt.Sprintf("process %s's %s (index %d)", v.Text(e.Process), b.call(e), index)})
	}
	return false, nil
}

// SkippedEvent is an event of a process that is not a client.
type SkippedEvent struct {
	Before            Event // the first event of a client after it
	Index             int64
	Type              Type // Info if it has none
	Process, F, Value edn.ID
}

// maxSkippedEvents bounds the skipped events that are kept; all are counted.
const maxSkippedEvents = 10_000

// SkippedEvents returns the first of the skipped events, up to a bound, in order. In the
// history of a key they are those of the whole history.
func (h *History) SkippedEvents() []SkippedEvent {
	if h.whole == nil {
		return h.skipped
	}
	own := slices.Clone(h.whole.skipped)
	for i := range own {
		at, _ := slices.BinarySearch(h.wholeEvent, own[i].Before)
		own[i].Before = Event(at)
	}
	return own
}

// skip notes an event that is skipped.
func (b *Builder) skip(e *opmap.Event, index int64) {
	h := b.h
	if h.Skipped++; len(h.skipped) == maxSkippedEvents {
		return
	}
	t := slices.Index(b.types[:], e.Type)
	if t < 0 {
		t = int(Info)
	}
	h.skipped = append(h.skipped, SkippedEvent{Event(len(h.Type)), index, Type(t), e.Process, e.F, e.Value})
}

// call names an event by the type and :f that it has: ":invoke :write".
func (b *Builder) call(e *opmap.Event) string {
	v := b.h.Values
	switch has := e.Has & (opmap.HasType | opmap.HasF); has {
	case opmap.HasType:
		return v.Text(e.Type)
	case opmap.HasF:
		return v.Text(e.F)
	case 0:
		return "event"
	}
	return v.Text(e.Type) + " " + v.Text(e.F)
}

// clients warns about events that are not a client's. It is an error if no client has an
// operation, unless all events are the nemesis's: checking nothing must not pass for a
// verdict.
func (b *Builder) clients() error {
	h := b.h
	switch none := len(h.Type) == 0; {
	case none && b.strange > 0:
		first := &h.Strangers[0]
		return first.at.Errorf("no operation of a client: the first event is %s; %s", first.name, errStranger)
	case none && h.Events > h.Skipped:
		return b.lost.Errorf("no operation of a client: only completions without an invocation")
	case none:
		b.Warn("no operations of clients (processes that are integers): nothing to check")
	case b.strange > 0:
		first := &h.Strangers[0]
		b.Warn("%sskipped events whose processes are not integers: %d, the first %s", b.line(first.at.Line), b.strange, first.name)
	}
	return nil
}

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
	b.Warn("%s%s has %s, but its %s is nil, and that counts", b.line(e.Line), m.name, keys.Found, keys.Expected)
}

// otherName says which key of an op map may stand for one that it lacks: " :proc and", ""
// if none does.
func (b *Builder) otherName(e *opmap.Event, missing string) string {
	op := *e
	op.Text = e.AppendText(nil, b.h.Values)
	for _, key := range keysOf(&op) {
		if opmap.IsOtherName(key, missing) {
			return " " + key + " and"
		}
	}
	return ""
}
