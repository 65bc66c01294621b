package fastpath

import (
	"context"
	"slices"

	"clew/models"
)

// The algorithms keep arrays by event and by value id. If columns have far more
// events or ids than operations (because they are of one key among many),
// events and ids are renumbered first, at the price of a sort.
const (
	sparseFactor = 8 // more numbers than this per operation are sparse
	sparseFree   = 256
)

// Sparse says whether a range of that many numbers is too wide for arrays over
// it, given how many things have such a number.
func Sparse(numbers, things int64) bool { return numbers > things*sparseFactor+sparseFree }

// Input is a history as the algorithms read it: all ids lie in [0, IDs). It is
// made by NewInput, or by PlainInput.
type Input struct {
	*models.Columns
	Init int32 // the id of the initial value
	IDs  int32
	ctx  context.Context // nil: nothing stops the decision
}

// Poll is called before work that may take long. It ends the decision if nobody
// is waiting for it any more.
func (in Input) Poll() {
	if in.ctx != nil {
		poll(in.ctx)
	}
}

// NewInput is the Input of columns whose A and B are ids, as init is. Events
// and ids are renumbered if they are sparse; rows stay as they are.
func NewInput(ctx context.Context, c *models.Columns, init int32) Input {
	top := init
	for i := range c.A {
		top = max(top, c.A[i], c.B[i])
	}
	in := Input{c, init, top + 1, ctx}
	if Sparse(int64(c.Events), int64(c.Len())) {
		in = in.DenseEvents()
	}
	if init < 0 || Sparse(int64(top)+1, int64(c.Len())) {
		in = in.DenseIDs()
	}
	return in
}

// PlainInput is the Input of columns as they stand. IDs and Init are 0.
func PlainInput(ctx context.Context, c *models.Columns) Input { return Input{Columns: c, ctx: ctx} }

// DenseEvents renumbers the events without gaps.
func (in Input) DenseEvents() Input {
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

// DenseIDs renumbers the ids without gaps, keeping their order.
func (in Input) DenseIDs() Input {
	ids := append([]int32{in.Init}, in.A...)
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
	return Input{&c, dense([]int32{in.Init})[0], int32(len(ids)), in.ctx}
}

// Original is the event of c that in calls t. c is the columns that in was made
// of, and t is a completion, or -1.
func (in Input) Original(t int32, c *models.Columns) int32 {
	if t < 0 || in.Columns == c {
		return t
	}
	return c.Res[in.OpReturning(t)]
}

// OpReturning is the operation that returns at event t; -1 if t is -1.
func (in Input) OpReturning(t int32) models.Row {
	return int32(slices.Index(in.Res, t))
}

// OpInvoked is the operation invoked at event t.
func (in Input) OpInvoked(t int32) models.Row {
	i, _ := slices.BinarySearch(in.Inv, t)
	return int32(i)
}

// UpTo is the operations invoked before event t.
func (in Input) UpTo(t int32) []models.Row {
	n, _ := slices.BinarySearch(in.Inv, t)
	ops := make([]models.Row, n)
	for i := range ops {
		ops[i] = int32(i)
	}
	return ops
}

// Cut is the history up to and including event t. Operations keep their rows.
// Those that return later are open, and keep their value.
func (in Input) Cut(t int32) Input {
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

// Pick is the history of some operations alone; ops ascend. Events and ids are
// renumbered without gaps.
func (in Input) Pick(ops []models.Row) Input {
	c := &models.Columns{Events: in.Events}
	for _, o := range ops {
		c.Append(in.Inv[o], in.Res[o], in.Op(o))
	}
	in.Columns = c
	return in.DenseEvents().DenseIDs()
}
