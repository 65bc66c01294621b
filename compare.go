package clew

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/levels"
	"clew/internal/option"
	"clew/internal/store"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Compare checks a history again for every claim about it. A spec without a model takes the claim's. A claim about
// one key is compared with that key's own history. Compare returns an error if the options make no sense.
func Compare(ctx context.Context, h *jepsen.History, spec models.Spec, o Options, claims []jepsen.Claim) ([]report.Comparison, error) {
	if err := given(ctx, h); err != nil {
		return nil, err
	}
	if err := CheckAlgorithm(o.Algorithm); err != nil {
		return nil, err
	}
	o.Verify = VerifyAlways
	o.Keyless = true // as jepsen.independent does
	c := comparer{ctx: ctx, h: h, o: o, done: map[question]answered{}}
	claims = slices.DeleteFunc(slices.Clone(claims), func(claim jepsen.Claim) bool { return claim.Elle && claim.Anomalies == nil && !c.transactions(spec) })
	all := make([]report.Comparison, len(claims))
	for i, claim := range claims {
		all[i] = c.compare(claim, spec)
	}
	if spec.Init == "" {
		c.fromOne(all, spec)
	}
	for i := range all {
		if note := all[i].Claim.Note; note != "" {
			all[i].Why = strings.TrimPrefix(all[i].Why+"; "+note, "; ")
		}
	}
	return all, nil
}

// A test has one initial value for all of its keys. A claim may agree only from an initial value that its first reads
// show. Such claims are first compared one by one, and then all from the value that most of the test's claims agree
// with.

// maxInits bounds the initial values that are tried for all claims.
const maxInits = 4

// If some claims need another initial value than the default, fromOne compares all claims again from one value. It
// takes those that agree and do not say their initial value.
func (c *comparer) fromOne(all []report.Comparison, spec models.Spec) {
	of := map[string][]*report.Comparison{} // by model
	var order []string
	for i := range all {
		if x := &all[i]; x.Agreement == report.Agree && x.Claim.Init == "" {
			if of[x.Result.Model] == nil {
				order = append(order, x.Result.Model)
			}
			of[x.Result.Model] = append(of[x.Result.Model], x)
		}
	}
	for _, model := range order {
		from := spec
		from.Name = model
		c.fromOneOf(of[model], from)
	}
}

// fromOneOf does the work of fromOne for claims of one model.
func (c *comparer) fromOneOf(claims []*report.Comparison, from models.Spec) {
	usual := from.FromDefault().Init
	var inits []string
	needed := map[string]int{}
	for _, x := range claims {
		init := cmp.Or(x.Result.Init, usual)
		if needed[init]++; needed[init] == 1 {
			inits = append(inits, init)
		}
	}
	if len(inits) == 0 || len(inits) == 1 && inits[0] == usual {
		return
	}
	slices.SortStableFunc(inits, func(a, b string) int { return needed[b] - needed[a] })
	var best []report.Comparison
	most, chosen := -1, ""
	for _, init := range inits[:min(len(inits), maxInits)] {
		if from.Init = init; init == "" {
			continue
		}
		tried, agreed := make([]report.Comparison, len(claims)), 0
		for i, x := range claims {
			tried[i] = c.from(*x, from)
			if tried[i].Agreement == report.Agree {
				agreed++
			}
		}
		if agreed > most {
			best, most, chosen = tried, agreed, init
		}
	}
	for i, other := range best {
		x := claims[i]
		switch own := x.Result.Init; {
		case other.Agreement == report.Disagree:
			other.Why = fmt.Sprintf("it agrees only with %s, and other results of the test only with %s, but a test has one initial value", initGiven(cmp.Or(own, usual)), initGiven(chosen))
			*x = other
		case other.Agreement != report.Agree:
			*x = other
		case own != "" && own != chosen:
			other.Why = asInit(chosen)
			*x = other
		}
	}
}

// initGiven names an initial value as a user gives it.
func initGiven(init string) string {
	if init == "" {
		return ownInit
	}
	return models.ParamInit.String() + " " + text.Shorten(init, maxInit)
}

// asInit says from which initial value a claim agrees.
func asInit(init string) string {
	return "with " + initGiven(init) + ", as the test seems to have had it"
}

