package auto

import (
	"clew/fallback"
	"clew/fallback/hitting"
	"clew/fallback/staged"
)

// engines are the general searches, by the algorithm that asks for each. Who adds
// an engine adds a line.
var engines = []struct {
	name   string
	engine fallback.Engine
}{
	{"auto", easyFirst{}},
	{"window", fallback.Window{}},
	{"wgl", fallback.Window{}},
	{"frontier", fallback.Frontier{}},
	{"linear", fallback.Frontier{}},
	{"staged", staged.Engine{}},
	{"porcupine", fallback.Porcupine{}},
	{"hitting", hitting.Engine{Depth: DefaultDepth}},
	{"competition", fallback.Race{fallback.Window{}, fallback.Frontier{}, fallback.Porcupine{}, staged.Engine{}, hitting.Engine{Depth: raceDepth}}},
}

// DefaultDepth is how deep "hitting" looks for a witness, and raceDepth how deep
// it does beside others: what is deeper they find sooner.
const (
	DefaultDepth = 5
	raceDepth    = 2
)

// Names are the algorithms that Engine knows.
func Names() []string {
	var names []string
	for _, e := range engines {
		names = append(names, e.name)
	}
	return names
}

// Engine is the engine that an algorithm asks for, nil if Names has no such one.
// "" is "auto". The depth is that of "hitting", or 0 for DefaultDepth.
func Engine(name string, depth int) fallback.Engine {
	if name == "" {
		name = "auto"
	}
	for _, e := range engines {
		if e.name != name {
			continue
		}
		if _, deep := e.engine.(hitting.Engine); deep && depth > 0 {
			return hitting.Engine{Depth: depth}
		}
		return e.engine
	}
	return nil
}

// Judge is an engine that checks what another one, given by its name, has found.
func Judge(name string) fallback.Engine {
	if other := (fallback.Porcupine{}); name != other.Name() {
		return other
	}
	return fallback.Window{}
}
