package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// Levels says at which levels of consistency a history of transactions is, and which anomalies it has. docs/transactions.md
// defines all of it.
type Levels struct {
	Asked     models.Level   // "": the verdict is on strict serializability
	AskedBy   string         // the file with the test map that asks for it, "" if the caller did
	AskedAs   string         // what that file calls it, or what it asks for and implies Asked; "" if it asks for Asked
	Strongest []models.Level // the strongest that hold
	Not       []models.Level // the weakest that do not hold
	AlsoNot   []models.Level // all others that do not hold
	Undecided []models.Level // a bounded search did not decide, or none of those that are weaker than Asked can be; then
	Why       string         // says why
	Anomalies []TxnAnomaly   // at most MaxAnomalies of each type
	Count     map[string]int // how many anomalies of each type were found
}

// MaxAnomalies bounds the anomalies of a type that a result has.
const MaxAnomalies = 8

// TxnAnomaly is an anomaly of transactions.
type TxnAnomaly struct {
	Type   string       // as Elle names it: "G1c", "internal"
	Breaks models.Level // the weakest level that does not allow it, or ""
	Says   string       // in words
	// Txns are its transactions. Those of a cycle are in its order.
	Txns  []jepsen.Operation
	Steps []TxnStep // of a cycle: step i leads from transaction i to the next one

	// Key and Wrong are those of an anomaly that is not a cycle: the key that it is about, as EDN, and what pictures say of
	// the transaction that is wrong. Either may be "".
	Key, Wrong string
}

// TxnStep is a step of a cycle.
type TxnStep struct {
	Type       string // "ww", "wr", "rw", "process" or "realtime"
	Key, Value string // EDN, or ""
	Says       string // in words, which call the transactions T1, T2 and so on
}

// Line returns the anomaly as a line for people.
func (a *TxnAnomaly) Line() string { return a.Type + ": " + a.Says }

// Worst returns the anomaly that breaks the weakest level, or nil. If several do, that is one that needs no cycle, and else the first by
// its type.
func (x *Levels) Worst() (worst *TxnAnomaly) {
	for i := range x.Anomalies {
		if a := &x.Anomalies[i]; worst == nil || a.worse(worst) {
			worst = a
		}
	}
	return worst
}

func (a *TxnAnomaly) worse(b *TxnAnomaly) bool {
	switch {
	case a.Breaks != b.Breaks:
		return b.Breaks.Implies(a.Breaks)
	case (a.Steps == nil) != (b.Steps == nil):
		return a.Steps == nil
	}
	return a.Type < b.Type
}

// maxShown bounds the transactions of an anomaly that pictures and pages show.
const maxShown = 12

// Shown returns the places of the transactions that pictures and pages show: all, or the first ones and the last one.
func (a *TxnAnomaly) Shown() (places []int) {
	for i := range a.Txns {
		if i < maxShown-1 || i == len(a.Txns)-1 {
			places = append(places, i)
		}
	}
	return places
}

// ShownTxns returns these transactions.
func (a *TxnAnomaly) ShownTxns() (ops []jepsen.Operation) {
	for _, i := range a.Shown() {
		ops = append(ops, a.Txns[i])
	}
	return ops
}

// ShownSteps returns the places of the steps between these.
func (a *TxnAnomaly) ShownSteps() (places []int) {
	for i := range a.Steps {
		if i < maxShown-2 || i == len(a.Steps)-1 || len(a.Steps) <= maxShown {
			places = append(places, i)
		}
	}
	return places
}

// wrong returns the place of the transaction that is Wrong, or -1. Of several that read the same version, that is the last one.
func (a *TxnAnomaly) wrong() int {
	switch {
	case a.Wrong == "":
		return -1
	case a.Type == "lost-update":
		return len(a.Txns) - 1
	}
	return 0
}

// Types returns the types of the anomalies, without repetition.
func (x *Levels) Types() (types []string) {
	for _, a := range x.Anomalies {
		if !slices.Contains(types, a.Type) {
			types = append(types, a.Type)
		}
	}
	slices.Sort(types)
	return types
}

