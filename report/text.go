package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clew/internal/text"
	"clew/jepsen"
)

// Text returns the result for people: one line, and for an invalid history
// also what is wrong, where, and a picture of the operations around it.
func (r *Result) Text() string { return r.TextFor(TextOptions{}) }

// TextOptions say where a text will be shown.
type TextOptions struct {
	Width int  // in characters, of pictures; 0 if they may have as many as they need
	ASCII bool // no other characters
	Color bool // with the escape sequences of terminals
}

// Shown returns the caller's own text in a form for the same output.
func (o TextOptions) Shown(s string) string {
	if o.ASCII {
		return text.ASCII(s)
	}
	return s
}

// TextFor returns Text for a terminal.
func (r *Result) TextFor(o TextOptions) string {
	p := &textPrinter{o: o}
	if r.File != "" {
		p.printf("%s: ", text.Line(r.File))
	}
	p.colored(verdictColors[r.Verdict], verdictOf(r.Verdict, r.Cause))
	if r.Verdict == jepsen.Unknown {
		if r.Cause != "" && r.Cause != jepsen.NotJudged {
			p.printf(": %s", r.Cause)
		}
		if why := cmp.Or(r.Error, r.Explanation); why != "" {
			p.printf(": %s", text.Line(why))
		}
	}
	p.printf("\n")
	if n := r.counts(); n != nil {
		p.paragraph(r.summary(n))
	}
	if r.Unverified != "" {
		p.paragraph("not verified: " + r.Unverified)
	}
	if unchecked := r.Spec.Unchecked(); unchecked != "" {
		p.paragraph(unchecked)
	}
	if r.Missing != "" {
		p.paragraph(r.Missing)
	}
	if r.Vacuous != "" {
		p.paragraph("vacuous: " + r.Vacuous)
	}
	switch {
	case r.Keys != nil:
		r.writeKeys(p)
	case r.Verdict == jepsen.Invalid:
		r.writeFailure(p)
	case r.Hard != nil:
		p.paragraph(text.Line(r.HardText()))
	case r.Verdict == jepsen.Valid && r.Explanation != "":
		p.paragraph(r.Explanation)
	}
	if r.HowFar != nil {
		r.writeHowFar(p)
	}
	if r.Levels != nil && (r.Verdict == jepsen.Invalid || r.Levels.Asked != "") {
		for _, line := range r.Levels.Lines() {
			if !strings.Contains(r.Explanation, line) {
				p.paragraph(text.Line(line))
			}
		}
	}
	return p.b.String()
}

// textPrinter prints a text for a terminal, which shows it and
// obeys no escape sequences except those of its own colors.
type textPrinter struct {
	b strings.Builder
	o TextOptions
}

func (p *textPrinter) printf(format string, args ...any) {
	p.b.WriteString(p.o.Shown(text.Printable(fmt.Sprintf(format, args...))))
}

// paragraph prints indented lines that fit, all but the first indented further.
func (p *textPrinter) paragraph(s string) { p.indented("  ", s) }

func (p *textPrinter) indented(indent, s string) {
	if p.o.Width <= 0 {
		p.printf("%s%s\n", indent, s)
		return
	}
	most := p.o.Width - len(indent) - 2
	for i, line := range text.Wrap(s, func(line string) bool { return utf8.RuneCountInString(line) <= most }) {
		if i == 1 {
			indent += "  "
		}
		p.printf("%s%s\n", indent, line)
	}
}

// Escape sequences of terminals.
const (
	red   = "\x1b[31m"
	dim   = "\x1b[2m"
	usual = "\x1b[0m"
)

// verdictColors are green, yellow and red.
var verdictColors = [...]string{jepsen.Valid: "\x1b[32m", jepsen.Unknown: "\x1b[33m", jepsen.Invalid: red}

// verdictWord returns a verdict as texts and tables have it.
func verdictWord(v jepsen.Verdict) string {
	return [...]string{jepsen.Valid: "valid", jepsen.Unknown: "unknown", jepsen.Invalid: "INVALID"}[v]
}

// verdictOf returns the same, and that a run is not judged.
func verdictOf(v jepsen.Verdict, cause jepsen.Cause) string {
	if v == jepsen.Unknown && cause == jepsen.NotJudged {
		return "not judged"
	}
	return verdictWord(v)
}

func (p *textPrinter) colored(color, s string) {
	if !p.o.Color {
		color = ""
	}
	p.b.WriteString(color)
	p.printf("%s", s)
	if color != "" {
		p.b.WriteString(usual)
	}
}

