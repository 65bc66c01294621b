package javaqueue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clew/internal/gen"
)

// printed are values that every program prints in the same way, as toString requires.
var printed = []gen.Value{{"1", "1N"}, {"2", "2N", "+2"}, {"3"}, {`"a"`}, {":b"}, {"-7", "-7N"}, {"false"}, {`"d"`}, {"12"}, {":x/y"}, {"0"}, {"true"}}

// smallQueue is a java.util.Queue.
type smallQueue struct {
	gen.Unnamed
	g   *gen.SmallHistory
	now []string
}

var smallFs = []string{":offer", ":poll", ":peek", ":size", ":isEmpty", ":clear", ":contains", ":remove", ":addAll", ":containsAll",
	":removeAll", ":retainAll", ":toArray", ":toString"}

func (x *smallQueue) Call() gen.Call {
	c := gen.Call{F: smallFs[x.g.Rand.IntN(len(smallFs))], Arg: "nil"}
	if x.g.Chance(0.3) {
		c.F = [...]string{":offer", ":poll", ":addAll"}[x.g.Rand.IntN(3)]
	}
	switch c.F {
	case ":offer", ":contains", ":remove":
		c.Args = []string{x.g.Any()}
		c.Arg = x.g.Spell(c.Args[0])
	case ":addAll", ":containsAll", ":removeAll", ":retainAll":
		for n := x.g.Rand.IntN(3); n >= 0; n-- {
			c.Args = append(c.Args, x.g.Any())
		}
		if x.g.Chance(0.05) {
			c.Args = nil
		}
		c.Arg = x.g.Sequence(c.Args)
	}
	return c
}

func (x *smallQueue) Start() string {
	for range x.g.Rand.IntN(4) {
		x.now = append(x.now, x.g.Any())
	}
	return x.g.Sequence(x.now)
}

func (x *smallQueue) Apply(o *gen.Op) gen.Outcome {
	here := func(v string) bool { return slices.Contains(x.now, v) }
	named := func(v string) bool { return slices.Contains(o.Args, v) }
	before := len(x.now)
	switch o.F {
	case ":offer":
		x.now = append(slices.Clone(x.now), o.Args[0])
		o.Result = "true"
	case ":poll", ":peek":
		o.Result = "nil"
		if before > 0 {
			o.Result = x.g.Spell(x.now[0])
			if o.F == ":poll" {
				x.now = x.now[1:]
			}
		}
	case ":size":
		o.Result = strconv.Itoa(before)
	case ":isEmpty":
		o.Result = strconv.FormatBool(before == 0)
	case ":clear":
		x.now, o.Result = nil, "nil"
	case ":contains":
		o.Result = strconv.FormatBool(here(o.Args[0]))
	case ":containsAll":
		o.Result = strconv.FormatBool(!slices.ContainsFunc(o.Args, func(v string) bool { return !here(v) }))
	case ":toArray":
		o.Result = x.g.Sequence(x.now)
	case ":toString":
		o.Result = smallText(x.now)
	default:
		switch o.F {
		case ":remove":
			if i := slices.Index(x.now, o.Args[0]); i >= 0 {
				x.now = slices.Delete(slices.Clone(x.now), i, i+1)
			}
		case ":addAll":
			x.now = slices.Concat(x.now, o.Args)
		case ":removeAll":
			x.now = slices.DeleteFunc(slices.Clone(x.now), named)
		case ":retainAll":
			x.now = slices.DeleteFunc(slices.Clone(x.now), func(v string) bool { return !named(v) })
		}
		o.Result = strconv.FormatBool(len(x.now) != before)
	}
	return gen.Done
}

// smallText returns a string of what toString returns.
func smallText(elements []string) string {
	var texts []string
	for _, e := range elements {
		texts = append(texts, strings.Trim(e, `"`))
	}
	return fmt.Sprintf("%q", "["+strings.Join(texts, ", ")+"]")
}

func (x *smallQueue) Guess(c *gen.Call) string {
	var some []string
	for range x.g.Rand.IntN(3) {
		some = append(some, x.g.Any())
	}
	switch c.F {
	case ":offer":
		return "true"
	case ":clear":
		return "nil"
	case ":poll", ":peek":
		if len(some) == 0 {
			return "nil"
		}
		return x.g.Spell(some[0])
	case ":size":
		return strconv.Itoa(x.g.Rand.IntN(4))
	case ":toArray":
		return x.g.Sequence(some)
	case ":toString":
		return smallText(some)
	}
	return strconv.FormatBool(x.g.Chance(0.5))
}
