package register

import (
	"testing"

	"clew/fastpath/internal/testkit"
	"clew/models"
)

// TestEverySmallHistory goes through every history of a few operations over
// three values, one of them the initial one. Values other than the initial one
// are interchangeable: they appear in order.
func TestEverySmallHistory(t *testing.T) {
	var reads, cas []models.Op
	for a := range int32(3) {
		reads = append(reads, models.Op{Kind: models.Read, A: a}, models.Op{Kind: models.Write, A: a})
		for b := range int32(3) {
			cas = append(cas, models.Op{Kind: models.CAS, A: a, B: b})
		}
	}
	cas = append(cas, reads...)
	sample := 97
	if testkit.Long {
		sample = 1
	}
	for _, test := range []struct {
		name   string
		decide decider
		ops    []models.Op
		n      int
		every  int // of how many histories one is tried
	}{
		{"register, 1 operation", decideAsRegister, reads, 1, 1},
		{"register, 2 operations", decideAsRegister, reads, 2, 1},
		{"register, 3 operations", decideAsRegister, reads, 3, 1},
		{"register, 4 operations", decideAsRegister, reads, 4, 1},
		{"cas-register, 1 operation", decideAsCASRegister, cas, 1, 1},
		{"cas-register, 2 operations", decideAsCASRegister, cas, 2, 1},
		{"cas-register, 3 operations", decideAsCASRegister, cas, 3, 1},
		{"cas-register, 4 operations", decideAsCASRegister, cas, 4, sample},
	} {
		t.Run(test.name, func(t *testing.T) {
			var n testkit.Counts
			k := 0
			testkit.Shapes(test.n, func(inv, res []int32) {
				c := &models.Columns{Events: 2 * int32(test.n)}
				var add func(i int, top int32)
				add = func(i int, top int32) {
					if i == test.n {
						if k++; k%test.every == 0 {
							compare(t, &n, test.decide, c, 0)
						}
						return
					}
					for _, op := range test.ops {
						if op.Kind == models.Read && res[i] == models.Open || op.A > top+1 || op.B > max(op.A, top)+1 {
							continue
						}
						c.Append(inv[i], res[i], op)
						add(i+1, max(top, op.A, op.B))
						c.Inv, c.Res, c.Kind, c.A, c.B = c.Inv[:i], c.Res[:i], c.Kind[:i], c.A[:i], c.B[:i]
					}
				}
				add(0, 0)
			})
			t.Log(&n)
		})
	}
}
