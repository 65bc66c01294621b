package bank

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about bank.
var Home = home.Home{Place: 120, Types: []home.Type{{Definition: &bankDefinition, Generated: gen.Model{
	Small: func(g *gen.SmallHistory) gen.Object { return &smallBank{g: g} },
	Long:  newLongBank, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.TornRead},
	Init: longBalancesOf,
}}}}

// Second is the second reading of bank, for tests.
var Second = map[string]second.Reading{"bank": {Init: second.MapInit, Step: secondBank}}
