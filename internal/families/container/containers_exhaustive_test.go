package container

import (
	"fmt"
	"testing"

	"clew/internal/families/testkit"
	"clew/models"
)

// TestEverySmallContainer tries every history of a few operations over two values.
// If their priorities are equal, the values are interchangeable and appear in order.
func TestEverySmallContainer(t *testing.T) {
	most := 3
	if testkit.Long {
		most = 4
	}
	type test struct {
		k    *testkit.Type
		high int32 // the priority of value 1
	}
	for _, test := range []test{{queueKind, 0}, {stackKind, 0}, {heapKind, 0}, {heapKind, 1}} {
		for size := 1; size <= most; size++ {
			t.Run(fmt.Sprintf("%s, priorities 0 and %d, %d operations", test.k.Name, test.high, size), func(t *testing.T) {
				test.k.Every(t, size, 1, func(c *models.Columns, open bool) []models.Op { return nextContainer(c, open, test.high) })
			})
		}
	}
}

// nextContainer returns what may come after the operations of a history.
func nextContainer(c *models.Columns, open bool, high int32) []models.Op {
	ops := []models.Op{{Kind: models.DequeueEmpty}}
	if open {
		ops[0].Kind = models.DequeueAny
	}
	top := int32(-1) // the greatest value so far
	for i, kind := range c.Kind {
		if hasValue(kind) {
			top = max(top, c.A[i])
		}
	}
	for v := int32(0); v < 2 && (high != 0 || v <= top+1); v++ {
		ops = append(ops, models.Op{Kind: models.Enqueue, A: v, B: v * high}, models.Op{Kind: models.Dequeue, A: v, B: v * high})
		if !open {
			ops = append(ops, models.Op{Kind: models.Peek, A: v, B: v * high})
		}
	}
	return ops
}
