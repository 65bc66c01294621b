package main

import (
	"fmt"
	"io"

	"clew/internal/gen"
)

// search measures the general search on ambiguous histories, with each engine
// beside porcupine:
//
//   - cas-registers with five values, linearizable, by length and concurrency;
//   - the same with crashed operations, linearizable or not: with a stale read,
//     or a read of a value that is never written, near the end;
//   - crashed writes before one bad read; with nine of them, Knossos runs out
//     of memory;
//   - Horn & Kroening's benchmark of partitions: 4 threads of 70,000 operations
//     on a set of 24 values. The engine window should take at most 0.5 s.
func search(b *bench) error {
	c := b.compare(len("10k operations, 10 processes, 100 crashed, impossible read"), "porcupine", "window", "frontier", "auto")
	for _, part := range []func(*comparison) error{lengths, crashed, badReads, partitions} {
		if err := part(c); err != nil {
			return err
		}
	}
	return nil
}

// fewValues is how many values make the registers ambiguous: Jepsen's tests
// write five.
const fewValues = 5

func lengths(c *comparison) error {
	for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
		for _, processes := range []int{5, 10, 20, 40} {
			name := fmt.Sprintf("%s operations, %d processes", thousands(n), processes)
			o := gen.LongOptions{Model: "cas-register", Operations: n, Processes: processes, Values: fewValues}
			if err := c.row(name, "valid", long(o), "--model", o.Model); err != nil {
				return err
			}
		}
	}
	return nil
}

func crashed(c *comparison) error {
	kinds := []struct {
		kind          gen.LongKind
		name, verdict string
	}{{gen.Linearizable, "linearizable", "valid"}, {gen.StaleRead, "stale read", "invalid"}, {gen.ImpossibleRead, "impossible read", "invalid"}}
	for _, n := range []int{1e3, 1e4} {
		for _, crashes := range []int{0, 5, 10, 20, 40, 100} {
			for _, k := range kinds {
				name := fmt.Sprintf("%s operations, 10 processes, %d crashed, %s", thousands(n), crashes, k.name)
				o := gen.LongOptions{Model: "cas-register", Operations: n, Processes: 10, Values: fewValues, Crashed: crashes, Kind: k.kind}
				if err := c.row(name, k.verdict, long(o), "--model", o.Model); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// badReads measures a series: an engine that fails at 20 crashed writes also
// fails at 30.
func badReads(c *comparison) error {
	c.series()
	defer c.alone()
	for n := 1; n <= 100; n++ {
		if n > 20 && n%10 != 0 {
			continue
		}
		if err := c.row(fmt.Sprintf("%d crashed writes before one bad read", n), "invalid", badRead(n), "--model", "cas-register"); err != nil {
			return err
		}
	}
	return nil
}

func partitions(c *comparison) error {
	o := gen.LongOptions{Model: "lookup-set", Operations: 4 * 70_000, Processes: 4, Values: 24}
	return c.row("set of 24 values, 4 threads of 70k operations", "valid", long(o), "--model", o.Model)
}

// long returns a function that writes one of gen's long histories.
func long(o gen.LongOptions) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := gen.Long(w, o)
		return err
	}
}

// badRead returns a function that writes n crashed writes of different values,
// and then one read of a value that was never written.
func badRead(n int) func(io.Writer) error {
	return func(w io.Writer) error {
		for i := range n {
			fmt.Fprintf(w, "{:process %d, :type :invoke, :f :write, :value %d}\n{:process %[1]d, :type :info, :f :write, :value %[2]d}\n", i, i)
		}
		_, err := fmt.Fprintf(w, "{:process %d, :type :invoke, :f :read, :value nil}\n{:process %[1]d, :type :ok, :f :read, :value %[1]d}\n", n)
		return err
	}
}

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
