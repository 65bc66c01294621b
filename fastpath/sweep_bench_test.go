package fastpath

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew/models"
)

// sweepRun is a simulation for benchmarks: each operation happens at a random
// instant between its invocation and its return.
type sweepRun struct {
	ops, processes int
	// begin is the operation that a process wants next, happen what it turns
	// out to be, if it can happen now.
	begin  func(process int32) models.Op
	happen func(op models.Op) (models.Op, bool)
}

func (s sweepRun) run(rng *rand.Rand) *models.Columns {
	c := &models.Columns{}
	open := make([]int32, s.processes) // plus 1
	happened := make([]bool, s.processes)
	for busy := 0; c.Len() < s.ops || busy > 0; {
		p := rng.Int32N(int32(s.processes))
		switch {
		case open[p] == 0:
			if c.Len() < s.ops {
				open[p], happened[p] = int32(c.Len())+1, false
				c.Append(c.Events, models.Open, s.begin(p))
				c.Events++
				busy++
			}
		case !happened[p]:
			i := open[p] - 1
			op, ok := s.happen(c.Op(i))
			happened[p] = ok
			c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
			if !ok && c.Len() == s.ops { // it may wait forever
				open[p] = 0
				busy--
			}
		default:
			c.Res[open[p]-1] = c.Events
			c.Events++
			open[p] = 0
			busy--
		}
	}
	return c
}

func benchSweep(b *testing.B, c *models.Columns, decide func(c *models.Columns, want Want) Decision) {
	for _, want := range []Want{WantVerdict, WantWitness} {
		b.Run([...]string{"decide", "witness"}[want], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if d := decide(c, want); d.Verdict != Valid {
					b.Fatalf("%v: %+v", d.Verdict, d.Reason)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.Len()), "ns/operation")
		})
	}
}

const benchOps = 1_000_000

func lookupSetRun(rng *rand.Rand, ops, processes int, values int32) *models.Columns {
	in := make([]bool, values)
	return sweepRun{ops, processes,
		func(int32) models.Op { return models.Op{Kind: models.Kind(rng.IntN(3)), A: rng.Int32N(values)} },
		func(op models.Op) (models.Op, bool) {
			was := in[op.A]
			kinds := [3][2]models.Kind{{models.Insert, models.InsertPresent}, {models.RemoveAbsent, models.Remove}, {models.HasNot, models.Has}}[op.Kind]
			if op.Kind < 2 {
				in[op.A] = op.Kind == 0
			}
			op.Kind = kinds[0]
			if was {
				op.Kind = kinds[1]
			}
			return op, true
		}}.run(rng)
}

func BenchmarkLookupSet(b *testing.B) {
	for _, test := range []struct {
		name           string
		ops, processes int
		values         int32
	}{
		{"1000 values", benchOps, 40, 1000},
		{"100000 values", benchOps, 40, 100_000},
		{"one value", benchOps, 40, 1},
		{"5000 processes on one value", benchOps, 5000, 1},
		{"24 values, 4 processes, 280000 operations", 280_000, 4, 24},
	} {
		b.Run(test.name, func(b *testing.B) {
			c := lookupSetRun(rand.New(rand.NewPCG(1, 2)), test.ops, test.processes, test.values)
			benchSweep(b, c, func(c *models.Columns, want Want) Decision { return LookupSet(c, nil, want) })
		})
	}
}

// lockRun lets each process acquire and release in turn.
func lockRun(rng *rand.Rand, ops, processes, permits int, owned bool) *models.Columns {
	holds := make([]bool, processes)
	free := permits
	return sweepRun{ops, processes,
		func(p int32) models.Op {
			op := models.Op{Kind: models.Acquire, B: 1}
			if holds[p] {
				op.Kind = models.Release
			}
			holds[p] = !holds[p]
			if owned {
				op.A = p
			}
			return op
		},
		func(op models.Op) (models.Op, bool) {
			if op.Kind == models.Release {
				free++
				return op, true
			}
			if free == 0 {
				return op, false
			}
			free--
			return op, true
		}}.run(rng)
}

