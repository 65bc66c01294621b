package priorityqueue

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
	"clew/internal/types/queue"
)

// Home is what clew knows about priority queues.
var Home = home.Home{Place: 70, Types: []home.Type{{Definition: &priorityQueueDefinition, Generated: gen.Model{
	New:    queue.Generated{Add: []string{":insert", ":enqueue"}, Remove: []string{":poll", ":dequeue"}, Order: queue.Greatest, Peeks: true}.Of,
	Values: ordered,
	Bugs:   gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.Reordered, gen.WrongEmpty}, Mistaken: true,
}}}}

// ordered are values that a priority queue can compare: 1 and 1.0 differ, but
// neither comes first.
var ordered = gen.Values{
	{"1", "1N"}, {"2", "2N", "+2"}, {"3"}, {"1.0"}, {"-7", "-7N"}, {"0.5"}, {"3.0"}, {"12"}, {"2.5"}, {"4"}, {"5"}, {"-1"},
}

// Second is the second reading of priority-queue, for tests.
var Second = map[string]second.Reading{"priority-queue": {Init: second.SortedInit, Step: secondPriority}}
