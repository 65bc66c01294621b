package auto

import (
	"slices"

	"clew/fallback"
	"clew/fallback/hitting"
	"clew/fallback/languages"
	"clew/fallback/lockstep"
	"clew/fallback/matching"
	"clew/fallback/staged"
)

// engines are the general searches, by the algorithm that asks for each. A new
// engine gets a line here.
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
	{"matching", matching.Engine{}},
	{"languages", languages.Engine{}},
	{"lockstep", lockstep.Engine{}},
	{"porcupine", fallback.Porcupine{}},
	{"hitting", hitting.Engine{Depth: DefaultDepth}},
	{"competition", fallback.Race{fallback.Window{}, fallback.Frontier{}, fallback.Porcupine{}, staged.Engine{}, matching.Engine{}, languages.Engine{}, lockstep.Engine{}, hitting.Engine{Depth: raceDepth}}},
}

// DefaultDepth is how deep "hitting" looks for a witness by itself, and
// raceDepth how deep it looks in a race: other engines find deeper witnesses
// sooner.
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

// Engine is the engine that an algorithm asks for, nil if Names does not list
// it. "" means "auto". depth is for "hitting"; 0 means DefaultDepth.
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

// Substitute has another engine decide for those who ask for an algorithm, until
// restore is called. It is for tests of what becomes of wrong answers, in which nothing
// else is decided meanwhile.
func Substitute(name string, other fallback.Engine) (restore func()) {
	i := slices.Index(Names(), name)
	own := engines[i].engine
	engines[i].engine = other
	return func() { engines[i].engine = own }
}

// Judges are engines of which two have to agree if it is not known who found something,
// those first that are sooner done.
func Judges() []fallback.Engine {
	return []fallback.Engine{fallback.Porcupine{}, fallback.Window{}, fallback.Frontier{}}
}

// Judge is an engine that checks what another engine, given by its name, has
// found.
func Judge(name string) fallback.Engine {
	if other := (fallback.Porcupine{}); name != other.Name() {
		return other
	}
	return fallback.Window{}
}
