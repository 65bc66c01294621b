package jepsen

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"clew/edn"
	"clew/internal/opmap"
	"clew/internal/text"
)

// Op is an operation in plain Go, for callers that walk a result. Its values are as
// edn.Value.Go returns them.
type Op struct {
	Process int    // 0 if it does not fit in an int; String shows it anyway
	F       string // "read"
	Value   any    // the value that it returned if it succeeded, else the one that it was called with
	Key     any    // the :key of its invocation, nil if it has none
	Status  Status
	Index   int64 // the :index of its completion, of its invocation if it crashed
	Line    int   // the line of that event in the file, 0 if the history was built

	name string
}

// String returns the operation as people speak of it: "process 13's :read 471 (index 983)".
func (o Op) String() string { return o.name }

// Op returns an operation in plain Go.
func (h *History) Op(op Operation) Op {
	inv := h.Invocation[op]
	process, _ := h.Values.Int(h.Processes[h.Process[inv]])
	if int64(int(process)) != process {
		process = 0
	}
	f := h.Values.Value(h.F[inv])
	name := f.String()
	if keyword, ok := f.Go().(edn.Keyword); ok {
		name = string(keyword)
	}
	return Op{
		Process: int(process),
		F:       name,
		Value:   h.Values.Value(h.OpValue(op)).Go(),
		Key:     h.Values.Value(h.Key(inv)).Go(),
		Status:  h.Status[op],
		Index:   h.Index(h.LastEvent(op)),
		Line:    h.Line(h.LastEvent(op)),
		name:    h.Name(op),
	}
}

// Name returns an operation as people speak of it: "process 13's :read 471 (index 983)".
// The index is that of its completion if it has one.
func (h *History) Name(op Operation) string {
	failed := ""
	if h.Status[op] == Failed {
		failed = "failed "
	}
	return fmt.Sprintf("process %s's %s%s (index %d)", h.ProcessName(op), failed, h.call(op, maxNamed, maxNamed/2), h.LastIndex(op))
}

// Who returns the process of an operation and where it is: "process 13 (index 983)".
func (h *History) Who(op Operation) string {
	return fmt.Sprintf("process %s (index %d)", h.ProcessName(op), h.LastIndex(op))
}

// LastIndex returns the index of an operation's completion if that tells anything, else
// that of its invocation.
func (h *History) LastIndex(op Operation) int64 { return h.Index(h.LastEvent(op)) }

// LastEvent returns an operation's completion if that tells anything, else its invocation.
func (h *History) LastEvent(op Operation) Event {
	if h.Status[op] != Crashed {
		return h.Completion[op]
	}
	return h.Invocation[op]
}

// ProcessName returns the name of an operation's process.
func (h *History) ProcessName(op Operation) string {
	return h.Values.Text(h.Processes[h.Process[h.Invocation[op]]])
}

// The text of an operation is shorter in pictures than in sentences, in characters.
const (
	maxCall  = 40
	maxNamed = 60
)

// Words say how sentences and texts tell the operations of a history. The zero Words tell them as EDN.
type Words struct {
	Call  func(op Operation) string // what an operation did; nil: its :f, its :key and its value
	Value func(id edn.ID) string    // a value in that; nil: its EDN
	Asked int                       // how much is shown of what was asked, in characters, if that is more than usual
}

// Tell sets the words for the history's operations.
func (h *History) Tell(w Words) { h.words = w }

// ValueText returns a value as the history's words have it.
func (h *History) ValueText(id edn.ID) string {
	if h.words.Value != nil {
		return h.words.Value(id)
	}
	return h.Values.Text(id)
}

// Call returns what an operation did: ":read 471", ":put "x" 3" for an op with a :key, ":offer 7 → true". It has at most
// maxCall characters, and a few more if there is a key, or an argument before the answer.
func (h *History) Call(op Operation) string { return h.call(op, maxCall, maxAsked) }

