package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"clew/fallback"
	"clew/internal/asked"
	"clew/internal/batch"
	"clew/internal/limits"
	"clew/internal/memory"
	"clew/internal/requests"
	"clew/internal/text"
	"clew/internal/watchdog"
	"clew/models"
)

// notInRequests are the flags of check that are about files to read, about standard input, or about more than one failure.
var notInRequests = []string{"all", "follow", "idle", "models", "shard", "shard-keys", "stdin-is-lifeline"}

// answerRequests decides the histories of requests on standard input until that ends.
func (r *runner) answerRequests(c *cli.Context) error {
	if c.NArg() > 0 {
		return fmt.Errorf("serve --stdio takes no store, found %q; its requests bring their histories (docs/stdio.md)", c.Args().First())
	}
	for _, name := range c.LocalFlagNames() {
		if name != "stdio" && name != "memory-limit" {
			return fmt.Errorf("--stdio cannot be combined with --%s: each request has its own flags (docs/stdio.md)", name)
		}
	}
	limit, err := memory.Limit(c.String("memory-limit"))
	if err != nil {
		return err
	}
	ignorePipes() // answers that are not read end the loop
	watchdog.Of(c.Context).Knows(func() int { return exitValid })
	engine, _ := c.App.Metadata[engineKey].(fallback.Engine)
	info, _ := debug.ReadBuildInfo()
	s := requests.Server{
		Do:      requested(engine),
		AtOnce:  runtime.GOMAXPROCS(0),
		Held:    limit / 2,
		Version: versionLine(info),
	}
	return s.Serve(memory.Sharing(c.Context, limit), c.App.Reader, r.stdout)
}

// requested returns what answers a request: it does what clew check does as a process of its own, with the request's
// flags and its history as standard input.
func requested(engine fallback.Engine) func(context.Context, []string, io.Reader, io.Writer, io.Writer) int {
	check, known := checkCommand(nil, nil, nil), &knownFlags{engine: engine}
	return func(ctx context.Context, flags []string, stdin io.Reader, stdout, stderr io.Writer) int {
		if err := refused(check, flags); err != nil {
			complain(stderr, err)
			return exitUsage
		}
		ended := make(chan int, 2)
		dog := watchdog.New(exitUsage, func(status int, why context.Context) {
			fmt.Fprintf(stderr, "clew: ended: %s\n", limits.Stopped(why))
			ended <- status
		})
		go func() {
			over := dog.Stage(ctx, batch.Patience)
			status := known.check(watchdog.With(ctx, dog), flags, stdin, stdout, stderr)
			over()
			ended <- status
		}()
		return <-ended
	}
}

// knownFlags are flags of requests that have been read. Reading them takes longer than deciding a small history, and
// most requests have those of another one.
type knownFlags struct {
	engine fallback.Engine
	mu     sync.Mutex
	read   map[string]*cli.Context
}

// maxKnown bounds the flags that are remembered.
const maxKnown = 64

// check does what clew check does with some flags.
func (k *knownFlags) check(ctx context.Context, flags []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	args := slices.Concat([]string{"clew", "check"}, flags, []string{"-"})
	metadata, name := map[string]any{engineKey: k.engine, argsKey: args, requestKey: true}, fmt.Sprintf("%q", args)
	known, status := k.known(ctx, name, args, stdout, stderr)
	if known == nil {
		return status
	}
	stderr = text.NewWriter(stderr)
	return guarded(stderr, &status, func() error {
		c := *known
		// Without flags of its own, the command need not look for their other names, of which there are none.
		c.Context, c.Command = ctx, &cli.Command{Name: "check"}
		c.App = &cli.App{Reader: stdin, Writer: stdout, ErrWriter: stderr, Metadata: metadata}
		return checkHistories(&c, stdout, stderr, &status)
	})
}

// known returns the flags of a request. If they are none of clew check's, this has been said, and there is a status.
func (k *knownFlags) known(ctx context.Context, name string, args []string, stdout, stderr io.Writer) (known *cli.Context, status int) {
	k.mu.Lock()
	known = k.read[name]
	k.mu.Unlock()
	if known != nil {
		return known, 0
	}
	metadata := map[string]any{argsKey: args, flagsKey: func(c *cli.Context) { known = c }}
	if status = runApp(ctx, metadata, nil, stdout, stderr); known == nil {
		return nil, status
	}
	for _, c := range known.Lineage() {
		c.Context, c.App, c.Command = nil, nil, nil // those of this request
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.read == nil || len(k.read) == maxKnown {
		k.read = map[string]*cli.Context{}
	}
	k.read[name] = known
	return known, 0
}

// refused returns an error if the arguments of a request are not flags for a history that comes with it.
func refused(check *cli.Command, args []string) error {
	for i := 0; i < len(args); i++ {
		if !isFlag(args[i]) {
			return fmt.Errorf("a request of serve --stdio brings its history, and takes only flags; found %q", args[i])
		}
		if name := flagName(args[i]); slices.Contains(notInRequests, name) {
			return fmt.Errorf("--%s cannot be used in a request of serve --stdio, which brings its history", name)
		}
		if takesValue(check, args[i]) {
			if i++; i == len(args) {
				return errors.New(strings.TrimSpace(args[i-1]) + " needs a value; clew check --help lists the flags")
			}
		}
	}
	return nil
}

// askedModel is the flag for a model of the program that sends a request. It gives the name of the model.
const askedModel = "asked-model"

// givenAskedModel sets the model to that of the program that sends the request, if it has one.
func (k *checker) givenAskedModel(c *cli.Context) error {
	name, ask := c.String(askedModel), requests.AskerOf(c.Context)
	switch {
	case name == "":
		return nil
	case ask == nil:
		return fmt.Errorf("--%s is for a request of serve --stdio, whose program takes the steps of its model (docs/stdio.md)", askedModel)
	case k.reading.Spec.Name != "":
		return fmt.Errorf("--%s cannot be combined with another model; found both %s and %s", askedModel, name, k.reading.Spec.Name)
	}
	given := k.reading.Spec.Given()
	k.reading.Spec = models.Own(asked.Definition(name, asked.Ask(ask)))
	for p, value := range given {
		if err := k.reading.Spec.Set(p, value); err != nil {
			return err
		}
	}
	return k.reading.Spec.Check()
}
