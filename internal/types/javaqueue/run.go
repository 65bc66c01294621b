package javaqueue

import (
	"slices"

	"clew/internal/home"
	"clew/models"
)

// javaRun is a java-queue under way. What a queue with offer, poll and peek does takes constant time.
type javaRun struct{ home.Steps }

func (m *javaQueue) run(s models.State) models.Run {
	return &javaRun{home.Steps{Model: m, Now: slices.Clone(s)}}
}

func (r *javaRun) Apply(op models.Op) models.Outcome {
	if op.Kind == javaOffer {
		r.Now = append(r.Now, op.A)
		return models.One
	}
	return r.Steps.Apply(op)
}
