package clew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"clew/edn"
	"clew/fallback"
	"clew/internal/engines"
	"clew/internal/guess"
	"clew/internal/hugepages"
	"clew/internal/levels"
	"clew/internal/limits"
	"clew/internal/memory"
	"clew/internal/story"
	"clew/internal/text"
	_ "clew/internal/types" // the data types
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Options say how to check a history.
type Options struct {
	// Algorithm is one of Algorithms(); "" means "auto".
	Algorithm string
	// TimeLimit bounds the check; 0 means no limit. A step of a model in Go that is under way is still waited for, but
	// not by CheckStore.
	TimeLimit time.Duration
	// Memory is what the search may use, possibly together with other checks; nil means no limit.
	Memory *Memory
	// Independent says that the values are [key value] tuples, and that each key is a history of its own.
	Independent bool
	// Whole says that the history is of one object, although each of its values may look like a [key value] tuple.
	// If neither is set, such a history is not INVALID if each of its keys by itself is linearizable: it is not known then
	// how to read it (jepsen.Reading).
	Whole bool
	// Keyless makes an operation without a key part of every independent key. Without it such an operation is an
	// error.
	Keyless bool
	// Keys, unless nil, chooses the independent keys to check. The result is then about these alone, and there may be
	// none.
	Keys func(key edn.Value) bool
	// Verify says which evidence to check again. If evidence is wrong, the result has the cause
	// jepsen.SelfCheckFailed.
	Verify Verification
	// Consistency is the level of consistency to decide; "" means linearizability (for CheckStore, what the test map
	// beside a history asks for, if it does), which is strict serializability for
	// transactions, and results about transactions that are not strictly serializable then say at which levels they are. A level
	// requires a model of transactions whose values tell the order of updates.
	Consistency models.Level
	// Depth is how deep "hitting" looks for a witness; 0 means DefaultDepth.
	Depth int
	// Engine, unless nil, decides instead of the algorithm. It is for engines that are being written.
	Engine fallback.Engine
	// Passed, unless nil, follows the number of completions that the search has passed so far.
	Passed *atomic.Int64
	// Held, unless nil, follows the number of configurations that the search holds.
	Held *atomic.Int64
	// Looked, unless nil, is called by Follow with the result of each look. Its history grows once Looked has returned.
	// If the result is Invalid, operations that return later may still explain it. If the model cannot read the history
	// so far, the cause is jepsen.Unreadable.
	Looked func(*report.Result)
	// growing says that later operations may still show what was there at first.
	growing    bool
	soFar      bool  // later operations may still come
	keysUnsaid bool  // the caller sets Whole, and its own caller has not said whether there are keys
	work       int32 // the most that the searches of a key do, in units of some nanoseconds; 0: unbounded
}

// Verification says which evidence to check again: it replays a witness, and lets another engine decide a core.
type Verification int

const (
	VerifyCheap  Verification = iota // what is cheap, which depends on the history alone; a witness always is
	VerifyAlways                     // all evidence, whatever it costs
	VerifyNever                      // none
)

// Memory is an amount of memory that searches may use. Several checks at the same time may share one, and then use no
// more than that together. A search takes from it as it grows, and gives all back when it ends. Each search estimates
// what it holds. What the histories themselves hold is not counted.
type Memory struct {
	budget *models.Memory
	bytes  int64
}

// NewMemory returns a Memory of that many bytes, at least 0. The zero Memory has no limit, like a nil one.
func NewMemory(bytes int64) *Memory { return &Memory{models.NewMemory(bytes), bytes} }

// limits returns the bounds that the options set, other than the time.
func (o Options) limits() fallback.Limits {
	lim := fallback.Limits{Passed: o.Passed, Held: o.Held}
	if o.Memory != nil {
		lim.Memory = o.Memory.budget
	}
	return lim
}

