// Package lease is the home of lease: a lock that is claimed with growing epochs.
package lease

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about lease.
var Home = home.Home{Place: 140, Types: []home.Type{{Definition: &leaseDefinition, Generated: gen.Model{
	New: newObject, Values: ownerValues, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate},
}}}}

// Second is the second reading of lease, for tests.
var Second = map[string]second.Reading{"lease": {Default: []string{"nil", "-1", "true"}, Init: secondInit, Step: secondLease}}
