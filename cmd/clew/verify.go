package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/text"
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
			r, err := modelSpec(given(c))
			if err != nil {
				return err
			}
			*status, err = verify(stdout, c.Args().Get(0), c.Args().Get(1), r)
			return err
		},
	}
}

// verify replays a witness and says what came of it. It returns the exit status.
func verify(stdout io.Writer, history, witness string, r reading) (int, error) {
	h, err := clew.ReadFile(history, r.pairing())
	if err != nil {
		return 0, err
	}
	replay, values := clew.Verify, h
	if r.independent {
		part := h.Independent
		if r.keyless {
			part = h.IndependentOrShared
		}
		keyed, err := part()
		if err != nil {
			return 0, located(h, err)
		}
		replay, values = clew.VerifyKeys, keyed.Unwrapped
	}
	spec, _, err := r.spec.Infer(values)
	if err != nil {
		return 0, located(h, err)
	}
	order, err := readWitness(witness, h)
	if err != nil {
		return 0, err
	}
	var wrong *clew.WitnessError
	switch err := replay(h, spec, order); {
	case errors.As(err, &wrong):
		_, err = fmt.Fprintf(stdout, "%s: not a linearization: %s\n", text.Line(witness), text.Line(wrong.Error()))
		return exitInvalid, err
	case err != nil:
		return 0, located(h, err)
	}
	_, err = fmt.Fprintf(stdout, "%s: a linearization of %d operations (%s)\n", text.Line(witness), len(order), spec.Name)
	return exitValid, err
}
