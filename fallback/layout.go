package fallback

import (
	"context"
	"slices"
	"unsafe"

	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// Rules switch off, for tests, the rules that shrink a search over compressed
// configurations and lose nothing (window.go says why).
type Rules struct {
	NoEagerReads, NoCanonicalOrder, NoCovering, NoDomination, NoLocalProof, NoQuiescence, NoLookahead bool
	NoGuide, NoForgetting, NoNeeds                                                                    bool
}

// Layout holds what searches over compressed configurations know about the
// operations before they begin, how much memory they have taken, and why they
// ended early.
type Layout struct {
	Rules
	ctx    context.Context
	Ops    *models.Operations
	Limits limits.Limits
	space  *Space
	Class  []int32 // by row: its meaning, see NewSpace

	Ends     []int32      // the returns, as events, in order; the k-th return is that at Ends[k]
	Slot     []int32      // by row that returns: its bit in the mask while it is open
	slots    int32        // how many there are
	Words    int          // of a mask
	open     []models.Row // by return: the rows open there, the returning one first, the others by return ..
	openFrom []int        // .. from here, to the next return's
	Crashed  []CrashClass
	alone    []bool // by return: its operation runs alone, and no crashed one has begun by then

	taken int64
	Cause jepsen.Cause // why the search ends early, "" as long as it may go on
	Work  int          // done since Tick last looked at the limits
	meter
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
func NewLayout(ctx context.Context, r Rules, ops *models.Operations, lim limits.Limits) *Layout {
	l := &Layout{Rules: r, ctx: ctx, Ops: ops, Limits: lim}
	l.wait(lim.Turn)
	if !l.Poll() {
		return l
	}
	l.space, l.Class = NewSpace(ops)
	l.space.Ask(func() bool {
		l.Take(l.space.Spent())
		return l.look()
	})
	l.Slot = make([]int32, ops.Len())
	at := RowsAt(ops)
	open := l.countOpen(at)
	l.Take(4*int64(open) + 50*int64(ops.Len()))
	if l.Cause == "" {
		l.open = make([]int32, 0, open)
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
	var open, free []int32
	slots := int32(0)
	polled := 0
	for e, row := range at {
		if e+len(l.open)-polled > workPerPoll {
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
			if n := len(free); n > 0 {
				l.Slot[row], free = free[n-1], free[:n-1]
			} else {
				l.Slot[row] = slots
				slots++
			}
			i, _ := slices.BinarySearchFunc(open, row, func(a, b int32) int { return int(l.Ops.Res[a] - l.Ops.Res[b]) })
			open = slices.Insert(open, i, row)
		default:
			l.Ends = append(l.Ends, int32(e))
			l.openFrom = append(l.openFrom, len(l.open))
			l.open = append(l.open, open...)
			open = open[1:]
			free = append(free, l.Slot[row])
		}
	}
	l.openFrom = append(l.openFrom, len(l.open))
	l.slots, l.Words = slots, int(slots+63)/64
	l.findAlone()
}

// findAlone finds the operations that run alone: nothing else is open between
// their invocation and their return, not even a crashed one.
func (l *Layout) findAlone() {
	crash := int32(l.Ops.Events) // the first
	for _, c := range l.Crashed {
		crash = min(crash, l.Ops.Inv[c.Rows[0]])
	}
	l.alone = make([]bool, len(l.Ends))
	for k, end := range l.Ends {
		open := l.OpenRows(int32(k))
		l.alone[k] = len(open) == 1 && (k == 0 || l.Ends[k-1] < l.Ops.Inv[open[0]]) && end < crash && !l.NoQuiescence
	}
}

// RowsAt returns the row that each event belongs to, or -1.
func RowsAt(ops *models.Operations) []models.Row {
	at := make([]models.Row, ops.Events)
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

// OpenRows returns the rows open at the k-th return. The first one is the row
// that returns.
func (l *Layout) OpenRows(k int32) []models.Row { return l.open[l.openFrom[k]:l.openFrom[k+1]] }

// HasTwin says whether a row of a class is open and not linearized.
func (l *Layout) HasTwin(open []models.Row, mask []uint64, class int32) bool {
	for _, o := range open {
		if l.Class[o] == class && !HasBit(mask, l.Slot[o]) {
			return true
		}
	}
	return false
}

// Poll says whether the search may go on.
func (l *Layout) Poll() bool {
	if l.Cause == "" && l.ctx.Err() != nil {
		l.Cause = limits.Stopped(l.ctx)
	}
	return l.Cause == ""
}

// workPerPoll bounds the work between two looks at the limits.
const workPerPoll = 1 << 14

// Tick counts a step of a search, and says whether the search may go on. The
// search adds what a step looks at to Work. If that is enough, Tick looks at the
// limits, and waits for the next turn if this one is over.
func (l *Layout) Tick() bool {
	if l.Work++; l.Work > workPerPoll {
		return l.look()
	}
	return l.Cause == ""
}

func (l *Layout) look() bool {
	l.spend(l.Work + l.space.worked())
	l.Work = 0
	return l.Poll()
}

// Done returns the work done so far, see Answer.
func (l *Layout) Done() int64 { return l.done + int64(l.Work) }

// Take takes bytes from the memory limit. If too few are left, the search ends.
func (l *Layout) Take(bytes int64) {
	l.taken += bytes
	if !l.Limits.Memory.Take(bytes) && l.Cause == "" {
		l.Cause = jepsen.OutOfMemory
	}
}

// Give gives back bytes that were taken.
func (l *Layout) Give(bytes int64) {
	l.taken -= bytes
	l.Limits.Memory.Give(bytes)
}

// Release gives back all that was taken.
func (l *Layout) Release() { l.Give(l.taken) }

// grow makes room for n more, and takes its bytes.
func grow[T any](l *Layout, s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s
	}
	before := cap(s)
	s = slices.Grow(s, max(n, len(s)/4))
	var x T
	l.Take(int64(cap(s)-before) * int64(unsafe.Sizeof(x)))
	return s
}

// HasBit says whether bit i of a mask is set.
func HasBit(mask []uint64, i int32) bool { return mask[i>>6]&(1<<(i&63)) != 0 }

// SetBit sets bit i of a mask.
func SetBit(mask []uint64, i int32) { mask[i>>6] |= 1 << (i & 63) }

// ClearBit clears bit i of a mask.
func ClearBit(mask []uint64, i int32) { mask[i>>6] &^= 1 << (i & 63) }
