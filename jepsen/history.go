package jepsen

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"clew/edn"
	"clew/edn/opmap"
)

// Type is the type of an event.
type Type uint8

// The types of events.
const (
	Invoke Type = iota
	OK
	Fail
	Info
)

func (t Type) String() string { return [...]string{":invoke", ":ok", ":fail", ":info"}[t] }

// Status says how an operation ended.
type Status uint8

// The ways in which an operation ends. Crashed stands for :info and for no
// completion at all: the operation may take effect at any time after its
// invocation, or never.
const (
	Succeeded Status = iota
	Failed
	Crashed
)

// None stands for an event or operation that does not exist.
const None int32 = -1

// History is one Jepsen history. Event columns hold a row for every event of a
// client; the row number is the time. Operation columns hold a row for every
// invocation, in that order.
type History struct {
	File   string // the file it was read from
	Model  string // what its text says that it is a history of, "" if it does not
	Values *edn.Values

	// Events.
	Type    []Type
	Process []int32 // an index into Processes
	F       []edn.ID
	Value   []edn.ID // as written; compare by Values.Same
	OpOf    []int32  // the operation that the event belongs to
	places  places
	keys    []edn.ID // the :key of the op; shorter where the last ones have none
	texts   opmap.Texts

	// Of a key's history: the whole one, and by event its event there.
	whole      *History
	wholeEvent []int32

	// Operations.
	Invocation []int32 // event
	Completion []int32 // event, or None
	Status     []Status

	Processes []edn.ID // the integers that name the client processes
	Events    int      // op maps in the file, those of other processes included
	Skipped   int      // events of processes that are no integers
	Warnings  []string
}

// Operations is the number of operations.
func (h *History) Operations() int { return len(h.Invocation) }

// CrashedCount is the number of crashed operations.
func (h *History) CrashedCount() int {
	n := 0
	for _, s := range h.Status {
		if s == Crashed {
			n++
		}
	}
	return n
}

// OpValue is the value that counts for an operation: the completion's if it
// succeeded, the invocation's otherwise.
func (h *History) OpValue(op int32) edn.ID {
	if h.Status[op] == Succeeded {
		return h.Value[h.Completion[op]]
	}
	return h.Value[h.Invocation[op]]
}

// Key is the :key of an event's op, nil where it has none.
func (h *History) Key(event int32) edn.ID {
	if int(event) < len(h.keys) {
		return h.keys[event]
	}
	return edn.Nil
}

// setKey sets the :key of an event. That of those before has been set.
func (h *History) setKey(event int32, key edn.ID) {
	if key == edn.Nil {
		return
	}
	for len(h.keys) < int(event) {
		h.keys = append(h.keys, edn.Nil)
	}
	h.keys = append(h.keys, key)
}

// Where names an event for an error message about it.
func (h *History) Where(event int32) string {
	return fmt.Sprintf("index %d, line %d", h.Index(event), h.Line(event))
}

// Error is a history that makes no sense, or an op that a model cannot read.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

