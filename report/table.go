package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"clew/internal/text"
	"clew/jepsen"
)

// Table shows the results of a store as they come, one line per run.
type Table struct {
	test, time int // widths
}

// NewTable returns a table. Fit makes its columns as wide as they need to be.
func NewTable() *Table { return &Table{test: len("test")} }

// Fit makes the columns wide enough for a test, or a path, and a time.
func (t *Table) Fit(test, time string) {
	t.test = max(t.test, utf8.RuneCountInString(test))
	t.time = max(t.time, len(time))
}

// Widths of the other columns, which fit common names. A longer name moves the
// rest of its line to the right.
const (
	modelWidth   = len("cas-register from 0 (results.edn)")
	verdictWidth = len("unreadable")
	countWidth   = len("operations")
	crashedWidth = len("crashed")
	skippedWidth = len("skipped")
	engineWidth  = 22
)

// Header returns the first line.
func (t *Table) Header() string {
	return t.line("test", "time", "model", "verdict", "operations", "crashed", "skipped", "engine", "ms")
}

// Row returns the line of a result. A second line says why if the history is
// invalid, is invalid only from one initial value, or if its verdict is vacuous.
func (t *Table) Row(run Run, l Line) string {
	verdict := verdictWord(l.Valid)
	if l.Valid == jepsen.Unknown && l.Cause != "" {
		verdict = string(l.Cause)
	}
	var ms, operations, crashed, skipped string // it was not checked
	if run.Read {
		ms = fmt.Sprintf("%.1f", l.Ms)
		operations, crashed, skipped = strconv.Itoa(l.Operations), strconv.Itoa(l.Crashed), strconv.Itoa(l.Skipped)
	}
	model := modelText(string(l.Model), string(l.Init), string(l.Reading), run.Inferred, l.ToldBy)
	model = strings.Replace(model, "according to ", "", 1) // there is little room
	row := t.line(cmp.Or(run.Test, l.File), run.Time, model, verdict, operations, crashed, skipped, string(l.Analyzer), ms)
	if l.Valid == jepsen.Invalid || l.Cause == Text(jepsen.InitialValue) {
		row += "    " + text.Line(string(l.Explanation)) + "\n"
	}
	if l.Vacuous != "" {
		row += "    vacuous: " + text.Line(string(l.Vacuous)) + "\n"
	}
	return row
}

// Run is what a table shows of a history's result in addition to its Line.
type Run struct {
	Test     string `json:"test,omitempty"` // of a store; "" if the history itself was given
	Time     string `json:"time,omitempty"`
	Inferred bool   `json:"inferred,omitempty"` // the model was inferred
	Read     bool   `json:"read"`               // the history could be read
}

// NewRun returns the Run of a result.
func NewRun(test, time string, r *Result) Run {
	return Run{Test: test, Time: time, Inferred: r.Inferred, Read: r.History != nil}
}

func (t *Table) line(test, time, model, verdict, operations, crashed, skipped, engine, ms string) string {
	var b strings.Builder
	column := func(s string, width int) {
		s = text.Line(s)
		b.WriteString(s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + "  ")
	}
	column(test, t.test)
	if t.time > 0 {
		column(time, t.time)
	}
	column(model, modelWidth)
	column(verdict, verdictWidth)
	column(operations, countWidth)
	column(crashed, crashedWidth)
	column(skipped, skippedWidth)
	column(engine, engineWidth)
	return strings.TrimRight(b.String()+ms, " ") + "\n"
}
