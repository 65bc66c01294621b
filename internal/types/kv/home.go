package kv

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about kv.
var Home = home.Home{Place: 90, Types: []home.Type{{Definition: &kvDefinition, Generated: gen.Model{Positions: true, Keyed: true,
	New: newObject, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead}, Mistaken: true,
}}}}

// Second is the second reading of kv, for tests.
var Second = map[string]second.Reading{"kv": {Prepare: secondKeyless, Init: second.MapInit, Step: secondKV}}
