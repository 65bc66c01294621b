package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/batch"
	"clew/internal/checking"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/option"
	"clew/internal/outputs"
	"clew/internal/prints"
	"clew/internal/progress"
	"clew/internal/store"
	"clew/internal/text"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/report"
)

// job is a history to check or to compare.
type job struct {
	*batch.Job
	claims  []jepsen.Claim // the claims of a table about it; nil: those of its results.edn
	prints  []prints.Print // what Knossos printed about it
	outcome atomic.Int32   // 1 more than the outcome, once it is decided; it stays
}

// streamed writes output that need not be held whole.
type streamed func(io.Writer) error

// answer is the outcome of a job. It does not hold on to the history, unless evidence about it is to be written. So
// answers take little memory, however many of them wait for an earlier one to be printed.
type answer struct {
	tally
	then     func(context.Context) answer // unless nil, goes on to the answer itself
	out      string                       // what standard output says
	colored  bool                         // out has clew's own colors
	stream   streamed                     // the same, if it may be long and no other answer waits; nil: out has it
	warnings []string                     // what standard error says
	evidence writing                      // writes files, if any were asked for
	row      *batch.Row                   // what the index of pages says, if there is one
	took     time.Duration
	err      error           // why the history is unreadable
	bug      string          // clew panicked
	record   *outputs.Record // what is printed once all answers are there, nil if out says it
	printed  func()          // unless nil, is called once out is printed
	wrong    error           // the self-check failed
}

// writing writes something until the context is done.
type writing func(context.Context) error

// outcome is the outcome for a history, or for a claim about one.
type outcome int

const (
	valid outcome = iota
	invalid
	unknown
	unreadable
	panicked
	agree
	disagree
	healthy
	weak
	knossosUnknown
	notComparable
	interrupted // also counts as unknown
	notChecked  // also counts as unknown, and as interrupted
	unwritten   // what was asked for, such as evidence
	notJudged   // the run of a store, see jepsen.NotJudged
	vacuous     // also counts as valid
	warned      // a warning that --strict counts
	outcomes    // how many there are
)

// inSummary is what a summary calls an outcome.
var inSummary = [outcomes]string{"valid", "invalid", "unknown", "unreadable", "", "agree", "disagree", "healthy", "weak", "unknown to knossos", "not comparable", "interrupted", "not checked", "not written", "not judged", "vacuous", ""}

// tally counts outcomes, and adds up the milliseconds of claims that have a time.
type tally struct {
	of                [outcomes]int
	knossosMs, clewMs float64
}

func (t *tally) add(u tally) {
	for o, n := range u.of {
		t.of[o] += n
	}
	t.knossosMs += u.knossosMs
	t.clewMs += u.clewMs
}

// status returns the exit status: the first one that applies.
func (t *tally) status() int {
	switch {
	case t.of[panicked] > 0:
		return exitBug
	case t.of[invalid]+t.of[disagree] > 0:
		return exitInvalid
	case t.of[unreadable]+t.of[unwritten]+t.of[warned] > 0:
		return exitUsage
	case t.of[unknown] > 0:
		return exitUnknown
	case t.nothingJudged():
		return exitUsage
	case t.of[valid]+t.of[agree]+t.of[healthy]+t.of[weak] > 0:
		return exitValid
	default:
		return exitUnknown
	}
}

// nothingJudged reports whether there were histories, and none of them was judged.
func (t *tally) nothingJudged() bool {
	judged := t.of[panicked] + t.of[invalid] + t.of[disagree] + t.of[unreadable] + t.of[unknown] + t.of[valid] + t.of[agree] + t.of[healthy] + t.of[weak]
	return judged == 0 && t.of[notJudged] > 0
}

// summary returns a total, and how many had each of the given outcomes.
func (t *tally) summary(total string, each ...outcome) string {
	var parts []string
	for _, o := range each {
		if o == notJudged && t.of[o] == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", t.of[o], inSummary[o])
		if n := t.of[vacuous]; o == valid && n > 0 {
			part += fmt.Sprintf(" (%d %s)", n, inSummary[vacuous])
		}
		parts = append(parts, part)
	}
	return total + ": " + strings.Join(parts, ", ")
}

// runner runs jobs concurrently and prints their outcomes in order.
type runner struct {
	batch.Checker
	reading  store.Reading // what the command line says
	models   store.Tests   // what it says about some tests of a store
	options  clew.Options
	failFast bool // no job begins once a history was invalid
	howFar   bool // results say how far they are from being linearizable
	policy
	args           []string // of the program
	stdin          io.Reader
	stdout, stderr io.Writer
	screen         io.Writer // standard output for what has colors, nil if there are none
	closed         bool      // nothing reads standard output anymore
	headed         bool      // the heading of the output is printed
	progress       *progress.Bar
	tally          tally
	jobs           atomic.Pointer[[]*job] // once they are known, for a status at any time
	lost           atomic.Int32           // outputs that were not written
	output         outputs.Output         // the form of results
	shown          outputs.Options        // where and how it shows them
	records        []outputs.Record       // of results that are printed at the end
}

