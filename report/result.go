package report

import (
	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// Result is what a checker found about a History. Operations and events are
// rows of the History's columns. The zero Result is an unknown verdict.
type Result struct {
	File     string          // the caller's name for the history
	History  *jepsen.History // nil if the history could not be read
	Verdict  jepsen.Verdict
	Model    string      // the model's name
	Init     string      // its initial value as EDN, "" if it was not given
	ToldBy   string      // the source of the model or the initial value ("its first reads"), "" if the caller gave them
	Inferred bool        // the model was inferred
	Spec     models.Spec // how the history was read
	// Ops are the operations of Witness or Before, as the model
	// reads them. It is nil if they would have to be read again.
	Ops      *models.Operations
	Analyzer string // "clew/porcupine"
	Ms       float64
	Verified bool // the evidence was checked again
	// Unverified says why the evidence was not checked again, and what to do
	// about it. It is "" if it was checked, or if no check was requested.
	Unverified string
	// Explanation is a sentence: why the history is invalid, which crashed operations took
	// effect in the witness, or how far the search got. It is "" if there is nothing to say.
	Explanation string

	// Missing says which evidence of a verdict is missing because a limit
	// or a signal left no time for it. It is "" if none is missing.
	Missing string

	// Altered warns of completions with a value other than that of their
	// invocation, which they should only repeat. It is "" if there are none.
	Altered string

	// For a valid verdict:
	Vacuous string             // why none of its answers says anything that could be wrong (see NoOperations), or ""
	Final   edn.Value          // the final state
	Witness []jepsen.Operation // in order of linearization
	Depth   int                // of the strong d-hitting family in which the witness was found, or 0

	// For an invalid verdict:
	FailEvent     jepsen.Event     // the first failing completion
	LastOperation jepsen.Operation // linearized last before it, or None
	Configs       []Config
	Paths         [][]Step
	Core          []jepsen.Operation // few operations that fail on their own
	Beside        []jepsen.Operation // what Core needs to fail as a separate history, whatever its initial value
	Before        []jepsen.Operation // a linearization of everything before FailEvent
	Prior         []jepsen.Operation // the same, but of all parts and with operations that say nothing; nil if a part is undecided
	Named         []jepsen.Operation // the operations that Explanation names
	Pattern       string             // the pattern of Explanation, such as "never-written"; "" if only a search shows the failure
	Relations     []Relation         // the steps of Explanation, and others
	Hint          string             // what the user may have forgotten, or ""

	// LikelyInit is an initial value that the first reads show, or "". From it
	// the history is linearizable, or fails later than from the model's default.
	LikelyInit string

	// For an unknown verdict:
	Cause jepsen.Cause
	Error string // why the history could not be read, or what is wrong with the evidence
	// Refuted is the result whose evidence is wrong if the cause is jepsen.SelfCheckFailed.
	Refuted *Result

	// Keys are the results of independent keys, in order. It is nil if the history was
	// checked as one. If there are keys, the verdict is that of all keys together, and the
	// witness is one of the whole history. Details of failures are in the keys' results:
	//
	//	for _, k := range r.Keys {
	//		fmt.Println(k.Key, k.Verdict, k.Result().Analyzer)
	//	}
	Keys []KeyResult
}

// FirstFailing returns the result whose failing completion is the
// earliest: that of a key if there are keys, otherwise r itself.
func (r *Result) FirstFailing() *Result {
	if k := r.FailingKey(); k != nil {
		return k.Result()
	}
	return r
}

// FailingKey returns the independent key that fails first in the file, or nil if none fails.
func (r *Result) FailingKey() *KeyResult {
	var first *KeyResult
	for i := range r.Keys {
		k := &r.Keys[i]
		if k.Verdict == jepsen.Invalid && (first == nil || k.Event() < first.Event()) {
			first = k
		}
	}
	return first
}

// SelfCheckFailure returns the result whose evidence turned out to be wrong, or nil if
// there is none. This is the result of a key if there are keys, otherwise r itself.
func (r *Result) SelfCheckFailure() *Result {
	if r.Cause == jepsen.SelfCheckFailed && r.Keys == nil {
		return r
	}
	for _, k := range r.Keys {
		if k.SelfCheckFailed() {
			return k.Result()
		}
	}
	return nil
}

// FailingIndex returns the :index of the first failing completion, or -1 if there is none.
func (r *Result) FailingIndex() int64 {
	f := r.FirstFailing()
	if !f.fails() {
		return -1
	}
	return f.History.Index(f.FailEvent)
}

// fails says whether the result describes a failure itself, rather than several keys.
func (r *Result) fails() bool {
	return r.Verdict == jepsen.Invalid && r.History != nil && r.Keys == nil
}

// Event returns the failing completion of an invalid key as an event of the whole history.
func (k *KeyResult) Event() jepsen.Event {
	r := k.Result()
	return r.History.InWhole(r.FailEvent)
}

// Config is a configuration: a state, the operation
// linearized last (or None), and the open operations.
type Config struct {
	State   edn.Value
	Last    jepsen.Operation
	Pending []jepsen.Operation
}

// Step is a step of a final path: an operation and the state after it, or, in
// the last step, why there is no such state.
type Step struct {
	Operation jepsen.Operation
	State     edn.Value
	Why       string // "" if the operation can happen
}

// PreviousOK returns the :ok event before the failing one, or None.
func (r *Result) PreviousOK() jepsen.Event {
	for e := r.FailEvent - 1; e >= 0; e-- {
		if r.History.Type[e] == jepsen.OK {
			return e
		}
	}
	return jepsen.None
}

// Failing returns the operation whose completion fails first, among all
// keys if there are any. It returns false if the verdict is not Invalid.
func (r *Result) Failing() (jepsen.Op, bool) {
	f := r.FirstFailing()
	if !f.fails() {
		return jepsen.Op{}, false
	}
	return f.History.Op(f.History.OpOf[f.FailEvent]), true
}

// WitnessOps returns the witness in plain Go.
func (r *Result) WitnessOps() []jepsen.Op { return r.ops(r.Witness) }

// CoreOps returns the core in plain Go. If there are
// keys, it is the core of the key that fails first.
func (r *Result) CoreOps() []jepsen.Op {
	f := r.FirstFailing()
	return f.ops(f.Core)
}

func (r *Result) ops(rows []jepsen.Operation) []jepsen.Op {
	var ops []jepsen.Op
	for _, op := range rows {
		ops = append(ops, r.History.Op(op))
	}
	return ops
}

// Summary returns a line about what was checked and how:
// the model, the number of operations, and the analyzer.
func (r *Result) Summary() string {
	if r.History == nil {
		return r.modelText()
	}
	return r.summary()
}

// A valid verdict is vacuous if no answer says anything that the
// model could refuse. The history of a test that never reached its
// system is like that. Result.Vacuous is one of these reasons, or "".
const (
	NoOperations = "there are no client operations"
	NoneReturned = "no operation returned :ok"
	AnswersNil   = "every answer is nil"
	NotRefusable = "the model could not have refused any operation"
)

// VacuousTogether returns why the verdict of two parts of a history
// together is vacuous, or "". a and b say the same of each part.
func VacuousTogether(a, b string) string {
	switch {
	case a == b, b == NoOperations:
		return a
	case a == NoOperations:
		return b
	case a == "" || b == "":
		return ""
	}
	return NotRefusable
}