func (c *comparer) from(x report.Comparison, spec models.Spec) report.Comparison {
	r, err := c.result(spec, x.Claim)
	if err != nil {
		return report.Comparison{File: x.File, Claim: x.Claim, Err: err, Why: err.Error()}
	}
	x.Result = r
	x.Agreement, x.Why = agreement(x.Claim, r)
	return x
}

type question struct {
	spec        models.Spec
	independent bool
}

type answered struct {
	r   *report.Result
	err error
}

// comparer compares claims about one history.
type comparer struct {
	ctx  context.Context
	h    *jepsen.History
	o    Options
	done map[question]answered
}

// result returns clew's own result, of one key if the claim is about a key.
func (c *comparer) result(spec models.Spec, claim jepsen.Claim) (*report.Result, error) {
	q := question{spec, claim.IsKey || c.o.Independent}
	a, done := c.done[q]
	if !done {
		o := c.o
		o.Independent = q.independent
		a.r, a.err = Check(c.ctx, c.h, spec, o)
		c.done[q] = a
	}
	if a.err != nil || !claim.IsKey {
		return a.r, a.err
	}
	for _, k := range a.r.Keys {
		if k.Key.Class() == claim.Key.Class() {
			return k.Result(), nil
		}
	}
	return nil, fmt.Errorf("no operation of the history has the key %s", claim.Key)
}

func (c *comparer) compare(claim jepsen.Claim, spec models.Spec) report.Comparison {
	given := spec.Name != ""
	if spec.Name == "" || spec.Name == claim.Model {
		spec.Name = claim.Model
		told := spec.Given()
		for flag, value := range claim.Flags {
			if _, given := told[models.Param(flag)]; !given {
				_ = spec.Set(models.Param(flag), value) // parameters that the model does not have are not set
			}
		}
	}
	if spec.Init == "" {
		spec.Init = claim.Init
	}
	if spec.Init == "" && claim.FromDefault {
		if inferred, _, err := spec.Infer(c.h); err == nil {
			spec.Init = inferred.FromDefault().Init
		}
	}
	x := report.Comparison{File: c.h.File, Claim: claim}
	if own := store.OwnModel(claim); own != "" && !given {
		x.Why = fmt.Sprintf("it is for a model of the test's own, %s; give that with %s", own, option.ModelFile)
		return x
	}
	if claim.Lost != "" {
		x.Why = claim.Lost
		return x
	}
	if claim.NoOp {
		x.Why = "it is for Knossos's no-op model, which accepts every history"
		return x
	}
	r, err := c.result(spec, claim)
	if err != nil {
		x.Err, x.Why = err, err.Error()
		return x
	}
	x.Result = r
	if x.Agreement, x.Why = agreement(claim, r); x.Agreement != report.Disagree && r.Cause != jepsen.InitialValue {
		return x
	}
	// The claim does not say its initial value. It may be the one that the first reads show, or the default.
	if other, init := c.fromEither(claim, spec, r); other != nil {
		return report.Comparison{File: c.h.File, Claim: claim, Result: other, Agreement: report.Agree, Why: asInit(init)}
	}
	if x.Agreement != report.Disagree {
		return x
	}
	if as := spec; !as.Knossos {
		as.Knossos = true
		if other, err := c.result(as, claim); err == nil {
			if a, _ := agreement(claim, other); a == report.Agree {
				x.Why = strings.TrimPrefix(fmt.Sprintf("%s; a known difference: %s; with %s clew says the same", x.Why, knownDifference(r), option.Knossos), "; ")
			}
		}
	}
	return x
}

// If a result depends on the initial value, fromEither returns one that agrees with the claim, and the initial value
// that it is from. Otherwise it returns nil.
func (c *comparer) fromEither(claim jepsen.Claim, spec models.Spec, r *report.Result) (*report.Result, string) {
	if spec.Init != "" {
		return nil, ""
	}
	likely := ""
	if first := r.FirstFailing(); first.Keys == nil {
		likely = first.LikelyInit
	}
	for i := range r.Keys {
		if likely == "" && r.Keys[i].Verdict == jepsen.Unknown {
			likely = r.Keys[i].Result().LikelyInit
		}
	}
	if likely == "" {
		return nil, ""
	}
	from := spec
	from.Name = r.Model
	for _, from.Init = range []string{likely, from.FromDefault().Init} {
		if from.Init == "" {
			continue
		}
		if other, err := c.result(from, claim); err == nil {
			if a, _ := agreement(claim, other); a == report.Agree {
				return other, from.Init
			}
		}
	}
	return nil, ""
}

