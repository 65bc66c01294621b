package auto

import (
	"slices"

	"clew/fallback"
	"clew/fallback/hitting"
	"clew/fallback/internal/languages"
	"clew/fallback/internal/lockstep"
	"clew/fallback/internal/matching"
	"clew/fallback/internal/staged"
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

// DefaultDepth is how deep "hitting" looks for a witness on its own, and
// raceDepth is how deep it looks in a race: other engines find deeper witnesses
// sooner.
const (
	DefaultDepth = 5
	raceDepth    = 2
)

// Names returns the algorithms that Engine knows.
func Names() []string {
	var names []string
	for _, e := range engines {
		names = append(names, e.name)
	}
	return names
}

// Engine returns the engine that an algorithm asks for, or nil if Names does
// not list it. "" means "auto". depth is for "hitting"; 0 means DefaultDepth.
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

// Substitute makes another engine decide for an algorithm, until the caller calls
// restore. It is for tests of how wrong answers are treated. Nothing else may be
// decided meanwhile.
func Substitute(name string, other fallback.Engine) (restore func()) {
	i := slices.Index(Names(), name)
	own := engines[i].engine
	engines[i].engine = other
	return func() { engines[i].engine = own }
}

// Judges returns engines of which two have to agree if it is not known which engine
// found something. The faster ones come first.
func Judges() []fallback.Engine {
	return []fallback.Engine{fallback.Porcupine{}, fallback.Window{}, fallback.Frontier{}}
}

// Judge returns an engine that checks what another engine, given by its name,
// has found.
func Judge(name string) fallback.Engine {
	if other := (fallback.Porcupine{}); name != other.Name() {
		return other
	}
	return fallback.Window{}
}
