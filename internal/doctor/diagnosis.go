package doctor

import (
	"fmt"
	"slices"
	"strings"

	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

// Diagnosis says what weakens the test that a history is of. As JSON it is a line of clew doctor.
type Diagnosis struct {
	File string `json:"file"`
	// Healthy is Invalid if there are findings, and Unknown if there are none so far.
	Healthy    jepsen.Verdict `json:"healthy"`
	Model      report.Text    `json:"model"`
	Init       report.Text    `json:"init"`
	Operations int            `json:"operations"`
	Crashed    int            `json:"crashed"`
	// Changed is how many operations mutants are made of: all, unless there are more than Window, or some come after a
	// failure. Verdict is that of those operations, and of the failure.
	Changed  int            `json:"changed"`
	Verdict  jepsen.Verdict `json:"changed-valid"`
	Cause    jepsen.Cause   `json:"cause,omitempty"` // why something is undecided
	Findings []Finding      `json:"findings"`
	Mutants  Mutants        `json:"mutants"`
	Error    string         `json:"error,omitempty"` // why the history could not be read
	Warnings []string       `json:"warnings"`
	Ms       float64        `json:"ms"`

	From     report.Sources `json:"-"`                 // of the reading's parts
	ToldBy   string         `json:"told-by,omitempty"` // the source of the model or the initial value, "" if they were given
	inferred bool
	hurried  bool // the time was over before all mutants had been made
}

// Finding is a weakness of a test.
type Finding struct {
	Name   string `json:"finding"`
	Says   string `json:"says"`
	Change string `json:"change"` // what to change in the test or in the check
}

// Mutants counts mutants, and shows two of them.
type Mutants struct {
	Tally
	Asked   int      `json:"asked"` // how many were to be made; a small history may not have that many
	Ways    []Tally  `json:"ways"`
	Stayed  []Reason `json:"why-valid"` // plain reasons for which mutants stayed linearizable
	Refutes *Example `json:"example-refuted,omitempty"`
	Passes  *Example `json:"example-valid,omitempty"`
}

// Tally counts mutants.
type Tally struct {
	Way       string `json:"way,omitempty"`
	Made      int    `json:"made"`
	Refuted   int    `json:"refuted"`
	Valid     int    `json:"valid"`
	Undecided int    `json:"undecided"`
}

// Reason counts mutants that stayed linearizable for the same reason.
type Reason struct {
	Why   string `json:"why"`
	Count int    `json:"count"`
}

// Example is a mutant.
type Example struct {
	Change string      `json:"change"` // in words
	Index  int64       `json:"index"`  // of the operation that is changed
	Other  *int64      `json:"other"`  // of the one whose answer it gets, if there is one
	Why    report.Text `json:"why"`
}

func newDiagnosis(h *jepsen.History) *Diagnosis {
	d := &Diagnosis{File: h.File, Operations: h.Operations(), Crashed: h.CrashedCount(), Findings: []Finding{}, Warnings: h.Warnings}
	if d.Warnings == nil {
		d.Warnings = []string{}
	}
	d.Mutants.Stayed = []Reason{}
	for _, w := range wayWords {
		d.Mutants.Ways = append(d.Mutants.Ways, Tally{Way: w.name})
	}
	return d
}

// Unread returns the Diagnosis of a history that was not read: the cause says what came first, or the error what is
// wrong with it.
func Unread(file string, cause jepsen.Cause, err error) *Diagnosis {
	d := newDiagnosis(&jepsen.History{File: file})
	if d.Cause = cause; err != nil {
		d.Error = text.Brief(err.Error())
	}
	return d
}

// add counts a mutant and its verdict. explained says why it was refuted.
func (m *Mutants) add(x *mutant, v jepsen.Verdict, explained string) {
	for _, t := range []*Tally{&m.Tally, &m.Ways[x.way]} {
		t.Made++
		switch v {
		case jepsen.Invalid:
			t.Refuted++
		case jepsen.Valid:
			t.Valid++
		default:
			t.Undecided++
		}
	}
	switch {
	case v == jepsen.Invalid && m.Refutes == nil:
		m.Refutes = x.example(explained)
	case v == jepsen.Valid:
		m.stayed(x)
	}
}

// stayed counts why a mutant stayed linearizable. The first one with a plain reason is the example.
func (m *Mutants) stayed(x *mutant) {
	why := x.why()
	if m.Passes == nil || m.Passes.Why == "" && why != "" {
		m.Passes = x.example(why)
	}
	if why == "" {
		return
	}
	i := slices.IndexFunc(m.Stayed, func(r Reason) bool { return r.Why == why })
	if i < 0 {
		i = len(m.Stayed)
		m.Stayed = append(m.Stayed, Reason{Why: why})
	}
	m.Stayed[i].Count++
}

func (m *mutant) example(why string) *Example {
	x := &Example{Change: m.String(), Index: m.of.h.LastIndex(m.a.op), Why: report.Text(text.Brief(why))}
	if m.way != lost {
		other := m.of.h.LastIndex(m.other.op)
		x.Other = &other
	}
	return x
}

// Text returns the diagnosis for people.
func (d *Diagnosis) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(text.Printable(fmt.Sprintf(format, args...)) + "\n") }
	line("%s: %s", text.Line(d.File), d.word())
	if d.Model != "" {
		line("  %s", text.Line(d.summary()))
	}
	for _, f := range d.Findings {
		line("  %s: %s", f.Name, text.Line(f.Says))
		line("    to change: %s", text.Line(f.Change))
	}
	if d.Mutants.Made > 0 {
		d.Mutants.write(line)
	}
	return b.String()
}

