package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"clew"
	"clew/fallback"
	"clew/internal/engines"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Long histories are beyond the oracle. The generator knows the verdict of most and where
// they fail, and each engine says what it finds in a bounded amount of work. The oracle
// checks witnesses and what is linearized before a failure. It can do this at any length.
const (
	longWork   = 300_000   // of an engine and a part: some milliseconds
	longMemory = 256 << 20 // of an engine
	longTime   = 20 * time.Second
	hardTime   = 2 * time.Second // if auto did not decide it in that work
	longest    = 2000            // operations
	hittable   = 60              // hitting gets histories of at most this many operations
	fewCrashed = 8               // crashed operations, with which Porcupine's sets of states are not too large for one step
)

// longEngines returns the algorithms whose engines count their work.
func longEngines() []string {
	all := []string{"auto"}
	for _, e := range engines.All() {
		if !e.OnlyWitnesses {
			all = append(all, e.Name)
		}
	}
	return all
}

// longModels returns the models for which gen makes long histories.
func longModels() []string {
	return slices.DeleteFunc(names(), func(name string) bool { return (gen.LongOptions{Model: name, Operations: 1}).Check() != nil })
}

func names() (all []string) {
	for _, about := range models.All() {
		all = append(all, about.Name)
	}
	return all
}

// longConfig makes long histories of a model.
func longConfig(model string) Config {
	return Config{model + ", long", model, 6, func(u Unit, n int) (c Counts, err error) {
		r := gen.Rand(u.Seed)
		for range n {
			o := longOptions(r, model)
			var text strings.Builder
			fail, err := gen.Long(&text, o)
			if err != nil {
				return c, err
			}
			spec := models.Spec{Name: model, Init: o.Init()}
			if model == "semaphore" || model == "owner-semaphore" {
				spec.Permits = o.Permits
			}
			long := (*Counts).long
			switch {
			case o.Independent > 0:
				long = (*Counts).longKeys
			case o.Kind.OfWatches():
				long = (*Counts).broken
			}
			known := &fail
			if o.Kind == gen.WrongAnswer {
				known = nil
			}
			if err := long(&c, spec, text.String(), known); err != nil {
				small := smallestLong(text.String(), func(text string) error { return long(new(Counts), spec, text, nil) })
				return c, &Mismatch{Spec: spec, Keys: o.Independent > 0, Text: small, Err: fmt.Errorf("%+v: %w", o, err)}
			}
		}
		return c, nil
	}}
}

// longOptions draws a long history. Short ones are more frequent, so that all engines
// decide many, with few values and with many, and with crashes.
func longOptions(r *rand.Rand, model string) gen.LongOptions {
	pick := func(of ...int) int { return of[r.IntN(len(of))] }
	for {
		o := gen.LongOptions{
			Model: model, Operations: int(20 * math.Pow(longest/20, math.Pow(r.Float64(), 1.5))), Processes: pick(2, 3, 5, 5, 10, 20),
			Values: pick(0, 0, 2, 3, 5, 20, 300), Keys: pick(1, 2, 3, 3, 10), Permits: pick(1, 2, 3, 5),
			Reads: [...]float64{0, 0.2, 0.5, 0.8}[r.IntN(4)], Crashed: pick(0, 0, 0, 1, 3, 10, 30),
			Fails: [...]float64{0, 0, 0.1, 0.3}[r.IntN(4)], Crashes: [...]float64{0, 0, 0.01, 0.05}[r.IntN(4)],
			At: [...]float64{0, 0.2, 0.5, 0.99}[r.IntN(4)], Seed: r.Uint64(),
		}
		if bugs := gen.KindsOf(model); r.IntN(2) == 0 {
			o.Kind = append(slices.Clip(bugs), gen.WrongAnswer)[r.IntN(len(bugs)+1)]
		}
		if r.IntN(6) == 0 {
			o.Independent = 2 + r.IntN(min(o.Operations/4, 40))
		}
		o.Appends = model == "kv" && r.IntN(4) == 0
		if o.Check() == nil && o.Crashed < o.Operations/2 {
			return o
		}
	}
}