// transactions reports whether the history has transactions with levels of consistency. A verdict without anything else is
// not Elle's if it has none.
func (c *comparer) transactions(spec models.Spec) bool {
	spec, _, err := spec.Infer(c.h)
	if err != nil {
		return false
	}
	m, err := spec.Model(c.h.Values)
	return err == nil && levels.AllOf(m)
}

// elleAgrees compares a claim of Elle with a result. Types of anomalies differ for reasons that docs/transactions.md tells.
func elleAgrees(claim jepsen.Claim, r *report.Result) (report.Agreement, string) {
	var ours []string
	if r.Levels != nil {
		ours = r.Levels.Types()
	}
	only := func(these, not []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(these), func(x string) bool { return slices.Contains(not, x) }), ", ")
	}
	why := ""
	if theirs := only(claim.Anomalies, ours); theirs != "" {
		why = "only Elle tells " + theirs
	}
	if mine := only(ours, claim.Anomalies); mine != "" {
		why = strings.TrimPrefix(why+"; only clew tells "+mine, "; ")
	}
	if claim.Verdict != r.Verdict {
		if r.Levels != nil && claim.Verdict == jepsen.Valid {
			why += fmt.Sprintf("; the test may have asked Elle for a weaker level: %s decides that one", option.Consistency)
		}
		return report.Disagree, why
	}
	return report.Agree, why
}

// agreement compares a claim with a result. Two invalid verdicts agree if the failing operation is the same, as far
// as both name one.
func agreement(claim jepsen.Claim, r *report.Result) (report.Agreement, string) {
	switch {
	case r.Verdict == jepsen.Unknown:
		why := "clew: " + string(r.Cause)
		if r.Explanation != "" {
			why += ": " + r.Explanation
		}
		return report.NotComparable, why
	case claim.Verdict == jepsen.Unknown:
		return report.KnossosUnknown, ""
	case claim.Elle:
		return elleAgrees(claim, r)
	case claim.Verdict != r.Verdict:
		return report.Disagree, ""
	case r.Verdict != jepsen.Invalid:
		return report.Agree, ""
	case !isIn(r, claim):
		return report.Disagree, "the verdicts agree, but the operation that is said to fail is not in the history"
	case claim.HasOp && !placedAlike(r, claim.OpIndex):
		return report.Disagree, "the verdicts agree, but the failing operations do not"
	}
	return report.Agree, ""
}

// placedAlike reports whether a result may fail first at an index: if it is not known where it does, then not after it
// certainly has.
func placedAlike(r *report.Result, at int64) bool {
	by, placeless := r.FailsBy()
	return placeless && at <= by || r.FailingIndex() == at
}

// isIn reports whether the failing operation of a claim is in the history, as far as the claim names one: some event
// has its :index, :process and :f.
func isIn(r *report.Result, claim jepsen.Claim) bool {
	h := r.FirstFailing().History
	if claim.OpText == "" && !claim.HasOp {
		return true
	}
	for e := range jepsen.Event(len(h.Type)) {
		if claim.HasOp && h.Index(e) != claim.OpIndex {
			continue
		}
		is := func(told edn.Value, own edn.ID) bool {
			return told == edn.Value{} || told.Class() == int32(h.Values.Same(own))
		}
		if is(claim.OpProcess, h.Processes[h.Process[e]]) && is(claim.OpF, h.F[e]) {
			return true
		}
	}
	return false
}

// knownDifference says how Knossos reads a model's values differently, by the numbers in docs/knossos.md,
// "Differences from Knossos".
func knownDifference(r *report.Result) string {
	if d, err := (models.Spec{Name: r.Model}).Definition(); err == nil && d.Knossos != "" {
		return d.Knossos
	}
	return "Knossos reads some values differently"
}
