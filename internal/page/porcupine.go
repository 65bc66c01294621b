package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"time"

	theirs "github.com/anishathalye/porcupine"

	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// A page in porcupine's style is drawn by porcupine itself:
// github.com/anishathalye/porcupine checks a few operations and draws what it
// finds. Its pages grow with the square of the number of operations. Therefore it
// gets only the last of them, and begins in the state to which those before lead.
//
// The verdict stays the same, since the omitted operations are the beginning of a
// linearization. If the rest had a linearization from there, both together would be one
// of the whole history: no omitted operation began after any of the rest had returned.

// Bounds of a page in porcupine's style.
const (
	porcupineOps    = 100             // linearized ones that the page shows
	porcupineOpen   = 20              // open ones, which may make porcupine's search exponential
	porcupineTime   = 2 * time.Second // for its search
	porcupineStates = 256             // to which an operation may lead
	porcupineText   = 100             // characters of a state
)

// WritePorcupine writes the page that porcupine would draw of a failure, or of the
// end of a valid history. If there are keys, it shows the key that fails first.
func WritePorcupine(ctx context.Context, w io.Writer, r *report.Result) error {
	r = r.FirstFailing()
	switch {
	case r.Keys != nil:
		return errors.New("a page in porcupine's style shows one history; found independent keys, none of which fails")
	case r.History == nil || r.Verdict == jepsen.Unknown:
		return errors.New("a page in porcupine's style shows a failure or a witness; found an undecided history")
	}
	p, err := newPorcupinePage(ctx, r)
	if err != nil {
		return err
	}
	model := p.model(ctx)
	_, info := theirs.CheckOperationsVerbose(model, p.operations(), porcupineTime)
	switch {
	case p.states != nil:
		return p.states
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	info.AddAnnotations(p.annotations())
	return theirs.Visualize(model, info, w)
}

// porcupinePage holds what porcupine gets.
type porcupinePage struct {
	r       *report.Result
	ops     *models.Operations
	rows    []models.Row // in order of invocation
	before  int          // operations that are omitted
	start   models.State // the state to which they lead
	end     jepsen.Event // the failure, or the end
	clients map[int32]int
	states  error // the error that an operation leads to too many states
	labels  map[models.Row]string
}

func newPorcupinePage(ctx context.Context, r *report.Result) (*porcupinePage, error) {
	ops, err := r.Spec.ReadWithin(ctx, r.History)
	if err != nil {
		return nil, err
	}
	p := &porcupinePage{r: r, ops: ops, end: jepsen.Event(len(r.History.Type)), clients: map[int32]int{}}
	order := r.Witness
	if r.Verdict == jepsen.Invalid { // nil if it is not known where it fails
		order, p.end = r.Before, r.FailEvent.OrNone()
	}
	if order == nil {
		return nil, errors.New("a page in porcupine's style needs a linearization to start from; found none: " + cmp.Or(r.Missing, "operations without a key take effect once for every key"))
	}
	rowOf := ops.Rows()
	all := make([]models.Row, 0, len(order))
	linearized := make([]bool, ops.Len())
	for _, op := range order {
		if row := rowOf[op]; row >= 0 {
			all, linearized[row] = append(all, row), true
		}
	}
	p.before = max(0, len(all)-porcupineOps)
	if p.start, err = models.Final(ctx, ops.Model, &ops.Columns, all[:p.before]); err != nil {
		return nil, err
	}
	p.rows = append(p.rows, all[p.before:]...)
	if r.Verdict == jepsen.Invalid {
		p.open(linearized)
	}
	slices.Sort(p.rows)
	p.labels = map[models.Row]string{}
	for _, row := range p.rows {
		p.labels[row] = r.Spec.Words(ctx, r.History, ops.Of[row])
	}
	return p, nil
}

// open adds the failing operation and, latest first, those of its part that were
// open then and are not linearized.
func (p *porcupinePage) open(linearized []bool) {
	failing, found := int32(-1), 0
	parts := p.ops.Model.Traits().Partition
	for row := int32(p.ops.Len() - 1); row >= 0; row-- {
		if p.ops.Res[row] == int32(p.end) {
			failing = row
		}
	}
	p.rows = append(p.rows, failing)
	for row := int32(p.ops.Len() - 1); row >= 0 && found < porcupineOpen; row-- {
		if row != failing && !linearized[row] && p.ops.Inv[row] < int32(p.end) && p.ops.Res[row] > int32(p.end) && p.ops.Model.Mutates(p.ops.Op(row)) &&
			(parts == nil || parts.Of(p.ops.Op(row)) == parts.Of(p.ops.Op(failing))) {
			p.rows = append(p.rows, row)
			found++
		}
	}
}

// optional says whether an operation may have no effect, because it had not returned by the end.
func (p *porcupinePage) optional(row models.Row) bool { return p.ops.Res[row] > int32(p.end) }

// model returns the model in porcupine's form. It works on sets of states, since
// an operation may have no effect, and a crashed one may have several outcomes.
func (p *porcupinePage) model(ctx context.Context) theirs.Model {
	m := p.ops.Model
	nondeterministic := theirs.NondeterministicModel{
		Init: func() []any { return []any{p.start} },
		StepContext: func(_ context.Context, state, input, _ any) (next []any) {
			if ctx.Err() != nil {
				return nil // the search will end soon, without a page
			}
			from, row := state.(models.State), input.(models.Row)
			if p.optional(row) {
				next = append(next, from)
			}
			for _, to := range p.some(from, p.ops.Op(row)) {
				next = append(next, to)
			}
			return next
		},
		Equal:             func(a, b any) bool { return slices.Equal(a.(models.State), b.(models.State)) },
		DescribeOperation: func(input, _ any) string { return p.words(input.(models.Row)) },
		DescribeState: func(state any) string {
			// The page puts this into its markup unescaped.
			return html.EscapeString(text.Shorten(text.Line(m.Record(state.(models.State)).String()), porcupineText))
		},
		DescribeOperationMetadata: func(name any) string { return html.EscapeString(name.(string)) },
	}
	return nondeterministic.ToModel()
}

// some returns the states that an operation leads to. If there are very many,
// there will be no page.
func (p *porcupinePage) some(from models.State, op models.Op) []models.State {
	next := models.SomeStates(p.ops.Model, porcupineStates, from, op)
	if p.ops.Model.Traits().Outcomes != nil && len(next) == porcupineStates {
		p.states = fmt.Errorf("a page in porcupine's style follows fewer than %d states; an operation leads to more", porcupineStates)
		return nil
	}
	return next
}

// words returns an operation as people would say it, without its process:
// porcupine numbers its clients.
func (p *porcupinePage) words(row models.Row) string {
	s := p.labels[row]
	if p.optional(row) {
		s += " (open)"
	}
	return s
}

// operations returns the operations that porcupine gets. The open ones return
// after everything else, which is possible since they may have no effect.
func (p *porcupinePage) operations() []theirs.Operation {
	h := p.r.History
	var all []theirs.Operation
	for i, row := range p.rows {
		process := h.Process[p.ops.Inv[row]]
		if _, known := p.clients[process]; !known {
			p.clients[process] = len(p.clients)
		}
		end := int64(p.ops.Res[row])
		if p.optional(row) {
			end = int64(len(h.Type)) + int64(i)
		}
		all = append(all, theirs.Operation{ClientId: p.clients[process], Input: row, Output: row, Call: int64(p.ops.Inv[row]), Return: end,
			Metadata: text.Line(h.Name(p.ops.Of[row]))})
	}
	return all
}

// annotations say what is wrong, what is omitted, and what the nemesis did.
func (p *porcupinePage) annotations() []theirs.Annotation {
	first, last := int64(p.ops.Inv[p.rows[0]]), int64(p.end)
	var all []theirs.Annotation
	add := func(tag string, from, to int64, said, details string) {
		all = append(all, theirs.Annotation{Tag: tag, Start: from, End: to, Description: text.Shorten(text.Line(said), maxLabel),
			Details: text.Shorten(text.Line(details), maxSentence), BackgroundColor: "#efe6ff"})
	}
	if p.r.Explanation != "" {
		add("clew", first, last, p.r.Verdict.String(), p.r.Explanation)
	}
	if p.before > 0 {
		add("clew", first, first, fmt.Sprintf("%d earlier", p.before),
			fmt.Sprintf("%d operations before took effect first; they led to %s", p.before, p.ops.Model.Record(p.start)))
	}
	for _, s := range p.r.History.NemesisWindows() {
		if from, to := max(int64(s.From), first), min(int64(s.To), last); from <= to && len(all) < maxEntries {
			name := p.r.History.Values.Text(s.F)
			add(text.Shorten(text.Line(p.r.History.Values.Text(s.Process)), maxLabel), from, to, name, fmt.Sprintf("%s (index %d)", name, s.Index))
		}
	}
	return all
}
