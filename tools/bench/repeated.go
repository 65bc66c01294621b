package main

import (
	"fmt"
	"strings"

	"clew/internal/gen"
)

// wrongAnswer need not be a failure: other open operations may explain it.
var wrongAnswer = fault{gen.WrongAnswer, "one wrong answer", ""}

// repeatedSize is how large a history is.
type repeatedSize struct{ operations, processes, crashed int }

// repeated measures containers, maps and transactions whose values repeat, so that no
// near-linear decision fits them. They are linearizable, or have one wrong answer at
// 80%. Once porcupine exceeds a limit it does not get longer or harder histories.
func repeated(b *bench) error {
	c := b.compare(len("10k operations of kv with appends to one key, 10 clients, 20 values, one wrong answer"), "porcupine", "auto")
	for _, s := range []struct {
		model string
		sizes []repeatedSize
	}{
		{"fifo-queue", []repeatedSize{{1e3, 3, 0}, {1e3, 5, 0}, {1e3, 10, 0}, {1e4, 10, 0}, {1e5, 10, 0}, {1e4, 10, 20}, {1e4, 20, 0}}},
		{"stack", []repeatedSize{{1e3, 5, 0}, {1e3, 10, 0}, {1e4, 5, 0}, {1e4, 10, 0}, {1e3, 10, 10}}},
		{"priority-queue", []repeatedSize{{1e4, 10, 0}, {1e4, 20, 0}}},
		{"kv", []repeatedSize{{1e4, 10, 0}}},
		{"multi-register", []repeatedSize{{1e4, 10, 0}, {1e4, 20, 0}}},
	} {
		for _, values := range []int{2, 5, 20} {
			for _, f := range []fault{linearizable, wrongAnswer} {
				c.series("porcupine")
				for _, size := range s.sizes {
					o := gen.LongOptions{Model: s.model, Operations: size.operations, Processes: size.processes, Crashed: size.crashed,
						Values: values, Kind: f.kind, At: 0.8, Keys: 4, Appends: s.model == "kv"}
					if o.Appends {
						o.Keys = 1 // each key is a history of its own
					}
					if err := c.row(repeatedName(o)+", "+f.name, f.verdict, long(o), "--model", o.Model); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func repeatedName(o gen.LongOptions) string {
	name := fmt.Sprintf("%s operations of %s, %d clients, %d values", thousands(o.Operations), o.Model, o.Processes, o.Values)
	if o.Crashed > 0 {
		name += fmt.Sprintf(", %d crashed", o.Crashed)
	}
	if o.Appends {
		name = strings.Replace(name, "of kv", "of kv with appends to one key", 1)
	}
	return name
}
