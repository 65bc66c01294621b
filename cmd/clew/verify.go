package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/files"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

const verifyHelp = `Replays a witness (what clew check --witness wrote, or anybody's order of the
operations, as op maps with the :index of one of their events) against its
history: every operation that succeeded stands in it once, none behind one that
began after it had returned, and the model can take every step. The check shares
no code with the search that found the witness.

Examples:
   clew check --witness order.edn history.edn
   clew verify history.edn order.edn

Exit status: 0 the witness is a linearization, 1 it is not, 254 bad arguments or
unreadable input.`

func verifyCommand(stdout io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "verify",
		Usage:       "replay a witness against its history",
		ArgsUsage:   "HISTORY WITNESS",
		Description: verifyHelp,
		Flags:       modelFlags(),
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return errors.New("verify takes a history and a witness; clew verify --help shows how")
			}
			spec, err := modelSpec(c)
			if err != nil {
				return err
			}
			h, err := clew.ReadFile(c.Args().Get(0), readOptions(spec))
			if err != nil {
				return err
			}
			verify, values := clew.Verify, h
			if c.Bool("independent") {
				keyed, err := h.Independent()
				if err != nil {
					return located(h, err)
				}
				verify, values = clew.VerifyKeys, keyed.Unwrapped
			}
			if spec, err = inferred(spec, values); err != nil {
				return err
			}
			witness, err := readWitness(c.Args().Get(1), h)
			if err != nil {
				return err
			}
			var wrong *clew.WitnessError
			switch err := verify(h, spec, witness); {
			case errors.As(err, &wrong):
				*status = exitInvalid
				_, err = fmt.Fprintf(stdout, "%s: not a linearization: %v\n", c.Args().Get(1), wrong)
				return err
			case err != nil:
				return located(h, err)
			}
			_, err = fmt.Fprintf(stdout, "%s: a linearization of %d operations (%s)\n", c.Args().Get(1), len(witness), spec.Name)
			return err
		},
	}
}

// inferred is the spec with a model, inferred where it names none.
func inferred(s models.Spec, h *jepsen.History) (models.Spec, error) {
	if s.Name != "" {
		return s, nil
	}
	name, err := models.Infer(h)
	if err != nil {
		return s, located(h, err)
	}
	s.Name = name
	return s, nil
}

func readWitness(path string, h *jepsen.History) ([]jepsen.Operation, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.ReadWitness(f, path, h)
}

// writeWhole writes a file whole or not at all. Its errors do not name the file.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".clew-*")
	if err != nil {
		return withoutPath(err)
	}
	defer os.Remove(f.Name()) // fails where it has been renamed
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return withoutPath(os.Rename(f.Name(), path))
}

// withoutPath is the reason of an error about a file that goes by another name.
func withoutPath(err error) error {
	var p *os.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
