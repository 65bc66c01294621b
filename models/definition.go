package models

import (
	"context"
	"errors"
	"fmt"

	"clew/edn"
	"clew/jepsen"
)

// Definition is everything that is known about a model: a row of the registry,
// or a model of the caller's own (see Own).
type Definition struct {
	Name  string // its name, as in Spec.Name
	Fs    string // the :f's that it knows, for messages: ":read, :write"
	About string // what it is, in a few words, for lists

	// Called lists other names that users may give when they mean this model. The model is
	// not found by them.
	Called []string

	// Params are the parameters that it takes besides ParamInit and ParamSemantics.
	Params []Param
	// NoInit says why it takes no initial value, such as "it starts free"; "" if it takes
	// one.
	NoInit string
	// Default is the initial value without ParamInit, as EDN; "" if it is not known or the
	// model takes none.
	Default string

	// Record is the name of the record that its states print as, such as
	// "knossos.model.Register". It also shows which model another checker's result is
	// about.
	Record string
	// Object is its name in the text forms of other monitors, "" if they do not know it.
	Object string
	// ObjectInit is the initial value, as EDN, where a text form names the object; "" if
	// that is the model's own initial value.
	ObjectInit string
	// Notes add to Fs where a model is described.
	Notes string
	// Verbs say as participles what an :f does to a value: ":enqueue" is "enqueued". They
	// are for models whose values are put in and taken out.
	Verbs map[string]string
	// Label, unless it is nil, returns what pictures say of an operation; "" leaves the
	// usual words. It is called for operations that are shown, and depends on the operation
	// alone. One that failed has the Status of a crashed one.
	Label func(ctx context.Context, o Operation) (string, error)
	// Words, unless it is nil, returns how sentences tell the operations of a history that the spec reads.
	Words func(s Spec, h *jepsen.History) jepsen.Words
	// Repeating are the :f's, without the colon, whose completions have nothing to tell. A
	// completion with another value than its invocation is worth a warning.
	Repeating []string
	// NilOutputs are the :f's, without the colon, that may return nil. An interval record of one that has a value, and
	// null for its output, is an error. So it is for every :f of a model outside the registry.
	NilOutputs []string
	// Untold says what ParamAnswers leaves unchecked if it is AnswersEcho.
	Untold string
	// Warn, unless it is nil, warns of operations that may not mean what they seem to where the
	// spec reads the history. It returns "" if there are none, and takes linear time.
	Warn func(s Spec, h *jepsen.History) string
	// Knossos says how Knossos is known to read its values differently, "" if it does not.
	Knossos string
	// LooksAhead: a later operation may change how an operation is read, so a failure of a
	// history that still grows says nothing.
	LooksAhead bool
	// Settles, unless it is nil, says of a model that LooksAhead what an operation shows. One that is open is read as later
	// ones show; one that settles shows how others are read. Any other has one meaning, whatever comes. An initial value
	// counts as an operation that was called with it.
	Settles func(o Operation) (settles, open bool)
	// Caller, unless it is nil, says of a model that LooksAhead who called an operation, and whether it names who that is. One
	// that does not name anybody is of whom its caller has named last before, or else names next.
	Caller func(s Spec, o Operation) (caller string, names bool)
	// ReadsKeys: the :key of an operation says which object it is about. Other models of
	// the registry take all operations to be on one object.
	ReadsKeys bool
	// NilReads, unless it is nil, returns how many reads have succeeded with nil and say nothing for it. late says that one of
	// them may not have seen the default. All others can come first, if operations that failed say nothing.
	NilReads func(h *jepsen.History) (n int, late bool)
	// Pairs: values that the model reads may be pairs of its own, so none is taken for a [key value] that nobody has told.
	Pairs bool
	// Infer says how well a history fits this model. If it is nil, no history does.
	Infer func(s *Seen) Fit

	// FromTest, unless it is nil, returns what the map of a test says of the initial value without giving it, as EDN, or "". get
	// returns what the map has under a key, which is given without its colon. Readers find it in Spec.FromTest.
	FromTest func(get func(key string) (edn.Value, bool)) string
	// Elsewhere, unless it is nil, says why a history whose :f's look like the model's is not of it, and where to go
	// with it: "" if it may be. It is asked if no model is inferred.
	Elsewhere func(s *Seen) string

	// New makes the model for the values of one history. Its errors may be ParamErrors,
	// which name parameters, or any others.
	New func(b *Binding) (Reader, error)
}

