// Package log is the home of log: a list that grows at its end and is read by offsets.
package log

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about log.
var Home = home.Home{Place: 130, Types: []home.Type{{Definition: &logDefinition, Generated: gen.Model{
	New: newObject, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate},
}}}}

// Second is the second reading of log, for tests.
var Second = map[string]second.Reading{"log": {Prepare: second.Told, Step: secondLog}}