func BenchmarkLocks(b *testing.B) {
	for _, test := range []struct {
		name    string
		permits int
		owned   bool
		decide  func(c *models.Columns, want Want) Decision
	}{
		{"mutex", 1, false, func(c *models.Columns, want Want) Decision { return Mutex(c, 0, want) }},
		{"semaphore of 10", 10, false, func(c *models.Columns, want Want) Decision { return Semaphore(c, 0, 10, want) }},
		{"owner-mutex", 1, true, func(c *models.Columns, want Want) Decision { return OwnerLock(c, Owned{Holds: 1}, want) }},
		{"reentrant-fenced-mutex", 1, true, func(c *models.Columns, want Want) Decision { return FencedLock(c, 2, want) }},
		{"semaphore of 10 with owners", 10, true, func(c *models.Columns, want Want) Decision { return OwnerLock(c, Owned{Permits: 10}, want) }},
	} {
		b.Run(test.name, func(b *testing.B) {
			c := lockRun(rand.New(rand.NewPCG(1, 2)), benchOps, 40, test.permits, test.owned)
			if strings.Contains(test.name, "fenced") {
				showFences(c)
			}
			benchSweep(b, c, test.decide)
		})
	}
}

// BenchmarkLockShapes is mutexes that are harder than what processes do, or
// easier, or longer.
func BenchmarkLockShapes(b *testing.B) {
	at := func(n int, op func(i int) (kind int, inv, res int32)) *models.Columns {
		c := &models.Columns{Events: 2 * int32(n)}
		for i := range n {
			kind, inv, res := op(i)
			c.Append(inv, res, models.Op{Kind: models.Kind(kind), B: 1})
		}
		return c
	}
	late := rand.New(rand.NewPCG(1, 2)).Perm(benchOps)
	const half = benchOps / 2
	for _, test := range []struct {
		name string
		make func() *models.Columns
	}{
		{"one process", func() *models.Columns {
			return at(benchOps, func(i int) (int, int32, int32) { return i % 2, 2 * int32(i), 2*int32(i) + 1 })
		}},
		{"everything concurrent", func() *models.Columns {
			return at(benchOps, func(i int) (int, int32, int32) { return i % 2, int32(i), benchOps + int32(late[i]) })
		}},
		// The releases are open for most of the time, and each is needed early.
		{"releases return much later", func() *models.Columns {
			return at(benchOps, func(i int) (int, int32, int32) {
				if i < half {
					return 1, int32(i), 2*benchOps - 1 - int32(i)
				}
				inv := half + 2*int32(i-half)
				return 0, inv, inv + 1
			})
		}},
		{"5000 processes", func() *models.Columns {
			return lockRun(rand.New(rand.NewPCG(1, 2)), benchOps, 5000, 1, false)
		}},
		{"10000 operations", func() *models.Columns {
			return lockRun(rand.New(rand.NewPCG(1, 2)), 10_000, 40, 1, false)
		}},
		{"4000000 operations", func() *models.Columns {
			return lockRun(rand.New(rand.NewPCG(1, 2)), 4_000_000, 40, 1, false)
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			benchSweep(b, test.make(), func(c *models.Columns, want Want) Decision { return Mutex(c, 0, want) })
		})
	}
}

// showFences has acquires show fences, in the order of their returns.
func showFences(c *models.Columns) {
	returns := make([]int32, c.Events)
	for i, res := range c.Res {
		c.B[i] = 0
		if c.Kind[i] == models.Acquire && res != models.Open {
			returns[res] = int32(i) + 1
		}
	}
	fence := int32(0)
	for _, i := range returns {
		if i > 0 {
			fence++
			c.B[i-1] = fence
		}
	}
}

