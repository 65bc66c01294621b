package lease

import (
	"slices"

	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about lease.
var Home = home.Home{Place: 140, Types: []home.Type{{Definition: &leaseDefinition, Generated: gen.Model{
	New: newObject, Values: ownerValues, Bugs: gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate},
}}}}

// Second is the second reading of lease, for tests.
var Second = map[string]second.Reading{"lease": {Step: secondLease, Init: func(given second.Form, isGiven bool) []string {
	if parts := given.Parts(); isGiven && !slices.Equal(parts, []string{"nil", "nil"}) {
		return append(parts, "true")
	}
	return []string{"nil", "-1", "true"}
}}}
