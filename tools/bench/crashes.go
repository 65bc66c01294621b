package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"clew/fallback"
	"clew/internal/engines"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// crashes measures ambiguous cas-registers with many crashed operations. Every
// known checker gives up on such a history if it is not linearizable.
func crashes(b *bench) error {
	c := b.compare(len("10k operations, 10 processes, 10 values, 500 crashed, impossible read"), "porcupine", "window", "frontier", "staged", "matching", "auto")
	if err := crashGrid(c); err != nil {
		return err
	}
	return boundaries(b)
}

func crashGrid(c *comparison) error {
	kinds := []struct {
		kind          gen.LongKind
		name, verdict string
	}{{gen.Linearizable, "linearizable", "valid"}, {gen.StaleRead, "stale read", "invalid"}, {gen.LostWrite, "lost write", "invalid"}, {gen.ImpossibleRead, "impossible read", "invalid"}}
	for _, n := range []int{1e3, 1e4} {
		for _, processes := range []int{5, 10} {
			for _, values := range []int{2, 5, 10} {
				for _, crashed := range []int{0, 20, 40, 100, 200, 500} {
					for _, k := range kinds {
						name := fmt.Sprintf("%s operations, %d processes, %d values, %d crashed, %s", thousands(n), processes, values, crashed, k.name)
						o := gen.LongOptions{Model: "cas-register", Operations: n, Processes: processes, Values: values, Crashed: crashed, Kind: k.kind}
						if err := c.row(name, k.verdict, long(o), "--model", o.Model); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// boundaries measures pairs of histories that differ in a single crashed
// operation. One of them is linearizable and the other is not: no histories are
// harder. It decides both in this process, and measures CPU time.
func boundaries(b *bench) error {
	fmt.Fprintln(b.out)
	t := newTable(b.out, column{"", "boundary", 45}, column{"", "decided", 8}, column{"", "undecided", 9},
		column{"cpu", "median", 8}, column{"cpu", "99%", 8}, column{"cpu", "most", 8}, column{"", "<= 250 ms", 10})
	for _, processes := range []int{5, 10} {
		for _, crashed := range []int{40, 200} {
			name := fmt.Sprintf("1k operations, %d processes, 5 values, %d crashed", processes, crashed)
			if !b.only.MatchString(name) {
				continue
			}
			if err := b.boundary(t, name, gen.LongOptions{Model: "cas-register", Operations: 1000, Processes: processes, Values: fewValues, Crashed: crashed}); err != nil {
				return err
			}
		}
	}
	return nil
}

// boundaryHistories is how many histories a line of the table covers.
const boundaryHistories = 1000

func (b *bench) boundary(t *table, name string, o gen.LongOptions) error {
	var took []time.Duration
	undecided, quick := 0, 0
	for i := range boundaryHistories {
		b.progress("%s: history %d", name, i)
		o.Seed = uint64(i)
		with, without, err := b.bisect(o)
		if err != nil {
			return err
		}
		if with == nil {
			undecided++
			continue
		}
		for want, ops := range map[jepsen.Verdict]*models.Operations{jepsen.Valid: with, jepsen.Invalid: without} {
			before := cpu()
			v := b.decide(ops)
			switch d := cpu() - before; {
			case v == jepsen.Unknown:
				undecided++
			case v != want:
				b.wrong++
			default:
				took = append(took, d)
				if d <= 250*time.Millisecond {
					quick++
				}
			}
		}
	}
	b.progress("")
	if len(took) == 0 {
		return nil
	}
	slices.Sort(took)
	t.row(name, fmt.Sprint(len(took)), fmt.Sprint(undecided), duration(took[len(took)/2]), duration(took[len(took)*99/100]),
		duration(took[len(took)-1]), fmt.Sprintf("%.2f%%", 100*float64(quick)/float64(len(took)+undecided)))
	return nil
}

// bisect removes crashed operations from a linearizable history, in any order,
// until removing one more makes it fail. It returns the history with that
// operation and without it, or nil if this could not be decided.
func (b *bench) bisect(o gen.LongOptions) (with, without *models.Operations, err error) {
	var text bytes.Buffer
	if _, err := gen.Long(&text, o); err != nil {
		return nil, nil, err
	}
	h, err := forms.Read(&text, "history", jepsen.Options{})
	if err != nil {
		return nil, nil, err
	}
	ops, err := models.Spec{Name: o.Model}.Read(h)
	if err != nil {
		return nil, nil, err
	}
	var crashed []int
	for row, res := range ops.Res {
		if res == models.Open {
			crashed = append(crashed, row)
		}
	}
	gen.Rand(o.Seed).Shuffle(len(crashed), func(i, j int) { crashed[i], crashed[j] = crashed[j], crashed[i] })
	taken := func(n int) *models.Operations {
		var rows []int32
		for row := range ops.Len() {
			if !slices.Contains(crashed[:n], row) {
				rows = append(rows, int32(row))
			}
		}
		return ops.Select(rows)
	}
	valid, invalid := 0, len(crashed)
	if b.decide(taken(invalid)) != jepsen.Invalid {
		return nil, nil, nil // none of its crashed operations is needed, or this is not known
	}
	for invalid-valid > 1 {
		switch middle := (valid + invalid) / 2; b.decide(taken(middle)) {
		case jepsen.Valid:
			valid = middle
		case jepsen.Invalid:
			invalid = middle
		default:
			return nil, nil, nil
		}
	}
	return taken(valid), taken(invalid), nil
}

func (b *bench) decide(ops *models.Operations) jepsen.Verdict {
	ctx, cancel := context.WithTimeout(b.ctx, b.limits.time)
	defer cancel()
	return engines.New("auto", 0).Decide(ctx, ops, fallback.Limits{Memory: models.NewMemory(b.limits.memory)}).Verdict
}

// cpu returns the CPU time that this process has taken.
func cpu() time.Duration {
	taken, _ := used()
	return taken
}
