package doctor

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"clew"
	"clew/edn"
	"clew/internal/limits"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Options say how to examine a history.
type Options struct {
	// Mutants is how many mutants to make, at least 0.
	Mutants int
	// Seed chooses them. The same seed chooses the same ones.
	Seed uint64
	// Check decides the history and its mutants. Its Independent and Keyless say how the history is read.
	Check clew.Options
}

// DefaultMutants is how many mutants to make by default.
const DefaultMutants = 100

// Window is how many operations are changed at most. Of a longer history these are the first ones. Of independent keys,
// some keys are chosen.
const Window = 2000

// mutantTime bounds the decision of one mutant.
const mutantTime = 200 * time.Millisecond

// The shares of the time that is left, in percent, that one decision of a subject may take, and that all mutants may
// take together.
const (
	forSubject = 25
	forMutants = 85
)

// within returns a context that ends once a share of the time that is left is over, if there is a limit.
func within(ctx context.Context, percent time.Duration) (context.Context, context.CancelFunc) {
	deadline, limited := ctx.Deadline()
	if !limited {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)*percent/100)
}

// examination is a history on its way to a Diagnosis.
type examination struct {
	*Diagnosis
	o      Options
	spec   models.Spec
	counts *survey
	// subjects are the histories to change: those of some keys if there are keys, else the beginning of the whole one.
	subjects []*subject
}

// subject is a history to change.
type subject struct {
	h    *jepsen.History
	spec models.Spec        // with its initial value, or that from which it is linearizable
	ops  *models.Operations // what it means
	key  string             // the independent key, "" if there is none
	*material
}

// inKey returns a sentence about the subject that names its key, if it has one.
func (s *subject) inKey(said string) string {
	if s.key != "" {
		said = s.key + ": " + said
	}
	return said
}

