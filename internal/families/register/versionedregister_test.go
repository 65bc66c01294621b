package register

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"clew/fastpath"
	"clew/internal/effort"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// versionedArgs holds nil and two values, then every cas from one of them
// to a value. The first three are for reads and writes.
var versionedArgs = [][2]int32{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}}

const anyValue = -1 // a value that has not been told yet

// stepOfVersioned is the sequential meaning of an operation whose values are args. A
// state is the version and the value. If others is set, any updates can happen before it.
func stepOfVersioned(values [][2]int32, others bool) func(dst []string, op models.Op, state string) []string {
	return func(dst []string, op models.Op, state string) []string {
		version, value, args := oracle.Number(state, 0), oracle.Number(state, 1), values[op.B]
		want := op.A - 1 // the version that the operation is to find
		if op.Kind != models.Read {
			want--
		}
		if others && op.A > 0 && want > version {
			version, value = want, anyValue
		}
		if op.A > 0 && want != version {
			return dst
		}
		fits := value == args[0] || value == anyValue
		switch op.Kind {
		case models.Read:
			if args[0] == 0 {
				fits = true
			} else {
				value = args[0]
			}
		case models.Write:
			version, value, fits = version+1, args[0], true
		case models.CAS:
			version, value = version+1, args[1]
		}
		if !fits {
			return dst
		}
		return append(dst, oracle.State(version, value))
	}
}

// versionedType returns a versioned register that begins with a version and a value.
func versionedType(name string, first, value int32, completed, crashed []models.Op) *testkit.Type {
	return &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.VersionsShape{First: first, Value: value, Args: versionedArgs}, c, want)
		},
		Spec:      oracle.Spec{Init: oracle.State(first, value), Step: stepOfVersioned(versionedArgs, false)},
		Completed: completed,
		Crashed:   crashed,
		Says:      func(op models.Op) bool { return op.Kind != models.Read },
		Like: func(op models.Op) (ways []models.Op) {
			for a := range int32(16) {
				way := op
				way.A = a + 1
				if op.A == 0 {
					way.A = 0
				}
				ways = append(ways, way)
				for b := int32(1); op.Kind == models.Read && op.B > 0 && b < 3; b++ {
					way.B = b
					ways = append(ways, way)
				}
			}
			return ways
		},
		Core: versionedCore,
	}
}

// versionedOps returns operations of versions from 1 to last, and of version 0 for reads.
func versionedOps(last int32, kinds ...models.Kind) (ops []models.Op) {
	for a := range last + 1 {
		for _, kind := range kinds {
			op := models.Op{Kind: kind, A: a + 1}
			switch {
			case kind == models.Read:
				for op.B = range int32(3) {
					ops = append(ops, op)
				}
			case a > 0 && kind == models.Write:
				for op.B = int32(1); op.B < 3; op.B++ {
					ops = append(ops, op)
				}
			case a > 0:
				for op.B = int32(3); op.B < 9; op.B++ {
					ops = append(ops, op)
				}
			}
		}
	}
	return ops
}

// versionless returns writes and cas as they crash.
func versionless(kinds ...models.Kind) (ops []models.Op) {
	for _, op := range versionedOps(1, kinds...) {
		op.A = 0
		ops = append(ops, op)
	}
	return ops
}

var (
	versionedReads = []models.Op{{Kind: models.Read, B: 1}, {Kind: models.Read, B: 2}} // without versions

	versionedTypes = []*testkit.Type{
		versionedType("versioned register of writes", 0, 0,
			versionedOps(3, models.Read, models.Write), versionless(models.Write)),
		versionedType("versioned register", 0, 0,
			versionedOps(3, models.Read, models.Write, models.CAS), versionless(models.Write, models.CAS)),
		versionedType("versioned register from version 1", 1, 2,
			versionedOps(4, models.Read, models.Write, models.CAS), slices.Concat(versionless(models.Write, models.CAS), versionedOps(3, models.Write))),
		versionedType("versioned register whose operations may not say the version", 0, 0,
			slices.Concat(versionedOps(2, models.Read, models.Write, models.CAS), versionedReads, versionedReads, versionless(models.Write)), versionless(models.Write, models.CAS)),
	}
)

