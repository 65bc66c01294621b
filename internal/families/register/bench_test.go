package register

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/jepsen"
	"clew/models"
)

// Go runs a sub-benchmark's function several times, so histories are kept.
var benchHistories = map[simulation]*models.Columns{}

func (s simulation) bench(b *testing.B, decide decider, want fastpath.Want) {
	c := benchHistories[s]
	if c == nil {
		clear(benchHistories)
		c = s.run(rand.New(rand.NewPCG(1, 2)))
		benchHistories[s] = c
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if d := decide(c, 0, want); d.Verdict != jepsen.Valid {
			b.Fatalf("%v: %+v", d.Verdict, d.Reason)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.Len()), "ns/operation")
}

func benchSizes(b *testing.B, decide decider, s simulation) {
	for _, want := range []fastpath.Want{fastpath.WantVerdict, fastpath.WantWitness} {
		for _, s.ops = range []int{10_000, 100_000, 1_000_000, 4_000_000} {
			b.Run(fmt.Sprintf("%s/operations=%d", [...]string{"decide", "witness"}[want], s.ops), func(b *testing.B) {
				s.bench(b, decide, want)
			})
		}
	}
}

func BenchmarkRegister(b *testing.B) {
	benchSizes(b, decideAsRegister, simulation{processes: 40, reads: 0.5, crash: 0.001})
}

func BenchmarkCASRegister(b *testing.B) {
	benchSizes(b, decideAsCASRegister, simulation{processes: 40, reads: 0.4, cas: 0.3, crash: 0.001})
}

// BenchmarkShapes measures histories that are unlike a test's.
func BenchmarkShapes(b *testing.B) {
	const n = 1_000_000
	for _, test := range []struct {
		name string
		s    simulation
	}{
		{"5000 processes", simulation{ops: n, processes: 5000, reads: 0.4, cas: 0.3}},
		{"all concurrent", simulation{ops: n, processes: n, reads: 0.4, cas: 0.3}},
		{"one process", simulation{ops: n, processes: 1, reads: 0.4, cas: 0.3}},
		{"reads of one value", simulation{ops: n, processes: 40, reads: 1}},
		{"one chain of cas", simulation{ops: n, processes: 40, cas: 1}},
	} {
		for _, want := range []fastpath.Want{fastpath.WantVerdict, fastpath.WantWitness} {
			b.Run(fmt.Sprintf("%s/%s", test.name, [...]string{"decide", "witness"}[want]), func(b *testing.B) {
				test.s.bench(b, decideAsCASRegister, want)
			})
		}
	}
}

// BenchmarkFailure finds the first failing completion and the core. The failing
// operation is a read, late in the history, of a value that was overwritten long ago.
func BenchmarkFailure(b *testing.B) {
	for _, cas := range []float64{0, 0.3, 0.999} {
		b.Run(fmt.Sprintf("cas=%v", cas), func(b *testing.B) {
			s := simulation{ops: 1_000_000, processes: 40, reads: (1 - cas) / 2, cas: cas, crash: 0.001}
			c := s.run(rand.New(rand.NewPCG(1, 2)))
			late, early := c.Len()*9/10, c.Len()/10
			for c.Kind[late] != models.Read {
				late++
			}
			for c.Kind[early] != models.Read {
				early++
			}
			c.A[late] = c.A[early]
			core := 0
			b.ResetTimer()
			for range b.N {
				d := decideAsCASRegister(c, 0, fastpath.WantFailure)
				if d.FailEvent < 0 {
					b.Fatal(d)
				}
				core = len(d.Core)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.Len()), "ns/operation")
			b.ReportMetric(float64(core), "core")
		})
	}
}

// BenchmarkAmbiguous measures how long it takes to find out that a history
// of few values needs the general search.
func BenchmarkAmbiguous(b *testing.B) {
	c := simulation{ops: 1_000_000, processes: 10, values: 5, reads: 0.4, cas: 0.3}.run(rand.New(rand.NewPCG(1, 2)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if d := decideAsCASRegister(c, 0, fastpath.WantVerdict); d.Verdict != jepsen.Unknown {
			b.Fatal(d)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.Len()), "ns/operation")
}

// versionedRun returns a history of writes, cas and reads that say their
// version. Of a hundred, some crashed and do not say it: updates that
// happened and, in place of reads, updates that did not.
func versionedRun(rng *rand.Rand, ops, processes, crashed int) (*models.Columns, [][2]int32) {
	var args [][2]int32
	version, value := int32(0), int32(1)
	c := testkit.SweepRun{Ops: ops, Processes: processes, Begin: func(int32) models.Op {
		args = append(args, [2]int32{1 + rng.Int32N(5), 1 + rng.Int32N(5)})
		return models.Op{Kind: models.Kind(rng.IntN(3)), B: int32(len(args)) - 1}
	}, Happen: func(op models.Op) (models.Op, bool) {
		arg := &args[op.B]
		switch op.Kind {
		case models.Read:
			arg[0] = value
		case models.Write:
			version, value = version+1, arg[0]
		case models.CAS:
			arg[0] = value
			version, value = version+1, arg[1]
		}
		op.A = version + 1
		return op, true
	}}.Run(rng)
	for i, kind := range c.Kind {
		if rng.IntN(100) < crashed {
			c.A[i], c.Res[i] = 0, models.Open
			if kind == models.Read {
				c.Kind[i] = models.Write + models.Kind(rng.IntN(2))
				args[c.B[i]][0] = 1 + rng.Int32N(5)
			}
		}
	}
	return c, args
}

func BenchmarkVersionedRegister(b *testing.B) {
	for _, crashed := range []int{0, 5} {
		b.Run(fmt.Sprintf("%d%% crashed", crashed), func(b *testing.B) {
			c, args := versionedRun(rand.New(rand.NewPCG(1, 2)), testkit.BenchOps, 40, crashed)
			testkit.BenchSweep(b, c, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return testkit.Decide(Path, models.VersionsShape{Value: 1, Args: args}, c, want)
			})
		})
	}
}
