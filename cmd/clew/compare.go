package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/batch"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/outputs"
	"clew/internal/prints"
	"clew/internal/progress"
	"clew/internal/store"
	"clew/internal/terminal"
	"clew/internal/text"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

const compareHelp = `Checks histories again and says whether clew agrees with Knossos. It compares every
linearizability result in the results.edn beside a history.edn, or in a test.jepsen,
whatever its checker is called, and those of each independent key. It can also compare
a table of verdicts, and Elle's results about list-append with the levels of
--consistency. A failure agrees if the failing operation is the same. Where
they disagree, clew shows its verified evidence, and the known difference if one
explains it.

A PATH is a history or a directory, as for clew check. Without --model and --init,
clew takes them from the results. Otherwise the model is inferred, and a claim may
be of the default or of the value that the first reads show, but all claims about a
history, of its keys too, must be of the same one.

--knossos CMD is run for histories without results, by sh, with --model MODEL
FILE appended. It prints Knossos's result map, or what Knossos's own command line
does: FILE<TAB>, the result map and the verdict on a line, or FILE<TAB>true as
before 2021. It gets twice the time limit, or 10 minutes.

--knossos PRINT reads what Knossos's command line printed about any number of
files, if PRINT is a file that is not executable, or - for standard input. Their
names are below PATH, a folder, or beside PRINT if no PATH is given. A file whose
result is missing or an exception is not comparable; skipped lines are warnings.

--verdicts TABLE has columns separated by tabs: file, verdict, and if its first
line names them model (cas-register:0 is one from 0), algo, ms and fail_index.
Files are below PATH, a folder, or beside the table if no PATH is given.

Examples:
   clew compare store/
   clew compare --knossos ./knossos.sh old-histories/
   lein run -m knossos.cli *.edn | clew compare --knossos -
   clew compare --verdicts verdicts.tsv histories/
   clew compare --output json store/ | jq -r 'select(.agreement == "DISAGREE") | .file'

Exit status: 0 nothing disagrees, 1 some disagreement, 2 nothing comparable, 254
bad arguments or unreadable input.`

func compareCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "compare",
		Usage:       "compare with Knossos's results",
		ArgsUsage:   "PATH...",
		Description: compareHelp,
		Flags: slices.Concat(modelFlags(), []cli.Flag{
			&cli.StringFlag{Name: "models", Usage: "read each test's model from `FILE`, an EDN map as for clew check"},
			consistencyFlag(),
			&cli.StringFlag{Name: "knossos", Usage: "run `CMD` for histories without results, or read what knossos.cli printed from a file"},
			&cli.StringFlag{Name: "verdicts", Usage: "compare with the verdicts in a `TABLE`"},
		}, searchFlags(), []cli.Flag{outputFlag(outputs.Compare(), "comparison")}),
		Action: func(c *cli.Context) error {
			k := &comparer{runner: runner{stdout: stdout, stderr: stderr, Checker: batch.Checker{AsGiven: true}}, knossos: c.String("knossos")}
			return k.command(c, status, func(ctx context.Context) error { return k.given(ctx, c) }, k.run)
		},
	}
}

var outcomeOfClaim = map[report.Agreement]outcome{
	report.Agree: agree, report.Disagree: disagree, report.KnossosUnknown: knossosUnknown, report.NotComparable: notComparable,
}

type comparer struct {
	runner
	knossos string
	jobs    []*job
}

// given reads what the flags say, and finds the histories.
func (k *comparer) given(ctx context.Context, c *cli.Context) error {
	var err error
	if k.reading, err = store.NewReading(given(c)); err != nil {
		return err
	}
	if k.options, k.Memory, err = searchOptions(c); err != nil {
		return err
	}
	k.output, err = outputs.Find(outputs.Compare(), c.String("output"))
	switch k.shown.Look, _ = terminal.Look(k.stdout); {
	case err != nil:
		return err
	case c.IsSet("verdicts") && k.knossos != "":
		return errors.New("--verdicts and --knossos cannot be combined")
	case c.IsSet("verdicts") && c.NArg() > 1:
		return errors.New("--verdicts takes at most one folder of histories")
	case k.isPrint() && c.NArg() > 1:
		return errors.New("--knossos takes at most one folder of histories if it reads a file")
	case !c.IsSet("verdicts") && !k.isPrint() && !c.Args().Present():
		return errors.New("no history given; clew compare --help shows how")
	}
	if k.models, err = givenModels(ctx, c, k.Memory); err != nil {
		return err
	}
	if c.IsSet("verdicts") {
		return k.findTable(ctx, c.String("verdicts"), c.Args().First())
	}
	if k.isPrint() {
		return k.findPrinted(ctx, k.knossos, c.Args().First())
	}
	for _, path := range c.Args().Slice() {
		if err := k.find(ctx, path); err != nil {
			return err
		}
	}
	var all []*batch.Job
	for _, j := range k.jobs {
		all = append(all, j.Job)
	}
	return k.unusedModels(all)
}

