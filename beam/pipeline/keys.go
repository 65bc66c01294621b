package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Key is an independent key of a history: what its own history is, packed.
type Key struct {
	Path   string // of the whole history
	Row    int    // of the keys
	Key    string // as EDN
	Model  string // which the history as a whole has
	Packed []byte
}

// Answer is what comes of a key, or what is known of its history as a whole.
type Answer struct {
	Row   int // of the keys; whole: of the history
	Key   string
	Event jepsen.Event // the failing one, in the whole history
	Line  report.Line
}

// whole is the Row of what is known of a history as a whole.
const whole = -1

// splitFn reads a history and splits it by key. A history that cannot be split is a
// line at once.
type splitFn struct {
	Options Options
	spec    models.Spec
}

// Setup makes the model on each worker.
func (f *splitFn) Setup() (err error) {
	f.spec, err = f.Options.spec()
	return err
}

func (f *splitFn) ProcessElement(ctx context.Context, found Found, key func(Key), answer func(string, Answer), line func(report.Line)) error {
	spec := f.spec
	var h *jepsen.History
	var keyed *jepsen.Keyed
	failed := clew.Try(ctx, found.Path(), func(ctx context.Context) (*jepsen.History, error) {
		all, err := found.read(ctx, f.Options.pairing(spec))
		if err != nil {
			return nil, err
		}
		if keyed, spec, err = f.split(all); err != nil {
			return nil, clew.Placed(all, err)
		}
		h = all
		return nil, errSplit
	}, spec, f.Options.check())
	if h == nil {
		line(failed.Line())
		return nil
	}
	r := report.Result{History: h, File: found.Path(), Model: spec.Name, Init: spec.Init, Verdict: jepsen.Valid,
		Verified: true, FailEvent: jepsen.None, LastOperation: jepsen.None}
	head, n := r.Line(), len(keyed.Keys)
	head.Keys, head.Ms = &n, failed.Ms
	answer(found.Path(), Answer{Row: whole, Line: head})
	packer := keyed.Unwrapped.NewPacker()
	for row := range keyed.Keys {
		key(Key{found.Path(), row, h.Values.Text(keyed.Keys[row]), spec.Name, packer.Append(nil, keyed.History(row).History)})
	}
	return nil
}

// errSplit ends clew.Try when there is nothing to check yet.
var errSplit = errors.New("split")

// split is the keys of a history, and the model of all of them.
func (f *splitFn) split(h *jepsen.History) (*jepsen.Keyed, models.Spec, error) {
	part := h.Independent
	if f.Options.Keyless {
		part = h.IndependentOrShared
	}
	keyed, err := part()
	if err != nil {
		return nil, f.spec, err
	}
	spec, _, err := f.spec.Infer(keyed.Unwrapped)
	if err == nil {
		err = spec.Admits(h)
	}
	return keyed, spec, err
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
	spec := f.spec
	spec.Name = k.Model
	var inWhole []jepsen.Event
	read := func(context.Context) (h *jepsen.History, err error) {
		if h, inWhole, err = jepsen.Unpack(k.Packed); err == nil {
			h.File = k.Path
		}
		return h, err
	}
	r := clew.Try(ctx, k.Path, read, spec, f.Options.check())
	a := Answer{Row: k.Row, Key: k.Key, Line: r.Line()}
	if r.FailEvent != jepsen.None {
		a.Event = inWhole[r.FailEvent]
	}
	return k.Path, a
}

// togetherFn makes one line of the answers of all keys: as clew check does, that of
// the first failing one, else of the first undecided one, else of any.
type togetherFn struct{}

func (*togetherFn) ProcessElement(path string, next func(*Answer) bool, emit func(report.Line)) error {
	var all []Answer
	for a := (Answer{}); next(&a); a = (Answer{}) {
		all = append(all, a)
	}
	emit(together(all))
	return nil
}

func together(all []Answer) report.Line {
	slices.SortFunc(all, func(a, b Answer) int { return cmp.Compare(a.Row, b.Row) })
	line, keys := all[0].Line, all[1:]
	shown, verified := &keys[0], true
	for i := range keys {
		k := &keys[i]
		line.Ms += k.Line.Ms
		if k.Line.Valid == jepsen.Invalid {
			line.Failures = append(line.Failures, k.Key)
		}
		if worse(k, shown) {
			shown = k
		}
		verified = verified && k.Line.Verified != nil && *k.Line.Verified
	}
	from := shown.Line
	line.Valid, line.Analyzer, line.Cause, line.Error = from.Valid, from.Analyzer, from.Cause, from.Error
	if line.Verified = &verified; line.Valid == jepsen.Unknown {
		line.Verified = nil
	}
	if line.Valid != jepsen.Valid {
		line.OpIndex, line.OpLine, line.PreviousOK = from.OpIndex, from.OpLine, from.PreviousOK
		if from.Explanation != "" {
			line.Explanation = report.Text("key "+shown.Key+": ") + from.Explanation
		}
	}
	return line
}

// worse says whether an answer, of a later key, says more than another one.
func worse(a, b *Answer) bool {
	switch {
	case a.Line.Valid == jepsen.Invalid:
		return b.Line.Valid != jepsen.Invalid || a.Event < b.Event
	case a.Line.Valid == jepsen.Unknown:
		return b.Line.Valid == jepsen.Valid
	}
	return false
}
