package container

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/jepsen"
	"clew/models"
)

var wantNames = [...]string{"decide", "witness"}

func benchContainer(b *testing.B, k *testkit.Type, c *models.Columns, want fastpath.Want) {
	b.Helper()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if d := k.Decide(c, want); d.Verdict != jepsen.Valid {
			b.Fatalf("%v: %+v", d.Verdict, d.Reason)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.Len()), "ns/operation")
}

// BenchmarkContainers measures a million operations, with and without peeks.
func BenchmarkContainers(b *testing.B) {
	for _, k := range allKinds {
		for _, peeks := range []float64{0, 0.2} {
			s := containerRun{ops: 1_000_000, processes: 40, adds: 0.5 - peeks/2, peeks: peeks}
			c := s.run(k, rand.New(rand.NewPCG(1, 2)))
			for want, name := range wantNames {
				b.Run(fmt.Sprintf("%s/peeks=%v/%s", k.Name, peeks, name), func(b *testing.B) {
					benchContainer(b, k, c, fastpath.Want(want))
				})
			}
		}
	}
}

// BenchmarkContainerSizes shows how the cost grows.
func BenchmarkContainerSizes(b *testing.B) {
	for _, k := range allKinds {
		for _, ops := range []int{10_000, 100_000, 4_000_000} {
			c := containerRun{ops: ops, processes: 40, adds: 0.5}.run(k, rand.New(rand.NewPCG(1, 2)))
			b.Run(fmt.Sprintf("%s/operations=%d", k.Name, ops), func(b *testing.B) {
				benchContainer(b, k, c, fastpath.WantVerdict)
			})
		}
	}
}

// BenchmarkContainerShapes measures histories that are unlike a test's.
func BenchmarkContainerShapes(b *testing.B) {
	const n = 1_000_000
	for _, test := range []struct {
		name string
		s    containerRun
		only *testkit.Type
	}{
		{"80% adds", containerRun{ops: n, processes: 40, adds: 0.8}, nil},
		{"5000 processes", containerRun{ops: n, processes: 5000, adds: 0.5}, nil},
		{"5000 processes, 20% peeks", containerRun{ops: n, processes: 5000, adds: 0.4, peeks: 0.2}, nil},
		{"one process", containerRun{ops: n, processes: 1, adds: 0.5}, nil},
		{"all priorities equal", containerRun{ops: n, processes: 40, adds: 0.5, priorities: 1}, heapKind},
		{"ascending priorities", containerRun{ops: n, processes: 40, adds: 0.5, order: func(v int32) int32 { return v }}, heapKind},
		{"descending priorities", containerRun{ops: n, processes: 40, adds: 0.5, order: func(v int32) int32 { return n - v }}, heapKind},
	} {
		for _, k := range allKinds {
			if test.only != nil && k != test.only {
				continue
			}
			c := test.s.run(k, rand.New(rand.NewPCG(1, 2)))
			for want, name := range wantNames {
				b.Run(fmt.Sprintf("%s/%s/%s", test.name, k.Name, name), func(b *testing.B) {
					benchContainer(b, k, c, fastpath.Want(want))
				})
			}
		}
	}
	for _, k := range allKinds {
		for name, c := range map[string]*models.Columns{"16000 concurrent adds": concurrentAdds(k, 16_000), "deep": deep(k, n/2)} {
			for want, wanted := range wantNames {
				b.Run(fmt.Sprintf("%s/%s/%s", name, k.Name, wanted), func(b *testing.B) {
					benchContainer(b, k, c, fastpath.Want(want))
				})
			}
		}
	}
}

// concurrentAdds returns n concurrent adds, then n removes in a row. They remove
// in the order that the container has if the adds took effect as they returned.
func concurrentAdds(k *testkit.Type, n int32) *models.Columns {
	c := &models.Columns{Events: 4 * n}
	for v := range n {
		c.Append(v, n+v, models.Op{Kind: models.Enqueue, A: v, B: v})
	}
	removeAll(c, k, n)
	return c
}

// deep returns n adds in a row, then n removes in a row.
func deep(k *testkit.Type, n int32) *models.Columns {
	c := &models.Columns{Events: 4 * n}
	for v := range n {
		c.Append(2*v, 2*v+1, models.Op{Kind: models.Enqueue, A: v, B: v})
	}
	removeAll(c, k, n)
	return c
}

func removeAll(c *models.Columns, k *testkit.Type, n int32) {
	for i := range n {
		v := i
		if k != queueKind {
			v = n - 1 - i
		}
		c.Append(2*n+2*i, 2*n+2*i+1, models.Op{Kind: models.Dequeue, A: v, B: v})
	}
}

// BenchmarkUnknownRemoves has 20 crashed removes that took something.
func BenchmarkUnknownRemoves(b *testing.B) {
	for _, k := range allKinds {
		for _, peeks := range []float64{0, 0.2} {
			s := containerRun{ops: 1_000_000, processes: 40, adds: 0.5 - peeks/2, peeks: peeks, crash: 0.0002, unknown: 1, capUnknown: 20}
			c := s.run(k, rand.New(rand.NewPCG(1, 2)))
			for want, name := range wantNames {
				b.Run(fmt.Sprintf("%s/peeks=%v/%s", k.Name, peeks, name), func(b *testing.B) {
					benchContainer(b, k, c, fastpath.Want(want))
				})
			}
		}
	}
}

// BenchmarkContainerFailure finds the first failing completion and the core
// after two removes have exchanged their values.
func BenchmarkContainerFailure(b *testing.B) {
	for _, k := range allKinds {
		for _, where := range []float64{0.1, 0.9} {
			c := containerRun{ops: 1_000_000, processes: 40, adds: 0.5}.run(k, rand.New(rand.NewPCG(1, 2)))
			i := int(where * float64(c.Len()))
			for c.Kind[i] != models.Dequeue {
				i++
			}
			j := i + 400
			for c.Kind[j] != models.Dequeue {
				j++
			}
			c.A[i], c.A[j] = c.A[j], c.A[i]
			c.B[i], c.B[j] = c.B[j], c.B[i]
			b.Run(fmt.Sprintf("%s/at=%v", k.Name, where), func(b *testing.B) {
				core := 0
				for range b.N {
					d := k.Decide(c, fastpath.WantFailure)
					if d.FailEvent < 0 {
						b.Fatalf("%+v", d)
					}
					core = len(d.Core)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.Len()), "ns/operation")
				b.ReportMetric(float64(core), "core")
			})
		}
	}
}
