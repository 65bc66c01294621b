package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// printed are values that every program prints in the same way, as toString requires.
var printed = []value{{"1", "1N"}, {"2", "2N", "+2"}, {"3"}, {`"a"`}, {":b"}, {"-7", "-7N"}, {"false"}, {`"d"`}, {"12"}, {":x/y"}, {"0"}, {"true"}}

// javaQueue is a java.util.Queue.
type javaQueue struct {
	unnamed
	g   *generator
	now []string
}

var javaFs = []string{":offer", ":poll", ":peek", ":size", ":isEmpty", ":clear", ":contains", ":remove", ":addAll", ":containsAll",
	":removeAll", ":retainAll", ":toArray", ":toString"}

func (x *javaQueue) call() call {
	c := call{f: javaFs[x.g.r.IntN(len(javaFs))], arg: "nil"}
	if x.g.chance(0.3) {
		c.f = [...]string{":offer", ":poll", ":addAll"}[x.g.r.IntN(3)]
	}
	switch c.f {
	case ":offer", ":contains", ":remove":
		c.args = []string{x.g.any()}
		c.arg = x.g.spell(c.args[0])
	case ":addAll", ":containsAll", ":removeAll", ":retainAll":
		for n := x.g.r.IntN(3); n >= 0; n-- {
			c.args = append(c.args, x.g.any())
		}
		if x.g.chance(0.05) {
			c.args = nil
		}
		c.arg = x.g.sequence(c.args)
	}
	return c
}

func (x *javaQueue) start() string {
	for range x.g.r.IntN(4) {
		x.now = append(x.now, x.g.any())
	}
	return x.g.sequence(x.now)
}

func (x *javaQueue) apply(o *op) outcome {
	here := func(v string) bool { return slices.Contains(x.now, v) }
	named := func(v string) bool { return slices.Contains(o.args, v) }
	before := len(x.now)
	switch o.f {
	case ":offer":
		x.now = append(slices.Clone(x.now), o.args[0])
		o.result = "true"
	case ":poll", ":peek":
		o.result = "nil"
		if before > 0 {
			o.result = x.g.spell(x.now[0])
			if o.f == ":poll" {
				x.now = x.now[1:]
			}
		}
	case ":size":
		o.result = strconv.Itoa(before)
	case ":isEmpty":
		o.result = strconv.FormatBool(before == 0)
	case ":clear":
		x.now, o.result = nil, "nil"
	case ":contains":
		o.result = strconv.FormatBool(here(o.args[0]))
	case ":containsAll":
		o.result = strconv.FormatBool(!slices.ContainsFunc(o.args, func(v string) bool { return !here(v) }))
	case ":toArray":
		o.result = x.g.sequence(x.now)
	case ":toString":
		o.result = javaText(x.now)
	default:
		switch o.f {
		case ":remove":
			if i := slices.Index(x.now, o.args[0]); i >= 0 {
				x.now = slices.Delete(slices.Clone(x.now), i, i+1)
			}
		case ":addAll":
			x.now = slices.Concat(x.now, o.args)
		case ":removeAll":
			x.now = slices.DeleteFunc(slices.Clone(x.now), named)
		case ":retainAll":
			x.now = slices.DeleteFunc(slices.Clone(x.now), func(v string) bool { return !named(v) })
		}
		o.result = strconv.FormatBool(len(x.now) != before)
	}
	return done
}

// javaText returns a string of what toString returns.
func javaText(elements []string) string {
	var texts []string
	for _, e := range elements {
		texts = append(texts, strings.Trim(e, `"`))
	}
	return fmt.Sprintf("%q", "["+strings.Join(texts, ", ")+"]")
}

func (x *javaQueue) guess(c *call) string {
	var some []string
	for range x.g.r.IntN(3) {
		some = append(some, x.g.any())
	}
	switch c.f {
	case ":offer":
		return "true"
	case ":clear":
		return "nil"
	case ":poll", ":peek":
		if len(some) == 0 {
			return "nil"
		}
		return x.g.spell(some[0])
	case ":size":
		return strconv.Itoa(x.g.r.IntN(4))
	case ":toArray":
		return x.g.sequence(some)
	case ":toString":
		return javaText(some)
	}
	return strconv.FormatBool(x.g.chance(0.5))
}

// Threads makes a linearizable history of the given number of threads with the
// given number of operations each, all of which succeed. The threads take steps
// in random order, as in a stress test. quiet is the chance that a thread waits
// for all others to return before it begins an operation. 0 gives the most
// overlap.
func Threads(seed uint64, model string, threads, each int, quiet float64) History {
	g := &generator{r: Rand(seed), o: Options{Model: model, Processes: threads}, way: Run}
	g.draw()
	g.values = g.pool()[:3]
	g.object = newObject(g)
	left := make([]int, threads)
	g.procs = nil
	for i := range left {
		left[i] = each
		g.procs = append(g.procs, &process{number: i})
	}
	for begun := 0; begun < threads*each || g.anyBusy(); {
		i := g.r.IntN(threads)
		switch p := g.procs[i]; {
		case p.busy == nil && left[i] > 0 && !(g.anyBusy() && g.chance(quiet)):
			left[i]--
			begun++
			p.busy = &op{call: g.object.call(), number: p.number}
			g.emit(p, ":invoke", p.busy)
		case p.busy == nil:
		case !p.busy.took:
			p.busy.took = g.object.apply(p.busy) == done
		default:
			g.emit(p, ":ok", p.busy)
			p.busy = nil
		}
	}
	return History{Text: g.text(), Way: Run}
}
