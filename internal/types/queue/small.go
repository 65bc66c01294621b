package queue

import (
	"slices"

	"clew/internal/gen"
)

// SmallQueue is any container that hands out its elements.
type SmallQueue struct {
	G             *gen.SmallHistory
	Add, Remove   []string // the names of the operations
	Peeks, Drains bool
	Ranked        bool                          // elements must have an order
	May           func(elements []string) []int // returns which elements may be taken
	now           []string
	added         int
}

func first(elements []string) []int { return []int{0} }

func whichever(elements []string) []int {
	all := make([]int, len(elements))
	for i := range all {
		all[i] = i
	}
	return all
}

func (x *SmallQueue) element() string {
	if x.G.Options.Knossos && !x.Ranked && x.G.Chance(0.1) {
		return [...]string{"nil", ":empty"}[x.G.Rand.IntN(2)]
	}
	return x.G.Any()
}

func (x *SmallQueue) Call() gen.Call {
	g := x.G
	switch n := g.Rand.IntN(20); {
	case n < 9:
		v := x.element()
		if g.Options.Unique {
			// Every value once, then nothing more.
			if x.added == len(g.Values) {
				return gen.Call{F: x.Remove[0], Arg: "nil"}
			}
			v = g.Values[x.added][0]
			x.added++
		}
		return gen.Call{F: x.Add[g.Rand.IntN(len(x.Add))], Arg: g.Spell(v), Args: []string{v}}
	case n == 19 && x.Drains:
		return gen.Call{F: ":drain", Arg: "nil"}
	case n >= 17 && x.Peeks:
		return gen.Call{F: ":peek", Arg: "nil"}
	}
	return gen.Call{F: x.Remove[g.Rand.IntN(len(x.Remove))], Arg: "nil"}
}

func (x *SmallQueue) Start() string {
	for range x.G.Rand.IntN(4) {
		v := x.G.Any()
		if x.G.Options.Unique {
			if x.added == len(x.G.Values) {
				break
			}
			v = x.G.Values[x.added][0]
			x.added++
		}
		x.now = append(x.now, v)
	}
	return x.G.Sequence(x.now)
}

func (x *SmallQueue) Name(c *gen.Call) bool {
	switch {
	case slices.Contains(x.Remove, c.F):
		c.Args = []string{x.element()}
		if x.G.Chance(0.05) && !(x.G.Options.Knossos && x.Ranked) {
			c.Args = []string{":empty"} // nothing, unless that is an element
		}
		c.Says = x.G.Spell(c.Args[0])
	case c.F == ":drain":
		for range x.G.Rand.IntN(3) {
			c.Args = append(c.Args, x.element())
		}
		c.Says = x.G.Sequence(c.Args)
	default:
		return false
	}
	return true
}

// take takes the i-th element.
func (x *SmallQueue) take(i int) string {
	v := x.now[i]
	x.now = slices.Delete(slices.Clone(x.now), i, i+1)
	return v
}

// any returns the place of an element that may be taken.
func (x *SmallQueue) any() int {
	places := x.May(x.now)
	return places[x.G.Rand.IntN(len(places))]
}

// takeNamed takes the given elements one after another, or none.
func (x *SmallQueue) takeNamed(elements []string) {
	before := x.now
	for _, e := range elements {
		i := slices.Index(x.now, e)
		if i < 0 || !slices.ContainsFunc(x.May(x.now), func(j int) bool { return x.now[j] == e }) {
			x.now = before
			return
		}
		for _, j := range x.May(x.now) {
			if x.now[j] == e {
				i = j
			}
		}
		x.take(i)
	}
}

func (x *SmallQueue) Apply(o *gen.Op) gen.Outcome {
	g := x.G
	o.Result = o.Arg
	switch {
	case slices.Contains(x.Add, o.F):
		x.now = append(slices.Clone(x.now), o.Args[0])
	case o.Named:
		x.takeNamed(o.Args)
	case o.F == ":drain":
		var took []string
		for len(x.now) > 0 && g.Chance(0.9) {
			took = append(took, x.take(x.any()))
		}
		o.Result = g.Sequence(took)
	case o.Fate == gen.Crashes && g.Options.Knossos && o.F != ":peek":
		// For Knossos this is a dequeue of nil.
		x.takeNamed([]string{"nil"})
	case len(x.now) > 0 && o.F == ":peek":
		o.Result = g.Spell(x.now[x.any()])
	case len(x.now) > 0:
		o.Result = g.Spell(x.take(x.any()))
	case g.Options.Knossos || g.Chance(0.3):
		return gen.Refused
	default:
		o.Result = [...]string{"nil", ":empty"}[g.Rand.IntN(2)]
	}
	return gen.Done
}

func (x *SmallQueue) Guess(c *gen.Call) string {
	g := x.G
	switch {
	case slices.Contains(x.Add, c.F):
		return c.Arg
	case c.F == ":drain":
		var took []string
		for range g.Rand.IntN(3) {
			took = append(took, x.element())
		}
		return g.Sequence(took)
	}
	if !g.Options.Knossos && g.Chance(0.15) {
		return [...]string{"nil", ":empty"}[g.Rand.IntN(2)]
	}
	return g.Spell(x.element())
}
