package kv

import (
	"slices"

	"clew/internal/gen"
)

// longKV is kv without :append, :delete and :cas: its keys are registers.
type longKV struct {
	*gen.LongHistory
	now   []int
	steps int
}

func newLongKV(l *gen.LongHistory) gen.LongObject {
	x := &longKV{LongHistory: l, now: slices.Repeat([]int{-1}, l.Keys)}
	if l.Appends {
		return &longTexts{x, make([][]int, l.Keys)}
	}
	return x
}

func (x *longKV) Read(*gen.LongThread) (gen.LongOp, bool) {
	return gen.LongOp{F: ":get", Key: x.Rand.IntN(x.Keys)}, true
}

func (x *longKV) Change(*gen.LongThread) gen.LongOp {
	return gen.LongOp{F: ":put", Changes: true, Key: x.Rand.IntN(x.Keys), A: x.Write()}
}

func (x *longKV) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.steps++
	switch {
	case x.Kind == gen.WrongAnswer:
		return gen.LongOp{F: ":get", Key: x.Rand.IntN(x.Keys), Last: true}, true
	case x.Kind == gen.ImpossibleRead:
		return gen.LongOp{F: ":get", A: x.Mark + 2, Forced: true, Last: true}, true
	case x.steps == 1:
		return gen.LongOp{F: ":put", Changes: true, A: x.Mark}, true
	case x.steps == 2:
		return gen.LongOp{F: ":put", Changes: true, A: x.Mark + 1, Forced: x.Kind == gen.LostWrite}, true
	}
	return gen.LongOp{F: ":get", A: x.Mark, Forced: true, Last: true}, true
}

func (x *longKV) Apply(o *gen.LongOp) gen.Outcome {
	if o.Changes {
		x.now[o.Key] = o.A
	} else {
		o.A = x.now[o.Key]
	}
	return gen.Done
}

func (x *longKV) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	n := o.A
	if !o.Changes && !returned {
		n = -1
	}
	b = append(gen.AppendNumber(append(b, '['), o.Key), ' ')
	return append(gen.AppendNumber(b, n), ']')
}

// longTexts is kv with short strings. Most updates append to them.
type longTexts struct {
	*longKV
	texts [][]int // by key: the pieces of its string
}

func (x *longTexts) Change(t *gen.LongThread) gen.LongOp {
	o := x.longKV.Change(t)
	if len(x.texts[o.Key]) < gen.LongestText {
		o.F = ":append"
	}
	return o
}

func (x *longTexts) Apply(o *gen.LongOp) gen.Outcome {
	switch o.F {
	case ":get":
		o.List = slices.Clone(x.texts[o.Key])
	case ":put":
		x.texts[o.Key] = []int{o.A}
	default:
		x.texts[o.Key] = append(x.texts[o.Key], o.A)
	}
	return gen.Done
}

// Err makes a get see another last piece.
func (x *longTexts) Err(o *gen.LongOp) {
	if n := len(o.List); n > 0 {
		o.List[n-1] = (o.List[n-1] + 1) % x.Mark
	} else {
		o.List = []int{0}
	}
}

func (x *longTexts) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	b = append(gen.AppendNumber(append(b, '['), o.Key), ' ')
	pieces := o.List
	switch {
	case o.Changes:
		pieces = []int{o.A}
	case !returned || len(pieces) == 0:
		return append(b, "nil]"...)
	}
	b = append(b, '"')
	for _, piece := range pieces {
		b = append(gen.AppendNumber(b, piece), '.')
	}
	return append(b, `"]`...)
}