// write prints a table of mutants, and two of them.
func (m *Mutants) write(line func(format string, args ...any)) {
	line("  %-9s %5s %8s %6s %10s", "mutants", "made", "refuted", "valid", "undecided")
	row := func(name string, t Tally, does string) {
		said := fmt.Sprintf("  %-9s %5d %8d %6d %10d  %s", name, t.Made, t.Refuted, t.Valid, t.Undecided, does)
		line("%s", strings.TrimRight(said, " "))
	}
	for w, t := range m.Ways {
		if t.Made > 0 {
			row(t.Way, t, wayWords[w].does)
		}
	}
	row("all", m.Tally, "")
	for _, r := range m.Stayed {
		line("  valid %s since %s", text.Count(r.Count, "time"), r.Why)
	}
	shown := func(x *Example, verdict string) {
		if x == nil {
			return
		}
		line("  %s, such as: %s", verdict, text.Line(x.Change))
		if x.Why != "" {
			line("    since %s", text.Line(string(x.Why)))
		}
	}
	shown(m.Refutes, "refuted")
	shown(m.Passes, "still valid")
}

func (d *Diagnosis) word() string {
	switch {
	case d.Healthy == jepsen.Valid:
		return "healthy"
	case d.Healthy == jepsen.Invalid:
		return "WEAK"
	}
	if d.Cause == jepsen.Timeout && d.Verdict == jepsen.Invalid { // that is certain
		return "unknown: the time was over before enough mutants were decided"
	}
	return strings.TrimSuffix("unknown: "+string(d.Cause), ": ")
}

// summary returns a line about what was examined.
func (d *Diagnosis) summary() string {
	read := report.Result{Model: string(d.Model), Init: string(d.Init), Inferred: d.inferred, ToldBy: d.ToldBy, From: d.From}
	s := read.Summary() + ", " + text.Count(d.Operations, "operation")
	if d.Crashed > 0 {
		s += fmt.Sprintf(", %d crashed", d.Crashed)
	}
	if d.Verdict == jepsen.Invalid {
		s += ", INVALID"
	}
	switch {
	case d.Changed == 0:
		s += ", no mutants"
	case d.Verdict == jepsen.Invalid:
		s += fmt.Sprintf(", mutants of the %s before the failure", text.Count(d.Changed, "operation"))
	case d.Changed < d.Operations:
		s += fmt.Sprintf(", mutants of %d of them", d.Changed)
	}
	if d.hurried {
		s += fmt.Sprintf(", the time was over after %d of %s", d.Mutants.Made, text.Count(d.Mutants.Asked, "mutant"))
	} else if d.Cause != "" && d.Healthy != jepsen.Unknown {
		s += fmt.Sprintf(", not examined to the end: %s", d.Cause)
	}
	return s + fmt.Sprintf(", %.1f ms", d.Ms)
}
