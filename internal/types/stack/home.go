// Package stack is the home of stack: last in, first out.
package stack

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
	"clew/internal/types/queue"
)

// Home is what clew knows about stacks.
var Home = home.Home{Place: 60, Types: []home.Type{{Definition: &stackDefinition, Generated: gen.Model{
	New:  queue.Generated{Add: []string{":push"}, Remove: []string{":pop"}, Order: queue.Newest, Peeks: true}.Of,
	Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.Reordered, gen.WrongEmpty}, Mistaken: true,
}}}}

// Second is the second reading of stack, for tests.
var Second = map[string]second.Reading{"stack": {Step: secondStack}}
