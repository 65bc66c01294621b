package gen

import "strconv"

// counter is a number that is added to.
type counter struct {
	unnamed
	g   *generator
	now int
}

func (x *counter) call() call {
	if x.g.chance(0.5) {
		return call{f: ":read", arg: "nil"}
	}
	n := [...]int{1, 1, 2, 3, -1, 0}[x.g.r.IntN(6)]
	return call{f: ":add", arg: x.print(n), args: []string{strconv.Itoa(n)}}
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
	o.result = o.arg
	return done
}

func (x *counter) guess(c *call) string {
	if c.f == ":read" {
		return x.print(x.g.r.IntN(6) - 1)
	}
	return c.arg
}

// print writes a number in one of its spellings.
func (x *counter) print(n int) string {
	s := strconv.Itoa(n)
	if x.g.chance(0.2) {
		s += "N"
	}
	return s
}