func (h *History) call(op Operation, most, asks int) string {
	inv := h.Invocation[op]
	if h.words.Call != nil {
		return text.Middle(text.Line(h.words.Call(op)), most)
	}
	s, asks := h.Values.Text(h.F[inv]), max(asks, h.words.Asked)
	add := func(asked string) {
		s += " " + asked
		most += utf8.RuneCountInString(asked) + 1
	}
	if key := h.Key(inv); key != edn.Nil {
		add(text.Shorten(h.Values.Text(key), asks))
	}
	value := h.OpValue(op)
	if h.AnswersTo(op) {
		add(text.Shorten(h.ValueText(h.Value[inv]), asks) + " →")
	}
	if h.words.Asked > 0 && h.AnswersTo(op) { // so that a long request does not take the room of the answer
		return s + " " + text.Middle(h.ValueText(value), most-utf8.RuneCountInString(s)-1)
	}
	if value != edn.Nil || h.AnswersTo(op) {
		s += " " + h.ValueText(value)
	}
	return text.Middle(s, most)
}

// maxAsked bounds the text of a key or an argument before an answer, in pictures.
const maxAsked = 16

// AnswersTo says whether an operation succeeded with an answer that does not show what was asked: neither does it repeat the
// argument, nor fill in what is nil in it, nor have it in front, as [n new] has n.
func (h *History) AnswersTo(op Operation) bool {
	given, value := h.Value[h.Invocation[op]], h.OpValue(op)
	return given != edn.Nil && h.Status[op] == Succeeded && !h.shows(value, given)
}

// shows says whether a value shows another one: it is equal to it, is that with nils filled in, or begins with it.
func (h *History) shows(value, given edn.ID) bool {
	v := h.Values
	if given == edn.Nil || v.Same(value) == v.Same(given) {
		return true
	}
	items, parts := v.Items(value), v.Items(given)
	if v.Kind(value) == edn.KindMap && v.Kind(given) == edn.KindMap {
		for ; len(parts) > 0; parts = parts[2:] {
			if x, there := v.Get(value, parts[0]); !there || !h.shows(x, parts[1]) {
				return false
			}
		}
		return true
	}
	switch {
	case v.Kind(value) != v.Kind(given):
		return len(items) > 0 && v.Same(items[0]) == v.Same(given)
	case len(parts) == 0 || len(items) != len(parts):
		return false
	}
	for i := range parts {
		if !h.shows(items[i], parts[i]) {
			return false
		}
	}
	return true
}

// EventMap returns the op map of an event with all its keys. As Knossos does, it adds an
// :index if there is none, and a nil :value.
func (h *History) EventMap(event Event) edn.Value {
	return h.opMap(event, h.Value[event])
}

// KeyedEventMap is EventMap of a key's history with [key value] for the value.
func (h *History) KeyedEventMap(event Event, key edn.Value) edn.Value {
	return h.opMap(event, h.Values.InternVector([]edn.ID{key.ID(), h.Value[event]}))
}

// OperationMap returns an operation's invocation, as Knossos shows pending operations. If
// the operation succeeded, it has the returned value.
func (h *History) OperationMap(op Operation) edn.Value {
	return h.opMap(h.Invocation[op], h.OpValue(op))
}

// Extra returns a function that returns the value of another key of an event's op map, such as :revision, or false if
// the op map does not have it. The key is given without its colon. The function is for one goroutine.
func (h *History) Extra(key string) func(event Event) (edn.Value, bool) {
	whole, v := h, h.Values
	if h.whole != nil {
		whole = h.whole
	}
	find, word := whole.texts.Finder(":"+key), v.InternKeyword(key)
	return func(event Event) (edn.Value, bool) {
		value, text := find.Value(int(h.InWhole(event)))
		if len(value) > 0 {
			id, err := v.ParseLenient(value)
			return v.Value(id), err == nil
		}
		if len(text) == 0 {
			return edn.Value{}, false
		}
		id, err := v.ParseLenient(text)
		if err != nil {
			return edn.Value{}, false
		}
		id, found := v.Get(id, word)
		return v.Value(id), found
	}
}

// Times returns a function that returns the :time of an event, in nanoseconds, as Extra does. It is fast, and adds nothing
// to the history's Values if times are plain integers.
func (h *History) Times() func(event Event) (ns int64, known bool) {
	whole := h
	if h.whole != nil {
		whole = h.whole
	}
	find, extra := whole.texts.Finder(":time"), h.Extra("time")
	return func(event Event) (int64, bool) {
		i := int(h.InWhole(event))
		if ns, is := find.Number(i); is {
			return ns, true
		}
		value, _ := find.Value(i)
		if ns, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			return ns, true
		}
		x, found := extra(event)
		ns, isInt := x.Int()
		return ns, found && isInt
	}
}

