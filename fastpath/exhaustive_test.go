package fastpath

import (
	"os"
	"testing"

	"clew/models"
)

// long asks for the campaigns that take minutes.
var long = os.Getenv("CLEW_LONG") != ""

// shapes calls f with every way in which n operations can be invoked, return
// and crash. Events are numbered without gaps.
func shapes(n int, f func(inv, res []int32)) {
	inv, res := make([]int32, 0, n), make([]int32, 0, n)
	var next func(t int32, open []int)
	next = func(t int32, open []int) {
		if len(inv) == n && len(open) == 0 {
			f(inv, res)
			return
		}
		if len(inv) < n {
			i := len(inv)
			inv, res = append(inv, t), append(res, models.Open)
			next(t+1, append(open[:len(open):len(open)], i))
			next(t+1, open) // crashes
			inv, res = inv[:i], res[:i]
		}
		for k, i := range open {
			res[i] = t
			next(t+1, append(append([]int{}, open[:k]...), open[k+1:]...))
			res[i] = models.Open
		}
	}
	next(0, nil)
}

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
	if long {
		sample = 1
	}
	for _, test := range []struct {
		name   string
		decide decider
		ops    []models.Op
		n      int
		every  int // of how many histories one is tried
	}{
		{"register, 1 operation", Register, reads, 1, 1},
		{"register, 2 operations", Register, reads, 2, 1},
		{"register, 3 operations", Register, reads, 3, 1},
		{"register, 4 operations", Register, reads, 4, 1},
		{"cas-register, 1 operation", CASRegister, cas, 1, 1},
		{"cas-register, 2 operations", CASRegister, cas, 2, 1},
		{"cas-register, 3 operations", CASRegister, cas, 3, 1},
		{"cas-register, 4 operations", CASRegister, cas, 4, sample},
	} {
		t.Run(test.name, func(t *testing.T) {
			var n counts
			k := 0
			shapes(test.n, func(inv, res []int32) {
				c := &models.Columns{Events: 2 * int32(test.n)}
				var add func(i int, top int32)
				add = func(i int, top int32) {
					if i == test.n {
						if k++; k%test.every == 0 {
							n.compare(t, test.decide, c, 0)
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
