package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"clew"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Key is an independent key of a history, with its own history, packed. What is known of the history as a whole goes
// along with the keys.
type Key struct {
	Path  string // of the whole history
	Row   int    // its place among the keys, or whole
	Key   string // as EDN
	Model string // the model of the history as a whole
	// Answers, KVKeys and Accounts say how to read the history as a whole, as in models.Spec.
	Answers, KVKeys, Accounts string
	Params                    map[string]string // of the model, as results say them; nil: as the options do
	Packed                    []byte
	Whole                     *report.Line // only of the history
}

// whole is the Row of what is known of a history as a whole.
const whole = -1

// Answer is the outcome for a Key.
type Answer struct {
	Row   int
	Key   string
	Event jepsen.Event // the failing one, in the whole history
	Line  report.Line
}

// splitFn reads a history and splits it by key. A history that cannot be split gives a line at once.
type splitFn struct {
	Options Options
	spec    models.Spec
}

// Setup makes the model on each worker.
func (f *splitFn) Setup() (err error) {
	f.spec, err = f.Options.spec()
	return err
}

func (f *splitFn) ProcessElement(ctx context.Context, found Found, key func(Key), line func(report.Line)) error {
	if told := found.checked(ctx, f.Options.MemoryLimit); told != nil {
		if o, spec, more := f.Options.completed(told); more && o.splitInto(ctx, found, spec, told, key) == nil {
			return nil
		}
	}
	if failed := f.Options.splitInto(ctx, found, f.spec, nil, key); failed != nil {
		line(failed.Line())
	}
	return nil
}

// splitInto splits a history by key, as its results say if told is not nil. If the history cannot be split, it
// returns a result.
func (o Options) splitInto(ctx context.Context, found Found, spec models.Spec, told *store.Checked, key func(Key)) *report.Result {
	var h *jepsen.History
	var keyed *jepsen.Keyed
	var inferred bool
	failed := clew.Try(ctx, found.Path(), func(ctx context.Context) (*jepsen.History, error) {
		all, err := found.read(ctx, o.pairing(spec))
		if err == nil && told != nil {
			err = unfit(all, spec, told)
		}
		if err != nil {
			return nil, err
		}
		if keyed, spec, inferred, err = o.split(all, spec); err != nil {
			return nil, clew.Placed(all, err)
		}
		h = all
		return nil, errSplit
	}, spec, o.check())
	if h == nil {
		return failed
	}
	var params map[string]string
	r := report.Result{History: h, File: found.Path(), Model: spec.Name, Init: spec.Init, Inferred: inferred, Spec: spec, Verdict: jepsen.Valid,
		Verified: true}
	if told != nil {
		r.ToldBy, params = told.By, o.Params
	}
	head, n := r.Line(), len(keyed.Keys)
	head.Reading.Keys = report.Part{Value: "each", Source: report.Flag}
	head.Keys, head.Ms = &n, failed.Ms
	key(Key{Path: found.Path(), Row: whole, Whole: &head})
	packer := keyed.Unwrapped.NewPacker()
	for row := range keyed.Keys {
		key(Key{Path: found.Path(), Row: row, Key: h.Values.Text(keyed.Keys[row]), Model: spec.Name, Answers: spec.Answers, KVKeys: spec.KVKeys, Accounts: spec.Accounts, Params: params,
			Packed: packer.Append(nil, keyed.History(row).History)})
	}
	return nil
}

// errSplit ends clew.Try when there is nothing to check yet.
var errSplit = errors.New("split")

// split returns the keys of a history, and the model of all of them, which may be inferred.
func (o Options) split(h *jepsen.History, spec models.Spec) (keyed *jepsen.Keyed, of models.Spec, inferred bool, err error) {
	part := h.Independent
	if o.Keyless {
		part = h.IndependentOrShared
	}
	if keyed, err = part(); err != nil {
		return nil, spec, false, err
	}
	spec, inferred, err = spec.Infer(keyed.Unwrapped)
	if err == nil {
		err = spec.Admits(h)
	}
	return keyed, spec, inferred, err
}

// keyFn checks a key.
type keyFn struct {
	Options Options
	spec    models.Spec
}

// Setup makes the model on each worker.
func (f *keyFn) Setup() (err error) {
	f.spec, err = f.Options.spec()
	return err
}

