package main

import (
	"fmt"

	"clew/internal/gen"
)

// clients measures registers that many clients use, with repeated values: what
// most tests check, and no search over configurations decides. Each history is
// linearizable, or has one stale read near its end.
func clients(b *bench) error {
	c := b.compare(len("100k operations of cas-register, 200 clients, 100 values, stale read"), "porcupine", "window", "frontier", "matching")
	kinds := []struct {
		kind          gen.LongKind
		name, verdict string
	}{{gen.Linearizable, "linearizable", "valid"}, {gen.StaleRead, "stale read", "invalid"}}
	row := func(model string, n, processes, values int) error {
		for _, k := range kinds {
			name := fmt.Sprintf("%s operations of %s, %d clients, %d values, %s", thousands(n), model, processes, values, k.name)
			o := gen.LongOptions{Model: model, Operations: n, Processes: processes, Values: values, Kind: k.kind}
			if err := c.row(name, k.verdict, long(o), "--model", o.Model); err != nil {
				return err
			}
		}
		return nil
	}
	for _, model := range []string{"register", "cas-register"} {
		for _, n := range []int{1e3, 1e4, 1e5} {
			for _, processes := range []int{10, 30, 50, 100, 200} {
				for _, values := range []int{5, 20, 100} {
					if err := row(model, n, processes, values); err != nil {
						return err
					}
				}
			}
		}
		if err := row(model, 1e6, 50, 20); err != nil {
			return err
		}
	}
	return nil
}
