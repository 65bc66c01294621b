package fallback_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"clew/fallback"
	"clew/internal/enginetest"
	"clew/internal/limits"
	"clew/internal/oracle"
	"clew/internal/rows"
	"clew/jepsen"
	"clew/models"
)

// TestEverySmallHistoryAgreesWithTheOracle is about models that tell a search what it
// need not try.
func TestEverySmallHistoryAgreesWithTheOracle(t *testing.T) {
	most := 3
	if os.Getenv("CLEW_LONG") == "1" {
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
				rows.Every(m, n, kinds, fates, func(ops *models.Operations) {
					want := oracle.Decide(ops, oracle.Options{})
					if want.Linearizable {
						valid++
					} else {
						invalid++
					}
					for _, e := range []fallback.Engine{fallback.Window{}, fallback.Frontier{}} {
						agrees(t, e, ops, want)
					}
				})
			}
			t.Logf("%d valid, %d invalid", valid, invalid)
		})
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
	ops := rows.Read(t, models.Spec{Name: model}, text.String())
	for row := range models.Row(ops.Len()) {
		if int(row) < returned {
			ends = append(ends, ops.Op(row))
		} else {
			crashes = append(crashes, ops.Op(row))
		}
	}
	return ops.Model, ends, crashes
}

// agrees fails unless an engine says what the oracle does, and shows it.
func agrees(t *testing.T, e fallback.Engine, ops *models.Operations, want oracle.Answer) {
	t.Helper()
	a := e.Decide(context.Background(), ops, limits.Limits{})
	if (a.Verdict == jepsen.Valid) != want.Linearizable || a.Verdict == jepsen.Invalid && a.FailEvent != want.Fail || a.Verdict == jepsen.Unknown {
		t.Fatalf("%s: %+v, the oracle says %+v of\n%s", e.Name(), a, want, rows.Text(ops))
	}
	if err := enginetest.Shows(ops, a); err != nil {
		t.Fatalf("%s: %v\n%s", e.Name(), err, rows.Text(ops))
	}
}