// begin starts the watch over a command, until end is called: limits count from then on. Errors in the flags for
// limits are reported when the flags are read.
func (r *runner) begin(c *cli.Context) (ctx context.Context, end context.CancelFunc) {
	r.args, _ = c.App.Metadata[argsKey].([]string)
	r.stdin = c.App.Reader
	if pass, _ := passesEmpty(c); !pass && c.App.Metadata[requestKey] == nil {
		r.stdin = notEmpty(r.stdin)
	}
	if limit, memory, err := givenLimits(c); err == nil {
		r.TimeLimit, r.Memory = limit, memory
	}
	r.Decide, r.Reading = r.decided, r.showReading
	r.Began = func(h *jepsen.History) { r.progress.Operations(h.Operations()) }
	if r.Dog = watchdog.Of(c.Context); r.Dog != nil {
		ignorePipes() // a closed output takes no verdict away
	}
	r.Dog.Knows(r.statusNow)
	ctx, end = context.WithCancel(c.Context)
	r.Watch(ctx)
	return ctx, end
}

// statusNow returns the exit status if the process ends at once. A history without a verdict was not tried to its
// end; if every history has one, it is the output that hangs.
func (r *runner) statusNow() int {
	jobs := r.jobs.Load()
	if jobs == nil {
		return exitUnknown
	}
	var t tally
	for _, j := range *jobs {
		switch o := outcome(j.outcome.Load() - 1); {
		case o < 0, o == interrupted:
			t.of[unknown]++
			t.of[interrupted]++
		default:
			t.of[o]++
		}
	}
	if t.of[unwritten] = int(r.lost.Load()); t.of[interrupted] == 0 {
		t.of[unwritten]++
	}
	return r.statusOf(t)
}

// is notes the outcome of a job, whether or not there is time to print it.
func (j *job) is(o outcome) { j.outcome.Store(int32(o) + 1) }

// command runs a command that has limits: given reads the arguments, and do carries the command out and returns the
// status.
func (r *runner) command(c *cli.Context, status *int, given func(context.Context) error, do func(context.Context) (int, error)) error {
	ctx, end := r.begin(c)
	defer end()
	stopped, err := r.First(ctx, given)
	if stopped != "" {
		_, done := r.Lastly(ctx, 0)
		defer done()
		complain(r.stderr, fmt.Errorf("the arguments were not read to their end: %s", stopped))
		*status = exitUnknown
		return nil
	}
	if err == nil {
		*status, err = do(ctx)
	}
	return err
}

// found makes a job for a history that was found, or for none if it is missing.
func (r *runner) found(s store.Source, missing error) *batch.Job {
	j := &batch.Job{Source: s.WithInput(r.stdin), Reading: r.reading, Missing: missing}
	if own, ok := r.models.Of(s); ok {
		j.Reading = own
	}
	return j
}

// newJob makes a job that notes its outcome.
func newJob(found *batch.Job) *job {
	j := &job{Job: found}
	j.Passed = new(atomic.Int64)
	j.Decided = func(v jepsen.Verdict) { j.is(outcomeOf[v]) }
	return j
}

// unusedModels returns an error about tests in --models that no history belongs to.
func (r *runner) unusedModels(jobs []*batch.Job) error {
	if len(r.models) == 0 {
		return nil // the name of a test may be in a file
	}
	var names []string
	for _, j := range jobs {
		names = append(names, j.TestName())
	}
	if err := r.models.Unused(names); err != nil {
		return fmt.Errorf("--models: %w", err)
	}
	return nil
}

// optionsOf returns the options for checking a history that is read in a given way.
func (r *runner) optionsOf(how store.Reading) clew.Options { return checking.OptionsOf(r.options, how) }

func (r *runner) decided(ctx context.Context, j *batch.Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
	return checking.Decide(ctx, j, h, how, r.options, r.howFar)
}

// doing says what to do with a job.
type doing struct {
	do    func(context.Context, *job) answer
	late  func(*job, jepsen.Cause) answer // the answer if do does not end with its context
	waits bool                            // do keeps to the limits on its own
	// rest, unless nil, says in one go that a number of jobs had not begun before a signal came. Otherwise each of
	// them has an answer.
	rest func(jobs int)
}

