package fastpath

import (
	"context"
	"slices"

	"clew/internal/hugepages"
	"clew/models"
)

// The algorithms use arrays by event and by value id. Columns of one key among many may have far
// more events or ids than operations. Then events and ids are renumbered first, which costs a sort.
const (
	sparseFactor = 8 // more numbers than this per operation are sparse
	sparseFree   = 256
)

// Sparse reports whether a range of that many numbers is too wide for an
// array, given how many things have such a number.
func Sparse(numbers, things int64) bool { return numbers > things*sparseFactor+sparseFree }

// Input is a history as the algorithms read it: all ids lie in [0, IDs).
// NewInput and PlainInput make one.
type Input struct {
	*models.Columns
	Init int32 // the id of the initial value
	IDs  int32
	ctx  context.Context // nil: nothing stops the decision
	from *models.Columns // what NewInput or PlainInput got
}

// Poll is called before work that may take long. It ends the decision if it is no longer wanted.
func (in Input) Poll() {
	if in.ctx != nil {
		poll(in.ctx)
	}
}

// NewInput returns the Input for columns whose A and B are ids, as init is.
// It renumbers sparse events and ids, but not rows.
func NewInput(ctx context.Context, c *models.Columns, init int32) Input {
	top := init
	for i := range c.A {
		top = max(top, c.A[i], c.B[i])
	}
	in := PlainInput(ctx, c)
	in.Init, in.IDs = init, top+1
	if init < 0 || Sparse(int64(top)+1, int64(c.Len())) {
		in = in.DenseIDs()
	}
	return in
}

// PlainInput returns the Input for columns whose A and B may be anything. IDs and Init are 0.
// It renumbers sparse events.
func PlainInput(ctx context.Context, c *models.Columns) Input {
	in := Input{Columns: c, ctx: ctx, from: c}
	if Sparse(int64(c.Events), int64(c.Len())) {
		in = in.DenseEvents()
	}
	return in
}

// DenseEvents renumbers the events without gaps.
func (in Input) DenseEvents() Input {
	if near(0, in.Events, in.Len()) {
		return in.rankEvents()
	}
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

// rankEvents is DenseEvents without a sort.
func (in Input) rankEvents() Input {
	returned := make([]int32, 0, in.Len())
	for _, res := range in.Res {
		if res != models.Open {
			returned = append(returned, res)
		}
	}
	ranks := RanksOf(in.Inv, returned)
	c := *in.Columns
	c.Inv, c.Res, c.Events = make([]int32, in.Len()), make([]int32, in.Len()), ranks.Len()
	for i, inv := range in.Inv {
		if c.Inv[i], c.Res[i] = ranks.Of(inv), models.Open; in.Res[i] != models.Open {
			c.Res[i] = ranks.Of(in.Res[i])
		}
	}
	in.Columns = &c
	return in
}

// DenseIDs renumbers the ids without gaps, keeping their order.
func (in Input) DenseIDs() Input {
	ranks := RanksOf([]int32{in.Init}, in.A, in.B)
	dense := func(old []int32) []int32 {
		out := make([]int32, len(old))
		for i, v := range old {
			out[i] = ranks.Of(v)
		}
		return out
	}
	c := *in.Columns
	c.A, c.B = dense(c.A), dense(c.B)
	in.Columns, in.Init, in.IDs = &c, ranks.Of(in.Init), ranks.Len()
	return in
}

// Original returns which event of the columns that NewInput or PlainInput got
// is event t, a completion or -1.
func (in Input) Original(t int32) int32 {
	if t < 0 || in.Columns == in.from {
		return t
	}
	return in.from.Res[in.OpReturning(t)]
}

// Returns returns by event the operation that returns, plus 1.
func (in Input) Returns() []int32 {
	returns := hugepages.Make[int32](in.Events)
	for i, res := range in.Res {
		if res != models.Open {
			returns[res] = int32(i) + 1
		}
	}
	return returns
}

// OpReturning returns the operation that returns at event t, or -1 if t is -1.
func (in Input) OpReturning(t int32) models.Row {
	if t < 0 {
		return -1
	}
	return int32(slices.Index(in.Res, t))
}

// OpInvoked returns the operation invoked at event t.
func (in Input) OpInvoked(t int32) models.Row {
	i, _ := slices.BinarySearch(in.Inv, t)
	return int32(i)
}

// UpTo returns the operations invoked before event t.
func (in Input) UpTo(t int32) []models.Row {
	n, _ := slices.BinarySearch(in.Inv, t)
	ops := make([]models.Row, n)
	for i := range ops {
		ops[i] = int32(i)
	}
	return ops
}

// Cut returns the history up to and including event t. Operations keep
// their rows. Those that return later are open and keep their value.
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

// Pick returns the history of the given operations alone, which must
// ascend. It renumbers events without gaps, and ids unless the input is plain.
func (in Input) Pick(ops []models.Row) Input {
	c := &models.Columns{Events: in.Events}
	for _, o := range ops {
		c.Append(in.Inv[o], in.Res[o], in.Op(o))
	}
	in.Columns = c
	if in.IDs == 0 {
		return in.DenseEvents()
	}
	return in.DenseEvents().DenseIDs()
}
