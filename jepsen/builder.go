package jepsen

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/opmap"
	"clew/jepsen/internal/feed"
)

// Options says how a history is paired.
type Options struct {
	// File is the name of the history in errors. Functions that read a file set it.
	File string
	// AnyFailedF accepts a :fail whose :f differs from its invocation's, as Knossos does:
	// neither event counts anyway.
	AnyFailedF bool
	// Memory, if not 0, is roughly how many bytes may be held while a text is read. A text
	// with a form that takes more is not read.
	Memory int64
	// AllClients takes every process but :nemesis for a client. Otherwise clients are
	// integers.
	AllClients bool
	// ClockError is how wrong the times of interval records may be, in their unit. Each
	// operation may have been called that much earlier and have returned that much later.
	ClockError int64
	// Fingerprint asks for the fingerprint of the text. It takes about a second for 1.5 GB.
	Fingerprint bool
}

// Builder makes a History from events, and pairs them by process as they come. A process
// has at most one operation open at a time.
//
// Programs call Invoke, OK, Fail and Info, in the order in which the events happened. A
// Builder is for one goroutine at a time: clients that run side by side share a mutex, which
// also puts their events in order. The name of an :f may begin with its colon.
// Values are plain Go, as edn.Values.From takes them. As in Jepsen, the value of an OK is
// the one that counts, so the OK of a write carries the value that was written. If an event
// makes no sense, History returns an error about the first such event, and later events are
// ignored.
//
// Readers of text add events in another way, by package jepsen/internal/feed.
type Builder struct {
	h      *History
	opts   Options
	err    error // about the first event that makes no sense
	done   bool  // the history has been handed out
	forgot bool  // some operations were forgotten

	types      [4]edn.ID // the keywords of the types
	fs         map[string]edn.ID
	dense      []int32         // by process integer: 1 + its row of Processes, 0 if it has none
	bytes      int64           // the length of the input, 0 if unknown
	open       []Operation     // by process: its open operation, or None
	timed      []Operation     // by number, of operations with times
	last       []Operation     // by process: its last completed operation, or None
	indices    map[int64]int64 // index -> position, only once they do not ascend
	lastIndex  int64
	noIndex    int64 // events without a usable :index
	firstNo    int64 // position of the first of them
	duplicates int
	descents   int // events with a smaller :index than the one before
	warned     int

	nemesis     edn.ID          // the keyword
	notClients  int             // events of processes other than clients and the nemesis
	skippedFs   map[edn.ID]bool // their :f's
	misread     []Misread       // those of the history, and those that are only warned about
	lost        edn.Pos         // the first completion without an invocation
	lastSkipped SkippedEvent
}

// NewBuilder returns a Builder that has no events yet.
func NewBuilder(o Options) *Builder {
	b := &Builder{
		h:         &History{File: o.File, Values: edn.NewValues()},
		opts:      o,
		fs:        map[string]edn.ID{},
		lastIndex: math.MinInt64,
		skippedFs: map[edn.ID]bool{},
	}
	b.nemesis = b.h.Values.InternKeyword("nemesis")
	for t := Invoke; t <= Info; t++ {
		b.types[t] = b.h.Values.InternKeyword(t.Name())
	}
	return b
}

// Values returns the table that holds the history's values.
func (b *Builder) Values() *edn.Values {
	if b == nil || b.h == nil {
		return nil
	}
	return b.h.Values
}

// Invoke begins an operation: process calls f ("write") with value.
func (b *Builder) Invoke(process int, f string, value any, with ...Extra) {
	b.event(Invoke, process, f, value, with)
}

// OK says that the open operation of a process succeeded, and with which value.
func (b *Builder) OK(process int, f string, value any, with ...Extra) {
	b.event(OK, process, f, value, with)
}

// Fail says that the open operation of a process did not happen.
func (b *Builder) Fail(process int, f string, value any, with ...Extra) {
	b.event(Fail, process, f, value, with)
}

// Info says that it is not known what became of the open operation of a process. It may
// happen at any time from its invocation on, or never. The same is true of an operation
// that gets no completion at all.
func (b *Builder) Info(process int, f string, value any, with ...Extra) {
	b.event(Info, process, f, value, with)
}

// Extra is one more key of an event. See With.
type Extra struct {
	key   string
	value any
}