// Line returns the levels as a line for people, or "".
func (x *Levels) Line() string {
	var parts []string
	if len(x.Strongest) > 0 {
		parts = append(parts, levelNames(x.Strongest, "and")+" "+map[bool]string{true: "holds", false: "hold"}[len(x.Strongest) == 1])
	}
	if len(x.Not) > 0 {
		but := "but not "
		if len(parts) == 0 {
			but = "not "
		}
		parts = append(parts, but+levelNames(x.Not, "or"))
	}
	if len(x.Undecided) > 0 {
		parts = append(parts, "undecided: "+levelNames(x.Undecided, "and"))
	}
	if x.Why != "" {
		return "levels: not decided: " + x.Why
	}
	if len(parts) == 0 {
		return ""
	}
	line := "levels: " + strings.Join(parts, ", ")
	if x.AskedBy != "" {
		if x.AskedAs != "" {
			line += fmt.Sprintf("; the test asked for %s, judged as %s (according to %s)", x.AskedAs, x.Asked, x.AskedBy)
		} else {
			line += fmt.Sprintf("; the test asked for %s (according to %s)", x.Asked, x.AskedBy)
		}
	}
	return line
}

// Lines returns the levels in lines for people, and an anomaly of each type.
func (x *Levels) Lines() (lines []string) {
	if line := x.Line(); line != "" {
		lines = append(lines, line)
	}
	for _, kind := range x.Types() {
		for _, a := range x.Anomalies {
			if a.Type != kind {
				continue
			}
			lines = append(lines, a.Line())
			if n := x.Count[kind] - 1; n > 0 {
				lines = append(lines, fmt.Sprintf("%s: %d more", kind, n))
			}
			break
		}
	}
	return lines
}

func levelNames(all []models.Level, last string) string {
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = string(l)
	}
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
	}
	return names[0]
}

// verdict returns the verdict as pictures have it: on the level that was asked for, if there was one.
func (r *Result) verdict() string {
	if x := r.Levels; x != nil && x.Asked.Weaker() && r.Verdict != jepsen.Unknown {
		return map[jepsen.Verdict]string{jepsen.Invalid: "not "}[r.Verdict] + string(x.Asked)
	}
	return r.Verdict.String()
}

// LineLevels is Levels in a Line.
type LineLevels struct {
	Asked     models.Level   `json:"consistency,omitempty"`
	AskedBy   string         `json:"consistency-told-by,omitempty"`
	AskedAs   string         `json:"consistency-told-as,omitempty"`
	Strongest []models.Level `json:"strongest"`
	Not       []models.Level `json:"not,omitempty"`
	AlsoNot   []models.Level `json:"also-not,omitempty"`
	Undecided []models.Level `json:"undecided,omitempty"`
	Why       string         `json:"undecided-because,omitempty"`
	Types     []string       `json:"anomaly-types,omitempty"`
	Anomalies []LineAnomaly  `json:"anomalies,omitempty"`
	Count     map[string]int `json:"count,omitempty"`
}

// LineAnomaly is a TxnAnomaly in a Line.
type LineAnomaly struct {
	Type   string       `json:"type"`
	Breaks models.Level `json:"breaks,omitempty"`
	Says   string       `json:"explanation"`
	Txns   []int64      `json:"op-indices"`
	Steps  []LineStep   `json:"steps,omitempty"`
}

// LineStep is a TxnStep in a Line.
type LineStep struct {
	Type  string `json:"type"`
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
	Says  string `json:"explanation,omitempty"`
}

// line returns the levels for a Line.
func (x *Levels) line(h *jepsen.History) *LineLevels {
	if x == nil {
		return nil
	}
	l := &LineLevels{x.Asked, x.AskedBy, x.AskedAs, append([]models.Level{}, x.Strongest...), x.Not, x.AlsoNot, x.Undecided, x.Why, x.Types(), nil, x.Count}
	for _, a := range x.Anomalies {
		y := LineAnomaly{Type: a.Type, Breaks: a.Breaks, Says: a.Says, Txns: []int64{}}
		for _, op := range a.Txns {
			y.Txns = append(y.Txns, h.LastIndex(op))
		}
		for _, s := range a.Steps {
			y.Steps = append(y.Steps, LineStep{s.Type, text.Shorten(s.Key, maxKeyTitle), text.Shorten(s.Value, maxKeyTitle), s.Says})
		}
		l.Anomalies = append(l.Anomalies, y)
	}
	return l
}

