package clew

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"clew/fallback"
	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// decision is what became of one part.
type decision struct {
	fallback.Answer
	analyzer string
	reason   string             // unknown: why the fast path cannot say, or how far the search got
	core     []models.Row       // if the fast path found it
	why      fastpath.Violation // likewise
}

// Ambiguous is the cause of an unknown verdict where only the fast path was
// asked for and the history is ambiguous.
const Ambiguous fallback.Cause = "ambiguous"

// engines are the general searches, by the algorithm that was asked for.
var engines = map[string]fallback.Engine{
	"":            fallback.Auto{},
	"auto":        fallback.Auto{},
	"fast":        fallback.Auto{},
	"window":      fallback.Window{},
	"wgl":         fallback.Window{},
	"frontier":    fallback.Frontier{},
	"linear":      fallback.Frontier{},
	"staged":      fallback.Staged{},
	"porcupine":   fallback.Porcupine{},
	"hitting":     fallback.Hitting{Depth: DefaultDepth},
	"competition": fallback.Race{fallback.Window{}, fallback.Frontier{}, fallback.Porcupine{}, fallback.Staged{}, fallback.Hitting{Depth: raceDepth}},
}

// DefaultDepth is how deep "hitting" looks for a witness, and raceDepth how deep
// it does beside others: what is deeper they find sooner.
const (
	DefaultDepth = 5
	raceDepth    = 2
)

// decider decides parts by the path that the options ask for.
type decider struct {
	ctx    context.Context
	spec   models.Spec
	fast   bool // the fast path is asked for, if the model has one
	engine fallback.Engine
	only   bool // the fast path or nothing
	limits fallback.Limits
}

func newDecider(ctx context.Context, spec models.Spec, o Options) *decider {
	d := &decider{
		ctx:    ctx,
		spec:   spec,
		engine: engines[o.Algorithm],
		fast:   o.Algorithm == "fast" || o.Algorithm == "" || o.Algorithm == "auto",
		only:   o.Algorithm == "fast",
		limits: fallback.Limits{Memory: o.Memory, Passed: o.Passed, Held: o.Held},
	}
	if o.Algorithm == "hitting" && o.Depth > 0 {
		d.engine = fallback.Hitting{Depth: o.Depth}
	}
	return d
}

// A history of several parts is decided in growing prefixes: where one part
// fails early, what the others do later does not matter, however hard it is to
// decide. firstHorizon is the number of events in the first prefix.
const (
	firstHorizon  = 512
	horizonGrowth = 4
)

// decide decides operations, part by part where the model has parts and the
// fast path does not decide them all at once.
func (d *decider) decide(ops *models.Operations) ([]*models.Operations, []decision) {
	if _, parted := ops.Model.(models.Partitioner); parted && d.fast {
		first := *d
		first.only = true
		if x := first.part(ops); x.Verdict != fallback.Unknown {
			return []*models.Operations{ops}, []decision{x}
		}
	}
	parts := ops.Parts()
	return parts, d.all(parts)
}

// all decides the parts up to the earliest failing completion.
func (d *decider) all(parts []*models.Operations) []decision {
	if len(parts) == 1 {
		return []decision{d.part(parts[0])}
	}
	if _, never := d.engine.(fallback.Hitting); never {
		return eachPart(parts, d.part) // none fails early, and a prefix needs more depth
	}
	for horizon := int32(firstHorizon); ; horizon *= horizonGrowth {
		if horizon >= parts[0].Events/horizonGrowth {
			return eachPart(parts, d.part)
		}
		decisions := eachPart(parts, func(part *models.Operations) decision {
			cut, rows := part.Prefix(horizon)
			return d.part(cut).renumber(rows)
		})
		if slices.ContainsFunc(decisions, func(x decision) bool { return x.Verdict != fallback.Valid }) {
			return decisions
		}
	}
}

// eachPart decides the parts side by side.
func eachPart(parts []*models.Operations, decide func(*models.Operations) decision) []decision {
	decisions := make([]decision, len(parts))
	sideBySide(len(parts), func(i int) { decisions[i] = decide(parts[i]) })
	return decisions
}

