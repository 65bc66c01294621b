package fastpath

import (
	"slices"

	"clew/models"
)

// The algorithms keep arrays by event and by value id. Where columns name far
// more events or ids than they have operations (one key of many), they are
// renumbered first, at the price of a sort.
const (
	sparseFactor = 8 // more numbers than this per operation are sparse
	sparseFree   = 256
)

// input is a history as the algorithms read it: all ids lie in [0, ids).
type input struct {
	*models.Columns
	init int32 // id of the initial value
	ids  int32
	stop func() bool // nil, or whether to give up
}

// stopped is what poll panics with.
type stopped struct{}

// poll is called before work that may take long. It ends the decision where
// nobody waits for it any more.
func (in input) poll() {
	if in.stop != nil && in.stop() {
		panic(stopped{})
	}
}

func newInput(c *models.Columns, init int32) input {
	top := init
	for i := range c.A {
		top = max(top, c.A[i], c.B[i])
	}
	in := input{c, init, top + 1, c.Stop}
	limit := int64(c.Len())*sparseFactor + sparseFree
	if int64(c.Events) > limit {
		in = in.denseEvents()
	}
	if init < 0 || int64(top) >= limit {
		in = in.denseIDs()
	}
	return in
}

// denseEvents renumbers the events without gaps.
func (in input) denseEvents() input {
	byRes := make([]uint64, 0, in.Len()) // res, then operation
	for i, r := range in.Res {
		if r != models.Open {
			byRes = append(byRes, uint64(r)<<32|uint64(i))
		}
	}
	slices.Sort(byRes)
	c := *in.Columns
	c.Inv, c.Res = make([]int32, in.Len()), make([]int32, in.Len())
	t := int32(0)
	for i, inv := range in.Inv {
		for len(byRes) > 0 && int32(byRes[0]>>32) < inv {
			c.Res[uint32(byRes[0])] = t
			byRes = byRes[1:]
			t++
		}
		c.Inv[i], c.Res[i] = t, models.Open
		t++
	}
	for _, x := range byRes {
		c.Res[uint32(x)] = t
		t++
	}
	c.Events = t
	in.Columns = &c
	return in
}

// denseIDs renumbers the ids without gaps, keeping their order.
func (in input) denseIDs() input {
	ids := append([]int32{in.init}, in.A...)
	ids = append(ids, in.B...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	dense := func(old []int32) []int32 {
		out := make([]int32, len(old))
		for i, v := range old {
			k, _ := slices.BinarySearch(ids, v)
			out[i] = int32(k)
		}
		return out
	}
	c := *in.Columns
	c.A, c.B = dense(c.A), dense(c.B)
	return input{&c, dense([]int32{in.init})[0], int32(len(ids)), in.stop}
}

// original is the event of c, the columns that in was made of, which in calls
// t; t is a completion, or -1.
func (in input) original(t int32, c *models.Columns) int32 {
	if t < 0 || in.Columns == c {
		return t
	}
	return c.Res[in.opReturning(t)]
}

// opReturning is the operation that returns at event t; -1 if t is -1.
func (in input) opReturning(t int32) int32 {
	return int32(slices.Index(in.Res, t))
}

// opInvoked is the operation invoked at event t.
func (in input) opInvoked(t int32) int32 {
	i, _ := slices.BinarySearch(in.Inv, t)
	return int32(i)
}

// cut is the history up to and including event t. Operations keep their
// indices; those that return later are open and keep their value.
func (in input) cut(t int32) input {
	n, _ := slices.BinarySearch(in.Inv, t+1)
	c := models.Columns{Events: t + 1, Inv: in.Inv[:n], Res: make([]int32, n),
		Kind: in.Kind[:n], A: in.A[:n], B: in.B[:n]}
	for i := range c.Res {
		c.Res[i] = in.Res[i]
		if c.Res[i] > t {
			c.Res[i] = models.Open
		}
	}
	in.Columns = &c
	return in
}

// pick is the history of some operations alone; ops ascend.
func (in input) pick(ops []int32) input {
	c := &models.Columns{Events: in.Events}
	for _, o := range ops {
		c.Append(in.Inv[o], in.Res[o], in.Op(o))
	}
	in.Columns = c
	return in.denseEvents().denseIDs()
}
