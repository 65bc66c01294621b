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

// Paragraph says all of it in a few sentences.
func (h *Hard) Paragraph(of *jepsen.History) string {
	name := func(e jepsen.Event) string { return of.Name(of.OpOf[e]) }
	var s []string
	if at, ok := h.At.Get(); ok {
		s = append(s, fmt.Sprintf("Linearizable up to %d of %s, and undecided from %s on.", h.Passed, text.Count(h.Completions, "completion"), name(at)))
	}
	if by, ok := h.FailsBy.Get(); ok {
		s = append(s, fmt.Sprintf("Certainly not linearizable: it fails by %s at the latest, %s; which completion fails first is undecided.", name(by), h.FailsAs))
	}
	if why := h.why(); len(why) > 0 {
		s = append(s, fmt.Sprintf("What makes it hard: %s.", strings.Join(why, "; ")))
	}
	return strings.Join(append(s, fmt.Sprintf("To have the next run decided: %s.", strings.Join(h.advice(), "; "))), " ")
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
		{"text", p.string(h.Paragraph(r.History))},
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
