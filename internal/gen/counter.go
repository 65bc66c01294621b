package gen

import (
	"fmt"
	"slices"
	"strconv"
)

// counter is a number that operations add to. Histories of each kind have
// operations of their own.
type counter struct {
	unnamed
	g    *generator
	kind int
	echo bool  // increments repeat their argument, rather than tell the new value
	by   []int // what is added
	now  int
}

// The kinds of counters' histories.
const (
	anyAdds  = iota // everything
	unitAdds        // adds of one amount, and reads
	answers         // increments that tell the new value, of one amount or of some
	counterKinds
)

func newCounter(g *generator) *counter {
	x := &counter{g: g, kind: g.r.IntN(counterKinds), echo: g.chance(0.3), by: []int{1, 1, 2, 3, -1, 0}}
	switch {
	case x.kind == unitAdds || x.kind == answers && g.chance(0.5):
		x.by = x.by[g.r.IntN(5):][:1]
	case x.kind == answers && g.chance(0.7):
		x.by = x.by[:4]
	}
	return x
}

func (x *counter) call() call {
	n := x.by[x.g.r.IntN(len(x.by))]
	c := call{f: [...]string{":add", ":add", ":incr", ":increment", ":decr", ":decrement", ":add-and-get"}[x.g.r.IntN(7)]}
	switch {
	case x.g.chance(0.4):
		return call{f: ":read", arg: "nil"}
	case x.kind == unitAdds:
		c.f = ":add"
	case x.kind == answers:
		c.f = ":add-and-get"
	}
	if c.f == ":decr" || c.f == ":decrement" {
		c.arg, n = x.print(n), -n
	} else {
		c.arg = x.print(n)
	}
	if (n == 1 && (c.f == ":incr" || c.f == ":increment") || n == -1 && c.f[1] == 'd') && x.g.chance(0.7) {
		c.arg = "nil"
	}
	if x.kind == answers && n == 1 && x.g.chance(0.5) {
		c.f, c.arg = ":incr", "nil"
	}
	c.args = []string{strconv.Itoa(n)}
	return c
}

func (x *counter) start() string {
	x.now = x.g.r.IntN(5) - 2
	return x.print(x.now)
}

func (x *counter) apply(o *op) outcome {
	if o.f == ":read" {
		o.result = x.print(x.now)
		return done
	}
	n, err := strconv.Atoi(o.args[0])
	if err != nil {
		panic(err) // it comes from call
	}
	x.now += n
	o.result = x.answer(&o.call, x.now)
	return done
}

// answer prints the answer of an operation that led to a number.
func (x *counter) answer(c *call, now int) string {
	switch {
	case c.f == ":add":
		return c.arg
	case c.f == ":add-and-get":
	case x.echo:
		return c.arg
	case x.kind != answers && x.g.chance(0.5):
		return "nil"
	case c.arg == "nil" || x.g.chance(0.5):
		return x.print(now)
	}
	return fmt.Sprintf("[%s %s]", c.arg, x.print(now))
}

func (x *counter) guess(c *call) string {
	now := x.now + x.g.r.IntN(6) - 1 // often about right
	if c.f == ":read" {
		return x.print(now)
	}
	return x.answer(c, now)
}

// print writes a number in one of its spellings.
func (x *counter) print(n int) string {
	s := strconv.Itoa(n)
	if x.g.chance(0.2) {
		s += "N"
	}
	return s
}

// idGenerator hands out ids.
type idGenerator struct {
	unnamed
	g     *generator
	last  int
	given []string
}

func (x *idGenerator) call() call {
	return call{f: [...]string{":generate", ":take"}[x.g.r.IntN(2)], arg: "nil"}
}

func (x *idGenerator) apply(o *op) outcome {
	if x.g.o.Growing {
		x.last += 1 + x.g.r.IntN(2)
		o.result = strconv.Itoa(x.last)
		return done
	}
	for range 20 {
		if id := x.g.any(); !slices.Contains(x.given, id) {
			x.given = append(x.given, id)
			o.result = x.g.spell(id)
			return done
		}
	}
	return refused
}

func (x *idGenerator) guess(*call) string {
	if x.g.o.Growing {
		return strconv.Itoa(x.last + x.g.r.IntN(6) - 1)
	}
	return x.g.spell(x.g.any())
}

// countingSemaphore is a count that never falls below 0.
type countingSemaphore struct {
	unnamed
	g   *generator
	now int
}

func (x *countingSemaphore) call() call {
	return call{f: [...]string{":incr", ":decr", ":decr"}[x.g.r.IntN(3)], arg: "nil"}
}

func (x *countingSemaphore) apply(o *op) outcome {
	took := true
	switch {
	case o.f == ":incr":
		x.now++
	case x.now > 0:
		x.now--
	default:
		took = false
	}
	o.result = strconv.FormatBool(took)
	return done
}

func (x *countingSemaphore) guess(c *call) string {
	return strconv.FormatBool(c.f == ":incr" || (x.now == 0) == x.g.chance(0.8)) // most are wrong
}
