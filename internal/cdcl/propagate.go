package cdcl

// propagate assigns what the clauses imply, until nothing more follows or a
// clause is false. It returns that clause, or 0.
func (s *Solver) propagate() int32 {
	for s.queue < len(s.trail) {
		l := s.trail[s.queue].Not() // now false
		s.queue++
		if c := s.visit(l); c != 0 {
			return c
		}
	}
	return 0
}

// visit looks at the clauses that watch a literal that has become false. Each
// finds another literal to watch, or is true, or implies its other watched
// literal. If it is false, visit returns it.
func (s *Solver) visit(l Lit) int32 {
	at := &s.head[l] // the link to the clause
	for c := *at; c != 0; c = *at {
		s.Steps++
		k := int32(0)
		if Lit(s.clauses[c+litsAt]) != l {
			k = 1
		}
		next := &s.clauses[c+nextAt+k]
		if s.clauses[c+infoAt]&isDead != 0 {
			*at = *next
			continue
		}
		other := Lit(s.clauses[c+litsAt+1-k])
		if s.value[other] > 0 {
			at = next
			continue
		}
		lits := s.literals(c)
		to := 2
		for to < len(lits) && s.value[lits[to]] < 0 {
			to++
		}
		if to < len(lits) {
			*at = *next
			s.watch(c, k, to)
			continue
		}
		if s.value[other] < 0 {
			return c
		}
		level, highest := s.level[l.Var()], -1
		for i := 2; i < len(lits); i++ {
			if x := s.level[Lit(lits[i]).Var()]; x > level {
				level, highest = x, i
			}
		}
		s.assign(other, c, level)
		if highest < 0 {
			at = next
			continue
		}
		// Watch the literal of the highest level, so that it is the first to be unassigned.
		*at = *next
		s.watch(c, k, highest)
	}
	return 0
}

// watch moves watch k of a clause, which is not in a list, to another literal.
func (s *Solver) watch(c, k int32, to int) {
	lits := s.literals(c)
	lits[k], lits[to] = lits[to], lits[k]
	s.clauses[c+nextAt+k] = s.head[lits[k]]
	s.head[lits[k]] = c
}

// pollEvery is how many steps lie between two polls.
const pollEvery = 1 << 14

// goesOn says whether the search may go on.
func (s *Solver) goesOn() bool {
	if s.Poll == nil || s.Steps-s.polled < pollEvery {
		return true
	}
	s.polled = s.Steps
	return s.Poll()
}

// Solve searches for an assignment that makes every clause true, answers the
// question of every group, and is consistent with the theory. If there is one, it
// is in Trail when Solve returns. The search goes on from there when more is
// added. Variables of no group may stay unassigned; they can be false.
func (s *Solver) Solve() Verdict {
	for !s.unsat {
		if !s.goesOn() {
			return Stopped
		}
		c := s.fixpoint()
		switch {
		case c != 0:
			s.Steps += 16
			s.resolve(c)
		case s.unsat:
		case s.Conflicts >= s.restart && !s.NoRestarts:
			s.restarts++
			s.restart = s.Conflicts + restartUnit*luby(s.restarts)
			s.backtrack(s.base())
		case s.Conflicts >= s.reduce && !s.NoReducing:
			s.drop()
		default:
			l, ok := s.choose()
			if !ok {
				return Satisfiable
			}
			s.Steps++
			s.control = append(s.control, int32(len(s.trail)))
			s.assign(l, 0, int32(len(s.control)))
		}
	}
	return Unsatisfiable
}

// fixpoint propagates clauses and theory. It returns a false clause, or 0.
func (s *Solver) fixpoint() int32 {
	for !s.unsat {
		if c := s.nextPending(); c != 0 {
			return c
		}
		if c := s.propagate(); c != 0 {
			return c
		}
		if !s.theory.Propagate() {
			return 0
		}
	}
	return 0
}

// choose returns the next decision. ok is false if nothing is left to decide.
func (s *Solver) choose() (l Lit, ok bool) {
	for {
		g, any := s.heap.pop()
		if !any {
			return 0, false
		}
		if l, ok := s.theory.Choose(g); ok {
			return l, true
		}
	}
}

// base returns the lowest level that jumps and restarts go back to.
func (s *Solver) base() int {
	if s.NoBase {
		return 0
	}
	return s.Base
}

// restartUnit is how many conflicts precede the first restart.
const restartUnit = 100

// luby returns the n-th number, from 0 on, of 1 1 2 1 1 2 4 1 1 2 ...
func luby(n int64) int64 {
	size, power := int64(1), int64(1)
	for size < n+1 {
		size, power = 2*size+1, 2*power
	}
	for size-1 != n {
		size /= 2
		power /= 2
		n %= size
	}
	return power
}