// With gives an event another key. It may be "index" (an event without it gets its position
// as its index), "key", which some models read, or any other key. Other keys are only
// shown.
func With(key string, value any) Extra { return Extra{key, value} }

// ErrNoBuilder is the error of a Builder that was not made by NewBuilder.
var ErrNoBuilder = errors.New("a nil or zero Builder; NewBuilder makes one that builds a history")

// errDone is the error of a Builder that has handed out its history.
var errDone = errors.New("an event came after History; expected it before, since a history never changes")

// History returns the history of all events, or an *edn.Error about the first
// event that makes no sense. After that, the Builder takes no more events.
func (b *Builder) History() (*History, error) {
	switch {
	case b == nil || b.h == nil:
		return nil, ErrNoBuilder
	case b.err != nil:
		return nil, b.err
	case !b.done:
		b.done = true
		if b.err = b.clients(); b.err != nil {
			return nil, b.err
		}
		b.finish()
	}
	return b.h, nil
}

// SoFar returns the history of the events so far; operations that have not returned are
// crashed. It is valid only until the next event; History ends it.
func (b *Builder) SoFar() (*History, error) {
	switch {
	case b == nil || b.h == nil:
		return nil, ErrNoBuilder
	case b.err != nil:
		return nil, b.err
	}
	return b.h, nil
}

// event takes an event in plain Go.
func (b *Builder) event(t Type, process int, f string, value any, with []Extra) {
	if b == nil || b.h == nil || b.err != nil {
		return
	}
	b.h.built = true
	e, err := b.plain(process, f, value, with)
	if err != nil {
		b.err = b.at(nil).Errorf("event %d, process %d's %s %q: %v", b.h.Events, process, t, f, err)
		return
	}
	e.Type = b.types[t]
	if len(with) > 0 {
		e.Text = b.text(e, with)
	}
	feeder{b}.Add(e, feed.ByProcess)
}

// plain returns an event without its type.
func (b *Builder) plain(process int, f string, value any, with []Extra) (*opmap.Event, error) {
	v := b.h.Values
	e := &opmap.Event{Has: opmap.HasProcess | opmap.HasType | opmap.HasF | opmap.HasValue, Line: b.h.Events + 1}
	e.Process = v.InternInt(int64(process))
	var err error
	if e.F, err = b.f(f); err != nil {
		return nil, err
	}
	x, err := v.From(value)
	if err != nil {
		return nil, err
	}
	e.Value = x.ID()
	for _, extra := range with {
		x, err := v.From(extra.value)
		switch key := extra.key; {
		case err != nil:
			return nil, fmt.Errorf("its :%s: %w", key, err)
		case key == "process" || key == "type" || key == "f" || key == "value":
			return nil, fmt.Errorf("expected another key, found :%s", key)
		case key == "key":
			e.Key, e.Has = x.ID(), e.Has|opmap.HasKey
		case key == "index":
			n, isInt := x.Int()
			if !isInt {
				return nil, fmt.Errorf("expected an integer for its :index, found %s", x)
			}
			e.Index, e.Has = n, e.Has|opmap.HasIndex
		}
	}
	return e, nil
}

// f returns the keyword of an :f. The name may begin with its colon.
func (b *Builder) f(name string) (edn.ID, error) {
	if id, known := b.fs[name]; known {
		return id, nil
	}
	v := b.h.Values
	word := strings.TrimPrefix(name, ":")
	id, err := v.Parse([]byte(":"+word), edn.Pos{})
	if err != nil || v.Kind(id) != edn.KindKeyword || v.Str(id) != word {
		return edn.Nil, errors.New(`expected an :f such as "write"`)
	}
	b.fs[name] = id
	return id, nil
}

// text returns the op map of an event with other keys.
func (b *Builder) text(e *opmap.Event, with []Extra) []byte {
	v := b.h.Values
	kvs := []edn.ID{v.InternKeyword("process"), e.Process, v.InternKeyword("type"), e.Type,
		v.InternKeyword("f"), e.F, v.InternKeyword("value"), e.Value}
	for _, extra := range with {
		if x, err := v.From(extra.value); err == nil { // plain has checked it
			kvs = v.Put(kvs, extra.key, x.ID())
		}
	}
	return v.AppendMap(nil, kvs)
}

func init() { feed.Of = func(b any) feed.Feed { return feeder{b.(*Builder)} } }

// feeder implements feed.Feed for a Builder.
type feeder struct{ *Builder }

