package clew

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"clew/internal/families"
	"clew/internal/limits"
	"clew/internal/option"
	"clew/internal/text"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
	"clew/report"
)

// Follow checks a history while it is being written. It returns as soon as what has come by then is not linearizable
// and nothing that follows can change that. Otherwise it returns what Check says of the whole: once r has ended, idle
// has passed without a line (if it is not 0), or ctx is done. A file does not end, since it may grow.
//
// If r ends within an event, which a writer that was killed leaves, that is an error, unless what came before it is not
// linearizable.
//
// Once ctx is done, Follow returns within about 130 ms. The verdict is that of the whole if there is time, perhaps without
// evidence, or that of the last look if nothing has come since. Otherwise it is unknown; it then says how far the last
// look reached.
//
// The spec must name a model: later operations might change what is inferred. If there is a near-linear decision, a look
// decides what has come since the one before, with the operations that a Monitor holds. Otherwise, if that finds
// something, and with Options.Looked, it decides the whole history so far again. Such looks become rarer as they take
// longer, so that all of them together take about a tenth of one processor. The limits of the options bound each look, and
// the last check.
//
// The value that an operation returns counts, and may differ from what it was called with. So a failure is final once
// all operations that were open then have returned; Check finds the same failure in the whole. Follow waits ten
// seconds for operations that do not return, and then counts them as crashed. For models that look ahead, such as
// locks with owners and kv, there are looks, too, but no failure is final before the end.
func Follow(ctx context.Context, r io.Reader, name string, reading jepsen.Options, spec models.Spec, o Options, idle time.Duration) (*report.Result, error) {
	switch {
	case ctx == nil:
		return nil, errNoContext
	case spec.Name == "":
		return nil, errors.New("a followed history needs a model: later events might change what is inferred")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Consistency != "" {
		return nil, fmt.Errorf("%s needs the whole history: what is read may be written by a transaction that is called later", option.Consistency)
	}
	definition, err := spec.Definition()
	if err != nil {
		return nil, err
	}
	later, end := forms.Later(ctx, lastDecision)
	defer end()
	f := follower{ctx: ctx, later: later, spec: spec, options: o, ahead: definition.LooksAhead, next: time.Now()}
	h, err := forms.Follow(ctx, r, name, reading, forms.Following{Idle: idle, Look: f.look})
	switch {
	case f.found != nil && !forms.IsChanged(err):
		return f.found, nil
	case f.wrong != nil:
		return nil, f.wrong
	case errors.Is(err, limits.ErrOutOfMemory), errors.Is(context.Cause(ctx), limits.ErrOutOfMemory):
		return f.undecided(name, jepsen.OutOfMemory, nil), nil
	case errors.Is(err, forms.ErrUnread):
		return f.undecided(name, limits.Stopped(ctx), nil), nil
	case err != nil:
		return f.torn(h, err)
	}
	return f.whole(h)
}

// torn returns the result of a history that ended within an event if what came before that is not linearizable:
// whatever that event was, the failure is certain. Otherwise it returns the error.
func (f *follower) torn(before *jepsen.History, err error) (*report.Result, error) {
	if torn := (*forms.TornError)(nil); !errors.As(err, &torn) {
		return nil, err
	}
	before.Warnings = append(before.Warnings, fmt.Sprintf("the last event is not whole and does not count: %v", err))
	if r, failed := f.whole(before); failed == nil && r.Verdict == jepsen.Invalid {
		return r, nil
	}
	return nil, err
}

// Once a signal has ended a history, reading what was there and deciding it may take lastDecision. Work that has not
// ended lastWords after that is left behind.
const (
	lastDecision = 110 * time.Millisecond
	lastWords    = 20 * time.Millisecond
)

// whole returns the result of all that has come: that of the last look if nothing has come since.
func (f *follower) whole(h *jepsen.History) (*report.Result, error) {
	if f.last != nil && f.seen == len(h.Type) && f.last.History == h { // a test.jepsen may have been read again
		return f.last, nil
	}
	ctx, o, counts := f.later, f.options, report.CountsOf(h)
	if o.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.TimeLimit)
		defer cancel()
		o.TimeLimit = 0
	}
	var checked *report.Result
	var err error
	var valid atomic.Bool
	ended := watchdog.Await(ctx, lastWords, func() {
		valid.Store(f.of == h && f.passes(ctx, h))
		checked, err = Check(ctx, h, f.spec, o)
	})
	switch {
	case ended && (err != nil || checked.Verdict != jepsen.Unknown || ctx.Err() == nil):
		return checked, err
	case valid.Load() && (!ended || checked.Cause == limits.Stopped(ctx)):
		return &report.Result{
			File: h.File, Counts: counts, Model: f.spec.Name, Init: f.spec.Init, Spec: f.spec, Verdict: jepsen.Valid, Analyzer: "clew/fast-" + f.spec.Name,
			Missing: fmt.Sprintf("evidence is missing (%s): everything except the verdict", limits.Stopped(ctx)),
		}, nil
	case !ended:
		return f.undecided(h.File, limits.Stopped(ctx), h), nil
	}
	if far := f.howFar(h); far != "" {
		checked.Explanation = far
	}
	return checked, nil
}