// levels appends what Elle's results have under the same keys, and the strongest levels.
func (p *ednPrinter) levels(m []field, r *Result) []field {
	x := r.Levels
	names := func(all []models.Level) func() {
		return func() { p.list("[]", len(all), func(i int) { p.keyword(string(all[i]))() }) }
	}
	set := func(all []models.Level) func() {
		return func() { p.out.WriteByte('#'); p.list("{}", len(all), func(i int) { p.keyword(string(all[i]))() }) }
	}
	m = append(m, field{"strongest", names(x.Strongest)})
	if x.Asked != "" {
		m = append(m, field{"consistency", p.keyword(string(x.Asked))})
	}
	if x.AskedBy != "" {
		m = append(m, field{"consistency-told-by", p.string(x.AskedBy)})
	}
	if x.AskedAs != "" {
		m = append(m, field{"consistency-told-as", p.string(x.AskedAs)})
	}
	if len(x.Not) > 0 {
		m = append(m, field{"not", set(x.Not)}, field{"also-not", set(x.AlsoNot)})
	}
	if len(x.Undecided) > 0 {
		m = append(m, field{"undecided", names(x.Undecided)})
	}
	if x.Why != "" {
		m = append(m, field{"undecided-because", p.string(x.Why)})
	}
	types := x.Types()
	if len(types) == 0 {
		return m
	}
	var anomalies []field
	for _, kind := range types {
		var of []TxnAnomaly
		for _, a := range x.Anomalies {
			if a.Type == kind {
				of = append(of, a)
			}
		}
		anomalies = append(anomalies, field{kind, func() { p.list("[]", len(of), func(i int) { p.anomaly(r, &of[i]) }) }})
	}
	counts := make([]field, len(types))
	for i, kind := range types {
		counts[i] = field{kind, p.int(x.Count[kind])}
	}
	m = append(m, field{"anomaly-counts", func() { p.fields(counts) }})
	return append(m, field{"anomaly-types", func() { p.list("()", len(types), func(i int) { p.keyword(types[i])() }) }},
		field{"anomalies", func() { p.fields(anomalies) }})
}

// anomaly prints an anomaly. The cycle ends with the transaction with which it begins.
func (p *ednPrinter) anomaly(r *Result, a *TxnAnomaly) {
	ops, name := a.Txns, "ops"
	if a.Steps != nil {
		ops, name = append(slices.Clone(ops), ops[0]), "cycle"
	}
	m := []field{{"type", p.keyword(a.Type)}, {"explanation", p.string(a.Says)},
		{name, func() { p.list("[]", len(ops), func(i int) { p.event(r, r.History.LastEvent(ops[i])) }) }}}
	if a.Breaks != "" {
		m = append(m, field{"breaks", p.keyword(string(a.Breaks))})
	}
	if a.Key != "" {
		m = append(m, field{"key", p.raw(a.Key)})
	}
	if a.Wrong != "" {
		m = append(m, field{"wrong", p.string(a.Wrong)})
	}
	if a.Steps != nil {
		m = append(m, field{"steps", func() {
			p.list("[]", len(a.Steps), func(i int) {
				s := a.Steps[i]
				m := []field{{"type", p.keyword(s.Type)}, {"explanation", p.string(s.Says)}}
				if s.Key != "" {
					m = append(m, field{"key", p.raw(s.Key)})
				}
				if s.Value != "" {
					m = append(m, field{"value", p.raw(s.Value)})
				}
				p.fields(m)
			})
		}})
	}
	p.fields(m)
}

// levels reads what ednPrinter.levels printed, or what Elle says of the same, and the anomaly that the explanation tells.
func (s *savedResult) levels(m edn.Value) {
	if told, ok := m.Get("anomaly"); ok {
		s.r.Told = s.anomaly(told, "")
	}
	types, ok := m.Get("anomaly-types")
	strongest, ours := m.Get("strongest")
	if !ok && !ours {
		return
	}
	x := &Levels{Strongest: levelsOf(strongest), Count: map[string]int{}}
	for key, to := range map[string]*[]models.Level{"not": &x.Not, "also-not": &x.AlsoNot, "undecided": &x.Undecided} {
		list, _ := m.Get(key)
		*to = levelsOf(list)
	}
	if why, ok := m.Get("undecided-because"); ok && why.Kind() == edn.KindString {
		x.Why = why.Go().(string)
	}
	if asked, ok := m.Get("consistency"); ok {
		x.Asked = models.Level(name(asked))
	}
	if by, ok := m.Get("consistency-told-by"); ok && by.Kind() == edn.KindString {
		x.AskedBy = by.Go().(string)
	}
	if as, ok := m.Get("consistency-told-as"); ok && as.Kind() == edn.KindString {
		x.AskedAs = as.Go().(string)
	}
	counts, _ := m.Get("anomaly-counts")
	anomalies, _ := m.Get("anomalies")
	for _, kind := range types.Items() {
		list, _ := anomalies.Get(name(kind))
		for _, item := range list.Items() {
			a := s.anomaly(item, name(kind))
			if a == nil {
				continue
			}
			if x.Count[a.Type]++; x.Count[a.Type] <= MaxAnomalies {
				x.Anomalies = append(x.Anomalies, *a)
			}
		}
		if n, ok := counts.Get(name(kind)); ok {
			if count, isInt := n.Int(); isInt {
				x.Count[name(kind)] = int(count)
			}
		}
	}
	s.r.Levels = x
}

