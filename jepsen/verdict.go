package jepsen

import (
	"fmt"
	"slices"

	"clew/edn"
)

// Verdict is what a checker says about a history.
type Verdict uint8

// The verdicts. Unknown comes with a Cause.
const (
	Unknown Verdict = iota
	Valid
	Invalid
)

func (v Verdict) String() string {
	return [...]string{Unknown: "undecided", Valid: "linearizable", Invalid: "not linearizable"}[v]
}

// Cause says why a verdict is Unknown.
type Cause string

// The causes of an unknown verdict.
const (
	Timeout     Cause = "timeout"
	OutOfMemory Cause = "out-of-memory"
	Interrupted Cause = "interrupted"
	// Ambiguous: only the fast path may run, but it cannot decide the history.
	Ambiguous Cause = "ambiguous"
	// DepthExhausted: no schedule of the hitting families is a witness.
	DepthExhausted Cause = "depth-exhausted"
	// InitialValue: the history is linearizable from a value that its first reads show, and
	// not from the model's default.
	InitialValue Cause = "initial-value"
	// Reading: the history is not linearizable as it was read, but nobody says that it is to be read so, and read in
	// another way it is.
	Reading Cause = "reading"
	// NotJudged: the run of a store is not to be judged: no model is of its test, there are no operations, or it is skipped.
	// Nothing of its history is lost.
	NotJudged Cause = "not-judged"
	// Unreadable: the history could not be read.
	Unreadable Cause = "unreadable"
	// Panicked: the checker failed. That is a bug in it, or in a model in Go.
	Panicked Cause = "panic"
	// SelfCheckFailed: the evidence of the verdict is wrong. That is a bug in the checker,
	// or in a model whose steps are not always the same.
	SelfCheckFailed Cause = "self-check-failed"
)

// MarshalJSON returns true, false or "unknown".
func (v Verdict) MarshalJSON() ([]byte, error) { return []byte(inJSON[v]), nil }

// UnmarshalJSON reads true, false or "unknown".
func (v *Verdict) UnmarshalJSON(text []byte) error {
	i := slices.Index(inJSON[:], string(text))
	if i < 0 {
		return fmt.Errorf("expected true, false or \"unknown\" for a verdict, found %s", text)
	}
	*v = Verdict(i)
	return nil
}

var inJSON = [...]string{Unknown: `"unknown"`, Valid: "true", Invalid: "false"}

// Claim says what another checker found about the linearizability of a history, or
// of one of its keys, or about the consistency of its transactions.
type Claim struct {
	// Checker says where the claim stands: ":linear", ":workload :linear", or the
	// algorithm of a table's row.
	Checker string
	// Key is the independent key that the claim is about, if IsKey.
	Key   edn.Value
	IsKey bool

	Verdict Verdict
	OpIndex int64 // the :index of the failing operation, if HasOp
	HasOp   bool
	OpText  string // the failing operation, as EDN
	// OpProcess and OpF are its :process and :f, if it has them.
	OpProcess, OpF edn.Value
	Model          string // the model's name if the claim shows it, else ""
	Init           string // its initial value if the claim shows it, else ""
	// Flags are the flags that clew's plugin got, by the names of clew check's flags,
	// without the model and the initial value. Claims of others have nil.
	Flags    map[string]string
	Analyzer string
	// By says what made the claim: "Knossos's wgl", or "clew's plugin".
	By string
	// Elle says that the claim is Elle's, about transactions. Anomalies are the types of anomalies that it found.
	Elle      bool
	Anomalies []string
	// NoOp says that the claim is about Knossos's model that accepts everything.
	NoOp bool
	// FromDefault says that the checker began with the model's default, if Init is "".
	FromDefault bool
	// Lost says why there is no verdict although the checker was run, or "".
	Lost string
	// Note says which part of the claim could not be read, or "".
	Note string
	Ms   float64 // 0 if it is not known
}

// Maybe is an event or an operation, or none. The zero Maybe is none.
type Maybe[T Event | Operation] struct{ after T } // 1 more, so that 0 is none

// Some returns an event or an operation as a Maybe. Some(None) is none.
func Some[T Event | Operation](x T) Maybe[T] { return Maybe[T]{x + 1} }

// Get returns the event or the operation, and whether there is one.
func (m Maybe[T]) Get() (x T, ok bool) { return m.after - 1, m.after > 0 }

// OrNone returns the event or the operation, None if there is none.
func (m Maybe[T]) OrNone() T { return m.after - 1 }