// all runs the jobs until one fails or nothing is left to do, and returns how many are done. It fails if results
// cannot be written.
func (r *runner) all(ctx context.Context, jobs []*job, how doing) (done int, failed error) {
	defer r.progress.Stop()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r.jobs.Store(&jobs)
	batch.InOrder(len(jobs), func(i int) { r.ReadAhead(ctx, jobs[i].Job) }, func(i int) answer {
		start, before := time.Now(), jobs[i].Took
		a := r.within(ctx, jobs[i], how)
		a.took = before + time.Since(start)
		return a
	}, func(i int, a answer) bool {
		failed = r.say(ctx, jobs[i], a)
		r.progress.File()
		done++
		if how.rest != nil && a.of[notChecked] > 0 && ctx.Err() != nil && done < len(jobs) {
			how.rest(len(jobs) - done)
			done = len(jobs)
			return false
		}
		return failed == nil && !(r.failFast && r.tally.of[invalid] > 0)
	})
	return done, failed
}

// within runs a job within its limits. Work that still goes on a moment after they end is left behind.
func (r *runner) within(ctx context.Context, j *job, how doing) (a answer) {
	if how.waits {
		return answered(func() answer { return how.do(ctx, j) })
	}
	do := func(ctx context.Context) answer { return answered(func() answer { return how.do(ctx, j) }) }
	late := func(cause jepsen.Cause) answer { return answered(func() answer { return how.late(j, cause) }) }
	a = batch.Within(ctx, &r.Bounds, r.TimeLimit-j.Took, do, late)
	if j.End(); a.bug != "" {
		j.is(panicked)
	}
	return a
}

// answered returns the answer of f, or an answer which says that clew panicked.
func answered(f func() answer) answer {
	var a answer
	if bug := watchdog.Guarded(func() { a = f() }); bug != "" {
		return answer{bug: bug}
	}
	return a
}

// say prints one answer: results to standard output, errors to standard error. The verdict comes first, and then the
// evidence, as long as the history's limit leaves time for it.
func (r *runner) say(ctx context.Context, j *job, a answer) error {
	r.tally.add(a.tally)
	j.Row = a.row
	last, done := r.Lastly(ctx, r.TimeLimit-a.took)
	defer done()
	r.progress.Clear()
	switch {
	case a.bug != "":
		r.tally.of[panicked]++
		reportBug(r.stderr, text.Line(j.Path)+": "+a.bug)
	case a.err != nil:
		r.tally.of[unreadable]++
		complain(r.stderr, a.err)
	}
	if a.wrong != nil {
		r.tally.of[panicked]++
		reportBug(r.stderr, text.Line(a.wrong.Error()))
	}
	r.warn(j.Path, a.warnings...)
	ctx = last
	out := r.stdout
	if a.colored {
		out = r.screen
	}
	err := r.printTo(ctx, out, r.heading()+r.added(a))
	if a.printed != nil {
		a.printed()
	}
	if a.stream != nil {
		err = r.unlessClosed(batch.UnlessBlocked(ctx, func() error { return a.stream(limits.Writer(ctx, r.stdout)) }))
	}
	if a.evidence != nil {
		shown := r.progress.Writing()
		err := a.evidence(ctx)
		if shown(); err != nil {
			r.lose(err)
		}
	}
	return err
}

// policy says what counts as a failure, and how failures are printed.
type policy struct {
	quiet       bool // each in a line on standard error, and nothing else
	passUnknown bool // an undecided history is not a failure
	strict      bool // warnings are failures, too
}

// givenPolicy reads the policy that the flags set, and how it shows results.
func (r *runner) givenPolicy(c *cli.Context) (err error) {
	if r.passUnknown, err = option.Either("unknown", c.String("unknown"), "fail", "pass"); err != nil {
		return err
	}
	r.strict = c.Bool("strict")
	if r.quiet = c.Bool("quiet"); r.quiet {
		r.output, r.stdout = outputs.Quiet, r.stderr
	}
	if r.quiet && c.IsSet("output") {
		return fmt.Errorf("--quiet prints no results and cannot be combined with --output; found --output %s", c.String("output"))
	}
	r.shown.PassUnknown, r.shown.Version = r.passUnknown, outputs.Version()
	return nil
}

// status returns the exit status. An interrupted history never passes, since it was not tried.
func (r *runner) status() int { return r.statusOf(r.tally) }

func (r *runner) statusOf(t tally) int {
	if r.passUnknown {
		t.of[valid] += t.of[unknown] - t.of[interrupted]
		t.of[unknown] = t.of[interrupted]
	}
	return t.status()
}

