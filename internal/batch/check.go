package batch

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"clew/edn"
	"clew/internal/limits"
	"clew/internal/shards"
	"clew/internal/store"
	"clew/internal/text"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Job is a history to check.
type Job struct {
	store.Source
	store.Reading
	Missing error                // why there is no history at its path
	Keys    func(edn.Value) bool // of its independent keys, those to check; nil: all
	Decided func(jepsen.Verdict) // unless nil, is called before there is an answer
	Passed  *atomic.Int64        // unless nil, Checker.Decide stores there how many completions it has passed

	History *jepsen.History // once it has been read, until it is decided
	Stopped jepsen.Cause    // why it has not been read to its end
	Took    time.Duration   // to read it
	Ahead   Ahead           // what became of reading it ahead of its turn
	Row     *Row            // in an index of pages, if there is to be one; of the result that is printed
	given   *store.Reading  // what the reading was before results completed it, nil if they did not
	packed  *store.Packed   // the archive that it is in, or an archive that is not opened here, if shards split it
	place   shards.Place    // among all histories that were found
	asRun   bool            // its core is named as the history of a run
	result  atomic.Pointer[report.Result]
	begun   atomic.Pointer[begun]
}

// begun holds what is known about a history while it is decided.
type begun struct {
	counts *report.Counts
	keyed  bool // its keys are decided side by side, so Passed is not about all of it
}

// Ahead says why a history could not be read ahead of its turn: an error, or a panic.
type Ahead struct {
	Err error
	Bug string
}

// Checker checks jobs.
type Checker struct {
	Bounds
	// Decide decides a history that is read in a given way. Its errors name the place.
	Decide  func(ctx context.Context, j *Job, h *jepsen.History, how store.Reading) (*report.Result, error)
	AsGiven bool // results beside histories do not complete their readings
	// Reading, unless nil, returns a context that follows how much of the history at a path has been read, until done
	// is called.
	Reading func(ctx context.Context, path string) (_ context.Context, done func())
	// Began, unless nil, is called before a history is decided.
	Began func(*jepsen.History)
}

// maxKept bounds the bytes of archives that are kept, so that they need not be read again.
const maxKept = 64 << 20

// Keep returns how many bytes of archives may be kept.
func (c *Checker) Keep() int64 {
	if c.Memory > 0 {
		return min(maxKept, c.Memory/8)
	}
	return maxKept
}

// ReadAhead reads the history of a job whose archive is read from front to back: one at a time, in order.
func (c *Checker) ReadAhead(ctx context.Context, j *Job) {
	if !j.InOrder || j.Reading.Skip {
		return
	}
	ctx, done := c.Stage(ctx, c.TimeLimit)
	defer done()
	j.Ahead.Bug = watchdog.Guarded(func() { j.Ahead.Err = c.Read(ctx, j) })
}

// Read reads the job's history within its limits. If they or a signal stop it, there is none. The reading may then go
// on, for a moment, or forever if from standard input, but Read does not wait for it.
func (c *Checker) Read(ctx context.Context, j *Job) error {
	if j.Stopped != "" {
		return nil
	}
	start := time.Now()
	defer func() { j.Took += time.Since(start) }()
	if c.Reading != nil {
		var done func()
		ctx, done = c.Reading(ctx, j.Path)
		defer done()
	}
	var h *jepsen.History
	var how store.Reading
	stopped, err := Await(ctx, func() (err error) {
		h, how, err = j.ReadAs(ctx, j.Reading, jepsen.Options{Memory: c.Memory, Fingerprint: j.Keys != nil}, !c.AsGiven)
		return err
	})
	if j.Stopped = stopped; stopped == "" {
		j.History = h
		j.Reading.Level, j.Reading.LevelBy, j.Reading.LevelAs, j.Reading.Undecided = how.Level, how.LevelBy, how.LevelAs, how.Undecided
		if how.By == "" { // results complete more of it
			j.Reading.Spec, j.Reading.InitBy, j.Reading.Told = how.Spec, how.InitBy, how.Told
		}
		if how.By != "" {
			given := j.Reading
			j.given, j.Reading = &given, how
		}
	}
	return err
}

// Answer is what became of a job. There always is a result.
type Answer struct {
	Result *report.Result
	Err    error // why the history is unreadable
	Begun  bool  // the history was read
}

