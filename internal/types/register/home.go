package register

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about registers.
var Home = home.Home{Place: 10, Types: []home.Type{
	{Definition: &registerDefinition, Generated: generated(false)},
	{Definition: &casRegisterDefinition, Generated: generated(true)},
	{Definition: &versionedDefinition, Generated: gen.Model{
		Small: func(g *gen.SmallHistory) gen.Object {
			return &smallVersioned{smallRegister: smallRegister{g: g, now: "nil", cas: true}}
		},
		Long: newLongRegister, Bugs: bugs,
	}},
}}

var bugs = gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead}

func generated(cas bool) gen.Model {
	return gen.Model{
		Small: func(g *gen.SmallHistory) gen.Object { return &smallRegister{g: g, now: "nil", cas: cas} },
		Long:  newLongRegister, Bugs: bugs, Mistaken: true,
	}
}

// Second is the second reading of registers, for tests.
var Second = map[string]second.Reading{
	"register":     {Init: secondInit, Step: secondRegister},
	"cas-register": {Init: secondInit, Step: secondRegister},
	"versioned-register": {Step: secondVersioned, Init: func(given second.Form, isGiven bool) []string {
		if !isGiven {
			return []string{"0", "nil"}
		}
		return given.Parts()
	}},
}

func secondInit(given second.Form, isGiven bool) []string {
	if !isGiven {
		return []string{"nil"}
	}
	return []string{given.Canon()}
}
