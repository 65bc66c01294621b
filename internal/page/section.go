package page

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// section is the part of a page about one history, or about one key of it.
type section struct {
	ID, Title string // the title is "" if there is only one history
	Sentence  string
	Story     []string
	Kind      models.Anomaly
	Hint      string
	Drawing   template.HTML // of a small core, or of what was around the failure
	Because   string        // the mark of the failing operation, for screens on which the drawing has no room for it
	Wider     template.HTML // of what was around the failure, if the other is of the core
	Legend    []report.LegendLine
	Replay    *replay // nil if there is nothing to step through
	Rows      []row
	Strip     strip
	Holds     holding
	Held      *held
	Text      string
	Core      excerpt
	Tried     []order // if it cannot be replayed
	Failing   int     // the operation that fails first, -1 if none does

	r       *report.Result
	shown   []jepsen.Operation // in the window
	effects map[jepsen.Operation]string
	middle  jepsen.Operation
	around  *int64 // the index to show with its surroundings, nil for the failure
}

// plainOps bounds how many operations are drawn where none is more important than
// another. It is small enough that their labels have room. The rest is nearby.
const plainOps = 24

// row is an operation of the window in words.
type row struct {
	Op                  jepsen.Operation
	Process, Label, End string
	From, To            string // indices
	Failing, Core       bool
	Effect, Why         string
}

// order lists operations in an order that was tried in vain.
type order []step

// step is an operation and the state after it, or why it is impossible.
type step struct{ Op, State, Why string }

func (s *section) fill(ctx context.Context, o report.WindowOptions) error {
	r := s.r
	s.Failing, s.Hint = -1, text.Shorten(text.Line(r.Hint), maxSentence)
	s.Text = text.Shorten(r.Text(), maxText)
	fail := jepsen.Event(jepsen.None)
	if r.Verdict != jepsen.Unknown {
		s.Sentence = text.Shorten(text.Line(r.Explanation), maxSentence)
	}
	if r.Vacuous != "" {
		s.Sentence = "vacuous: " + r.Vacuous
	}
	if r.Placed() {
		s.Kind, fail = r.Kind, r.FailEvent.OrNone()
		s.middle = r.History.OpOf[fail]
		s.Failing = int(s.middle)
		s.Core = newCore(r)
		for _, sentence := range r.Story.ToRead() {
			s.Story = append(s.Story, text.Shorten(text.Line(sentence), maxSentence))
		}
	}
	s.Strip = newStrip(r.History, fail)
	s.Strip.At = s.Strip.of(s.middle)
	if (!r.Placed() || o.Around != nil) && o.Rows <= report.DefaultRows && o.Operations == 0 {
		o.Operations = plainOps
	}
	w, err := r.Window(ctx, o)
	switch {
	case err != nil && r.Verdict == jepsen.Unknown && o.Around == nil:
		return nil // nothing was found, so there is nothing to draw it around
	case err != nil:
		return err
	}
	if s.Drawing, err = drawing(w); err != nil {
		return err
	}
	s.effects = effects(w)
	for _, x := range w.Ops {
		if x.Failing {
			s.Because = x.Why
		}
		s.shown = append(s.shown, x.Operation)
		s.Rows = append(s.Rows, newRow(r.History, &x, s.effects[x.Operation]))
	}
	if r.SmallCore() && o.Around == nil {
		s.Wider, s.Replay = s.Drawing, newReplay(ctx, r)
		o.Core, o.Rows = true, len(r.Core)
		if w, err = r.Window(ctx, o); err != nil {
			return err
		}
		for _, x := range w.Ops {
			if !slices.Contains(s.shown, x.Operation) {
				s.shown = append(s.shown, x.Operation)
			}
		}
		if s.Drawing, err = drawing(w); err != nil {
			return err
		}
	} else {
		s.Replay = steps(w)
	}
	if s.Legend = w.Legend(); s.Replay == nil {
		s.Tried = tried(r)
	}
	if fail == jepsen.None && len(s.shown) > 0 || o.Around != nil {
		s.middle = s.shown[len(s.shown)/2]
	}
	s.Strip.At = s.Strip.of(s.middle)
	return nil
}

// drawing returns the drawing of a window as an element of a page.
func drawing(w *report.Window) (template.HTML, error) {
	var svg strings.Builder
	err := w.DrawSVG(&svg, report.SVGOptions{Part: true})
	return template.HTML(svg.String()), err // as XML, in which text is as safe as html/template makes it
}

// effects says where the operations of a window take effect, and what the state is then.
func effects(w *report.Window) map[jepsen.Operation]string {
	said := map[jepsen.Operation]string{}
	for _, p := range w.Points {
		s := "takes effect"
		if p.Attempt {
			s = "tried before the failure, which does not help"
		}
		if p.State != "" {
			s += "; then the state is " + text.Shorten(text.Line(p.State), maxName)
		}
		said[w.Ops[p.Op].Operation] = s
	}
	return said
}

func newRow(h *jepsen.History, x *report.WindowOp, effect string) row {
	op := x.Operation
	r := row{Op: op, Process: text.Shorten(text.Line(h.ProcessName(op)), maxLabel), Label: text.Shorten(text.Line(x.Label), maxLabel),
		Failing: x.Failing, Core: x.Core, Effect: effect, Why: text.Shorten(text.Line(x.Why), maxSentence), From: fmt.Sprint(h.Index(h.Invocation[op])), To: "–"}
	if c := h.Completion[op]; c != jepsen.None {
		r.To = fmt.Sprint(h.Index(c))
	}
	switch {
	case x.Crashed:
		r.End = "crashed"
	case x.Failed:
		r.End = "failed"
	case x.Open:
		r.End = "open at the end"
	default:
		r.End = "ok"
	}
	return r
}

func tried(r *report.Result) (all []order) {
	for _, path := range r.Paths {
		var o order
		for _, x := range path {
			s := step{Op: text.Line(r.History.Name(x.Operation)), Why: text.Shorten(text.Line(x.Why), maxSentence)}
			if x.Why == "" {
				s.State = report.StateText(x.State, maxName)
			}
			o = append(o, s)
		}
		all = append(all, o)
	}
	return all
}

// excerpt is a text of lines, or its beginning.
type excerpt struct {
	Text string
	Ops  int
	Cut  bool
}

func newCore(r *report.Result) excerpt {
	x := excerpt{Ops: len(r.Core)}
	if r.Core == nil {
		return x
	}
	var b limited
	if err := r.WriteCore(&b); err != nil { // there is more than fits
		x.Cut = true
	}
	x.Text = text.Printable(b.String())
	if x.Cut {
		x.Text = x.Text[:strings.LastIndexByte(x.Text, '\n')+1]
	}
	return x
}

// limited takes at most maxCore bytes.
type limited struct{ strings.Builder }

var errFull = errors.New("there is no more room")

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), maxCore-l.Len())
	l.Builder.Write(p[:n])
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

var _ io.Writer = (*limited)(nil)
