package gen

import (
	"fmt"
	"strings"
)

// lock is any lock that counts: a semaphore, or a lock with an owner.
type lock struct {
	unnamed
	g       *generator
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

func newLock(g *generator) *lock {
	x := &lock{g: g, holds: 1, held: map[int]int{}, owned: g.o.Model != "semaphore", fenced: strings.Contains(g.o.Model, "fenced")}
	if strings.HasPrefix(g.o.Model, "reentrant") {
		x.holds = g.o.MaxHolds
	}
	if g.o.Model == "semaphore" || g.o.Model == "owner-semaphore" {
		x.permits, x.counts = g.o.Permits, g.chance(0.5)
	}
	if x.owned {
		x.naming = [...]float64{0, 0, 0.5, 1}[g.r.IntN(4)]
	}
	return x
}

// owner returns the owner of what a process acquires. Clients are named after owners.
func (x *lock) owner(process int) int {
	switch {
	case !x.owned:
		return 0
	case x.g.o.Threads > 0:
		return process % x.g.o.Threads
	}
	return process
}

// fits says whether an operation can happen.
func (x *lock) fits(f string, owner, n int) bool {
	switch {
	case f == ":release":
		return x.held[owner] >= n
	case x.permits > 0:
		return x.total+n <= x.permits
	}
	return x.total == 0 || x.held[owner] > 0 && x.held[owner] < x.holds
}

// call makes up an operation, with its permits in args.
func (x *lock) call() call {
	g, n := x.g, 1
	if x.counts && g.chance(0.4) {
		n = 1 + g.r.IntN(x.permits)
	}
	// Mostly this is an operation that can happen next, so that not all operations block.
	f := [...]string{":acquire", ":release"}[g.r.IntN(2)]
	if !x.fits(f, x.owner(g.caller), n) && g.chance(0.75) {
		f = map[string]string{":acquire": ":release", ":release": ":acquire"}[f]
	}
	return call{f: f, arg: x.print(n, false), args: []string{fmt.Sprint(n)}}
}

func permits(c *call) int {
	n := 0
	fmt.Sscan(c.args[0], &n)
	return n
}

func (x *lock) apply(o *op) outcome {
	w, n := x.owner(o.number), permits(&o.call)
	x.g.caller = o.number
	if !x.fits(o.f, w, n) {
		switch {
		case o.fate == crashes:
			return blocked
		case x.g.way == Mutated && x.g.chance(0.4):
			o.result = x.guess(&o.call) // values say little, so the order has to be wrong
			return done
		case x.g.chance(0.2):
			return refused
		}
		return blocked
	}
	if o.f == ":release" {
		n = -n
	} else if x.fenced && (x.total == 0 || x.mine == 0) {
		x.fence += 1 + x.g.r.IntN(2)
		x.mine = 0
		if x.g.chance(0.7) {
			x.mine = x.fence
		}
	}
	x.held[w] += n
	x.total += n
	o.result = x.print(permits(&o.call), true)
	return done
}

// print writes how many permits an operation has, and which client took them.
func (x *lock) print(n int, returned bool) string {
	g := x.g
	var fields []string
	if n > 1 || g.chance(0.1) {
		if x.permits > 0 {
			fields = append(fields, fmt.Sprintf(":permits %d", n))
		}
	}
	if returned && g.chance(x.naming) {
		fields = append(fields, fmt.Sprintf(":client \"n%d\"", x.owner(g.caller)))
	}
	if returned && x.fenced && (x.mine > 0 || g.chance(0.3)) {
		fence := x.mine
		if g.chance(0.2) {
			fence = 0
		}
		fields = append(fields, fmt.Sprintf(":fence %d%s", fence, [...]string{"", "", "N"}[g.r.IntN(3)]))
	}
	switch {
	case x.permits > 0 && len(fields) == 1 && strings.HasPrefix(fields[0], ":permits") && g.chance(0.5):
		return fmt.Sprintf("%d%s", n, [...]string{"", "", "N"}[g.r.IntN(3)])
	case len(fields) == 0:
		return [...]string{"nil", ":done", `"uid"`, "{}"}[g.r.IntN(4)]
	}
	g.r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return "{" + strings.Join(fields, ", ") + "}"
}

// guess is nearly right, except for the owner, the permits or the fence.
func (x *lock) guess(c *call) string {
	g, n := x.g, permits(c)
	defer func(caller, mine int) { g.caller, x.mine = caller, mine }(g.caller, x.mine)
	if g.chance(0.3) {
		g.caller = g.r.IntN(g.processes)
	}
	if x.counts && !strings.ContainsAny(c.arg, "0123456789") && g.chance(0.2) {
		n = 1 + g.r.IntN(x.permits) // its invocation does not contradict this
	}
	if g.chance(0.7) {
		x.mine = g.r.IntN(4)
	}
	return x.print(n, true)
}
