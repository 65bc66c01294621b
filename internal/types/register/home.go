package register

import (
	"clew/internal/gen"
	"clew/internal/home"
	"clew/internal/second"
)

// Home is what clew knows about registers.
var Home = home.Home{Place: 10, Types: []home.Type{
	{Definition: &registerDefinition, Generated: generated},
	{Definition: &casRegisterDefinition, Generated: generated},
	{Definition: &versionedDefinition, Generated: gen.Model{New: newObject, Bugs: bugs}},
}}

var bugs = gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead}

var generated = gen.Model{New: newObject, Bugs: bugs, Mistaken: true}

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
