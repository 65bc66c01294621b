package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"clew/internal/batch"
	"clew/internal/doctor"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/internal/terminal"
	"clew/jepsen"
	"clew/report"
)

const doctorHelp = `Says what weakens a test, before its verdict is believed: nothing was read or
written, values repeat, operations hardly overlap or mostly crash, the initial value
or the keys are not known, or the model refuses nothing (docs/doctor.md).

It also shows that the check can fail. It changes the history in N small ways: two
operations return each other's answers, one returns another or an older answer, or
one that succeeded did not happen. If few of these mutants are refuted, a real
error would hardly be found either. The same --seed makes the same mutants.
They are made of 2,000 operations at most: the first ones, or those of some keys.

A PATH is a history or a directory, as for clew check, and is read in the same way.
Whether the history itself is linearizable, clew check says.

Examples:
   clew doctor store/latest/history.edn
   clew doctor --model cas-register --init 0 --mutants 1000 history.edn
   clew doctor --strict store/ || echo some test is weak
   clew doctor --independent --output json store/ | jq -r '.findings[].finding'
   clew gen --model stack --processes 1 | clew doctor --model stack -

Exit status: 0 whatever was found, 254 bad arguments, unreadable input or a signal,
255 a bug in clew. With --strict, for pipelines: 0 all healthy, 1 some weak, 254 as
above or warnings, 2 some undecided; the first that applies of 255, 1, 254, 2, 0.`

// doctorTime bounds the examination of a history unless --time-limit does.
const doctorTime = 10 * time.Second

func doctorCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	limits := limitFlags()
	limits[0] = &cli.DurationFlag{Name: "time-limit", Value: doctorTime, Usage: "give up on a history after `DURATION`, such as 30s or 5m"}
	return &cli.Command{
		Name:        "doctor",
		Usage:       "say what weakens a test, and whether its check can fail",
		ArgsUsage:   "PATH...",
		Description: doctorHelp,
		Flags: slices.Concat(modelFlags(), []cli.Flag{
			&cli.StringFlag{Name: "models", Usage: "read each test's model from `FILE`, an EDN map as for clew check"},
			&cli.IntFlag{Name: "mutants", Value: doctor.DefaultMutants, Usage: "change the history in `N` ways"},
			&cli.BoolFlag{Name: "strict", Usage: "exit with 1 if a test is weak, with 2 if that is undecided, and with 254 if there are warnings"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "another `SEED` makes other mutants"},
		}, limits, []cli.Flag{outputFlag(examinations(), "history")}),
		Action: func(c *cli.Context) error {
			k := &physician{runner: runner{stdout: stdout, stderr: stderr}}
			return k.command(c, status, func(ctx context.Context) error { return k.given(ctx, c) }, func(ctx context.Context) (int, error) {
				return k.run(ctx, c.Args().Slice())
			})
		},
	}
}

// examinations returns the forms that clew doctor has: those that print a comparison for people and for programs.
func examinations() []outputs.Output { return outputs.Compare() }

// outcomeOfTest returns the outcome for a test that is healthy, weak or undecided.
var outcomeOfTest = map[jepsen.Verdict]outcome{jepsen.Valid: healthy, jepsen.Invalid: weak, jepsen.Unknown: unknown}

type physician struct {
	runner
	examine   doctor.Options
	diagnoses sync.Map // by job: its Diagnosis, until it is printed
}

func (k *physician) given(ctx context.Context, c *cli.Context) error {
	k.Decide = k.diagnose
	var err error
	if k.reading, err = store.NewReading(given(c)); err != nil {
		return err
	}
	if k.options, k.Memory, err = searchOptions(c); err != nil {
		return err
	}
	k.strict = c.Bool("strict")
	k.examine = doctor.Options{Mutants: c.Int("mutants"), Seed: c.Uint64("seed")}
	k.output, err = outputs.Find(examinations(), c.String("output"))
	switch k.shown.Look, _ = terminal.Look(k.stdout); {
	case err != nil:
		return err
	case k.examine.Mutants < 1 || k.examine.Mutants > mostMutants:
		return fmt.Errorf("--mutants must be a number from 1 to %d, not %d", mostMutants, k.examine.Mutants)
	case !c.Args().Present():
		return errors.New("no history given; clew doctor --help shows how")
	case count(c.Args().Slice(), "-") > 1:
		return errors.New("standard input (-) can be read only once")
	}
	k.models, err = givenModels(ctx, c, k.Memory)
	return err
}

