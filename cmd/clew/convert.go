package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"clew/internal/files"
	"clew/internal/text"
	"clew/jepsen/forms"
)

const convertHelp = `Writes a history in another form, to standard output or to a file, whole or not
at all. FILE is a history (plain, .gz or .zst), or - for standard input.

   edn       op maps as Jepsen writes them, one a line
   jsonl     JSON objects, one a line; json: one array of them. "type" and "f"
             are strings; what JSON cannot say is {"edn": "TEXT"}
   log       INFO  jepsen.util - 0 :invoke :read nil
   fastlin   METHOD VALUE START END            queues, stacks, priority queues
   fptlin    PROCESS START END METHOD VALUE    and sets
   limo      [THREAD] call push(1), [THREAD] return: queues and stacks

EDN and JSON hold everything. What another form cannot hold is an error that
names the event, such as a crashed operation in fastlin.

Examples:
   clew convert --to jsonl history.edn | jq -c 'select(.type == "fail")'
   clew convert --to edn -o history.edn history.json
   clew convert --from log --to edn jepsen.log

Exit status: 0, or 254 for bad arguments, unreadable input, or a history that the
form cannot hold.`

func convertCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "convert",
		Usage:       "write a history in another form",
		ArgsUsage:   "FILE",
		Description: convertHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the `FORM` to write: " + forms.Names()},
			&cli.StringFlag{Name: "from", DefaultText: "told by the content", Usage: "the `FORM` to read"},
			&cli.StringFlag{Name: "o", DefaultText: "standard output", Usage: "write to `FILE`; - is standard output"},
		},
		Action: func(c *cli.Context) error {
			to, from, err := formFlags(c)
			if err != nil {
				return err
			}
			path, out := c.Args().First(), cmp.Or(c.String("o"), "-")
			name := map[bool]string{true: "standard output", false: "-o " + out}[out == "-"]
			output := files.To(out, stdout, stderr)
			inputs := files.Set{}
			inputs.Add(path)
			if err := apart(name, output, inputs); err != nil {
				return err
			}
			var refused error
			write := func(w io.Writer) error {
				var warnings []string
				warnings, refused = convert(c.Context, w, path, from, to)
				for _, line := range warnings {
					fmt.Fprintf(stderr, "clew: %s: warning: %s\n", text.Line(path), text.Line(line))
				}
				return refused
			}
			if err = output.Probe(); err == nil && output.Through() {
				err = printWhole(output, write)
			} else if err == nil {
				err = output.Write(write)
			}
			if err != nil && refused == nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return refused
		},
	}
}

func formFlags(c *cli.Context) (to, from forms.Form, err error) {
	if c.NArg() != 1 {
		return "", "", errors.New("convert takes one history; clew convert --help shows how")
	}
	if !c.IsSet("to") {
		return "", "", fmt.Errorf("convert needs --to with one of %s", forms.Names())
	}
	if to, err = forms.Named(c.String("to")); err != nil {
		return "", "", fmt.Errorf("--to: %w", err)
	}
	if c.IsSet("from") {
		if from, err = forms.Named(c.String("from")); err != nil {
			return "", "", fmt.Errorf("--from: %w", err)
		}
	}
	return to, from, nil
}

// convert writes the history in a file, "-" for standard input, in another form.
// If it is interrupted the writing goes on, but nobody waits for it.
func convert(ctx context.Context, w io.Writer, path string, from, to forms.Form) ([]string, error) {
	in, name, err := open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var warnings []string
	if !await(ctx, 0, func() { warnings, err = forms.Convert(w, in, name, from, to) }) {
		return nil, errors.New("interrupted")
	}
	return warnings, err
}
