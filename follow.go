package clew

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"clew/internal/limits"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
	"clew/report"
)

// Follow checks a history while it is being written, and returns as soon as what
// has come by then is not linearizable and nothing that follows can change that.
// Otherwise it returns what Check says of the whole: once r has ended, idle has
// passed without a line (if it is not 0), or ctx is done. A file does not end, since
// it may grow.
//
// The spec must name a model: what else comes might change what is inferred. Each
// look decides the whole history so far again. Looks become rarer as they take
// longer, so that all of them take about a tenth of one processor. Limits of the
// options bound each of them, and the last one.
//
// What an operation returns counts, and may differ from what it was called with. So
// a failure is final once all operations that were open then have returned; it is
// the one that Check finds in the whole, too. Operations that do not return are
// waited for ten seconds, and then count as crashed. Models that look ahead, such as
// locks with owners and kv, are decided at the end.
func Follow(ctx context.Context, r io.Reader, name string, reading jepsen.Options, spec models.Spec, o Options, idle time.Duration) (*report.Result, error) {
	switch {
	case ctx == nil:
		return nil, errNoContext
	case spec.Name == "":
		return nil, errors.New("a history that is followed needs a model: what comes later might change what is inferred")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	definition, err := spec.Definition()
	if err != nil {
		return nil, err
	}
	f := follower{ctx: ctx, spec: spec, options: o, next: time.Now()}
	look := f.look
	if definition.LooksAhead {
		look = func(*jepsen.History) bool { return true }
	}
	h, err := forms.Follow(ctx, r, name, reading, forms.Following{Idle: idle, Look: look})
	switch {
	case f.found != nil:
		return f.found, nil
	case errors.Is(err, limits.ErrOutOfMemory), errors.Is(context.Cause(ctx), limits.ErrOutOfMemory):
		return &report.Result{File: name, Model: spec.Name, Init: spec.Init, Cause: jepsen.OutOfMemory, FailEvent: jepsen.None, LastOperation: jepsen.None}, nil
	case err != nil:
		return nil, err
	}
	return Check(context.WithoutCancel(ctx), h, spec, o)
}

// follower looks at a history that grows.
type follower struct {
	ctx     context.Context
	spec    models.Spec
	options Options
	found   *report.Result // that it is not linearizable

	seen    int                // events at the last look
	next    time.Time          // when it may look again
	open    []jepsen.Operation // those open at a failure that is not final yet
	alarmed time.Time          // when that was seen first
}

// Looks take at most a share of one processor: after each, there is a pause
// of lookShare times what it took. One alone takes at most longestLook.
const (
	lookShare   = 10
	longestLook = 10 * time.Second
	shortPause  = 100 * time.Millisecond
)

// patience is how long operations that are open at a failure may take to return.
const patience = 10 * time.Second

// look decides a history so far, if it is time to, and says whether to go on.
func (f *follower) look(h *jepsen.History) bool {
	start := time.Now()
	late := len(f.open) > 0 && start.Sub(f.alarmed) > patience
	if start.Before(f.next) || !late && (len(h.Type) == f.seen || f.waits(h)) {
		return true
	}
	f.seen = len(h.Type)
	limit := longestLook
	if f.options.TimeLimit > 0 {
		limit = min(limit, f.options.TimeLimit)
	}
	ctx, cancel := context.WithTimeout(f.ctx, limit)
	defer cancel()
	r := f.failure(ctx, h)
	if r == nil || len(f.open) == 0 {
		f.alarmed = start
	}
	if f.open = nil; r != nil {
		f.open = openAt(h, r.FirstFailing())
	}
	if r != nil && (len(f.open) == 0 || late) {
		f.found = r
	}
	took := time.Since(start)
	f.next = start.Add(took + max(shortPause, lookShare*took))
	return f.found == nil
}

// failure is the result of a history that is not linearizable, nil of any other.
// What cannot be read yet may become readable; if not, the last check says so.
func (f *follower) failure(ctx context.Context, h *jepsen.History) *report.Result {
	if f.options.Independent {
		if r, err := checkKeys(ctx, h, f.spec, f.options); err == nil && r.Verdict == jepsen.Invalid {
			return r
		}
		return nil
	}
	c, err := read(ctx, h, f.spec, f.options)
	if err != nil {
		return nil
	}
	d := newDecider(c.spec, f.options)
	c = c.settle(ctx, d, f.options)
	if c.err != nil || c.verdict.verdict != jepsen.Invalid {
		if c.release != nil {
			c.release()
		}
		return nil
	}
	r, err := c.result(ctx, d, f.options)
	if err != nil {
		return nil
	}
	return r
}

// waits says whether some operation that was open at a failure is still to return.
func (f *follower) waits(h *jepsen.History) bool {
	return slices.ContainsFunc(f.open, func(op jepsen.Operation) bool { return h.Completion[op] == jepsen.None })
}

// openAt is the operations of a history that are open at a failure, and have not
// returned since. The failure may be one of a key.
func openAt(h *jepsen.History, failure *report.Result) []jepsen.Operation {
	var open []jepsen.Operation
	own := failure.History
	for op, inv := range own.Invocation {
		if inv > failure.FailEvent {
			break
		}
		if own.Completion[op] == jepsen.None {
			open = append(open, h.OpOf[own.InWhole(inv)])
		}
	}
	return open
}
