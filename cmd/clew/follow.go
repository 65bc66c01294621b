package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/batch"
	"clew/internal/limits"
	"clew/internal/memory"
	"clew/internal/store"
	"clew/internal/watchdog"
	"clew/report"
)

// following says how to check a history while it is being written.
type following struct{ idle time.Duration }

// givenFollowing returns what the flags say about following, or nil if they do not ask for it.
func givenFollowing(c *cli.Context, how *store.Reading) (*following, error) {
	idle := c.Duration("idle")
	switch {
	case !c.Bool("follow") && c.IsSet("idle"):
		return nil, errors.New("--idle requires --follow")
	case !c.Bool("follow"):
		return nil, nil
	case c.IsSet("idle") && idle <= 0:
		return nil, fmt.Errorf("--idle must be a positive duration, not %s", idle)
	case c.NArg() != 1:
		return nil, fmt.Errorf("--follow is for a single history, not for %d", c.NArg())
	case how.Spec.Name == "":
		return nil, errors.New("--follow needs --model: later events might change what is inferred")
	case c.String("models") != "":
		return nil, errors.New("--follow cannot be combined with --models: it is for a single history")
	case c.String("certificate") != "":
		return nil, errors.New("--follow cannot be combined with --certificate: the file may grow; certify it once it is whole")
	}
	return &following{idle}, nil
}

// followed reads and checks a history while it is being written. A signal ends the history. What has come by then is
// decided if that takes only a moment.
func (k *checker) followed(ctx context.Context, j *job) answer {
	var in io.ReadCloser
	var name string
	stopped, err := k.Bounded(ctx, func(context.Context) (err error) { in, name, err = k.open(j.Path); return err })
	switch {
	case stopped != "":
		return k.answer(ctx, j, j.Undecided(stopped))
	case err != nil:
		return k.unreadable(j, err)
	}
	defer in.Close()
	memory.Sparing() // the test that is being followed needs it
	ctx, release := k.Room(ctx)
	defer release()
	how := j.Pairing()
	how.Memory = k.Memory
	o := k.optionsOf(j.Reading)
	o.Passed = j.Passed
	var r *report.Result
	if !watchdog.Await(ctx, batch.Overdue, func() { r, err = clew.Follow(ctx, in, name, how, j.Spec, o, k.follow.idle) }) {
		return k.late(j, limits.Stopped(ctx))
	}
	if err != nil {
		return k.unreadable(j, err)
	}
	r.File = j.Path
	r = j.Asked(ctx, j.Reading, r, k.Memory)
	j.is(outcomeOf[r.Verdict])
	last, done := k.Lastly(ctx, k.TimeLimit)
	defer done()
	return k.answer(last, j, r)
}
