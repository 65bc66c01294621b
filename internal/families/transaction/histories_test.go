package transaction

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"clew/fallback"
	"clew/fastpath"
	"clew/internal/archive"
	"clew/internal/effort"
	"clew/internal/engines"
	"clew/internal/gen"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// readRegisters reads a history of transactions on registers.
func readRegisters(t testing.TB, text []byte) (*models.Operations, *models.TxnRegistersShape) {
	t.Helper()
	h, err := forms.Read(bytes.NewReader(text), "history.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops, err := models.Spec{Name: "multi-register", NilReadsExact: true}.Read(h)
	if err != nil {
		t.Fatal(err)
	}
	shape, ok := models.ShapeOf[models.TxnRegistersShape](ops.Model)
	if !ok {
		t.Fatal("it has no shape")
	}
	return ops, &shape
}

// The small histories that were judged by an exhaustive search that shares nothing with clew.
func TestArchivedRegisters(t *testing.T) {
	text, err := os.ReadFile(archive.Path(t, "rw-register", "small.edn"))
	if err != nil {
		t.Fatal(err)
	}
	want := archive.Table(t, archive.Path(t, "rw-register", "verdicts.tsv"), true)
	n := 0
	for line := range strings.Lines(string(text)) {
		ops, shape := readRegisters(t, []byte(line))
		for level, realTime := range []bool{true, false} {
			r := newSweep(fastpath.PlainInput(t.Context(), &ops.Columns), shape, &Keeps{Time: realTime}).run(false)
			if got := fmt.Sprint(r.Verdict == jepsen.Valid); r.Verdict == jepsen.Unknown || got != want[n][level] {
				t.Errorf("line %d, real time %t: %v %v, want %s", n+1, realTime, r.Verdict, r.Reason, want[n][level])
			}
		}
		n++
	}
	if n != len(want) || n == 0 {
		t.Errorf("%d histories, %d verdicts", n, len(want))
	}
}

// twist lets some reads see another version that was written at about the same time.
func twist(rng *rand.Rand, ops *models.Operations, shape *models.TxnRegistersShape, reads int) {
	for tries := 0; reads > 0 && tries < 1000; tries++ {
		row := rng.IntN(ops.Len())
		other := min(max(0, row+rng.IntN(41)-35), ops.Len()-1)
		for i, r := range shape.Of(ops.A[row]) {
			for _, w := range shape.Of(ops.A[other]) {
				if !r.Write && r.Outer && w.Write && w.Outer && r.Slot == w.Slot && r.Value != w.Value && other != row {
					shape.Of(ops.A[row])[i].Value = w.Value
					reads--
					break
				}
			}
		}
	}
}

func TestLongRegistersAgreeWithTheGeneralSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	found, conflicts := map[string]int{}, int64(0)
	for seed := range effort.Histories(30, 3000) {
		var text bytes.Buffer
		o := gen.LongOptions{Model: "multi-register", Operations: 50 + rng.IntN(1950), Processes: 2 + rng.IntN(12), Keys: 2 + rng.IntN(6), Steps: 1 + rng.IntN(4),
			Crashes: 0.01 * float64(rng.IntN(2)), Fails: 0.05, Seed: uint64(seed)}
		if _, err := gen.Long(&text, o); err != nil {
			t.Fatal(err)
		}
		ops, shape := readRegisters(t, text.Bytes())
		twist(rng, ops, shape, rng.IntN(4))
		d := rwRegister(t.Context(), &ops.Columns, *shape, fastpath.WantWitness|fastpath.WantFailure)
		if d.Verdict == jepsen.Unknown {
			t.Fatalf("seed %d: %v", seed, d.Reason)
		}
		for _, realTime := range []bool{true, false} {
			in := fastpath.PlainInput(t.Context(), &ops.Columns)
			s, want := newSweep(in, shape, &Keeps{Time: realTime}), newSweep(in, shape, &Keeps{Time: realTime}).run(false)
			s.contrary = true
			if r := s.run(false); r.Verdict != want.Verdict || r.End != want.End {
				t.Fatalf("seed %d: with other choices %v at %d, not %v at %d", seed, r.Verdict, r.End, want.Verdict, want.End)
			}
			conflicts += s.s.Conflicts
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		a := engines.New("window", 0).Decide(ctx, ops, fallback.Limits{})
		cancel()
		switch {
		case a.Verdict == jepsen.Unknown:
			found["undecided by the search"]++
			continue
		case a.Verdict != d.Verdict || a.Verdict == jepsen.Invalid && a.FailEvent != d.FailEvent:
			t.Fatalf("seed %d: %v at %d, but the search says %v at %d\n%+v", seed, d.Verdict, d.FailEvent, a.Verdict, a.FailEvent, o)
		case d.Verdict == jepsen.Invalid:
			found[d.Why.Name]++
			checkCore(t, ops, d)
		}
		found[d.Verdict.String()]++
	}
	t.Log(found, conflicts, "conflicts")
	if conflicts < 1000 {
		t.Error("the solver learned little")
	}
}

// checkCore has the general search decide a core.
func checkCore(t *testing.T, ops *models.Operations, d fastpath.Decision) {
	t.Helper()
	a := engines.New("window", 0).Decide(t.Context(), ops.Select(d.Core).Prefix(d.FailEvent).Operations, fallback.Limits{})
	if a.Verdict != jepsen.Invalid || a.FailEvent != d.FailEvent {
		t.Fatalf("core %v: %v at %d, want invalid at %d", d.Core, a.Verdict, a.FailEvent, d.FailEvent)
	}
	if len(d.Core) > 30 {
		t.Logf("a core of %d transactions", len(d.Core))
	}
}
