package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"clew/internal/batch"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/internal/text"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/jepsen/forms"
)

const convertHelp = `Writes a history in another form, to standard output or to a file, whole or not
at all. FILE is a history (plain, .gz or .zst), or - for standard input.

   edn       op maps as Jepsen writes them, one per line
   jsonl     JSON objects, one per line; json: one array of them. "type" and "f"
             are strings; what JSON cannot express is {"edn": "TEXT"}
   log       INFO  jepsen.util - 0 :invoke :read nil
   fastlin   METHOD VALUE START END            queues, stacks, priority queues, sets
   fptlin    PROCESS START END METHOD VALUE    and registers with :cas alone
   limo      [THREAD] call push(1), [THREAD] return: queues and stacks
   intervals {"process":0,"f":"write","value":1,"call":0,"return":2}, one per line

A test.jepsen, in which Jepsen stores a test, can be read but not written.

EDN and JSON hold everything. If another form cannot hold an event, an error names
the event, such as a crashed operation in fastlin.

Examples:
   clew convert --to jsonl history.edn | jq -c 'select(.type == "fail")'
   clew convert --to edn -o history.edn history.json
   clew convert --from log --to edn jepsen.log
   clew convert --to edn -o converted/history.edn test.jepsen

Exit status: 0, or 254 for bad arguments, unreadable input, or a history that the
form cannot hold, or if a limit or a signal came first.`

func convertCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "convert",
		Usage:       "write a history in another form",
		ArgsUsage:   "FILE",
		Description: convertHelp,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the `FORM` to write: " + forms.Names(forms.All)},
			&cli.StringFlag{Name: "from", DefaultText: "detected from the content", Usage: "the `FORM` to read: one of these, or test.jepsen"},
			&cli.StringFlag{Name: "o", Value: "-", DefaultText: "standard output", Usage: "write to `FILE`; - is standard output"},
		}, limitFlags()...),
		Action: func(c *cli.Context) error {
			to, from, err := formFlags(c)
			if err != nil {
				return err
			}
			k := runner{stdout: stdout, stderr: stderr}
			if _, _, err = givenLimits(c); err != nil {
				return err
			}
			ctx, end := k.begin(c)
			defer end()
			k.Dog.Knows(func() int { return exitUsage })
			path, out := c.Args().First(), c.String("o")
			name := map[bool]string{true: "standard output", false: "-o " + out}[out == "-"]
			output := files.To(out, stdout, stderr)
			inputs := files.Set{}
			inputs.Add(path)
			if err := cmp.Or(batch.Apart(name, output, inputs), batch.Alien(name, output, nil)); err != nil {
				return err
			}
			lost, refused := k.convert(ctx, output, path, from, to)
			if lost != nil && refused == nil {
				return fmt.Errorf("%s: %w", name, lost)
			}
			return refused
		},
	}
}

// convert writes a history to an output, within the limits. It returns lost if the output cannot be written, and
// refused if the history cannot be converted.
func (r *runner) convert(ctx context.Context, output *files.Output, path string, from, to forms.Form) (lost, refused error) {
	if err := output.Probe(); err != nil {
		return err, nil
	}
	ctx, done := r.Stage(ctx, r.TimeLimit)
	defer done()
	var failed error // of the history
	lost = batch.UnlessBlocked(ctx, func() error {
		write := func(w io.Writer) (err error) {
			var warnings []string
			warnings, err = r.converted(ctx, limits.Writer(ctx, w), path, from, to)
			for _, line := range warnings {
				fmt.Fprintf(r.stderr, "clew: %s: warning: %s\n", text.Line(outputs.Called(path)), text.Line(line))
			}
			failed = err
			return err
		}
		if output.Through() {
			return printWhole(output, write)
		}
		return output.Write(write)
	})
	if ctx.Err() != nil && lost != nil {
		return limits.WritingStopped(ctx), nil // failed may be about to change
	}
	return lost, failed
}

func formFlags(c *cli.Context) (to, from forms.Form, err error) {
	if c.NArg() != 1 {
		return "", "", errors.New("convert takes one history; clew convert --help shows how")
	}
	if !c.IsSet("to") {
		return "", "", fmt.Errorf("convert needs --to with one of %s", forms.Names(forms.All))
	}
	if to, err = forms.Named(c.String("to"), forms.All); err != nil {
		return "", "", fmt.Errorf("--to: %w", err)
	}
	if c.IsSet("from") {
		if from, err = forms.Named(c.String("from"), forms.Readable); err != nil {
			return "", "", fmt.Errorf("--from: %w", err)
		}
	}
	return to, from, nil
}

// converted writes the history in a file, "-" for standard input, in another form. If it is stopped, the reading may
// go on, but the caller does not wait for it.
func (r *runner) converted(ctx context.Context, w io.Writer, path string, from, to forms.Form) ([]string, error) {
	var warnings []string
	var err error
	if !watchdog.Await(ctx, 0, func() { warnings, err = r.convertedWhole(ctx, w, path, from, to) }) {
		return nil, limits.WritingStopped(ctx)
	}
	return warnings, err
}

// convertedWhole converts the test.jepsen beside a history if that has more events, as clew check reads it instead.
func (r *runner) convertedWhole(ctx context.Context, w io.Writer, path string, from, to forms.Form) ([]string, error) {
	whole, why, err := store.File(path).Whole(ctx, jepsen.Options{Memory: r.Memory})
	if err != nil {
		return nil, err
	}
	if whole.Path != path {
		path, from = whole.Path, ""
	}
	in, name, err := r.open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	warnings, err := forms.ConvertWithin(ctx, r.Memory, w, in, name, from, to)
	if why != "" {
		warnings = append([]string{why}, warnings...)
	}
	return warnings, err
}
