package fallback

import (
	"context"
	"slices"
	"unsafe"

	"clew/models"
)

// Rules switch off, for tests, what shrinks a search over compressed
// configurations and loses nothing (window.go says why).
type Rules struct {
	NoEagerReads, NoCanonicalOrder, NoCovering, NoDomination, NoLocalProof, NoQuiescence bool
}

// layout is what the searches over compressed configurations know of the
// operations before they begin.
type layout struct {
	Rules
	ctx    context.Context
	ops    *models.Operations
	limits Limits
	space  *space
	class  []int32 // by row

	ends     []int32 // the returns, as events, in order
	slot     []int32 // by row that returns: its bit in the mask while it is open
	words    int     // of a mask
	open     []int32 // by return: the rows open there, the returning one in front, the others by return ..
	openFrom []int   // .. from here, to the next return's
	crashed  []crashClass
	alone    []bool // by return: its operation runs alone, and no crashed one has begun by then

	taken int64
	cause Cause
}

// crashClass is crashed operations of one meaning, by invocation.
type crashClass struct {
	class int32
	rows  []int32
}

func newLayout(ctx context.Context, r Rules, ops *models.Operations, limits Limits) *layout {
	l := &layout{Rules: r, ctx: ctx, ops: ops, limits: limits}
	if !l.poll() {
		return l
	}
	l.space, l.class = newSpace(ops)
	l.slot = make([]int32, ops.Len())
	at := rowsAt(ops)
	open := l.countOpen(at)
	l.take(4*int64(open) + 50*int64(ops.Len()))
	if l.cause == "" {
		l.open = make([]int32, 0, open)
		l.layOut(at)
	}
	return l
}

// countOpen is how many rows are open at all returns together.
func (l *layout) countOpen(at []int32) int {
	open, sum := 0, 0
	for e, row := range at {
		switch {
		case row < 0 || l.ops.Res[row] == models.Open:
		case l.ops.Inv[row] == int32(e):
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
func (l *layout) layOut(at []int32) {
	classAt := map[int32]int{}
	var open, free []int32
	slots := int32(0)
	polled := 0
	for e, row := range at {
		if e+len(l.open)-polled > workPerPoll {
			if polled = e + len(l.open); !l.poll() {
				return
			}
		}
		switch {
		case row < 0:
		case l.ops.Res[row] == models.Open:
			c, ok := classAt[l.class[row]]
			if !ok {
				c = len(l.crashed)
				classAt[l.class[row]] = c
				l.crashed = append(l.crashed, crashClass{class: l.class[row]})
			}
			l.crashed[c].rows = append(l.crashed[c].rows, row)
		case l.ops.Inv[row] == int32(e):
			if n := len(free); n > 0 {
				l.slot[row], free = free[n-1], free[:n-1]
			} else {
				l.slot[row] = slots
				slots++
			}
			i, _ := slices.BinarySearchFunc(open, row, func(a, b int32) int { return int(l.ops.Res[a] - l.ops.Res[b]) })
			open = slices.Insert(open, i, row)
		default:
			l.ends = append(l.ends, int32(e))
			l.openFrom = append(l.openFrom, len(l.open))
			l.open = append(l.open, open...)
			open = open[1:]
			free = append(free, l.slot[row])
		}
	}
	l.openFrom = append(l.openFrom, len(l.open))
	l.words = int(slots+63) / 64
	l.findAlone()
}

// findAlone finds the operations that run alone: nothing else is open between
// their invocation and their return, not even a crashed one.
func (l *layout) findAlone() {
	crash := int32(l.ops.Events) // the first
	for _, c := range l.crashed {
		crash = min(crash, l.ops.Inv[c.rows[0]])
	}
	l.alone = make([]bool, len(l.ends))
	for k, end := range l.ends {
		open := l.openRows(int32(k))
		l.alone[k] = len(open) == 1 && (k == 0 || l.ends[k-1] < l.ops.Inv[open[0]]) && end < crash && !l.NoQuiescence
	}
}

// rowsAt is the row that each event belongs to, or -1.
func rowsAt(ops *models.Operations) []int32 {
	at := make([]int32, ops.Events)
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

// openRows is the rows open at the k-th return, which is the first one's.
func (l *layout) openRows(k int32) []int32 { return l.open[l.openFrom[k]:l.openFrom[k+1]] }

// hasTwin says whether a row of a class is open and not linearized.
func (l *layout) hasTwin(open []int32, mask []uint64, class int32) bool {
	for _, o := range open {
		if l.class[o] == class && !hasBit(mask, l.slot[o]) {
			return true
		}
	}
	return false
}

// poll says whether the search may go on.
func (l *layout) poll() bool {
	if l.cause == "" && l.ctx.Err() != nil {
		l.cause = Stopped(l.ctx)
	}
	return l.cause == ""
}

func (l *layout) take(bytes int64) {
	l.taken += bytes
	if !l.limits.Memory.take(bytes) && l.cause == "" {
		l.cause = OutOfMemory
	}
}

func (l *layout) give(bytes int64) {
	l.taken -= bytes
	l.limits.Memory.give(bytes)
}

// grow makes room for n more, and takes its bytes.
func grow[T any](l *layout, s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s
	}
	before := cap(s)
	s = slices.Grow(s, max(n, len(s)/4))
	var x T
	l.take(int64(cap(s)-before) * int64(unsafe.Sizeof(x)))
	return s
}

func hasBit(mask []uint64, i int32) bool { return mask[i>>6]&(1<<(i&63)) != 0 }
func setBit(mask []uint64, i int32)      { mask[i>>6] |= 1 << (i & 63) }
func clearBit(mask []uint64, i int32)    { mask[i>>6] &^= 1 << (i & 63) }
