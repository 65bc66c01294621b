package main

import (
	"fmt"

	"clew/internal/gen"
)

// measureModels measures the models that people check beside registers, locks and
// containers, valid or with one wrong read near the end. They are the histories of
// etcd's tests, Jepsen's bank, a million operations of the models that are decided
// in near-linear time, and logs that are not.
func measureModels(b *bench) error {
	c := b.compare(len("bank, 5k events, 50% reads, 10 crashed, impossible read, negative: refuse"), "porcupine", "auto")
	for _, part := range []func(*comparison) error{etcdLike, banks, sequences, repeatedLogs} {
		if err := part(c); err != nil {
			return err
		}
	}
	return nil
}

// fault is what may be wrong with a long history, and its verdict.
type fault struct {
	kind          gen.LongKind
	name, verdict string
}

var (
	linearizable   = fault{gen.Linearizable, "linearizable", "valid"}
	staleRead      = fault{gen.StaleRead, "stale read", "invalid"}
	impossibleRead = fault{gen.ImpossibleRead, "impossible read", "invalid"}
	duplicate      = fault{gen.Duplicate, "duplicate", "invalid"}
)

func etcdLike(c *comparison) error {
	for _, f := range []fault{linearizable, staleRead} {
		o := gen.LongOptions{Model: "kv", Operations: 10_000, Keys: 5, Processes: 10, Crashed: 200, Kind: f.kind}
		name := fmt.Sprintf("kv, %s operations, %d keys, %d clients, %d crashed puts, %s", thousands(o.Operations), o.Keys, o.Processes, o.Crashed, f.name)
		if err := c.row(name, f.verdict, long(o), "--model", o.Model); err != nil {
			return err
		}
	}
	return nil
}

// banks measures banks of 5,000 events. Those with few reads are harder: a read
// fixes which of the transfers before it have happened.
func banks(c *comparison) error {
	for _, reads := range []float64{0.5, 0.2} {
		for _, f := range []fault{linearizable, staleRead, impossibleRead} {
			o := gen.LongOptions{Model: "bank", Operations: 2500, Keys: 5, Processes: 10, Crashed: 10, Reads: reads, Kind: f.kind}
			for _, negative := range []string{"refuse", "allow"} {
				name := fmt.Sprintf("bank, 5k events, %.0f%% reads, %d crashed, %s, negative: %s", 100*reads, o.Crashed, f.name, negative)
				if err := c.row(name, f.verdict, long(o), "--model", o.Model, "--init", o.Init(), "--negative-balances", negative); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func sequences(c *comparison) error {
	for _, model := range []string{"counter", "id-generator", "log"} {
		for _, n := range []int{1e5, 1e6} {
			wrong := impossibleRead
			if model == "id-generator" {
				wrong = duplicate
			}
			for _, f := range []fault{linearizable, wrong} {
				o := gen.LongOptions{Model: model, Operations: n, Processes: 10, Kind: f.kind}
				if err := c.row(fmt.Sprintf("%s, %s operations, %s", model, thousands(n), f.name), f.verdict, long(o), "--model", model); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// repeatedLogs measures logs whose appends tell no offsets and repeat values. Only
// the general search decides them.
func repeatedLogs(c *comparison) error {
	for _, values := range []int{3, 20} {
		for _, f := range []fault{linearizable, impossibleRead} {
			o := gen.LongOptions{Model: "log", Operations: 1000, Processes: 5, Values: values, Kind: f.kind}
			name := fmt.Sprintf("log, %s operations, %d clients, %d values, %s", thousands(o.Operations), o.Processes, values, f.name)
			if err := c.row(name, f.verdict, long(o), "--model", o.Model); err != nil {
				return err
			}
		}
	}
	return nil
}
