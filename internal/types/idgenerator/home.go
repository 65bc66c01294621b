// Package idgenerator is the home of id-generator: ids that are handed out once.
package idgenerator

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about id-generator.
var Home = home.Home{Place: 110, Types: []home.Type{{Definition: &idGeneratorDefinition, Generated: gen.Model{
	New: newObject, Bugs: gen.Bugs{gen.Duplicate},
}}}}

// Second is the second reading of id-generator, for tests.
var Second = map[string]second.Reading{"id-generator": {Step: secondIDs}}
