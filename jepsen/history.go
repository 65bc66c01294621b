package jepsen

import (
	"errors"
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/opmap"
)

// Event numbers the events of a history: a row of its event columns, which is the time.
type Event int32

// Operation numbers the operations of a history: a row of its operation columns.
type Operation int32

// None stands for an Event or an Operation that does not exist.
const None = -1

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

// Name returns the type without its colon.
func (t Type) Name() string { return t.String()[1:] }

// Status says how an operation ended.
type Status uint8

// The ways in which an operation ends. Crashed stands for :info and for no completion at
// all: the operation may take effect at any time after its invocation, or never.
const (
	Succeeded Status = iota
	Failed
	Crashed
)

func (s Status) String() string { return [...]string{"succeeded", "failed", "crashed"}[s] }

// History is one Jepsen history. Event columns hold a row for every event of a client; the
// row number is the time. Operation columns hold a row for every invocation, in that order.
type History struct {
	File   string // the file it was read from, "" if it was built
	Object string // the kind of object that its text names, such as "queue"; "" if it does not name one
	SHA256 string // of everything that was read, compressed if it was, in hexadecimal digits; "" unless Options.Fingerprint asked for it
	Values *edn.Values

	// Events.
	Type    []Type
	Process []int32 // an index into Processes
	F       []edn.ID
	Value   []edn.ID    // as written; compare by Values.Same
	OpOf    []Operation // the operation that the event belongs to

	// Only in a whole history.
	places places
	// By operation, where its events stand, if operations were given by the times of their
	// calls and returns. The places then hold their :index.
	lines, cols []int32
	keys        []edn.ID // the :key of the op; shorter if the last ones have none
	texts       opmap.Texts
	nulls       []Event // see NullOutputs; only in a whole history

	skipped []SkippedEvent // the first of them; only in a whole history

	words Words // how its operations are told

	built bool // by a program, or from a file that is not text: events have no lines

	// Only in the history of a key: the whole history, and for each event its event there.
	whole      *History
	wholeEvent []Event

	// Operations.
	Invocation []Event
	Completion []Event // or None
	Status     []Status

	Processes        []edn.ID          // the names of the client processes: integers, unless all are clients
	Events           int               // op maps in the file, including those of other processes
	Skipped          int               // events of processes that are not clients
	SkippedClientOps []SkippedClientOp // the first of each :f among events of processes that are not clients, except :nemesis
	Misread          []Misread         // the first events of each kind that may have their value under another key
	Warnings         []string
	record           *Record // nil if there is nothing to tell; only in a whole history
}

// Record is what is told of the text of a history as a whole.
type Record struct {
	Init   string   // the initial value that it names, as EDN, as that of a core does; "" if it names none
	Damage []string // those of the warnings that say that events are missing, or that what lies beside it contradicts it
	// Lacks says which indices are missing where most of those from 0 on are there, or "". They may have been left out on
	// purpose unless Damage has the same sentence.
	Lacks string
}

// Record returns what is told of the text.
func (h *History) Record() Record {
	if h.record == nil {
		return Record{}
	}
	return *h.record
}

// noted returns the record, to be added to.
func (h *History) noted() *Record {
	if h.record == nil {
		h.record = &Record{}
	}
	return h.record
}

// Damaged adds a warning that events are missing, or that what lies beside the history contradicts it.
func (h *History) Damaged(why string) {
	h.Warnings = append(h.Warnings, why)
	h.noted().Damage = append(h.noted().Damage, why)
}

// CutOffError is the error of a text that ends within an event, such as a file whose writer was killed. What came before it may
// already fail for certain, whatever followed.
type CutOffError struct {
	Before *History // the events before it; operations that have not returned are crashed
	Err    error    // an *edn.Error
}

// Error returns the text of the error that it wraps.
func (e *CutOffError) Error() string { return e.Err.Error() }

// Unwrap returns that error.
func (e *CutOffError) Unwrap() error { return e.Err }

// Shown returns the events before the end, with a warning that they are not all.
func (e *CutOffError) Shown() *History {
	e.Before.Damaged("the history is cut off, and only what came before its end counts: " + e.Error())
	return e.Before
}

// WarnFirst adds a warning in front of all others. It may be one of those that Damaged adds.
func (h *History) WarnFirst(why string, damaged bool) {
	h.Warnings = append([]string{why}, h.Warnings...)
	if damaged {
		h.noted().Damage = append([]string{why}, h.noted().Damage...)
	}
}

// Initially says that the text names an initial value, as EDN.
func (h *History) Initially(value string) {
	if value != "" || h.record != nil {
		h.noted().Init = value
	}
}

