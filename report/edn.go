package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/opmap"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// EDN returns the result map on one line, with sorted keys.
func (r *Result) EDN() string {
	var b strings.Builder
	r.writeEDN(&b, 1<<10) // a Builder takes everything
	return b.String()
}

// WriteEDN writes the result map on one line, with sorted keys, as the text of the
// map that Clojure would read. It never holds the whole text: it writes a million
// independent keys one after the other, and a core operation by operation.
func (r *Result) WriteEDN(w io.Writer) error {
	if r.Keys == nil {
		return r.writeEDN(w, 8<<10)
	}
	return r.writeEDN(w, 64<<10)
}

// writeEDN writes the result map through a buffer of some size.
func (r *Result) writeEDN(w io.Writer, size int) error {
	p := &ednPrinter{out: bufio.NewWriterSize(w, size)}
	if r.History != nil && r.History.Values != nil {
		p.v = r.History.Values
	} else {
		p.v = edn.NewValues()
	}
	var m []field
	if r.Keys == nil {
		m = p.single(r)
	} else {
		m = p.keyed(r)
	}
	if r.File != "" {
		m = append(m, field{"file", p.string(r.File)})
	}
	p.fields(m)
	return p.out.Flush()
}

// ednPrinter prints EDN. A print method returns a function that prints one form.
type ednPrinter struct {
	out  *bufio.Writer
	v    *edn.Values
	ops  *jepsen.OpPrinter // of the current result, nil before its first op
	text []byte            // of the current form

	ofKey bool // the current result is that of an independent key, which is read as all are
}

// field is a key of a map (a keyword) and the function that prints its value.
type field struct {
	name  string
	print func()
}

