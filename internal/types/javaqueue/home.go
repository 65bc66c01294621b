package javaqueue

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about java-queue.
var Home = home.Home{Place: 80, Types: []home.Type{{Definition: &javaQueueDefinition, Generated: gen.Model{
	New: newObject, Values: printed, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.Reordered, gen.WrongEmpty},
}}}}

// Second is the second reading of java-queue, for tests.
var Second = map[string]second.Reading{"java-queue": {Step: secondJava}}
