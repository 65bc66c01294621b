package counter

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about counters.
var Home = home.Home{Place: 100, Types: []home.Type{
	{Definition: &counterDefinition, Generated: gen.Model{
		New: newObject, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead},
	}},
	{Definition: &countingSemaphoreDefinition, Generated: gen.Model{
		New: newCount, Bugs: gen.Bugs{gen.LostWrite},
	}},
}}

// Second is the second reading of counters, for tests.
var Second = map[string]second.Reading{
	"counter":            {Prepare: second.Told, Default: []string{"0"}, Init: second.WholeInit, Step: secondCounter},
	"counting-semaphore": {Default: []string{"0"}, Init: second.WholeInit, Step: secondCounting},
}
