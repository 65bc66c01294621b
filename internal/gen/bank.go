package gen

import (
	"fmt"
	"strconv"
	"strings"
)

// bank has three accounts.
type bank struct {
	unnamed
	g   *generator
	now [3]int
}

func (x *bank) call() call {
	g := x.g
	if g.chance(0.5) {
		return call{f: ":read", arg: "nil"}
	}
	from, to, n := g.r.IntN(3), g.r.IntN(3), 1+g.r.IntN(3)
	if g.chance(0.05) {
		n = 0
	}
	return call{f: ":transfer", arg: fmt.Sprintf("{:from %d, :to %d, :amount %s}", from, to, g.integer(n)),
		args: []string{strconv.Itoa(from), strconv.Itoa(to), strconv.Itoa(n)}}
}

// integer writes a number in one of its spellings.
func (g *generator) integer(n int) string {
	return strconv.Itoa(n) + [...]string{"", "", "", "N"}[g.r.IntN(4)]
}

func (x *bank) start() string {
	for i := range x.now {
		x.now[i] = x.g.r.IntN(6)
	}
	return x.print(x.now)
}

// print writes balances. It may leave out an account whose balance is 0.
func (x *bank) print(balances [3]int) string {
	var pairs []string
	for i, n := range balances {
		if n != 0 || x.g.chance(0.8) {
			pairs = append(pairs, fmt.Sprintf("%d %s", i, x.g.integer(n)))
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func (x *bank) apply(o *op) outcome {
	if o.f == ":read" {
		o.result = x.print(x.now)
		return done
	}
	var args [3]int
	for i, arg := range o.args {
		n, err := strconv.Atoi(arg)
		if err != nil {
			panic(err) // it comes from call
		}
		args[i] = n
	}
	if x.now[args[0]] < args[2] && !x.g.o.Negative {
		return refused
	}
	x.now[args[0]] -= args[2]
	x.now[args[1]] += args[2]
	o.result = o.arg
	return done
}

func (x *bank) guess(c *call) string {
	if c.f != ":read" {
		return c.arg
	}
	balances := x.now
	from, to, n := x.g.r.IntN(3), x.g.r.IntN(3), x.g.r.IntN(3)
	balances[from] -= n
	balances[to] += n
	if x.g.chance(0.1) {
		balances[0]++
	}
	return x.print(balances)
}

// lease is claimed, renewed and released.
type lease struct {
	unnamed
	g     *generator
	owner string
	epoch int // -1: none
}

func (x *lease) call() call {
	g := x.g
	f := [...]string{":claim", ":claim", ":renew", ":release", ":check", ":check"}[g.r.IntN(6)]
	if f == ":check" {
		return call{f: f, arg: "nil"}
	}
	owner, epoch := [...]string{"1", ":b", `"c"`}[g.r.IntN(3)], x.epoch
	if f == ":claim" {
		epoch += 1 + g.r.IntN(2)
	} else if x.owner != "" && g.chance(0.7) {
		owner = x.owner
	}
	c := call{f: f, args: []string{owner, strconv.Itoa(epoch)}}
	c.arg = x.print(owner, epoch, f == ":claim" && g.chance(0.3))
	if c.arg == owner {
		c.args[1] = "" // so that it uses the lease's epoch
	}
	return c
}

// print writes an owner with its epoch, which may be left out.
func (x *lease) print(owner string, epoch int, without bool) string {
	switch n := x.g.r.IntN(4); {
	case without || n == 0 || epoch < 0:
		return owner
	case n == 1:
		return fmt.Sprintf("{:owner %s, :epoch %s}", owner, x.g.integer(epoch))
	}
	return fmt.Sprintf("[%s %s]", owner, x.g.integer(epoch))
}

func (x *lease) apply(o *op) outcome {
	g := x.g
	if o.f == ":check" {
		owner := x.owner
		if owner == "" {
			owner = "nil"
		}
		o.result = x.print(owner, x.epoch, g.chance(0.5))
		return done
	}
	epoch := x.epoch
	if o.args[1] != "" {
		n, err := strconv.Atoi(o.args[1])
		if err != nil {
			panic(err) // it comes from call
		}
		epoch = n
	} else if o.f == ":claim" {
		epoch++
	}
	if o.f == ":claim" && epoch <= x.epoch || o.f != ":claim" && (x.owner != o.args[0] || epoch != x.epoch) {
		return refused
	}
	x.owner, x.epoch = o.args[0], epoch
	if o.f == ":release" {
		x.owner = ""
	}
	if o.result = o.arg; g.chance(0.3) {
		o.result = x.print(o.args[0], epoch, false)
	}
	return done
}

func (x *lease) guess(c *call) string {
	owner := [...]string{"1", ":b", `"c"`, "nil"}[x.g.r.IntN(4)]
	epoch := max(0, x.epoch+x.g.r.IntN(3)-1)
	if c.f != ":check" {
		owner = c.args[0]
		if c.args[1] != "" { // its completion may not contradict this
			epoch, _ = strconv.Atoi(c.args[1])
		}
	}
	return x.print(owner, epoch, x.g.chance(0.5))
}
