package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

const checkHelp = `Reads each history and says whether it is linearizable. A PATH is a history
(.edn or the .log form, plain, .gz or .zst; told apart by content), - for
standard input, or a directory: every history.edn below it, or else every .edn.

Examples:
   clew check store/latest/history.edn
   clew check --model cas-register --init 0 history.edn
   clew check --output json store/ | jq -r 'select(.valid == false) | .file'
   xzcat history.edn.xz | clew check --model mutex -

Exit status: 0 all valid, 1 some invalid, 2 some unknown, 254 bad arguments or
some input unreadable, 255 a bug in clew; the first that applies of 255, 1, 254,
2, 0.`

func checkCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "check",
		Usage:       "check histories",
		ArgsUsage:   "PATH...",
		Description: checkHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Usage: "the `MODEL` (clew models lists them); inferred from the :f's where it is not given"},
			&cli.StringFlag{Name: "init", Usage: "the initial value, as `EDN`"},
			choiceFlag("nil-reads", "any", "exact", "what a read of nil says: nothing (`any`), or that it saw nil (exact)"),
			choiceFlag("failed-cas", "ignore", "observe", "what a failed cas says: nothing (`ignore`), or that it saw another value (observe)"),
			choiceFlag("semantics", "jepsen", "knossos", "how values are read: `jepsen`, or as Knossos does (knossos)"),
			&cli.StringFlag{Name: "algorithm", Value: "auto", Usage: "`NAME`: " + strings.Join(clew.Algorithms, ", ")},
			&cli.DurationFlag{Name: "time-limit", Usage: "give up on a history after `DURATION`, such as 30s or 5m"},
			&cli.StringFlag{Name: "memory-limit", Usage: "what all searches together may use, such as 512MB or 8GB (default: half of what is available)"},
			&cli.StringFlag{Name: "output", Value: "text", Usage: "`FORMAT`: text, edn or json (one result a line)"},
			&cli.BoolFlag{Name: "stdin-is-lifeline", Usage: "end when standard input closes"},
		},
		Action: func(c *cli.Context) error {
			k, paths, err := newChecker(c, stdout, stderr)
			if err != nil {
				return err
			}
			*status, err = k.run(c.Context, paths)
			return err
		},
	}
}

// choiceFlag is a flag with two values, the first the default.
func choiceFlag(name, normal, other, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Value: normal, Usage: usage, Action: func(_ *cli.Context, s string) error {
		if s != normal && s != other {
			return fmt.Errorf("--%s is %s or %s, not %q", name, normal, other, s)
		}
		return nil
	}}
}

// checker is one run of clew check.
type checker struct {
	spec           models.Spec
	options        clew.Options
	output         string
	stdout, stderr io.Writer
	lifeline       bool
	progress       *progress
}

func newChecker(c *cli.Context, stdout, stderr io.Writer) (*checker, []string, error) {
	k := &checker{
		spec: models.Spec{
			Name:             c.String("model"),
			Init:             c.String("init"),
			NilReadsExact:    c.String("nil-reads") == "exact",
			ObserveFailedCAS: c.String("failed-cas") == "observe",
			Knossos:          c.String("semantics") == "knossos",
		},
		options:  clew.Options{Algorithm: c.String("algorithm"), TimeLimit: c.Duration("time-limit")},
		output:   c.String("output"),
		stdout:   stdout,
		stderr:   stderr,
		lifeline: c.Bool("stdin-is-lifeline"),
	}
	switch {
	case !c.Args().Present():
		return nil, nil, errors.New("no history given; clew check --help shows how")
	case k.output != "text" && k.output != "edn" && k.output != "json":
		return nil, nil, fmt.Errorf("--output is text, edn or json, not %q", k.output)
	case c.IsSet("time-limit") && k.options.TimeLimit <= 0:
		return nil, nil, fmt.Errorf("--time-limit is a positive duration, not %s", k.options.TimeLimit)
	case k.lifeline && contains(c.Args().Slice(), "-"):
		return nil, nil, errors.New("--stdin-is-lifeline does not go together with reading a history from standard input (-)")
	}
	if err := clew.CheckAlgorithm(k.options.Algorithm); err != nil {
		return nil, nil, err
	}
	if k.spec.Name != "" {
		if err := k.spec.Check(); err != nil {
			return nil, nil, err
		}
	}
	limit, err := memoryLimit(c.String("memory-limit"))
	if err != nil {
		return nil, nil, err
	}
	k.options.Memory = fallback.NewBudget(limit)
	return k, c.Args().Slice(), nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// answer is what became of one history.
type answer struct {
	result *jepsen.Result
	err    error // it is unreadable
	bug    any   // clew panicked
}

// run checks every history below the paths, several at once, and prints the
// answers in order. It returns the exit status.
func (k *checker) run(ctx context.Context, paths []string) (int, error) {
	if k.lifeline {
		watchLifeline(k.stderr)
	}
	var files []string
	broken := map[string]error{}
	for _, path := range paths {
		found, err := jepsen.Find(path)
		if err != nil {
			found, broken[path] = []string{path}, err
		}
		files = append(files, found...)
	}
	k.progress = newProgress(k.stderr, len(files))
	defer k.progress.stop()
	if len(files) == 1 {
		k.options.Passed = &k.progress.passed
	}
	answers := make([]chan answer, len(files))
	for i := range answers {
		answers[i] = make(chan answer, 1)
	}
	go k.work(ctx, files, broken, answers)
	var t tally
	for i := range files {
		a := <-answers[i]
		answers[i] = nil
		if err := k.report(files[i], a, &t); err != nil {
			return 0, err
		}
		k.progress.file()
	}
	if k.output == "text" && len(files) > 1 {
		k.progress.stop()
		fmt.Fprintf(k.stdout, "%d histories: %d valid, %d invalid, %d unknown, %d unreadable\n",
			len(files), t.valid, t.invalid, t.unknown, t.unreadable)
	}
	return t.status(), nil
}

// work checks the files with as many goroutines as there are processors.
func (k *checker) work(ctx context.Context, files []string, broken map[string]error, answers []chan answer) {
	next := make(chan int)
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range next {
				answers[i] <- k.check(ctx, files[i], broken[files[i]])
			}
		}()
	}
	for i := range files {
		next <- i
	}
	close(next)
	group.Wait()
}

