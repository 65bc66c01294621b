package main

import (
	"fmt"

	"clew/internal/gen"
)

// crashes measures ambiguous cas-registers with many crashed operations: where
// every known checker gives up when such a history is not linearizable.
func crashes(b *bench) error {
	c := b.compare(len("10k operations, 10 processes, 10 values, 500 crashed, impossible read"), "porcupine", "window", "frontier", "staged", "auto")
	return crashGrid(c)
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
