package fallback

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew/internal/gen"
	"clew/internal/testops"
	"clew/models"
)

// Each transaction sees what the one before it wrote, so leaving out the first
// one leaves out all. One pass finds that.
func TestAChainOfTransactionsIsLeftOutInOnePass(t *testing.T) {
	const n = 300
	var text strings.Builder
	for i := range n {
		for _, kind := range []string{"invoke", "ok"} {
			fmt.Fprintf(&text, "{:process 0, :type :%s, :f :txn, :value [[:r :x %d] [:w :x %d]]}\n", kind, i, i+1)
		}
	}
	spec := models.Spec{Name: "multi-register", Init: "{:x 0}"}
	ops := testops.Read(t, spec, text.String())
	var all []models.Row
	for row := range models.Row(n) {
		all = append(all, row)
	}
	s := newVisibility(ops, ops.Model.Traits().Visibility, all, all)
	if left := s.within(context.Background(), all); len(left) != n {
		t.Errorf("all of %d are closed, not only %v", n, left)
	}
	s = newVisibility(ops, ops.Model.Traits().Visibility, all, all[1:])
	if left := s.within(context.Background(), all[1:]); len(left) != 0 || s.looked > 2*n {
		t.Errorf("%d are left after looking at %d", len(left), s.looked)
	}
}

// The test finds the largest closed set by leaving out one operation at a time, for
// as long as one can have seen what was left out.
func TestWithinIsTheLargestClosedSet(t *testing.T) {
	r := gen.Rand(1)
	some, none := 0, 0
	for _, spec := range []models.Spec{{Name: "register"}, {Name: "cas-register"}, {Name: "multi-register"}} {
		for seed := range uint64(400) {
			ops, text := testops.Generated(t, spec, gen.Options{Operations: 25}, seed)
			replacing := ops.Model.Traits().Visibility
			var all, among []models.Row
			for row := range models.Row(ops.Len()) {
				all = append(all, row)
				if r.IntN(5) > 0 {
					among = append(among, row)
				}
			}
			got := newVisibility(ops, replacing, all, among).within(t.Context(), among)
			want := slices.Clone(among)
			for out := 0; out >= 0; {
				if out = slices.IndexFunc(want, func(o int32) bool { return seesOutside(ops, replacing, all, want, o) }); out >= 0 {
					want = slices.Delete(want, out, out+1)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: within %v it is %v, want %v\n%s", spec.Name, among, got, want, text)
			}
			if len(want) > 0 && len(want) < len(among) {
				some++
			} else {
				none++
			}
		}
	}
	if some < 100 || none < 100 {
		t.Errorf("%d times some were left out, %d times none or all: one is rare", some, none)
	}
}

// seesOutside says, by visibility's definition, whether o can have seen a cell that an
// operation outside of the set made. That operation had been invoked when o returned.
// It had not yet returned when the last operation was invoked that is in the set,
// replaced the cell's place and returned before o was invoked.
func seesOutside(ops *models.Operations, r *models.Visibility, all, set []int32, o int32) bool {
	cells, every := r.Sees(nil, ops.Op(o))
	for _, maker := range all {
		if slices.Contains(set, maker) {
			continue
		}
		for _, made := range r.Makes(nil, ops.Op(maker)) {
			if !every && !slices.Contains(cells, made) {
				continue
			}
			since := int32(-1)
			for _, other := range set {
				at := func(c models.Cell) bool { return c.Place == made.Place }
				if ops.Res[other] < ops.Inv[o] && slices.ContainsFunc(r.Makes(nil, ops.Op(other)), at) {
					since = max(since, ops.Inv[other])
				}
			}
			if ops.Inv[maker] < ops.Res[o] && ops.Res[maker] > since {
				return true
			}
		}
	}
	return false
}
