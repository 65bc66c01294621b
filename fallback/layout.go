package fallback

import (
	"context"

	"clew/internal/hugepages"
	"clew/models"
)

// Layout holds what searches know about the operations before they begin: which
// are open at which return, and what they mean.
type Layout struct {
	Budget
	Ops   *models.Operations
	Space *Space
	Class []int32 // by row: its meaning, see NewSpace

	Overlap         // of the rows that return
	Ends    []int32 // the returns, as events, in order; the k-th return is that at Ends[k]
	Words   int     // of a mask
	Crashed []CrashClass
}

// CrashClass holds the crashed operations of one meaning, by invocation.
type CrashClass struct {
	Class int32
	Rows  []models.Row
}

// NewLayout lays out operations. If a limit or the context stops it, Cause says
// so, and the rest is unusable. It takes time and memory linear in the number
// of operations plus, summed over all returns, the number of operations open
// there.
func NewLayout(ctx context.Context, ops *models.Operations, lim Limits) *Layout {
	l := &Layout{Budget: *NewBudget(ctx, lim), Ops: ops}
	if l.Cause != "" {
		return l
	}
	l.Space, l.Class = NewSpace(ops)
	l.Space.Ask(func() bool {
		l.Take(l.Space.Spent())
		return l.Look()
	})
	at := RowsAt(ops)
	open := l.countOpen(at)
	l.Take(4*int64(open) + 50*int64(ops.Len()))
	if l.Cause == "" {
		l.Overlap = NewOverlap(ops.Res, open)
		l.Ends = hugepages.Make[int32](ops.Len())[:0]
		l.layOut(at)
	}
	return l
}

// countOpen returns how many rows are open at each return, summed over all returns.
func (l *Layout) countOpen(at []int32) int {
	open, sum := 0, 0
	for e, row := range at {
		switch {
		case row < 0 || l.Ops.Res[row] == models.Open:
		case l.Ops.Inv[row] == int32(e):
			open++
		default:
			sum += open
			open--
		}
	}
	return sum
}

// layOut gives every row that returns a bit that is free while it is open, and
// finds for every return the rows that are open there.
func (l *Layout) layOut(at []int32) {
	classAt := map[int32]int{}
	polled := 0
	for e, row := range at {
		if e+len(l.open)-polled > WorkPerPoll {
			if polled = e + len(l.open); !l.Poll() {
				return
			}
		}
		switch {
		case row < 0:
		case l.Ops.Res[row] == models.Open:
			c, ok := classAt[l.Class[row]]
			if !ok {
				c = len(l.Crashed)
				classAt[l.Class[row]] = c
				l.Crashed = append(l.Crashed, CrashClass{Class: l.Class[row]})
			}
			l.Crashed[c].Rows = append(l.Crashed[c].Rows, row)
		case l.Ops.Inv[row] == int32(e):
			l.Begin(row)
		default:
			l.Ends = append(l.Ends, int32(e))
			l.End(row)
		}
	}
	l.Words = int(l.Slots+63) / 64
}

// RowsAt returns the row that each event belongs to, or -1.
func RowsAt(ops *models.Operations) []models.Row {
	at := hugepages.Make[models.Row](ops.Events)
	for i := range at {
		at[i] = -1
	}
	for i, inv := range ops.Inv {
		at[inv] = int32(i)
		if res := ops.Res[i]; res != models.Open {
			at[res] = int32(i)
		}
	}
	return at
}

// HasTwin says whether a row of a class is open and not linearized.
func (l *Layout) HasTwin(open []models.Row, mask []uint64, class int32) bool {
	for _, o := range open {
		if l.Class[o] == class && !HasBit(mask, l.Slot[o]) {
			return true
		}
	}
	return false
}

// Tick counts a step of a search, and says whether the search may go on. The search adds what a step looks at to Work.
// If that is enough, Tick looks at the limits, and waits for the next turn if this one is over.
func (l *Layout) Tick() bool {
	if l.Work++; l.Work > WorkPerPoll {
		return l.Look()
	}
	return l.Cause == ""
}

// Look does what Budget.Look does. It also counts the work of the space.
func (l *Layout) Look() bool {
	l.Work += l.Space.worked()
	return l.Budget.Look()
}

// HasBit says whether bit i of a mask is set.
func HasBit(mask []uint64, i int32) bool { return mask[i>>6]&(1<<(i&63)) != 0 }

// SetBit sets bit i of a mask.
func SetBit(mask []uint64, i int32) { mask[i>>6] |= 1 << (i & 63) }

// ClearBit clears bit i of a mask.
func ClearBit(mask []uint64, i int32) { mask[i>>6] &^= 1 << (i & 63) }
