// Package families lists the families of near-linear decisions, which are the packages below it, and finds the one for a model.
package families

import (
	"clew/fastpath"
	"clew/internal/families/container"
	"clew/internal/families/lock"
	"clew/internal/families/position"
	"clew/internal/families/register"
	"clew/internal/families/sequence"
	"clew/internal/families/set"
	"clew/internal/families/transaction"
	"clew/models"
)

// all holds the near-linear decisions.
var all = []fastpath.Family{register.Path, container.Path, lock.Path, set.Path, sequence.Path, position.Path, transaction.Path}

// Of returns the near-linear decision for a model, or nil. If there is one
// for models of its shape, refusal says why it does not apply to this one.
func Of(m models.Model) (path fastpath.Path, refusal string) {
	of := m.Traits().Shape
	if of == nil {
		return nil, ""
	}
	shape := of()
	for _, family := range all {
		if path, refusal = family(shape); path != nil || refusal != "" {
			break
		}
	}
	return path, refusal
}
