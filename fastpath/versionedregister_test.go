package fastpath

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"clew/models"
)

// versionedArgs are nil and two values, and every cas from one of them to a
// value. The first are for reads and writes.
var versionedArgs = [][2]int32{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}}

const anything = 255 // a value that nobody has told yet

// stepOfVersioned is the sequential meaning of an operation, where a state is
// the version and the value. If others may be anywhere, any updates can happen
// before it.
func stepOfVersioned(others bool) step {
	return func(dst []string, op models.Op, state string) []string {
		version, value, args := int32(state[0]), int32(state[1]), versionedArgs[op.B]
		want := op.A - 1 // the version that the operation is to find
		if op.Kind != models.Read {
			want--
		}
		if others && op.A > 0 && want > version {
			version, value = want, anything
		}
		if op.A > 0 && want != version {
			return dst
		}
		fits := value == args[0] || value == anything
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
		return append(dst, string([]byte{byte(version), byte(value)}))
	}
}

// versionedType is a versioned register that begins with a version and a value.
func versionedType(name string, first, value int32, completed, crashed []models.Op) *sweepType {
	return &sweepType{
		name: name,
		decide: func(c *models.Columns, want Want) Decision {
			return VersionedRegister(c, Versions{First: first, Value: value, Args: versionedArgs}, want)
		},
		init:      string([]byte{byte(first), byte(value)}),
		next:      stepOfVersioned(false),
		completed: completed,
		crashed:   crashed,
		says:      func(op models.Op) bool { return op.Kind != models.Read },
		like: func(op models.Op) (ways []models.Op) {
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
		core: versionedCore,
	}
}

// versionedOps are operations of versions from 1 to last, and 0 for reads.
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

// versionless are writes and cas as they crash.
func versionless(kinds ...models.Kind) (ops []models.Op) {
	for _, op := range versionedOps(1, kinds...) {
		op.A = 0
		ops = append(ops, op)
	}
	return ops
}

var (
	versionedReads = []models.Op{{Kind: models.Read, B: 1}, {Kind: models.Read, B: 2}} // without versions

	versionedTypes = []*sweepType{
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

// versionedCore says what is wrong with a core: the history up to the failure
// without reads that are open, or a choice that is wrong whatever others do, and
// no less of it is.
func versionedCore(k *sweepType, c *models.Columns, d Decision) string {
	switch d.Why.Pattern {
	case NoUpdate, TooFewUpdates, NeverCurrent:
		for i := range int32(c.Len()) {
			if slices.Contains(d.Core, i) != (c.Inv[i] < d.Fail && (c.Kind[i] != models.Read || c.Res[i] <= d.Fail)) {
				return "not the history up to the failure"
			}
		}
		return ""
	}
	cut, rows := k.cut(c, d.Fail)
	for s := range 1 << len(d.Core) {
		var some []int32
		for n, i := range d.Core {
			if s>>n&1 != 0 {
				some = append(some, i)
			}
		}
		x := rowsOf(cut, rows, some)
		o := &oracle{x, k.init, stepOfVersioned(true), map[position]bool{}}
		if o.linearizable(x.Events, all(x)) != (len(some) < len(d.Core)) {
			return fmt.Sprintf("not minimal, or not wrong whatever others do: %v", some)
		}
	}
	return ""
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
			if long {
				n = test.long
			}
			for n := range n + 1 {
				everySweep(t, k, n, k.alphabet)
			}
		})
	}
}

func TestRandomVersionedRegisters(t *testing.T) { randomSweep(t, versionedTypes...) }

// vRead, vWrite and vCAS are reads and writes of [version value], and cas of [version [from
// to]], as cases name them.
func vRead(version, value, inv, res int32) row { return row{models.Read, version, value, inv, res} }
func vWrite(version, value, inv, res int32) row {
	return row{models.Write, version, value, inv, res}
}
func vCAS(version, from, to, inv, res int32) row {
	return row{models.CAS, version, 3*to + from, inv, res}
}

