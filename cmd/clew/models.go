package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/store"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
)

const modelsHelp = `Lists the models, or describes those that are named (docs/models.md has the
details). With --check it checks a model file: it decides every example, and compares
the verdict with the one in the file. It also calls the file's label of every operation.

Examples:
   clew models
   clew models semaphore
   clew models --check counter.star

Exit status: 0, 1 some example has another verdict, 254 bad arguments or a
file that is not a model.`

func modelsCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "models",
		Usage:       "list the models, or check one of your own",
		ArgsUsage:   "[MODEL...]",
		Description: modelsHelp,
		Flags:       []cli.Flag{&cli.StringFlag{Name: "check", Usage: "run the examples of a model `FILE`"}},
		Action: func(c *cli.Context) (err error) {
			if c.IsSet("check") {
				*status, err = checkModel(c.Context, stdout, stderr, c.String("check"))
				return err
			}
			if c.Args().Present() {
				return describeModels(stdout, c.Args().Slice())
			}
			return listModels(stdout)
		},
	}
}

func listModels(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range models.All() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", m.Name, m.About, m.Fs) // the longest comes last: terminals are narrow
	}
	return t.Flush()
}

// describeModels prints what is known about some models, and which flags they take.
func describeModels(w io.Writer, named []string) error {
	for i, name := range named {
		d, err := models.Describe(name)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s\n  %s\n", d.Name, d.About, d.Fs)
		if d.Notes != "" {
			fmt.Fprintf(w, "  %s\n", d.Notes)
		}
		fmt.Fprintln(w)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, flag := range modelFlags() {
			name := flag.Names()[0]
			if p := models.Param(name); p != models.ParamModel && d.Takes(p) {
				usage := flag.(cli.DocGenerationFlag).GetUsage()
				fmt.Fprintf(t, "  --%s\t%s\n", name, strings.ReplaceAll(usage, "`", ""))
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func init() {
	store.ModelFile = func(file string) (models.Spec, error) {
		f, err := modelfile.Load(file)
		if err != nil {
			return models.Spec{}, err
		}
		return models.Own(f.Definition()), nil
	}
}

// checkModel runs the examples of a model file and prints a table. It returns the exit status.
func checkModel(ctx context.Context, stdout, stderr io.Writer, file string) (status int, err error) {
	f, err := modelfile.Load(file)
	if err != nil {
		return 0, err
	}
	f.Print = stderr
	if len(f.Examples()) == 0 {
		return 0, fmt.Errorf(`%s: it has no examples; expected some, such as examples = [{"ops": [("read", None, 0)], "valid": True}]`, file)
	}
	if !slices.ContainsFunc(f.Examples(), func(x *modelfile.Example) bool { return !x.Valid }) {
		fmt.Fprintf(stderr, "clew: %s: warning: no example is invalid, so a model that refuses nothing passes them all; add one with \"valid\": False\n", text.Line(file))
	}
	spec := models.Own(f.Definition())
	t := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "EXAMPLE\tEXPECTED\tCLEW")
	wrong := 0
	for i, x := range f.Examples() {
		h, err := x.History()
		if err != nil {
			return 0, fmt.Errorf("%s: example %d: %w", file, i+1, err)
		}
		r, err := clew.Check(ctx, h, spec, clew.Options{})
		if err == nil {
			err = spec.Unlabeled(ctx, h, operations(h))
		}
		if err == nil && r.Unsaid != "" {
			err = errors.New(r.Unsaid)
		}
		if err != nil {
			return 0, fmt.Errorf("example %d: %w", i+1, err)
		}
		expected := jepsen.Invalid
		if x.Valid {
			expected = jepsen.Valid
		}
		remark := ""
		if r.Verdict != expected {
			wrong++
			if remark = "\tWRONG"; r.Explanation != "" {
				remark += ": " + text.Line(r.Explanation)
			}
		}
		fmt.Fprintf(t, "%d %s\t%v\t%v%s\n", i+1, text.Line(x.Name), expected, r.Verdict, remark)
	}
	for _, w := range f.Warnings() {
		fmt.Fprintf(stderr, "clew: %s: warning: %s\n", text.Line(file), w)
	}
	if err := t.Flush(); err != nil {
		return 0, err
	}
	_, err = fmt.Fprintf(stdout, "%d examples: %d as expected, %d wrong\n", len(f.Examples()), len(f.Examples())-wrong, wrong)
	if wrong > 0 {
		status = exitInvalid
	}
	return status, err
}

// operations returns all operations of a history.
func operations(h *jepsen.History) (all []jepsen.Operation) {
	for op := range jepsen.Operation(h.Operations()) {
		all = append(all, op)
	}
	return all
}