func (e *Error) Error() string {
	if e.File == "" {
		return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Errorf is an error about an event.
func (h *History) Errorf(event int32, format string, args ...any) error {
	return &Error{h.File, h.Line(event), h.Col(event), fmt.Sprintf(format, args...)}
}

// Options says how a history is paired.
type Options struct {
	// AnyFailedF accepts a :fail whose :f differs from its invocation's, as
	// Knossos does: both events are dropped anyway.
	AnyFailedF bool
}

// builder turns events into a History, pairing them as they come.
type builder struct {
	h          *History
	opts       Options
	types      [4]edn.ID       // the keywords of the types
	dense      []int32         // by process integer: 1 + its row of Processes, 0 if it has none
	bytes      int64           // the length of the input, 0 if unknown
	open       []int32         // by process: its open operation, or None
	last       []int32         // by process: its last completed operation, or None
	indices    map[int64]int64 // index -> position, only once they do not ascend
	lastIndex  int64
	noIndex    int64 // events without a usable :index
	firstNo    int64 // position of the first of them
	duplicates int
	warned     int
}

func newBuilder(name string, values *edn.Values, opts Options) *builder {
	b := &builder{
		h:         &History{File: name, Values: values},
		opts:      opts,
		lastIndex: math.MinInt64,
	}
	for t := Invoke; t <= Info; t++ {
		b.types[t] = values.InternKeyword(t.String()[1:])
	}
	return b
}

// maxWarnings bounds what one history can say; the rest is counted.
const maxWarnings = 10

func (b *builder) warn(format string, args ...any) {
	b.warned++
	if b.warned <= maxWarnings {
		b.h.Warnings = append(b.h.Warnings, fmt.Sprintf(format, args...))
	}
}

// add takes the next event of the file.
func (b *builder) add(e *opmap.Event) error {
	h := b.h
	position := int64(h.Events)
	h.Events++
	if h.Events == math.MaxInt32 {
		return &Error{h.File, e.Line, e.Col, "more events than clew can number (2^31)"}
	}
	if err := isOp(h.File, e); err != nil {
		return err
	}
	if k := h.Values.Kind(e.Process); k != edn.KindInt {
		h.Skipped++
		return nil
	}
	t, err := b.typeOf(e)
	if err != nil {
		return err
	}
	ev := int32(len(h.Type))
	if len(h.Type) == cap(h.Type) {
		b.reserve(e.End)
	}
	h.Type = append(h.Type, t)
	h.Process = append(h.Process, b.process(h.Values.Same(e.Process)))
	h.F = append(h.F, h.Values.Same(e.F))
	h.Value = append(h.Value, e.Value)
	h.OpOf = append(h.OpOf, None)
	h.places.add(b.index(e, position), int32(e.Line), int32(e.Col))
	h.setKey(ev, e.Key)
	h.texts.Add(e)
	return b.pair(ev)
}

// reserve makes room for more events: for as many as the rest of the input holds
// if they are as long as those before, or as many again. Reallocation would cost
// more time than all else here, and touch several times the memory.
func (b *builder) reserve(read int64) {
	h, n := b.h, len(b.h.Type)
	more := max(n, 512)
	if left := b.bytes - read; n >= 512 && read > 0 && left > 0 {
		more = min(int(float64(n)*float64(left)/float64(read)*1.02)+64, 64*n)
	}
	h.Type = slices.Grow(h.Type, more)
	h.Process = slices.Grow(h.Process, more)
	h.F = slices.Grow(h.F, more)
	h.Value = slices.Grow(h.Value, more)
	h.OpOf = slices.Grow(h.OpOf, more)
	h.Invocation = slices.Grow(h.Invocation, more/2)
	h.Completion = slices.Grow(h.Completion, more/2)
	h.Status = slices.Grow(h.Status, more/2)
}

// isOp is an error for a map that is no op.
func isOp(file string, e *opmap.Event) error {
	if e.Has&(opmap.HasProcess|opmap.HasType|opmap.HasF) == 0 {
		return &Error{file, e.Line, e.Col, "the map is no op: it has no :process, :type and :f"}
	}
	return nil
}

func (b *builder) typeOf(e *opmap.Event) (Type, error) {
	for t, id := range b.types {
		if e.Type == id {
			return Type(t), nil
		}
	}
	found := "has no :type"
	if e.Has&opmap.HasType != 0 {
		found = "has :type " + b.h.Values.Text(e.Type)
	}
	return 0, &Error{b.h.File, e.Line, e.Col, "the op " + found + "; expected :invoke, :ok, :fail or :info"}
}

// process numbers the client processes in order of appearance.
func (b *builder) process(id edn.ID) int32 {
	if int(id) >= len(b.dense) {
		b.dense = append(b.dense, make([]int32, int(id)+1-len(b.dense))...)
	}
	if b.dense[id] == 0 {
		b.h.Processes = append(b.h.Processes, id)
		b.dense[id] = int32(len(b.h.Processes))
		b.open = append(b.open, None)
		b.last = append(b.last, None)
	}
	return b.dense[id] - 1
}

// index is the op's own :index, else its position. Duplicates are looked for
// in a map only once the indices do not ascend: ordinary histories never do.
func (b *builder) index(e *opmap.Event, position int64) int64 {
	n := e.Index
	if e.Has&opmap.HasIndex == 0 {
		if b.noIndex == 0 {
			b.firstNo = position
		}
		b.noIndex++
		return position
	}
	if b.indices == nil && n <= b.lastIndex {
		b.indices = make(map[int64]int64, 2*len(b.h.OpOf))
		for e := range b.h.places.n {
			old := b.h.Index(e)
			b.indices[old] = old
		}
	}
	if b.indices != nil {
		if _, dup := b.indices[n]; dup {
			b.duplicates++
			if b.duplicates == 1 {
				b.warn("line %d: an earlier event has :index %d too; position counts", e.Line, n)
			}
		}
		b.indices[n] = position
	}
	b.lastIndex = n
	return n
}

// pair finds the operation that event ev begins or ends.
func (b *builder) pair(ev int32) error {
	h, p := b.h, b.h.Process[ev]
	if h.Type[ev] == Invoke {
		if open := b.open[p]; open != None {
			return h.Errorf(ev, "%s (index %d) begins while its %s is still open; expected a completion first",
				b.name(ev), h.Index(ev), b.cite(h.Invocation[open]))
		}
		op := int32(len(h.Invocation))
		h.OpOf[ev] = op
		b.open[p] = op
		h.Invocation = append(h.Invocation, ev)
		h.Completion = append(h.Completion, None)
		h.Status = append(h.Status, Crashed)
		return nil
	}
	op := b.open[p]
	if op == None {
		return b.unpaired(ev)
	}
	if inv := h.Invocation[op]; h.F[inv] != h.F[ev] && !(b.opts.AnyFailedF && h.Type[ev] == Fail) {
		return h.Errorf(ev, "%s (index %d) completes its %s with another :f; expected %s",
			b.name(ev), h.Index(ev), b.cite(inv), h.Values.Text(h.F[inv]))
	}
	h.OpOf[ev] = op
	h.Completion[op] = ev
	h.Status[op] = [...]Status{OK: Succeeded, Fail: Failed, Info: Crashed}[h.Type[ev]]
	b.open[p], b.last[p] = None, op
	return nil
}

// unpaired is a completion whose process has nothing open. Late news of a
// crashed operation tells nothing, except :ok, which contradicts the :info.
func (b *builder) unpaired(ev int32) error {
	h, t := b.h, b.h.Type[ev]
	last := b.last[h.Process[ev]]
	crashed := last != None && h.Status[last] == Crashed
	if t == Info || t == Fail && crashed {
		why := "has no invocation"
		if crashed {
			why = fmt.Sprintf("comes after its own %s", b.cite(h.Completion[last]))
		}
		b.warn("line %d: %s (index %d) %s; ignored", h.Line(ev), b.name(ev), h.Index(ev), why)
		b.dropLast()
		return nil
	}
	switch {
	case crashed:
		return h.Errorf(ev, "%s (index %d) comes after its own %s; expected an invocation",
			b.name(ev), h.Index(ev), b.cite(h.Completion[last]))
	case last != None:
		return h.Errorf(ev, "%s (index %d) has no invocation: the process's last operation was completed by its %s",
			b.name(ev), h.Index(ev), b.cite(h.Completion[last]))
	}
	return h.Errorf(ev, "%s (index %d) has no invocation: it is the first event of its process", b.name(ev), h.Index(ev))
}

// dropLast takes an ignored event out of the columns again.
func (b *builder) dropLast() {
	h, n := b.h, len(b.h.Type)-1
	h.Type, h.Process, h.F, h.Value, h.OpOf = h.Type[:n], h.Process[:n], h.F[:n], h.Value[:n], h.OpOf[:n]
	h.keys = h.keys[:min(n, len(h.keys))]
	h.places.dropLast()
	h.texts.DropLast()
}

// name is an event as errors begin with it: "process 3's :ok :read".
func (b *builder) name(ev int32) string {
	h := b.h
	return fmt.Sprintf("process %s's %s %s", h.Values.Text(h.Processes[h.Process[ev]]), h.Type[ev], h.Values.Text(h.F[ev]))
}

// cite is an earlier event of the same process: ":invoke :write (index 0, line 1)".
func (b *builder) cite(ev int32) string {
	return fmt.Sprintf("%s %s (%s)", b.h.Type[ev], b.h.Values.Text(b.h.F[ev]), b.h.Where(ev))
}

// finish is the History once all events are in.
func (b *builder) finish() *History {
	h := b.h
	if b.noIndex > 0 && b.lastIndex != math.MinInt64 {
		b.warn("events without an integer :index: %d, the first at position %d; their position counts", b.noIndex, b.firstNo)
	}
	if b.duplicates > 1 {
		b.warn("events that repeat an :index: %d", b.duplicates)
	}
	if len(h.Type) == 0 {
		b.warn("no operations of clients (processes that are integers): nothing to check")
	}
	if more := b.warned - maxWarnings; more > 0 {
		h.Warnings = append(h.Warnings, fmt.Sprintf("and %d more warnings", more))
	}
	return h
}

// ErrNoHistory is the error of whoever is given nil, or the zero History.
var ErrNoHistory = errors.New("no history is given: read one, or build one")
