package testkit

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"clew/fastpath"
	"clew/internal/effort"
	"clew/jepsen"
	"clew/models"
)

// Sample describes random histories of a type.
type Sample struct {
	Make func(rng *rand.Rand) *models.Columns
	Seed uint64
	// Full and Long are numbers of histories; see effort.Histories.
	Full, Long uint64
	// Prefixes: one in this many histories is also decided prefix by prefix.
	Prefixes int
}

// Random compares random histories.
func (k *Type) Random(t *testing.T, s Sample) {
	t.Helper()
	rng := rand.New(rand.NewPCG(s.Seed, s.Seed+1))
	var n Counts
	for range effort.Histories(s.Full, s.Long) {
		c := s.Make(rng)
		k.Compare(t, &n, c)
		if rng.IntN(s.Prefixes) == 0 {
			k.prefixes(t, c)
		}
	}
	t.Log(&n)
}

// RandomHistories compares random histories of some types.
func RandomHistories(t *testing.T, types ...*Type) {
	for _, k := range types {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			k.Random(t, Sample{Make: k.Small, Seed: 1, Full: 7000, Long: 1_000_000, Prefixes: 8})
		})
	}
}

// prefixes decides every prefix that ends in a completion as a history of
// its own. If there is a verdict, it must be right.
func (k *Type) prefixes(t *testing.T, c *models.Columns) {
	t.Helper()
	fail := k.History(c).FirstFailing()
	for _, end := range c.Res {
		if end == models.Open {
			continue
		}
		cut, _ := k.Cut(c, end)
		d := k.Decide(cut, fastpath.WantWitness)
		if d.Verdict != jepsen.Unknown && (d.Verdict == jepsen.Invalid) != (fail >= 0 && fail <= end) {
			t.Fatalf("%s up to %d: %v, first failing completion is %d\n%s", k.Name, end, d.Verdict, fail, k.Show(c))
		}
		if d.Verdict == jepsen.Valid {
			if err := k.witness(k.History(cut), d.Witness, cut.Events); err != nil {
				t.Fatalf("%s up to %d: %v\n%s", k.Name, end, err, k.Show(c))
			}
		}
	}
}

// Every compares every history of n operations, or a random sample of one in oneOf. With
// the race detector it takes a seventh of those with three or more operations. ops says
// which operations may come next in a history, one that crashes or one that returns.
func (k *Type) Every(t *testing.T, n, oneOf int, ops func(c *models.Columns, open bool) []models.Op) {
	t.Helper()
	if effort.Few() && n >= 3 {
		oneOf *= 7
	}
	var counted Counts
	rng := rand.New(rand.NewPCG(uint64(n), uint64(oneOf)))
	shapes(n, func(inv, res []int32) {
		c := &models.Columns{Events: 2 * int32(n)}
		var add func(i int)
		add = func(i int) {
			if i == n {
				if rng.IntN(oneOf) == 0 {
					k.Compare(t, &counted, c)
				}
				return
			}
			for _, op := range ops(c, res[i] == models.Open) {
				c.Append(inv[i], res[i], op)
				add(i + 1)
				c.Inv, c.Res, c.Kind, c.A, c.B = c.Inv[:i], c.Res[:i], c.Kind[:i], c.A[:i], c.B[:i]
			}
		}
		add(0)
	})
	t.Log(&counted)
}

// EverySmall compares every history of some types up to a number of operations,
// which differs between the usual and the long mode. ops is as for Every.
func EverySmall(t *testing.T, usual, long int, ops func(k *Type, c *models.Columns, open bool) []models.Op, types ...*Type) {
	most := usual
	if Long {
		most = long
	}
	for _, k := range types {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			for n := range most + 1 {
				k.Every(t, n, 1, func(c *models.Columns, open bool) []models.Op { return ops(k, c, open) })
			}
		})
	}
}

// Spread describes how to rewrite a history with other, sparse numbers.
type Spread struct {
	// Type decides the other history; nil: the same type does.
	Type *Type
	Make func(rng *rand.Rand) *models.Columns
	Seed uint64
	// N is how many histories all tests take; see effort.Histories.
	N    uint64
	Want fastpath.Want
	// Factor and Shift compute events.
	Factor, Shift int32
	Op            func(op models.Op) models.Op
	// AnyOrder: the witness before the failure depends on events at which nothing
	// happens.
	AnyOrder bool
}

