package main

import (
	"fmt"

	"clew/internal/gen"
)

// clients measures registers that many clients use, with repeated values. Most
// tests check such histories, and no search over configurations decides them.
// Each history is linearizable, or has one stale read near its end. Histories
// that differ only in length are a series: an engine that fails on a short one
// also fails on longer ones.
func clients(b *bench) error {
	c := b.compare(len("100k operations of cas-register, 200 clients, 100 values, stale read"), "porcupine", "window", "frontier", "matching")
	for _, model := range []string{"register", "cas-register"} {
		for _, processes := range []int{10, 30, 50, 100, 200} {
			for _, values := range []int{5, 20, 100} {
				lengths := []int{1e3, 1e4, 1e5}
				if processes == 50 && values == 20 {
					lengths = append(lengths, 1e6)
				}
				for _, kind := range []gen.LongKind{gen.Linearizable, gen.StaleRead} {
					o := gen.LongOptions{Model: model, Processes: processes, Values: values, Kind: kind}
					if err := ofLengths(c, o, lengths); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// ofLengths measures a series of histories.
func ofLengths(c *comparison, o gen.LongOptions, lengths []int) error {
	c.series()
	defer c.alone()
	name, verdict := "linearizable", "valid"
	if o.Kind == gen.StaleRead {
		name, verdict = "stale read", "invalid"
	}
	for _, o.Operations = range lengths {
		row := fmt.Sprintf("%s operations of %s, %d clients, %d values, %s", thousands(o.Operations), o.Model, o.Processes, o.Values, name)
		if err := c.row(row, verdict, long(o), "--model", o.Model); err != nil {
			return err
		}
	}
	return nil
}
