package queue

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about queues.
var Home = home.Home{Place: 50, Types: []home.Type{
	{Definition: &fifoQueueDefinition, Generated: gen.Model{
		New:  Generated{Add: []string{":enqueue"}, Remove: []string{":dequeue"}, Order: Oldest, Peeks: true, Drains: true}.Of,
		Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.Reordered, gen.WrongEmpty}, Mistaken: true,
	}},
	{Definition: &unorderedQueueDefinition, Generated: gen.Model{
		New:  Generated{Add: []string{":enqueue"}, Remove: []string{":dequeue"}, Order: Whichever, Drains: true}.Of,
		Bugs: gen.Bugs{gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.WrongEmpty}, Mistaken: true,
	}},
}}

// Second is the second reading of queues, for tests.
var Second = map[string]second.Reading{
	"fifo-queue":      {Step: secondFIFO},
	"unordered-queue": {Init: second.SortedInit, Step: secondBag},
}