// versionedCore says what is wrong with a core. A core may be the history up to the
// failure without open reads, or the operations about a missing update, with updates.
// Otherwise it is a minimal choice that is wrong whatever others do, with updates without
// any of which it would fail elsewhere. What is left of it in the end is tested elsewhere.
func versionedCore(k *testkit.Type, c *models.Columns, d fastpath.Decision) string {
	var shown []models.Row
	for _, row := range d.Why.Rows {
		if row >= 0 {
			shown = append(shown, row)
		}
	}
	slices.Sort(shown)
	missing := unmade(d.Why)
	gone := d.Why.Is(NeverCurrent)
	switch {
	case len(missing) > 0 && c.Res[missing[0]] == d.FailEvent:
		for _, i := range d.Core {
			if c.Kind[i] == models.Read && !slices.Contains(shown, i) {
				return "a read that has nothing to do with it"
			}
		}
		return ""
	case gone || len(missing) > 0:
		for i := range int32(c.Len()) {
			if slices.Contains(d.Core, i) != (c.Inv[i] < d.FailEvent && (c.Kind[i] != models.Read || c.Res[i] <= d.FailEvent)) {
				return "not the history up to the failure"
			}
		}
		return ""
	}
	others := oracle.New(c, oracle.Spec{Init: k.Init, Step: stepOfVersioned(versionedArgs, true)})
	if err := others.Core(shown, d.FailEvent, func(oracle.Set) bool { return true }); err != nil {
		return fmt.Sprintf("whatever others do: %v", err)
	}
	return k.Needless(c, d, func(i int32) bool { return !slices.Contains(shown, i) })
}

func TestEverySmallHistoryOfVersionedRegisters(t *testing.T) {
	for _, test := range []struct {
		name               string
		completed, crashed []models.Op
		n, long            int
	}{
		{"all operations", slices.Concat(versionedOps(3, models.Read, models.Write, models.CAS), versionedReads), versionless(models.Write, models.CAS), 2, 3},
		{"writes", slices.Concat(versionedOps(2, models.Write), versionedOps(3, models.Read)), versionless(models.Write), 2, 4},
		{"few values", []models.Op{{Kind: models.Write, A: 2, B: 1}, {Kind: models.Write, A: 3, B: 2}, {Kind: models.CAS, A: 3, B: 7},
			{Kind: models.Read, A: 2, B: 1}, {Kind: models.Read, A: 3}, {Kind: models.Read, A: 3, B: 2}, {Kind: models.Read, B: 1}},
			[]models.Op{{Kind: models.Write, B: 1}, {Kind: models.Write, B: 2}, {Kind: models.CAS, B: 7}}, 3, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := versionedType(test.name, 0, 0, test.completed, test.crashed)
			n := test.n
			if testkit.Long {
				n = test.long
			}
			for n := range n + 1 {
				k.Every(t, n, 1, k.Alphabet)
			}
		})
	}
}

func TestRandomVersionedRegisters(t *testing.T) { testkit.RandomHistories(t, versionedTypes...) }

func TestGapsBetweenEventsOfVersionedRegistersDoNotMatter(t *testing.T) {
	testkit.GapsDoNotMatter(t, versionedTypes...)
}

// vRead, vWrite and vCAS return the reads and writes of [version value],
// and cas of [version [from to]], that cases name.
func vRead(version, value, inv, res int32) testkit.Row {
	return testkit.At(models.Read, version, value, inv, res)
}
func vWrite(version, value, inv, res int32) testkit.Row {
	return testkit.At(models.Write, version, value, inv, res)
}
func vCAS(version, from, to, inv, res int32) testkit.Row {
	return testkit.At(models.CAS, version, 3*to+from, inv, res)
}