// long says what is wrong with what engines find about a long history. known is where
// it fails, or -1 if it does not, or nil if this is not known.
func (c *Counts) long(spec models.Spec, text string, known *int) error {
	h, ops, err := ReadText(spec, text)
	if err != nil {
		return err
	}
	by := "the generator"
	agreed := known
	fails := known == nil || *known >= 0
	if b := ops.Model.Traits().Beyond; b != nil && fails { // watches would show the failure elsewhere
		if alone := b.Alone(ops); alone != nil {
			ops = alone
		}
	}
	blamed := func(r *report.Result) bool { return fails && r.Kind == models.BrokenGuarantee } // a watch, where it is not clear which operation fails
	parts := ops.Parts()
	agree := func(name string, fail int) error {
		if agreed == nil {
			agreed, by = &fail, name
		} else if *agreed != fail {
			return fmt.Errorf("%s: %s fails; %s says %s", name, oracle.Event(h, jepsen.Event(fail)), by, oracle.Event(h, jepsen.Event(*agreed)))
		}
		c.Engines.note(name, verdictOf(fail))
		return nil
	}
	easy := false
	for _, name := range append(longEngines(), "hitting") {
		if name == "hitting" && ops.Len() > hittable || name == "porcupine" && h.CrashedCount() > fewCrashed {
			continue
		}
		fail, decided, err := inCountedWork(engines.New(name, longDepth(name)), parts)
		if err == nil && decided {
			err = agree(name, fail)
		}
		if err != nil {
			return fmt.Errorf("--algorithm %s: %w", name, err)
		}
		easy = easy || name == "auto" && decided
	}
	fast, err := limited(h, spec, "fast", longTime)
	if err == nil && fast.Verdict != jepsen.Unknown && !blamed(fast) {
		err = agree("fast", int(fast.FailEvent.OrNone()))
	}
	if err != nil {
		return fmt.Errorf("--algorithm fast: %w", err)
	}
	limit := longTime
	if !easy && fast.Verdict == jepsen.Unknown {
		limit = hardTime
	}
	r, err := limited(h, spec, "auto", limit)
	switch {
	case err != nil, blamed(r):
	case r.Verdict != jepsen.Unknown:
		if err = agree("evidence", int(r.FailEvent.OrNone())); err == nil {
			err = c.evidence(spec, r, ops, strings.Split(text, "\n"))
		}
	case r.Cause == jepsen.SelfCheckFailed:
		err = errors.New(r.Error)
	default:
		c.unknown(spec.Name+": "+hard(h, parts), 1)
	}
	c.noteLong(h, agreed)
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	return nil
}

// broken says what is wrong with what is found about a long history in which a watch breaks its guarantee at known. No
// engine can tell that.
func (c *Counts) broken(spec models.Spec, text string, known *int) error {
	h, ops, err := ReadText(spec, text)
	if err != nil {
		return err
	}
	r, err := limited(h, spec, "auto", longTime)
	switch {
	case err != nil:
		return err
	case r.Cause == jepsen.SelfCheckFailed:
		return errors.New(r.Error)
	case r.Verdict == jepsen.Unknown:
		c.unknown(spec.Name+": "+hard(h, ops.Parts()), 1)
		return nil
	case known != nil && (r.Kind != models.BrokenGuarantee || int(r.FailEvent.OrNone()) != *known):
		return fmt.Errorf("%v, %q at %s; the generator says that a watch is broken at %s", r.Verdict, r.Kind,
			oracle.Event(h, r.FailEvent.OrNone()), oracle.Event(h, jepsen.Event(*known)))
	}
	fails := int(r.FailEvent.OrNone())
	c.noteLong(h, &fails)
	return nil
}

// unknown counts histories that are not decided.
func (c *Counts) unknown(cause string, n int) {
	if c.Unknown == nil {
		c.Unknown = map[string]int{}
	}
	c.Unknown[cause] += n
}

