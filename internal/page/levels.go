package page

import (
	"context"
	"fmt"
	"html/template"
	"slices"

	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// maxDrawn bounds the drawings of anomalies of a page together, in bytes. Further anomalies are only told.
const maxDrawn = 500_000

// levelsPart is the part of a page about levels of consistency, and the anomalies of transactions that rule some out.
type levelsPart struct {
	Levels    []levelRow
	Kinds     []kindRow
	Anomalies []anomaly
}

// levelRow is a level and whether it holds, as the name of a class and as a word.
type levelRow struct {
	Level         models.Level
	Verdict, Word string
}

// kindRow is a kind of anomaly.
type kindRow struct {
	Type, Link string
	Breaks     models.Level
	Count      int
}

// anomaly is an anomaly with its drawing, and in sentences.
type anomaly struct {
	ID, Title string
	Open      bool // it is shown without being asked for
	Drawing   template.HTML
	Sentence  string         // unless it is a cycle
	Steps     []numberedStep // of a cycle
	So        string         // what follows from the steps
	Txns      []namedTxn
	More      string // what is omitted
}

// numberedStep is a step of a cycle. Its number is that in the drawing.
type numberedStep struct {
	Number int
	Says   string
	After  bool // steps before it are omitted
}

// namedTxn is a transaction under the name that sentences and drawings have for it.
type namedTxn struct{ Short, Name string }

// newLevels returns the part about levels of a result, or nil if it says nothing about them.
func newLevels(ctx context.Context, r *report.Result, o report.WindowOptions) (*levelsPart, error) {
	x := r.Levels
	if x == nil || r.Verdict != jepsen.Invalid && x.Asked == "" {
		return nil, nil
	}
	p := &levelsPart{}
	for _, level := range models.AllLevels() {
		p.Levels = append(p.Levels, newLevelRow(x, level))
	}
	room := maxDrawn
	for _, kind := range x.Types() {
		row, n := kindRow{Type: kind, Count: x.Count[kind]}, 0
		for i := range x.Anomalies {
			a := &x.Anomalies[i]
			if a.Type != kind {
				continue
			}
			n++
			said := newAnomaly(r, a)
			said.ID, said.Open = fmt.Sprintf("anomaly-%d", len(p.Anomalies)+1), n == 1
			if said.Title = kind; row.Count > 1 {
				said.Title = fmt.Sprintf("%s, %d of %d", kind, n, row.Count)
			}
			w, err := r.AnomalyWindow(ctx, a, o)
			if err != nil {
				return nil, err
			}
			if said.Drawing, err = drawing(w); err != nil {
				return nil, err
			}
			if room -= len(said.Drawing); room < 0 {
				said.Drawing = ""
			}
			if n == 1 {
				row.Link, row.Breaks = "#"+said.ID, a.Breaks
			}
			p.Anomalies = append(p.Anomalies, said)
		}
		p.Kinds = append(p.Kinds, row)
	}
	return p, nil
}

func newLevelRow(x *report.Levels, level models.Level) levelRow {
	implies := func(l models.Level) bool { return l.Implies(level) }
	switch {
	case slices.ContainsFunc(x.Strongest, implies):
		return levelRow{level, "valid", "holds"}
	case slices.ContainsFunc(slices.Concat(x.Not, x.AlsoNot), level.Implies):
		return levelRow{level, "invalid", "does not hold"}
	}
	return levelRow{level, "unknown", "not decided"}
}

func newAnomaly(r *report.Result, a *report.TxnAnomaly) anomaly {
	var x anomaly
	for _, i := range a.Shown() {
		x.Txns = append(x.Txns, namedTxn{fmt.Sprintf("T%d", i+1), text.Shorten(text.Line(r.History.Name(a.Txns[i])), maxName)})
	}
	if n := len(a.Txns) - len(x.Txns); n > 0 {
		x.More = text.Count(n, "more transaction")
	}
	if a.Steps == nil {
		x.Sentence = text.Shorten(text.Line(a.Says), maxSentence)
		return x
	}
	last := -1
	for _, i := range a.ShownSteps() {
		x.Steps = append(x.Steps, numberedStep{i + 1, text.Shorten(text.Line(a.Steps[i].Says), maxSentence), i > last+1})
		last = i
	}
	x.So = fmt.Sprintf("So each transaction comes before the next one, and T%d before T1.", len(a.Txns))
	return x
}
