package javaqueue

import (
	"clew/internal/home"
	"clew/internal/types/queue"
	"clew/models"
)

// size is a level. The others are how often the queue holds each element, by class.
const size = -1

func (m *javaQueue) start(level int64) int64 { return queue.Held(m.Initial, level) }

// moves is Levels.Moves. Most methods move every level by an amount that depends on the state.
// Only the size needs to know how much they take, since nothing bounds an element from above.
func (m *javaQueue) moves(dst []models.Move, op models.Op) []models.Move {
	switch op.Kind {
	case javaOffer:
		return append(dst, models.By(int64(op.A), 1), models.By(size, 1))
	case javaPoll:
		return append(dst, models.By(int64(op.A), -1), models.By(size, -1))
	case javaPollAny:
		return append(dst, models.Move{Level: size, Least: -1, Most: 0})
	case javaRemove:
		if op.B == answersTrue {
			return append(dst, models.By(int64(op.A), -1), models.By(size, -1))
		}
		return append(dst, models.Move{Level: size, Least: -1, Most: 0})
	case javaAddAll:
		for _, x := range m.lists[op.A] {
			dst = append(dst, models.By(int64(x), 1), models.By(size, 1))
		}
		return dst
	case javaClear, javaRemoveAll, javaRetainAll:
		return append(dst, models.Move{Level: size, Least: -models.Unbounded, Most: 0})
	}
	return dst
}

func (m *javaQueue) shows(dst []models.Bound, op models.Op) []models.Bound {
	atLeast := func(level, n int64) []models.Bound {
		return append(dst, models.Bound{Level: level, Least: n, Most: models.Unbounded})
	}
	switch op.Kind {
	case javaPeek:
		return atLeast(int64(op.A), 1)
	case javaNothing:
		return append(dst, models.Bound{Level: size, Least: 0, Most: 0})
	case javaSize:
		return append(dst, models.Bound{Level: size, Least: int64(op.A), Most: int64(op.A)})
	case javaIsEmpty:
		return atLeast(size, 1)
	case javaContains:
		if op.B == answersTrue {
			return atLeast(int64(op.A), 1)
		}
	}
	return dst
}

// anomaly is Traits.Anomaly. remove takes an element, as poll does.
func (m *javaQueue) anomaly(ops *models.Operations, row models.Row) models.Anomaly {
	return home.ByLevels(ops, row, func(op models.Op, x home.Beyond) models.Anomaly {
		if op.Kind == javaRemove {
			op.Kind = javaPoll
		}
		return queue.Anomaly(op, x)
	})
}
