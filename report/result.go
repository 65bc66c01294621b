package report

import (
	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// Result is what a checker found about a History. Operations and events are
// rows of the History's columns. The zero Result is an unknown verdict.
type Result struct {
	File     string          // what the caller calls the history
	History  *jepsen.History // nil if the history could not be read
	Verdict  jepsen.Verdict
	Model    string      // the model's name
	Init     string      // its initial value as EDN, "" if it was not given
	ToldBy   string      // what the model or the initial value was taken from, "" if the caller gave them: "its first reads"
	Inferred bool        // the model was inferred
	Spec     models.Spec // how the history was read
	// Ops are the operations that Witness or Before is of, as the model reads them;
	// nil if they would have to be read anew.
	Ops      *models.Operations
	Analyzer string // "clew/porcupine"
	Ms       float64
	Verified bool // the evidence was checked again
	// Unverified says why not, and what to do about it; "" if it was, or if it was not to be.
	Unverified string
	// Explanation is a sentence: why the history is invalid, which crashed
	// operations took effect in the witness, or how far the search got. It is
	// "" if there is nothing to say.
	Explanation string

	// Missing says which evidence of a verdict is missing because a limit or a
	// signal left no time for it, "" if none is.
	Missing string

	// Altered warns of completions with another value than that of their invocation,
	// which they should only repeat; "" if there are none.
	Altered string

	// Valid.
	Vacuous string             // why none of its answers says anything that could be wrong (see NoOperations), or ""
	Final   edn.Value          // the final state
	Witness []jepsen.Operation // in order of linearization
	Depth   int                // of the strong d-hitting family in which the witness was found, or 0

	// Invalid.
	FailEvent     jepsen.Event     // the first failing completion
	LastOperation jepsen.Operation // linearized last before it, or None
	Configs       []Config
	Paths         [][]Step
	Core          []jepsen.Operation // few operations that fail by themselves
	Beside        []jepsen.Operation // what Core needs to fail as a history of its own, whatever it begins with
	Before        []jepsen.Operation // a linearization of what is before FailEvent
	Prior         []jepsen.Operation // likewise, but of all parts and with what says nothing; nil if a part is undecided
	Named         []jepsen.Operation // by Explanation
	Pattern       string             // of Explanation, such as "never-written"; "" if nothing but a search tells of the failure
	Relations     []Relation         // the steps of Explanation, as far as it has any, and others
	Hint          string             // what the user may have forgotten, or ""

	// LikelyInit is an initial value that the first reads show, and from which the
	// history is linearizable or fails later than from the model's default, or "".
	LikelyInit string

	// Unknown.
	Cause jepsen.Cause
	Error string // why the history could not be read, or what is wrong with the evidence
	// Refuted is the result whose evidence is wrong, if the cause is
	// jepsen.SelfCheckFailed.
	Refuted *Result

	// Keys are the results of independent keys, in order; nil if the history
	// was checked as one. If there are keys, the verdict is that of all keys
	// together, the witness is one of the whole history, and details of
	// failures are in the keys' results:
	//
	//	for _, k := range r.Keys {
	//		fmt.Println(k.Key, k.Verdict, k.Result().Analyzer)
	//	}
	Keys []KeyResult
}

// FirstFailing is the result whose failing completion is the earliest: that of
// a key if there are keys, otherwise r itself.
func (r *Result) FirstFailing() *Result {
	if k := r.FailingKey(); k != nil {
		return k.Result()
	}
	return r
}

// FailingKey is the independent key that fails first in the file, nil if none
// does.
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

// SelfCheckFailure is the result whose evidence turned out to be wrong: that of a key
// if there are keys, otherwise r itself; nil if there is none.
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

// FailingIndex is the :index of the first failing completion, -1 if there is
// none.
func (r *Result) FailingIndex() int64 {
	f := r.FirstFailing()
	if !f.fails() {
		return -1
	}
	return f.History.Index(f.FailEvent)
}

// fails says whether the result is that of a failure itself, rather than that
// of several keys.
func (r *Result) fails() bool {
	return r.Verdict == jepsen.Invalid && r.History != nil && r.Keys == nil
}

// Event is the failing completion of an invalid key as an event of the whole history.
func (k *KeyResult) Event() jepsen.Event {
	r := k.Result()
	return r.History.InWhole(r.FailEvent)
}

// Config is a configuration: a state, the operation linearized last (or None)
// and those that were open.
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

// PreviousOK is the :ok event before the failing one, or None.
func (r *Result) PreviousOK() jepsen.Event {
	for e := r.FailEvent - 1; e >= 0; e-- {
		if r.History.Type[e] == jepsen.OK {
			return e
		}
	}
	return jepsen.None
}

// Failing is the operation whose completion fails first, among all keys if
// there are any. It is false if the verdict is not Invalid.
func (r *Result) Failing() (jepsen.Op, bool) {
	f := r.FirstFailing()
	if !f.fails() {
		return jepsen.Op{}, false
	}
	return f.History.Op(f.History.OpOf[f.FailEvent]), true
}

// WitnessOps is the witness in plain Go.
func (r *Result) WitnessOps() []jepsen.Op { return r.ops(r.Witness) }

// CoreOps is the core in plain Go. If there are keys, it is that of the key
// that fails first.
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

// Summary is a line about what was checked, and how: the model, how many operations,
// and who decided.
func (r *Result) Summary() string {
	if r.History == nil {
		return r.modelText()
	}
	return r.summary()
}

// A valid verdict is vacuous if no answer says anything that the model could refuse: a
// test that never reached its system has such a history. Result.Vacuous is one of
// these reasons, or "".
const (
	NoOperations = "there are no client operations"
	NoneReturned = "no operation returned :ok"
	AnswersNil   = "every answer is nil"
	NotRefusable = "the model could not have refused any operation"
)

// VacuousTogether returns why the verdict of two parts of a history together is
// vacuous, given why that of each part is, or "".
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