// mostMutants bounds --mutants.
const mostMutants = 1_000_000

// run examines every history below the paths and prints what it finds in order. It returns the exit status.
func (k *physician) run(ctx context.Context, paths []string) (int, error) {
	found := k.Find(ctx, paths, batch.Search{Job: k.found, Warn: func(path string, what ...string) { k.warn(path, what...) }})
	if err := k.unusedModels(found); err != nil {
		return 0, err
	}
	jobs := make([]*job, len(found))
	for i, j := range found {
		jobs[i] = newJob(j)
	}
	k.newProgress(len(jobs))
	if _, err := k.all(ctx, jobs, doing{do: k.examined, late: k.late}); err != nil {
		k.loseLast(ctx, err)
		return k.statusNow(), nil
	}
	if k.output.Summary && len(jobs) > 1 {
		k.summarize(ctx, k.tally.summary(fmt.Sprintf("%d histories", len(jobs)), healthy, weak, unknown, unreadable)+"\n")
	}
	switch status := k.status(); {
	case k.strict && k.tally.of[weak] > 0 && status != exitBug:
		return exitInvalid, nil
	case status == exitUnknown && k.tally.of[interrupted] > 0:
		return exitUsage, nil
	case status == exitUnknown && !k.strict:
		return exitValid, nil
	default:
		return status, nil
	}
}

// examined reads a history as clew check does, and examines it.
func (k *physician) examined(ctx context.Context, j *job) answer {
	if j.Ahead.Bug != "" {
		return answer{bug: j.Ahead.Bug}
	}
	x := k.Check(ctx, j.Job)
	found, examined := k.diagnoses.LoadAndDelete(j.Job)
	switch {
	case x.Err != nil:
		return k.unreadable(j, x.Err)
	case !examined && x.Result.Cause == jepsen.NotJudged:
		return k.answer(j, doctor.Unread(j.Path, jepsen.NotJudged, errors.New(x.Result.Error)))
	case !examined:
		return k.late(j, x.Result.Cause)
	}
	d := found.(*doctor.Diagnosis)
	d.File, d.ToldBy, d.From = j.Path, x.Result.ToldBy, x.Result.From
	a := k.answer(j, d)
	a.warnings = d.Warnings
	return a
}

// diagnose examines a history where clew check decides it.
func (k *physician) diagnose(ctx context.Context, j *batch.Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
	o := k.examine
	o.Check = k.optionsOf(how)
	d, err := doctor.Examine(ctx, h, how.Spec, o)
	if err != nil {
		return nil, err
	}
	k.diagnoses.Store(j, d)
	return &report.Result{Cause: d.Cause}, nil
}

// late returns the answer for a history that was not examined before its context ended.
func (k *physician) late(j *job, cause jepsen.Cause) answer {
	return k.answer(j, doctor.Unread(j.Path, cause, nil))
}

func (k *physician) unreadable(j *job, err error) answer {
	a := answer{err: err}
	if j.is(unreadable); k.output.For == outputs.Programs {
		a.out = outputs.JSONLine(doctor.Unread(j.Path, jepsen.Unreadable, err))
	}
	return a
}

// answer turns a diagnosis into an answer.
func (k *physician) answer(j *job, d *doctor.Diagnosis) (a answer) {
	if k.output.For == outputs.Programs {
		a.out = outputs.JSONLine(d)
	} else {
		a.out = k.shown.Look.Shown(d.Text())
	}
	o := outcomeOfTest[d.Healthy]
	j.is(o)
	a.of[o]++
	if d.Cause == jepsen.Interrupted {
		a.of[interrupted]++
	}
	return a
}
