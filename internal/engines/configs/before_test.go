package configs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines/configs"
	"clew/internal/engines/porcupine"
	"clew/internal/gen"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// goingOn is a model that begins in another state.
type goingOn struct {
	models.Model
	state models.State
}

func (g goingOn) Init() models.State { return g.state }

// What is left of a history after what is settled has the same first failing completion, also if updates that are open there
// turn out to have crashed, and reads to count for nothing.
func TestWhatIsSettledMakesNoDifference(t *testing.T) {
	ctx := context.Background()
	for _, spec := range testops.Models() {
		valid, invalid, forgotten := 0, 0, 0
		for seed := range effort.Histories(80, 20_000) {
			r := rand.New(rand.NewPCG(seed, 7))
			whole, text := testops.Generated(t, spec, gen.Options{Processes: 2 + r.IntN(4), Operations: 4 + r.IntN(16), Values: 1 + r.IntN(4)}, seed)
			part, cut := whole, int32(0)
			for cuts := r.IntN(4); cuts > 0; cuts-- {
				cut += r.Int32N(max(1, whole.Events-cut))
				past, ok := configs.Before(ctx, part, cut, 1000)
				if !ok {
					break
				}
				done, state := past.Done, past.State
				leadsTo(t, part, past)
				var left, rows []models.Row // of the whole, and of the part
				for row, of := range part.Of {
					i, later := models.Row(slices.Index(whole.Of, of)), part.Inv[row] < cut && part.Res[row] >= cut && !done[row] && r.IntN(8) == 0
					switch {
					case later && !part.Model.Mutates(part.Op(models.Row(row))):
						left = append(left, i)
						continue
					case later:
						whole.Res[i], part.Res[row] = models.Open, models.Open
					}
					if !done[row] {
						rows = append(rows, models.Row(row))
					}
				}
				forgotten += part.Len() - len(rows)
				part = part.Select(rows).Under(goingOn{part.Model, state})
				whole = whole.Select(slices.DeleteFunc(allRows(whole), func(row models.Row) bool { return slices.Contains(left, row) }))
			}
			want := porcupine.Engine{}.Decide(ctx, whole, fallback.Limits{})
			if got := (porcupine.Engine{}).Decide(ctx, part, fallback.Limits{}); fmt.Sprint(got.Verdict, got.FailEvent) != fmt.Sprint(want.Verdict, want.FailEvent) {
				t.Fatalf("%s: %s at %d from %v, want %s at %d, of\n%s\n%v %v", spec.Name, got.Verdict, got.FailEvent, part.Model.Init(), want.Verdict, want.FailEvent, text, part.Inv, part.Res)
			}
			if want.Verdict == jepsen.Valid {
				valid++
			} else {
				invalid++
			}
		}
		if valid == 0 || invalid == 0 || forgotten == 0 {
			t.Errorf("%s: %d valid, %d invalid, %d operations forgotten", spec.Name, valid, invalid, forgotten)
		}
		t.Logf("%s: %d valid, %d invalid, %d operations forgotten", spec.Name, valid, invalid, forgotten)
	}
}

// leadsTo fails the test unless the order of a past is one in which its operations can happen, and leads to its state.
func leadsTo(t *testing.T, ops *models.Operations, past configs.Past) {
	t.Helper()
	states := []models.State{ops.Model.Init()}
	for i, row := range past.Order {
		var next []models.State
		for _, s := range states {
			next = ops.Model.Step(next, s, ops.Op(row))
		}
		states = next
		for _, later := range past.Order[i+1:] {
			if ops.Res[later] < ops.Inv[row] {
				t.Fatalf("%d stands before %d, in %v", row, later, past.Order)
			}
		}
		if !past.Done[row] {
			t.Fatalf("%d is not done, in %v", row, past.Order)
		}
	}
	if !slices.ContainsFunc(states, func(s models.State) bool { return slices.Equal(s, past.State) }) {
		t.Fatalf("%v leads to %v, not to %v", past.Order, states, past.State)
	}
}

func allRows(ops *models.Operations) (rows []models.Row) {
	for row := range models.Row(ops.Len()) {
		rows = append(rows, row)
	}
	return rows
}
