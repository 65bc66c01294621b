package transaction

import (
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

// registers are transactions on a few registers, with histories of their own.
type registers struct {
	testkit.Type
	txns    [][]models.RegisterStep
	repeats float64 // how many writes have a value that was written before, or the initial one
}

const mostKeys = 3

func newRegisters() *registers {
	x := &registers{}
	x.Name = "registers"
	x.Decide = func(c *models.Columns, want fastpath.Want) fastpath.Decision {
		return testkit.Decide(Path, x.shape(), c, want)
	}
	x.Init = string(slices.Repeat([]byte{'0'}, mostKeys))
	x.Step = func(dst []string, op models.Op, s string) []string {
		now := []byte(s)
		for _, step := range x.txns[op.A] {
			if step.Write {
				now[step.Slot] = byte('0' + step.Value)
			} else if now[step.Slot] != byte('0'+step.Value) {
				return dst
			}
		}
		return append(dst, string(now))
	}
	x.Says = func(op models.Op) bool {
		return slices.ContainsFunc(x.txns[op.A], func(s models.RegisterStep) bool { return s.Write })
	}
	x.Later = func(why *fastpath.Finding) models.Row {
		if why.Is(unwritten) {
			return why.Rows[1]
		}
		return fastpath.Missing
	}
	x.Closed = func(c *models.Columns, d fastpath.Decision) func(ops oracle.Set) bool {
		return func(ops oracle.Set) bool {
			for _, row := range ops.Rows() {
				for writer := range int32(c.Len()) {
					if c.Inv[writer] < d.FailEvent && ops&(1<<writer) == 0 && x.saw(c, row, writer) {
						return false
					}
				}
			}
			return true
		}
	}
	return x
}

func (x *registers) shape() models.TxnRegistersShape {
	return models.TxnRegistersShape{Init: func(int32) int32 { return 0 }, Of: func(txn int32) []models.RegisterStep { return x.txns[txn] }}
}

// saw says whether a row saw from outside what a writer wrote.
func (x *registers) saw(c *models.Columns, row, writer models.Row) bool {
	if row == writer {
		return false
	}
	for _, r := range x.txns[c.A[row]] {
		for _, w := range x.txns[c.A[writer]] {
			if !r.Write && r.Outer && w.Write && r.Slot == w.Slot && r.Value == w.Value {
				return true
			}
		}
	}
	return false
}

// outer marks the outer steps of a transaction.
func outer(txn []models.RegisterStep) {
	for i := range txn {
		same := func(s models.RegisterStep) bool { return s.Write && s.Slot == txn[i].Slot }
		if txn[i].Write {
			txn[i].Outer = !slices.ContainsFunc(txn[i+1:], same)
		} else {
			txn[i].Outer = !slices.ContainsFunc(txn[:i], same)
		}
	}
}

// history returns a history of a store that sometimes errs.
func (x *registers) history(rng *rand.Rand, least, most, keys, busy int, errs float64) *models.Columns {
	x.txns = x.txns[:0]
	c := &models.Columns{}
	n := least + rng.IntN(most-least+1)
	now := make([]int32, keys)
	written := make([][]int32, keys)
	for k := range written {
		written[k] = []int32{0}
	}
	fresh := int32(0)
	var open []models.Row // those in progress
	effect := make([]bool, n)
	crash := rng.Float64() * 0.4
	apply := func(row models.Row) {
		effect[row] = true
		txn := x.txns[row]
		own := slices.Clone(now)
		for slot, all := range written {
			if rng.Float64() < errs { // it sees another version of the key
				own[slot] = all[rng.IntN(len(all))]
			}
		}
		for i, s := range txn {
			if s.Write {
				own[s.Slot], now[s.Slot] = s.Value, s.Value
			} else if txn[i].Value = own[s.Slot]; rng.Float64() < errs/20 { // it sees a third one
				txn[i].Value = rng.Int32N(fresh + 2)
			}
		}
	}
	for c.Len() < n || len(open) > 0 {
		if c.Len() < n && len(open) < busy && (len(open) == 0 || rng.IntN(2) == 0) {
			var txn []models.RegisterStep
			for range 1 + rng.IntN(3) {
				s := models.RegisterStep{Slot: rng.Int32N(int32(keys)), Write: rng.IntN(2) == 0}
				if s.Write {
					fresh++
					if s.Value = fresh; rng.Float64() < x.repeats {
						s.Value = rng.Int32N(fresh)
					}
					written[s.Slot] = append(written[s.Slot], s.Value)
				}
				txn = append(txn, s)
			}
			outer(txn)
			x.txns = append(x.txns, txn)
			row := models.Row(c.Len())
			open = append(open, row)
			c.Append(c.Events, models.Open, models.Op{A: row})
			c.Events++
			continue
		}
		i := rng.IntN(len(open))
		row := open[i]
		if !effect[row] && rng.IntN(3) > 0 {
			apply(row)
			continue
		}
		if rng.Float64() < crash { // it may have happened, or happen later
			if !effect[row] && rng.IntN(2) == 0 {
				continue
			}
			x.txns[row] = slices.DeleteFunc(x.txns[row], func(s models.RegisterStep) bool { return !s.Write })
		} else {
			if !effect[row] {
				apply(row)
			}
			c.Res[row] = c.Events
			c.Events++
		}
		open = slices.Delete(open, i, i+1)
	}
	return c
}

func TestRegistersAgreeWithExhaustiveSearch(t *testing.T) {
	for _, errs := range []float64{0.02, 0.1, 0.4} {
		x := newRegisters()
		x.Random(t, testkit.Sample{Make: func(rng *rand.Rand) *models.Columns {
			return x.history(rng, 2, 7, 1+rng.IntN(mostKeys), 1+rng.IntN(5), errs)
		}, Seed: uint64(errs * 100), Full: 3500, Long: 1_000_000, Prefixes: 8})
	}
}

// What a value that was written twice shows is left to the general search, but it does no harm if it was not read.
func TestRepeatedValuesAreAmbiguousOnlyIfTheyAreRead(t *testing.T) {
	x := newRegisters()
	x.repeats = 0.1
	x.Doubt = func(c *models.Columns, reason *fastpath.Finding) bool {
		wrote := func(row models.Row) bool {
			if row == fastpath.Initial {
				return reason.Values[0] == 0
			}
			return slices.ContainsFunc(x.txns[c.A[row]], func(s models.RegisterStep) bool { return s.Write && s.Value == reason.Values[0] })
		}
		return reason.Is(again) && reason.Rows[1] != reason.Rows[2] && wrote(reason.Rows[1]) && wrote(reason.Rows[2])
	}
	x.Random(t, testkit.Sample{Make: func(rng *rand.Rand) *models.Columns {
		return x.history(rng, 2, 7, 1+rng.IntN(mostKeys), 1+rng.IntN(5), 0.2)
	}, Seed: 9, Full: 3500, Long: 300_000, Prefixes: 8})
}

// Nearly everything is concurrent, so that the order of many writes is a choice.
func TestConcurrentRegistersAgreeWithExhaustiveSearch(t *testing.T) {
	for _, errs := range []float64{0.2, 0.6} {
		x := newRegisters()
		x.Random(t, testkit.Sample{Make: func(rng *rand.Rand) *models.Columns {
			return x.history(rng, 6, 9, mostKeys, 9, errs)
		}, Seed: uint64(errs * 1000), Full: 1000, Long: 300_000, Prefixes: 8})
	}
}

// Without real time it is as if all transactions were concurrent. If choices are made against the order, the
// solver has to learn from conflicts.
func TestSerializableAgreesWithExhaustiveSearch(t *testing.T) {
	x := newRegisters()
	rng := rand.New(rand.NewPCG(7, 7))
	found, conflicts := map[jepsen.Verdict]int{}, int64(0)
	for n := range effort.Histories(7000, 1_000_000) {
		c := x.history(rng, 2, 7+int(n%3), 1+rng.IntN(mostKeys), 1+rng.IntN(9), 0.3)
		concurrent := concurrently(c)
		shape := x.shape()
		for _, realTime := range []bool{true, false} {
			for _, contrary := range []bool{true, false} {
				s, is := newSweep(fastpath.PlainInput(t.Context(), c), &shape, &Keeps{Time: realTime}), c
				s.contrary = contrary
				r, want := s.run(true), jepsen.Invalid
				if conflicts += s.s.Conflicts; !realTime {
					is = concurrent
				}
				if x.Linearizable(is) {
					want = jepsen.Valid
				}
				if r.Verdict != want {
					t.Fatalf("real time %t, contrary %t: %v, but exhaustive search says %v\n%s%v", realTime, contrary, r.Verdict, want, x.Show(c), x.txns)
				}
				if want == jepsen.Valid {
					if err := x.Shows(is, r.Witness); err != nil {
						t.Fatalf("%v\n%s%v", err, x.Show(c), x.txns)
					}
				}
				found[want]++
			}
		}
		d := Registers(t.Context(), c, shape, Keeps{})
		if (d.Verdict == jepsen.Valid) != x.Linearizable(concurrent) {
			t.Fatalf("%v\n%s%v", d.Verdict, x.Show(c), x.txns)
		}
		if d.Verdict == jepsen.Invalid {
			x.checkSerializableCore(t, concurrent, d)
		}
	}
	t.Log(found, conflicts, "conflicts")
}

// concurrently returns a history in which all transactions are concurrent.
func concurrently(c *models.Columns) *models.Columns {
	n := int32(c.Len())
	concurrent := &models.Columns{Events: 2 * n}
	for row := range n {
		res := n + row
		if c.Res[row] == models.Open {
			res = models.Open
		}
		concurrent.Append(row, res, c.Op(row))
	}
	return concurrent
}

// checkSerializableCore makes sure that a core of concurrent transactions has no order, and that each smaller choice has one.
func (x *registers) checkSerializableCore(t *testing.T, c *models.Columns, d fastpath.Decision) {
	t.Helper()
	h, core := x.History(c), oracle.SetOf(d.Core)
	closed := x.Closed(c, fastpath.Decision{FailEvent: c.Events})
	if d.Why == nil || !closed(core) || h.Linearizable(c.Events, core) {
		t.Fatalf("core %v, %v\n%s%v", d.Core, d.Why, x.Show(c), x.txns)
	}
	for less := (core - 1) & core; less != 0; less = (less - 1) & core {
		if closed(less) && !h.Linearizable(c.Events, less) {
			t.Fatalf("core %v is not minimal\n%s%v", d.Core, x.Show(c), x.txns)
		}
	}
}

// Whether there is an order, or snapshots, does not depend on which choices are made first. Package isolation compares the
// usual choices with exhaustive search.
func TestWhatOrdersKeepDoesNotDependOnChoices(t *testing.T) {
	x := newRegisters()
	rng := rand.New(rand.NewPCG(7, 8))
	found, conflicts := map[jepsen.Verdict]int{}, int64(0)
	for range effort.Histories(1700, 300_000) {
		c := x.history(rng, 3, 10, 1+rng.IntN(mostKeys), 1+rng.IntN(9), 0.3)
		shape, process := x.shape(), make([]int32, c.Len())
		for i := range process {
			process[i] = rng.Int32N(4)
		}
		loose := make([]bool, c.Len())
		for i := range loose {
			loose[i] = rng.IntN(3) == 0
		}
		var at [10]bool
		for i, keeps := range []Keeps{{}, {Keys: true}, {Processes: true}, {Snapshots: true}, {Snapshots: true, Processes: true},
			{Time: true}, {Time: true, Keys: true}, {Time: true, Processes: true}, {Time: true, Snapshots: true}, {Time: true, Snapshots: true, Processes: true}} {
			if keeps.Process = process; keeps.Time {
				keeps.Loose = loose
			}
			var verdicts [2]jepsen.Verdict
			for contrary := range verdicts {
				s := newSweep(fastpath.PlainInput(t.Context(), c), &shape, &keeps)
				s.contrary = contrary == 1
				verdicts[contrary] = s.run(true).Verdict
				conflicts += s.s.Conflicts
			}
			if verdicts[0] != verdicts[1] || verdicts[0] == jepsen.Unknown {
				t.Fatalf("%+v: %v\n%s%v", keeps, verdicts, x.Show(c), x.txns)
			}
			found[verdicts[0]]++
			if at[i] = verdicts[0] == jepsen.Valid; keeps.Time && at[i] && !at[i-5] {
				t.Fatalf("%+v holds, but not without real time\n%s%v", keeps, x.Show(c), x.txns)
			}
		}
	}
	if conflicts == 0 || found[jepsen.Valid] == 0 || found[jepsen.Invalid] == 0 {
		t.Errorf("%v, %d conflicts", found, conflicts)
	}
	t.Log(found, conflicts, "conflicts")
}

// If all transactions are loose, real time does not matter; if none is, it all does. A transaction is loose if it may as well have
// been called first and have returned last.
func TestLooseTransactions(t *testing.T) {
	x := newRegisters()
	rng := rand.New(rand.NewPCG(9, 10))
	found, between := map[jepsen.Verdict]int{}, 0
	for range effort.Histories(1700, 300_000) {
		c := x.history(rng, 3, 10, 1+rng.IntN(mostKeys), 1+rng.IntN(9), 0.3)
		shape := x.shape()
		loose := make([]bool, c.Len())
		decide := func(c *models.Columns, keeps Keeps) jepsen.Verdict {
			return Registers(t.Context(), c, shape, keeps).Verdict
		}
		strict := decide(c, Keeps{Time: true})
		if none := decide(c, Keeps{Time: true, Loose: loose}); none != strict {
			t.Fatalf("in real time %v, if none is loose %v\n%s%v", strict, none, x.Show(c), x.txns)
		}
		for row := range loose {
			loose[row] = rng.IntN(2) == 0
		}
		some := decide(c, Keeps{Time: true, Loose: loose})
		if want := decide(stretched(c, loose), Keeps{Time: true}); some != want {
			t.Fatalf("loose %v: %v, not %v\n%s%v", loose, some, want, x.Show(c), x.txns)
		}
		if found[some]++; some != strict {
			between++
		}
	}
	if found[jepsen.Valid] == 0 || found[jepsen.Invalid] == 0 || between == 0 {
		t.Errorf("%v, %d hold because some are loose", found, between)
	}
	t.Log(found, between)
}

// stretched returns columns in which loose transactions are called before all others, and return after them.
func stretched(c *models.Columns, loose []bool) *models.Columns {
	n := int32(c.Len())
	wide := &models.Columns{Events: c.Events + 2*n}
	for _, first := range []bool{true, false} {
		for row := range n {
			inv, res := c.Inv[row]+n, c.Res[row]
			if first {
				inv = row
			}
			if loose[row] != first {
				continue
			}
			switch {
			case res == models.Open:
			case first:
				res = n + c.Events + row
			default:
				res += n
			}
			wide.Append(inv, res, c.Op(row))
		}
	}
	return wide
}
