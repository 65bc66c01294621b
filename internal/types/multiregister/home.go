// Package multiregister is the home of multi-register: several registers that transactions
// read and write.
package multiregister

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about multi-register.
var Home = home.Home{Place: 20, Types: []home.Type{{Definition: &multiRegisterDefinition, Generated: gen.Model{Positions: true, Keyed: true,
	New: newObject, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.TornRead, gen.LostUpdate,
		gen.G1a, gen.G1b, gen.G1c, gen.G1cProcess, gen.G1cRealtime, gen.GSingleItem, gen.GSingleItemProcess, gen.GSingleItemRealtime,
		gen.GNonadjacentItem, gen.GNonadjacentItemProcess, gen.GNonadjacentItemRealtime, gen.G2Item, gen.G2ItemProcess, gen.G2ItemRealtime,
		gen.Internal, gen.FutureRead}, Mistaken: true,
}}}}

// Second is the second reading of multi-register, for tests.
var Second = map[string]second.Reading{"multi-register": {Prepare: secondTxns, Init: second.MapInit, Step: secondTxn}}
