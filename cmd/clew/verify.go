package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/store"
	"clew/internal/text"
)

const verifyHelp = `Replays a witness against its history. A witness is what clew check --witness wrote,
or any other order of the operations, as op maps with the :index, :process and :type
of one of their events. Every operation that succeeded must occur in it once, and
never after one that began after it had returned. The model must be able to take every
step. An :f, :key or :value in it must be that of the operation. The check shares no
code with the search that found the witness.

What clew monitor --witness wrote is verified, too. It may be an order for each key of a
map, or each element of a set: operations on different ones are in any order then.

Examples:
   clew check --witness order.edn history.edn
   clew verify history.edn order.edn

Exit status: 0 the witness is a linearization, 1 it is not, 254 bad arguments or
unreadable input, 2 a limit or a signal came first.`

func verifyCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "verify",
		Usage:       "replay a witness against its history",
		ArgsUsage:   "HISTORY WITNESS",
		Description: verifyHelp,
		Flags:       slices.Concat(modelFlags(), limitFlags()),
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return errors.New("verify takes a history and a witness; clew verify --help shows how")
			}
			k := runner{stdout: stdout, stderr: stderr}
			return k.command(c, status, func(context.Context) (err error) {
				if k.reading, err = store.NewReading(given(c)); err == nil {
					_, _, err = givenLimits(c)
				}
				return err
			}, func(ctx context.Context) (int, error) { return k.verify(ctx, c.Args().Get(0), c.Args().Get(1)) })
		},
	}
}

// verify replays a witness within the limits and prints the outcome. It returns the exit status.
func (r *runner) verify(ctx context.Context, history, witness string) (int, error) {
	start := time.Now()
	var said string
	var status int
	stopped, err := r.alone(ctx, func(ctx context.Context) (err error) {
		said, status, err = r.verified(ctx, history, witness)
		return err
	})
	switch {
	case stopped != "":
		return r.tell(ctx, start, fmt.Sprintf("%s: unknown: %s\n", text.Line(witness), stopped), exitUnknown), nil
	case err != nil:
		return 0, err
	}
	return r.tell(ctx, start, said, status), nil
}

// tell prints the outcome for a witness, and returns the exit status.
func (r *runner) tell(ctx context.Context, start time.Time, said string, status int) int {
	r.Dog.Knows(func() int {
		if status == exitValid {
			return exitUsage // the output hangs
		}
		return status
	})
	ctx, done := r.Lastly(ctx, r.TimeLimit-time.Since(start))
	defer done()
	if err := r.print(ctx, said); err != nil {
		r.lose(err)
		if status != exitInvalid {
			return exitUsage
		}
	}
	return status
}

// verified returns the outcome for a witness in words, and the exit status.
func (r *runner) verified(ctx context.Context, history, witness string) (said string, status int, err error) {
	h, how, err := r.readFile(ctx, history)
	if err != nil {
		return "", 0, err
	}
	r.warn(history, h.Warnings...)
	replay, values := clew.Verify, h
	if how.Independent {
		part := h.Independent
		if how.Keyless {
			part = h.IndependentOrShared
		}
		keyed, err := part()
		if err != nil {
			return "", 0, clew.Placed(h, err)
		}
		replay, values = clew.VerifyKeys, keyed.Unwrapped
	}
	spec, _, err := how.Spec.Infer(values)
	if err != nil {
		return "", 0, clew.Placed(h, err)
	}
	order, err := readWitness(ctx, r.Memory, witness, h)
	if err != nil {
		return "", 0, err
	}
	var wrong *clew.WitnessError
	switch err := replay(h, spec, order); {
	case errors.As(err, &wrong) && clew.VerifyParts(h, spec, order, how.Independent) == nil:
		return fmt.Sprintf("%s: a linearization of each key, so that there is one of all %s (%s)\n", text.Line(witness), text.Count(len(order), "operation"), spec.Name), exitValid, nil
	case errors.As(err, &wrong):
		return fmt.Sprintf("%s: not a linearization: %s\n", text.Line(witness), text.Line(wrong.Error())), exitInvalid, nil
	case err != nil:
		return "", 0, clew.Placed(h, err)
	}
	return fmt.Sprintf("%s: a linearization of %s (%s)\n", text.Line(witness), text.Count(len(order), "operation"), spec.Name), exitValid, nil
}
