package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// Result is what a checker found about a History. Operations and events are
// rows of the History's columns. The zero Result is an unknown verdict.
type Result struct {
	File     string          // the caller's name for the history
	History  *jepsen.History // nil if the history could not be read
	Counts   *Counts         // of a History that is still being worked on, so that the result does not have it; else nil
	Verdict  jepsen.Verdict
	Verified bool         // the evidence was checked again
	Inferred bool         // the model was inferred
	Model    string       // the model's name
	Init     string       // its initial value as EDN, "" if it was not given
	ToldBy   string       // the source of the model or the initial value ("its first reads"), "" if the caller gave them
	Spec     models.Spec  // how the history was read
	Level    models.Level // of consistency, that was asked for; "" is linearizability
	From     Sources      // of the reading's parts, where the other fields do not tell them
	// Alternatives are the readings that differ if the cause is jepsen.Reading.
	Alternatives []Alternative
	// Ops are the operations of Witness or Before, as the model
	// reads them. It is nil if they would have to be read again.
	Ops      *models.Operations
	Analyzer string // "clew/porcupine"
	Ms       float64
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
	// Granted warns of what a valid verdict takes for granted: of answers that say nothing as they were read, and without
	// which it would not be valid. It is "" if there are none.
	Granted string
	// CoreInit, unless "", is the initial value without which the core alone would not fail as it does in the history.
	CoreInit string
	// Unsaid warns that the caller's own Label or Describe failed on what was shown, and what stands instead. It is "" if
	// they did not.
	Unsaid string

	// For a valid verdict:
	Vacuous string             // why none of its answers says anything that could be wrong (see NoOperations), or ""
	Final   edn.Value          // the final state
	Witness []jepsen.Operation // in order of linearization
	Depth   int                // of the strong d-hitting family in which the witness was found, or 0

	// For an invalid verdict:
	FailEvent     jepsen.Maybe[jepsen.Event]     // the first failing completion; none unless it is invalid, and that is known (see Placed)
	LastOperation jepsen.Maybe[jepsen.Operation] // linearized last before it, if any
	Configs       []Config
	Paths         [][]Step
	Core          []jepsen.Operation // few operations that fail on their own
	Story         Story              // tells what happens in Core; the zero Story if it is too large
	Saved         []jepsen.Operation // what is saved of Core: few operations that fail in the same way as a history of their own; nil: Core
	Before        []jepsen.Operation // a linearization of everything before FailEvent
	Prior         []jepsen.Operation // the same, but of all parts and with operations that say nothing; nil if a part is undecided
	Named         []jepsen.Operation // the operations that Explanation names
	Pattern       string             // the pattern of Explanation, such as "never-written"; "" if only a search shows the failure
	Drawn         string             // what pictures say of the failing operation; "": what the first final path ends with
	Kind          models.Anomaly     // the kind of failure, such as "stale-read"; "" if the evidence shows none for certain
	Relations     []Relation         // the steps of Explanation, and others
	Hint          string             // what the user may have forgotten, or ""
	InitHint      *Advice            // the end of Hint, or of an undecided Explanation, that advises an initial value, or nil

	// Broken are guarantees that answers break although every step is possible, such as those of watches. Without them the
	// history may be linearizable: then Explanation says so.
	Broken []models.Broken

	// HowFar says how far the history is from being linearizable. It is nil unless that was asked for and the verdict is known.
	HowFar *HowFar

	// Levels says at which levels of consistency transactions are. It is nil unless the history has transactions whose
	// order of versions is known.
	Levels *Levels
	// Told is the anomaly that Explanation tells. It is nil unless that is one of transactions.
	Told *TxnAnomaly

	// LikelyInit is an initial value that the first reads show, or "". From it
	// the history is linearizable, or fails later than from the model's default.
	LikelyInit string

	// For an unknown verdict:
	Cause jepsen.Cause
	Hard  *Hard  // what made it too hard, if a limit stopped the search; also if that is invalid and not Placed
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

// Counts are those of a history.
type Counts struct{ Events, Operations, Crashed, Skipped int }

// CountsOf returns the counts of a history.
func CountsOf(h *jepsen.History) *Counts {
	return &Counts{h.Events, h.Operations(), h.CrashedCount(), h.Skipped}
}

// Story tells a failure from its core alone.
type Story struct {
	// Sentences say what happened first, what must have happened, and what then contradicts it. There are at most four.
	Sentences []string
	// Last is the operation of the core that comes last before the failing one, if there is another.
	Last jepsen.Maybe[jepsen.Operation]
	// Alone says that the failing operation cannot happen whatever the others do.
	Alone bool
	// Shown says that the story says more than the explanation does.
	Shown bool
	// End is the failing operation after that order. It is nil if Alone.
	End *Step
}

// ToRead returns the sentences to be read after the explanation.
func (s Story) ToRead() []string {
	if !s.Shown {
		return nil
	}
	return s.Sentences
}

// NoOrder says why the failing operation cannot happen if a story has it Alone.
const NoOrder = "nothing that had begun by then makes it possible"

// Warnings returns what a result warns of, beside the warnings of its history.
func (r *Result) Warnings() (all []string) {
	for _, w := range []string{r.Altered, r.Granted, r.Unsaid} {
		if w != "" {
			all = append(all, w)
		}
	}
	return all
}

// counts returns the counts of the history, or nil if it could not be read.
func (r *Result) counts() *Counts {
	if r.History == nil {
		return r.Counts
	}
	return CountsOf(r.History)
}

// FirstFailing returns the result whose failing completion is the
// earliest: that of a key if there are keys, otherwise r itself.
func (r *Result) FirstFailing() *Result {
	if k := r.FailingKey(); k != nil {
		return k.Result()
	}
	return r
}

// Placed reports whether the first failing completion is known. It is not if a limit ended the search for it, and
// something else had shown that the history fails: then FailsBy has a later completion, and there is neither a core nor a kind.
func (r *Result) Placed() bool {
	_, known := r.FailEvent.Get()
	return known && r.Verdict == jepsen.Invalid
}

// FailsBy returns the :index of a completion by which an invalid history has failed if it is not known which fails first. If
// there are keys, it is that of the first such key, unless it is known where another one fails.
func (r *Result) FailsBy() (index int64, known bool) {
	r = r.FirstFailing()
	if r.Verdict != jepsen.Invalid || r.Placed() || r.Hard == nil {
		return 0, false
	}
	return r.History.Index(r.FailedBy()), true
}

// FailingKey returns the independent key that fails first in the file, or nil if none fails. Keys of which it is not known
// where they fail come last.
func (r *Result) FailingKey() *KeyResult {
	var first *KeyResult
	for i := range r.Keys {
		if k := &r.Keys[i]; k.Verdict == jepsen.Invalid && (first == nil || k.before(first)) {
			first = k
		}
	}
	return first
}

func (k *KeyResult) before(other *KeyResult) bool {
	if placed := k.Result().Placed(); placed != other.Result().Placed() {
		return placed
	}
	return k.Event() < other.Event()
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
	return f.History.Index(f.FailEvent.OrNone())
}

// FailureKind returns the kind of an invalid result, that of the key that fails first if there are keys, or "".
func (r *Result) FailureKind() models.Anomaly {
	if r.Verdict != jepsen.Invalid {
		return ""
	}
	return r.FirstFailing().Kind
}

// fails says whether the result describes a failure itself, rather than several keys.
func (r *Result) fails() bool {
	return r.Placed() && r.History != nil && r.Keys == nil
}

// Event returns the failing completion of an invalid key as an event of the whole history: a later one, by which it fails, if
// the first is not known.
func (k *KeyResult) Event() jepsen.Event {
	r := k.Result()
	return r.History.InWhole(r.FailedBy())
}

// FailedBy returns the first failing completion of an invalid history, or if that is not known, a later one by which it fails.
func (r *Result) FailedBy() jepsen.Event {
	if at, placed := r.FailEvent.Get(); placed || r.Hard == nil {
		return at
	}
	return r.Hard.FailsBy.OrNone()
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
	Because   string // Why in the words of a sentence that names the operation
}

// PreviousOK returns the :ok event before the failing one, or None.
func (r *Result) PreviousOK() jepsen.Event {
	for e := r.FailEvent.OrNone() - 1; e >= 0; e-- {
		if r.History.Type[e] == jepsen.OK {
			return e
		}
	}
	return jepsen.None
}

// Failing returns the operation whose completion fails first, among all
// keys if there are any. It returns false if the verdict is not Invalid, or that is not known (see Placed).
func (r *Result) Failing() (jepsen.Op, bool) {
	f := r.FirstFailing()
	if !f.fails() {
		return jepsen.Op{}, false
	}
	return f.History.Op(f.History.OpOf[f.FailEvent.OrNone()]), true
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
	if n := r.counts(); n != nil {
		return r.summary(n)
	}
	return r.modelText()
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

// KeyResult is the result of one independent key: its verdict, and on request everything else.
type KeyResult struct {
	Key     edn.Value
	Verdict jepsen.Verdict

	row  int32
	keys *Keys
}

// Result returns the whole result of the key. Its History is the key's own.
// There may be a million keys, so little is kept of a valid one. Every call
// builds its Result again, in time linear in the key's operations.
func (k KeyResult) Result() *Result {
	return resultsOf([]KeyResult{k}, []int{0})[0]
}

// Witness returns the witness of a valid key as operations of the whole history.
func (k KeyResult) Witness() []jepsen.Operation { return k.keys.WitnessOf(int(k.row)) }

// SelfCheckFailed says whether the evidence of the key's verdict turned out to be wrong.
func (k KeyResult) SelfCheckFailed() bool {
	r := k.keys.others[k.row]
	return r != nil && r.Cause == jepsen.SelfCheckFailed
}

// Vacuous returns why the verdict of the key is vacuous, or "".
func (k KeyResult) Vacuous() string {
	if k.Verdict != jepsen.Valid {
		return ""
	}
	if r := k.keys.others[k.row]; r != nil {
		return r.Vacuous
	}
	return k.keys.names[k.keys.valid[k.row].vacuous]
}

// Row returns the row of the key among all keys of the history.
func (k KeyResult) Row() int { return k.keys.keyed.Row(int(k.row)) }

// Keys gathers the results of independent keys. It keeps each result that is not valid. Of
// a valid one it keeps only what the history does not show: some 30 bytes and the witness.
type Keys struct {
	keyed   *jepsen.Keyed
	like    Result             // what all results of valid keys have in common
	valid   []validKey         // by row of the keys; empty for the others
	others  map[int32]*Result  // the results that are not valid, or have more to say
	names   []string           // the analyzers' names, and why verdicts are vacuous
	witness []jepsen.Operation // key by key; operations of the whole history
	likely  string             // the initial value that decides all undecided keys, "" if they do not need different ones
}

// validKey holds what is kept of a valid key.
type validKey struct {
	final    edn.ID
	witness  int32 // where its witness ends in that of all keys
	ms       float64
	analyzer int32 // an index into the names
	vacuous  int32 // the same
}

// NewKeys returns Keys without results. The result of a valid
// key is like the given one except for what its search found.
func NewKeys(keyed *jepsen.Keyed, like Result) *Keys {
	return &Keys{keyed: keyed, like: like, others: map[int32]*Result{},
		valid: make([]validKey, 0, len(keyed.Keys)), witness: make([]jepsen.Operation, 0, len(keyed.Unwrapped.Invocation))}
}

// Add adds the result of the next key in order. It copies what it
// needs of a valid one and keeps neither the result nor its History.
func (k *Keys) Add(own *jepsen.KeyHistory, r *Result) {
	row := int32(len(k.valid))
	kept := validKey{ms: r.Ms, final: r.Final.ID(), analyzer: k.name(r.Analyzer), vacuous: k.name(r.Vacuous)}
	for _, op := range r.Witness {
		k.witness = append(k.witness, own.WholeOp[op])
	}
	kept.witness = int32(len(k.witness))
	k.valid = append(k.valid, kept)
	if r.Verdict != jepsen.Valid || r.Depth > 0 || r.Missing != "" || r.Verified != k.like.Verified {
		r.History, r.Ops = k.keyed.History(int(row)).History, nil // the columns of own are parts of longer ones
		k.others[row] = r
	}
}

// name returns the index of a name, which it adds if it is new.
func (k *Keys) name(name string) int32 {
	i := slices.Index(k.names, name)
	if i < 0 {
		i = len(k.names)
		k.names = append(k.names, name)
	}
	return int32(i)
}

// Advice is a text that advises a value.
type Advice struct{ Value, Text string }

// MaxInit bounds the bytes of an initial value that a sentence spells out.
const MaxInit = 80

// unspelled returns an initial value that decides the history, or "" if its sentence has it, or there is none.
func (r *Result) unspelled() string {
	if r.Cause != jepsen.InitialValue || r.Keys == nil && len(r.LikelyInit) <= MaxInit {
		return ""
	}
	return r.LikelyInit
}

// AdviseTogether spells the advice of initial values for each key: a value alone would be that of all keys. flag spells an
// initial value. Keys that are undecided get one advice, which decides all of them, and so do keys that fail.
func (k *Keys) AdviseTogether(flag func(init string) string) {
	k.decideTogether(flag)
	spec := k.like.Spec
	spec.Init = cmp.Or(k.likely, spec.Init)
	var keys, inits []string
	var failing []*Result
	for _, row := range slices.Sorted(maps.Keys(k.others)) {
		if r := k.others[row]; r.Verdict == jepsen.Invalid && r.InitHint != nil {
			keys, inits, failing = append(keys, k.key(row)), append(inits, r.InitHint.Value), append(failing, r)
		}
	}
	if len(failing) == 0 {
		return
	}
	all := spec.AndEach(keys, inits)
	for _, r := range failing {
		before, _ := strings.CutSuffix(r.Hint, r.InitHint.Text)
		says, _ := strings.CutSuffix(r.InitHint.Text, flag(r.InitHint.Value))
		r.InitHint = &Advice{Value: all, Text: says + flag(all)}
		r.Hint = before + r.InitHint.Text
	}
}

// key returns a key as EDN.
func (k *Keys) key(row int32) string { return k.like.History.Values.Text(k.keyed.Keys[row]) }

// decideTogether gives undecided keys one flag for all of them, unless all keys need one value.
func (k *Keys) decideTogether(flag func(init string) string) {
	var keys, inits []string
	var undecided []*Result
	differ := false
	for _, row := range slices.Sorted(maps.Keys(k.others)) {
		r := k.others[row]
		if r.Cause != jepsen.InitialValue || r.InitHint == nil {
			continue
		}
		keys = append(keys, k.key(row))
		inits = append(inits, r.LikelyInit)
		undecided = append(undecided, r)
		differ = differ || r.LikelyInit != inits[0]
	}
	if !differ && len(undecided) == len(k.valid) || len(undecided) == 0 {
		return // one value for all keys decides them
	}
	k.likely = k.like.Spec.AndEach(keys, inits)
	advice := flag(k.likely) + " decides all keys"
	for _, r := range undecided {
		r.Explanation = strings.Replace(r.Explanation, r.InitHint.Text, advice, 1)
		r.InitHint = &Advice{Value: k.likely, Text: advice}
	}
}

// LikelyInit returns the initial values, as Spec.Init takes them, that decide all keys that are undecided for lack of them and
// need different ones, or "".
func (k *Keys) LikelyInit() string { return k.likely }

// List returns the results so far.
func (k *Keys) List() []KeyResult {
	list := make([]KeyResult, len(k.valid))
	for row := range list {
		list[row] = KeyResult{Key: k.like.History.Values.Value(k.keyed.Keys[row]), Verdict: jepsen.Valid, row: int32(row), keys: k}
	}
	for row, r := range k.others {
		list[row].Verdict = r.Verdict
	}
	return list
}

// WitnessOf returns the witness of a key as operations of the whole history.
func (k *Keys) WitnessOf(row int) []jepsen.Operation {
	from := int32(0)
	if row > 0 {
		from = k.valid[row-1].witness
	}
	return k.witness[from:k.valid[row].witness]
}

// results returns the results of some keys, given by their rows.
func (k *Keys) results(rows []int) []*Result {
	results := make([]*Result, len(rows))
	if k == nil { // no results were gathered
		for i := range results {
			results[i] = new(Result)
		}
		return results
	}
	of, _ := k.like.Spec.ByKey()
	for i, own := range k.keyed.Histories(rows) {
		row := rows[i]
		if r := k.others[int32(row)]; r != nil {
			results[i] = r
			continue
		}
		r, kept := k.like, k.valid[row]
		r.Spec = of(r.History.Values.Text(k.keyed.Keys[row]))
		r.Init = r.Spec.Init
		r.History, r.Final, r.Ms, r.Analyzer = own.History, r.History.Values.Value(kept.final), kept.ms, k.names[kept.analyzer]
		r.Witness = make([]jepsen.Operation, 0, own.Operations())
		for _, op := range k.WitnessOf(row) {
			at, _ := slices.BinarySearch(own.WholeOp, op)
			r.Witness = append(r.Witness, jepsen.Operation(at))
		}
		r.Vacuous = k.names[kept.vacuous]
		r.Explanation = Took(r.History, r.Witness)
		results[i] = &r
	}
	return results
}

// resultsOf returns the results of some keys, given by their
// places in a list of keys that were gathered together.
func resultsOf(list []KeyResult, places []int) []*Result {
	rows := make([]int, len(places))
	for i, at := range places {
		rows[i] = int(list[at].row)
	}
	return list[places[0]].keys.results(rows)
}

// Hard says how far the search got in a history that it did not decide, what makes the
// history hard, and what to change in the test.
type Hard struct {
	Passed, Completions int                        // it is linearizable up to so many completions, of all
	At                  jepsen.Maybe[jepsen.Event] // the completion after those
	// FailsBy is a completion by which the history is certainly not linearizable, if one is known. It may
	// fail before. FailsAs says how that is known.
	FailsBy jepsen.Maybe[jepsen.Event]
	FailsAs string

	Crashed   []OfF  // crashed operations, invoked before At, that may have changed the state
	Open      int    // operations open at once at most, without those that crashed
	Updates   int    // operations that may change the state
	Distinct  int    // how many of those differ in more than their time
	Values    bool   // a near-linear decision exists if no value is used twice
	Ambiguous string // why the near-linear decision does not apply, or ""

	Model *models.Hard // what the model says of it, nil if it says nothing

	saved string // the text of a saved result
}

// OfF counts operations of one :f.
type OfF struct {
	F edn.Value
	N int
}

// crashed returns how many crashed operations there are.
func (h *Hard) crashed() (n int) {
	for _, c := range h.Crashed {
		n += c.N
	}
	return n
}

// Certainly says by when the history fails if that is certain, and where it fails is not known.
func (h *Hard) Certainly(of *jepsen.History) string {
	return fmt.Sprintf("it fails by %s at the latest, %s", of.Name(of.OpOf[h.FailsBy.OrNone()]), h.FailsAs)
}

// HardText says how far the search got, what makes the history hard, and what to change in the test, in a few sentences; or "" if
// no limit stopped the search.
func (r *Result) HardText() string {
	h, of := r.Hard, r.History
	if h == nil {
		return ""
	}
	if h.saved != "" {
		return h.saved
	}
	var s []string
	if at, ok := h.At.Get(); ok {
		then := "undecided from %s on"
		if r.Verdict == jepsen.Invalid {
			then = "not known where it fails, from %s on"
		}
		s = append(s, fmt.Sprintf("Linearizable up to %d of %s, and "+then+".", h.Passed, text.Count(h.Completions, "completion"), of.Name(of.OpOf[at])))
	}
	if _, ok := h.FailsBy.Get(); ok && r.Verdict == jepsen.Unknown { // otherwise the explanation has it
		s = append(s, fmt.Sprintf("Certainly not linearizable from the usual initial value: %s; which completion fails first is undecided.", h.Certainly(of)))
	}
	if why := h.why(); len(why) > 0 {
		s = append(s, fmt.Sprintf("What makes it hard: %s.", strings.Join(why, "; ")))
	}
	next := "To have the next run decided"
	if r.Verdict == jepsen.Invalid {
		next = "To have it found in the next run"
	}
	return strings.Join(append(s, fmt.Sprintf("%s: %s.", next, strings.Join(h.advice(), "; "))), " ")
}

// Bounds from which something makes a history hard.
const (
	manyCrashed = 10
	manyOpen    = 10
	timesEach   = 2 // how often updates repeat on average
)

const moreKeys = "use more keys with fewer operations each"

func (h *Hard) why() (why []string) {
	if n := h.crashed(); n > 0 {
		var of []string
		for _, c := range h.Crashed {
			of = append(of, fmt.Sprintf("%d %s", c.N, c.F))
		}
		why = append(why, fmt.Sprintf("%s that may or may not have taken effect (%s)", text.Count(n, "crashed operation"), strings.Join(of, ", ")))
	}
	if h.Open > 1 {
		why = append(why, fmt.Sprintf("up to %s open at once", text.Count(h.Open, "operation")))
	}
	switch {
	case h.Model != nil && h.Model.Why != "":
		why = append(why, h.Model.Why)
	case h.Ambiguous != "":
		why = append(why, h.Ambiguous)
	case h.Model == nil && h.repeats():
		why = append(why, fmt.Sprintf("only %d of %d updates differ", h.Distinct, h.Updates))
	}
	return why
}

func (h *Hard) repeats() bool { return h.Updates >= timesEach*h.Distinct }

// advice returns what to change in the test.
func (h *Hard) advice() (advice []string) {
	if h.crashed() > manyCrashed {
		advice = append(advice, "have fewer operations crash: report as :fail what certainly had no effect, and let faults be shorter")
	}
	if h.Open > manyOpen {
		advice = append(advice, "have fewer operations open at once: fewer clients for each key, and shorter time-outs")
	}
	switch {
	case h.Model != nil:
		if h.Model.Once != "" && h.Distinct < h.Updates {
			advice = append(advice, h.Model.Once)
		}
		advice = append(advice, h.Model.Change...)
	case h.Ambiguous != "" || h.Values && h.repeats():
		advice = append(advice, "use each value only once", moreKeys)
	default:
		advice = append(advice, moreKeys)
	}
	advice[len(advice)-1] += ", or set a higher limit"
	return advice
}

// byCount sorts the most frequent first.
func byCount(a, b OfF) int { return cmp.Or(b.N-a.N, strings.Compare(a.F.String(), b.F.String())) }

// Count adds an operation to those that crashed.
func (h *Hard) Count(f edn.Value) {
	i := slices.IndexFunc(h.Crashed, func(c OfF) bool { return c.F == f })
	if i < 0 {
		i = len(h.Crashed)
		h.Crashed = append(h.Crashed, OfF{F: f})
	}
	h.Crashed[i].N++
	slices.SortFunc(h.Crashed, byCount)
}

// hard prints what makes the history hard.
func (p *ednPrinter) hard(r *Result) {
	h := r.Hard
	m := []field{
		{"passed", p.int(h.Passed)}, {"completions", p.int(h.Completions)},
		{"crashed", func() {
			p.list("{}", len(h.Crashed), func(i int) {
				p.value(h.Crashed[i].F)()
				p.out.WriteByte(' ')
				p.int(h.Crashed[i].N)()
			})
		}},
		{"open", p.int(h.Open)}, {"updates", p.int(h.Updates)}, {"distinct", p.int(h.Distinct)},
		{"text", p.string(r.HardText())},
	}
	if at, ok := h.At.Get(); ok {
		m = append(m, field{"at", func() { p.event(r, at) }})
	}
	if by, ok := h.FailsBy.Get(); ok {
		m = append(m, field{"fails-by", func() { p.event(r, by) }})
	}
	if h.Ambiguous != "" {
		m = append(m, field{"ambiguous", p.string(h.Ambiguous)})
	}
	p.fields(m)
}