// Algorithms returns the names that Options.Algorithm takes:
//
//   - "auto" takes the fast path if there is one and the history is unambiguous, else the general search.
//   - "fast" takes the fast path only; if that cannot decide, the verdict is unknown, with the cause "ambiguous".
//   - "window" (also "wgl"), "frontier" (also "linear") and "porcupine" are the general search with that engine alone.
//   - "staged" and "matching" are engines for registers only, "languages" for stacks, "lockstep" for FIFO queues.
//   - "hitting" is an engine that only finds witnesses.
//   - "competition" runs all of them in a race.
func Algorithms() []string { return slices.Insert(engines.Names(), 1, onlyFast) }

const onlyFast = "fast"

// DefaultDepth is how deep "hitting" looks for a witness by default.
const DefaultDepth = engines.DefaultDepth

// CheckAlgorithm returns an error if a name is not one of Algorithms().
func CheckAlgorithm(name string) error {
	if name == "" || slices.Contains(Algorithms(), name) {
		return nil
	}
	return fmt.Errorf("unknown algorithm %q; %sclew knows %s", name, text.DidYouMean(name, Algorithms()), strings.Join(Algorithms(), ", "))
}

// Check decides whether a history is linearizable with respect to a model, and shows why. If the spec names no model,
// Check infers it. Anything that stops the search gives a Result with an unknown verdict.
//
// An error means that the history, the spec or the options make no sense, or that a model of the caller's own failed:
// its step, or its label of an operation in the text of a failure, returned an error or panicked, or what it declares
// does not hold. The error is an *edn.Error if it has a place in the history, a *models.ParamError if it is about a
// parameter of the model, and a *models.Failure if the model failed. Several goroutines must not check the same History
// at once.
func Check(ctx context.Context, h *jepsen.History, spec models.Spec, o Options) (*report.Result, error) {
	start := time.Now()
	ctx, cancel, err := o.begin(ctx, h)
	if err != nil {
		return nil, err
	}
	defer cancel()
	check := checkOne
	if o.Independent {
		check = checkKeys
	}
	r, err := check(ctx, h, spec, o)
	if err != nil {
		return nil, o.mayHaveKeys(ctx, h, spec, err)
	}
	if err := r.Unlabeled(ctx); err != nil {
		r.Unsaid = cmp.Or(r.Unsaid, fmt.Sprintf("the model's label failed, so pictures say it in the history's own words: %v", err))
	}
	r = another(ctx, r, spec, o)
	r.Granted = granted(ctx, r, spec, o)
	saveCore(ctx, r, spec, o)
	if r.Level = o.Consistency; o.Whole {
		r.From.Keys = report.Flag
	}
	r.Ms = float64(time.Since(start).Microseconds()) / 1000
	return r, nil
}

func (o *Options) check() error {
	if err := CheckAlgorithm(o.Algorithm); err != nil {
		return err
	}
	if o.Depth < 0 || o.Depth > 0 && o.Algorithm != "hitting" {
		return fmt.Errorf("a depth must be at least 1 and requires the algorithm hitting; found %d with %q", o.Depth, o.Algorithm)
	}
	if err := o.checkConsistency(); err != nil {
		return err
	}
	switch {
	case o.Whole && o.Independent:
		return errors.New("Options.Whole and Options.Independent cannot be combined")
	case o.TimeLimit < 0:
		return fmt.Errorf("Options.TimeLimit: expected a positive duration or 0 for no limit, found %v", o.TimeLimit)
	case o.Memory != nil && o.Memory.bytes < 0:
		return fmt.Errorf("Options.Memory: expected at least 0 bytes, found %d", o.Memory.bytes)
	case o.Verify < VerifyCheap || o.Verify > VerifyNever:
		return fmt.Errorf("Options.Verify: expected VerifyCheap, VerifyAlways or VerifyNever, found %d", o.Verify)
	}
	return nil
}

var errNoContext = errors.New("no context was given; context.Background() never ends")

// begin looks at what Check and HowFar were given, and bounds the context by the time limit.
func (o *Options) begin(ctx context.Context, h *jepsen.History) (context.Context, context.CancelFunc, error) {
	if err := given(ctx, h); err != nil {
		return nil, nil, err
	}
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if o.TimeLimit > 0 {
		bounded, cancel := context.WithTimeout(ctx, o.TimeLimit)
		return bounded, cancel, nil
	}
	return ctx, func() {}, nil
}

