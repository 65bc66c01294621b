package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// log is a list that grows by appends. In some histories all appends tell their
// offsets, in others some do, and in others none. The last may repeat what they
// append.
type log struct {
	unnamed
	g      *generator
	tells  float64 // the rate of offsets
	unique bool    // every value is appended once
	added  int
	now    []string
}

func newLog(g *generator) *log {
	return &log{g: g, tells: [...]float64{0, 0.5, 1, 1}[g.r.IntN(4)], unique: g.chance(0.6)}
}

func (x *log) call() call {
	g := x.g
	switch n := g.r.IntN(10); {
	case n == 0:
		return call{f: ":tail", arg: "nil"}
	case n < 3:
		return call{f: ":read", arg: "nil"}
	case n < 5:
		at := strconv.Itoa(g.r.IntN(len(x.now) + 2))
		return call{f: ":read-at", arg: at, args: []string{at}}
	}
	v := g.any()
	if x.unique {
		x.added++
		v = fmt.Sprint(100 + x.added)
	}
	c := call{f: ":append", args: []string{v}}
	if c.arg = g.spell(v); g.chance(0.15) {
		c.args = append(c.args, strconv.Itoa(max(0, len(x.now)+g.r.IntN(3)-1)))
		c.arg = fmt.Sprintf("{:msg %s, :match-seq-num %s}", c.arg, c.args[1])
	}
	return c
}

func (x *log) start() string {
	x.now = x.g.some()
	return x.print(x.now)
}

// print writes a list.
func (x *log) print(list []string) string {
	var items []string
	for _, v := range list {
		items = append(items, x.g.spell(v))
	}
	return "[" + strings.Join(items, " ") + "]"
}

func (x *log) apply(o *op) outcome {
	o.result = o.arg
	switch o.f {
	case ":tail":
		o.result = x.g.integer(len(x.now))
	case ":read":
		o.result = x.print(x.now)
	case ":read-at":
		at, err := strconv.Atoi(o.args[0])
		if err != nil {
			panic(err) // it comes from call
		}
		value := "nil"
		if at < len(x.now) {
			value = x.g.spell(x.now[at])
		}
		o.result = x.found(&o.call, value)
	default:
		if len(o.args) > 1 && o.args[1] != strconv.Itoa(len(x.now)) {
			return refused
		}
		o.result = x.place(&o.call, len(x.now))
		x.now = append(slices.Clone(x.now), o.args[0])
	}
	return done
}

// found writes the value at an offset.
func (x *log) found(c *call, value string) string {
	if x.g.chance(0.2) || value[0] == '{' {
		return fmt.Sprintf("{:offset %s, :msg %s}", c.args[0], value)
	}
	return value
}

// place writes the offset of an append, if it is told.
func (x *log) place(c *call, at int) string {
	switch {
	case x.tells == 0:
		return [...]string{"nil", c.arg}[x.g.r.IntN(2)]
	case !x.g.chance(x.tells):
		return "nil"
	case x.g.chance(0.3):
		return fmt.Sprintf("{:offset %d, :msg %s}", at, x.g.spell(c.args[0]))
	}
	return x.g.integer(at)
}

func (x *log) guess(c *call) string {
	g := x.g
	n := max(0, len(x.now)+g.r.IntN(4)-2)
	switch c.f {
	case ":tail":
		return g.integer(n)
	case ":append":
		return x.place(c, n)
	case ":read-at":
		if len(x.now) == 0 || g.chance(0.2) {
			return x.found(c, "nil")
		}
		return x.found(c, g.spell(x.now[g.r.IntN(len(x.now))]))
	}
	list := slices.Clone(x.now[:min(n, len(x.now))])
	if len(list) > 1 && g.chance(0.3) {
		i := g.r.IntN(len(list) - 1)
		list[i], list[i+1] = list[i+1], list[i]
	}
	return x.print(list)
}
