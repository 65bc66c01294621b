package jepsen

import (
	"fmt"

	"clew/edn"
	"clew/edn/opmap"
)

// Result is what a checker found about a History. Operations and events are
// rows of the History's columns; models are forms of its Values.
type Result struct {
	File     string   // what the caller calls the history
	History  *History // nil where the history could not be read
	Verdict  Verdict
	Model    string // the model's name
	Init     string // its initial value as EDN, "" where it was not given
	Inferred bool   // the model was inferred
	Analyzer string // "clew/porcupine"
	Ms       float64
	Verified bool // the evidence was checked again
	// Explanation is a sentence: why it is invalid, or which crashed operations
	// took effect in the witness, or how far the search got. Else it is "".
	Explanation string

	// Valid.
	Final   edn.ID  // the final state
	Witness []int32 // the operations in order of linearization
	Depth   int     // of the strong d-hitting family that the witness is of, or 0

	// Invalid.
	Op         int32 // the first failing completion, an event
	LastOp     int32 // the operation linearized last before it, or None
	Configs    []Config
	Paths      [][]Step
	Core       []int32 // operations
	Hint       string  // what the user may have forgotten, or ""
	LikelyInit string  // an initial value that the failing operation suggests, or ""

	// Unknown.
	Cause string // "timeout", ..
	Error string // what is wrong with what could not be read

	// Keys are the results of independent keys, in order; nil where the history
	// is one. Then the verdict is theirs together, the witness is one of the
	// whole history, and what is said of a failure stands in the keys' results.
	Keys []KeyResult
}

// KeyResult is the result of one independent key. Its History is the key's.
type KeyResult struct {
	Key edn.ID
	*Result
}

// FirstFailing is the result whose failing completion is the earliest: of one
// of the keys where there are any, else r itself.
func (r *Result) FirstFailing() *Result {
	if k := r.FailingKey(); k != nil {
		return k.Result
	}
	return r
}

// FailingKey is the independent key that fails first in the file, nil where
// none does.
func (r *Result) FailingKey() *KeyResult {
	var first *KeyResult
	for i := range r.Keys {
		k := &r.Keys[i]
		if k.Verdict == Invalid && (first == nil || k.event() < first.event()) {
			first = k
		}
	}
	return first
}

// FailingIndex is the :index of the first failing completion.
func (r *Result) FailingIndex() int64 {
	f := r.FirstFailing()
	return f.History.Index(f.Op)
}

// event is the failing completion as an event of the whole history.
func (k *KeyResult) event() int32 { return k.History.wholeEvent[k.Op] }

// Config is a configuration: a state, the operation linearized last (or None)
// and those that were open.
type Config struct {
	Model   edn.ID
	Last    int32
	Pending []int32
}

// Step is a step of a final path: an operation and the state after it, or why
// there is none.
type Step struct {
	Op    int32
	Model edn.ID
}

// PreviousOK is the :ok event before the failing one, or None.
func (r *Result) PreviousOK() int32 {
	for e := r.Op - 1; e >= 0; e-- {
		if r.History.Type[e] == OK {
			return e
		}
	}
	return None
}

// Inconsistent is Knossos's record for a step that cannot happen.
func Inconsistent(v *edn.Values, msg string) edn.ID {
	return v.InternTagged("knossos.model.Inconsistent",
		v.InternMap([]edn.ID{v.InternKeyword("msg"), v.InternString(msg)}))
}

// EDN is the result map on one line, with sorted keys. Like everything that
// renders ops, it adds to the history's Values.
func (r *Result) EDN() string {
	v := edn.NewValues()
	if r.History != nil {
		v = r.History.Values
	}
	m := mapOf{v: v}
	if r.Keys == nil {
		r.fill(&m)
	} else {
		r.fillKeys(&m)
	}
	if r.File != "" {
		m.put("file", v.InternString(r.File))
	}
	return v.Text(m.id())
}

// fillKeys makes a map as jepsen.independent's checker answers it. Keys that
// are unknown are no failures.
func (r *Result) fillKeys(m *mapOf) {
	var results, failures []edn.ID
	for _, k := range r.Keys {
		one := mapOf{v: m.v}
		k.fill(&one)
		results = append(results, k.Key, one.id())
		if k.Verdict == Invalid {
			failures = append(failures, k.Key)
		}
	}
	m.put("valid?", r.valid(m.v))
	m.put("results", m.v.InternMap(results))
	m.put("failures", m.v.InternVector(failures))
}

func (r *Result) valid(v *edn.Values) edn.ID {
	switch r.Verdict {
	case Valid:
		return edn.True
	case Invalid:
		return edn.False
	}
	return v.InternKeyword("unknown")
}

// fill makes the map of a single history.
func (r *Result) fill(m *mapOf) {
	v := m.v
	m.put("valid?", r.valid(v))
	configs, paths := v.InternList(nil), v.InternList(nil)
	switch r.Verdict {
	case Valid:
		m.put("model", r.Final)
	case Invalid:
		m.put("op", r.History.echo(r.Op))
		m.put("previous-ok", r.History.echo(r.PreviousOK()))
		m.put("last-op", r.opBefore(r.LastOp))
		m.put("core", v.InternList(r.each(r.Core, r.opBefore)))
		configs, paths = r.configs(), r.paths()
	default:
		m.put("cause", v.InternKeyword(r.Cause))
		if r.Error != "" {
			m.put("error", v.InternString(r.Error))
		}
	}
	if sentence := r.sentence(); r.Verdict != Valid && sentence != "" {
		m.put("explanation", v.InternString(sentence))
	}
	m.put("configs", configs)
	m.put("final-paths", paths)
	m.put("analyzer", edn.Nil)
	if r.Analyzer != "" {
		m.put("analyzer", v.InternKeyword(r.Analyzer))
	}
	m.put("stats", r.stats(v))
	if r.Verified {
		m.put("verified?", edn.True)
	}
}