// Check reads and decides the history of a job.
func (c *Checker) Check(ctx context.Context, j *Job) Answer {
	err := j.Missing
	if why := cmp.Or(j.NoHistory(), either(j.Reading.Skip, "it is skipped", "")); err == nil && why != "" {
		return Answer{Result: j.notJudged(nil, why)}
	}
	if err == nil && j.InOrder {
		err = j.Ahead.Err
	} else if err == nil {
		err = c.Read(ctx, j)
	}
	h, cutOff := j.History, (*jepsen.CutOffError)(nil)
	if errors.As(err, &cutOff) {
		h = cutOff.Shown()
	} else if err != nil {
		return Answer{Result: j.Unreadable(err), Err: err}
	}
	if j.History = nil; h == nil {
		return Answer{Result: j.Undecided(j.Stopped)}
	}
	read, start := j.Took, time.Now()
	if c.Began != nil {
		c.Began(h)
	}
	var checked *report.Result
	how := j.Reading
	j.begun.Store(&begun{report.CountsOf(h), how.Independent})
	r := &report.Result{}
	if watchdog.Await(ctx, Grace, func() { checked, err = c.decided(ctx, j, h, how) }) {
		if cutOff != nil && (err != nil || checked.Verdict != jepsen.Invalid) {
			return Answer{Result: j.Unreadable(cutOff), Err: cutOff}
		}
		if why := j.unjudged(h, err); why != "" {
			return Answer{Result: j.notJudged(h, why), Begun: true}
		}
		if err != nil {
			return Answer{Result: j.Unreadable(err), Err: err}
		}
		if r = checked; j.Decided != nil {
			j.Decided(r.Verdict)
		}
		j.Know(r)
	} else {
		r = j.Late(limits.Stopped(ctx), true) // with the verdict, if that was known before something else
		if cutOff != nil && r.Verdict != jepsen.Invalid {
			return Answer{Result: j.Unreadable(cutOff), Err: cutOff}
		}
	}
	r.File = j.Path
	r.Ms = float64((read + time.Since(start)).Microseconds()) / 1000
	return Answer{Result: r, Begun: true}
}

// decided returns the result of a history as it is read. If the history does not fit what the results beside it say,
// it is read without them.
func (c *Checker) decided(ctx context.Context, j *Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
	r, err := c.Decide(ctx, j, h, how)
	if err == nil {
		r.From.Tell(how.Told)
		how.TellLevel(r)
	}
	switch {
	case err != nil && j.given != nil && how.By != "":
		return c.decided(ctx, j, h, *j.given)
	case err == nil && how.InitBy != "" && how.Told.Model == "":
		r.ToldBy = how.InitBy
	case err == nil && how.InitBy != "":
		r.ToldBy = how.By + " and " + how.InitBy
	case err == nil && how.Told.Model == "" && how.Told.Init == "": // both were given
	case err == nil && how.By != "" && r.ToldBy != "":
		r.ToldBy = how.By + " and " + r.ToldBy
	case err == nil && how.By != "":
		r.ToldBy = how.By
	}
	return r, err
}

// unjudged says why the history of a run in a store is not judged, or "". err is that of its decision.
func (j *Job) unjudged(h *jepsen.History, err error) string {
	switch {
	case j.Test == "":
		return "" // it was given by itself, so what to do about it is said instead
	case err == nil && h.Operations() == 0 && h.Events == h.Skipped:
		return report.NoOperations
	}
	return models.NoModel(err)
}

// notJudged returns the result of a run that is not judged. Its history may be nil.
func (j *Job) notJudged(h *jepsen.History, why string) *report.Result {
	r := j.nothing(jepsen.NotJudged)
	r.History, r.Error = h, why
	return r
}

func either(is bool, one, other string) string {
	if is {
		return one
	}
	return other
}

// Late returns the result of a job that has not ended with its context. The verdict stands if there is one, without
// what would take longer. brief leaves out the history, which may have values of any length.
func (j *Job) Late(cause jepsen.Cause, brief bool) *report.Result {
	known := j.result.Load()
	if known == nil {
		return j.Undecided(cause)
	}
	r := j.Undecided(known.Cause)
	r.Verdict, r.Analyzer, r.Inferred, r.Spec, r.Ms = known.Verdict, known.Analyzer, known.Inferred, known.Spec, known.Ms
	if !brief {
		r.History, r.Keys, r.FailEvent, r.Hard = known.History, known.Keys, known.FailEvent, known.Hard
	}
	r.Explanation = text.Brief(known.FirstFailing().Explanation)
	r.Missing = "evidence is missing (" + string(cause) + "): everything except the verdict"
	return r
}

// Know notes the result that Late has, until End.
func (j *Job) Know(r *report.Result) { j.result.Store(r) }

// End lets go of what Late needs, once there is an answer.
func (j *Job) End() { j.result.Store(nil) }

// Undecided returns the result of a history that was not decided, with what is known about it by now. It does not have
// the history itself, since work that was left behind may still add to it.
func (j *Job) Undecided(cause jepsen.Cause) *report.Result {
	r := j.nothing(cause)
	if b := j.begun.Load(); b != nil {
		r.Counts = b.counts
		if j.Passed != nil && !b.keyed {
			r.Explanation = "the search had passed " + text.Count(int(j.Passed.Load()), "completion")
		}
	}
	return r
}

// nothing returns the result of a history that nothing is known about.
func (j *Job) nothing(cause jepsen.Cause) *report.Result {
	return &report.Result{File: j.Path, Model: j.Spec.Name, Init: j.Spec.Init, Cause: cause}
}

// Unreadable returns the result of a history that cannot be read.
func (j *Job) Unreadable(err error) *report.Result {
	r := j.nothing(jepsen.Unreadable)
	r.Error = text.Brief(err.Error())
	return r
}
