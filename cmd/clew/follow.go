package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/memory"
)

// following is a history that is checked while it is being written.
type following struct{ idle time.Duration }

// givenFollowing is what the flags say about that, nil if it is not asked for.
func givenFollowing(c *cli.Context, how *reading) (*following, error) {
	idle := c.Duration("idle")
	switch {
	case !c.Bool("follow") && c.IsSet("idle"):
		return nil, errors.New("--idle goes with --follow")
	case !c.Bool("follow"):
		return nil, nil
	case c.IsSet("idle") && idle <= 0:
		return nil, fmt.Errorf("--idle is a positive duration, not %s", idle)
	case c.NArg() != 1:
		return nil, fmt.Errorf("--follow is for a single history, not for %d", c.NArg())
	case how.spec.Name == "":
		return nil, errors.New("--follow needs --model: what comes later might change what is inferred")
	case c.String("models") != "":
		return nil, errors.New("--follow goes without --models: it is for a single history")
	case c.String("certificate") != "":
		return nil, errors.New("--follow goes without --certificate: the file may grow; certify it once it is whole")
	}
	return &following{idle}, nil
}

// followed reads and checks a history while it is being written. A signal ends the
// history, and what there is of it by then is decided.
func (k *checker) followed(ctx context.Context, j *job) answer {
	k.dog.Waits(lastLines + cmp.Or(k.options.TimeLimit, lastDecision))
	var in io.ReadCloser
	var name string
	stopped, err := k.bounded(ctx, func(context.Context) (err error) { in, name, err = open(j.Path); return err })
	switch {
	case stopped != "":
		return k.answer(ctx, j, undecided(j, stopped))
	case err != nil:
		return k.unreadable(j, err)
	}
	defer in.Close()
	memory.Sparing() // the test that is being followed needs it
	ctx, release := k.keeper.Within(ctx)
	defer release()
	how := j.pairing()
	how.Memory = k.memory
	r, err := clew.Follow(ctx, in, name, how, j.spec, k.optionsOf(j.reading), k.follow.idle)
	if err != nil {
		return k.unreadable(j, err)
	}
	r.File = j.Path
	j.is(outcomeOf[r.Verdict])
	return k.answer(context.WithoutCancel(ctx), j, r)
}

// lastDecision is how long the decision may take after a signal, which ends the history
// and not the check of it, if there is no time limit.
const lastDecision = 10 * time.Second

// lastLines is how long lines are taken after a signal that may have been there before.
const lastLines = 250 * time.Millisecond