// check reads and checks one history.
func (k *checker) check(ctx context.Context, file string, broken error) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{bug: p}
		}
	}()
	if broken != nil {
		return answer{err: broken}
	}
	start := time.Now()
	h, err := jepsen.ReadFile(file, jepsen.Options{AnyFailedF: k.spec.Knossos})
	if err != nil {
		return answer{err: err}
	}
	k.progress.operations(h.Operations())
	spec, inferred := k.spec, false
	if spec.Name == "" {
		if spec.Name, err = models.Infer(h); err != nil {
			return answer{err: fmt.Errorf("%s: %w", h.File, err)}
		}
		inferred = true
	}
	r, err := clew.Check(ctx, h, spec, k.options)
	if err != nil {
		return answer{err: err}
	}
	r.File, r.Inferred = file, inferred
	r.Ms = float64(time.Since(start).Microseconds()) / 1000
	return answer{result: r}
}

// tally counts the verdicts.
type tally struct{ valid, invalid, unknown, unreadable, bugs int }

func (t *tally) status() int {
	switch {
	case t.bugs > 0:
		return exitBug
	case t.invalid > 0:
		return exitInvalid
	case t.unreadable > 0:
		return exitUsage
	case t.unknown > 0:
		return exitUnknown
	}
	return exitValid
}

// report prints one answer: results to standard output, what went wrong to
// standard error as well.
func (k *checker) report(file string, a answer, t *tally) error {
	k.progress.clear()
	r := a.result
	switch {
	case a.bug != nil:
		t.bugs++
		reportBug(k.stderr, fmt.Sprintf("%s: %v", file, a.bug))
		return nil
	case a.err != nil:
		t.unreadable++
		fmt.Fprintln(k.stderr, "clew:", a.err)
		if k.output == "text" {
			return nil
		}
		r = &jepsen.Result{File: file, Model: k.spec.Name, Init: k.spec.Init, Cause: "unreadable", Error: a.err.Error()}
	case r.Verdict == jepsen.Valid:
		t.valid++
	case r.Verdict == jepsen.Invalid:
		t.invalid++
	default:
		t.unknown++
	}
	if r.History != nil {
		for _, w := range r.History.Warnings {
			fmt.Fprintf(k.stderr, "clew: %s: warning: %s\n", file, w)
		}
	}
	return k.print(r)
}

func (k *checker) print(r *jepsen.Result) error {
	var err error
	switch k.output {
	case "edn":
		_, err = fmt.Fprintln(k.stdout, r.EDN())
	case "json":
		var line []byte
		if line, err = json.Marshal(r); err == nil {
			_, err = fmt.Fprintf(k.stdout, "%s\n", line)
		}
	default:
		_, err = io.WriteString(k.stdout, r.Text())
	}
	return err
}

// watchLifeline ends the process when standard input closes: whoever started it
// has gone.
func watchLifeline(stderr io.Writer) {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		fmt.Fprintln(stderr, "clew: standard input closed; ending")
		os.Exit(exitUnknown)
	}()
}
