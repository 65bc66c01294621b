package home

import (
	"slices"

	"clew/models"
)

// Steps is a Run that takes the steps of its model, none of which may have several outcomes. It owns its state.
type Steps struct {
	Model models.Model
	Now   models.State
	next  []models.State
}

func (r *Steps) Apply(op models.Op) models.Outcome {
	r.next = r.Model.Step(r.next[:0], r.Now, op)
	if len(r.next) == 0 {
		return models.Impossible
	}
	r.Now = r.next[0]
	return models.One
}

func (r *Steps) State() models.State { return slices.Clone(r.Now) }