// Examine says what weakens the test that a history is of. If the context ends first, the Diagnosis has what was found
// by then. An error means that the history or the spec makes no sense, as for clew.Check. Everything takes linear time,
// except that the operations of the Window are decided.
func Examine(ctx context.Context, h *jepsen.History, spec models.Spec, o Options) (*Diagnosis, error) {
	start := time.Now()
	x := &examination{Diagnosis: newDiagnosis(h), o: o, counts: newSurvey()}
	x.counts.damage = h.Record().Damage
	x.o.Check.TimeLimit = 0 // the context has it
	err := x.read(ctx, h, spec)
	if err == nil && ctx.Err() == nil {
		err = x.decide(ctx)
	}
	if err == nil && ctx.Err() == nil {
		x.mutate(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return nil, clew.Placed(h, err)
	}
	if ctx.Err() != nil {
		x.Cause = limits.Stopped(ctx)
	}
	x.conclude()
	x.Ms = float64(time.Since(start).Microseconds()) / 1000
	return x.Diagnosis, nil
}

// read gives all operations their meaning, counts them, and chooses the subjects.
func (x *examination) read(ctx context.Context, h *jepsen.History, spec models.Spec) (err error) {
	if x.o.Check.Independent {
		return x.readKeys(ctx, h, spec)
	}
	if x.spec, x.inferred, err = spec.Infer(h); err != nil {
		return err
	}
	ops, err := x.spec.ReadWithin(ctx, h)
	if err != nil {
		return err
	}
	x.counts.add(ops, "")
	x.counts.people(h)
	d, err := x.spec.Definition()
	if err != nil {
		return err
	}
	x.counts.pairs = !x.o.Check.Whole && (ops.Model.Traits().IsRegister && h.AllTuples() || !d.Pairs && h.MayHaveKeys())
	x.subjects = append(x.subjects, &subject{h: beginning(h, Window), spec: x.spec})
	return nil
}

// keysAtOnce bounds the keys whose histories are held at once.
const keysAtOnce = 1024

func (x *examination) readKeys(ctx context.Context, h *jepsen.History, spec models.Spec) error {
	part := h.Independent
	if x.o.Check.Keyless {
		part = h.IndependentOrShared
	}
	keyed, err := part()
	if err != nil {
		return err
	}
	if x.spec, x.inferred, err = spec.Infer(keyed.Unwrapped); err != nil {
		return err
	}
	if err := x.spec.Admits(h); err != nil {
		return err
	}
	rows := make([]int, len(keyed.Keys))
	for i := range rows {
		rows[i] = i
	}
	name := func(row int) string { return text.Key(h.Values.Text(keyed.Keys[row])) }
	of, _ := x.spec.ByKey()
	specOf := func(row int) models.Spec { return of(h.Values.Text(keyed.Keys[row])) }
	for some := range slices.Chunk(rows, keysAtOnce) {
		for i, own := range keyed.Histories(some) {
			ops, err := specOf(some[i]).ReadWithin(ctx, own.History)
			if err != nil {
				return err
			}
			x.counts.add(ops, name(some[i]))
		}
	}
	x.counts.people(h)
	x.counts.keyed = true
	r := rand.New(rand.NewPCG(x.o.Seed, 0))
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	left := Window
	for _, row := range rows {
		own := beginning(keyed.History(row).History, left)
		x.subjects = append(x.subjects, &subject{h: own, key: name(row), spec: specOf(row)})
		if left -= own.Operations(); left <= 0 {
			break
		}
	}
	return nil
}

// beginning returns the history up to the invocation of operation n. What is open there has crashed.
func beginning(h *jepsen.History, n int) *jepsen.History {
	if n >= h.Operations() {
		return h
	}
	return before(h, h.Invocation[n])
}

// before returns the history before an event. What is open there has crashed.
func before(h *jepsen.History, event jepsen.Event) *jepsen.History {
	n, _ := slices.BinarySearch(h.Invocation, event)
	cut := *h
	cut.Type, cut.Process, cut.F, cut.Value, cut.OpOf = h.Type[:event], h.Process[:event], h.F[:event], h.Value[:event], h.OpOf[:event]
	cut.Invocation, cut.Completion, cut.Status = h.Invocation[:n], slices.Clone(h.Completion[:n]), slices.Clone(h.Status[:n])
	for op, end := range cut.Completion {
		if end >= event {
			cut.Completion[op], cut.Status[op] = jepsen.None, jepsen.Crashed
		}
	}
	return &cut
}

// decide decides the subjects and prepares those that are linearizable. A subject that is not is cut before its first
// failing completion.
func (x *examination) decide(ctx context.Context) error {
	var linearizable []*subject
	var cause jepsen.Cause // why one of them is undecided
	x.Verdict = jepsen.Valid
	for i, s := range x.subjects {
		r, err := x.settle(ctx, s)
		if err != nil {
			return err
		}
		if i == 0 {
			x.counts.vacuous = r.Vacuous
		}
		x.counts.vacuous = report.VacuousTogether(x.counts.vacuous, r.Vacuous)
		if r.Verdict != jepsen.Valid {
			cause = r.Cause
			continue
		}
		if s.ops, err = s.spec.ReadWithin(ctx, s.h); err != nil {
			return err
		}
		s.material = newMaterial(s.ops)
		x.Changed += s.h.Operations()
		linearizable = append(linearizable, s)
	}
	if x.subjects = linearizable; len(linearizable) == 0 && x.Verdict == jepsen.Valid {
		x.Verdict, x.Cause = jepsen.Unknown, cause
	}
	return nil
}

// settle returns the result of a subject. If that depends on the initial value, the likely one is taken. A subject that
// is not linearizable is cut before its failure. One that takes too long is cut where the search was then. The result is
// that of the rest.
func (x *examination) settle(ctx context.Context, s *subject) (*report.Result, error) {
	r, err := x.check(ctx, s)
	if err == nil && r.Cause == jepsen.InitialValue && r.LikelyInit != "" {
		x.counts.likely, x.counts.either = r.LikelyInit, s.inKey(r.Explanation)
		s.spec.Init = r.LikelyInit
		r, err = x.check(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	at, cut := r.FailEvent.Get()
	if r.Hard != nil {
		at, cut = r.Hard.At.Get()
	}
	if r.Verdict == jepsen.Invalid {
		x.Verdict = jepsen.Invalid
	}
	if cut {
		s.h, s.spec = before(s.h, at), r.Spec
		if r, err = x.check(ctx, s); err != nil {
			return nil, err
		}
	}
	s.spec = r.Spec.FromDefault()
	return r, nil
}

// check decides a subject within its share of the time.
func (x *examination) check(ctx context.Context, s *subject) (*report.Result, error) {
	ctx, cancel := within(ctx, forSubject)
	defer cancel()
	o := x.o.Check
	o.Independent, o.Keyless = false, false
	return clew.Check(ctx, s.h, s.spec, o)
}

// triesEach bounds the mutants that are drawn for each one that is a history of the model.
const triesEach = 4

// mutate makes mutants and decides them.
func (x *examination) mutate(ctx context.Context) {
	ctx, cancel := within(ctx, forMutants)
	defer cancel()
	x.Mutants.Asked = x.o.Mutants
	d := newDraws(x.subjects, x.o.Seed)
	for drawn := 0; x.Mutants.Made < x.o.Mutants && drawn < triesEach*x.o.Mutants; drawn++ {
		m := d.next()
		if m == nil {
			break
		}
		if x.hurried = ctx.Err() != nil; x.hurried {
			break
		}
		if refuted, why, err := x.refuted(ctx, m); err == nil {
			x.Mutants.add(m, refuted, why)
		} else {
			d.turn = m.way
		}
	}
}

// refuted says whether a mutant is linearizable, and why it is not. An error means that it is no history of the model.
func (x *examination) refuted(ctx context.Context, m *mutant) (jepsen.Verdict, string, error) {
	if m.equal {
		return jepsen.Valid, "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, mutantTime)
	defer cancel()
	o := x.o.Check
	o.Independent, o.Keyless, o.Verify = false, false, clew.VerifyNever
	r, err := clew.Check(ctx, m.history(), m.of.spec, o)
	var misread *edn.Error
	var failed *models.Failure
	switch {
	case errors.As(err, &misread), errors.As(err, &failed):
		return jepsen.Unknown, "", err
	case err != nil:
		return jepsen.Unknown, "", nil
	}
	return r.Verdict, r.Explanation, nil
}