// undecided returns the result of a history that was not decided, or not even read.
func (f *follower) undecided(name string, cause jepsen.Cause, h *jepsen.History) *report.Result {
	return &report.Result{File: name, Model: f.spec.Name, Init: f.spec.Init, Cause: cause, Explanation: f.howFar(h)}
}

// howFar says how much of a history is certainly linearizable, or returns "" if nothing is known. h is nil if it has
// not been read.
func (f *follower) howFar(h *jepsen.History) string {
	later := "what came later"
	if f.good.operations == 0 {
		return ""
	}
	if h != nil && h.Operations() > f.good.operations {
		later = text.Count(h.Operations()-f.good.operations, "later operation")
	}
	return fmt.Sprintf("linearizable up to %s; undecided: %s", f.good, later)
}

// reached says how much of a history was linearizable at a look.
type reached struct {
	line       int // of the last event, 0 if there are no lines
	operations int
}

func (r reached) String() string {
	operations := text.Count(r.operations, "operation")
	if r.line == 0 {
		return "the first " + operations
	}
	return fmt.Sprintf("line %d (%s)", r.line, operations)
}

// follower looks at a history that grows.
type follower struct {
	ctx     context.Context
	later   context.Context // done lastDecision after ctx
	spec    models.Spec
	options Options
	ahead   bool           // a later operation may change what an earlier one means
	found   *report.Result // not linearizable, whatever comes
	wrong   error          // the model cannot read it, whatever comes

	seen    int                // events at the last look
	last    *report.Result     // the result of these, nil if they were not decided
	good    reached            // how much was linearizable at the last look that found nothing wrong
	next    time.Time          // when it may look again
	rested  time.Time          // when it may decide the whole again only because nothing comes
	open    []jepsen.Operation // those open at a failure that is not final yet
	alarmed time.Time          // when that was seen first

	passed  bool            // the last look found nothing wrong without deciding the whole
	useless bool            // such looks cannot tell
	m       *Monitor        // what they hold
	of      *jepsen.History // the history of which m has events
	came    jepsen.Event    // how many
}

// Looks take at most a share of one processor: after each there is a pause of lookShare times its duration. One look
// takes at most longestLook.
const (
	lookShare   = 10
	longestLook = 10 * time.Second
	shortPause  = 100 * time.Millisecond
)

// patience is how long operations that are open at a failure may take to return.
const patience = 10 * time.Second

