package howfar

import (
	"context"
	"encoding/binary"

	"clew/jepsen"
	"clew/models"
)

// # Sequential consistency of anything
//
// Decides whether operations have an order that keeps each client's and is possible. Edges that every such order keeps may
// be given. The search goes forward from the initial state and remembers where it has been: how far it is in each
// chain, and the state. An operation that can happen now and changes nothing comes now: nothing is lost by that. Operations
// that never returned may be left out.
//
// Cost: exponential at worst; it ends after maxSearched places, or maxRemembered bytes.

const (
	maxSearched   = 20_000
	maxRemembered = 64 << 20
)

type search struct {
	*clients
	ctx      context.Context
	model    models.Model
	ops      []models.Op
	optional []bool
	waits    []int32   // by operation: how many that come before it have not happened
	edges    [][]int32 // by operation: those that come after it
	next     []int32   // by chain: the place of the next operation
	left     int       // operations that must happen and have not
	seen     map[string]bool
	bytes    int
	gaveUp   bool
}

// inSomeOrder decides rows of operations, which are in order of invocation. Edges, unless nil, are between places in rows.
func inSomeOrder(ctx context.Context, ops *models.Operations, rows []models.Row, edges [][]int32) jepsen.Verdict {
	s := &search{clients: newClients(callsOf(ops, rows)), ctx: ctx, model: ops.Model, seen: map[string]bool{}, edges: edges}
	s.next, s.waits = make([]int32, len(s.chains)), make([]int32, len(rows))
	if s.edges == nil {
		s.edges = make([][]int32, len(rows))
		for i, before := range s.before {
			for _, j := range before {
				s.edges[j] = append(s.edges[j], int32(i))
			}
		}
	}
	for _, edges := range s.edges {
		for _, to := range edges {
			s.waits[to]++
		}
	}
	for _, row := range rows {
		s.ops = append(s.ops, ops.Op(row))
		optional := ops.Res[row] == models.Open
		if s.optional = append(s.optional, optional); !optional {
			s.left++
		}
	}
	switch {
	case s.from(ops.Model.Init()):
		return jepsen.Valid
	case s.gaveUp:
		return jepsen.Unknown
	}
	return jepsen.Invalid
}

// from says whether what is left has an order from a state.
func (s *search) from(state models.State) (found bool) {
	taken := s.idle(state)
	defer func() {
		for i := len(taken) - 1; !found && i >= 0; i-- {
			s.undo(taken[i])
		}
	}()
	if s.left == 0 {
		return true
	}
	key := make([]byte, 0, 4*(len(s.next)+len(state)))
	for _, n := range s.next {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	for _, n := range state {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	if s.bytes += len(key); s.gaveUp || len(s.seen) >= maxSearched || s.bytes > maxRemembered || len(s.seen)%1024 == 0 && s.ctx.Err() != nil {
		s.gaveUp = true
		return false
	}
	if s.seen[string(key)] {
		return false
	}
	s.seen[string(key)] = true
	var open []int32
	for chain := range s.chains {
		if op := s.at(chain); op >= 0 {
			open = append(open, op)
		}
	}
	for _, op := range sorted(open) {
		for _, after := range s.model.Step(nil, state, s.ops[op]) {
			s.do(op)
			if s.from(after) {
				return true
			}
			s.undo(op)
			if s.gaveUp {
				return false
			}
		}
	}
	return false
}

// idle takes all that can happen in a state and changes nothing, and returns it in order.
func (s *search) idle(state models.State) (taken []int32) {
	for again := true; again; {
		again = false
		for chain := range s.chains {
			for {
				op := s.at(chain)
				if op < 0 || s.model.Mutates(s.ops[op]) || len(s.model.Step(nil, state, s.ops[op])) == 0 {
					break
				}
				s.do(op)
				taken, again = append(taken, op), true
			}
		}
	}
	return taken
}

// at returns the next operation of a chain if it can come now, else -1.
func (s *search) at(chain int) int32 {
	ops := s.chains[chain]
	if n := s.next[chain]; int(n) < len(ops) && s.waits[ops[n]] == 0 {
		return ops[n]
	}
	return -1
}

func (s *search) do(op int32) { s.count(op, 1) }

func (s *search) undo(op int32) { s.count(op, -1) }

// count counts an operation as having happened, or not.
func (s *search) count(op, by int32) {
	s.next[s.chain[op]] += by
	if !s.optional[op] {
		s.left -= int(by)
	}
	for _, to := range s.edges[op] {
		s.waits[to] -= by
	}
}