func given(ctx context.Context, h *jepsen.History) error {
	if ctx == nil {
		return errNoContext
	}
	if h == nil || h.Values == nil {
		return jepsen.ErrNoHistory
	}
	return nil
}

func checkOne(ctx context.Context, h *jepsen.History, spec models.Spec, o Options) (*report.Result, error) {
	c, err := read(ctx, h, spec, o)
	if err != nil {
		return nil, err
	}
	if c.ops != nil && c.ops.Model.Traits().IsRegister {
		if err := c.spec.SaysKeys(h); err != nil {
			return nil, err
		}
	}
	d := newDecider(c.spec, o)
	var r *report.Result
	if o.Consistency.Weaker() && c.ops != nil && c.ops.Len() > 0 {
		r = c.level(ctx, o)
	}
	if r == nil || r.Verdict == jepsen.Unknown { // strict serializability would imply the level
		c = c.settle(ctx, d, o).alone(ctx, d, o)
		strict, err := c.result(ctx, d, o)
		if err != nil {
			return nil, err
		}
		if r == nil || strict.Verdict == jepsen.Valid {
			r = c.levels(ctx, strict, o)
		}
	}
	r.Altered = c.spec.Altered(h, c.ops)
	return r, nil
}

// settle decides a history, also from other initial values if it must.
func (c *checking) settle(ctx context.Context, d *decider, o Options) *checking {
	c.decide(ctx, d, o.limits())
	ctx, stop := d.lastly(ctx)
	defer stop()
	opened := c.opened(ctx, d, o)
	return c.among(ctx, d, o, opened, c.try(ctx, d, o, opened.Specs))
}

// checking is a history on its way to a result. Reading and showing the result add to the history's Values. Deciding
// in between does not, so histories that share Values can be decided in parallel.
type checking struct {
	h         *jepsen.History
	keysSaid  bool // whether values are [key value]
	spec      models.Spec
	inferred  bool
	supposed  bool                           // the initial value is taken from the first reads
	refuted   bool                           // it is linearizable from no value
	settled   bool                           // it is certain that it fails, and not where
	flags     string                         // likely: how to say which initial value it was
	likely    string                         // the initial value from which it is linearizable, but not from the default
	byDefault string                         // supposed: what fails from the default
	unshown   []models.Spec                  // from which it may be linearizable, though it does not show that
	like      string                         // likely: what is written is seen in another form
	broken    []models.Broken                // what no order of the operations can mend
	against   jepsen.Maybe[jepsen.Operation] // what fails beside the operations, which are linearizable alone
	twin      *models.Operations             // of a model that is not in the registry: as one of the registry reads them, or nil
	ops       *models.Operations
	parts     []*models.Operations
	decisions []decision
	verdict   conclusion
	core      []jepsen.Operation
	missing   []string // the evidence that the context left no time for
	took      time.Duration
	wrong     error  // why the witness is not one, else nil
	err       error  // the model failed
	release   func() // releases what the model holds; nil: nothing
}

// read gives the operations their meaning. If the context ends first, c.ops stays nil.
func read(ctx context.Context, h *jepsen.History, spec models.Spec, o Options) (*checking, error) {
	c := &checking{h: h, keysSaid: (o.Whole || o.Independent) && !o.keysUnsaid}
	var err error
	if c.spec, c.inferred, err = spec.Infer(h); err != nil {
		return nil, err
	}
	switch c.ops, err = c.spec.ReadWithin(ctx, h); {
	case err != nil && err == context.Cause(ctx):
		return c, nil
	case err != nil:
		return nil, err
	}
	if b := c.ops.Model.Traits().Beyond; b != nil {
		if c.broken = b.Judge(c.ops, nil); len(c.broken) > 0 {
			c.ops = b.Alone(c.ops)
		}
	}
	if p := c.ops.Model.Traits().Partition; c.spec.IsOwn() && p == nil && c.ops.Len() >= guess.Least {
		c.twin = guess.Twin(ctx, h)
	}
	if err := levels.Refuse(c.ops.Model, c.spec.Name, o.Consistency); err != nil && !(c.inferred && h.Operations() == 0) {
		return nil, err
	}
	if e, ok := engines.Of(o.Algorithm); ok && e.Suits != nil && slices.ContainsFunc(c.ops.Parts(), func(part *models.Operations) bool { return !e.Suits(part.Model) }) {
		return nil, fmt.Errorf("the algorithm %s decides %s, not %s", o.Algorithm, e.Models, c.spec.Name)
	}
	return c, nil
}