func (r *Result) sentence() string {
	switch {
	case r.Verdict == Valid && r.Depth > 0 && r.Explanation == "":
		return fmt.Sprintf("witness found at depth %d", r.Depth)
	case r.Verdict == Valid && r.Depth > 0:
		return fmt.Sprintf("witness found at depth %d: %s", r.Depth, r.Explanation)
	case r.Hint == "":
		return r.Explanation
	}
	return r.Explanation + " (" + r.Hint + ")"
}

func (r *Result) stats(v *edn.Values) edn.ID {
	m := mapOf{v: v}
	if h := r.History; h != nil {
		m.put("events", v.InternInt(int64(h.Events)))
		m.put("operations", v.InternInt(int64(h.Operations())))
		m.put("crashed", v.InternInt(int64(h.CrashedCount())))
		m.put("skipped", v.InternInt(int64(h.Skipped)))
	}
	m.put("ms", v.InternFloat(r.Ms))
	return m.id()
}

func (r *Result) configs() edn.ID {
	v := r.History.Values
	var list []edn.ID
	for _, c := range r.Configs {
		m := mapOf{v: v}
		m.put("model", c.Model)
		m.put("last-op", r.opBefore(c.Last))
		m.put("pending", v.InternVector(r.each(c.Pending, r.History.echoInvocation)))
		list = append(list, m.id())
	}
	return v.InternList(list)
}

func (r *Result) paths() edn.ID {
	v := r.History.Values
	var list []edn.ID
	for _, path := range r.Paths {
		var steps []edn.ID
		for _, s := range path {
			m := mapOf{v: v}
			m.put("op", r.opBefore(s.Op))
			m.put("model", s.Model)
			steps = append(steps, m.id())
		}
		list = append(list, v.InternVector(steps))
	}
	return v.InternList(list)
}

// opBefore is an operation as it stands at the failure: its completion where it
// had returned by then, else its invocation.
func (r *Result) opBefore(op int32) edn.ID {
	if op == None {
		return edn.Nil
	}
	h := r.History
	if c := h.Completion[op]; c != None && c <= r.Op && h.Status[op] != Crashed {
		return h.echo(c)
	}
	return h.echoInvocation(op)
}

func (r *Result) each(ops []int32, echo func(int32) edn.ID) []edn.ID {
	var ids []edn.ID
	for _, op := range ops {
		ids = append(ids, echo(op))
	}
	return ids
}

// echo is the op map of an event with all its keys. Like Knossos it adds an
// :index where there is none, and a nil :value.
func (h *History) echo(event int32) edn.ID {
	if event == None {
		return edn.Nil
	}
	return h.opMap(event, h.Value[event])
}

// echoInvocation is an operation's invocation with the value that it returned
// where it succeeded, as Knossos shows pending operations.
func (h *History) echoInvocation(op int32) edn.ID {
	return h.opMap(h.Invocation[op], h.OpValue(op))
}

func (h *History) opMap(event int32, value edn.ID) edn.ID {
	v := h.Values
	m := mapOf{v: v, kvs: h.written(event)}
	if index := v.InternKeyword("index"); !m.has(index) {
		m.kvs = append(m.kvs, index, v.InternInt(h.Index(event)))
	}
	m.put("value", value)
	return m.id()
}

// written is the keys and values of an op as they stand in its file.
func (h *History) written(event int32) []edn.ID {
	v := h.Values
	if text := h.text(event); len(text) > 0 {
		if id, err := v.ParseLenient(text); err == nil {
			return append([]edn.ID(nil), v.Items(id)...)
		}
	}
	m := mapOf{v: v}
	m.put("process", h.Processes[h.Process[event]])
	m.put("type", v.InternKeyword(h.Type[event].String()[1:]))
	m.put("f", h.F[event])
	return m.kvs
}

// text is the op of an event as it stands in its file, or so that it prints the
// same once it is read; empty if it is no op map.
func (h *History) text(event int32) []byte {
	if h.whole != nil {
		return h.whole.text(h.wholeEvent[event])
	}
	return h.texts.Text(int(event), h.Values, &opmap.Event{
		Type:    h.Values.InternKeyword(h.Type[event].String()[1:]),
		Process: h.Processes[h.Process[event]],
		F:       h.F[event],
		Value:   h.Value[event],
		Key:     h.Key(event),
		Index:   h.Index(event),
	})
}

// mapOf builds a map.
type mapOf struct {
	v   *edn.Values
	kvs []edn.ID
}

func (m *mapOf) has(key edn.ID) bool {
	for i := 0; i < len(m.kvs); i += 2 {
		if m.kvs[i] == key {
			return true
		}
	}
	return false
}

// put sets a keyword's value.
func (m *mapOf) put(name string, value edn.ID) {
	key := m.v.InternKeyword(name)
	for i := 0; i < len(m.kvs); i += 2 {
		if m.kvs[i] == key {
			m.kvs[i+1] = value
			return
		}
	}
	m.kvs = append(m.kvs, key, value)
}

func (m *mapOf) id() edn.ID { return m.v.InternMap(m.kvs) }
