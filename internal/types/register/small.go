package register

import (
	"fmt"

	"clew/internal/gen"
)

// smallRegister is register and cas-register.
type smallRegister struct {
	gen.Unnamed
	g   *gen.SmallHistory
	now string
	cas bool
}

func (x *smallRegister) any() string {
	if x.g.Chance(0.05) {
		return "nil"
	}
	return x.g.Any()
}

func (x *smallRegister) Call() gen.Call {
	g := x.g
	switch n := g.Rand.IntN(10); {
	case n < 5:
		return gen.Call{F: ":read", Arg: "nil"}
	case n < 7 || !x.cas:
		v := x.any()
		return gen.Call{F: ":write", Arg: g.Spell(v), Args: []string{v}}
	}
	from, to := x.any(), x.any()
	if g.Chance(0.4) {
		from = x.now
	}
	text := g.Sequence([]string{from, to})
	switch {
	case g.Chance(0.05):
		text = g.Sequence([]string{from, to, g.Any()})
	case from == "nil" && to == "nil" && g.Chance(0.5):
		text = "nil"
	}
	return gen.Call{F: ":cas", Arg: text, Args: []string{from, to}}
}

func (x *smallRegister) Start() string {
	x.now = x.any()
	return x.g.Spell(x.now)
}

func (x *smallRegister) Apply(o *gen.Op) gen.Outcome {
	o.Result = o.Arg
	switch o.F {
	case ":read":
		o.Result = x.g.Spell(x.now)
		if !x.g.Options.NilReadsExact && x.g.Chance(0.1) {
			o.Result = "nil"
		}
	case ":write":
		x.now = o.Args[0]
	default:
		if x.now != o.Args[0] {
			return gen.Refused
		}
		x.now = o.Args[1]
	}
	return gen.Done
}

func (x *smallRegister) Guess(c *gen.Call) string {
	switch c.F {
	case ":read":
		return x.g.Spell(x.any())
	case ":write":
		return c.Arg
	}
	return x.g.Sequence([]string{x.any(), x.any()})
}

// smallVersioned is a register whose values come with a version: the one that an
// update leaves, or that a read sees.
type smallVersioned struct {
	smallRegister
	version int
}

func (x *smallVersioned) Call() gen.Call {
	c := x.smallRegister.Call()
	if c.F == ":cas" {
		c.Arg = x.g.Sequence(c.Args) // always a pair
	}
	if c.F != ":read" || x.g.Chance(0.8) {
		c.Arg = "[nil " + c.Arg + "]"
	}
	return c
}

func (x *smallVersioned) Start() string {
	x.version = x.g.Rand.IntN(3)
	return x.print(x.version, x.smallRegister.Start())
}

func (x *smallVersioned) Apply(o *gen.Op) gen.Outcome {
	before := *o
	switch {
	case x.smallRegister.Apply(o) == gen.Refused:
		return gen.Refused
	case before.F == ":write":
		o.Result = x.g.Spell(before.Args[0])
	case before.F == ":cas":
		o.Result = x.g.Sequence(before.Args)
	}
	if before.F != ":read" {
		x.version++
	}
	o.Result = x.print(x.version, o.Result)
	return gen.Done
}

// print writes a version and its value.
func (x *smallVersioned) print(version int, value string) string {
	return x.g.Sequence([]string{fmt.Sprint(version), value})
}

func (x *smallVersioned) Guess(c *gen.Call) string {
	value := x.g.Spell(x.any())
	switch c.F {
	case ":write":
		value = x.g.Spell(c.Args[0])
	case ":cas":
		value = x.g.Sequence(c.Args)
	}
	if x.g.Chance(0.2) {
		return x.g.Sequence([]string{"nil", value})
	}
	// Often about right.
	return x.print(max(0, x.version+x.g.Rand.IntN(4)-1), value)
}