// decide finds the verdict and the core.
func (c *checking) decide(ctx context.Context, d *decider, lim fallback.Limits) {
	if c.ops == nil {
		c.verdict = conclusion{cause: limits.Stopped(ctx), failing: -1, undecided: -1}
		return
	}
	start := time.Now()
	c.release = within(ctx, c.ops.Model, lim)
	if len(c.broken) > 0 {
		d = d.within(failedWork)
	}
	c.fails(d, caught(c.ops.Model, func() {
		if find := c.ops.Model.Traits().FindKinds; find != nil {
			find(c.ops)
		}
		if !c.guessed(ctx, d) {
			c.parts, c.decisions = d.decide(ctx, c.ops, lim)
		}
		c.verdict = conclude(c.decisions)
		if f := c.verdict.failing; f >= 0 {
			late := stopped(c.ops.Model, func() { c.core = d.core(ctx, c.ops.Model, c.parts[f], c.decisions[f], lim) })
			if late || ctx.Err() != nil && c.decisions[f].core == nil {
				c.lacks("a minimal core")
				if len(c.core) > maxUnfinished {
					c.core = nil
				}
			}
			stopped(c.ops.Model, func() { d.tell(ctx, c.parts[f], c.core, &c.decisions[f]) })
			c.undeclared(ctx, lim)
		}
	}))
	c.took = time.Since(start)
}

// guessed reports whether the operations can happen in the order that a model of the registry has for them.
func (c *checking) guessed(ctx context.Context, d *decider) (valid bool) {
	if c.twin == nil || !d.fast || d.only {
		return false
	}
	var order []models.Row
	if caught(c.ops.Model, func() { order, valid = guess.Order(ctx, c.ops, c.twin) }) != nil || !valid {
		return false
	}
	c.parts = []*models.Operations{c.ops}
	c.decisions = []decision{{Answer: fallback.Answer{Verdict: jepsen.Valid, Order: order}, analyzer: "clew/replay"}}
	return true
}

// maxUnfinished bounds a core that could not be made minimal. Showing a larger one does not help.
const maxUnfinished = 1000

// lacks notes that the context ended before some evidence was found.
func (c *checking) lacks(what string) { c.missing = append(c.missing, what) }

// result returns the verdict with its evidence, or an error if the model fails.
func (c *checking) result(ctx context.Context, d *decider, o Options) (r *report.Result, err error) {
	if c.release != nil {
		defer c.release()
	}
	if c.ops != nil && c.err == nil {
		c.fails(d, caught(c.ops.Model, func() { r = c.shown(ctx, d, o) }))
	}
	if c.err == nil && r == nil {
		r = c.shown(ctx, d, o) // a limit stopped the model: it is not asked, or not again
	}
	if c.err == nil {
		c.judge(r)
	}
	return r, c.err
}

