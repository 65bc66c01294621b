package queue

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about queues.
var Home = home.Home{Place: 50, Types: []home.Type{
	{Definition: &fifoQueueDefinition, Generated: gen.Model{
		Small: func(g *gen.SmallHistory) gen.Object {
			return &SmallQueue{G: g, Add: []string{":enqueue"}, Remove: []string{":dequeue"}, Peeks: true, Drains: true, May: first}
		},
		Long: LongQueue(":enqueue", ":dequeue", Oldest, false), Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.Reordered, gen.WrongEmpty}, Mistaken: true,
	}},
	{Definition: &unorderedQueueDefinition, Generated: gen.Model{
		Small: func(g *gen.SmallHistory) gen.Object {
			return &SmallQueue{G: g, Add: []string{":enqueue"}, Remove: []string{":dequeue"}, Drains: true, May: whichever}
		},
		Long: LongQueue(":enqueue", ":dequeue", Whichever, false), Bugs: gen.Bugs{gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.WrongEmpty}, Mistaken: true,
	}},
}}

// Second is the second reading of queues, for tests.
var Second = map[string]second.Reading{
	"fifo-queue":      {Step: secondFIFO},
	"unordered-queue": {Init: second.SortedInit, Step: secondBag},
}
