package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/batch"
	"clew/internal/checking"
	"clew/internal/files"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/internal/terminal"
	"clew/internal/text"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/report"
)

const checkHelp = `Reads each history and says whether it is linearizable. A PATH is a history
(EDN, test.jepsen, JSON, the .log form or another that clew convert knows, plain,
.gz or .zst; detected from the content), - for standard input, or a directory or an
archive of them (.tar, .tar.gz, .tar.zst, .zip), such as a store: every
history.edn in it, every test.jepsen where that is missing or cut off, every
history.txt or clew.jsonl where both are missing, or else all files of one form
(.edn, or else .json and .jsonl, .log, .hist or .jepsen, or else .txt).

The results of a stored test (results.edn or test.jepsen) may say its model, its
initial value and whether it has keys. They count where --model or --init is not
given, and the output says so: (according to results.edn). Without --consistency,
its test map (test.jepsen, jepsen.log, test.edn or test.fressian) says the level.
If the history was never written, or is cut off, history.txt or jepsen.log is read.

Examples:
   clew check store/latest/history.edn
   clew check --model cas-register --init 0 history.edn
   clew check store/                       # a table and a summary
   clew check --model kv --position revision history.edn   # docs/positions.md
   clew check --models tests.edn old-stores.tar.gz
   clew check --html failure.html history.edn        # a page for a browser
   clew check --how-far history.edn                  # how wrong it is (docs/guarantees.md)
   clew check --html-dir pages/ store/               # an index.html of them
   clew check --output json store/ | jq -r 'select(.valid == false) | .file'
   clew check --output junit store/ > clew.xml       # or sarif, or github (docs/ci.md)
   clew check --quiet --time-limit 2m --unknown pass store/ || echo some run fails
   xzcat history.edn.xz | clew check --model mutex -
   clew check --model register --follow store/latest/jepsen.log    # while the test runs
   clew check --shard 3/16 store/ > 3.jsonl          # a part; clew merge joins the parts

Evidence goes to standard output if its FILE is -; results go to standard error
then. If it cannot be written, the verdict stands. A FIFO waits for its reader,
until the time limit or a signal.

Exit status: 0 all valid, 1 some invalid, 2 some unknown, 254 bad arguments or
some input unreadable or some output not written, 255 a bug in clew; the first
that applies of 255, 1, 254, 2, 0. Runs of a store that are not judged (clew has no
model of what they tested, :skip, no operations) do not count; if there are no others
it is 254. With --unknown pass every unknown verdict (a limit, initial-value, reading)
is 0, but not if the check was interrupted.`

func checkCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "check",
		Usage:       "check histories",
		ArgsUsage:   "PATH...",
		Description: checkHelp,
		Flags: slices.Concat(modelFlags(), searchFlags(), resultFlags(outputs.Check()), evidenceFlags(), []cli.Flag{
			&cli.StringFlag{Name: "evidence", Usage: "write the core of every invalid history to a file below `DIR`, which becomes a store of them"},
			&cli.StringFlag{Name: "models", Usage: "read each test's model from `FILE`, an EDN map such as {\"etcd\" {:model :cas-register :init 0}, \"kafka\" :skip}"},
			&cli.StringFlag{Name: "shard", Usage: "check one of N parts of all histories, `I/N`, for clew merge; auto takes I and N from Kubernetes or Slurm (docs/scale.md)"},
			&cli.BoolFlag{Name: "shard-keys", Usage: "with --shard and --independent: split every history by its keys"},
			&cli.BoolFlag{Name: "fail-fast", Usage: "stop at the first invalid history"},
			&cli.BoolFlag{Name: "all", Usage: "print every anomaly of a history, not the first alone, as clew monitor does (docs/monitor.md)"},
			&cli.BoolFlag{Name: "how-far", Usage: "say how far an invalid history is from being linearizable: clock error, versions behind, weaker guarantees, forgotten updates (docs/guarantees.md)"},
			consistencyFlag(),
			&cli.BoolFlag{Name: "verify", Usage: "recheck the evidence whatever it costs: replay the witness, decide the core with another engine (cheap checks always run)"},
			&cli.BoolFlag{Name: "no-verify", Usage: "do not recheck the evidence"},
			&cli.BoolFlag{Name: "follow", Usage: "check a history while it is being written; end as soon as it is invalid. A signal ends this within 200 ms, with the verdict or with how far the history was decided"},
			&cli.DurationFlag{Name: "idle", DefaultText: "never", Usage: "with --follow: treat the history as ended after `DURATION` without new data, such as 30s"},
			&cli.BoolFlag{Name: "stdin-is-lifeline", Usage: "end when standard input closes"},
			&cli.StringFlag{Name: askedModel, Hidden: true},
		}),
		Action: func(c *cli.Context) error { return checkHistories(c, stdout, stderr, status) },
	}
}