// sideBySide calls f for 0 to n-1 with as many goroutines as there are
// processors. A panic in one comes back as one of this goroutine.
func sideBySide(n int, f func(i int)) {
	panics := make([]any, n)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			defer func() { panics[i] = recover() }()
			f(i)
			return nil
		})
	}
	group.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}

// renumber gives the rows of a prefix their numbers in the whole.
func (x decision) renumber(rows []models.Row) decision {
	for _, list := range append([][]models.Row{x.Order, x.core}, x.Others...) {
		for i, row := range list {
			if row >= 0 {
				list[i] = rows[row]
			}
		}
	}
	fastpath.Renumber(x.why, func(row models.Row) models.Row { return rows[row] })
	return x
}

// part decides one part: by the fast path if it knows, else by the general
// search.
func (d *decider) part(part *models.Operations) decision {
	if !d.fast {
		return d.search(part, nil)
	}
	x := decision{Answer: fallback.Answer{Cause: Ambiguous}, analyzer: "clew/fast-" + d.spec.Name}
	path, refusal := fastPath(part.Model)
	switch {
	case path == nil && !d.only:
		return d.search(part, nil)
	case refusal != "":
		x.reason = "the fast path for " + d.spec.Name + " " + refusal
		return x
	case path == nil:
		x.reason = "there is no fast path for " + d.spec.Name
		return x
	}
	f := path.Decide(d.ctx, &part.Columns, fastpath.WantWitness|fastpath.WantFailure)
	x.core, x.why = f.Core, f.Why
	_, stopped := f.Reason.(fastpath.Stopped)
	switch {
	case stopped:
		x.Cause = fallback.Stopped(d.ctx)
		x.reason = f.Reason.Tell(part.Teller())
	case f.Verdict == jepsen.Valid:
		x.Answer = fallback.Answer{Verdict: fallback.Valid, Order: f.Witness}
	case f.Verdict == jepsen.Invalid && f.FailEvent >= 0:
		x.Answer = fallback.Answer{Verdict: fallback.Invalid, Fail: f.FailEvent, Order: f.Before}
	case d.only:
		x.reason = f.Reason.Tell(part.Teller())
	case f.Verdict == jepsen.Invalid:
		// It fails for certain, but some prefix is ambiguous: the search finds
		// where, and need not look further than where it surely has failed.
		cut, rows := part.Prefix(f.BoundEvent)
		return d.search(cut, rows)
	default:
		return d.search(part, nil)
	}
	return x
}

// search decides operations by the general search. rows, if not nil, are
// their numbers in the whole.
func (d *decider) search(cut *models.Operations, rows []int32) decision {
	x := decision{Answer: fallback.Check(d.ctx, d.engine, cut, d.limits)}
	if x.analyzer = "clew/" + d.engine.Name(); x.By != "" {
		x.analyzer = "clew/" + x.By
	}
	_, tries := d.engine.(fallback.Hitting)
	switch {
	case x.Cause == fallback.DepthExhausted:
		x.reason = fmt.Sprintf("none of %d schedules, up to depth %d, is a linearization", x.Schedules, x.Depth)
	case x.Verdict == fallback.Unknown && tries:
		x.reason = fmt.Sprintf("the search had tried %d schedules", x.Schedules)
	case x.Verdict == fallback.Unknown:
		x.reason = fmt.Sprintf("the search had passed %d of %d completions, and held %d configurations", x.Passed, completed(cut), x.Held)
	}
	if rows != nil {
		x = x.renumber(rows)
	}
	return x
}

// completed is how many operations returned.
func completed(ops *models.Operations) int {
	n := 0
	for _, res := range ops.Res {
		if res != models.Open {
			n++
		}
	}
	return n
}

// core is the operations of a part's core.
func (d *decider) core(part *models.Operations, x decision) []int32 {
	rows := x.core
	if rows == nil {
		rows = fallback.Core(d.ctx, d.engine, part, x.Answer, fallback.Limits{Memory: d.limits.Memory})
	}
	ops := make([]int32, len(rows))
	for i, row := range rows {
		ops[i] = part.Of[row]
	}
	return ops
}