// Operations returns the number of operations.
func (h *History) Operations() int { return len(h.Invocation) }

// CrashedCount returns the number of crashed operations.
func (h *History) CrashedCount() int {
	n := 0
	for _, s := range h.Status {
		if s == Crashed {
			n++
		}
	}
	return n
}

// Crashing returns the history in which some operations that succeeded or failed crashed instead, so that their answers
// are not known. It shares everything else with h.
func (h *History) Crashing(ops ...Operation) *History {
	crashed := *h
	crashed.Type, crashed.Status = slices.Clone(h.Type), slices.Clone(h.Status)
	for _, op := range ops {
		crashed.Type[h.Completion[op]], crashed.Status[op] = Info, Crashed
	}
	return &crashed
}

// OpValue returns the value that counts for an operation: the completion's if it succeeded,
// the invocation's otherwise.
func (h *History) OpValue(op Operation) edn.ID {
	if h.Status[op] == Succeeded {
		return h.Value[h.Completion[op]]
	}
	return h.Value[h.Invocation[op]]
}

// Key returns the :key of an event's op, nil if it has none.
func (h *History) Key(event Event) edn.ID {
	if h.whole != nil {
		return h.whole.Key(h.wholeEvent[event])
	}
	if int(event) < len(h.keys) {
		return h.keys[event]
	}
	return edn.Nil
}

// HasKeys says whether some event has a :key.
func (h *History) HasKeys() bool {
	return len(h.keys) > 0 || h.whole != nil && len(h.whole.keys) > 0
}

// setKey sets the :key of an event. The keys of earlier events must be set already.
func (h *History) setKey(event Event, key edn.ID) {
	if key == edn.Nil {
		return
	}
	for len(h.keys) < int(event) {
		h.keys = append(h.keys, edn.Nil)
	}
	h.keys = append(h.keys, key)
}

// InWhole turns an event of a key's history into the same event of the whole history.
func (h *History) InWhole(event Event) Event {
	if h.whole == nil {
		return event
	}
	return h.wholeEvent[event]
}

// Whole returns the whole history of which this is that of a key, or else the history itself.
func (h *History) Whole() *History {
	if h.whole == nil {
		return h
	}
	return h.whole
}

// WholeOperation turns an operation of a key's history into the same one of the whole
// history.
func (h *History) WholeOperation(op Operation) Operation {
	if h.whole == nil {
		return op
	}
	return h.whole.OpOf[h.wholeEvent[h.Invocation[op]]]
}

// Index returns the :index of an event's op, or its position in the file if it has none.
func (h *History) Index(event Event) int64 { return h.place(event).index }

// EventAt returns the first event with an :index, None if there is none. If the index is
// that of a skipped event, it returns the next event of a client, or else the last. Linear
// time.
func (h *History) EventAt(index int64) Event {
	for e := range Event(len(h.Type)) {
		if h.Index(e) == index {
			return e
		}
	}
	for _, s := range h.SkippedEvents() {
		if s.Index == index {
			return min(s.Before, Event(len(h.Type)-1))
		}
	}
	return None
}

func (h *History) place(event Event) run {
	if h.whole != nil {
		return h.whole.place(h.wholeEvent[event])
	}
	at := h.places.at(event)
	if h.lines != nil {
		op := h.OpOf[event]
		at.line, at.col = h.lines[op], 1
		if h.cols != nil {
			at.col = h.cols[op]
		}
	}
	return at
}

// Line returns the line where an event's op begins in the file, from 1. It returns 0 if the
// history was built, or if the file has no lines.
func (h *History) Line(event Event) int { return h.pos(event).Line }

// Col returns the column where an event's op begins, from 1, or 0 as Line does.
func (h *History) Col(event Event) int { return h.pos(event).Col }

func (h *History) pos(event Event) edn.Pos {
	if h.built {
		return edn.Pos{File: h.File}
	}
	at := h.place(event)
	return edn.Pos{File: h.File, Line: int(at.line), Col: int(at.col)}
}

// Where names an event for an error message about it.
func (h *History) Where(event Event) string {
	if h.built {
		return fmt.Sprintf("index %d", h.Index(event))
	}
	return fmt.Sprintf("index %d, line %d", h.Index(event), h.Line(event))
}

// Errorf returns an error about an event, an *edn.Error.
func (h *History) Errorf(event Event, format string, args ...any) error {
	return h.pos(event).Errorf(format, args...)
}

// ErrNoHistory is the error of functions that are given nil or the zero History.
var ErrNoHistory = errors.New("no history was given: read or build one")