func checkHistories(c *cli.Context, stdout, stderr io.Writer, status *int) error {
	if c.Bool("all") {
		return monitorHistory(c, stdout, stderr, status)
	}
	k := &checker{runner: runner{stdout: stdout, stderr: stderr, failFast: c.Bool("fail-fast"), howFar: c.Bool("how-far")}}
	return k.command(c, status, func(ctx context.Context) error { return k.given(ctx, c) }, func(ctx context.Context) (int, error) {
		return k.run(ctx, c.Args().Slice())
	})
}

var outcomeOf = map[jepsen.Verdict]outcome{jepsen.Valid: valid, jepsen.Invalid: invalid, jepsen.Unknown: unknown}

type checker struct {
	runner
	evidence   *evidence
	lifeline   bool
	follow     *following   // nil: histories are read once, whole
	shard      *batch.Shard // nil: all histories are checked
	modelsFile string       // "" if there is none
	alone      bool         // there is one history
	bundled    atomic.Bool  // a failed self-check is in a file
}

func (k *checker) given(ctx context.Context, c *cli.Context) error {
	k.evidence = givenEvidence(c, k.stdout, k.stderr)
	k.lifeline = c.Bool("stdin-is-lifeline")
	k.shown.Look, k.screen = terminal.Look(k.stdout)
	if k.lifeline || k.evidence.toStdout() {
		k.shown.Look.Color, k.screen = false, nil // standard output has another purpose
	}
	var err error
	if k.reading, err = store.NewReading(given(c)); err != nil {
		return err
	}
	if err = k.givenAskedModel(c); err != nil {
		return err
	}
	var badOutput error
	switch k.output, badOutput = outputs.Find(outputs.Check(), c.String("output")); {
	case !c.Args().Present():
		return k.evidence.noHistory()
	case badOutput != nil:
		return badOutput
	case count(c.Args().Slice(), "-") > 1:
		return errors.New("standard input (-) can be read only once")
	case k.lifeline && count(c.Args().Slice(), "-") > 0:
		return errors.New("--stdin-is-lifeline cannot be combined with reading a history from standard input (-)")
	}
	if k.options, k.Memory, err = searchOptions(c); err != nil {
		return err
	}
	if k.follow, err = givenFollowing(c, &k.reading); err != nil {
		return err
	}
	if err := k.evidence.checkStyle(c.IsSet("html-style")); err != nil {
		return err
	}
	k.modelsFile = c.String("models")
	if k.models, err = givenModels(ctx, c, k.Memory); err != nil {
		return err
	}
	if k.shard, err = givenSharding(c, k); k.shard != nil {
		k.output = outputs.JSON
	}
	if err != nil {
		return err
	}
	if k.howFar && (k.follow != nil || c.Bool("shard-keys")) {
		return errors.New("--how-far needs the whole history; it cannot be combined with --follow or --shard-keys")
	}
	if err := checking.Conflict(k.options, c.IsSet("witness")); err != nil {
		return err
	}
	return k.givenPolicy(c)
}

