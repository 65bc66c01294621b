package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// modelFlags say which model reads a history, and how.
func modelFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Usage: "the `MODEL` (clew models lists them); inferred from the :f's where it is not given"},
		&cli.StringFlag{Name: "init", Usage: "the initial value, as `EDN`"},
		choiceFlag("nil-reads", "any", "exact", "what a read of nil says: nothing (`any`), or that it saw nil (exact)"),
		choiceFlag("failed-cas", "ignore", "observe", "what a failed cas says: nothing (`ignore`), or that it saw another value (observe)"),
		choiceFlag("priority", "max", "min", "which element a priority-queue hands out first: the greatest (`max`) or the least (min)"),
		&cli.IntFlag{Name: "permits", DefaultText: "none", Usage: "how many permits a semaphore has: `K`"},
		&cli.IntFlag{Name: "max-holds", DefaultText: "2", Usage: "how often the owner of a reentrant lock may hold it: `D`"},
		&cli.IntFlag{Name: "threads", DefaultText: "the process", Usage: "the owner of a lock is the process modulo `N`"},
		&cli.BoolFlag{Name: "independent", Usage: "values are [key value]: each key is a history of its own"},
		choiceFlag("semantics", "jepsen", "knossos", "how values are read: `jepsen`, or as Knossos does (knossos)"),
	}
}

// choiceFlag is a flag with two values, the first the default.
func choiceFlag(name, normal, other, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Value: normal, Usage: usage, Action: func(_ *cli.Context, s string) error {
		if s != normal && s != other {
			return fmt.Errorf("--%s is %s or %s, not %q", name, normal, other, s)
		}
		return nil
	}}
}

// modelSpec is what the model flags say. It makes sense, as far as can be said
// before any history is read.
func modelSpec(c flags) (models.Spec, error) {
	s := models.Spec{
		Name:             c.String("model"),
		Init:             c.String("init"),
		NilReadsExact:    c.String("nil-reads") == "exact",
		ObserveFailedCAS: c.String("failed-cas") == "observe",
		Knossos:          c.String("semantics") == "knossos",
		Permits:          c.Int("permits"),
		MaxHolds:         c.Int("max-holds"),
		Threads:          c.Int("threads"),
	}
	if c.IsSet("priority") {
		s.Priority = c.String("priority")
	}
	for _, flag := range []string{"permits", "max-holds", "threads"} {
		if c.IsSet(flag) && c.Int(flag) < 1 {
			return s, fmt.Errorf("--%s is a number of at least 1, not %d", flag, c.Int(flag))
		}
	}
	switch {
	case c.IsSet("init") && s.Init == "":
		return s, errors.New("--init is an EDN value such as 0 or nil, not empty")
	case s.Name != "":
		return s, s.Check()
	case s.Init == "":
		return s, nil
	}
	_, err := edn.NewValues().Parse([]byte(s.Init), edn.Pos{File: "--init", Line: 1, Col: 1})
	return s, err
}

// readOptions is how histories are paired for a model.
func readOptions(s models.Spec) jepsen.Options { return jepsen.Options{AnyFailedF: s.Knossos} }

// algorithmFlag, depthFlag, timeLimitFlag and memoryLimitFlag say how to search.
func algorithmFlag() cli.Flag {
	return &cli.StringFlag{Name: "algorithm", Value: "auto", Usage: "`NAME`: " + strings.Join(clew.Algorithms, ", ")}
}

func depthFlag() cli.Flag {
	return &cli.IntFlag{Name: "depth", DefaultText: strconv.Itoa(clew.DefaultDepth), Usage: "how many operations in a certain order --algorithm hitting tries: `D`"}
}

func timeLimitFlag() cli.Flag {
	return &cli.DurationFlag{Name: "time-limit", DefaultText: "none", Usage: "give up on a history after `DURATION`, such as 30s or 5m"}
}

func memoryLimitFlag() cli.Flag {
	return &cli.StringFlag{Name: "memory-limit", DefaultText: "half of what is available", Usage: "what all searches together may use: a `SIZE` such as 512MB or 8GB"}
}

// searchOptions is what these flags say, and --independent.
func searchOptions(c *cli.Context) (clew.Options, error) {
	o := clew.Options{
		Algorithm:   c.String("algorithm"),
		Depth:       c.Int("depth"),
		TimeLimit:   c.Duration("time-limit"),
		Independent: c.Bool("independent"),
	}
	switch {
	case c.IsSet("time-limit") && o.TimeLimit <= 0:
		return o, fmt.Errorf("--time-limit is a positive duration, not %s", o.TimeLimit)
	case c.IsSet("depth") && o.Algorithm != "hitting":
		return o, fmt.Errorf("--depth goes with --algorithm hitting, not with %s", o.Algorithm)
	case c.IsSet("depth") && o.Depth < 1:
		return o, fmt.Errorf("--depth is a number of at least 1, not %d", o.Depth)
	}
	if err := clew.CheckAlgorithm(o.Algorithm); err != nil {
		return o, err
	}
	limit, err := memoryLimit(c.String("memory-limit"))
	o.Memory = clew.NewMemory(limit)
	return o, err
}

// located is an error about a history with its file in front, unless it has a
// place of its own.
func located(h *jepsen.History, err error) error {
	var e *jepsen.Error
	if errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s: %w", h.File, err)
}