// bagRun enqueues and dequeues, and asks a bag that is kept nearly empty.
func bagRun(rng *rand.Rand, ops, processes int, empties bool) *models.Columns {
	var in []int32
	fresh, wanted := int32(0), int32(0)
	return sweepRun{ops, processes,
		func(int32) models.Op {
			if rng.IntN(2) == 0 || wanted >= fresh && !empties { // else all might wait
				fresh++
				return models.Op{Kind: models.Enqueue, A: fresh}
			}
			wanted++
			return models.Op{Kind: models.Dequeue}
		},
		func(op models.Op) (models.Op, bool) {
			switch {
			case op.Kind == models.Enqueue:
				in = append(in, op.A)
				return op, true
			case len(in) > 0:
				k := rng.IntN(len(in))
				op.A = in[k]
				in[k] = in[len(in)-1]
				in = in[:len(in)-1]
				return op, true
			}
			if empties {
				op.Kind = models.DequeueEmpty
			}
			return op, empties
		}}.run(rng)
}

func BenchmarkUnorderedQueue(b *testing.B) {
	for _, test := range []struct {
		ops, processes int
		empties        bool
	}{
		{benchOps, 40, false}, {benchOps, 40, true},
		{benchOps, 1, true}, {benchOps, 5000, true}, {benchOps, benchOps, true},
		{10_000, 40, true}, {4_000_000, 40, true},
	} {
		b.Run(fmt.Sprintf("%d processes, %d operations, empties=%v", test.processes, test.ops, test.empties), func(b *testing.B) {
			c := bagRun(rand.New(rand.NewPCG(1, 2)), test.ops, test.processes, test.empties)
			for i := range c.Kind { // dequeues that still wait at the end
				if c.Res[i] == models.Open && c.Kind[i] == models.Dequeue {
					c.Kind[i] = models.DequeueAny
				}
			}
			benchSweep(b, c, func(c *models.Columns, want Want) Decision { return UnorderedQueue(c, nil, want) })
		})
	}
}

func BenchmarkGrowSet(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var sets [][]int32
	var now []int32
	fresh := int32(0)
	c := sweepRun{benchOps, 40,
		func(int32) models.Op {
			if rng.IntN(100_000) == 0 {
				return models.Op{Kind: models.ReadSet}
			}
			fresh++
			return models.Op{Kind: models.Add, A: rng.Int32N(fresh)}
		},
		func(op models.Op) (models.Op, bool) {
			if op.Kind == models.ReadSet {
				op.A = int32(len(sets))
				set := append([]int32{}, now...)
				sets = append(sets, sorted(set))
			} else {
				now = append(now, op.A)
			}
			return op, true
		}}.run(rng)
	elements := 0
	for _, s := range sets {
		elements += len(s)
	}
	b.Run(fmt.Sprintf("%d reads of %d values", len(sets), elements), func(b *testing.B) {
		benchSweep(b, c, func(c *models.Columns, want Want) Decision { return GrowSet(c, nil, sets, want) })
	})
}

// versionedRun is writes, cas and reads that say their version. Of a hundred,
// some crashed, and do not say it: updates that happened, and, in place of
// reads, updates that did not.
func versionedRun(rng *rand.Rand, ops, processes, crashed int) (*models.Columns, [][2]int32) {
	var args [][2]int32
	version, value := int32(0), int32(1)
	c := sweepRun{ops, processes,
		func(int32) models.Op {
			args = append(args, [2]int32{1 + rng.Int32N(5), 1 + rng.Int32N(5)})
			return models.Op{Kind: models.Kind(rng.IntN(3)), B: int32(len(args)) - 1}
		},
		func(op models.Op) (models.Op, bool) {
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
		}}.run(rng)
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
			c, args := versionedRun(rand.New(rand.NewPCG(1, 2)), benchOps, 40, crashed)
			benchSweep(b, c, func(c *models.Columns, want Want) Decision {
				return VersionedRegister(c, Versions{Value: 1, Args: args}, want)
			})
		})
	}
}