// shown returns the verdict with its evidence. The verdict stands even if the context ends before the evidence is
// found.
func (c *checking) shown(ctx context.Context, d *decider, o Options) *report.Result {
	r := &report.Result{
		History: c.h, File: c.h.File, Model: c.spec.Name, Init: c.spec.Init, Inferred: c.inferred, Spec: c.spec,
		Verdict: c.verdict.verdict, Analyzer: c.verdict.analyzer, Cause: c.verdict.cause, Explanation: c.verdict.reason,
		Depth: c.verdict.depth,
	}
	switch r.Verdict {
	case jepsen.Valid:
		r.Ops = c.ops
		c.valid(ctx, r, o)
	case jepsen.Unknown:
		if c.verdict.undecided >= 0 {
			r.Hard = c.hard(c.verdict.undecided)
		}
		if c.settled && r.Hard != nil {
			c.placeless(r)
		}
	case jepsen.Invalid:
		r.Core, r.Ops = c.core, c.parts[c.verdict.failing]
		c.invalid(ctx, r, o)
	}
	r.Unsaid = c.unsaid()
	wrong := c.selfCheck(ctx, d, r, o)
	c.suppose(r)
	if c.hintUnshown(ctx, d, o, r) {
	} else if init, by := c.despiteCalls(ctx, d, o); init != "" && r.Verdict == jepsen.Unknown {
		r.Explanation = c.whichOf(onlyFrom, c.likely, init)
		r.InitHint = &report.Advice{Value: c.likely, Text: c.flags}
	} else if init != "" && r.Kind != models.Duplicate { // two of an element would explain any other one
		r.InitHint = &report.Advice{Value: init, Text: fmt.Sprintf("it is linearizable if the initial value is %s, which %s to write by then: %s", text.Shorten(init, maxInit), by, initFlag(init))}
		addHint(r, r.InitHint.Text)
	}
	if len(c.missing) > 0 {
		r.Missing = fmt.Sprintf("evidence is missing (%s): %s", cmp.Or(c.verdict.cause, limits.Stopped(ctx)), strings.Join(c.missing, ", "))
	}
	r.Ms = float64(c.took.Microseconds()) / 1000
	if wrong != nil {
		return refuted(r, wrong)
	}
	return r
}

// placeless makes a result invalid that certainly fails, although it is not known where.
func (c *checking) placeless(r *report.Result) {
	r.Explanation = fmt.Sprintf("%s; which completion fails first is not known (%s)", r.Hard.Certainly(c.h), r.Cause)
	r.Verdict, r.Cause = jepsen.Invalid, ""
	c.lacks("which completion fails first, and a core")
}

// conclusion is the verdict of the parts together.
type conclusion struct {
	verdict          jepsen.Verdict
	analyzer, reason string
	cause            jepsen.Cause
	failing          int // if Invalid, the part that fails first; else -1
	undecided        int // if Unknown, an undecided part; else -1
	depth            int // if Valid, that of the deepest witness
}

// conclude combines the verdicts of the parts. One failing part makes the whole invalid, and the earliest known
// failing completion counts.
func conclude(decisions []decision) conclusion {
	c := conclusion{verdict: jepsen.Valid, failing: -1, undecided: -1}
	for i, d := range decisions {
		switch {
		case d.Verdict == jepsen.Unknown && c.undecided >= 0 && decisions[c.undecided].FailsBy > 0 && d.FailsBy == 0:
			// The part before certainly fails, which says more.
		case d.Verdict == jepsen.Unknown && c.verdict != jepsen.Invalid:
			c = conclusion{verdict: jepsen.Unknown, analyzer: d.analyzer, cause: d.Cause, reason: d.reason, failing: -1, undecided: i}
		case d.Verdict == jepsen.Invalid && (c.failing < 0 || d.FailEvent < decisions[c.failing].FailEvent):
			c = conclusion{verdict: jepsen.Invalid, analyzer: d.analyzer, failing: i, undecided: -1}
		case c.analyzer == "":
			c.analyzer = d.analyzer
		}
		if c.verdict == jepsen.Valid {
			c.depth = max(c.depth, d.Depth)
		}
	}
	return c
}