func count(list []string, s string) int {
	n := 0
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

// run checks every history below the paths, several at once, and prints the answers in order. It returns the exit
// status.
func (k *checker) run(ctx context.Context, paths []string) (int, error) {
	if k.lifeline {
		go k.watchLifeline()
	}
	start := time.Now()
	found := k.find(ctx, paths)
	if len(found) == 1 {
		found[0].Took = time.Since(start)
	}
	if len(found) != 1 && len(k.evidence.files) > 0 {
		return 0, fmt.Errorf("%s are for a single history, not for %d; --evidence DIR and --html-dir DIR have a file for each", text.AllOf(evidenceNames()), len(found))
	}
	if err := k.unusedModels(found); err != nil {
		return 0, err
	}
	if err := k.ready(paths, found); err != nil {
		return 0, err
	}
	found = k.shard.Own(ctx, found)
	jobs := make([]*job, len(found))
	for i, j := range found {
		jobs[i] = newJob(j)
	}
	k.alone = len(jobs) == 1
	k.newProgress(len(jobs))
	if len(jobs) == 1 {
		jobs[0].Passed, k.options.Held = &k.progress.Passed, &k.progress.Held
	}
	k.header(jobs)
	if o := k.options; o.Algorithm == "hitting" && o.TimeLimit == 0 {
		fmt.Fprintf(k.stderr, "clew: --algorithm hitting runs until it has found a witness, or tried all schedules up to depth %d, which may take days; --time-limit ends it\n", cmp.Or(o.Depth, clew.DefaultDepth))
	}
	how := doing{do: k.checked, late: k.late}
	if k.follow != nil {
		how = doing{do: k.followed, waits: true}
	}
	if k.output.For != outputs.Programs {
		how.rest = func(jobs int) { k.notBegun(ctx, jobs) }
	}
	done, err := k.all(ctx, jobs, how)
	if err != nil {
		k.loseLast(ctx, err)
		return k.statusNow(), nil
	}
	if k.shard != nil {
		return k.endShard(ctx), nil
	}
	k.index(ctx, found)
	k.showAll(ctx)
	if n := k.tally.of[notChecked]; n > 0 && k.output.For == outputs.People && len(jobs) > 1 {
		k.summarize(ctx, fmt.Sprintf("interrupted: %d of %d histories were not checked\n", n, len(jobs)))
	}
	if k.output.Summary && len(jobs) > 1 {
		said := k.tally.summary(fmt.Sprintf("%d histories", len(jobs)), valid, invalid, unknown, notJudged, unreadable)
		if done < len(jobs) {
			said += fmt.Sprintf("; stopped there, %d not checked", len(jobs)-done)
		}
		k.summarize(ctx, said+"\n")
	}
	if k.quiet && k.tally.nothingJudged() {
		fmt.Fprintf(k.stderr, "clew: nothing was judged of %s; without --quiet, each says why\n", historyCount(k.tally.of[notJudged]))
	}
	return k.status(), nil
}

// notBegun counts histories that were not begun before a signal came. A report for pipelines has one case for all of
// them: there is no time for one each.
func (k *checker) notBegun(ctx context.Context, histories int) {
	k.tally.of[unknown] += histories
	k.tally.of[interrupted] += histories
	k.tally.of[notChecked] += histories
	if k.output.For == outputs.Pipelines {
		line := report.Line{Valid: jepsen.Unknown, Cause: report.Text(jepsen.Interrupted), Explanation: report.Text(fmt.Sprintf("%d more histories were not started", histories))}
		var rest answer
		k.show(&rest, &outputs.Record{Line: line, Name: fmt.Sprintf("%d more histories", histories)})
		k.summarize(ctx, k.added(rest))
	}
}

// index writes the index of the pages, if there are pages.
func (k *checker) index(ctx context.Context, jobs []*batch.Job) {
	ctx, done := k.Lastly(ctx, k.TimeLimit)
	defer done()
	if err := k.evidence.Index(ctx, jobs); err != nil {
		k.lose(err)
	}
}

// ready looks at the outputs before a search takes its time for them. It fails if they would destroy something.
func (k *checker) ready(paths []string, jobs []*batch.Job) error {
	if !k.evidence.anyAsked() {
		return nil
	}
	if err := k.evidence.check(paths, jobs, k.modelsFile, k.stdout); err != nil {
		return err
	}
	if err := k.evidence.probe(); err != nil {
		k.lose(err)
	}
	if k.evidence.toStdout() {
		k.stdout = k.stderr
	}
	return nil
}

// find returns a job for each history that the paths stand for.
func (k *checker) find(ctx context.Context, paths []string) []*batch.Job {
	if k.follow != nil {
		return []*batch.Job{k.found(store.Source{Path: paths[0]}, nil)}
	}
	return k.Find(ctx, paths, batch.Search{Shard: k.shard, Bare: true, Job: k.found, Warn: func(path string, what ...string) {
		_, done := k.Lastly(ctx, k.TimeLimit)
		defer done()
		k.warn(path, what...)
	}})
}

// header begins the table, if there is to be one, for the histories that were found in directories and archives.
func (k *checker) header(jobs []*job) {
	table, stored := report.NewTable(k.shown.Look), false
	for _, j := range jobs {
		table.Fit(cmp.Or(j.Test, j.Path), j.Time)
		stored = stored || j.Test != ""
	}
	if k.output.Several != nil && stored && len(jobs) > 1 {
		k.output, k.shown.Table = *k.output.Several, table
	}
}

// checked does what check does. A panic has a line of JSON, too, since every history has one.
func (k *checker) checked(ctx context.Context, j *job) answer {
	a := answered(func() answer { return k.check(ctx, j) })
	if a.bug != "" {
		what, _, _ := strings.Cut(a.bug, "\n")
		k.tell(&a, j, &report.Result{File: j.Path, Model: j.Spec.Name, Init: j.Spec.Init, Cause: jepsen.Panicked, Error: what})
	}
	return a
}

func (k *checker) check(ctx context.Context, j *job) answer {
	if j.Ahead.Bug != "" {
		return answer{bug: j.Ahead.Bug}
	}
	x := k.Check(ctx, j.Job)
	switch {
	case x.Err != nil:
		return k.unreadable(j, x.Err)
	case x.Begun || j.Stopped != jepsen.Interrupted:
		return k.answer(ctx, j, x.Result)
	}
	a := k.answer(ctx, j, x.Result)
	if a.of[notChecked]++; k.output.For == outputs.People && k.progress.Files > 1 {
		a.out = "" // one line covers all of them
	}
	return a
}

// late returns the answer for a job that has not ended with its context.
func (k *checker) late(j *job, cause jepsen.Cause) answer {
	return k.answer(context.Background(), j, j.Late(cause, k.output.Whole))
}

// unreadable returns the answer for a history that cannot be read.
func (k *checker) unreadable(j *job, err error) answer {
	r := j.Unreadable(err)
	a := answer{err: err}
	a.row, _ = k.evidence.Page(context.Background(), j.Job, r) // writes nothing
	j.is(unreadable)
	k.tell(&a, j, r)
	return a
}

// answer turns a result into an answer.
func (k *checker) answer(ctx context.Context, j *job, r *report.Result) answer {
	var a answer
	shown := k.progress.Writing()
	row, unpaged := k.evidence.Page(ctx, j.Job, r)
	a.row = row
	shown()
	if k.alone && k.output.Stream != nil {
		a.stream = func(w io.Writer) error { return k.output.Stream(w, r) }
	} else {
		k.tell(&a, j, r)
	}
	j.is(a.count(r.Verdict, r.Cause, r.Vacuous))
	a.wrong = k.wrong(r)
	a.warnings = checking.Warnings(r)
	if k.strict && r.Missing != "" {
		a.warnings = append(a.warnings, r.Missing)
	}
	if k.strict && r.Cause == jepsen.NotJudged {
		a.warnings = append(a.warnings, "not judged: "+r.Error)
	}
	a.warnings = append(a.warnings, k.evidence.Stale(j.Job, r, row)...)
	a.evidence = k.evidence.of(j, r, k.stderr)
	if unpaged != nil {
		rest := a.evidence
		a.evidence = func(ctx context.Context) error {
			if rest == nil {
				return unpaged
			}
			return errors.Join(rest(ctx), unpaged)
		}
	}
	return a
}

// wrong returns an error if the evidence of a result turned out to be wrong. For the first such result of a run it
// names the file with all that is needed.
func (k *checker) wrong(r *report.Result) error {
	failed := r.SelfCheckFailure()
	if failed == nil {
		return nil
	}
	err := fmt.Errorf("%s: the self-check failed: %s", r.File, failed.Error)
	if !k.bundled.CompareAndSwap(false, true) {
		return err
	}
	file, lost := newFile("clew-self-check-failed", ".zip", func(w io.Writer) error {
		return outputs.WriteBundle(w, fmt.Sprintf("clew %s\ncommand: %q\n", outputs.Version(), k.args), failed)
	})
	if lost != nil {
		return fmt.Errorf("%w; the report to be sent could not be written: %w", err, lost)
	}
	return fmt.Errorf("%w; all that is needed is in %s", err, file)
}

// tell fills in what standard output says about a result.
func (k *checker) tell(a *answer, j *job, r *report.Result) {
	if k.shard != nil {
		a.out, a.printed = k.shard.Line(j.Job, r, a.row, a.err)
		return
	}
	k.show(a, k.output.NewRecord(report.NewRun(j.Test, j.Time, r), r, a.err))
}

// watchLifeline ends the process when standard input closes: the program that started clew is gone. It prints no
// results, and removes files that are not whole.
func (k *checker) watchLifeline() {
	io.Copy(io.Discard, os.Stdin)
	watchdog.Await(expired, lastWords, func() {
		files.Tidy()
		fmt.Fprintln(k.stderr, "clew: standard input closed; ending")
	})
	os.Exit(exitUnknown)
}
