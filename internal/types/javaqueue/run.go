package javaqueue

import (
	"slices"

	"clew/models"
)

// javaRun is a java-queue under way. What a queue with offer, poll and peek does takes constant time.
type javaRun struct {
	m     *javaQueue
	items []int32
	next  []models.State
}

func (m *javaQueue) run(s models.State) models.Run { return &javaRun{m: m, items: slices.Clone(s)} }

func (r *javaRun) Apply(op models.Op) models.Outcome {
	if op.Kind == javaOffer {
		r.items = append(r.items, op.A)
		return models.One
	}
	r.next = r.m.Step(r.next[:0], r.items, op)
	if len(r.next) == 0 {
		return models.Impossible
	}
	r.items = r.next[0]
	return models.One
}

func (r *javaRun) State() models.State { return slices.Clone(r.items) }
