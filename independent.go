package clew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"clew/internal/option"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// A verdict is about a reading of the history: a model, a level, keys, an initial value, what nil says (report.Reading). What
// nobody has said about it is a default, and may be wrong. So:
//
//   - A history is INVALID only if no other value of such a part makes it valid. Otherwise the verdict is unknown, with
//     the readings that differ. Keys are tried here, and initial values in initial.go. The level is no such part.
//   - A verdict that is VALID only because reads of nil say nothing, or because pairs are no keys, has a warning.
//
// Cost: nothing where no such part matters, which a linear pass shows. Otherwise one more decision.

// byKeys checks each key of a history by itself, if its values may be those of keys and nobody has said so or denied it. It
// returns nil if not.
func byKeys(ctx context.Context, r *report.Result, spec models.Spec, o Options) *report.Result {
	d, err := r.Spec.Definition()
	if o.Independent || o.Whole || o.Consistency.Weaker() || err != nil || d.Pairs || !r.History.MayHaveKeys() {
		return nil
	}
	o.Independent, o.Verify = true, VerifyNever
	if keyed, err := checkKeys(ctx, r.History, spec, o); err == nil {
		return keyed
	}
	return nil
}

// asOne warns if a history is valid as one object, and some of its keys, which nobody has denied, is not.
func asOne(ctx context.Context, r *report.Result, spec models.Spec, o Options) string {
	if r.Verdict != jepsen.Valid {
		return ""
	}
	keyed := byKeys(ctx, r, spec, o)
	if keyed == nil || !keyed.FirstFailing().Placed() {
		return ""
	}
	failing := keyed.FirstFailing()
	return fmt.Sprintf("every value is a pair, and was taken for a value of one %s; if its first element is a key, the completion at index %d cannot happen (%s)",
		r.Model, failing.History.Index(failing.FailEvent.OrNone()), option.Independent)
}

// another withdraws the verdict of a history that fails as one object, if each of its keys, which nobody has denied, does not.
func another(ctx context.Context, r *report.Result, spec models.Spec, o Options) *report.Result {
	if r.Verdict != jepsen.Invalid && r.Cause != jepsen.InitialValue {
		return r
	}
	keyed := byKeys(ctx, r, spec, o)
	if keyed == nil || keyed.Verdict == jepsen.Invalid {
		return r
	}
	each, none := option.Independent.String(), option.Whole.String()
	says := "each key by itself is"
	if keyed.Verdict != jepsen.Valid {
		says = "clew has not decided whether each key by itself is"
	}
	asOne := "not linearizable: "
	if r.Verdict == jepsen.Unknown {
		asOne = ""
	}
	return &report.Result{
		History: r.History, File: r.File, Model: r.Model, Init: r.Init, Inferred: r.Inferred, ToldBy: r.ToldBy, Spec: r.Spec, From: r.From, Altered: r.Altered,
		Analyzer: r.Analyzer, Cause: jepsen.Reading,
		Explanation: fmt.Sprintf("as one %s it is %s%s; but every value is a pair whose first element may be a key, and %s: %s or %s says which it was",
			r.Model, asOne, r.Explanation, says, each, none),
		Alternatives: []report.Alternative{
			{Part: "keys", Value: "none", Verdict: r.Verdict, Flag: none},
			{Part: "keys", Value: "each", Verdict: keyed.Verdict, Flag: each},
		},
	}
}