func (r *Result) writeFailure(p *textPrinter) {
	p.paragraph(text.Line(r.Kind.First(r.Explanation)))
	for _, sentence := range r.Story.ToRead() {
		p.paragraph("- " + sentence)
	}
	for _, b := range r.Broken {
		if !strings.Contains(r.Explanation, b.Why) {
			p.paragraph("- " + text.Line(b.Why))
		}
	}
	if r.Kind != "" {
		p.paragraph("see " + r.Kind.Page())
	}
	if r.Hint != "" {
		p.paragraph("hint: " + r.Hint)
	}
	if hard := r.HardText(); hard != "" {
		p.paragraph(text.Line(hard))
	}
	if r.Placed() {
		p.printf("\n")
		r.writePicture(p)
	}
}

// writeHowFar says how far the history is from being linearizable, and so each key that fails.
func (r *Result) writeHowFar(p *textPrinter) {
	if r.Verdict != jepsen.Valid {
		p.printf("\n")
	}
	for _, line := range r.HowFar.Lines() {
		p.paragraph(text.Line(line))
	}
	for i, k := range r.HowFar.Keys {
		if i == maxKeys {
			p.printf("\n  and %d more keys\n", len(r.HowFar.Keys)-maxKeys)
			break
		}
		p.printf("\n  %s:\n", text.Key(k.Key))
		for _, line := range k.Lines() {
			p.paragraph(text.Line(line))
		}
	}
}

// maxKeys bounds how many independent keys are shown; the rest are only counted.
const maxKeys = 10

// writeKeys shows the independent keys that are not valid.
func (r *Result) writeKeys(p *textPrinter) {
	shown := 0
	for _, k := range r.Keys {
		if k.Verdict == jepsen.Valid {
			continue
		}
		if shown++; shown > maxKeys {
			continue
		}
		p.printf("\n  %s: ", text.Key(k.Key.String()))
		switch k.Verdict {
		case jepsen.Invalid:
			p.colored(red, "INVALID")
			p.printf("\n")
			k.Result().writeFailure(p)
		default:
			p.printf("unknown: %s", k.Result().Cause)
			if k.Result().Cause == jepsen.InitialValue {
				p.printf(": %s", k.Result().Explanation)
			}
			p.printf("\n")
			if hard := k.Result().HardText(); hard != "" {
				p.paragraph(text.Line(hard))
			}
		}
	}
	if shown > maxKeys {
		p.printf("\n  and %d more keys that are not valid\n", shown-maxKeys)
	}
}

func (r *Result) summary(of *Counts) string {
	s := text.Count(of.Operations, "operation")
	if model := r.modelText(); model != "" { // it was inferred by what was stopped
		s = model + ", " + s
	}
	if r.Keys != nil {
		s += " of " + text.Count(len(r.Keys), "key")
	}
	if n := of.Crashed; n > 0 {
		s += fmt.Sprintf(", %d crashed", n)
	}
	switch n := of.Skipped; {
	case n == 1:
		s += ", 1 event skipped"
	case n > 1:
		s += fmt.Sprintf(", %d events skipped", n)
	}
	if r.Analyzer != "" {
		s += ", " + r.Analyzer
	}
	if r.Depth > 0 {
		s += fmt.Sprintf(", found at depth %d", r.Depth)
	}
	switch {
	case r.Verified:
		s += ", verified"
	case r.Verdict != jepsen.Unknown:
		s += ", not verified"
	}
	return s + fmt.Sprintf(", %.1f ms", r.Ms)
}

func (r *Result) modelText() string {
	own := r.Init != "" && r.From.Model == Results && r.From.Init == ""
	return modelText(r.Model, r.Init, r.Spec.Reading(), r.Inferred, r.ToldBy, own)
}

// maxTold bounds the characters that are shown of an initial value that the user did not type.
const maxTold = 80

// modelText returns the model and the initial value, and who says so. own says that the initial value is the caller's own,
// although results say the model.
func modelText(model, init, reading string, inferred bool, toldBy string, own bool) string {
	if init != "" && toldBy != "" && !own {
		init = text.Shorten(init, maxTold)
	}
	from := ""
	if init != "" {
		from = " from " + init
	}
	if reading != "" {
		reading = " with " + reading
	}
	var by []string
	if inferred {
		by = append(by, "inferred")
	}
	if toldBy != "" {
		by = append(by, "according to "+toldBy)
	}
	said := ""
	if by != nil {
		said = " (" + strings.Join(by, ", ") + ")"
	}
	if own {
		return model + said + from + reading
	}
	return model + from + reading + said
}