func (f *keyFn) ProcessElement(ctx context.Context, k Key) (string, Answer) {
	if k.Whole != nil {
		return k.Path, Answer{Row: whole, Line: *k.Whole}
	}
	spec := f.spec
	if k.Params != nil {
		o := f.Options
		o.Params = k.Params
		spec, _ = o.spec() // no error: the history was split with it
	}
	spec.Name, spec.Answers, spec.KVKeys, spec.Accounts = k.Model, k.Answers, k.KVKeys, k.Accounts
	var inWhole []jepsen.Event
	read := func(context.Context) (h *jepsen.History, err error) {
		if h, inWhole, err = jepsen.Unpack(k.Packed); err == nil {
			h.File = k.Path
		}
		return h, err
	}
	r := clew.Try(ctx, k.Path, read, spec, f.Options.check())
	if r.History == nil { // clew check then has no answer for any key, but one for the whole
		r.Model = f.spec.Name
		if why, placed := strings.CutPrefix(r.Error, k.Path+": "); placed { // a place in the history, not in its text
			r.Error = k.Path + ": key " + k.Key + ": " + why
		}
	}
	a := Answer{Row: k.Row, Key: k.Key, Line: r.Line()}
	if fail, fails := r.FailEvent.Get(); fails {
		a.Event = inWhole[fail]
	}
	return k.Path, a
}

// Answers holds the outcomes for some keys of a history, and what is known of the whole history if that is among
// them.
type Answers struct {
	Whole    []report.Line // at most one
	Shown    []Answer      // at most one, the first by less
	Failures []Answer      // without their lines
	Ms       float64
	Verified bool // all of them
}

// togetherFn combines the answers of all keys into one line, as clew check does. It takes the first key that the
// model refuses or fails at. If there is none, it takes the first failing key, or the first undecided one, or the
// first of all. Most keys are combined where they are checked.
type togetherFn struct{}

func (*togetherFn) CreateAccumulator() Answers { return Answers{Verified: true} }

func (*togetherFn) AddInput(all Answers, a Answer) Answers {
	if a.Row == whole {
		all.Whole = []report.Line{a.Line}
		return all
	}
	all.show(a)
	all.Ms += a.Line.Ms
	all.Verified = all.Verified && a.Line.Verified != nil && *a.Line.Verified
	if a.Line.Valid == jepsen.Invalid {
		all.Failures = append(all.Failures, Answer{Row: a.Row, Key: a.Key})
	}
	return all
}

func (*togetherFn) MergeAccumulators(all, more Answers) Answers {
	all.Whole = append(all.Whole, more.Whole...)
	for _, a := range more.Shown {
		all.show(a)
	}
	all.Failures = append(all.Failures, more.Failures...)
	all.Ms += more.Ms
	all.Verified = all.Verified && more.Verified
	return all
}

func (*togetherFn) ExtractOutput(all Answers) report.Line {
	line, from := all.Whole[0], &all.Shown[0].Line
	line.Ms += all.Ms
	if all.Shown[0].rank() == refused {
		broken := *from
		broken.Ms = line.Ms
		return broken
	}
	slices.SortFunc(all.Failures, func(a, b Answer) int { return cmp.Compare(a.Row, b.Row) })
	for _, a := range all.Failures {
		line.Failures = append(line.Failures, a.Key)
	}
	line.Valid, line.Analyzer, line.Cause, line.Error = from.Valid, from.Analyzer, from.Cause, from.Error
	if line.Verified = &all.Verified; line.Valid == jepsen.Unknown {
		line.Verified = nil
	}
	if line.Valid != jepsen.Valid {
		line.Kind, line.Story, line.FailsBy = from.Kind, from.Story, from.FailsBy
		line.OpIndex, line.OpLine, line.PreviousOK = from.OpIndex, from.OpLine, from.PreviousOK
		if from.Explanation != "" {
			line.Explanation = report.Text("key "+all.Shown[0].Key+": ") + from.Explanation
		}
	}
	return line
}

// show shows an answer if it comes before the one that is shown.
func (all *Answers) show(a Answer) {
	if len(all.Shown) == 0 || less(a, all.Shown[0]) {
		all.Shown = []Answer{a}
	}
}

// less reports whether an answer comes before another one: failures in the order in which they happen, all others in
// the order of the keys.
func less(a, b Answer) bool {
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Row, b.Row)) < 0
}

// The ranks of answers: what comes first is shown.
const (
	refused = iota // the history as a whole has no answer
	invalid
	placeless // invalid, and it is not known where
	undecided
	valid
)

func (a *Answer) rank() int {
	switch a.Line.Valid {
	case jepsen.Invalid:
		if a.Line.OpIndex == nil {
			return placeless
		}
		return invalid
	case jepsen.Valid:
		return valid
	}
	if cause := jepsen.Cause(a.Line.Cause); cause == jepsen.Unreadable || cause == jepsen.Panicked {
		return refused
	}
	return undecided
}
