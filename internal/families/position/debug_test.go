package position

import (
	"fmt"
	"os"
	"testing"

	"clew/fastpath"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

func TestDebug(t *testing.T) {
	h, err := forms.ReadFile(os.Getenv("G"), jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops, err := models.Spec{Name: os.Getenv("GM"), SparsePositions: os.Getenv("GS") != ""}.Read(h)
	if err != nil {
		t.Fatal(err)
	}
	in := fastpath.PlainInput(t.Context(), &ops.Columns)
	s := sweep{in: in, table: newTable(in, ops.Model)}
	r := s.decide(true)
	fmt.Println(r.Verdict, r.Reason, r.Why)
	if r.Why != nil {
		for _, q := range r.Why.Rows {
			if q >= 0 {
				fmt.Println("WHY", s.table.at[q], q, s.in.Res[q], r.End, h.OperationMap(ops.Of[q]))
			}
		}
	}
	var at int64 = -1
	if r.Reason != nil {
		at = s.table.at[r.Reason.Rows[0]]
		fmt.Println("about", h.Name(ops.Of[r.Reason.Rows[0]]), at)
	}
	for _, g := range s.gaps {
		if g.at < at-30 || g.at > at+30 {
			continue
		}
		if g.by >= 0 {
			r := s.fill[g.by].row
			fmt.Println(g.at, h.Name(ops.Of[r]), "lo", s.lo[r])
		} else {
			fmt.Println(g.at, "-")
		}
	}
	for _, r := range s.rows {
		if s.table.at[r] >= at-30 && s.table.at[r] <= at+10 {
			fmt.Println("told", s.table.at[r], h.Name(ops.Of[r]))
		}
	}
	for _, f := range s.fill {
		if !f.used && s.lo[f.row] < at && s.lo[f.row] > at-100 {
			fmt.Println("unused", h.Name(ops.Of[f.row]), "lo", s.lo[f.row])
		}
	}
}
