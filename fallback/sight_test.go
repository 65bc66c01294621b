package fallback

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"clew/internal/rows"
	"clew/models"
)

// Each transaction sees what the one before it wrote, so leaving out the first
// leaves out all. One pass sees that.
func TestAChainOfTransactionsIsLeftOutInOnePass(t *testing.T) {
	const n = 300
	var text strings.Builder
	for i := range n {
		for _, kind := range []string{"invoke", "ok"} {
			fmt.Fprintf(&text, "{:process 0, :type :%s, :f :txn, :value [[:r :x %d] [:w :x %d]]}\n", kind, i, i+1)
		}
	}
	spec := models.Spec{Name: "multi-register", Init: "{:x 0}"}
	ops := rows.Read(t, spec, text.String())
	var all []models.Row
	for row := range models.Row(n) {
		all = append(all, row)
	}
	s := newSight(ops, ops.Model.(models.Replacing), all, all)
	if left := s.within(context.Background(), all); len(left) != n {
		t.Errorf("all of %d are closed, not only %v", n, left)
	}
	s = newSight(ops, ops.Model.(models.Replacing), all, all[1:])
	if left := s.within(context.Background(), all[1:]); len(left) != 0 || s.looked > 2*n {
		t.Errorf("%d are left after looking at %d", len(left), s.looked)
	}
}
