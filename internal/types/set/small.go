package set

import (
	"slices"
	"strconv"
	"strings"

	"clew/internal/gen"
)

// smallSet only grows.
type smallSet struct {
	gen.Unnamed
	g   *gen.SmallHistory
	now []string
}

func (x *smallSet) Call() gen.Call {
	if x.g.Chance(0.5) {
		return gen.Call{F: ":read", Arg: "nil"}
	}
	v := x.g.Any()
	return gen.Call{F: ":add", Arg: x.g.Spell(v), Args: []string{v}}
}

func (x *smallSet) Start() string {
	x.now = x.g.Some()
	return x.print(x.now)
}

func (x *smallSet) Apply(o *gen.Op) gen.Outcome {
	if o.F == ":read" {
		o.Result = x.print(x.now)
		return gen.Done
	}
	if o.Result = o.Arg; !slices.Contains(x.now, o.Args[0]) {
		x.now = append(slices.Clone(x.now), o.Args[0])
	}
	return gen.Done
}

// print writes a read of a set. With clew's semantics it may also be a
// sequence, even with an element twice.
func (x *smallSet) print(elements []string) string {
	g := x.g
	es := slices.Clone(elements)
	g.Rand.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
	if !g.Options.Knossos && g.Chance(0.3) {
		if len(es) > 0 && g.Chance(0.3) {
			es = append(es, es[0])
		}
		return g.Sequence(es)
	}
	var spelled []string
	for _, e := range es {
		spelled = append(spelled, g.Spell(e))
	}
	return "#{" + strings.Join(spelled, " ") + "}"
}

func (x *smallSet) Guess(c *gen.Call) string {
	if c.F == ":add" {
		return c.Arg
	}
	if x.g.Options.Knossos && x.g.Chance(0.05) {
		return [...]string{"[]", "nil", "7"}[x.g.Rand.IntN(3)]
	}
	return x.print(x.g.Some())
}

// smallLookup is a set that operations ask element by element.
type smallLookup struct {
	gen.Unnamed
	g   *gen.SmallHistory
	now map[string]bool
}

func (x *smallLookup) Call() gen.Call {
	v := x.g.Any()
	f := [...]string{":insert", ":add", ":remove", ":delete", ":contains", ":lookup"}[x.g.Rand.IntN(6)]
	return gen.Call{F: f, Arg: x.g.Spell(v), Args: []string{v}}
}

func (x *smallLookup) Start() string {
	x.now = map[string]bool{}
	var spelled []string
	for _, v := range x.g.Some() {
		x.now[v] = true
		spelled = append(spelled, x.g.Spell(v))
	}
	return "#{" + strings.Join(spelled, " ") + "}"
}

func (x *smallLookup) Apply(o *gen.Op) gen.Outcome {
	if x.now == nil {
		x.now = map[string]bool{}
	}
	was, answer := x.now[o.Args[0]], false
	switch o.F {
	case ":insert", ":add":
		x.now[o.Args[0]], answer = true, !was
	case ":remove", ":delete":
		x.now[o.Args[0]], answer = false, was
	default:
		answer = was
	}
	o.Result = x.print(o.Args[0], answer)
	return gen.Done
}

// print writes an answer.
func (x *smallLookup) print(element string, answer bool) string {
	if x.g.Chance(0.3) {
		return strconv.FormatBool(answer)
	}
	return x.g.Sequence([]string{element, strconv.FormatBool(answer)})
}

func (x *smallLookup) Guess(c *gen.Call) string {
	if x.g.Chance(0.5) {
		return strconv.FormatBool(x.g.Chance(0.5))
	}
	return x.g.Sequence([]string{c.Args[0], strconv.FormatBool(x.g.Chance(0.5))})
}