// valid fills in the witness and the final state in parallel. The witness only reads the history and the orders; the
// model alone adds to the history's Values.
func (c *checking) valid(ctx context.Context, r *report.Result, o Options) {
	memory.Collect(c.ops.Len())
	var late, replayed error // what is wrong with the witness
	evidence := [2]func(){
		func() {
			if r.Witness = c.witness(); o.Verify != VerifyNever {
				late = c.ordered(r.Witness)
			}
		},
		func() {
			if stopped(c.ops.Model, func() { r.Final, replayed = c.final(ctx) }) {
				c.lacks("the final state")
			}
		},
	}
	if c.ops.Len() < manyOperations {
		evidence[0]()
		evidence[1]()
	} else {
		sideBySide(len(evidence), func(i int) { evidence[i]() })
	}
	c.wrong = cmp.Or(late, replayed)
	r.Explanation = report.Took(r.History, r.Witness)
	r.Vacuous = c.vacuous()
}

// manyOperations is how many operations are worth a goroutine.
const manyOperations = 4096

// witness returns the parts' orders as one, with the operations that the model leaves out.
func (c *checking) witness() []jepsen.Operation {
	free := free(c.ops)
	if len(c.parts) != 1 {
		return inOrder(c.h, append(c.points(), free...))
	}
	part, order := c.parts[0], c.decisions[0].Order
	ops := hugepages.Make[jepsen.Operation](len(order) + len(free))[:0]
	at := int32(-1)
	for _, row := range order {
		for at = max(at, part.Inv[row]); len(free) > 0 && int32(free[0].at) < at; free = free[1:] {
			ops = append(ops, free[0].op)
		}
		ops = append(ops, part.Of[row])
	}
	for _, p := range free {
		ops = append(ops, p.op)
	}
	return ops
}

// points returns where the operations of the parts' orders take effect.
func (c *checking) points() []point {
	points := hugepages.Make[point](c.ops.Len())[:0]
	for i, part := range c.parts {
		points = addPoints(points, part, c.decisions[i].Order)
	}
	return points
}

// final returns the state that the parts' orders lead to, or the zero Value if there was no time to find it. It
// returns an error if the model cannot take one of their steps.
func (c *checking) final(ctx context.Context) (edn.Value, error) {
	var state models.State
	var err error
	if c.ops.Model.Traits().Declared != nil && len(c.parts) > 1 {
		state, err = c.wholeRun()
	} else {
		state, err = models.Final(ctx, c.ops.Model, &c.ops.Columns, c.wholeOrder())
	}
	switch {
	case err != nil && err == context.Cause(ctx):
		c.lacks("the final state")
		return edn.Value{}, nil
	case err != nil:
		return edn.Value{}, err
	}
	return c.ops.Model.Record(state), nil
}

// wholeOrder returns the parts' orders one after the other, as rows of the whole: a part may have kinds of its own.
func (c *checking) wholeOrder() []models.Row {
	if len(c.parts) == 1 && c.parts[0] == c.ops {
		return c.decisions[0].Order
	}
	rowOf := c.ops.Rows()
	order := hugepages.Make[models.Row](c.ops.Len())[:0]
	for i, part := range c.parts {
		for _, row := range c.decisions[i].Order {
			order = append(order, rowOf[part.Of[row]])
		}
	}
	return order
}

// free returns points for the operations that succeeded and that the model leaves out, such as reads of nil.
func free(ops *models.Operations) []point {
	h := ops.History
	if ops.Len() == h.Operations() {
		return nil
	}
	read := hugepages.Make[bool](h.Operations())
	for _, op := range ops.Of {
		read[op] = true
	}
	var points []point
	for op, done := range read {
		if !done && h.Status[op] == jepsen.Succeeded {
			points = append(points, point{h.Invocation[op], jepsen.Operation(op)})
		}
	}
	return points
}

// point is where an operation takes effect: just after event at.
type point struct {
	at jepsen.Event
	op jepsen.Operation
}

// inOrder returns operations of a history in order of their points. Those at the same point keep their order. Linear
// time.
func inOrder(h *jepsen.History, points []point) []jepsen.Operation {
	ops := hugepages.Make[jepsen.Operation](len(points))
	if slices.IsSortedFunc(points, func(a, b point) int { return int(a.at - b.at) }) {
		for i, p := range points {
			ops[i] = p.op
		}
		return ops
	}
	from := hugepages.Make[int32](len(h.Type) + 1) // by event: how many operations come before its own
	for _, p := range points {
		from[p.at+1]++
	}
	for event := range h.Type {
		from[event+1] += from[event]
	}
	for _, p := range points {
		ops[from[p.at]] = p.op
		from[p.at]++
	}
	return ops
}

