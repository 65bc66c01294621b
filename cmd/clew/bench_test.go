package main

import (
	"bytes"
	"testing"

	"clew/internal/gen"
)

// BenchmarkRequests answers requests of serve --stdio with 20 operations each, one after another.
func BenchmarkRequests(b *testing.B) {
	var history bytes.Buffer
	if _, err := gen.Long(&history, gen.LongOptions{Model: "cas-register", Operations: 20, Processes: 5, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	c := asking(b, nil)
	b.ReportAllocs()
	for id := 0; b.Loop(); id++ {
		c.ask(id, history.String(), "--model=cas-register", "--output=json")
		if r := c.answer(id); r.Status != 0 {
			b.Fatal(r.said, r.complained)
		}
	}
	b.StopTimer()
	c.close()
}