// judgeKeys has another monitor judge each key by itself, while that may be meant. If it finds an anomaly, too, the history fails with
// either reading.
func (m *Monitor) judgeKeys(h *jepsen.History, ended bool) {
	if m.reads.Pairs = m.reads.Pairs && (h.Operations() == 0 || h.MayHaveKeys()); !m.reads.Pairs {
		m.keyed = nil
		return
	}
	if !m.keysTried {
		m.keysTried = true
		o := m.o
		o.Independent, o.Verify = true, VerifyNever
		if k, err := NewMonitor(m.ctx, m.given, o); err == nil {
			k.Stuck, k.StuckEvents = m.Stuck, m.StuckEvents
			k.held.Has(jepsen.NewBuilder(jepsen.Options{}))
			m.keyed = k
		}
	}
	k := m.keyed
	if k == nil {
		m.keysUnknown = true
		return
	}
	err := m.copyTo(k, h)
	if err == nil {
		err = k.look(ended)
	}
	switch t := k.Totals(); {
	case t.Certain() > 0: // the history fails with either reading
		m.reads.Pairs, m.keyed = false, nil
	case errors.Is(err, errUndecided), m.ctx.Err() != nil:
		m.keyed, m.keysUnknown = nil, true
	case err != nil: // the keys cannot be read so
		m.reads.Pairs, m.keyed = false, nil
	}
}

// copyTo adds the events that have come since the last look to another monitor.
func (m *Monitor) copyTo(k *Monitor, h *jepsen.History) error {
	b := k.held.Builder()
	times, position := h.Times(), h.Extra(m.spec.Position)
	add := map[jepsen.Type]func(process int, f string, value any, with ...jepsen.Extra){jepsen.Invoke: b.Invoke, jepsen.OK: b.OK, jepsen.Fail: b.Fail, jepsen.Info: b.Info}
	first, _ := slices.BinarySearch(m.held.Came, m.copied+1)
	for e := jepsen.Event(first); int(e) < len(h.Type); e++ {
		process, isInt := h.Values.Int(h.Processes[h.Process[e]])
		if !isInt {
			process = math.MaxInt32 + int64(h.Process[e])
		}
		var with []jepsen.Extra
		if ns, known := times(e); known {
			with = append(with, jepsen.With("time", ns))
		}
		if at, told := position(e); told && m.spec.Position != "" {
			with = append(with, jepsen.With(m.spec.Position, at))
		}
		add[h.Type[e]](int(process), h.Values.Text(h.F[e]), h.Values.Value(h.Value[e]), with...)
	}
	m.copied = m.held.Clock
	own, err := b.SoFar()
	if err != nil {
		return err
	}
	k.held.Note(own)
	k.skipped(own)
	k.events += len(h.Type) - first
	return nil
}

// unless returns the readings with which a failure would be none.
func (m *Monitor) unless(b beginning) (all []report.Alternative) {
	if m.level.Weaker() {
		all = append(all, report.Alternative{Part: "level", Value: string(m.level), Verdict: jepsen.Unknown, Flag: option.Check.String()})
	}
	if b.explains {
		all = append(all, report.Alternative{Part: "init", Value: cmp.Or(b.init, b.likely), Verdict: b.verdict, Flag: b.flag})
	}
	if m.reads.Pairs {
		verdict := jepsen.Valid
		if m.keysUnknown {
			verdict = jepsen.Unknown
		}
		all = append(all, report.Alternative{Part: "keys", Value: "each", Verdict: verdict, Flag: option.Independent.String()})
	}
	return all
}

// mayHaveKeys returns an error about a history as one object. If its operations can be read key by key, it says so.
func (o Options) mayHaveKeys(ctx context.Context, h *jepsen.History, spec models.Spec, err error) error {
	if o.Independent || o.Whole || ctx.Err() != nil || !h.MayHaveKeys() || strings.Contains(err.Error(), option.Independent.String()) {
		return err
	}
	keyed, of, _, unclear := keysOf(h, spec, o)
	d, unknown := of.Definition()
	if unclear != nil || unknown != nil || d.Pairs && !keyed.Unwrapped.AllTuples() { // the model's own pairs
		return err
	}
	of.Init = ""
	if _, unclear = of.ReadWithin(ctx, keyed.Unwrapped); unclear != nil {
		return err
	}
	return fmt.Errorf("%w; every value is a pair: if its first element is a key, give %s to check each key as a %s of its own", err, option.Independent, of.Name)
}

