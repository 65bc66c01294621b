package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

const checkHelp = `Reads each history and says whether it is linearizable. A PATH is a history
(EDN, JSON, the .log form or another that clew convert knows, plain, .gz or
.zst; told apart by content), - for standard input, or a directory or an archive
of them (.tar, .tar.gz, .tar.zst, .zip), such as a store: every history.edn in
it, or else every .edn.

Examples:
   clew check store/latest/history.edn
   clew check --model cas-register --init 0 history.edn
   clew check store/                       # a table and a summary
   clew check --models tests.edn old-stores.tar.gz
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
			algorithmFlag(), depthFlag(), timeLimitFlag(), memoryLimitFlag(),
			&cli.StringFlag{Name: "output", Value: "text", Usage: "`FORMAT`: text, edn or json (one result a line)"},
			&cli.StringFlag{Name: "witness", Usage: "write the linearization of a valid history to `FILE`: its op maps in order (clew verify replays it)"},
			&cli.StringFlag{Name: "core", Usage: "write the few operations of an invalid history that fail by themselves to `FILE`, as a history"},
			&cli.StringFlag{Name: "svg", Usage: "draw the operations around the failure of an invalid history to `FILE`"},
			&cli.StringFlag{Name: "models", Usage: "which model each test of a store has: an EDN map in `FILE`, such as {\"etcd\" {:model :cas-register :init 0}}"},
			&cli.BoolFlag{Name: "fail-fast", Usage: "stop at the first invalid history"},
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
	memory         int64         // bytes that all searches together may use
	table          *report.Table // nil: a text for each history
	models         storeModels   // by the test's name
	failFast       bool

	witness, core, svg string // files for the evidence, "" for none
}

func newChecker(c *cli.Context, stdout, stderr io.Writer) (*checker, []string, error) {
	spec, err := modelSpec(c)
	if err != nil {
		return nil, nil, err
	}
	k := &checker{
		spec:     spec,
		output:   c.String("output"),
		stdout:   stdout,
		stderr:   stderr,
		lifeline: c.Bool("stdin-is-lifeline"),
		witness:  c.String("witness"),
		core:     c.String("core"),
		svg:      c.String("svg"),
		failFast: c.Bool("fail-fast"),
	}
	switch {
	case !c.Args().Present():
		return nil, nil, errors.New("no history given; clew check --help shows how")
	case k.output != "text" && k.output != "edn" && k.output != "json":
		return nil, nil, fmt.Errorf("--output is text, edn or json, not %q", k.output)
	case count(c.Args().Slice(), "-") > 1:
		return nil, nil, errors.New("standard input (-) can be read only once")
	case k.lifeline && count(c.Args().Slice(), "-") > 0:
		return nil, nil, errors.New("--stdin-is-lifeline does not go together with reading a history from standard input (-)")
	}
	if k.options, err = searchOptions(c); err != nil {
		return nil, nil, err
	}
	k.options.Verify = c.Bool("verify")
	if file := c.String("models"); file != "" {
		if k.models, err = readStoreModels(file, c); err != nil {
			return nil, nil, err
		}
	}
	if k.memory, err = memoryLimit(c.String("memory-limit")); err != nil {
		return nil, nil, err
	}
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
func (k *checker) report(j *job, a answer, t *tally) error {
	k.progress.clear()
	switch {
	case a.bug != "":
		t.bugs++
		reportBug(k.stderr, j.Path+": "+a.bug)
		return nil
	case a.err != nil:
		t.unreadable++
		fmt.Fprintln(k.stderr, "clew:", strings.ReplaceAll(a.err.Error(), "\n", "\nclew: "))
		a.out = k.render(j, &report.Result{File: j.Path, Model: j.spec.Name, Init: j.spec.Init, Cause: jepsen.Unreadable, Error: a.err.Error()})
	case a.verdict == jepsen.Valid:
		t.valid++
	case a.verdict == jepsen.Invalid:
		t.invalid++
	default:
		t.unknown++
	}
	for _, w := range a.warnings {
		fmt.Fprintf(k.stderr, "clew: %s: warning: %s\n", j.Path, w)
	}
	if a.result != nil {
		if err := k.evidence(a.result); err != nil {
			return err
		}
	}
	_, err := io.WriteString(k.stdout, a.out)
	return err
}

// evidence writes the files that were asked for.
func (k *checker) evidence(r *report.Result) error {
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

// render is what standard output says of a result.
func (k *checker) render(j *job, r *report.Result) string {
	switch {
	case k.table != nil:
		return k.table.Row(j.Source, r)
	case k.output == "edn":
		return r.EDN() + "\n"
	case k.output == "json":
		line, err := json.Marshal(r)
		if err != nil {
			panic(err) // a result is numbers and text
		}
		return string(line) + "\n"
	case r.Cause == jepsen.Unreadable:
		return "" // standard error has it
	}
	return r.Text()
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