// NumbersDoNotMatter rewrites histories with other numbers and decides them again.
func (k *Type) NumbersDoNotMatter(t *testing.T, s Spread) {
	t.Helper()
	if s.Type == nil {
		s.Type = k
	}
	rng := rand.New(rand.NewPCG(s.Seed, s.Seed+1))
	for range effort.Histories(s.N, s.N) {
		c := s.Make(rng)
		far := &models.Columns{Events: c.Events*s.Factor + s.Shift}
		for i := range int32(c.Len()) {
			res := c.Res[i]
			if res != models.Open {
				res = res*s.Factor + s.Shift
			}
			far.Append(c.Inv[i]*s.Factor+s.Shift/2, res, s.Op(c.Op(i)))
		}
		want, got := k.Decide(c, s.Want), s.Type.Decide(far, s.Want)
		for _, t := range []*int32{&want.FailEvent, &want.BoundEvent} {
			if *t >= 0 {
				*t = *t*s.Factor + s.Shift
			}
		}
		if s.AnyOrder {
			got.Before, want.Before = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v\nnot %+v\n%s", k.Name, got, want, k.Show(c))
		}
	}
}

// GapsDoNotMatter decides histories with sparse events. Their values are
// sparse, too, if they are only numbers.
func GapsDoNotMatter(t *testing.T, types ...*Type) {
	for _, k := range types {
		t.Run(k.Name, func(t *testing.T) {
			k.NumbersDoNotMatter(t, Spread{Make: k.Small, Seed: 5, N: 2000, Want: fastpath.WantWitness | fastpath.WantFailure,
				Factor: 1000, Op: func(op models.Op) models.Op {
					if k.Owned || k.Numbered != nil && k.Numbered(op) {
						op.A = op.A*1_000_003 + 5
					}
					return op
				}})
		})
	}
}

// Marathon describes long histories.
type Marathon struct {
	Make func(rng *rand.Rand) (k *Type, c *models.Columns, spoiled bool)
	Seed uint64
	// Full and Long are numbers of histories; see effort.Histories.
	Full, Long uint64
	// Decided: every history is decided, with its first failing completion, and is
	// valid unless it was spoiled.
	Decided bool
}

// Run checks the evidence for the histories and returns how many had each verdict.
func (m Marathon) Run(t *testing.T) (verdicts [jepsen.Invalid + 1]int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(m.Seed, m.Seed+1))
	cores := 0
	for range effort.Histories(m.Full, m.Long) {
		k, c, spoiled := m.Make(rng)
		d := k.Decide(c, fastpath.WantWitness|fastpath.WantFailure)
		if m.Decided && (d.Verdict == jepsen.Unknown || d.Verdict == jepsen.Invalid && (!spoiled || d.FailEvent < 0)) {
			t.Fatalf("spoiled: %t; %+v", spoiled, d)
		}
		if err := k.judgeLong(c, d); err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		verdicts[d.Verdict]++
		cores += len(d.Core)
	}
	t.Logf("%d valid, %d invalid, %d unknown; cores of %.1f operations", verdicts[jepsen.Valid], verdicts[jepsen.Invalid],
		verdicts[jepsen.Unknown], float64(cores)/float64(max(1, verdicts[jepsen.Invalid])))
	return verdicts
}

// LongHistories checks the evidence for long histories of some types. Half
// of the histories are spoiled.
func LongHistories(t *testing.T, types ...*Type) {
	for _, k := range types {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			Marathon{Seed: 7, Full: 30, Long: 1000, Make: func(rng *rand.Rand) (*Type, *models.Columns, bool) {
				c := k.Run(rng, 200+rng.IntN(1000), 1<<rng.IntN(6), 0)
				spoiled := rng.IntN(2) == 0
				if spoiled {
					k.Spoil(c, rng)
				}
				return k, c, spoiled
			}}.Run(t)
		})
	}
}

// shapes calls f with every way in which n operations can be invoked,
// return and crash. It numbers events without gaps.
func shapes(n int, f func(inv, res []int32)) {
	inv, res := make([]int32, 0, n), make([]int32, 0, n)
	var next func(t int32, open []int)
	next = func(t int32, open []int) {
		if len(inv) == n && len(open) == 0 {
			f(inv, res)
			return
		}
		if len(inv) < n {
			i := len(inv)
			inv, res = append(inv, t), append(res, models.Open)
			next(t+1, append(open[:len(open):len(open)], i))
			next(t+1, open) // crashes
			inv, res = inv[:i], res[:i]
		}
		for k, i := range open {
			res[i] = t
			next(t+1, append(append([]int{}, open[:k]...), open[k+1:]...))
			res[i] = models.Open
		}
	}
	next(0, nil)
}