// Unlabeled returns how the model's Label fails on an operation that Text draws, or nil.
func (r *Result) Unlabeled(ctx context.Context) error {
	if d, err := r.Spec.Definition(); err != nil || d.Label == nil {
		return nil
	}
	drawn := 0
	for _, k := range r.Keys {
		if k.Verdict == jepsen.Valid {
			continue
		}
		if drawn++; drawn > maxKeys {
			break
		}
		if err := k.Result().Unlabeled(ctx); err != nil {
			return fmt.Errorf("%s: %w", text.Key(k.Key.String()), err)
		}
	}
	if r.Keys != nil || !r.Placed() {
		return nil
	}
	b, err := r.begin(WindowOptions{Operations: maxPicture, Core: true})
	if err != nil {
		return nil // there is nothing to draw
	}
	ops := make([]jepsen.Operation, len(b.w.Ops))
	for i, x := range b.w.Ops {
		ops[i] = x.Operation
	}
	return r.Spec.Unlabeled(ctx, b.h, ops)
}

// outside says whether an operation is in a picture only to show what else happened.
func outside(r *Result, x *WindowOp) bool {
	return len(r.Core) > 0 && !x.Failing && !x.Named && !slices.Contains(r.Core, x.Operation)
}

// maxPicture bounds the operations in a picture.
const maxPicture = 12

// Columns of a picture are at most widest characters apart. If there is too
// little room, calls and reasons are shortened, but not below these lengths.
const (
	widest    = 3
	leastCall = 8
	leastWhy  = 10
)

// writePicture draws the window around the failure, one line per
// operation, in order of invocation. Each operation is a bar
// from invocation to completion, or an arrow if it stayed open.
// The bars of operations that do not belong to the core are dashed.
func (r *Result) writePicture(p *textPrinter) {
	b, err := r.begin(WindowOptions{Operations: maxPicture, Core: true})
	if err != nil {
		return // there is nothing to draw
	}
	h, w := r.History, b.w
	var ends []float64 // of the bars, in order
	process, call, calls := 0, 0, make([]string, len(w.Ops))
	for i, x := range w.Ops {
		if ends = append(ends, x.From); !x.Open && !x.Crashed {
			ends = append(ends, x.To)
		}
		process = max(process, utf8.RuneCountInString(h.ProcessName(x.Operation)))
		calls[i] = r.Spec.CallOf(h, x.Operation)
		call = max(call, utf8.RuneCountInString(calls[i]))
	}
	slices.Sort(ends)
	// "  process 3  :read 471  ", the bars, and an arrow's head or a cross.
	column := widest
	if over := 16 + process + call + column*len(ends) - p.o.Width; p.o.Width > 0 && over > 0 {
		column = max(1, widest-(over+len(ends)-1)/len(ends))
		call = min(call, max(leastCall, p.o.Width-16-process-column*len(ends)))
	}
	at := func(end float64) int { i, _ := slices.BinarySearch(ends, end); return column * i }
	for i, x := range w.Ops {
		from, to, end, why := at(x.From), column*len(ends), "─▶", ""
		if !x.Open && !x.Crashed {
			to, end = at(x.To), "┤"
		}
		name, said := h.ProcessName(x.Operation), text.Shorten(calls[i], call)
		p.printf("  process %-*s  %s%s  %s", process, name, said, strings.Repeat(" ", call-utf8.RuneCountInString(said)), strings.Repeat(" ", from))
		bar := "├" + strings.Repeat("─", max(0, to-from-1)) + end
		switch {
		case outside(r, &x):
			p.colored(dim, strings.ReplaceAll(bar, "─", "┄"))
			p.printf("\n")
			continue
		case !x.Failing && x.Failed:
			p.printf("%s failed\n", bar)
			continue
		case !x.Failing:
			p.printf("%s\n", bar)
			continue
		}
		why = "✗ " + x.Why
		switch room := p.o.Width - (16 + process + call + to); {
		case p.o.Width == 0 || utf8.RuneCountInString(why) <= room:
			p.colored(red, bar+" "+why)
		case room >= leastWhy:
			p.colored(red, bar+" "+text.Shorten(why, room))
		default:
			p.colored(red, bar+" ✗")
		}
		p.printf("\n")
	}
	if w.MoreCore > 0 {
		p.printf("  and %s of the core\n", text.Count(w.MoreCore, "more operation"))
	}
}

// Table shows the results of a store as they come, one line per run.
type Table struct {
	look       TextOptions
	test, time int // widths
	shown      int // how many columns there is room for: those of a rank below it
}

// NewTable returns a table. Fit makes its columns as wide as they need to be.
func NewTable(look TextOptions) *Table {
	return &Table{look: look, test: len("test"), shown: len(tableColumns)}
}

// Fit makes the columns wide enough for a test, or a path, and a time. On a narrow terminal, less important columns are left
// out, and then long names are shortened.
func (t *Table) Fit(test, time string) {
	t.test = max(t.test, utf8.RuneCountInString(test))
	t.time = max(t.time, len(time))
	for t.look.Width > 0 && t.shown > 0 && t.width(modelWidth) > t.look.Width {
		t.shown--
	}
}

