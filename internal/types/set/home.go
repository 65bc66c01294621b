package set

import (
	"slices"

	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about sets.
var Home = home.Home{Place: 40, Types: []home.Type{
	{Definition: &setDefinition, Generated: gen.Model{
		Small: func(g *gen.SmallHistory) gen.Object { return &smallSet{g: g} },
		Long:  newLongSet, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead},
	}},
	{Definition: &lookupSetDefinition, Generated: gen.Model{
		Small: func(g *gen.SmallHistory) gen.Object { return &smallLookup{g: g} },
		Long:  newLongLookup, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate},
	}},
}}

// Second is the second reading of sets, for tests.
var Second = map[string]second.Reading{
	"set":        {Init: secondInit, Step: secondSet},
	"lookup-set": {Init: secondInit, Step: secondLookup},
}

func secondInit(given second.Form, isGiven bool) []string {
	return slices.Compact(second.SortedInit(given, isGiven))
}