// Binding is what a model is made from: the parameters, and the values of one history.
type Binding struct {
	Spec Spec

	Record string // of the Definition
	Values *edn.Values
	InitID *edn.ID // nil: none is given
}

// Init returns the initial value, or false if none is given.
func (b *Binding) Init() (edn.Value, bool) {
	if b.InitID == nil {
		return edn.Value{}, false
	}
	return b.Values.Value(*b.InitID), true
}

// Takes says whether the model takes a parameter.
func (d *Definition) Takes(p Param) bool {
	for _, own := range d.Params {
		if own == p {
			return true
		}
	}
	return p == ParamInit && d.NoInit == "" || p == ParamSemantics || p == ParamPosition || p == ParamPositions
}

// Operation is an operation of a history, for a model to read.
type Operation struct {
	Values  *edn.Values
	FID     edn.ID
	ValueID edn.ID // the completion's if it succeeded, else the invocation's
	KeyID   edn.ID
	Status  jepsen.Status
	// given is the invocation's value, and process is the integer that names the process.
	GivenID, ProcessID edn.ID
	// of is the operation itself, if h is not nil.
	History *jepsen.History
	Of      jepsen.Operation
}

// OperationOf returns an operation of a history.
func OperationOf(h *jepsen.History, op jepsen.Operation) Operation {
	inv := h.Invocation[op]
	return Operation{h.Values, h.F[inv], h.OpValue(op), h.Key(inv), h.Status[op], h.Value[inv], h.Processes[h.Process[inv]], h, op}
}

// Call returns the operation as a Func sees it, with its process if the Func uses it.
func (o Operation) Call(usesProcess bool) Call {
	c := Call{F: o.F(), Value: o.Given(), OK: o.Status != jepsen.Crashed, Key: o.Key()}
	if c.OK {
		c.Out = o.Value()
	}
	if usesProcess {
		c.Process = o.Process()
	}
	return c
}

// F returns the name of the operation's :f, without the colon.
func (o Operation) F() string {
	if o.Values.Kind(o.FID) == edn.KindKeyword {
		return o.Values.Str(o.FID)
	}
	return o.Values.Text(o.FID)
}

// Value returns the value that counts: the completion's if the operation succeeded, else
// the invocation's.
func (o Operation) Value() edn.Value { return o.Values.Value(o.ValueID) }

// Given returns the invocation's value.
func (o Operation) Given() edn.Value { return o.Values.Value(o.GivenID) }

// Key returns the :key of the invocation, nil if it has none.
func (o Operation) Key() edn.Value { return o.Values.Value(o.KeyID) }

// CompletedKey returns the :key of the completion, nil if it has none or the operation did
// not succeed.
func (o Operation) CompletedKey() edn.ID {
	if o.History == nil || o.Status != jepsen.Succeeded {
		return edn.Nil
	}
	return o.History.Key(o.History.Completion[o.Of])
}

// Process returns the integer that names the process.
func (o Operation) Process() edn.Value { return o.Values.Value(o.ProcessID) }

// String returns the operation as people speak of it: ":read 471 (index 983)".
func (o Operation) String() string {
	if o.History == nil {
		return ":" + o.F()
	}
	return fmt.Sprintf("%s (index %d)", o.History.Call(o.Of), o.History.LastIndex(o.Of))
}

// ErrUnknownF is the error that Read returns for an :f that the model does not know.
var ErrUnknownF = errors.New("unknown :f")
