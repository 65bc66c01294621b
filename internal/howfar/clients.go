package howfar

import (
	"cmp"
	"context"
	"slices"

	"clew/models"
)

// call is an operation as its client saw it.
type call struct {
	client   int32
	inv, res int32 // res is models.Open if it never returned
}

// clients is the order of each client: an operation comes before another one of the same client if it returned before that
// was called. Operations that never returned come before none. They may have happened at any later time.
//
// The operations are in chains: each operation of a chain comes before the next one of it. An operation that never
// returned has a chain of its own.
type clients struct {
	chain  []int32   // by operation
	place  []int32   // by operation: in its chain
	chains [][]int32 // the operations of each, in order
	before [][]int32 // by operation: the last ones that come before it, at most one for each chain of its client
}

// newClients returns the order of calls, which are in order of invocation.
func newClients(calls []call) *clients {
	c := &clients{chain: make([]int32, len(calls)), place: make([]int32, len(calls)), before: make([][]int32, len(calls))}
	of := map[int32][]int32{} // by client: its chains of operations that return
	for i, x := range calls {
		mine := int32(-1)
		for _, chain := range of[x.client] {
			ops := c.chains[chain]
			last := len(ops) - 1
			if calls[ops[last]].res < x.inv {
				if mine < 0 {
					mine = chain
				}
			} else {
				last--
			}
			if last >= 0 {
				c.before[i] = append(c.before[i], ops[last])
			}
		}
		if mine < 0 || x.res == models.Open {
			mine = int32(len(c.chains))
			c.chains = append(c.chains, nil)
			if x.res != models.Open {
				of[x.client] = append(of[x.client], mine)
			}
		}
		c.chain[i], c.place[i] = mine, int32(len(c.chains[mine]))
		c.chains[mine] = append(c.chains[mine], int32(i))
	}
	return c
}

// watch ends work that is not wanted any more, by a panic that ends it up to until.
type watch struct {
	ctx  context.Context
	left int // calls of poll until it looks at the context
}

type stop struct{}

// poll is called in loops.
func (w *watch) poll() {
	if w.left--; w.left < 0 {
		if w.left = pollEvery; w.ctx.Err() != nil {
			panic(stop{})
		}
	}
}

// pollEvery is how often poll is called before it looks at the context: less than a millisecond.
const pollEvery = 4096

// until calls f, and says whether it has not been ended by poll.
func until(f func()) (ended bool) {
	defer func() {
		if p := recover(); p != nil && p != any(stop{}) {
			panic(p)
		}
	}()
	f()
	return true
}

// callsOf returns rows of operations as calls.
func callsOf(ops *models.Operations, rows []models.Row) []call {
	h := ops.History
	calls := make([]call, len(rows))
	for i, row := range rows {
		calls[i] = call{h.Process[h.Invocation[ops.Of[row]]], ops.Inv[row], ops.Res[row]}
	}
	return calls
}

// all returns the rows of operations.
func all(ops *models.Operations) []models.Row {
	rows := make([]models.Row, ops.Len())
	for i := range rows {
		rows[i] = models.Row(i)
	}
	return rows
}

// byInvocation compares operations of several parts.
func byInvocation(x, y op) int { return cmp.Compare(x.inv, y.inv) }

// sorted returns numbers in order.
func sorted(numbers []int32) []int32 {
	slices.Sort(numbers)
	return numbers
}
