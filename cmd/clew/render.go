package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/batch"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

const renderHelp = `Draws a history around its failure or another event. RESULT is what clew check
--output edn printed for the history, or a result map of Knossos or Elle, such as a
results.edn with anomalies of transactions. Without RESULT the
history is checked again, and the picture also shows where operations take effect,
and the states after that.

Examples:
   clew render -o failure.svg history.edn
   clew render -o failure.svg --scale time history.edn result.edn
   clew render -o failure.html history.edn result.edn
   clew render -o around.svg --around 983 --rows 20 --model cas-register history.edn

Exit status: 0, or 254 for bad arguments, unreadable input or an output that
cannot be written, or if a limit or a signal came first.`

func renderCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "render",
		Usage:       "draw a history around its failure or another event",
		ArgsUsage:   "HISTORY [RESULT]",
		Description: renderHelp,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "o", Usage: "write to `FILE`; its extension selects the form: " + text.OneOf(outputs.Drawn())},
			&cli.Int64Flag{Name: "around", DefaultText: "the failure", Usage: "draw what is around the event with `INDEX`"},
			&cli.IntFlag{Name: "rows", Value: report.DefaultRows, Usage: "draw at most `N` processes, and five times as many operations"},
			&cli.StringFlag{Name: "scale", Value: "order", Usage: "`SCALE` of distances: order of events, or time"},
		}, modelFlags(), searchFlags()),
		Action: func(c *cli.Context) error {
			k := &renderer{runner: runner{stdout: stdout, stderr: stderr}, history: c.Args().Get(0), result: c.Args().Get(1)}
			ctx, end := k.begin(c)
			defer end()
			k.Dog.Knows(func() int { return exitUsage })
			stopped, err := k.First(ctx, func(context.Context) error { return k.given(c) })
			switch {
			case stopped != "":
				return fmt.Errorf("the arguments were not read to their end: %s", stopped)
			case err != nil:
				return err
			}
			return k.render(ctx)
		},
	}
}

type renderer struct {
	runner
	history, result, name string
	output                *files.Output
	how                   outputs.EvidenceOptions
	kind                  outputs.Evidence // what it draws
}

func (k *renderer) given(c *cli.Context) error {
	out, scale := c.String("o"), c.String("scale")
	var drawn bool
	switch k.kind, drawn = outputs.DrawnAs(filepath.Ext(out)); {
	case c.NArg() < 1 || c.NArg() > 2:
		return errors.New("render takes a history, and its result if there is one; clew render --help shows how")
	case k.history == "-" && k.result == "-":
		return errors.New("standard input (-) can be read only once")
	case !drawn:
		return fmt.Errorf("render needs -o with a FILE that ends in %s, not %q", text.OneOf(outputs.Drawn()), out)
	case c.Int("rows") < 1:
		return fmt.Errorf("--rows must be a number of at least 1, not %d", c.Int("rows"))
	case scale != "order" && scale != "time":
		return fmt.Errorf("--scale must be order or time, not %q", scale)
	}
	k.how.Window = report.WindowOptions{Rows: c.Int("rows"), ByTime: scale == "time"}
	if index := c.Int64("around"); c.IsSet("around") {
		k.how.Window.Around = &index
	}
	var err error
	if k.reading, err = store.NewReading(given(c)); err != nil {
		return err
	}
	if k.options, k.Memory, err = searchOptions(c); err != nil {
		return err
	}
	k.name, k.output = "-o "+out, files.To(out, k.stdout, k.stderr)
	inputs := files.Set{}
	inputs.Add(k.history)
	inputs.Add(k.result)
	inputs.Add(k.reading.ModelFile)
	return cmp.Or(batch.Apart(k.name, k.output, inputs), batch.Foreign(k.name, k.output, k.kind.Head))
}

func (k *renderer) render(ctx context.Context) error {
	if err := k.output.Probe(); err != nil {
		return fmt.Errorf("%s: %w", k.name, err)
	}
	var written error
	stopped, err := k.alone(ctx, func(ctx context.Context) error {
		r, err := k.resultOf(ctx)
		if err != nil {
			return err
		}
		if r.Verdict == jepsen.Unknown && k.how.Window.Around == nil {
			return fmt.Errorf("%s is undecided (%s), so it has no failure to draw; --around INDEX draws another event", text.Line(k.history), r.Cause)
		}
		write, err := k.kind.Writer(ctx, r, &k.how)
		if err != nil {
			return err
		}
		written = batch.WriteWithin(ctx, k.output, write)
		return nil
	})
	switch {
	case stopped != "":
		return fmt.Errorf("%s is not drawn: %s", text.Line(k.history), stopped)
	case err != nil:
		return err
	case written != nil:
		return fmt.Errorf("%s: %w", k.name, written)
	}
	return nil
}

// resultOf returns the result that is given, or that of a new check.
func (k *renderer) resultOf(ctx context.Context) (*report.Result, error) {
	h, how, err := k.readFile(ctx, k.history)
	if err != nil {
		return nil, err
	}
	for _, w := range h.Warnings {
		fmt.Fprintf(k.stderr, "clew: %s: warning: %s\n", text.Line(outputs.Called(k.history)), text.Line(w))
	}
	if k.result == "" {
		options := k.optionsOf(how)
		options.TimeLimit = 0 // the context has it
		r, err := clew.Check(ctx, h, how.Spec, options)
		if err != nil {
			return nil, clew.Placed(h, err)
		}
		r.File = k.history
		return r, nil
	}
	in, name, err := k.open(k.result)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return clew.ReadResult(ctx, limits.Reader(ctx, in, k.Memory), name, h, how.Spec)
}
