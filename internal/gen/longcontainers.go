package gen

import "slices"

// errs is a longObject whose wrong answers are not just other values.
type errs interface{ err(o *longOp) }

// longStack is stack and priority-queue, which hands out its greatest element. It
// stays short.
type longStack struct {
	longQueue
	lifo bool
}

func (x *longStack) call(changes bool) longOp { return x.named(x.longQueue.call(changes)) }

func (x *longStack) fault(p phase, value int32) longOp { return x.named(x.longQueue.fault(p, value)) }

// named is an operation of a queue under the name that stacks have for it.
func (x *longStack) named(o longOp) longOp {
	if x.lifo {
		o.f = map[string]string{":enqueue": ":push", ":dequeue": ":pop"}[o.f]
	}
	return o
}

func (x *longStack) apply(o *longOp) bool {
	switch {
	case o.f == ":enqueue" || o.f == ":push":
		x.now = append(x.now, o.a)
		return true
	case len(x.now) == 0:
		return false
	}
	last := len(x.now) - 1
	if i := slices.Index(x.now, slices.Max(x.now)); !x.lifo {
		x.now[i], x.now[last] = x.now[last], x.now[i]
	}
	o.a, x.now = x.now[last], x.now[:last]
	return true
}

func (x *longStack) value(b []byte, o *longOp, returned bool) []byte {
	if (o.f == ":dequeue" || o.f == ":pop") && !returned {
		return append(b, "nil"...)
	}
	return number(b, o.a)
}

// longTexts is kv with strings, which most updates append to, and which stay short.
type longTexts struct {
	longKV
	texts [][]int32 // by key: the pieces of its string
}

// longestText is how many pieces a string has when it is replaced.
const longestText = 10

func (x *longTexts) call(changes bool) longOp {
	o := x.longKV.call(changes)
	if changes && len(x.texts[o.key]) < longestText {
		o.f = ":append"
	}
	return o
}

func (x *longTexts) fault(phase, int32) longOp { return x.call(false) }

func (x *longTexts) apply(o *longOp) bool {
	switch o.f {
	case ":get":
		o.list = slices.Clone(x.texts[o.key])
	case ":put":
		x.texts[o.key] = []int32{o.a}
	default:
		x.texts[o.key] = append(x.texts[o.key], o.a)
	}
	return true
}

// err has a get see another last piece.
func (x *longTexts) err(o *longOp) {
	if n := len(o.list); n > 0 {
		o.list[n-1] = (o.list[n-1] + 1) % x.mark
	} else {
		o.list = []int32{0}
	}
}

func (x *longTexts) value(b []byte, o *longOp, returned bool) []byte {
	b = append(number(append(b, '['), o.key), ' ')
	pieces := o.list
	switch {
	case o.changes:
		pieces = []int32{o.a}
	case !returned || len(pieces) == 0:
		return append(b, "nil]"...)
	}
	b = append(b, '"')
	for _, piece := range pieces {
		b = append(number(b, piece), '.')
	}
	return append(b, `"]`...)
}