// OpPrinter prints op maps as EventMap and OperationMap return them, one after another,
// without adding to the history's Values.
type OpPrinter struct {
	h       *History
	printer *opmap.Printer
	types   [4]edn.ID
}

// OpPrinter returns a printer of the history's op maps.
func (h *History) OpPrinter() *OpPrinter {
	whole := h
	if h.whole != nil {
		whole = h.whole
	}
	p := &OpPrinter{h: h, printer: whole.texts.NewPrinter(h.Values)}
	for t := Invoke; t <= Info; t++ {
		p.types[t] = h.Values.InternKeyword(t.Name())
	}
	return p
}

// AppendEvent appends the text of an event's op map.
func (p *OpPrinter) AppendEvent(dst []byte, event Event) []byte {
	return p.append(dst, event, p.h.Value[event])
}

// AppendOperation appends the text of an operation's op map.
func (p *OpPrinter) AppendOperation(dst []byte, op Operation) []byte {
	return p.append(dst, p.h.Invocation[op], p.h.OpValue(op))
}

func (p *OpPrinter) append(dst []byte, event Event, value edn.ID) []byte {
	h := p.h
	return p.printer.Append(dst, int(h.InWhole(event)), h.opEvent(event, p.types[h.Type[event]], value))
}

func (h *History) opMap(event Event, value edn.ID) edn.Value {
	return h.Values.Value(opmap.Shown(h.Values, h.written(event), h.Index(event), value))
}

// written returns the keys and values of an op as they stand in its file.
func (h *History) written(event Event) []edn.ID {
	v := h.Values
	if text := h.text(event); len(text) > 0 {
		if id, err := v.ParseLenient(text); err == nil {
			return append([]edn.ID(nil), v.Items(id)...)
		}
	}
	process := h.Processes[h.Process[event]]
	if n, isInt := v.Int(process); isInt {
		process = v.InternInt(n) // its class may stand for another spelling
	}
	kvs := []edn.ID{
		v.InternKeyword("process"), process,
		v.InternKeyword("type"), v.InternKeyword(h.Type[event].Name()),
		v.InternKeyword("f"), h.F[event],
	}
	if key := h.Key(event); key != edn.Nil {
		kvs = v.Put(kvs, "key", key)
	}
	return kvs
}

// text returns the op of an event as it stands in its file, or another text that prints the
// same once it is read. It is empty if the event was not read from an op map.
func (h *History) text(event Event) []byte {
	if h.whole != nil {
		return h.whole.text(h.wholeEvent[event])
	}
	return h.texts.Text(int(event), h.Values, h.opEvent(event, h.Values.InternKeyword(h.Type[event].Name()), h.Value[event]))
}

// opEvent returns an event as it may have been read, with the keyword of its type.
func (h *History) opEvent(event Event, typ, value edn.ID) *opmap.Event {
	return &opmap.Event{Type: typ, Process: h.Processes[h.Process[event]], F: h.F[event], Value: value, Key: h.Key(event), Index: h.Index(event)}
}

// WriteEDN writes the operations of a history, such as that of an independent key, so that
// they can be read somewhere else. It writes the op maps of their events in order, one to a
// line. The history read from that has the same verdict, failing operation and indices. It
// lacks the skipped events, and has lines of its own. If not all clients are integers, read
// it with AllClients again. It is an error if a process has several operations open at
// once. It is also one if a value is not EDN, as some JSON values are not. Linear time.
func (h *History) WriteEDN(w io.Writer) error {
	if h == nil || h.Values == nil {
		return ErrNoHistory
	}
	out, ops := bufio.NewWriter(w), h.OpPrinter()
	open := make([]bool, len(h.Processes)) // by process
	var line []byte
	for e := range Event(len(h.Type)) {
		op, process := h.OpOf[e], h.Process[e]
		switch {
		case h.Type[e] != Invoke:
			open[process] = false
		case open[process]:
			return h.Errorf(e, "process %s has another operation open, and op maps identify operations by their processes", h.ProcessName(op))
		default:
			open[process] = true
		}
		line = ops.AppendEvent(line[:0], e)
		if bytes.IndexByte(line, ';') >= 0 && !isOneMap(line) {
			return h.Errorf(e, "process %s's %s has a value that is not EDN", h.ProcessName(op), h.Values.Text(h.F[e]))
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

func isOneMap(text []byte) bool {
	v := edn.NewValues()
	id, err := v.ParseLenient(text)
	return err == nil && v.Kind(id) == edn.KindMap
}