// find adds the histories below a path.
func (k *comparer) find(ctx context.Context, path string) error {
	if path == "-" {
		return errors.New("compare reads results beside histories in files, not standard input (-)")
	}
	found, err := store.Find(ctx, path, store.Options{Warn: func(what string) { k.warn(path, what) }})
	if err != nil {
		return err
	}
	for _, s := range found {
		if s.Member() {
			return fmt.Errorf("%s: compare reads directories, not archives; unpack it first", path)
		}
		k.jobs = append(k.jobs, newJob(k.found(s, nil)))
	}
	return nil
}

// isPrint reports whether --knossos names what Knossos printed, and not a command.
func (k *comparer) isPrint() bool {
	if k.knossos == "-" {
		return true
	}
	info, err := os.Stat(k.knossos)
	return err == nil && !info.IsDir() && info.Mode()&0o111 == 0
}

// findTable adds the histories of a table, in its order, each once.
func (k *comparer) findTable(ctx context.Context, path, dir string) error {
	var rows []store.TableRow
	err := k.listed(ctx, "--verdicts", path, dir, func(in io.Reader) (err error) {
		rows, err = store.ReadTable(in, path)
		return err
	})
	if err != nil {
		return err
	}
	jobOf := k.below(cmp.Or(dir, filepath.Dir(path)))
	for _, row := range rows {
		j := jobOf(row.File)
		j.claims = append(j.claims, row.Claim)
	}
	return nil
}

// findPrinted adds the histories about which Knossos printed something, in its order, each once.
func (k *comparer) findPrinted(ctx context.Context, path, dir string) error {
	var printed []prints.Print
	var notes []string
	err := k.listed(ctx, "--knossos", path, dir, func(in io.Reader) (err error) {
		printed, notes, err = prints.Read(in, outputs.Called(path))
		return err
	})
	if err != nil {
		return err
	}
	k.warn(path, notes...)
	beside := "."
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		beside = filepath.Dir(path)
	}
	jobOf := k.below(cmp.Or(dir, beside))
	for _, p := range printed {
		j := jobOf(p.File)
		j.prints = append(j.prints, p)
	}
	return nil
}

// listed reads a list of results that a flag names. Its files are in a folder, if one is given.
func (k *comparer) listed(ctx context.Context, flag, path, dir string, read func(io.Reader) error) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s needs a folder, and %s is a file", flag, dir)
	}
	if path == "-" {
		return read(limits.Reader(ctx, k.stdin, k.Memory))
	}
	f, err := files.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(limits.Reader(ctx, f, k.Memory))
}

// below returns a function that returns the job of a file in a folder, and adds it if it is new.
func (k *comparer) below(dir string) func(file string) *job {
	of := map[string]*job{}
	return func(file string) *job {
		j := of[file]
		if j == nil {
			path := file
			if !filepath.IsAbs(file) {
				path = filepath.Join(dir, file)
			}
			j = newJob(k.found(store.File(path), nil))
			of[file] = j
			k.jobs = append(k.jobs, j)
		}
		return j
	}
}

// run compares every history and prints the answers in order. It returns the exit status.
func (k *comparer) run(ctx context.Context) (int, error) {
	k.progress = progress.New(k.stderr, len(k.jobs))
	if _, err := k.all(ctx, k.jobs, doing{do: k.compare, waits: true}); err != nil {
		k.loseLast(ctx, err)
		return k.statusNow(), nil
	}
	if t := &k.tally; k.output.Summary {
		results := t.of[agree] + t.of[disagree] + t.of[knossosUnknown] + t.of[notComparable]
		times := ""
		if t.knossosMs > 0 {
			times = fmt.Sprintf("; knossos took %.0f ms, clew %.0f ms", t.knossosMs, t.clewMs)
		}
		k.summarize(ctx, t.summary(text.Count(results, "result"), agree, disagree, knossosUnknown, notComparable)+times+"\n")
	}
	return k.tally.status(), nil
}

// compare compares one history with what is claimed about it. Knossos has limits of its own.
func (k *comparer) compare(ctx context.Context, j *job) answer {
	start, before := time.Now(), j.Took
	a := k.within(ctx, j, doing{do: k.claimed, late: k.late})
	if a.then == nil {
		return a
	}
	j.Took = before + time.Since(start)
	return a.then(ctx)
}

// claimed reads a history and what is claimed about it. It returns the answer, or how to go on to it.
func (k *comparer) claimed(ctx context.Context, j *job) answer {
	if err := k.Read(ctx, j.Job); err != nil {
		return answer{err: err}
	}
	h := j.History
	if j.History = nil; h == nil {
		return k.answer(j, []report.Comparison{{Why: fmt.Sprintf("the history could not be read to its end: %s", j.Stopped)}})
	}
	claims := j.claims
	for _, p := range j.prints {
		claims = append(claims, store.ClaimOf(p, h.Values))
	}
	if claims == nil {
		var err error
		if claims, err = store.ClaimsAbout(ctx, j.Path, k.Memory, h.Values); err != nil && (ctx.Err() != nil || errors.Is(err, limits.ErrOutOfMemory)) {
			return k.late(j, limits.StoppedBy(ctx, err))
		} else if err != nil {
			return answer{err: err}
		}
	}
	return answer{then: func(ctx context.Context) answer {
		if len(claims) == 0 && k.knossos != "" {
			var err error
			if claims, err = k.runKnossos(ctx, j, h); err != nil {
				return answer{err: err}
			}
		}
		return k.within(ctx, j, doing{do: func(ctx context.Context, j *job) answer { return k.compared(ctx, j, h, claims) }, late: k.late})
	}}
}

