package bank

import (
	"fmt"
	"strconv"
	"strings"

	"clew/internal/gen"
)

// smallBank has three accounts.
type smallBank struct {
	gen.Unnamed
	g   *gen.SmallHistory
	now [3]int
}

func (x *smallBank) Call() gen.Call {
	g := x.g
	if g.Chance(0.5) {
		return gen.Call{F: ":read", Arg: "nil"}
	}
	from, to, n := g.Rand.IntN(3), g.Rand.IntN(3), 1+g.Rand.IntN(3)
	if g.Chance(0.05) {
		n = 0
	}
	return gen.Call{F: ":transfer", Arg: fmt.Sprintf("{:from %d, :to %d, :amount %s}", from, to, g.Integer(n)),
		Args: []string{strconv.Itoa(from), strconv.Itoa(to), strconv.Itoa(n)}}
}

func (x *smallBank) Start() string {
	for i := range x.now {
		x.now[i] = x.g.Rand.IntN(6)
	}
	return x.print(x.now)
}

// print writes balances. It may leave out an account whose balance is 0.
func (x *smallBank) print(balances [3]int) string {
	var pairs []string
	for i, n := range balances {
		if n != 0 || x.g.Chance(0.8) {
			pairs = append(pairs, fmt.Sprintf("%d %s", i, x.g.Integer(n)))
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func (x *smallBank) Apply(o *gen.Op) gen.Outcome {
	if o.F == ":read" {
		o.Result = x.print(x.now)
		return gen.Done
	}
	var args [3]int
	for i, arg := range o.Args {
		n, err := strconv.Atoi(arg)
		if err != nil {
			panic(err) // it comes from call
		}
		args[i] = n
	}
	if x.now[args[0]] < args[2] && !x.g.Options.Negative {
		return gen.Refused
	}
	x.now[args[0]] -= args[2]
	x.now[args[1]] += args[2]
	o.Result = o.Arg
	return gen.Done
}

func (x *smallBank) Guess(c *gen.Call) string {
	if c.F != ":read" {
		return c.Arg
	}
	balances := x.now
	from, to, n := x.g.Rand.IntN(3), x.g.Rand.IntN(3), x.g.Rand.IntN(3)
	balances[from] -= n
	balances[to] += n
	if x.g.Chance(0.1) {
		balances[0]++
	}
	return x.print(balances)
}