func TestVersionedRegisterCases(t *testing.T) {
	const open = models.Open
	for _, test := range []struct {
		name    string
		rows    []testkit.Row
		verdict jepsen.Verdict
		fail    int32
		core    []int32
		why     *fastpath.Finding
	}{
		{"an empty history", nil, jepsen.Valid, -1, nil, nil},
		{"versions order what ran at the same time",
			[]testkit.Row{vWrite(2, 1, 0, 2), vWrite(1, 2, 1, 3), vRead(2, 1, 4, 5)}, jepsen.Valid, -1, nil, nil},
		{"a write before one that made an earlier version, which a crashed one may have made",
			[]testkit.Row{vWrite(none, 1, 0, open), vWrite(2, 1, 1, 2), vWrite(1, 2, 3, 4)},
			jepsen.Invalid, 4, []int32{0, 1, 2}, WrongVersion.Of(2, 1)},
		{"a write before one that made an earlier version, which nobody else can have made",
			[]testkit.Row{vWrite(2, 1, 1, 2), vWrite(1, 2, 3, 4)},
			jepsen.Invalid, 2, []int32{0}, NoUpdate.Of(0, fastpath.Initial)},
		{"a version that takes more updates",
			[]testkit.Row{vWrite(1, 1, 0, 1), vWrite(7, 1, 2, 3)}, jepsen.Invalid, 3, []int32{1}, TooFewUpdates.Of(1)},
		{"reads that go back, at the same time",
			[]testkit.Row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 6), vRead(2, 2, 3, 5), vRead(1, 1, 4, 7)}, jepsen.Valid, -1, nil, nil},
		{"reads that go back, one after the other",
			[]testkit.Row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 7), vRead(2, 2, 3, 4), vRead(1, 1, 5, 6)},
			jepsen.Invalid, 6, []int32{0, 1, 2, 3}, WrongVersion.Of(3, 2)},
		{"two made a version",
			[]testkit.Row{vWrite(1, 1, 0, 2), vWrite(1, 1, 1, 3)}, jepsen.Invalid, 3, []int32{0, 1}, MadeTwice.Of(1, 0)},
		{"a cas found another value than a read of the version before",
			[]testkit.Row{vWrite(none, 1, 0, open), vCAS(2, 2, 1, 1, 3), vRead(1, 1, 2, 4)},
			jepsen.Invalid, 3, []int32{1}, NoUpdate.Of(1, fastpath.Initial)},
		{"a cas found another value than a read of the version before, which either may be",
			[]testkit.Row{vWrite(none, 1, 0, open), vWrite(none, 2, 1, open), vCAS(2, 2, 1, 2, 4), vRead(1, 1, 3, 5)},
			jepsen.Invalid, 5, []int32{1, 2, 3}, OtherValue.Of(2, 3)},
		{"nil in a read says nothing",
			[]testkit.Row{vWrite(1, 1, 0, 1), vRead(1, 0, 2, 3)}, jepsen.Valid, -1, nil, nil},
		{"but a version of another time does",
			[]testkit.Row{vWrite(1, 1, 0, 1), vRead(0, 0, 2, 3)}, jepsen.Invalid, 3, []int32{0, 1}, WrongVersion.Of(1, 0)},
		{"a crashed cas leaves the crashed write for another",
			[]testkit.Row{vWrite(none, 2, 0, open), vCAS(none, 1, 2, 1, open), vWrite(1, 1, 2, 3), vRead(2, 2, 4, 5), vWrite(3, 0, 6, 7), vRead(4, 2, 8, 9)},
			jepsen.Valid, -1, nil, nil},
		{"a crashed write leaves a later gap to one that began later",
			[]testkit.Row{vWrite(none, 1, 0, open), vWrite(2, 1, 1, 2), vWrite(none, 1, 3, open), vRead(3, 1, 4, 5)}, jepsen.Valid, -1, nil, nil},
		{"a gap gives its cas to another and takes a write",
			[]testkit.Row{vCAS(none, 1, 2, 0, open), vWrite(1, 1, 1, 2), vWrite(none, 1, 3, open), vWrite(3, 1, 4, 5), vRead(4, 2, 6, 7)},
			jepsen.Valid, -1, nil, nil},
		{"a crashed cas may follow what a crashed write left",
			[]testkit.Row{vWrite(none, 1, 0, open), vCAS(none, 1, 2, 1, open), vRead(2, 2, 2, 3)}, jepsen.Valid, -1, nil, nil},
		{"what a crashed cas follows is not searched for long",
			[]testkit.Row{vCAS(none, 0, 1, 0, open), vCAS(none, 2, 1, 1, open), vRead(2, 1, 2, 3)}, jepsen.Unknown, -1, nil, nil},
		{"no crashed cas can follow it",
			[]testkit.Row{vWrite(none, 1, 0, open), vCAS(none, 1, 1, 1, open), vRead(2, 2, 2, 3)},
			jepsen.Invalid, 3, []int32{2}, NoUpdate.Of(2, fastpath.Initial)},
		{"nothing suits a gap, whatever fills others that are not clear",
			[]testkit.Row{vCAS(none, 0, 1, 0, open), vCAS(none, 2, 1, 1, open), vCAS(none, 0, 2, 2, open), vRead(2, 1, 3, 4), vWrite(3, 1, 5, 6), vRead(4, 2, 7, 8)},
			jepsen.Invalid, 8, []int32{1, 2, 4, 5}, NoUpdate.Of(5, 4)},
		{"which write filled the gap before a read without a version matters",
			[]testkit.Row{vWrite(none, 1, 0, open), vWrite(2, 2, 1, 5), vRead(none, 2, 2, 3), vWrite(none, 1, 4, open)}, jepsen.Unknown, -1, nil, nil},
		{"a read without a version, between",
			[]testkit.Row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 5), vRead(none, 1, 3, 4)}, jepsen.Valid, -1, nil, nil},
		{"reads without versions that go back",
			[]testkit.Row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 3), vRead(none, 2, 4, 5), vRead(none, 1, 6, 7)},
			jepsen.Invalid, 7, []int32{0, 1, 2, 3}, NeverCurrent.Of(3)},
		{"reads without versions that go back while what made them is open",
			[]testkit.Row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 7), vRead(none, 2, 3, 4), vRead(none, 1, 5, 6)},
			jepsen.Invalid, -1, nil, nil},
		{"a read without a version of what crashed",
			[]testkit.Row{vWrite(none, 1, 0, open), vRead(none, 1, 1, 2)}, jepsen.Unknown, -1, nil, nil},
		{"an update that does not say its version", []testkit.Row{vWrite(none, 1, 0, 1)}, jepsen.Unknown, -1, nil, nil},
		{"a kind that it does not know", []testkit.Row{testkit.At(models.FailedCAS, 1, 1, 0, 1)}, jepsen.Unknown, -1, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i := range test.rows {
				test.rows[i].A++ // as in columns
			}
			c := testkit.Columns(test.rows...)
			d := versionedTypes[1].Decide(c, fastpath.WantWitness|fastpath.WantFailure)
			testkit.Expect(t, d, test.verdict, test.fail, test.core, test.why)
			if test.verdict != jepsen.Unknown && c.Len() > 0 {
				versionedTypes[1].Compare(t, new(testkit.Counts), c)
			}
		})
	}
}