func (p *ednPrinter) fields(m []field) {
	slices.SortFunc(m, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	p.out.WriteByte('{')
	for i, f := range m {
		if i > 0 {
			p.out.WriteString(", ")
		}
		p.out.WriteByte(':')
		p.out.WriteString(f.name)
		p.out.WriteByte(' ')
		f.print()
	}
	p.out.WriteByte('}')
}

func (p *ednPrinter) list(brackets string, n int, print func(i int)) {
	p.out.WriteByte(brackets[0])
	for i := range n {
		if i > 0 {
			p.out.WriteByte(' ')
		}
		print(i)
	}
	p.out.WriteByte(brackets[1])
}

func (p *ednPrinter) raw(text string) func() { return func() { p.out.WriteString(text) } }

func (p *ednPrinter) int(n int) func() {
	return func() {
		p.text = strconv.AppendInt(p.text[:0], int64(n), 10)
		p.out.Write(p.text)
	}
}

func (p *ednPrinter) string(s string) func() {
	return func() {
		p.text = edn.AppendString(p.text[:0], s)
		p.out.Write(p.text)
	}
}

func (p *ednPrinter) keyword(name string) func() {
	if name == "" {
		return p.raw("nil")
	}
	return func() {
		p.out.WriteByte(':')
		p.out.WriteString(name)
	}
}

func (p *ednPrinter) value(x edn.Value) func() {
	return func() {
		p.text = p.v.AppendText(p.text[:0], x.ID())
		p.out.Write(p.text)
	}
}

// keyed returns a map like the one that jepsen.independent's
// checker returns. Keys with an unknown verdict are not failures.
func (p *ednPrinter) keyed(r *Result) []field {
	ids := make([]edn.ID, len(r.Keys))
	var failures []edn.Value
	for i, k := range r.Keys {
		ids[i] = k.Key.ID()
		if k.Verdict == jepsen.Invalid {
			failures = append(failures, k.Key)
		}
	}
	m := []field{
		{"valid?", p.valid(r)},
		{"failures", func() { p.list("[]", len(failures), func(i int) { p.value(failures[i])() }) }},
		{"results", func() { p.results(r.Keys, p.v.Sorted(ids)) }},
	}
	if likely := r.unspelled(); likely != "" {
		m = append(m, field{"likely-init", p.raw(likely)})
	}
	if r.Verdict != jepsen.Unknown {
		m = append(m, p.verified(r))
	}
	return p.notes(m, r)
}

// notes appends as what a history was read, why a
// verdict is vacuous, and how far it is from being linearizable, where that applies.
func (p *ednPrinter) notes(m []field, r *Result) []field {
	if x := r.Reading(); !p.ofKey && x != (Reading{}) {
		m = append(m, field{"reading", p.reading(x)})
	}
	if r.Alternatives != nil {
		m = append(m, field{"readings", func() { p.list("[]", len(r.Alternatives), func(i int) { p.alternative(r.Alternatives[i]) }) }})
	}
	if r.Vacuous != "" {
		m = append(m, field{"vacuous", p.string(r.Vacuous)})
	}
	if r.HowFar != nil {
		m = append(m, field{"how-far", func() { p.howFar(r.HowFar) }})
	}
	if r.Levels != nil {
		m = p.levels(m, r)
	}
	return m
}

// shownAtOnce bounds how many results of keys are held while they are printed.
const shownAtOnce = 1024

// results prints the map of the keys' results in the given order.
func (p *ednPrinter) results(keys []KeyResult, order []int) {
	p.out.WriteByte('{')
	separator := ""
	for some := range slices.Chunk(order, shownAtOnce) {
		for i, r := range resultsOf(keys, some) {
			p.out.WriteString(separator)
			p.value(keys[some[i]].Key)()
			p.out.WriteByte(' ')
			p.ops, p.ofKey = nil, true
			p.fields(p.single(r))
			p.ofKey = false
			separator = ", "
		}
	}
	p.out.WriteByte('}')
}

func (p *ednPrinter) valid(r *Result) func() { return p.verdict(r.Verdict) }

func (p *ednPrinter) verdict(v jepsen.Verdict) func() {
	switch v {
	case jepsen.Valid:
		return p.raw("true")
	case jepsen.Invalid:
		return p.raw("false")
	}
	return p.keyword("unknown")
}

func (p *ednPrinter) verified(r *Result) field {
	return field{"verified?", p.raw(strconv.FormatBool(r.Verified))}
}

func (p *ednPrinter) single(r *Result) []field {
	configs, paths := p.raw("()"), p.raw("()")
	m := []field{{"valid?", p.valid(r)}, {"analyzer", p.keyword(r.Analyzer)}, {"stats", func() { p.stats(r) }}}
	switch r.Verdict {
	case jepsen.Valid:
		m = append(m, field{"model", p.value(r.Final)})
	case jepsen.Invalid:
		m = append(m,
			field{"op", func() { p.event(r, r.FailEvent.OrNone()) }},
			field{"previous-ok", func() { p.event(r, r.PreviousOK()) }},
			field{"last-op", func() { p.opBefore(r, r.LastOperation.OrNone()) }},
			field{"core", func() { p.list("()", len(r.Core), func(i int) { p.opBefore(r, r.Core[i]) }) }})
		if r.Kind != "" {
			m = append(m, field{"kind", p.keyword(string(r.Kind))})
		}
		if r.Told != nil {
			m = append(m, field{"anomaly", func() { p.anomaly(r, r.Told) }})
		}
		configs, paths = func() { p.configs(r) }, func() { p.paths(r) }
	default:
		m = append(m, field{"cause", p.keyword(string(r.Cause))})
		if r.Error != "" {
			m = append(m, field{"error", p.string(r.Error)})
		}
	}
	if r.Hard != nil {
		m = append(m, field{"hard", func() { p.hard(r) }})
		if by, known := r.Hard.FailsBy.Get(); known && r.Verdict == jepsen.Invalid {
			m = append(m, field{"fails-by", func() { p.event(r, by) }})
		}
	}
	if sentence := r.sentence(); r.Verdict != jepsen.Valid && sentence != "" {
		m = append(m, field{"explanation", p.string(sentence)})
	}
	if story := r.Story.Sentences; story != nil {
		m = append(m, field{"story", func() { p.list("[]", len(story), func(i int) { p.string(story[i])() }) }})
	}
	if len(r.Broken) > 0 {
		m = append(m, field{"broken", func() { p.list("[]", len(r.Broken), func(i int) { p.broken(r, i) }) }})
	}
	m = append(m, field{"configs", configs}, field{"final-paths", paths})
	if r.Verdict != jepsen.Unknown {
		m = append(m, p.verified(r))
	}
	if likely := r.unspelled(); likely != "" {
		m = append(m, field{"likely-init", p.raw(likely)})
	}
	if r.ToldBy != "" {
		m = append(m, field{"told-by", p.string(r.ToldBy)})
		if r.Init != "" {
			m = append(m, field{"init", p.raw(r.Init)})
		}
	}
	if r.Missing != "" {
		m = append(m, field{"missing", p.string(r.Missing)})
	}
	return p.notes(m, r)
}

// broken prints a guarantee that an answer breaks.
func (p *ednPrinter) broken(r *Result, i int) {
	b := r.Broken[i]
	p.fields([]field{{"guarantee", p.keyword(b.Guarantee)}, {"index", p.int(int(r.History.Index(r.History.Completion[b.Operation])))}, {"why", p.string(b.Why)}})
}

func (r *Result) sentence() string {
	switch {
	case r.Verdict == jepsen.Valid && r.Depth > 0 && r.Explanation == "":
		return fmt.Sprintf("witness found at depth %d", r.Depth)
	case r.Verdict == jepsen.Valid && r.Depth > 0:
		return fmt.Sprintf("witness found at depth %d: %s", r.Depth, r.Explanation)
	case r.Hint == "":
		return r.Explanation
	}
	return r.Explanation + " (" + r.Hint + ")"
}

func (p *ednPrinter) stats(r *Result) {
	m := []field{{"ms", func() { p.out.Write(edn.AppendFloat(nil, r.Ms)) }}}
	if n := r.counts(); n != nil {
		m = append(m, field{"events", p.int(n.Events)}, field{"operations", p.int(n.Operations)},
			field{"crashed", p.int(n.Crashed)}, field{"skipped", p.int(n.Skipped)})
	}
	p.fields(m)
}

func (p *ednPrinter) configs(r *Result) {
	p.list("()", len(r.Configs), func(i int) {
		c := r.Configs[i]
		p.fields([]field{
			{"model", p.value(c.State)},
			{"last-op", func() { p.opBefore(r, c.Last) }},
			{"pending", func() { p.list("[]", len(c.Pending), func(i int) { p.operation(r, c.Pending[i]) }) }},
		})
	})
}

func (p *ednPrinter) paths(r *Result) {
	p.list("()", len(r.Paths), func(i int) {
		path := r.Paths[i]
		p.list("[]", len(path), func(i int) {
			s := path[i]
			p.fields([]field{{"op", func() { p.opBefore(r, s.Operation) }}, {"model", p.state(s)}})
		})
	})
}

// state prints the state after a step. If the step cannot
// happen, it prints Knossos's record that says so.
func (p *ednPrinter) state(s Step) func() {
	if s.Why == "" {
		return p.value(s.State)
	}
	return func() {
		p.out.WriteString("#knossos.model.Inconsistent")
		p.fields([]field{{"msg", p.string(s.Why)}})
	}
}

// opBefore prints an operation as it stood at the failure: its
// completion if it had returned by then, otherwise its invocation.
func (p *ednPrinter) opBefore(r *Result, op jepsen.Operation) {
	if op == jepsen.None {
		p.out.WriteString("nil")
		return
	}
	h := r.History
	if c := h.Completion[op]; c != jepsen.None && c <= r.FailEvent.OrNone() && h.Status[op] != jepsen.Crashed {
		p.event(r, c)
		return
	}
	p.operation(r, op)
}

func (p *ednPrinter) event(r *Result, e jepsen.Event) {
	if e == jepsen.None {
		p.out.WriteString("nil")
		return
	}
	p.text = p.printer(r).AppendEvent(p.text[:0], e)
	p.out.Write(p.text)
}

// operation prints an operation's invocation, with the value that it returned.
func (p *ednPrinter) operation(r *Result, op jepsen.Operation) {
	p.text = p.printer(r).AppendOperation(p.text[:0], op)
	p.out.Write(p.text)
}

func (p *ednPrinter) printer(r *Result) *jepsen.OpPrinter {
	if p.ops == nil {
		p.ops = r.History.OpPrinter()
	}
	return p.ops
}

// ReadEDN reads the result map of a history, as written by WriteEDN or Knossos, or a map with the anomalies that Elle found.
// It returns the verdict, and for a failure also what pictures show of it. A map
// does not contain what was linearized before the failure. A failure belongs to
// this history if the history has the failing event; other results, if they
// state no other numbers of events and operations. Errors say what was expected.
func ReadEDN(in io.Reader, name string, h *jepsen.History) (*Result, error) {
	if in == nil || h == nil || h.Values == nil {
		return nil, fmt.Errorf("%s: expected a result and its history, found nil", name)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	id, err := h.Values.Parse(text, edn.Pos{File: name, Line: 1, Col: 1})
	if err != nil {
		return nil, err
	}
	m, at := h.Values.Value(id), edn.Pos{File: name, Line: 1, Col: 1}
	verdict, ok := m.Get("valid?")
	if _, keyed := m.Get("failures"); keyed {
		return nil, at.Errorf("this is a result of independent keys; expected the result of one history")
	}
	r := &Result{File: h.File, History: h}
	switch said := verdict.String(); {
	case !ok || said != "true" && said != "false" && said != ":unknown":
		return nil, at.Errorf("expected a result map with :valid? true, false or :unknown")
	case said == "true":
		r.Verdict = jepsen.Valid
	case said == "false":
		r.Verdict = jepsen.Invalid
		s := &savedResult{r: r, h: h, byIndex: newIndexed(h)}
		if !s.read(withAnomalies(m, 2)) {
			return nil, at.Errorf("the :op of the result is not an :ok event of %s; expected the result of this history", h.File)
		}
		return r, nil
	}
	stats, _ := m.Get("stats") // Knossos does not write them
	for _, count := range []struct {
		of string
		n  int
	}{{"events", h.Events}, {"operations", h.Operations()}, {"crashed", h.CrashedCount()}} {
		if said, ok := stats.Get(count.of); ok && said.String() != strconv.Itoa(count.n) {
			return nil, at.Errorf("the result is of %s :%s, and %s has %d; expected the result of this history", said, count.of, h.File, count.n)
		}
	}
	return r, nil
}

type savedResult struct {
	r       *Result
	h       *jepsen.History
	byIndex indexed
}

// read reads a failure. It returns false if the history does not have the failing event, or the one by which it fails.
func (s *savedResult) read(m edn.Value) bool {
	op, failing := m.Get("op")
	r, h := s.r, s.h
	s.levels(m)
	event := s.event(op)
	if !failing {
		event = s.told()
	}
	if by, placeless := m.Get("fails-by"); placeless && failing && op.Kind() == edn.KindNil {
		event = s.event(by)
		r.Hard = &Hard{FailsBy: jepsen.Some(event), saved: "The limit that ended the search is not known."}
		hard, _ := m.Get("hard")
		if said, ok := hard.Get("text"); ok && said.Kind() == edn.KindString {
			r.Hard.saved = said.Go().(string)
		}
	} else {
		r.FailEvent = jepsen.Some(event)
	}
	if event == jepsen.None || h.Type[event] != jepsen.OK {
		return false
	}
	if said, ok := m.Get("explanation"); ok && said.Kind() == edn.KindString {
		r.Explanation = said.Go().(string)
	}
	story, _ := m.Get("story")
	for _, sentence := range story.Items() {
		if sentence.Kind() == edn.KindString {
			r.Story.Sentences = append(r.Story.Sentences, sentence.Go().(string))
		}
	}
	r.Story.Shown = len(r.Story.Sentences) > 2
	for _, found := range inSentence().FindAllStringSubmatch(r.Explanation, maxNamed) {
		index, err := strconv.ParseInt(found[1], 10, 64)
		for _, e := range s.byIndex.of(index) {
			if op := h.OpOf[e.event]; err == nil && !slices.Contains(r.Named, op) {
				r.Named = append(r.Named, op)
			}
		}
	}
	if said, ok := m.Get("kind"); ok {
		r.Kind = models.AnomalyOf(strings.TrimPrefix(said.String(), ":"))
	}
	last, _ := m.Get("last-op")
	r.LastOperation = jepsen.Some(s.operation(last))
	core, _ := m.Get("core")
	r.Core = s.operations(core)
	slices.Sort(r.Core)
	configs, _ := m.Get("configs")
	for _, c := range configs.Items() {
		pending, _ := c.Get("pending")
		r.Configs = append(r.Configs, Config{Last: jepsen.None, Pending: s.operations(pending)})
	}
	paths, _ := m.Get("final-paths")
	for _, p := range paths.Items() {
		if path := s.path(p); len(path) > 0 {
			r.Paths = append(r.Paths, path)
		}
	}
	return true
}

// inSentence matches the way in which sentences name operations.
var inSentence = text.Pattern(`\(index (-?[0-9]+)\)`)

func (s *savedResult) path(p edn.Value) []Step {
	var path []Step
	for _, step := range p.Items() {
		of, _ := step.Get("op")
		model, _ := step.Get("model")
		x := Step{Operation: s.operation(of), State: model}
		if items := model.Items(); model.Kind() == edn.KindTagged && len(items) == 1 {
			if msg, ok := items[0].Get("msg"); ok && msg.Kind() == edn.KindString {
				x.Why = msg.Go().(string)
			}
		}
		if x.Operation == jepsen.None {
			return nil
		}
		path = append(path, x)
	}
	return path
}

// operations returns those operations of a list that the history has.
func (s *savedResult) operations(list edn.Value) []jepsen.Operation {
	var all []jepsen.Operation
	for _, x := range list.Items() {
		if op := s.operation(x); op != jepsen.None {
			all = append(all, op)
		}
	}
	return all
}

func (s *savedResult) operation(op edn.Value) jepsen.Operation {
	if e := s.event(op); e != jepsen.None {
		return s.h.OpOf[e]
	}
	return jepsen.None
}

func (s *savedResult) event(op edn.Value) jepsen.Event {
	at, _ := op.Get("index")
	index, isInt := at.Int()
	process, _ := op.Get("process")
	kind, _ := op.Get("type")
	f, _ := op.Get("f")
	value, _ := op.Get("value")
	if !isInt {
		return jepsen.None
	}
	return s.byIndex.event(s.h, &opmap.Event{Index: index, Process: process.ID(), Type: kind.ID(), F: f.ID(), Value: value.ID()}, nil)
}
