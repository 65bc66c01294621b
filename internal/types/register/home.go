// Package register is the home of registers: register, cas-register and versioned-register.
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

var generated = gen.Model{New: newObject, Bugs: bugs, Mistaken: true, Positions: true}

// Second is the second reading of registers, for tests.
var Second = map[string]second.Reading{
	"register":           {Default: []string{"nil"}, Init: second.WholeInit, Step: secondRegister},
	"cas-register":       {Default: []string{"nil"}, Init: second.WholeInit, Step: secondRegister},
	"versioned-register": {Default: []string{"0", "nil"}, Step: secondVersioned},
}
