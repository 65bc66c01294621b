// Package testkit is what the tests of the families share: an exhaustive
// search, plain definitions of what evidence must be, and random histories. The
// search shares no code with the procedures that it judges.
package testkit

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"slices"

	"clew/fastpath"
	"clew/models"
)

// Long asks for the test campaigns that take minutes.
var Long = os.Getenv("CLEW_LONG") != ""

// Decide decides columns by a family's path for a shape.
func Decide(family fastpath.Family, shape models.Shape, c *models.Columns, want fastpath.Want) fastpath.Decision {
	path, _ := family(shape)
	return path.Decide(context.Background(), c, want)
}

// Cut is the history up to and including event t.
func Cut(c *models.Columns, t int32) *models.Columns {
	return fastpath.Input{Columns: c}.Cut(t).Columns
}

// Oracle says whether the history up to and including event t is linearizable.
// Operations that return later are optional, and keep their value.
type Oracle struct {
	C    *models.Columns
	init string
	next Step
	seen map[position]bool
}

// Step appends the states that an operation can lead to.
type Step func(dst []string, op models.Op, state string) []string

// NewOracle is the oracle for a history of a data type.
func NewOracle(c *models.Columns, init string, next Step) *Oracle {
	return &Oracle{c, init, next, map[position]bool{}}
}

// position is where a search stands: what it has linearized, and the state.
type position struct {
	done  uint32
	state string
}

// Linearizable says whether the given operations, up to event t, are
// linearizable.
func (o *Oracle) Linearizable(t int32, ops uint32) bool {
	clear(o.seen)
	return o.search(t, ops, 0, o.init)
}

// search tries to linearize the operations of ops that are not in done.
func (o *Oracle) search(t int32, ops, done uint32, state string) bool {
	due, must := int32(models.Open), false
	for x := ops &^ done; x != 0; x &= x - 1 {
		if res := o.C.Res[bits.TrailingZeros32(x)]; res <= t {
			due, must = min(due, res), true
		}
	}
	if !must {
		return true
	}
	key := position{done, state}
	if o.seen[key] {
		return false
	}
	o.seen[key] = true
	for x := ops &^ done; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		if o.C.Inv[i] > due || o.C.Inv[i] > t {
			continue
		}
		for _, next := range o.next(nil, o.C.Op(int32(i)), state) {
			if o.search(t, ops, done|1<<i, next) {
				return true
			}
		}
	}
	return false
}

// All is the set of all operations.
func All(c *models.Columns) uint32 { return 1<<c.Len() - 1 }

// FirstFailing is the event of the first failing completion, or -1.
func (o *Oracle) FirstFailing() int32 {
	if o.Linearizable(o.C.Events, All(o.C)) {
		return -1
	}
	ends := slices.Sorted(slices.Values(o.C.Res))
	for _, t := range ends {
		if t == models.Open || !o.Linearizable(t, All(o.C)) {
			return t
		}
	}
	panic("not reached")
}

// Counts is what a run of comparisons has seen.
type Counts struct {
	Histories, Valid, Invalid, Ambiguous, FailUnknown, Unexplained, Crashed int

	CoreSize [17]int
	Patterns map[string]int
	Reasons  map[string]int
}

func (n *Counts) String() string {
	return fmt.Sprintf("%d histories: %d valid, %d invalid (%d without first failing completion, %d unexplained), %d ambiguous (%.1f%%) %v, %d with a crash; core sizes %v; patterns %v",
		n.Histories, n.Valid, n.Invalid, n.FailUnknown, n.Unexplained, n.Ambiguous,
		100*float64(n.Ambiguous)/float64(max(1, n.Histories)), n.Reasons, n.Crashed, n.CoreSize, n.Patterns)
}

// Failed counts a core and its violation.
func (n *Counts) Failed(core []models.Row, why fastpath.Violation) {
	if n.Patterns == nil {
		n.Patterns = map[string]int{}
	}
	n.CoreSize[min(len(n.CoreSize)-1, len(core))]++
	n.Patterns[fmt.Sprintf("%T", why)]++
	if why == nil {
		n.Unexplained++
	}
}

// Undecided counts an ambiguity.
func (n *Counts) Undecided(reason fastpath.Ambiguity) {
	if n.Reasons == nil {
		n.Reasons = map[string]int{}
	}
	n.Reasons[fmt.Sprintf("%T", reason)]++
}

// Shapes calls f with every way in which n operations can be invoked, return
// and crash. Events are numbered without gaps.
func Shapes(n int, f func(inv, res []int32)) {
	inv, res := make([]int32, 0, n), make([]int32, 0, n)
	var next func(t int32, open []int)
	next = func(t int32, open []int) {
		if len(inv) == n && len(open) == 0 {
			f(inv, res)
			return
		}
		if len(inv) < n {
			i := len(inv)
			inv, res = append(inv, t), append(res, models.Open)
			next(t+1, append(open[:len(open):len(open)], i))
			next(t+1, open) // crashes
			inv, res = inv[:i], res[:i]
		}
		for k, i := range open {
			res[i] = t
			next(t+1, append(append([]int{}, open[:k]...), open[k+1:]...))
			res[i] = models.Open
		}
	}
	next(0, nil)
}
