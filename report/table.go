package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/store"
)

// Table shows the results of a store, a line for each run, as they come.
type Table struct {
	test, time int // widths
}

// NewTable is a table for sources. The columns that are known before anything
// is checked are as wide as they need to be.
func NewTable(sources []store.Source) Table {
	t := Table{test: len("test")}
	for _, s := range sources {
		t.test = max(t.test, utf8.RuneCountInString(testOf(s)))
		t.time = max(t.time, len(s.Time))
	}
	return t
}

func testOf(s store.Source) string {
	if s.Stored {
		return s.Test
	}
	return s.Path
}

// Widths of the other columns, which fit common names. A longer name moves the
// rest of its line to the right.
const (
	modelWidth   = 23
	verdictWidth = len("unreadable")
	skippedWidth = len("skipped")
	engineWidth  = 22
)

// Header is the first line.
func (t Table) Header() string {
	return t.line("test", "time", "model", "verdict", "skipped", "engine", "ms")
}

// Row is the line of a result. If the history is invalid, a second line says
// why.
func (t Table) Row(s store.Source, r *Result) string {
	verdict := map[jepsen.Verdict]string{jepsen.Valid: "valid", jepsen.Invalid: "INVALID", jepsen.Unknown: cmp.Or(string(r.Cause), "unknown")}[r.Verdict]
	ms, skipped := "", "" // it was not checked
	if r.History != nil {
		ms, skipped = fmt.Sprintf("%.1f", r.Ms), strconv.Itoa(r.History.Skipped)
	}
	row := t.line(testOf(s), s.Time, r.modelText(), verdict, skipped, r.Analyzer, ms)
	if r.Verdict == jepsen.Invalid {
		row += "    " + text.Line(r.sentence()) + "\n"
	}
	return row
}

func (t Table) line(test, time, model, verdict, skipped, engine, ms string) string {
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
	column(skipped, skippedWidth)
	column(engine, engineWidth)
	return strings.TrimRight(b.String()+ms, " ") + "\n"
}