func TestVersionedRegisterCases(t *testing.T) {
	const none = -1
	for _, test := range []struct {
		name    string
		rows    []row
		verdict Verdict
		fail    int32
		core    []int32
		why     Explanation
	}{
		{"an empty history", nil, Valid, -1, nil, Explanation{}},
		{"versions order what ran at the same time",
			[]row{vWrite(2, 1, 0, 2), vWrite(1, 2, 1, 3), vRead(2, 1, 4, 5)}, Valid, -1, nil, Explanation{}},
		{"a write before one that made an earlier version, which a crashed one may have made",
			[]row{vWrite(none, 1, 0, open), vWrite(2, 1, 1, 2), vWrite(1, 2, 3, 4)},
			Invalid, 4, []int32{1, 2}, Explanation{WrongVersion, []int32{2, 1}}},
		{"a write before one that made an earlier version, which nobody else can have made",
			[]row{vWrite(2, 1, 1, 2), vWrite(1, 2, 3, 4)},
			Invalid, 2, []int32{0}, Explanation{NoUpdate, []int32{0, Initial}}},
		{"a version that takes more updates",
			[]row{vWrite(1, 1, 0, 1), vWrite(7, 1, 2, 3)}, Invalid, 3, []int32{0, 1}, Explanation{TooFewUpdates, []int32{1}}},
		{"reads that go back, at the same time",
			[]row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 6), vRead(2, 2, 3, 5), vRead(1, 1, 4, 7)}, Valid, -1, nil, Explanation{}},
		{"reads that go back, one after the other",
			[]row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 7), vRead(2, 2, 3, 4), vRead(1, 1, 5, 6)},
			Invalid, 6, []int32{2, 3}, Explanation{WrongVersion, []int32{3, 2}}},
		{"two made a version",
			[]row{vWrite(1, 1, 0, 2), vWrite(1, 1, 1, 3)}, Invalid, 3, []int32{0, 1}, Explanation{MadeTwice, []int32{1, 0}}},
		{"a cas found another value than a read of the version before",
			[]row{vWrite(none, 1, 0, open), vCAS(2, 2, 1, 1, 3), vRead(1, 1, 2, 4)},
			Invalid, 3, []int32{0, 1}, Explanation{NoUpdate, []int32{1, Missing}}},
		{"a cas found another value than a read of the version before, which either may be",
			[]row{vWrite(none, 1, 0, open), vWrite(none, 2, 1, open), vCAS(2, 2, 1, 2, 4), vRead(1, 1, 3, 5)},
			Invalid, 5, []int32{2, 3}, Explanation{OtherValue, []int32{2, 3}}},
		{"nil in a read says nothing",
			[]row{vWrite(1, 1, 0, 1), vRead(1, 0, 2, 3)}, Valid, -1, nil, Explanation{}},
		{"but a version of another time does",
			[]row{vWrite(1, 1, 0, 1), vRead(0, 0, 2, 3)}, Invalid, 3, []int32{0, 1}, Explanation{WrongVersion, []int32{1, 0}}},
		{"a crashed cas leaves the crashed write for another",
			[]row{vWrite(none, 2, 0, open), vCAS(none, 1, 2, 1, open), vWrite(1, 1, 2, 3), vRead(2, 2, 4, 5), vWrite(3, 0, 6, 7), vRead(4, 2, 8, 9)},
			Valid, -1, nil, Explanation{}},
		{"a crashed write leaves a later gap to one that began later",
			[]row{vWrite(none, 1, 0, open), vWrite(2, 1, 1, 2), vWrite(none, 1, 3, open), vRead(3, 1, 4, 5)}, Valid, -1, nil, Explanation{}},
		{"a gap gives its cas to another and takes a write",
			[]row{vCAS(none, 1, 2, 0, open), vWrite(1, 1, 1, 2), vWrite(none, 1, 3, open), vWrite(3, 1, 4, 5), vRead(4, 2, 6, 7)},
			Valid, -1, nil, Explanation{}},
		{"a crashed cas may follow what a crashed write left",
			[]row{vWrite(none, 1, 0, open), vCAS(none, 1, 2, 1, open), vRead(2, 2, 2, 3)}, Valid, -1, nil, Explanation{}},
		{"what a crashed cas follows is not searched for long",
			[]row{vCAS(none, 0, 1, 0, open), vCAS(none, 2, 1, 1, open), vRead(2, 1, 2, 3)}, Ambiguous, -1, nil, Explanation{}},
		{"no crashed cas can follow it",
			[]row{vWrite(none, 1, 0, open), vCAS(none, 1, 1, 1, open), vRead(2, 2, 2, 3)},
			Invalid, 3, []int32{0, 1, 2}, Explanation{NoUpdate, []int32{2, Missing}}},
		{"nothing suits a gap, whatever fills others that are not clear",
			[]row{vCAS(none, 0, 1, 0, open), vCAS(none, 2, 1, 1, open), vCAS(none, 0, 2, 2, open), vRead(2, 1, 3, 4), vWrite(3, 1, 5, 6), vRead(4, 2, 7, 8)},
			Invalid, 8, []int32{0, 1, 2, 3, 4, 5}, Explanation{NoUpdate, []int32{5, 4}}},
		{"which write filled the gap before a read without a version matters",
			[]row{vWrite(none, 1, 0, open), vWrite(2, 2, 1, 5), vRead(none, 2, 2, 3), vWrite(none, 1, 4, open)}, Ambiguous, -1, nil, Explanation{}},
		{"a read without a version, between",
			[]row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 5), vRead(none, 1, 3, 4)}, Valid, -1, nil, Explanation{}},
		{"reads without versions that go back",
			[]row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 3), vRead(none, 2, 4, 5), vRead(none, 1, 6, 7)},
			Invalid, 7, []int32{0, 1, 2, 3}, Explanation{NeverCurrent, []int32{3}}},
		{"reads without versions that go back while what made them is open",
			[]row{vWrite(1, 1, 0, 1), vWrite(2, 2, 2, 7), vRead(none, 2, 3, 4), vRead(none, 1, 5, 6)},
			Invalid, -1, nil, Explanation{}},
		{"a read without a version of what crashed",
			[]row{vWrite(none, 1, 0, open), vRead(none, 1, 1, 2)}, Ambiguous, -1, nil, Explanation{}},
		{"an update that does not say its version", []row{vWrite(none, 1, 0, 1)}, Ambiguous, -1, nil, Explanation{}},
		{"a kind that it does not know", []row{{models.FailedCAS, 1, 1, 0, 1}}, Ambiguous, -1, nil, Explanation{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i := range test.rows {
				test.rows[i].a++ // as columns have it
			}
			c := columnsOf(test.rows...)
			d := versionedTypes[1].decide(c, WantWitness|WantFailure)
			if fmt.Sprint(d.Verdict, d.Fail, d.Core, d.Why) != fmt.Sprint(test.verdict, test.fail, test.core, test.why) {
				t.Errorf("%+v", d)
			}
			if test.verdict != Ambiguous && c.Len() > 0 {
				new(sweepCounts).compare(t, versionedTypes[1], c)
			}
		})
	}
}

