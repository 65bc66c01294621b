package engines_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew/internal/effort"
	"clew/internal/engines/configs"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/testops"
	"clew/models"
)

// searches are the engines that decide every model.
var searches = enginetest.Configs{"window": configs.Window{}, "frontier": configs.Frontier{}}

// TestEverySmallHistoryAgreesWithTheOracle covers models that tell a search what it
// need not try.
func TestEverySmallHistoryAgreesWithTheOracle(t *testing.T) {
	most := 3
	if effort.Long() {
		most = 4
	}
	for _, c := range []struct {
		name, model         string
		returning, crashing string // operations as :f and value, with commas between
	}{
		{"priority queue", "priority-queue", ":enqueue 1, :enqueue 2, :dequeue 1, :dequeue 2, :dequeue nil, :peek 1, :peek 2",
			":enqueue 1, :enqueue 2, :dequeue nil, :dequeue 1, :dequeue 2"},
		{"priority queue of one rank", "priority-queue", ":enqueue 1, :enqueue 1.0, :dequeue 1, :dequeue 1.0, :dequeue nil, :peek 1.0",
			":enqueue 1, :enqueue 1.0, :dequeue nil, :dequeue 1"},
		{"appended strings", "kv", `:get "", :get "a", :get "b", :get "ab", :put "a", :append "a", :append "b", :cas {:expected "a" :new ""}`,
			`:put "a", :append "a", :append "b", :cas {:expected "a" :new ""}`},
		{"appended strings that are found or not", "kv", `:get "aa", :put "a", :append "a", :append "aa", :put-if-absent "a", :delete true`,
			`:append "a", :delete nil, :put-if-absent "a"`},
		{"transactions", "multi-register", "[[:r 0 0]], [[:r 0 1] [:r 1 1]], [[:w 0 1]], [[:w 0 0] [:w 1 1]], [[:r 0 0] [:w 0 1]], [[:r 0 1] [:w 1 0]], [[:r 1 1] [:w 0 1]]",
			"[[:w 0 1]], [[:w 0 0] [:w 1 1]]"},
		{"sums that are seen", "counter", ":add 1, :add 2, :add -1, :read 1, :read 2", ":add 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, returning, crashing := operationsOf(t, c.model, c.returning, c.crashing)
			kinds := slices.Clone(returning)
			for _, op := range crashing {
				if !slices.Contains(kinds, op) {
					kinds = append(kinds, op)
				}
			}
			fates := func(op models.Op) (returns, crashes bool) {
				return slices.Contains(returning, op), slices.Contains(crashing, op)
			}
			valid, invalid := 0, 0
			for n := range most + 1 {
				testops.Every(m, n, kinds, fates, func(ops *models.Operations) {
					want := oracle.Decide(ops, oracle.Options{})
					if want.Linearizable {
						valid++
					} else {
						invalid++
					}
					for name := range searches {
						searches.Judged(t, name, ops, want)
					}
				})
			}
			t.Logf("%d valid, %d invalid", valid, invalid)
		})
	}
}

// TestSmallHistoriesAgreeWithTheOracle covers the same models, with everything that
// histories may have.
func TestSmallHistoriesAgreeWithTheOracle(t *testing.T) {
	n := effort.Histories(40, 1_000_000)
	for _, specs := range [][]models.Spec{
		{{Name: "priority-queue"}, {Name: "priority-queue", Priority: "min"}, {Name: "priority-queue", Knossos: true}},
		{{Name: "kv"}, {Name: "kv", ObserveFailedCAS: true}},
		{{Name: "multi-register"}, {Name: "multi-register", NilReadsExact: true}},
	} {
		t.Run(specs[0].Name, func(t *testing.T) {
			t.Parallel()
			valid, invalid, crashed := 0, 0, 0
			for seed := range n {
				r := gen.Rand(seed)
				spec := specs[seed%uint64(len(specs))]
				o := gen.Options{Model: spec.Name, Operations: 3 + r.IntN(8), Processes: 2 + r.IntN(5), Values: 1 + r.IntN(3), Init: true,
					Least: spec.Priority == "min", Knossos: spec.Knossos, NilReadsExact: spec.NilReadsExact, ObserveFailedCAS: spec.ObserveFailedCAS}
				if r.IntN(2) == 0 {
					o.Crashes = 0.5 * r.Float64()
				}
				h := gen.New(r, o)
				spec.Init = h.Init
				for _, ops := range testops.Read(t, spec, h.Text).Parts() {
					want := oracle.Decide(ops, oracle.Options{})
					if want.Linearizable {
						valid++
					} else {
						invalid++
					}
					if slices.Contains(ops.Res, models.Open) {
						crashed++
					}
					for name := range searches {
						searches.Judged(t, name, ops, want)
					}
				}
			}
			t.Logf("%d valid, %d invalid, %d with a crash", valid, invalid, crashed)
			if 5*valid < int(n) || 20*invalid < int(n) || 5*crashed < int(n) {
				t.Error("that tells too little")
			}
		})
	}
}

// TestWhatIsNeededMayComeLater: a search that comes back from further on must not give
// up what waits for a write that begins later.
func TestWhatIsNeededMayComeLater(t *testing.T) {
	for _, last := range []string{"1", "2"} {
		ops := testops.Read(t, models.Spec{Name: "multi-register", Init: "{3 0}"}, `
			{:process 0 :type :invoke :f :txn :value [[:r 3 0] [:w 0 1]]}
			{:process 1 :type :invoke :f :txn :value [[:r 3 0] [:w 0 2]]}
			{:process 2 :type :invoke :f :txn :value [[:r 1 7]]}
			{:process 0 :type :ok :f :txn :value [[:r 3 0] [:w 0 1]]}
			{:process 1 :type :ok :f :txn :value [[:r 3 0] [:w 0 2]]}
			{:process 0 :type :invoke :f :txn :value [[:w 1 7]]}
			{:process 0 :type :ok :f :txn :value [[:w 1 7]]}
			{:process 2 :type :ok :f :txn :value [[:r 1 7]]}
			{:process 0 :type :invoke :f :txn :value [[:r 0 `+last+`] [:r 1 7]]}
			{:process 0 :type :ok :f :txn :value [[:r 0 `+last+`] [:r 1 7]]}`)
		searches.Judged(t, "window", ops, oracle.Decide(ops, oracle.Options{}))
	}
}

// operationsOf reads operations that return, and others that crash, of a model.
func operationsOf(t *testing.T, model, returning, crashing string) (m models.Model, ends, crashes []models.Op) {
	t.Helper()
	var text strings.Builder
	process := 0
	write := func(list, ends string) {
		for op := range strings.SplitSeq(list, ", ") {
			f, value, _ := strings.Cut(op, " ")
			if model == "multi-register" {
				f, value = ":txn", op
			}
			for _, typ := range []string{":invoke", ends} {
				fmt.Fprintf(&text, "{:process %d, :type %s, :f %s, :value %s}\n", process, typ, f, value)
			}
			process++
		}
	}
	write(returning, ":ok")
	returned := process
	write(crashing, ":info")
	ops := testops.Read(t, models.Spec{Name: model}, text.String())
	for row := range models.Row(ops.Len()) {
		if int(row) < returned {
			ends = append(ends, ops.Op(row))
		} else {
			crashes = append(crashes, ops.Op(row))
		}
	}
	return ops.Model, ends, crashes
}
