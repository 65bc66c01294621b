package lock

import (
	"fmt"
	"strings"

	"clew/internal/gen"
)

// object stands for every lock and semaphore in generated histories. In long ones a process
// releases what it has acquired, and does not crash where that would leave the lock held. An
// acquire that crashes has no effect, and a release that crashes has its effect.
//
// An operation has its holder in Key, and its permits in B if they are not one. It returns the
// fence in A; in small histories it may also name the client in Two, and with Ok it says how
// many permits it has.
type object struct {
	*gen.Maker
	permits int  // of all holders together
	most    int  // of one holder
	counts  bool // it counts permits, whichever process has them
	owned   bool
	fenced  bool
	fence   int // the last one
	holds   map[int]int
	total   int
	first   int // the thread that acquires the lock for the bug

	several bool    // some operations of a small history take several permits
	naming  float64 // how often they name their clients
}

func newObject(m *gen.Maker) gen.Object {
	semaphore := strings.HasSuffix(m.Model, "semaphore")
	x := &object{Maker: m, permits: 1, most: 1, holds: map[int]int{}, fenced: strings.Contains(m.Model, "fenced"),
		owned: m.Model != "mutex" && m.Model != "semaphore", counts: semaphore || m.Model == "mutex"}
	switch {
	case semaphore:
		x.permits, x.most = m.Permits, min(2, m.Permits)
	case strings.HasPrefix(m.Model, "reentrant"):
		x.most = 2
		if m.Small {
			x.most = m.Options.MaxHolds
		}
	}
	if m.Small {
		x.several = semaphore && m.Chance(0.5)
		if x.owned {
			x.naming = [...]float64{0, 0, 0.5, 1}[m.Rand.IntN(4)]
		}
	}
	return x
}

// holder returns who holds what a thread acquires. Clients are named after owners.
func (x *object) holder(t *gen.Thread) int {
	switch {
	case !x.Small:
		return t.Number
	case !x.owned:
		return 0
	case x.Options.Threads > 0:
		return t.Process % x.Options.Threads
	}
	return t.Process
}

// fits says whether an operation can happen.
func (x *object) fits(o *gen.Op) bool {
	holds, n := x.holds[o.Key], max(o.B, 1)
	switch {
	case o.F == ":release":
		return holds >= n
	case x.counts:
		return x.total+n <= x.permits
	}
	return x.total == holds && holds < x.most
}

func (x *object) Change(t *gen.Thread) gen.Op {
	o := gen.Op{F: ":acquire", Changes: true, Key: t.Number}
	if n := x.holds[t.Number]; n == x.most || n > 0 && x.Rand.IntN(2) == 0 {
		o.F = ":release"
	}
	return o
}

// Call is mostly an operation that can happen next, so that not all operations block.
func (x *object) Call(t *gen.Thread) gen.Op {
	other := map[string]string{":acquire": ":release", ":release": ":acquire"}
	o := gen.Op{F: x.OneOf(":acquire", ":release"), Changes: true, Key: x.holder(t), B: 1}
	if o.Two = o.Key; x.several && x.Chance(0.4) {
		o.B += x.Rand.IntN(x.permits)
	}
	if o.Ok = o.B > 1 || x.counts && x.Model != "mutex" && x.Chance(0.1); !x.fits(&o) && x.Chance(0.75) {
		o.F = other[o.F]
	}
	return o
}

// Read releases what is held before a bug.
func (x *object) Read(t *gen.Thread) gen.Op {
	if x.Phase == gen.Draining && x.holds[t.Number] > 0 {
		return gen.Op{F: ":release", Changes: true, Key: t.Number}
	}
	return gen.Op{}
}

func (x *object) Rests() bool { return x.total == 0 }

func (x *object) MayCrash(t *gen.Thread, o *gen.Op) bool {
	return (x.holds[t.Number] == 1) == (o.F == ":release") && x.holds[t.Number] <= 1
}

func (x *object) Ghost(o *gen.Op) gen.Haunting {
	if o.F == ":release" {
		return gen.Surely
	}
	return gen.Never
}

// Bug acquires the lock, or all permits, and then acquires it once more. Or
// another process releases it, or it is released, and the next holder gets the
// same fence.
func (x *object) Bug(t *gen.Thread) gen.Op {
	o := gen.Op{F: ":acquire", Changes: true, Key: t.Number}
	held, mine := x.permits, x.Step == 0 || x.first == t.Number
	if x.Kind != gen.TwoHolders {
		held = 1
	}
	switch {
	case x.Step < held:
		if x.permits == 1 || x.Step == 0 {
			x.first = t.Number
		}
	case x.Kind == gen.Duplicate && x.Step == held:
		if !mine {
			return gen.Op{}
		}
		o.F = ":release"
	default:
		if mine && x.Kind != gen.Duplicate && x.owned {
			return gen.Op{}
		}
		if x.Kind == gen.ForeignRelease {
			o.F = ":release"
		}
		if o.A = x.fence; x.Kind == gen.TwoHolders {
			o.A++
		}
		return gen.Wrong(o)
	}
	return o
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	n := max(o.B, 1)
	switch {
	case !x.fits(o):
		if x.Small && x.Chance(0.2) {
			return gen.Refused
		}
		return gen.Blocked
	case o.F == ":release":
		n = -n
	case x.total == 0:
		if x.fence++; x.Small {
			x.fence += x.Rand.IntN(2)
		}
	}
	o.A = x.fence
	x.holds[o.Key] += n
	x.total += n
	return gen.Done
}

// Err is nearly right, except for the owner, the permits or the fence. It does not contradict
// the invocation.
func (x *object) Err(o *gen.Op) {
	if o.A = x.fence; x.Chance(0.7) {
		o.A = x.Rand.IntN(4)
	}
	if x.Chance(0.3) {
		o.Two = x.Rand.IntN(x.Processes)
		if n := x.Options.Threads; n > 0 {
			o.Two %= n
		}
	}
	if x.several && !o.Ok && x.Chance(0.2) {
		o.B, o.Ok = 1+x.Rand.IntN(x.permits), true
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case x.Small:
		return append(b, x.fields(o, returned)...)
	case !x.fenced || !returned || o.F == ":release":
		return append(b, "nil"...)
	}
	return append(gen.AppendNumber(append(b, "{:fence "...), o.A), '}')
}

// fields returns how many permits an operation of a small history has, which client took them,
// and the fence, or any value that says nothing.
func (x *object) fields(o *gen.Op, returned bool) string {
	var fields []string
	if o.Ok && (!returned || x.naming == 0) && x.Chance(0.5) {
		return string(x.Int(nil, o.B))
	}
	if o.Ok {
		fields = append(fields, fmt.Sprintf(":permits %d", o.B))
	}
	if returned && x.Chance(x.naming) {
		fields = append(fields, fmt.Sprintf(":client \"n%d\"", o.Two))
	}
	if returned && x.fenced && x.Chance(0.8) {
		fence := o.A
		if x.Chance(0.3) {
			fence = 0 // it says nothing
		}
		fields = append(fields, ":fence "+string(x.Int(nil, fence)))
	}
	if len(fields) == 0 {
		return x.OneOf("nil", ":done", `"uid"`, "{}")
	}
	x.Rand.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return "{" + strings.Join(fields, ", ") + "}"
}