func (f feeder) Add(e *opmap.Event, op int32) error {
	if op != feed.ByProcess {
		f.opts.AllClients = true
	}
	if f.done {
		f.err = errDone
	}
	if f.err == nil {
		f.err = f.add(e, op)
	}
	return f.err
}

func (f feeder) Expect(bytes int64)              { f.bytes = bytes }
func (f feeder) NoLines()                        { f.h.built = true }
func (f feeder) SetObject(word string)           { f.h.Object = word }
func (f feeder) SetInit(value string)            { f.h.Initially(value) }
func (f feeder) Warn(format string, args ...any) { f.warn(format, args...) }
func (f feeder) Warnings() []string              { return f.h.Warnings }

// maxWarnings bounds the warnings of one history; further ones are only counted.
const maxWarnings = 10

func (b *Builder) warn(format string, args ...any) {
	b.warned++
	if b.warned <= maxWarnings {
		b.h.Warnings = append(b.h.Warnings, fmt.Sprintf(format, args...))
	}
}

// damage warns that events are missing.
func (b *Builder) damage(why string) {
	b.warn("%s", why)
	b.h.noted().Damage = append(b.h.noted().Damage, why)
}

// at returns the place where an event begins in the text. Events that a program makes have
// no place.
func (b *Builder) at(e *opmap.Event) edn.Pos {
	if b.h.built {
		return edn.Pos{File: b.h.File}
	}
	return edn.Pos{File: b.h.File, Line: e.Line, Col: e.Col}
}

// line returns the beginning of a warning about an event.
func (b *Builder) line(n int) string {
	if b.h.built {
		return ""
	}
	return fmt.Sprintf("line %d: ", n)
}

func (b *Builder) add(e *opmap.Event, op int32) error {
	h := b.h
	position := int64(h.Events)
	h.Events++
	h.Values.Settle()
	if len(h.Type) == math.MaxInt32 {
		return b.at(e).Errorf("more events than clew can number (2^31)")
	}
	if err := opmap.Check(h.File, e); err != nil {
		return err
	}
	if h.Values.Kind(e.Process) != edn.KindInt {
		if client, err := b.isClient(e, position); !client {
			return err
		}
	}
	t, err := b.typeOf(e)
	if err != nil {
		return err
	}
	if noF := e.Has&opmap.HasF == 0; (noF || e.F == edn.Nil) && !b.isTxn(t, e) && noF {
		if other := b.otherName(e, "f"); other != "" {
			return b.at(e).Errorf("the op has%s no :f; expected the :f that says what it does, such as :read", other)
		}
	}
	if e.Misnamed != nil {
		b.misnamed(t, e, position)
	}
	ev := b.push(t, e, position, op != feed.ByProcess)
	if op != feed.ByProcess {
		b.pairTimed(ev, op, e)
		return nil
	}
	return b.pair(ev)
}

func (b *Builder) typeOf(e *opmap.Event) (Type, error) {
	for t, id := range b.types {
		if e.Type == id {
			return Type(t), nil
		}
	}
	found, instead := "has"+b.otherName(e, "type")+" no :type", ""
	if e.Has&opmap.HasType != 0 {
		found = "has :type " + b.h.Values.Text(e.Type)
		if strings.HasPrefix(found, "has :type ::") {
			instead = "; in JSON they are written without the colon"
		}
	} else if keys := e.Keys(); slices.Contains(keys, ":start") && slices.Contains(keys, ":end") {
		instead = `, or an interval record with "call" and "return" instead of :start and :end`
	}
	return 0, b.at(e).Errorf("the op %s; expected :invoke, :ok, :fail or :info%s", found, instead)
}

// finish adds the warnings that only the whole history can give.
func (b *Builder) finish() {
	h := b.h
	if b.noIndex > 0 && b.lastIndex != math.MinInt64 {
		b.warn("events without an integer :index: %d, the first at position %d; their position counts", b.noIndex, b.firstNo)
	}
	if b.duplicates > 1 {
		b.warn("events that repeat an :index: %d", b.duplicates)
	}
	if b.descents > 1 {
		b.warn("events with a smaller :index than the one before: %d", b.descents)
	}
	b.gap()
	if more := b.warned - maxWarnings; more > 0 {
		h.Warnings = append(h.Warnings, fmt.Sprintf("and %d more warnings", more))
	}
}
