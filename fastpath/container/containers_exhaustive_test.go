package container

import (
	"fmt"
	"testing"

	"clew/fastpath/internal/testkit"
	"clew/models"
)

// TestEverySmallContainer goes through every history of a few operations over
// two values. Where their priorities do not differ they are interchangeable and
// appear in order.
func TestEverySmallContainer(t *testing.T) {
	most := 3
	if testkit.Long {
		most = 4
	}
	type test struct {
		k    *kind
		high int32 // the priority of value 1
	}
	for _, test := range []test{{queueKind, 0}, {stackKind, 0}, {heapKind, 0}, {heapKind, 1}} {
		for size := 1; size <= most; size++ {
			t.Run(fmt.Sprintf("%s, priorities 0 and %d, %d operations", test.k.name, test.high, size), func(t *testing.T) {
				var n testkit.Counts
				testkit.Shapes(size, func(inv, res []int32) {
					c := &models.Columns{Events: 2 * int32(size)}
					everyContainer(c, inv, res, -1, test.high, func() { test.k.check(t, &n, c) })
				})
				t.Log(&n)
			})
		}
	}
}

// everyContainer calls f with every meaning of the operations that c does not
// have yet. top is the greatest value so far.
func everyContainer(c *models.Columns, inv, res []int32, top, high int32, f func()) {
	i := c.Len()
	if i == len(inv) {
		f()
		return
	}
	with := func(op models.Op, top int32) {
		c.Append(inv[i], res[i], op)
		everyContainer(c, inv, res, top, high, f)
		c.Inv, c.Res, c.Kind, c.A, c.B = c.Inv[:i], c.Res[:i], c.Kind[:i], c.A[:i], c.B[:i]
	}
	if res[i] == models.Open {
		with(models.Op{Kind: models.DequeueAny}, top)
	} else {
		with(models.Op{Kind: models.DequeueEmpty}, top)
	}
	for v := int32(0); v < 2 && (high != 0 || v <= top+1); v++ {
		with(models.Op{Kind: models.Enqueue, A: v, B: v * high}, max(top, v))
		with(models.Op{Kind: models.Dequeue, A: v, B: v * high}, max(top, v))
		if res[i] != models.Open {
			with(models.Op{Kind: models.Peek, A: v, B: v * high}, max(top, v))
		}
	}
}