// width returns the width of a line whose model has a width.
func (t *Table) width(model int) int {
	n := t.ofTests() + t.besides(model)
	for _, c := range tableColumns {
		if c.rank < t.shown {
			n += 2 + c.width
		}
	}
	return n
}

// besides returns the width of the other columns that always are there, and what is between them.
func (t *Table) besides(model int) int {
	n := 2 + model + 2 + verdictWidth
	if t.time > 0 {
		n += 2 + t.time
	}
	return n
}

// ofTests returns the width of the column of tests.
func (t *Table) ofTests() int {
	if t.look.Width <= 0 {
		return t.test
	}
	return min(t.test, max(len("test"), t.look.Width-t.besides(leastModel)))
}

// Widths of the other columns, which fit common names. A longer name moves the
// rest of its line to the right.
const (
	modelWidth   = len("cas-register from 0 (results.edn)")
	leastModel   = 12 // characters of a short name
	verdictWidth = len("unreadable")
)

// tableColumns come after the verdict. Those of the highest ranks are left out first.
var tableColumns = []struct {
	heading     string
	width, rank int
}{{"operations", len("operations"), 0}, {"crashed", len("crashed"), 2}, {"skipped", len("skipped"), 3}, {"engine", 22, 4}, {"ms", len("12345.6"), 1}}

// Header returns the first line.
func (t *Table) Header() string {
	var headings []string
	for _, c := range tableColumns {
		headings = append(headings, c.heading)
	}
	return t.line("test", "time", "model", "verdict", "", headings...)
}

// Row returns the line of a result. A second line says why if the history is
// invalid, is invalid only from one initial value, or if its verdict is vacuous,
// and a third one at which levels of consistency transactions are that are invalid.
func (t *Table) Row(run Run, l Line) string {
	verdict := verdictWord(l.Valid)
	if cause := jepsen.Cause(l.Cause); l.Valid == jepsen.Unknown && cause == jepsen.NotJudged {
		verdict = verdictOf(l.Valid, cause)
	} else if l.Valid == jepsen.Unknown && l.Cause != "" {
		verdict = string(l.Cause)
	}
	var ms, operations, crashed, skipped string // it was not checked
	if run.Read {
		ms = fmt.Sprintf("%.1f", l.Ms)
		operations, crashed, skipped = strconv.Itoa(l.Operations), strconv.Itoa(l.Crashed), strconv.Itoa(l.Skipped)
	}
	model := modelText(string(l.Model), string(l.Init), l.Reading.Words(), run.Inferred, l.ToldBy,
		l.Init != "" && l.Reading.Model.Source == Results && l.Reading.Init.Source == Flag)
	model = strings.Replace(model, "according to ", "", 1) // there is little room
	p := &textPrinter{o: t.look}
	p.b.WriteString(t.line(cmp.Or(run.Test, l.File), run.Time, model, verdict, verdictColors[l.Valid], operations, crashed, skipped, string(l.Analyzer), ms))
	below := func(s string) { p.indented("    ", text.Line(s)) }
	if l.Valid == jepsen.Invalid || l.Cause == Text(jepsen.InitialValue) || l.Cause == Text(jepsen.Reading) {
		below(l.Kind.First(string(l.Explanation)))
	}
	if x := l.Levels; x != nil && (l.Valid == jepsen.Invalid || x.AskedBy != "") {
		levels := Levels{Asked: x.Asked, AskedBy: x.AskedBy, AskedAs: x.AskedAs, Strongest: x.Strongest, Not: x.Not, Undecided: x.Undecided, Why: x.Why}
		below(levels.Line())
	}
	if l.Cause == Text(jepsen.NotJudged) {
		below("not judged: " + string(l.Error))
	}
	if l.Vacuous != "" {
		below("vacuous: " + string(l.Vacuous))
	}
	return p.b.String()
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

// line returns a line of the table; color is that of the verdict.
func (t *Table) line(test, time, model, verdict, color string, others ...string) string {
	p, gap := &textPrinter{o: t.look}, 0
	column := func(s string, width int, color string) {
		if s = text.Line(s); s != "" {
			p.printf("%s", strings.Repeat(" ", gap))
			p.colored(color, s)
			gap = 0
		}
		gap += max(0, width-utf8.RuneCountInString(s)) + 2
	}
	room := modelWidth
	if t.look.Width > 0 {
		room = min(room, max(leastModel, t.look.Width-t.width(0)))
		test, model = text.Shorten(text.Line(test), t.ofTests()), text.Shorten(text.Line(model), room)
	}
	column(test, t.ofTests(), "")
	if t.time > 0 {
		column(time, t.time, "")
	}
	column(model, room, "")
	column(verdict, verdictWidth, color)
	for i, c := range tableColumns {
		if c.rank < t.shown {
			column(others[i], c.width, "")
		}
	}
	return p.b.String() + "\n"
}