// TestLemmaUpdatesInTimeFillGaps fills the gaps of random histories in
// every way. The result must be a linearization if and only if each update
// suits its gap and was invoked before the gap is due.
func TestLemmaUpdatesInTimeFillGaps(t *testing.T) {
	histories := effort.Histories(1000, 200_000)
	rng := rand.New(rand.NewPCG(3, 4))
	k := versionedTypes[1]
	fits, not := 0, 0
	for range histories {
		c := k.Run(rng, 2+rng.IntN(8), 1+rng.IntN(5), 0.3)
		s := versionSweep{in: fastpath.Input{Columns: c}, VersionsShape: models.VersionsShape{Args: versionedArgs}}
		if _, found := s.measure(); found {
			continue
		}
		if versionless, _, found := s.enter(); found || versionless >= 0 || len(s.unnamed) > 0 {
			continue
		}
		if _, found := s.compare(); found || len(s.gaps) == 0 {
			continue
		}
		var order []int32
		used := map[int32]bool{}
		var fill func(gap int)
		fill = func(gap int) {
			if gap < len(s.gaps) {
				for _, i := range s.open {
					if !used[i] {
						used[i] = true
						s.versions[s.gaps[gap].version].update = i + 1
						fill(gap + 1)
						s.versions[s.gaps[gap].version].update = 0
						used[i] = false
					}
				}
				return
			}
			inTime := true
			for _, g := range s.gaps {
				i := s.versions[g.version].update - 1
				for j, a := range c.A { // all that returned and are of this version or a later one
					if c.Res[j] < c.Inv[i] && a-1 >= g.version {
						inTime = false
					}
				}
			}
			order = s.order()
			if err := k.Shows(c, order); (err == nil) != (inTime && suits(c, order)) {
				t.Fatalf("%v: %v\n%s", order, err, testkit.Show(c))
			}
			if inTime {
				fits++
			} else {
				not++
			}
		}
		fill(0)
	}
	t.Logf("%d in time, %d not", fits, not)
	if fits < int(histories)/10 || not < int(histories)/50 {
		t.Error("too few")
	}
}

