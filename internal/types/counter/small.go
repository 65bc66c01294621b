package counter

import (
	"fmt"
	"strconv"

	"clew/internal/gen"
)

// smallCounter is a number that operations add to. Histories of each kind have
// operations of their own.
type smallCounter struct {
	gen.Unnamed
	g    *gen.SmallHistory
	kind int
	echo bool  // increments repeat their argument, rather than tell the new value
	by   []int // what is added
	now  int
}

func newSmallCounter(g *gen.SmallHistory) *smallCounter {
	x := &smallCounter{g: g, kind: g.Rand.IntN(gen.CounterKinds), echo: g.Chance(0.3), by: []int{1, 1, 2, 3, -1, 0}}
	switch {
	case x.kind == gen.UnitAdds || x.kind == gen.Answers && g.Chance(0.5):
		x.by = x.by[g.Rand.IntN(5):][:1]
	case x.kind == gen.Answers && g.Chance(0.7):
		x.by = x.by[:4]
	}
	return x
}

func (x *smallCounter) Call() gen.Call {
	n := x.by[x.g.Rand.IntN(len(x.by))]
	c := gen.Call{F: [...]string{":add", ":add", ":incr", ":increment", ":decr", ":decrement", ":add-and-get"}[x.g.Rand.IntN(7)]}
	switch {
	case x.g.Chance(0.4):
		return gen.Call{F: ":read", Arg: "nil"}
	case x.kind == gen.UnitAdds:
		c.F = ":add"
	case x.kind == gen.Answers:
		c.F = ":add-and-get"
	}
	if c.F == ":decr" || c.F == ":decrement" {
		c.Arg, n = x.print(n), -n
	} else {
		c.Arg = x.print(n)
	}
	if (n == 1 && (c.F == ":incr" || c.F == ":increment") || n == -1 && c.F[1] == 'd') && x.g.Chance(0.7) {
		c.Arg = "nil"
	}
	if x.kind == gen.Answers && n == 1 && x.g.Chance(0.5) {
		c.F, c.Arg = ":incr", "nil"
	}
	c.Args = []string{strconv.Itoa(n)}
	return c
}

func (x *smallCounter) Start() string {
	x.now = x.g.Rand.IntN(5) - 2
	return x.print(x.now)
}

func (x *smallCounter) Apply(o *gen.Op) gen.Outcome {
	if o.F == ":read" {
		o.Result = x.print(x.now)
		return gen.Done
	}
	n, err := strconv.Atoi(o.Args[0])
	if err != nil {
		panic(err) // it comes from call
	}
	x.now += n
	o.Result = x.answer(&o.Call, x.now)
	return gen.Done
}

// answer prints the answer of an operation that led to a number.
func (x *smallCounter) answer(c *gen.Call, now int) string {
	switch {
	case c.F == ":add":
		return c.Arg
	case c.F == ":add-and-get":
	case x.echo:
		return c.Arg
	case x.kind != gen.Answers && x.g.Chance(0.5):
		return "nil"
	case c.Arg == "nil" || x.g.Chance(0.5):
		return x.print(now)
	}
	return fmt.Sprintf("[%s %s]", c.Arg, x.print(now))
}

func (x *smallCounter) Guess(c *gen.Call) string {
	now := x.now + x.g.Rand.IntN(6) - 1 // often about right
	if c.F == ":read" {
		return x.print(now)
	}
	return x.answer(c, now)
}

// print writes a number in one of its spellings.
func (x *smallCounter) print(n int) string {
	s := strconv.Itoa(n)
	if x.g.Chance(0.2) {
		s += "N"
	}
	return s
}

// smallSemaphore is a count that never falls below 0.
type smallSemaphore struct {
	gen.Unnamed
	g   *gen.SmallHistory
	now int
}

func (x *smallSemaphore) Call() gen.Call {
	return gen.Call{F: [...]string{":incr", ":decr", ":decr"}[x.g.Rand.IntN(3)], Arg: "nil"}
}

func (x *smallSemaphore) Apply(o *gen.Op) gen.Outcome {
	took := true
	switch {
	case o.F == ":incr":
		x.now++
	case x.now > 0:
		x.now--
	default:
		took = false
	}
	o.Result = strconv.FormatBool(took)
	return gen.Done
}

func (x *smallSemaphore) Guess(c *gen.Call) string {
	return strconv.FormatBool(c.F == ":incr" || (x.now == 0) == x.g.Chance(0.8)) // most are wrong
}