// hard says what makes a history hard: more than ten crashed operations, as many open at once, or neither.
func hard(h *jepsen.History, parts []*models.Operations) string {
	const many = 10
	open := 0
	for _, part := range parts {
		open = max(open, engines.MostOpen(part))
	}
	switch crashed := h.CrashedCount() > many; {
	case crashed && open > many:
		return "many crashed, and many open at once"
	case crashed:
		return "many crashed"
	case open > many:
		return "many open at once"
	}
	return "neither many crashed nor many open at once"
}

// noteLong counts a history.
func (c *Counts) noteLong(h *jepsen.History, fails *int) {
	switch {
	case fails == nil:
		return // the verdict is unknown
	case *fails < 0:
		c.Valid++
	default:
		c.Invalid++
	}
	if h.CrashedCount() > 0 {
		c.Crashed++
	}
}

func verdictOf(fail int) jepsen.Verdict {
	if fail < 0 {
		return jepsen.Valid
	}
	return jepsen.Invalid
}

// limited calls clew.Check, which checks its evidence again if that is cheap.
func limited(h *jepsen.History, spec models.Spec, algorithm string, limit time.Duration) (r *report.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	o := clew.Options{Algorithm: algorithm, TimeLimit: limit, Memory: clew.NewMemory(longMemory)}
	return clew.Check(context.Background(), h, spec.FromDefault(), o)
}

// inCountedWork returns the first failing completion that an engine finds in any of
// some parts, or -1 if none fails. decided is false if it would take more work. The
// error says what is wrong with its orders.
func inCountedWork(e fallback.Engine, parts []*models.Operations) (fail int, decided bool, err error) {
	fail = -1
	for _, part := range parts {
		ctx, lim, stop := fallback.Limits{Memory: models.NewMemory(longMemory)}.Within(context.Background(), longWork)
		a := e.Decide(ctx, part, lim)
		stop()
		switch {
		case a.Verdict == jepsen.Unknown:
			return 0, false, nil
		case a.Verdict == jepsen.Valid:
			err = shows(part, a.Order, part.Events)
		default:
			err = shows(part, a.Order, a.FailEvent)
			if fail < 0 || int(a.FailEvent) < fail {
				fail = int(a.FailEvent)
			}
		}
		if err != nil {
			return 0, false, fmt.Errorf("%s, %w", a.Verdict, err)
		}
	}
	return fail, true, nil
}

// shows says what is wrong with an order, as far as it can be replayed.
func shows(ops *models.Operations, order []models.Row, end int32) error {
	err := oracle.Shows(ops, order, end)
	if errors.Is(err, oracle.ErrManyStates) {
		return nil
	}
	return err
}

// evidence checks the evidence of a result: that a witness is one, and that a core,
// as a history of its own, fails where the whole does.
func (c *Counts) evidence(spec models.Spec, r *report.Result, ops *models.Operations, lines []string) error {
	row := map[jepsen.Operation]models.Row{}
	for i, op := range ops.Of {
		row[op] = models.Row(i)
	}
	if r.Verdict == jepsen.Valid {
		var order []models.Row
		for _, op := range r.Witness {
			if i, counts := row[op]; counts {
				order = append(order, i)
			}
		}
		return shows(ops, order, ops.Events)
	}
	if r.Missing != "" {
		return nil // no time
	}
	h := r.History
	mine := map[jepsen.Operation]bool{}
	for _, op := range r.Core {
		mine[op] = true
	}
	var kept []string
	var was []jepsen.Event
	for e, op := range h.OpOf {
		if e := jepsen.Event(e); mine[op] {
			kept, was = append(kept, lines[h.Line(e)-1]), append(was, e)
		}
	}
	core := strings.Join(kept, "\n") + "\n"
	alone, rows, err := ReadText(spec, core)
	if err != nil {
		return fmt.Errorf("core: %w\n%s", err, core)
	}
	if ops.Model.Traits().Alone != nil { // what only others make does not count
		cut := ops.Alone(ops.Among(r.Core), int32(r.FailEvent.OrNone()))
		alone, rows, was = h, cut.Operations, nil
		for e := range h.OpOf {
			was = append(was, jepsen.Event(e))
		}
	}
	for _, name := range [...]string{"auto", "window", "frontier"} {
		fail, decided, err := inCountedWork(engines.New(name, 0), rows.Parts())
		if err != nil {
			return fmt.Errorf("core, --algorithm %s: %w\n%s", name, err, core)
		}
		if decided && (fail < 0 || was[fail] != r.FailEvent.OrNone()) {
			return fmt.Errorf("the core by %s: %s fails, and of the whole %s:\n%s", name, oracle.Event(alone, jepsen.Event(fail)), oracle.Event(h, r.FailEvent.OrNone()), core)
		}
		if decided {
			c.Changes.note("core alone", verdictOf(fail))
		}
	}
	return nil
}

