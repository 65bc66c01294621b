package priorityqueue

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
	"clew/internal/types/queue"
)

// Home is what clew knows about priority queues.
var Home = home.Home{Place: 70, Types: []home.Type{{Definition: &priorityQueueDefinition, Generated: gen.Model{
	Small: func(g *gen.SmallHistory) gen.Object {
		return &queue.SmallQueue{G: g, Add: []string{":enqueue", ":insert"}, Remove: []string{":dequeue", ":poll"}, Peeks: true, Ranked: true,
			May: func(elements []string) []int { return highest(g, elements) }}
	},
	Values: ordered,
	Long:   queue.LongQueue(":insert", ":poll", queue.Greatest, false), Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.Reordered, gen.WrongEmpty}, Mistaken: true,
}}}}

// Second is the second reading of priority-queue, for tests.
var Second = map[string]second.Reading{"priority-queue": {Init: second.SortedInit, Step: secondPriority}}
