package engines

import (
	"cmp"
	"slices"
	"sync"

	"clew/fallback"
	"clew/internal/engines/configs"
	"clew/internal/engines/hitting"
	"clew/internal/engines/languages"
	"clew/internal/engines/lockstep"
	"clew/internal/engines/matching"
	"clew/internal/engines/porcupine"
	"clew/internal/engines/staged"
	"clew/models"
)

// Entry is an engine of the general search.
type Entry struct {
	Name   string // the algorithm that asks for it, and the engine's name in results
	Also   string // what Knossos calls it, or ""
	Models string // the models that it decides, in words, or "" if it decides any

	// Suits says whether the engine decides operations of a model. It is nil if it decides any.
	Suits func(models.Model) bool
	// New returns the engine. Only hitting looks at the depth; 0 means DefaultDepth.
	New func(depth int) fallback.Engine
	// OnlyWitnesses says that the engine never finds a history, or a prefix of it, to be invalid.
	OnlyWitnesses bool

	// turn says when the engine takes its turns on a history, among others: those with the least number come first. 0
	// means not at all. The fewer engines suit a history, the sooner it is decided; work_test.go says how many are too
	// many.
	turn func(h *history) int
	// among takes turns among others in its place, unless it is nil.
	among fallback.Engine
	// part says that the engine only takes turns: no algorithm asks for it.
	part bool
}

// table lists the engines. It is the only place that names them all: a new engine gets an entry here.
var table = []Entry{
	{
		Name: "window", Also: "wgl", New: always(configs.Window{}),
		turn: func(*history) int { return 2 },
	},
	{
		Name: "frontier", Also: "linear", New: always(configs.Frontier{}),
		// The engines of stacks and queues decide whatever this one decides, and more.
		turn: func(h *history) int { return when(!h.stack && !h.queue, 5) },
	},
	{
		Name: "staged", Models: registers, Suits: isRegister, New: always(staged.Engine{}),
		turn: func(h *history) int {
			if h.register && h.many {
				return 1
			}
			return when(h.register && h.crashed > 0, 6)
		},
	},
	{
		Name: "matching", Models: registers, Suits: isRegister, New: always(matching.Engine{}),
		turn: func(h *history) int {
			if h.busy && !h.many {
				return 1
			}
			return when(h.register, 4)
		},
	},
	{
		Name: "languages", Models: "stacks", Suits: isStack, New: always(languages.Engine{}),
		turn: func(h *history) int { return when(h.stack, 1) },
	},
	{
		Name: "lockstep", Models: "FIFO queues", Suits: isQueue, New: always(lockstep.Engine{}),
		turn: func(h *history) int { return when(h.queue, 1) },
	},
	{
		Name: "porcupine", New: always(porcupine.Engine{}),
		// Its sets of states cope well with crashed dequeues.
		turn: func(h *history) int { return when(h.rows <= porcupineRows && !h.register && !h.queue, 8) },
	},
	{
		Name: "hitting", OnlyWitnesses: true,
		New:  func(depth int) fallback.Engine { return hitting.Engine{Depth: cmp.Or(depth, DefaultDepth)} },
		turn: func(*history) int { return 0 },
	},
	{
		Name: "loosener", New: always(loosener{}), part: true,
		turn: func(h *history) int { return when(h.looser, 3) },
	},
	{
		Name: "hindsight", New: always(hindsight{}), part: true,
		turn: func(h *history) int { return when(h.hindsight, 1) },
	},
	{
		Name: "beam", New: always(configs.Beam{}), among: configs.Beam{GivesUp: true},
		turn: func(h *history) int {
			if h.looser && h.many && !h.placed {
				return 1
			}
			return when(h.many && !h.register && !h.queue && !h.stack, 3)
		},
	},
	{
		Name: "reacher", New: always(reacher{}), part: true,
		turn: func(h *history) int { return when(h.many && !h.leveled && !h.register, 6) },
	},
	{
		Name: "refuter", New: always(refuter{}), part: true,
		turn: func(h *history) int { return when(h.many && !h.register && !h.queue, 7) },
	},
}

const registers = "register and cas-register"

func isRegister(m models.Model) bool { return m.Traits().IsRegister }
func isStack(m models.Model) bool    { _, ok := models.ShapeOf[models.LIFOShape](m); return ok }
func isQueue(m models.Model) bool    { _, ok := models.ShapeOf[models.FIFOShape](m); return ok }

// always returns an engine that has no depth.
func always(e fallback.Engine) func(int) fallback.Engine {
	return func(int) fallback.Engine { return e }
}

// when returns a turn if an engine suits a history, else 0.
func when(suits bool, turn int) int {
	if suits {
		return turn
	}
	return 0
}

// DefaultDepth is how deep hitting looks for a witness on its own, and raceDepth is how deep it looks in a race: other
// engines find deeper witnesses sooner.
const (
	DefaultDepth = 5
	raceDepth    = 2
)

// All returns the engines that an algorithm can ask for.
func All() []Entry {
	return slices.DeleteFunc(slices.Clone(table), func(e Entry) bool { return e.part })
}

// Of returns the engine that an algorithm asks for alone, if there is one.
func Of(algorithm string) (e Entry, ok bool) {
	for _, e := range table { // which asks nothing of the heap, as there may be a million keys
		if !e.part && (algorithm == e.Name || algorithm == e.Also && algorithm != "") {
			return e, true
		}
	}
	return Entry{}, false
}

// The algorithms that ask for several engines: those that suit a history in turns, and all side by side.
const (
	auto        = "auto"
	competition = "competition"
)

// Names returns the algorithms that New knows.
func Names() []string { return slices.Clone(names()) }

var names = sync.OnceValue(func() []string {
	names := []string{auto}
	for _, e := range All() {
		names = append(names, e.Name)
		if e.Also != "" {
			names = append(names, e.Also)
		}
	}
	return append(names, competition)
})

// New returns the engine that an algorithm asks for, or nil if Names does not list it. "" means "auto". depth is for
// hitting.
func New(algorithm string, depth int) fallback.Engine {
	switch algorithm {
	case auto, "":
		return easyFirst{}
	case competition:
		var all Race
		for _, e := range All() {
			all = append(all, e.New(raceDepth))
		}
		return all
	}
	if e, ok := Of(algorithm); ok {
		return e.New(depth)
	}
	return nil
}

// Judges returns engines of which two have to agree if it is not known which engine found something. The faster ones
// come first.
func Judges() []fallback.Engine {
	return []fallback.Engine{porcupine.Engine{}, configs.Window{}, configs.Frontier{}}
}

// Judge returns an engine that checks what another engine, given by its name, has found.
func Judge(name string) fallback.Engine {
	if other := (porcupine.Engine{}); name != other.Name() {
		return other
	}
	return configs.Window{}
}
