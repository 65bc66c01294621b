package register

import (
	"testing"

	"clew/internal/families/testkit"
	"clew/models"
)

// TestEverySmallHistory tries every history of a few operations over three values, one of
// them the initial one. The other values are interchangeable, so they appear in order.
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
		name  string
		k     *testkit.Type
		ops   []models.Op
		n     int
		oneOf int // one history in this many is tried
	}{
		{"register, 1 operation", asRegister, reads, 1, 1},
		{"register, 2 operations", asRegister, reads, 2, 1},
		{"register, 3 operations", asRegister, reads, 3, 1},
		{"register, 4 operations", asRegister, reads, 4, 1},
		{"cas-register, 1 operation", asCASRegister, cas, 1, 1},
		{"cas-register, 2 operations", asCASRegister, cas, 2, 1},
		{"cas-register, 3 operations", asCASRegister, cas, 3, 1},
		{"cas-register, 4 operations", asCASRegister, cas, 4, sample},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.k.Every(t, test.n, test.oneOf, func(c *models.Columns, open bool) (ops []models.Op) {
				top := int32(0)
				for i := range c.Len() {
					top = max(top, c.A[i], c.B[i])
				}
				for _, op := range test.ops {
					if (!open || op.Kind != models.Read) && op.A <= top+1 && op.B <= max(op.A, top)+1 {
						ops = append(ops, op)
					}
				}
				return ops
			})
		})
	}
}