// suits reports whether an order is possible, ignoring when operations ran.
func suits(c *models.Columns, order []int32) bool {
	untimed := &models.Columns{Events: int32(c.Len())}
	for i := range int32(c.Len()) {
		untimed.Append(i, models.Open, c.Op(i))
	}
	return versionedTypes[1].Shows(untimed, order) == nil
}

// TestHardGapsAreGivenUp has gaps that all crashed writes suit, before gaps that half
// of them suit. Without a bound, repair would go through all of them again and again.
func TestHardGapsAreGivenUp(t *testing.T) {
	for _, test := range []struct {
		n    int32
		want jepsen.Verdict
	}{{10, jepsen.Valid}, {3000, jepsen.Unknown}} {
		c := &models.Columns{}
		add := func(kind models.Kind, version, b int32, crashed bool) {
			c.Append(c.Events, models.Open, models.Op{Kind: kind, A: version + 1, B: b})
			c.Events++
			if !crashed {
				c.Res[c.Len()-1] = c.Events
				c.Events++
			}
		}
		add(models.CAS, -1, 3, true)
		for range test.n {
			add(models.Write, -1, 1, true)
			add(models.Write, -1, 2, true)
		}
		for v := int32(2); v <= 2*test.n; v += 2 {
			add(models.Write, v, 1, false)
		}
		for v := 2*test.n + 1; v <= 4*test.n; v += 2 {
			add(models.Read, v, 2, false)
			add(models.Write, v+1, 1, false)
		}
		if d := versionedTypes[1].Decide(c, fastpath.WantVerdict); d.Verdict != test.want {
			t.Errorf("%d gaps: %+v", 2*test.n, d)
		}
	}
}

// TestLongVersionedRegisters has histories of many versions and values.
func TestLongVersionedRegisters(t *testing.T) {
	m := testkit.Marathon{Seed: 7, Full: 60, Long: 3000, Make: func(rng *rand.Rand) (*testkit.Type, *models.Columns, bool) {
		c, args := versionedRun(rng, 100+rng.IntN(2000), 1<<rng.IntN(6), rng.IntN(10))
		spoiled := rng.IntN(2) == 0
		if spoiled {
			switch i := rng.IntN(c.Len()); {
			case c.Res[i] == models.Open || rng.IntN(2) == 0:
				args[c.B[i]][0] = 1 + rng.Int32N(5)
			default:
				c.A[i] += rng.Int32N(7) - 3
			}
		}
		k := versionedType("versioned register", 0, 1, nil, nil)
		k.Step = stepOfVersioned(args, false)
		k.Decide = func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.VersionsShape{Value: 1, Args: args}, c, want)
		}
		return k, c, spoiled
	}}
	verdicts := m.Run(t)
	histories := verdicts[jepsen.Valid] + verdicts[jepsen.Invalid] + verdicts[jepsen.Unknown]
	if 4*verdicts[jepsen.Valid] < histories || 10*verdicts[jepsen.Invalid] < histories {
		t.Error("too few of a verdict")
	}
}