// TestLemmaUpdatesInTimeFillGaps fills the gaps of random histories in every
// way: it is a linearization if and only if each update was invoked before its
// gap is due, and suits it.
func TestLemmaUpdatesInTimeFillGaps(t *testing.T) {
	histories := 3000
	if long {
		histories = 200_000
	}
	rng := rand.New(rand.NewPCG(3, 4))
	k := versionedTypes[1]
	fits, not := 0, 0
	for range histories {
		c := k.run(rng, 2+rng.IntN(8), 1+rng.IntN(5), 0.3)
		s := versionSweep{in: input{Columns: c}, Versions: Versions{Args: versionedArgs}}
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
			if err := k.replay(c, order); (err == nil) != (inTime && suits(c, order)) {
				t.Fatalf("%v: %v\n%s", order, err, showSweep(c))
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
	if fits < histories/10 || not < histories/50 {
		t.Error("too few")
	}
}

// suits says whether an order is possible, leaving aside when things ran.
func suits(c *models.Columns, order []int32) bool {
	states := []string{string([]byte{0, 0})}
	for _, i := range order {
		var after []string
		for _, s := range states {
			after = stepOfVersioned(false)(after, c.Op(i), s)
		}
		states = after
	}
	return len(states) > 0
}

// TestHardGapsAreGivenUp has gaps that all crashed writes suit, before those that
// half of them suit: repair would go through all of them again and again.
func TestHardGapsAreGivenUp(t *testing.T) {
	for _, test := range []struct {
		n    int32
		want Verdict
	}{{10, Valid}, {3000, Ambiguous}} {
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
		if d := versionedTypes[1].decide(c, WantVerdict); d.Verdict != test.want {
			t.Errorf("%d gaps: %+v", 2*test.n, d)
		}
	}
}

// TestLongVersionedRegisters is TestLongSweeps for versioned registers, which
// need many versions.
func TestLongVersionedRegisters(t *testing.T) {
	histories := 60
	if long {
		histories = 3000
	}
	rng := rand.New(rand.NewPCG(7, 8))
	var verdicts [Invalid + 1]int
	for range histories {
		c, args := versionedRun(rng, 100+rng.IntN(2000), 1<<rng.IntN(6), rng.IntN(10))
		if rng.IntN(2) == 0 {
			switch i := rng.IntN(c.Len()); {
			case c.Res[i] == models.Open || rng.IntN(2) == 0:
				args[c.B[i]][0] = 1 + rng.Int32N(5)
			default:
				c.A[i] += rng.Int32N(7) - 3
			}
		}
		decide := func(c *models.Columns, want Want) Decision {
			return VersionedRegister(c, Versions{Value: 1, Args: args}, want)
		}
		d := decide(c, WantWitness|WantFailure)
		verdicts[d.Verdict]++
		if d.Verdict == Invalid && d.Fail >= 0 {
			cut := input{Columns: c}.cut(d.Fail - 1)
			if decide(input{Columns: c}.cut(d.Fail).Columns, WantVerdict).Verdict != Invalid {
				t.Fatal("not invalid up to the first failing completion")
			}
			c = cut.Columns
			if d = decide(c, WantWitness); d.Verdict != Valid {
				t.Fatalf("%v just before the first failing completion", d.Verdict)
			}
		}
		if d.Verdict == Valid {
			if err := replayVersions(c, args, d.Witness); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%v: %d, %v: %d, %v: %d", Valid, verdicts[Valid], Invalid, verdicts[Invalid], Ambiguous, verdicts[Ambiguous])
	if 4*verdicts[Valid] < histories || 10*verdicts[Invalid] < histories {
		t.Error("too few of a verdict")
	}
}

// replayVersions checks a witness of a register that begins with 0 and 1.
func replayVersions(c *models.Columns, args [][2]int32, witness []int32) error {
	version, value, latest := int32(0), int32(1), int32(-1)
	in := make([]bool, c.Len())
	for n, i := range witness {
		arg, made := args[c.B[i]], version
		if c.Kind[i] != models.Read {
			made++
		}
		if in[i] || c.Res[i] < latest || c.A[i] > 0 && c.A[i] != made+1 || c.Kind[i] != models.Write && arg[0] != value {
			return fmt.Errorf("position %d: operation %d", n, i)
		}
		in[i], latest, version = true, max(latest, c.Inv[i]), made
		switch c.Kind[i] {
		case models.Write:
			value = arg[0]
		case models.CAS:
			value = arg[1]
		}
	}
	for i := range in {
		if !in[i] && c.Res[i] != models.Open {
			return fmt.Errorf("operation %d is missing", i)
		}
	}
	return nil
}
