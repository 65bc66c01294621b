package jepsen

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPlacesAreThoseThatWereAdded(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var p places
		var want []run
		next := run{line: 1, col: 1}
		for range 100 {
			if len(want) > 0 && r.IntN(4) == 0 {
				p.dropLast()
				want = want[:len(want)-1]
				continue
			}
			next.event = Event(len(want))
			switch r.IntN(6) {
			case 0:
				next.index = r.Int64() - r.Int64()
			case 1:
				next.line += int32(r.IntN(3))
			case 2:
				next.col = int32(1 + r.IntN(3))
			}
			p.add(next.index, next.line, next.col)
			want = append(want, next)
			next.index, next.line = next.index+1, next.line+1
		}
		var got []run
		for e := range p.n {
			got = append(got, p.at(e))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
	var p places
	for i := range int32(1000) {
		p.add(int64(i), i+1, 1)
	}
	if len(p.runs) != 1 {
		t.Errorf("%d runs of events on lines of their own", len(p.runs))
	}
}