// checkKeys checks every key of a history of independent keys. It reads the keys one after the other and decides them
// in parallel within the shared limits, each by its best path.
func checkKeys(ctx context.Context, h *jepsen.History, spec models.Spec, o Options) (*report.Result, error) {
	keyed, spec, inferred, err := keysOf(h, spec, o)
	if err != nil {
		return nil, err
	}
	verified := o.Verify != VerifyNever // what is true of every valid key
	r := &report.Result{
		History: h, File: h.File, Model: spec.Name, Init: spec.Init, Inferred: inferred, Spec: spec,
		Verdict: jepsen.Valid, Verified: verified, Altered: spec.Altered(keyed.Unwrapped, nil),
	}
	results := report.NewKeys(keyed, report.Result{
		History: h, File: h.File, Model: spec.Name, Init: spec.Init, Spec: spec,
		Verdict: jepsen.Valid, Verified: verified,
	})
	d, lim := newDecider(spec, o), o.limits()
	of, _ := spec.ByKey()
	for some := range slices.Chunk(rowsOf(keyed), keysAtOnce) {
		histories := keyed.Histories(some)
		keys := make([]*checking, len(some))
		for i, own := range histories {
			if keys[i], err = read(ctx, own.History, of(h.Values.Text(keyed.Keys[some[i]])), o); err != nil {
				return nil, err
			}
		}
		sideBySide(len(keys), func(i int) { keys[i].decide(ctx, d, lim) })
		last, stop := d.lastly(ctx)
		opened, others := make([]models.Opened, len(keys)), make([][]*checking, len(keys))
		for i, c := range keys {
			opened[i] = c.opened(last, d, o)
			for _, spec := range opened[i].Specs {
				if other := c.from(last, spec, o); other != nil {
					others[i] = append(others[i], other)
				}
			}
		}
		sideBySide(len(keys), func(i int) {
			for _, other := range others[i] {
				if other.decide(last, d, lim); other.isValid() {
					break
				}
			}
		})
		for i, c := range keys {
			c = c.among(last, d, o, opened[i], others[i]).alone(ctx, d, o)
			key, err := c.result(ctx, d, o)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", text.Key(h.Values.Text(keyed.Keys[some[i]])), err)
			}
			if key.Verdict != jepsen.Unknown || key.Cause == jepsen.SelfCheckFailed {
				r.Verified = r.Verified && key.Verified
			}
			why := key.Unverified
			if key.Cause == jepsen.SelfCheckFailed {
				why = key.Error
			}
			if r.Unverified == "" && why != "" {
				r.Unverified = text.Key(h.Values.Text(keyed.Keys[some[i]])) + ": " + why
			}
			r.Depth = max(r.Depth, key.Depth)
			r.Missing = cmp.Or(r.Missing, key.Missing)
			r.Unsaid = cmp.Or(r.Unsaid, key.Unsaid)
			results.Add(histories[i], key)
		}
		stop()
	}
	results.AdviseTogether(func(init string) string { return initFlag(init) })
	r.Keys = results.List()
	if together(r); r.Verdict == jepsen.Valid {
		r.Vacuous = vacuousKeys(r.Keys)
	}
	if r.Cause == jepsen.InitialValue {
		r.LikelyInit = results.LikelyInit()
	}
	if r.Verdict == jepsen.Valid && keyed.Shared() == 0 && o.Keys == nil {
		r.Witness = wholeWitness(h, results, len(r.Keys))
	}
	return r, nil
}

// keysOf splits a history by its independent keys, and returns those that the options choose. The spec names the model, which
// may have been inferred.
func keysOf(h *jepsen.History, spec models.Spec, o Options) (keyed *jepsen.Keyed, of models.Spec, inferred bool, err error) {
	part := h.Independent
	if o.Keyless {
		part = h.IndependentOrShared
	}
	if keyed, err = part(); err != nil {
		return nil, spec, false, err
	}
	if spec, inferred, err = ofKeys(spec, keyed.Unwrapped, h); err != nil {
		return nil, spec, false, err
	}
	if o.Keys != nil {
		keyed = keyed.Only(o.Keys)
	}
	return keyed, spec, inferred, nil
}

