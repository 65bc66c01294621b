// Package hitting looks for witnesses among few schedules: those of strong
// d-hitting families.
package hitting

import (
	"context"
	"slices"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// Engine looks for a witness among the schedules of strong d-hitting families
// (schedules.go), of depth 1, 2 and so on up to Depth. The idea is that only
// the order of a few operations matters, and not the order of all others.
// Ozkan, Majumdar & Niksic found that real histories of concurrent containers
// have such a witness nearly always: 99.9% of them at d <= 5.
//
// Precondition: none. It says Valid if a schedule replays. It does so for every
// history with a tuple of Depth operations such that all schedules that
// strongly hit it are witnesses. It also does so for every linearizable history
// of at most Depth operations. It never says Invalid. Otherwise the verdict is
// Unknown, with the cause DepthExhausted. Complexity: at most m n^(d-1)
// schedules of linear time each. A replay ends at the first step that cannot
// happen. It takes memory for the states that it meets.
//
// Crashed operations are optional chains: at most Depth of them take effect.
type Engine struct {
	Depth int // at least 1
}

// Name implements fallback.Engine.
func (Engine) Name() string { return "hitting" }

// Decide implements fallback.Engine.
func (h Engine) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	r := &replayer{Budget: fallback.NewBudget(ctx, fallback.Limits{Memory: lim.Memory, Passed: lim.Passed}), ops: ops}
	defer r.Release()
	if r.Cause != "" {
		return fallback.Answer{Cause: r.Cause, Depth: 1}
	}
	if len(fallback.Completions(ops)) == 0 {
		return fallback.Answer{Verdict: jepsen.Valid, Depth: 1} // nothing has to happen
	}
	depth := min(h.Depth, ops.Len()) // a tuple cannot have more operations than the history
	if !r.Take(familyBytes(ops.Len(), depth)) {
		return fallback.Answer{Cause: r.Cause, Depth: 1}
	}
	r.forget()
	f := newFamily(ops, depth, r.poll)
	for d := 1; d <= depth; d++ {
		switch {
		case f.each(d, r.fails):
		case r.Cause != "":
			return fallback.Answer{Cause: r.Cause, Depth: d, Schedules: r.tried}
		default:
			order := slices.Clone(r.order)
			return fallback.Answer{Verdict: jepsen.Valid, Order: order, Depth: d, Schedules: r.tried}
		}
	}
	return fallback.Answer{Cause: jepsen.DepthExhausted, Depth: h.Depth, Schedules: r.tried}
}

// maxMemo bounds the states that are remembered from one schedule to the next.
const maxMemo = 64 << 20

// workPerPoll bounds the work between two looks at the limits within a step.
const workPerPoll = 1 << 18

// replayer replays one schedule after another. Schedules that begin alike share
// the replay of their common beginning.
type replayer struct {
	*fallback.Budget // without turns: all schedules of a depth are alike
	ops              *models.Operations
	memo             int64 // how much of the memory is for states

	space *fallback.Space
	class []int32 // by row

	order  []int32 // the last schedule, as far as it was replayed; if stuck, its last step cannot happen
	stuck  bool
	states []int32 // after i steps of it: states[ends[i-1]:ends[i]], the set of states
	ends   []int

	tried    int64
	furthest int
	work     int // since the limits were last looked at
}

// forget forgets all states and the last schedule.
func (r *replayer) forget() {
	r.Give(r.memo)
	r.memo = 0
	r.space, r.class = fallback.NewSpace(r.ops)
	r.space.Ask(r.poll)
	r.states = append(r.states[:0], r.space.Number(r.ops.Model.Init()))
	r.ends = append(r.ends[:0], 1)
	r.order, r.stuck = r.order[:0], false
}

// fails says whether a schedule is not a witness. If the search has to end, it
// returns false, and cause says why.
func (r *replayer) fails(schedule []int32) bool {
	r.tried++
	if r.memo > maxMemo {
		r.forget()
	}
	if !r.poll() {
		return false
	}
	same := 0
	for same < len(r.order) && same < len(schedule) && r.order[same] == schedule[same] {
		same++
	}
	if same == len(r.order) && r.stuck {
		return true
	}
	r.order = r.order[:same]
	r.ends = r.ends[:same+1]
	r.states = r.states[:r.ends[same]]
	for i, row := range schedule[same:] {
		if i&255 == 255 && !r.poll() {
			return false
		}
		r.order = append(r.order, row)
		if r.stuck = !r.step(row); r.stuck {
			return true
		}
	}
	return false
}

// step appends the states that a row leads to, and says whether there are any.
func (r *replayer) step(row int32) bool {
	n := len(r.ends)
	from, to := 0, r.ends[n-1]
	if n > 1 {
		from = r.ends[n-2]
	}
	for i := from; i < to; i++ {
		for _, next := range r.space.Step(r.states[i], r.class[row]) {
			if r.work += len(r.states) - to; r.work > workPerPoll {
				if r.work = 0; !r.poll() {
					return false
				}
			}
			if !slices.Contains(r.states[to:], next) {
				r.states = append(r.states, next)
			}
		}
	}
	if len(r.states) == to {
		return false
	}
	r.ends = append(r.ends, len(r.states))
	return true
}

// poll says whether the search may go on, and accounts for new states.
func (r *replayer) poll() bool {
	bytes := r.space.Spent()
	r.memo += bytes
	r.Take(bytes)
	if n := len(r.order); n > r.furthest {
		r.furthest = n
		r.Passed(int64(n))
	}
	return r.Poll()
}