// withAnomalies returns the part of a result map that has Elle's anomalies, which Jepsen's tests have below :workload. It returns the map itself if that has
// a failure, or if there is no such part so deep in it.
func withAnomalies(m edn.Value, deep int) edn.Value {
	_, fails := m.Get("op")
	_, has := m.Get("anomaly-types")
	if fails || has || deep == 0 || m.Kind() != edn.KindMap {
		return m
	}
	for _, part := range m.Items() {
		if part = withAnomalies(part, deep-1); part.Kind() == edn.KindMap {
			if _, has := part.Get("anomaly-types"); has {
				return part
			}
		}
	}
	return m
}

// told reads a failure of which only the anomalies are known, as Elle has it: the worst one is told. It returns None if the history
// does not have them.
func (s *savedResult) told() (last jepsen.Event) {
	last = jepsen.None
	if s.r.Levels == nil || s.r.Levels.Worst() == nil {
		return last
	}
	s.r.Told = s.r.Levels.Worst()
	s.r.Explanation, s.r.Drawn, s.r.Core = s.r.Told.Line(), s.r.Told.Type, slices.Sorted(slices.Values(s.r.Told.Txns))
	for _, op := range s.r.Core {
		if s.h.Status[op] == jepsen.Succeeded {
			last = max(last, s.h.Completion[op])
		}
	}
	return last
}

// anomaly reads an anomaly. It returns nil if the history does not have its transactions. Elle's have other keys, and no words.
func (s *savedResult) anomaly(m edn.Value, kind string) *TxnAnomaly {
	get := func(m edn.Value, key string) string {
		v, ok := m.Get(key)
		switch {
		case !ok:
			return ""
		case v.Kind() == edn.KindString && key != "key" && !strings.HasPrefix(key, "value"):
			return v.Go().(string)
		}
		return v.String()
	}
	a := &TxnAnomaly{Type: text.Line(cmp.Or(kind, strings.TrimPrefix(get(m, "type"), ":"))), Breaks: models.Level(strings.TrimPrefix(get(m, "breaks"), ":")),
		Says: get(m, "explanation"), Key: get(m, "key"), Wrong: get(m, "wrong")}
	for _, key := range []string{"ops", "cycle", "txns"} {
		list, _ := m.Get(key)
		ops := s.operations(list)
		if len(ops) < len(list.Items()) {
			return nil
		}
		a.Txns = append(a.Txns, ops...)
	}
	for _, key := range []string{"op", "writer"} {
		if op, ok := m.Get(key); ok && s.operation(op) != jepsen.None {
			a.Txns = append(a.Txns, s.operation(op))
		}
	}
	steps, _ := m.Get("steps")
	if n := len(steps.Items()); n > 0 && len(a.Txns) == n+1 {
		a.Txns = a.Txns[:n]
	}
	for i, step := range steps.Items() {
		x := TxnStep{text.Line(strings.TrimPrefix(get(step, "type"), ":")), get(step, "key"), cmp.Or(get(step, "value'"), get(step, "value")), get(step, "explanation")}
		x.Says = cmp.Or(x.Says, fmt.Sprintf("T%d comes before T%d (%s)", i+1, (i+1)%len(steps.Items())+1, strings.TrimSpace(x.Type+" "+x.Key+" "+x.Value)))
		a.Steps = append(a.Steps, x)
	}
	if len(a.Txns) == 0 || len(a.Steps) > 0 && len(a.Txns) != len(a.Steps) {
		return nil
	}
	if a.Says == "" {
		var names []string
		for _, op := range a.ShownTxns() {
			names = append(names, s.h.Name(op))
		}
		a.Says = strings.Join(names, ", ")
	}
	return a
}

func levelsOf(list edn.Value) (all []models.Level) {
	for _, level := range list.Items() {
		all = append(all, models.Level(name(level)))
	}
	return all
}

// name returns the name of a keyword.
func name(v edn.Value) string { return strings.TrimPrefix(v.String(), ":") }