// count counts the verdict of a history, and returns its outcome. vacuity says why it is vacuous, or is "".
func (t *tally) count(v jepsen.Verdict, cause jepsen.Cause, vacuity string) outcome {
	if vacuity != "" {
		t.of[vacuous]++
	}
	o := outcomeOf[v]
	if v == jepsen.Unknown && cause == jepsen.NotJudged {
		o = notJudged
	}
	t.of[o]++
	if v == jepsen.Unknown && cause == jepsen.Interrupted {
		o = interrupted
		t.of[o]++
	}
	return o
}

// said returns the warnings to print.
func (p policy) said(warnings []string) []string {
	if p.quiet && !p.strict {
		return nil
	}
	return warnings
}

func (r *runner) warn(path string, warnings ...string) {
	if r.strict {
		r.tally.of[warned] += len(warnings)
	}
	for _, w := range r.said(warnings) {
		fmt.Fprintf(r.stderr, "clew: %s: warning: %s\n", text.Line(outputs.Called(path)), text.Line(text.Brief(w)))
	}
}

// newProgress shows the progress of a number of histories.
func (r *runner) newProgress(histories int) {
	w := r.stderr
	if r.quiet {
		w = io.Discard
	}
	r.progress = progress.New(w, histories)
}

// show fills in what standard output says of a record, now or at the end.
func (r *runner) show(a *answer, x *outputs.Record) {
	if r.output.All != nil {
		a.record = x
	} else {
		a.out, a.colored = r.output.Each(x, &r.shown), r.output.Colors && r.screen != nil
	}
}

// added returns what is printed of an answer now, and keeps its record if that is printed at the end.
func (r *runner) added(a answer) string {
	if a.record != nil {
		r.records = append(r.records, *a.record)
	}
	return a.out
}

// heading returns the heading of the output for the first text that is printed, and then "".
func (r *runner) heading() string {
	if r.headed || r.output.Heading == nil {
		return ""
	}
	r.headed = true
	return r.output.Heading(&r.shown)
}

// showAll prints what comes after the last answer. There may have been none, so the heading may be missing.
func (r *runner) showAll(ctx context.Context) {
	said := r.heading()
	if r.output.All != nil {
		said += r.output.All(r.records, &r.shown)
	}
	r.summarize(ctx, said)
}

func (r *runner) summarize(ctx context.Context, said string) {
	ctx, done := r.Lastly(ctx, r.TimeLimit)
	defer done()
	if err := r.print(ctx, said); err != nil {
		r.lose(err)
	}
}

// print writes to standard output as long as the context is not done.
func (r *runner) print(ctx context.Context, text string) error {
	return r.printTo(ctx, r.stdout, text)
}

func (r *runner) printTo(ctx context.Context, out io.Writer, text string) error {
	if text == "" || r.closed {
		return nil
	}
	return r.unlessClosed(batch.UnlessBlocked(ctx, func() error { _, err := io.WriteString(out, text); return err }))
}

// unlessClosed returns an error of standard output, unless its reader has closed it. The reader then wants no more,
// and evidence and status are as they are without it.
func (r *runner) unlessClosed(err error) error {
	if files.IsClosed(err) {
		r.stdout, r.closed = io.Discard, true
		return nil
	}
	return err
}

// lose reports what could not be written. It changes no verdict.
func (r *runner) lose(err error) {
	r.tally.of[unwritten]++
	r.lost.Add(1)
	complain(r.stderr, err)
}

// loseLast does what lose does when nothing else is left to do and there is no time left.
func (r *runner) loseLast(ctx context.Context, err error) {
	_, done := r.Lastly(ctx, 0)
	defer done()
	r.lose(err)
}

// complain prints what went wrong. Each of several errors has a line of its own.
func complain(stderr io.Writer, err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range several.Unwrap() {
			complain(stderr, err)
		}
		return
	}
	fmt.Fprintln(stderr, "clew:", text.Line(text.Brief(err.Error())))
}

// showReading returns a context that shows how much of a history has been read, until done is called.
func (r *runner) showReading(ctx context.Context, path string) (context.Context, func()) {
	var size int64 // 0 if it is not known
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	read, done := r.progress.Reading(size)
	return limits.Counting(ctx, read), done
}

// readFile reads the history of a file as clew check does, and returns how to read it further.
func (r *runner) readFile(ctx context.Context, path string) (*jepsen.History, store.Reading, error) {
	ctx, shown := r.showReading(ctx, path)
	defer shown()
	return store.File(path).WithInput(r.stdin).ReadAs(ctx, r.reading, jepsen.Options{Memory: r.Memory}, true)
}

// alone does what Bounded does if f is all there is to do.
func (r *runner) alone(ctx context.Context, f func(context.Context) error) (stopped jepsen.Cause, err error) {
	r.newProgress(1)
	defer r.progress.Stop()
	return r.Bounded(ctx, f)
}
