package lease

import (
	"fmt"
	"strconv"

	"clew/internal/gen"
)

// smallLease is claimed, renewed and released.
type smallLease struct {
	gen.Unnamed
	g     *gen.SmallHistory
	owner string
	epoch int // -1: none
}

func (x *smallLease) Call() gen.Call {
	g := x.g
	f := [...]string{":claim", ":claim", ":renew", ":release", ":check", ":check"}[g.Rand.IntN(6)]
	if f == ":check" {
		return gen.Call{F: f, Arg: "nil"}
	}
	owner, epoch := [...]string{"1", ":b", `"c"`}[g.Rand.IntN(3)], x.epoch
	if f == ":claim" {
		epoch += 1 + g.Rand.IntN(2)
	} else if x.owner != "" && g.Chance(0.7) {
		owner = x.owner
	}
	c := gen.Call{F: f, Args: []string{owner, strconv.Itoa(epoch)}}
	c.Arg = x.print(owner, epoch, f == ":claim" && g.Chance(0.3))
	if c.Arg == owner {
		c.Args[1] = "" // so that it uses the lease's epoch
	}
	return c
}

// print writes an owner with its epoch, which may be left out.
func (x *smallLease) print(owner string, epoch int, without bool) string {
	switch n := x.g.Rand.IntN(4); {
	case without || n == 0 || epoch < 0:
		return owner
	case n == 1:
		return fmt.Sprintf("{:owner %s, :epoch %s}", owner, x.g.Integer(epoch))
	}
	return fmt.Sprintf("[%s %s]", owner, x.g.Integer(epoch))
}

func (x *smallLease) Apply(o *gen.Op) gen.Outcome {
	g := x.g
	if o.F == ":check" {
		owner := x.owner
		if owner == "" {
			owner = "nil"
		}
		o.Result = x.print(owner, x.epoch, g.Chance(0.5))
		return gen.Done
	}
	epoch := x.epoch
	if o.Args[1] != "" {
		n, err := strconv.Atoi(o.Args[1])
		if err != nil {
			panic(err) // it comes from call
		}
		epoch = n
	} else if o.F == ":claim" {
		epoch++
	}
	if o.F == ":claim" && epoch <= x.epoch || o.F != ":claim" && (x.owner != o.Args[0] || epoch != x.epoch) {
		return gen.Refused
	}
	x.owner, x.epoch = o.Args[0], epoch
	if o.F == ":release" {
		x.owner = ""
	}
	if o.Result = o.Arg; g.Chance(0.3) {
		o.Result = x.print(o.Args[0], epoch, false)
	}
	return gen.Done
}

func (x *smallLease) Guess(c *gen.Call) string {
	owner := [...]string{"1", ":b", `"c"`, "nil"}[x.g.Rand.IntN(4)]
	epoch := max(0, x.epoch+x.g.Rand.IntN(3)-1)
	if c.F != ":check" {
		owner = c.Args[0]
		if c.Args[1] != "" { // its completion may not contradict this
			epoch, _ = strconv.Atoi(c.Args[1])
		}
	}
	return x.print(owner, epoch, x.g.Chance(0.5))
}
