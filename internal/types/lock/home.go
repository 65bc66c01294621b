package lock

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about locks.
var Home = home.Home{Place: 30, Types: []home.Type{
	{Definition: &mutexDefinition, Generated: generated(gen.TwoHolders)},
	{Definition: &semaphoreDefinition, Generated: generated(gen.TwoHolders)},
	{Definition: &ownerMutexDefinition, Generated: generated(gen.TwoHolders, gen.ForeignRelease)},
	{Definition: &reentrantMutexDefinition, Generated: generated(gen.TwoHolders, gen.ForeignRelease)},
	{Definition: &ownerSemaphoreDefinition, Generated: generated(gen.TwoHolders, gen.ForeignRelease)},
	{Definition: &fencedMutexDefinition, Generated: generated(gen.TwoHolders, gen.ForeignRelease, gen.Duplicate)},
	{Definition: &reentrantFencedMutexDefinition, Generated: generated(gen.TwoHolders, gen.ForeignRelease, gen.Duplicate)},
}}

func generated(bugs ...gen.LongKind) gen.Model {
	return gen.Model{New: newObject, Bugs: bugs}
}

// Second is the second reading of locks, for tests.
var Second = map[string]second.Reading{
	"mutex":                  {Default: []string{"free"}, Step: secondMutex},
	"semaphore":              {Prepare: secondOwners, Step: secondSemaphore},
	"owner-semaphore":        {Prepare: secondOwners, Step: secondSemaphore},
	"owner-mutex":            {Prepare: secondOwners, Step: secondOwnerMutex},
	"reentrant-mutex":        {Prepare: secondOwners, Step: secondOwnerMutex},
	"fenced-mutex":           {Prepare: secondOwners, Default: unfenced, Step: secondFenced},
	"reentrant-fenced-mutex": {Prepare: secondOwners, Default: unfenced, Step: secondFenced},
}

var unfenced = []string{"", "0", "0", "0"}
