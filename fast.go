package clew

import (
	"math"

	"clew/edn"
	"clew/fastpath"
	"clew/models"
)

// fastPath decides columns of a model in near-linear time, or says why not.
type fastPath func(m models.Model, s models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision

// fastPaths are the near-linear decisions, by model.
var fastPaths = map[string]fastPath{
	"register":       value(fastpath.Register),
	"cas-register":   value(fastpath.CASRegister),
	"fifo-queue":     empty(fastpath.FIFOQueue),
	"stack":          empty(fastpath.Stack),
	"priority-queue": empty(fastpath.PriorityQueue),
	"mutex":          value(fastpath.Mutex),
	"semaphore": func(m models.Model, s models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return fastpath.Semaphore(c, m.Init()[0], int32(s.Permits), want)
	},
	"lookup-set":      contents(fastpath.LookupSet),
	"unordered-queue": contents(fastpath.UnorderedQueue),
	"set": func(m models.Model, _ models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return fastpath.GrowSet(c, m.Init(), m.(interface{ Sets() []models.State }).Sets(), want)
	},
	"owner-mutex": func(_ models.Model, _ models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return fastpath.OwnerLock(c, fastpath.Owned{Holds: 1}, want)
	},
	"reentrant-mutex": func(_ models.Model, s models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return fastpath.OwnerLock(c, fastpath.Owned{Holds: maxHolds(s)}, want)
	},
	"owner-semaphore": func(_ models.Model, s models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return fastpath.OwnerLock(c, fastpath.Owned{Permits: int32(s.Permits)}, want)
	},
	"versioned-register": func(m models.Model, _ models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return fastpath.VersionedRegister(c, fastpath.Versions{First: m.Init()[0], Value: m.Init()[1],
			Nil: int32(edn.Nil), Args: m.(interface{ Args() [][2]int32 }).Args()}, want)
	},
	"fenced-mutex": func(_ models.Model, _ models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return fastpath.FencedLock(c, 1, want)
	},
	"reentrant-fenced-mutex": func(_ models.Model, s models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return fastpath.FencedLock(c, maxHolds(s), want)
	},
}

// maxHolds is how often the owner of a reentrant lock may hold it.
func maxHolds(s models.Spec) int32 {
	if s.MaxHolds == 0 {
		return models.DefaultMaxHolds
	}
	return int32(min(s.MaxHolds, math.MaxInt32))
}

// startEmpty are the containers whose fast path takes no initial contents.
var startEmpty = map[string]bool{"fifo-queue": true, "stack": true, "priority-queue": true}

// decideFrom is the shape of the fast paths: columns, what is there at first,
// and what is wanted.
type decideFrom[Init any] func(c *models.Columns, init Init, want fastpath.Want) fastpath.Decision

// value is a fast path for a state of one value.
func value(f decideFrom[int32]) fastPath {
	return func(m models.Model, _ models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return f(c, m.Init()[0], want)
	}
}

// empty is a fast path for a container that is empty at first.
func empty(f decideFrom[int32]) fastPath {
	return func(_ models.Model, _ models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return f(c, 0, want)
	}
}

// contents is a fast path for a container with its initial elements.
func contents(f decideFrom[[]int32]) fastPath {
	return func(m models.Model, _ models.Spec, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return f(c, m.Init(), want)
	}
}
