// Package set is the home of sets: set, which is read as a whole, and lookup-set, which is
// asked element by element.
package set

import (
	"slices"

	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about sets.
var Home = home.Home{Place: 40, Types: []home.Type{
	{Definition: &setDefinition, Generated: gen.Model{Positions: true,
		New: newObject, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead},
	}},
	{Definition: &lookupSetDefinition, Generated: gen.Model{
		New: newLookup, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate},
	}},
}}

// Second is the second reading of sets, for tests.
var Second = map[string]second.Reading{
	"set":        {Init: secondInit, Step: secondSet},
	"lookup-set": {Init: secondInit, Step: secondLookup},
}

func secondInit(given second.Form) []string { return slices.Compact(second.SortedInit(given)) }
