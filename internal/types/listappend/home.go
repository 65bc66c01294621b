// Package listappend is the home of list-append: lists by key, which transactions append to and read whole.
package listappend

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about list-append.
var Home = home.Home{Place: 150, Types: []home.Type{{Definition: &listAppendDefinition, Generated: gen.Model{Keyed: true,
	New: newObject, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.TornRead, gen.LostUpdate,
		gen.G0, gen.G0Process, gen.G0Realtime, gen.G1a, gen.G1b, gen.G1c, gen.G1cProcess, gen.G1cRealtime,
		gen.GSingleItem, gen.GSingleItemProcess, gen.GSingleItemRealtime, gen.GNonadjacentItem, gen.GNonadjacentItemProcess,
		gen.GNonadjacentItemRealtime, gen.G2Item, gen.G2ItemProcess, gen.G2ItemRealtime, gen.Internal, gen.FutureRead, gen.DirtyUpdate,
		gen.IncompatibleOrder, gen.DuplicateElements},
}}}}

// Second is the second reading of list-append, for tests.
var Second = map[string]second.Reading{"list-append": {Prepare: secondTxns, Init: second.MapInit, Step: secondTxn}}