// addPoints gives every operation of a linearization the earliest point that its order allows: the latest invocation
// up to it. That point lies before the operation returns, so the orders of several parts can be merged by their
// points.
func addPoints(points []point, part *models.Operations, order []models.Row) []point {
	at := int32(-1)
	for _, row := range order {
		at = max(at, part.Inv[row])
		points = append(points, point{jepsen.Event(at), part.Of[row]})
	}
	return points
}

// invalid fills in where the history fails and why.
func (c *checking) invalid(ctx context.Context, r *report.Result, o Options) {
	part, d := c.parts[c.verdict.failing], c.decisions[c.verdict.failing]
	r.FailEvent = jepsen.Some(jepsen.Event(d.FailEvent))
	var err error
	late := stopped(part.Model, func() { r.Configs, r.Paths, err = report.Explain(ctx, part, r.FailEvent.OrNone(), d.Order, d.Others) })
	if late || err != nil {
		c.lacks("configurations and final paths")
	}
	if len(r.Configs) > 0 {
		r.LastOperation = jepsen.Some(r.Configs[0].Last)
	}
	if d.why != nil && d.why.Bare {
		r.Told = levels.Cycle(part, d.why.Rows)
	}
	if stopped(part.Model, func() {
		r.Story, _ = story.Tell(ctx, part, r.FailEvent.OrNone(), part.Among(r.Core), r.Told != nil || d.why != nil && !d.why.Bare)
	}) {
		c.lacks("the story of the failure")
	}
	if d.why != nil {
		r.Explanation, r.Pattern = d.why.Tell(part.Teller()), d.why.Name
		if r.Told != nil {
			r.Explanation = r.Told.Says
		}
		stopped(part.Model, func() { r.Drawn = drawn(r, part, d) })
		if d.why.State != nil && len(d.why.Rows) == 1 && len(r.Story.ToRead()) == 0 && r.Drawn != "" {
			r.Explanation += " (" + text.Shorten(text.Line(r.Drawn), maxWhy) + ")"
		}
	} else {
		r.Explanation = explain(r)
		if op, found := c.enabling(ctx, r); found {
			r.Explanation += "; " + r.History.Name(op) + " would, but not with the answer that it returns later"
			r.Named = []jepsen.Operation{op}
		}
	}
	r.Kind = c.kind(ctx, r)
	c.relate(ctx, r)
	if r.Kind == models.StaleRead && !o.soFar {
		if again, lost := rolledBack(part, d.FailEvent); lost {
			r.Kind = models.Rollback
			r.Explanation += "; " + r.History.Name(part.Of[again]) + " saw the old value again, and nothing later saw what had replaced it"
			r.Named = append(r.Named, part.Of[again])
		}
	}
	if failed, says := c.failedWriter(ctx, r); says != "" {
		r.Explanation += "; " + r.History.Name(failed) + says
		r.Named = append(r.Named, failed)
	}
	if o.work == 0 { // else it is what is saved of another one
		stopped(part.Model, func() { r.Saved = slices.Concat(r.Core, c.beside(ctx, r)) })
	}
	if r.Prior = c.prior(r.FailEvent.OrNone(), r.Before); r.Prior == nil {
		c.lacks("an order of all operations up to the failure")
	}
	r.Hint = completedOtherwise(part.History, r)
	if c.ops.Model.Traits().IsRegister && r.Hint == "" {
		r.Hint = c.hint(part, r.FailEvent.OrNone())
	}
	if r.Hint == "" {
		r.Hint = alikeAccounts(c.h.Values, c.ops.Model)
	}
	if r.Hint == "" {
		stopped(part.Model, func() { r.Hint = c.otherwise(ctx) })
	}
	if r.Hint == "" {
		r.Hint = hintOfAny(part.History, r)
	}
}
