package register

import (
	"clew/fastpath"
	"clew/models"
)

// Zones (Gibbons and Korach, "Testing shared memories", 1997).
//
// In a linearization of a register, the operations of one write (the write
// and those that see it) stand together as a block. The only question is
// whether the blocks can be put in an order. Block X must stand before block
// Y if some operation of X returned before some operation of Y was invoked:
//
//	X before Y  iff  minRes(X) < maxInv(Y)
//
// Lemma: if "before" has a cycle, it has a cycle of two blocks. Proof: let
// X have the greatest maxInv on a cycle, with X before Y before Z. Then
// minRes(Y) < maxInv(Z) <= maxInv(X), so Y is also before X.
//
// Let the zone of a block span minRes and maxInv. Two blocks are before each
// other iff two forward zones (minRes < maxInv) overlap, or a backward zone
// (maxInv < minRes) lies inside a forward one. One sweep over the events detects
// this. If it finds nothing, the order of the zones' starts is a linearization.

// zones holds zones by the event at which they start. No two start at the
// same event: a forward zone starts with a return, a backward zone with an
// invocation, and each operation belongs to one block only.
type zones []int32

// block holds what matters about a block.
type block struct{ minRes, maxInv int32 }

// start returns the start of a block's zone.
func (b block) start() int32 { return min(b.minRes, b.maxInv) }

// add enters a block and returns the start of its zone.
func (z zones) add(b block) int32 {
	if b.minRes < b.maxInv {
		z[b.minRes] = b.maxInv + 1
	} else {
		z[b.maxInv] = -(b.minRes + 1)
	}
	return b.start()
}

// clash finds two blocks that must stand before each other. The block of the
// initial value starts before every event; its last invocation is init, or -1.
func (z zones) clash(init int32) (x, y block, found bool) {
	x = block{-1, init}
	for t, e := range z {
		switch {
		case e > 0: // forward, up to e-1
			y = block{int32(t), e - 1}
			if y.minRes < x.maxInv {
				return x, y, true
			}
			x = y
		case e < 0: // backward, up to -e-1
			if -e-1 < x.maxInv {
				return x, block{-e - 1, int32(t)}, true
			}
		}
	}
	return x, y, false
}

// whyReplaced explains a clash. It names the operations whose invocations
// and returns determine the two zones.
func whyReplaced(in fastpath.Input, x, y block) *fastpath.Finding {
	if x.minRes < 0 {
		return InitialLate.Of(in.OpReturning(y.minRes), in.OpInvoked(x.maxInv))
	}
	return Replaced.Of(in.OpReturning(x.minRes), in.OpInvoked(y.maxInv), in.OpReturning(y.minRes), in.OpInvoked(x.maxInv))
}

// InitialLate (other, late): late belongs to the initial value: it saw that value, or one
// that only cas operations had made of it. But other, which belongs to another value,
// had returned before late was invoked.
var InitialLate = &fastpath.Pattern{Name: "initial-late", Relate: fastpath.Against(0, 1),
	ChooseKind: func(t models.Teller, v []models.Row) models.Anomaly { return sawOld(t, v[1]) },
	Choose: func(t models.Teller, v []models.Row) string {
		if init := t.Init(); len(init) == 1 && init[0] == t.Op(v[1]).A {
			return "{did 1} after {had 0}; value {value 1} is the initial value"
		}
		return "{did 1} after {had 0}; value {value 1} was made from the initial value"
	}}

// Replaced (earlyX, lateY, earlyY, lateX): the operations of one value X, and of what cas operations
// made of it, must come all before or all after those of another value Y. But earlyX
// had returned before lateY was invoked, and earlyY before lateX was invoked.
var Replaced = &fastpath.Pattern{Name: "replaced", Relate: fastpath.Steps(fastpath.Returned(0, 1), fastpath.Returned(2, 3)), ChooseKind: sawReplaced, Choose: func(t models.Teller, v []models.Row) string {
	first, last := t.Op(v[0]), t.Op(v[3])
	switch {
	case v[1] == v[2] && first.Kind == models.Write && last.Kind != models.Write && first.A != last.A:
		return "{did 3} after {had 2}; before that, {had 0}, from which value {value 3} was made"
	case v[1] == v[2]:
		return "{did 3} after {had 2}; before that, {had 0}"
	case first.A == last.A && t.Op(v[1]).A == t.Op(v[2]).A:
		return "{did 0} before {did 1}, yet {did 2} before {did 3}, so each value must have come before the other one"
	}
	return "{did 0} before {did 1}, yet {did 2} before {did 3}"
}}

// sawOld returns the kind of failure of an operation that saw a value after another had replaced it. It returns "" for
// a write, which saw none.
func sawOld(t models.Teller, row models.Row) models.Anomaly {
	switch op := t.Op(row); {
	case op.Kind == models.Write:
		return ""
	case op.Kind == models.CAS && op.A != op.B:
		return models.LostUpdate
	}
	return models.StaleRead
}

// sawReplaced is Replaced.ChooseKind. Whichever value came first, an operation of it saw it too late: if X came first,
// lateX did, else lateY. A write saw nothing, so its value came second.
func sawReplaced(t models.Teller, v []models.Row) models.Anomaly {
	x, y := sawOld(t, v[3]), sawOld(t, v[1])
	switch {
	case v[1] == v[2] || y == "":
		return x
	case x == "" || x == y:
		return y
	}
	return ""
}
