package bank

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about bank.
var Home = home.Home{Place: 120, Types: []home.Type{{Definition: &bankDefinition, Generated: gen.Model{
	New: newObject, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.TornRead},
	Init: initial,
}}}}

// Second is the second reading of bank, for tests.
var Second = map[string]second.Reading{"bank": {Prepare: secondAccounts, Init: second.MapInit, Step: secondBank}}