// longKeys says what is wrong with a long history of many keys. Each key has to have
// the same verdict alone as among the others.
func (c *Counts) longKeys(spec models.Spec, text string, known *int) error {
	h, err := clew.Read(strings.NewReader(text), "", jepsen.Options{})
	if err != nil {
		return err
	}
	r, err := clew.Check(context.Background(), h, spec.FromDefault(), clew.Options{Independent: true, TimeLimit: longTime, Memory: clew.NewMemory(longMemory)})
	if err != nil || r.Verdict == jepsen.Unknown {
		return err
	}
	if known != nil && (*known < 0) != (r.Verdict == jepsen.Valid) {
		return fmt.Errorf("keys: %s; the generator says that event %d fails", r.Verdict, *known)
	}
	alone := byKey(spec, h)
	if len(alone) != len(r.Keys) {
		return fmt.Errorf("%d keys; the text has %d", len(r.Keys), len(alone))
	}
	first := -1
	for _, key := range r.Keys {
		whole := key.Result()
		one, err := clew.Read(strings.NewReader(alone[h.Values.Same(key.Key.ID())]), "", jepsen.Options{})
		var got *report.Result
		if err == nil {
			got, err = limited(one, spec, "auto", longTime)
		}
		if err != nil {
			return fmt.Errorf("key %s alone: %w", key.Key, err)
		}
		if got.Verdict == jepsen.Unknown || whole.Verdict == jepsen.Unknown {
			return nil
		}
		if err := differs(key, got); err != nil {
			return err
		}
		if whole.Verdict == jepsen.Invalid {
			if e := int(whole.History.InWhole(whole.FailEvent.OrNone())); first < 0 || e < first {
				first = e
			}
		}
	}
	if known != nil && first != *known {
		return fmt.Errorf("keys: event %d fails; the generator says %d", first, *known)
	}
	c.noteLong(h, &first)
	c.Changes.note("keys together", r.Verdict)
	return nil
}

// smallestLong leaves out operations, first many at once and then fewer, and then lines,
// as long as something is still wrong.
func smallestLong(text string, examine func(text string) error) string {
	deadline := time.Now().Add(time.Minute)
	h, err := clew.Read(strings.NewReader(text), "", jepsen.Options{})
	if err != nil || examine(text) == nil {
		return text
	}
	lines := slices.Collect(strings.Lines(text))
	left := map[jepsen.Operation]bool{} // left out
	rest := func() string {
		var b strings.Builder
		for e, op := range h.OpOf {
			if !left[op] {
				b.WriteString(lines[h.Line(jepsen.Event(e))-1])
			}
		}
		return b.String()
	}
	for n := h.Operations() / 2; n > 0; n /= 2 {
		for i := 0; i < h.Operations() && time.Now().Before(deadline); i += n {
			before := maps.Clone(left)
			for op := i; op < min(i+n, h.Operations()); op++ {
				left[jepsen.Operation(op)] = true
			}
			if examine(rest()) == nil {
				left = before
			}
		}
	}
	if text = rest(); strings.Count(text, "\n") < 50 {
		text = smallest(text, examine)
	}
	return text
}

// longDepth returns 2 for hitting, which tries a power of the number of operations.
func longDepth(name string) int {
	if name == "hitting" {
		return 2
	}
	return 0
}
