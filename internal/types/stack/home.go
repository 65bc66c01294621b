package stack

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
	"clew/internal/types/queue"
)

// Home is what clew knows about stacks.
var Home = home.Home{Place: 60, Types: []home.Type{{Definition: &stackDefinition, Generated: gen.Model{
	Small: func(g *gen.SmallHistory) gen.Object {
		return &queue.SmallQueue{G: g, Add: []string{":push"}, Remove: []string{":pop"}, Peeks: true, May: last}
	},
	Long: queue.LongQueue(":push", ":pop", queue.Newest, false), Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.Reordered, gen.WrongEmpty}, Mistaken: true,
}}}}

func last(elements []string) []int { return []int{len(elements) - 1} }

// Second is the second reading of stack, for tests.
var Second = map[string]second.Reading{"stack": {Step: secondStack}}
