package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
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
		Flags: append(modelFlags(),
			&cli.StringFlag{Name: "algorithm", Value: "auto", Usage: "`NAME`: " + strings.Join(clew.Algorithms, ", ")},
			&cli.DurationFlag{Name: "time-limit", DefaultText: "none", Usage: "give up on a history after `DURATION`, such as 30s or 5m"},
			&cli.StringFlag{Name: "memory-limit", DefaultText: "half of what is available", Usage: "what all searches together may use: a `SIZE` such as 512MB or 8GB"},
			&cli.StringFlag{Name: "output", Value: "text", Usage: "`FORMAT`: text, edn or json (one result a line)"},
			&cli.StringFlag{Name: "witness", Usage: "write the linearization of a valid history to `FILE`: its op maps in order (clew verify replays it)"},
			&cli.StringFlag{Name: "core", Usage: "write the few operations of an invalid history that fail by themselves to `FILE`, as a history"},
			&cli.StringFlag{Name: "svg", Usage: "draw the operations around the failure of an invalid history to `FILE`"},
			&cli.BoolFlag{Name: "verify", Usage: "check the evidence again: replay the witness, have the core decided by another engine"},
			&cli.BoolFlag{Name: "stdin-is-lifeline", Usage: "end when standard input closes"},
		),
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

// checker is one run of clew check.
type checker struct {
	spec           models.Spec
	options        clew.Options
	output         string
	stdout, stderr io.Writer
	lifeline       bool
	progress       *progress

	witness, core, svg string // files for the evidence, "" for none
}

func newChecker(c *cli.Context, stdout, stderr io.Writer) (*checker, []string, error) {
	spec, err := modelSpec(c)
	if err != nil {
		return nil, nil, err
	}
	k := &checker{
		spec: spec,
		options: clew.Options{
			Algorithm:   c.String("algorithm"),
			TimeLimit:   c.Duration("time-limit"),
			Independent: c.Bool("independent"),
			Verify:      c.Bool("verify"),
		},
		output:   c.String("output"),
		stdout:   stdout,
		stderr:   stderr,
		lifeline: c.Bool("stdin-is-lifeline"),
		witness:  c.String("witness"),
		core:     c.String("core"),
		svg:      c.String("svg"),
	}
	switch {
	case !c.Args().Present():
		return nil, nil, errors.New("no history given; clew check --help shows how")
	case k.output != "text" && k.output != "edn" && k.output != "json":
		return nil, nil, fmt.Errorf("--output is text, edn or json, not %q", k.output)
	case c.IsSet("time-limit") && k.options.TimeLimit <= 0:
		return nil, nil, fmt.Errorf("--time-limit is a positive duration, not %s", k.options.TimeLimit)
	case count(c.Args().Slice(), "-") > 1:
		return nil, nil, errors.New("standard input (-) can be read only once")
	case k.lifeline && count(c.Args().Slice(), "-") > 0:
		return nil, nil, errors.New("--stdin-is-lifeline does not go together with reading a history from standard input (-)")
	}
	if err := clew.CheckAlgorithm(k.options.Algorithm); err != nil {
		return nil, nil, err
	}
	limit, err := memoryLimit(c.String("memory-limit"))
	if err != nil {
		return nil, nil, err
	}
	k.options.Memory = fallback.NewBudget(limit)
	return k, c.Args().Slice(), nil
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

// answer is what became of one history.
type answer struct {
	result *jepsen.Result
	err    error  // it is unreadable
	bug    string // clew panicked
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
			// Of a directory, what can be read is checked all the same.
			found, broken[path] = append(found, path), err
		}
		files = append(files, found...)
	}
	if len(files) != 1 && k.witness+k.core+k.svg != "" {
		return 0, fmt.Errorf("--witness, --core and --svg are for a single history, not for %d", len(files))
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
			a = answer{bug: fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	if broken != nil {
		return answer{err: broken}
	}
	start := time.Now()
	h, err := k.read(ctx, file)
	if err != nil {
		return answer{err: err}
	}
	if h == nil {
		return answer{result: &jepsen.Result{File: file, Model: k.spec.Name, Init: k.spec.Init, Cause: "interrupted"}}
	}
	k.progress.operations(h.Operations())
	r, err := clew.Check(ctx, h, k.spec, k.options)
	if err != nil {
		return answer{err: located(h, err)}
	}
	r.File = file
	r.Ms = float64(time.Since(start).Microseconds()) / 1000
	return answer{result: r}
}

// read reads a history, nil if it is interrupted. The reading goes on then, but
// nobody waits for it: standard input may never end.
func (k *checker) read(ctx context.Context, file string) (*jepsen.History, error) {
	type outcome struct {
		h     *jepsen.History
		err   error
		panic any
	}
	done := make(chan outcome, 1)
	if ctx.Err() != nil {
		return nil, nil
	}
	go func() {
		var o outcome
		defer func() {
			o.panic = recover()
			done <- o
		}()
		o.h, o.err = jepsen.ReadFile(file, readOptions(k.spec))
	}()
	select {
	case <-ctx.Done():
		return nil, nil
	case o := <-done:
		if o.panic != nil {
			panic(o.panic)
		}
		return o.h, o.err
	}
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
	case a.bug != "":
		t.bugs++
		reportBug(k.stderr, file+": "+a.bug)
		return nil
	case a.err != nil:
		t.unreadable++
		fmt.Fprintln(k.stderr, "clew:", strings.ReplaceAll(a.err.Error(), "\n", "\nclew: "))
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
	if err := k.evidence(r); err != nil {
		return err
	}
	return k.print(r)
}

// evidence writes the files that were asked for.
func (k *checker) evidence(r *jepsen.Result) error {
	for _, e := range []struct {
		flag, path string
		verdict    jepsen.Verdict
		write      func(io.Writer) error
	}{
		{"--witness", k.witness, jepsen.Valid, r.WriteWitness},
		{"--core", k.core, jepsen.Invalid, r.FirstFailing().WriteCore},
		{"--svg", k.svg, jepsen.Invalid, r.FirstFailing().WriteSVG},
	} {
		switch {
		case e.path == "":
		case r.Verdict != e.verdict:
			fmt.Fprintf(k.stderr, "clew: %s: nothing to write for %s: the history is %s\n", r.File, e.flag, r.Verdict)
		case r.Verdict == jepsen.Valid && r.Witness == nil:
			fmt.Fprintf(k.stderr, "clew: %s: nothing to write for %s: operations without a key take effect once for every key\n", r.File, e.flag)
		default:
			if err := writeWhole(e.path, e.write); err != nil {
				return fmt.Errorf("%s %s: %w", e.flag, e.path, err)
			}
		}
	}
	return nil
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
