package lock

import (
	"fmt"
	"strings"

	"clew/internal/gen"
)

// smallLock is any lock that counts: a semaphore, or a lock with an owner.
type smallLock struct {
	gen.Unnamed
	g       *gen.SmallHistory
	permits int // of all holders; 0: one owner at a time
	holds   int // of one owner
	owned   bool
	fenced  bool
	counts  bool    // some operations take several permits
	naming  float64 // how often an ok value names the client

	held  map[int]int // by owner
	total int
	fence int // the greatest so far
	mine  int // the fence with which the lock is held, or 0 if it was not told
}

func newSmallLock(g *gen.SmallHistory) *smallLock {
	x := &smallLock{g: g, holds: 1, held: map[int]int{}, owned: g.Options.Model != "semaphore", fenced: strings.Contains(g.Options.Model, "fenced")}
	if strings.HasPrefix(g.Options.Model, "reentrant") {
		x.holds = g.Options.MaxHolds
	}
	if g.Options.Model == "semaphore" || g.Options.Model == "owner-semaphore" {
		x.permits, x.counts = g.Options.Permits, g.Chance(0.5)
	}
	if x.owned {
		x.naming = [...]float64{0, 0, 0.5, 1}[g.Rand.IntN(4)]
	}
	return x
}

// owner returns the owner of what a process acquires. Clients are named after owners.
func (x *smallLock) owner(process int) int {
	switch {
	case !x.owned:
		return 0
	case x.g.Options.Threads > 0:
		return process % x.g.Options.Threads
	}
	return process
}

// fits says whether an operation can happen.
func (x *smallLock) fits(f string, owner, n int) bool {
	switch {
	case f == ":release":
		return x.held[owner] >= n
	case x.permits > 0:
		return x.total+n <= x.permits
	}
	return x.total == 0 || x.held[owner] > 0 && x.held[owner] < x.holds
}

// Call makes up an operation, with its permits in args.
func (x *smallLock) Call() gen.Call {
	g, n := x.g, 1
	if x.counts && g.Chance(0.4) {
		n = 1 + g.Rand.IntN(x.permits)
	}
	// Mostly this is an operation that can happen next, so that not all operations block.
	f := [...]string{":acquire", ":release"}[g.Rand.IntN(2)]
	if !x.fits(f, x.owner(g.Caller), n) && g.Chance(0.75) {
		f = map[string]string{":acquire": ":release", ":release": ":acquire"}[f]
	}
	return gen.Call{F: f, Arg: x.print(n, false), Args: []string{fmt.Sprint(n)}}
}

func permits(c *gen.Call) int {
	n := 0
	fmt.Sscan(c.Args[0], &n)
	return n
}

func (x *smallLock) Apply(o *gen.Op) gen.Outcome {
	w, n := x.owner(o.Number), permits(&o.Call)
	x.g.Caller = o.Number
	if !x.fits(o.F, w, n) {
		switch {
		case o.Fate == gen.Crashes:
			return gen.Blocked
		case x.g.Way == gen.Mutated && x.g.Chance(0.4):
			o.Result = x.Guess(&o.Call) // values say little, so the order has to be wrong
			return gen.Done
		case x.g.Chance(0.2):
			return gen.Refused
		}
		return gen.Blocked
	}
	if o.F == ":release" {
		n = -n
	} else if x.fenced && (x.total == 0 || x.mine == 0) {
		x.fence += 1 + x.g.Rand.IntN(2)
		x.mine = 0
		if x.g.Chance(0.7) {
			x.mine = x.fence
		}
	}
	x.held[w] += n
	x.total += n
	o.Result = x.print(permits(&o.Call), true)
	return gen.Done
}

// print writes how many permits an operation has, and which client took them.
func (x *smallLock) print(n int, returned bool) string {
	g := x.g
	var fields []string
	if n > 1 || g.Chance(0.1) {
		if x.permits > 0 {
			fields = append(fields, fmt.Sprintf(":permits %d", n))
		}
	}
	if returned && g.Chance(x.naming) {
		fields = append(fields, fmt.Sprintf(":client \"n%d\"", x.owner(g.Caller)))
	}
	if returned && x.fenced && (x.mine > 0 || g.Chance(0.3)) {
		fence := x.mine
		if g.Chance(0.2) {
			fence = 0
		}
		fields = append(fields, fmt.Sprintf(":fence %d%s", fence, [...]string{"", "", "N"}[g.Rand.IntN(3)]))
	}
	switch {
	case x.permits > 0 && len(fields) == 1 && strings.HasPrefix(fields[0], ":permits") && g.Chance(0.5):
		return fmt.Sprintf("%d%s", n, [...]string{"", "", "N"}[g.Rand.IntN(3)])
	case len(fields) == 0:
		return [...]string{"nil", ":done", `"uid"`, "{}"}[g.Rand.IntN(4)]
	}
	g.Rand.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return "{" + strings.Join(fields, ", ") + "}"
}

// Guess is nearly right, except for the owner, the permits or the fence.
func (x *smallLock) Guess(c *gen.Call) string {
	g, n := x.g, permits(c)
	defer func(caller, mine int) { g.Caller, x.mine = caller, mine }(g.Caller, x.mine)
	if g.Chance(0.3) {
		g.Caller = g.Rand.IntN(g.Processes)
	}
	if x.counts && !strings.ContainsAny(c.Arg, "0123456789") && g.Chance(0.2) {
		n = 1 + g.Rand.IntN(x.permits) // its invocation does not contradict this
	}
	if g.Chance(0.7) {
		x.mine = g.Rand.IntN(4)
	}
	return x.print(n, true)
}

// smallMutex is a lock without an owner.
type smallMutex struct {
	gen.Unnamed
	g    *gen.SmallHistory
	held bool
}

func (x *smallMutex) Call() gen.Call {
	// Mostly this is an operation that can happen next, so that not all operations block.
	f := ":acquire"
	if x.held != x.g.Chance(0.25) {
		f = ":release"
	}
	return gen.Call{F: f, Arg: [...]string{"nil", "1", "nil"}[x.g.Rand.IntN(3)]}
}

func (x *smallMutex) Apply(o *gen.Op) gen.Outcome {
	if x.held == (o.F == ":acquire") {
		if x.g.Way == gen.Mutated && o.Fate != gen.Crashes && x.g.Chance(0.3) {
			o.Result = x.Guess(&o.Call) // values say nothing, so the order has to be wrong
			return gen.Done
		}
		if o.Fate != gen.Crashes && x.g.Chance(0.1) {
			return gen.Refused
		}
		return gen.Blocked
	}
	x.held = !x.held
	o.Result = x.Guess(&o.Call)
	return gen.Done
}

func (x *smallMutex) Guess(*gen.Call) string { return [...]string{"nil", ":done"}[x.g.Rand.IntN(2)] }
