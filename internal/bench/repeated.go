package main

import (
	"fmt"
	"strings"

	"clew/internal/gen"
)

// wrongAnswer is no certain failure: what else is open may explain it.
var wrongAnswer = fault{gen.WrongAnswer, "one wrong answer", ""}

// repeated measures containers, maps and transactions whose values repeat, so that no
// near-linear decision fits them: linearizable, or with one wrong answer at 80%.
func repeated(b *bench) error {
	c := b.compare(len("10k operations of kv with appends to one key, 10 clients, 20 values, one wrong answer"), "porcupine", "auto")
	for _, s := range []struct {
		model                          string
		operations, processes, crashed int
	}{
		{"fifo-queue", 1e3, 3, 0}, {"fifo-queue", 1e3, 5, 0}, {"fifo-queue", 1e3, 10, 0},
		{"fifo-queue", 1e4, 10, 0}, {"fifo-queue", 1e5, 10, 0}, {"fifo-queue", 1e4, 10, 20}, {"fifo-queue", 1e4, 20, 0},
		{"stack", 1e3, 5, 0}, {"stack", 1e3, 10, 0}, {"stack", 1e4, 5, 0}, {"stack", 1e4, 10, 0}, {"stack", 1e3, 10, 10},
		{"priority-queue", 1e4, 10, 0}, {"priority-queue", 1e4, 20, 0},
		{"kv", 1e4, 10, 0},
		{"multi-register", 1e4, 10, 0}, {"multi-register", 1e4, 20, 0},
	} {
		for _, values := range []int{2, 5, 20} {
			for _, f := range []fault{linearizable, wrongAnswer} {
				o := gen.LongOptions{Model: s.model, Operations: s.operations, Processes: s.processes, Crashed: s.crashed,
					Values: values, Kind: f.kind, At: 0.8, Keys: 4, Appends: s.model == "kv"}
				if o.Appends {
					o.Keys = 1 // each key is a history of its own
				}
				name := fmt.Sprintf("%s operations of %s, %d clients, %d values", thousands(o.Operations), o.Model, o.Processes, o.Values)
				if o.Crashed > 0 {
					name += fmt.Sprintf(", %d crashed", o.Crashed)
				}
				if o.Appends {
					name = strings.Replace(name, "of kv", "of kv with appends to one key", 1)
				}
				if err := c.row(name+", "+f.name, f.verdict, long(o), "--model", o.Model); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
