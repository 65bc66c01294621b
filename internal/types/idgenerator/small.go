package idgenerator

import (
	"slices"
	"strconv"

	"clew/internal/gen"
)

// smallIDs hands out ids.
type smallIDs struct {
	gen.Unnamed
	g     *gen.SmallHistory
	last  int
	given []string
}

func (x *smallIDs) Call() gen.Call {
	return gen.Call{F: [...]string{":generate", ":take"}[x.g.Rand.IntN(2)], Arg: "nil"}
}

func (x *smallIDs) Apply(o *gen.Op) gen.Outcome {
	if x.g.Options.Growing {
		x.last += 1 + x.g.Rand.IntN(2)
		o.Result = strconv.Itoa(x.last)
		return gen.Done
	}
	for range 20 {
		if id := x.g.Any(); !slices.Contains(x.given, id) {
			x.given = append(x.given, id)
			o.Result = x.g.Spell(id)
			return gen.Done
		}
	}
	return gen.Refused
}

func (x *smallIDs) Guess(*gen.Call) string {
	if x.g.Options.Growing {
		return strconv.Itoa(x.last + x.g.Rand.IntN(6) - 1)
	}
	return x.g.Spell(x.g.Any())
}