// look decides the history so far, if it is time to, and reports whether to go on.
func (f *follower) look(h *jepsen.History) bool {
	start := time.Now()
	late := len(f.open) > 0 && start.Sub(f.alarmed) > patience
	grown := len(h.Type) > f.seen
	quiet := !grown && f.passed && start.After(f.rested) // time for the evidence
	if f.ctx.Err() != nil || start.Before(f.next) || !late && !quiet && (!grown || f.waits(h)) {
		return true
	}
	came := len(h.Type) - f.seen
	f.seen = len(h.Type)
	limit := longestLook
	if f.options.TimeLimit > 0 {
		limit = min(limit, f.options.TimeLimit)
	}
	ctx, cancel := context.WithTimeout(f.ctx, limit)
	defer cancel()
	f.last = nil
	if f.passed = grown && f.passes(ctx, h); f.passed {
		f.open, f.good, f.next = nil, f.reached(h), time.Now().Add(shortPause)
		if f.m.totals.Held > came { // otherwise rarer looks would hardly take less time together
			f.next = pause(start)
		}
		return true
	}
	o := f.options
	o.growing, o.soFar = true, true
	r, err := Check(ctx, h, f.spec, o)
	if err == nil && r.Verdict != jepsen.Unknown {
		f.last = r // what cannot be read yet may become readable; if not, the last check reports it
	}
	f.tell(h, r, err)
	if errors.Is(err, models.ErrUnknownF) {
		f.wrong = err
		return false
	}
	failed := f.last != nil && f.last.Verdict == jepsen.Invalid && !f.ahead
	if !failed || len(f.open) == 0 {
		f.alarmed = start
	}
	if f.open = nil; failed {
		f.open = openAt(h, f.last.FirstFailing())
	}
	if failed && (len(f.open) == 0 || late) {
		f.found = f.last
	}
	if f.last != nil && f.last.Verdict == jepsen.Valid {
		f.good = f.reached(h)
	}
	if f.useless = f.useless || grown && err == nil && r.Verdict != jepsen.Invalid; f.useless {
		f.m, f.of = nil, nil
	}
	if f.rested = pause(start); !quiet {
		f.next = f.rested
	}
	return f.found == nil
}

// pause returns until when nothing is done after work that began at a time.
func pause(start time.Time) time.Time {
	now := time.Now()
	return now.Add(max(shortPause, lookShare*now.Sub(start)))
}

// passes reports whether a history is linearizable even if it ended here, as a monitor finds that has the events of earlier
// calls. If not, it may be linearizable all the same.
func (f *follower) passes(ctx context.Context, h *jepsen.History) bool {
	if f.useless || f.options.Looked != nil || f.options.Keys != nil {
		return false
	}
	if f.of != h {
		m, err := NewMonitor(ctx, f.spec, f.options)
		if err != nil {
			return false
		}
		m.shared = true
		m.held.Has(jepsen.NewBuilder(jepsen.Options{}))
		f.m, f.of, f.came = m, h, 0
	}
	b := f.m.held.Builder()
	b.Follow(h, f.came)
	f.m.ctx, f.came = ctx, jepsen.Event(len(h.Type))
	own, err := b.SoFar()
	if err != nil {
		return false
	}
	f.m.held.Note(own)
	return f.m.passes(own)
}

// passes reports whether a near-linear decision finds that what has come is linearizable even if it ended here. Then it
// forgets what need not be held.
func (m *Monitor) passes(h *jepsen.History) bool {
	parts, err := m.parts(h)
	if err != nil || !m.d.fast {
		return false
	}
	for _, x := range parts {
		for _, part := range x.Parts {
			path, _ := families.Of(part.Model)
			if path == nil || path.Decide(m.ctx, &part.Columns, 0).Verdict != jepsen.Valid {
				return false
			}
		}
	}
	m.holds = m.holdsAll(h)
	err = m.forget(h, parts, m.known(h, false))
	m.totals.Held = h.Operations()
	return err == nil
}

// reached returns how far a history reaches.
func (f *follower) reached(h *jepsen.History) reached {
	return reached{h.Line(jepsen.Event(f.seen - 1)), h.Operations()}
}

// tell passes on what a look found.
func (f *follower) tell(h *jepsen.History, r *report.Result, err error) {
	if f.options.Looked == nil {
		return
	}
	if err != nil {
		r = &report.Result{File: h.File, Model: f.spec.Name, Init: f.spec.Init, Cause: jepsen.Unreadable, Error: Placed(h, err).Error()}
	}
	f.options.Looked(r)
}

// waits reports whether some operation that was open at a failure has not returned yet.
func (f *follower) waits(h *jepsen.History) bool {
	return slices.ContainsFunc(f.open, func(op jepsen.Operation) bool { return h.Completion[op] == jepsen.None })
}

// openAt returns the operations of a history that are open at a failure and have not returned since. The failure may
// be that of a key.
func openAt(h *jepsen.History, failure *report.Result) []jepsen.Operation {
	var open []jepsen.Operation
	own := failure.History
	for op, inv := range own.Invocation {
		if inv > failure.FailedBy() {
			break
		}
		if own.Completion[op] == jepsen.None {
			open = append(open, h.OpOf[own.InWhole(inv)])
		}
	}
	return open
}