// ofKeys names the model of independent keys, whose initial values may differ.
func ofKeys(spec models.Spec, unwrapped, h *jepsen.History) (of models.Spec, inferred bool, err error) {
	init := cmp.Or(spec.Init, unwrapped.Record().Init)
	spec.Init = init
	_, perKey := spec.ByKey()
	if perKey {
		spec.Init = ""
	}
	if spec, inferred, err = spec.Infer(unwrapped); err == nil {
		err = spec.Admits(h)
	}
	if spec.Init = init; err == nil {
		err = spec.CheckKeys()
	}
	return spec, inferred, err
}

// keysAtOnce bounds the keys under way at once. What a search needs for them is freed before the next ones are read.
const keysAtOnce = 1024

func rowsOf(keyed *jepsen.Keyed) []int {
	rows := make([]int, len(keyed.Keys))
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// together sets the verdict of the keys together: that of the first failing one, else of the first whose evidence is
// wrong, else of the first undecided one, else of the first.
func together(r *report.Result) {
	if len(r.Keys) == 0 {
		return // no key was chosen
	}
	failing := r.FailingKey()
	for i := range r.Keys {
		switch k := &r.Keys[i]; {
		case k.Verdict != jepsen.Unknown:
		case failing == nil:
			failing = k
		case failing.Verdict == jepsen.Unknown && k.SelfCheckFailed() && !failing.SelfCheckFailed():
			failing = k
		}
	}
	if failing == nil {
		r.Analyzer = r.Keys[0].Result().Analyzer
		return
	}
	shown := failing.Result()
	r.Verdict, r.Analyzer, r.Cause, r.Depth = shown.Verdict, shown.Analyzer, shown.Cause, 0
	r.Verified = r.Verified && r.Verdict != jepsen.Unknown
	if shown.Cause == jepsen.SelfCheckFailed {
		r.Error = text.Key(failing.Key.String()) + ": " + shown.Error
	}
	if shown.Explanation != "" {
		r.Explanation, r.Hint = text.Key(failing.Key.String())+": "+shown.Explanation, shown.Hint
	}
}

// wholeWitness merges the witnesses of the keys into one of the whole history. Every operation takes effect at the
// latest invocation up to it in its own key's order, which is before it returns.
func wholeWitness(h *jepsen.History, results *report.Keys, keys int) []jepsen.Operation {
	points := make([]point, 0, h.Operations())
	for row := range keys {
		at := jepsen.Event(jepsen.None)
		for _, op := range results.WitnessOf(row) {
			at = max(at, h.Invocation[op])
			points = append(points, point{at, op})
		}
	}
	return inOrder(h, points)
}

// VerifyKeys does what Verify does for a history of independent keys: the operations of every key, in the order of
// the witness, must be a linearization of the key's history. An operation without a key belongs to every key.
func VerifyKeys(h *jepsen.History, spec models.Spec, witness []jepsen.Operation) error {
	return verifyKeys(h, spec, witness, Verify)
}

// verifyKeys verifies the order of each key.
func verifyKeys(h *jepsen.History, spec models.Spec, witness []jepsen.Operation, verify func(*jepsen.History, models.Spec, []jepsen.Operation) error) error {
	keyed, err := h.IndependentOrShared()
	if err != nil {
		return err
	}
	if spec, _, err = ofKeys(spec, keyed.Unwrapped, h); err != nil {
		return err
	}
	here := make([]jepsen.Operation, h.Operations()) // by operation: in its key's history
	positionsOf := keyed.Positions(witness)
	of, _ := spec.ByKey()
	for i, key := range keyed.Keys {
		own := keyed.History(i)
		for op, whole := range own.WholeOp {
			here[whole] = jepsen.Operation(op)
		}
		positions := positionsOf(i)
		ops := make([]jepsen.Operation, len(positions))
		for i, at := range positions {
			ops[i] = here[witness[at]]
		}
		err := verify(own.History, of(h.Values.Text(key)), ops)
		var wrong *WitnessError
		if errors.As(err, &wrong) {
			at := append(positions, len(witness))[wrong.Position]
			return &WitnessError{at, text.Key(h.Values.Text(key)) + ": " + wrong.Msg}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