func (k *comparer) compared(ctx context.Context, j *job, h *jepsen.History, claims []jepsen.Claim) answer {
	if len(claims) == 0 {
		none := report.Comparison{Why: "there is no result of a linearizability checker in a results.edn or test.jepsen beside it"}
		return k.answer(j, []report.Comparison{none})
	}
	o := k.optionsOf(j.Reading)
	o.TimeLimit = 0 // the context has it, for all claims together
	var all []report.Comparison
	var err error
	if !watchdog.Await(ctx, batch.Grace, func() { all, err = clew.Compare(ctx, h, j.Spec, o, claims) }) {
		return k.late(j, limits.Stopped(ctx))
	}
	if err != nil {
		return answer{err: err}
	}
	for i := range all {
		j.TellLevel(all[i].Result)
		var failed *models.Failure
		if errors.As(all[i].Err, &failed) {
			return answer{err: clew.Placed(h, all[i].Err)}
		}
	}
	a := k.answer(j, all)
	a.warnings = h.Warnings
	return a
}

// late returns the answer for a job that has not ended with its context.
func (k *comparer) late(j *job, cause jepsen.Cause) answer {
	return k.answer(j, []report.Comparison{{Why: fmt.Sprintf("clew: %s", cause)}})
}

// answer turns comparisons into an answer: a line or more for each claim.
func (k *comparer) answer(j *job, all []report.Comparison) (a answer) {
	for _, c := range all {
		c.File = j.Path
		a.out += k.output.Compare(&c, &k.shown)
		a.of[outcomeOfClaim[c.Agreement]]++
		if o := outcomeOfClaim[c.Agreement]; j.outcome.Load() != int32(disagree)+1 {
			j.is(o)
		}
		if c.Result != nil && c.Claim.Ms > 0 {
			a.knossosMs += c.Claim.Ms
			a.clewMs += c.Result.Ms
		}
	}
	return a
}

// knossosTime is what Knossos gets if there is no time limit.
const knossosTime = 10 * time.Minute

// runKnossos lets Knossos check a history. It returns an error if the command fails, or prints something that cannot
// be understood. If the command takes too long, the claim is unknown.
func (k *comparer) runKnossos(ctx context.Context, j *job, h *jepsen.History) ([]jepsen.Claim, error) {
	spec, _, err := j.Spec.Infer(h)
	if err != nil {
		return nil, clew.Placed(h, err)
	}
	limit := knossosTime
	if k.TimeLimit > 0 {
		limit = 2 * k.TimeLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", k.knossos+` "$@"`, "sh", "--model", spec.Name, j.Path)
	endWhole(cmd)
	start := time.Now()
	out, err := cmd.Output()
	claim := jepsen.Claim{Checker: "--knossos", Model: spec.Name, Ms: float64(time.Since(start).Microseconds()) / 1000}
	if ctx.Err() != nil {
		return []jepsen.Claim{claim}, nil
	}
	if claims, mapErr := store.ReadClaims(strings.NewReader(string(out)), j.Path, h.Values); mapErr == nil && len(claims) == 1 {
		claims[0].Checker, claims[0].Ms = claim.Checker, claim.Ms
		return claims, nil
	}
	if printed, _, printErr := prints.Read(strings.NewReader(string(out)), j.Path); printErr == nil {
		if c := store.ClaimOf(printed[0], h.Values); c.Lost == "" {
			c.Checker, c.Model, c.Ms, c.FromDefault = claim.Checker, cmp.Or(c.Model, claim.Model), claim.Ms, false
			return []jepsen.Claim{c}, nil
		}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: --knossos: %w: %s", j.Path, err, endOf(string(exit.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: --knossos: %w", j.Path, err)
	}
	return nil, fmt.Errorf("%s: --knossos: expected a result map or FILE<TAB>true, found %q", j.Path, firstLine(string(out)))
}

// endOf returns the end of what a command printed, in one line.
func endOf(s string) string {
	const most, length = 5, 500
	lines := strings.FieldsFunc(s, func(c rune) bool { return c == '\n' || c == '\r' })
	s = strings.Join(lines[max(0, len(lines)-most):], "; ")
	if len(s) > length {
		s = "…" + strings.ToValidUTF8(s[len(s)-length:], "")
	}
	return text.Line(cmp.Or(s, "it printed nothing on standard error"))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 100 {
		s = s[:100]
	}
	return s
}
