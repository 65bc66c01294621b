package log

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clew/internal/gen"
)

// smallLog is a list that grows by appends. In some histories all appends tell their
// offsets, in others some do, and in others none. The last may repeat what they
// append.
type smallLog struct {
	gen.Unnamed
	g      *gen.SmallHistory
	tells  float64 // the rate of offsets
	unique bool    // every value is appended once
	added  int
	now    []string
}

func newSmallLog(g *gen.SmallHistory) *smallLog {
	return &smallLog{g: g, tells: [...]float64{0, 0.5, 1, 1}[g.Rand.IntN(4)], unique: g.Chance(0.6)}
}

func (x *smallLog) Call() gen.Call {
	g := x.g
	switch n := g.Rand.IntN(10); {
	case n == 0:
		return gen.Call{F: ":tail", Arg: "nil"}
	case n < 3:
		return gen.Call{F: ":read", Arg: "nil"}
	case n < 5:
		at := strconv.Itoa(g.Rand.IntN(len(x.now) + 2))
		return gen.Call{F: ":read-at", Arg: at, Args: []string{at}}
	}
	v := g.Any()
	if x.unique {
		x.added++
		v = fmt.Sprint(100 + x.added)
	}
	c := gen.Call{F: ":append", Args: []string{v}}
	if c.Arg = g.Spell(v); g.Chance(0.15) {
		c.Args = append(c.Args, strconv.Itoa(max(0, len(x.now)+g.Rand.IntN(3)-1)))
		c.Arg = fmt.Sprintf("{:msg %s, :match-seq-num %s}", c.Arg, c.Args[1])
	}
	return c
}

func (x *smallLog) Start() string {
	x.now = x.g.Some()
	return x.print(x.now)
}

// print writes a list.
func (x *smallLog) print(list []string) string {
	var items []string
	for _, v := range list {
		items = append(items, x.g.Spell(v))
	}
	return "[" + strings.Join(items, " ") + "]"
}

func (x *smallLog) Apply(o *gen.Op) gen.Outcome {
	o.Result = o.Arg
	switch o.F {
	case ":tail":
		o.Result = x.g.Integer(len(x.now))
	case ":read":
		o.Result = x.print(x.now)
	case ":read-at":
		at, err := strconv.Atoi(o.Args[0])
		if err != nil {
			panic(err) // it comes from call
		}
		value := "nil"
		if at < len(x.now) {
			value = x.g.Spell(x.now[at])
		}
		o.Result = x.found(&o.Call, value)
	default:
		if len(o.Args) > 1 && o.Args[1] != strconv.Itoa(len(x.now)) {
			return gen.Refused
		}
		o.Result = x.place(&o.Call, len(x.now))
		x.now = append(slices.Clone(x.now), o.Args[0])
	}
	return gen.Done
}

// found writes the value at an offset.
func (x *smallLog) found(c *gen.Call, value string) string {
	if x.g.Chance(0.2) || value[0] == '{' {
		return fmt.Sprintf("{:offset %s, :msg %s}", c.Args[0], value)
	}
	return value
}

// place writes the offset of an append, if it is told.
func (x *smallLog) place(c *gen.Call, at int) string {
	switch {
	case x.tells == 0:
		return [...]string{"nil", c.Arg}[x.g.Rand.IntN(2)]
	case !x.g.Chance(x.tells):
		return "nil"
	case x.g.Chance(0.3):
		return fmt.Sprintf("{:offset %d, :msg %s}", at, x.g.Spell(c.Args[0]))
	}
	return x.g.Integer(at)
}

func (x *smallLog) Guess(c *gen.Call) string {
	g := x.g
	n := max(0, len(x.now)+g.Rand.IntN(4)-2)
	switch c.F {
	case ":tail":
		return g.Integer(n)
	case ":append":
		return x.place(c, n)
	case ":read-at":
		if len(x.now) == 0 || g.Chance(0.2) {
			return x.found(c, "nil")
		}
		return x.found(c, g.Spell(x.now[g.Rand.IntN(len(x.now))]))
	}
	list := slices.Clone(x.now[:min(n, len(x.now))])
	if len(list) > 1 && g.Chance(0.3) {
		i := g.Rand.IntN(len(list) - 1)
		list[i], list[i+1] = list[i+1], list[i]
	}
	return x.print(list)
}
