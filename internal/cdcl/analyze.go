package cdcl

// resolve learns from a clause that is false.
func (s *Solver) resolve(c int32) {
	s.Conflicts++
	top, alone := s.highest(c)
	if top == 0 {
		s.unsat = true
		return
	}
	if int(top) <= s.Base {
		s.lower(int(top))
	}
	if alone {
		// All but one of its literals were false before that level was begun.
		s.backtrack(int(top) - 1)
		s.rewatch(c)
		lits := s.literals(c)
		s.assign(Lit(lits[0]), c, s.level[Lit(lits[1]).Var()])
		return
	}
	s.backtrack(int(top))
	s.learn(c, top)
	s.increase *= 1 / activityDecay
}

// activityDecay is the factor by which activities shrink at every conflict.
const activityDecay = 0.95

// highest returns the highest level in a false clause, and says whether a single literal has it.
func (s *Solver) highest(c int32) (level int32, alone bool) {
	level = -1
	for _, x := range s.literals(c) {
		at := s.level[Lit(x).Var()]
		alone = at > level || alone && at < level
		level = max(level, at)
	}
	return level, alone
}

// lower takes Base below a level at which there is a conflict, twice as far as the
// last time.
func (s *Solver) lower(level int) {
	s.lowered = max(1, 2*s.lowered)
	s.Base = max(0, min(level-1, s.Base-s.lowered))
}

// unwatch removes watch k of a clause from its list.
func (s *Solver) unwatch(c, k int32) {
	l := s.clauses[c+litsAt+k]
	at := &s.head[l]
	for *at != c {
		j := int32(0)
		if s.clauses[*at+litsAt] != l {
			j = 1
		}
		at = &s.clauses[*at+nextAt+j]
	}
	*at = s.clauses[c+nextAt+k]
}

// learn finds the first unique implication point of a false clause with several
// literals of the current level. It adds the clause that it learns, and jumps
// back.
func (s *Solver) learn(c, top int32) {
	s.learning = append(s.learning[:0], 0)
	s.toClear = s.toClear[:0]
	open, at := 0, len(s.trail)
	for {
		if s.clauses[c+infoAt] != 0 {
			s.clauses[c+infoAt] |= isUsed
		}
		for _, x := range s.literals(c) {
			l := Lit(x)
			v := l.Var()
			if s.seen[v] != 0 || s.level[v] == 0 || s.value[l] > 0 {
				continue
			}
			s.seen[v] = 1
			s.toClear = append(s.toClear, l)
			s.bump(v)
			if s.level[v] == top {
				open++
			} else {
				s.learning = append(s.learning, l)
			}
		}
		for at--; s.seen[s.trail[at].Var()] == 0 || s.level[s.trail[at].Var()] != top; at-- {
		}
		if open--; open == 0 {
			break
		}
		c = s.reason[s.trail[at].Var()]
	}
	s.learning[0] = s.trail[at].Not()
	if !s.NoMinimizing {
		s.minimize()
	}
	for _, l := range s.toClear {
		s.seen[l.Var()] = 0
	}
	s.jump(int(top))
}

// jump adds s.learning and assigns its first literal.
func (s *Solver) jump(top int) {
	lits := s.learning
	glue := s.glue(lits)
	if len(lits) == 1 {
		s.backtrack(min(s.base(), top-1))
		s.assign(lits[0], 0, 0)
		return
	}
	for i := 2; i < len(lits); i++ {
		if s.level[lits[i].Var()] > s.level[lits[1].Var()] {
			lits[1], lits[i] = lits[i], lits[1]
		}
	}
	level := s.level[lits[1].Var()]
	s.backtrack(max(int(level), min(s.base(), top-1)))
	s.assign(lits[0], s.store(lits, isLemma|isUsed|glueOne*glue), level)
}

// seen is seenOpen during analysis, and then what minimizing has found out.
const (
	isImplied int8 = 2 // by other literals of the clause
	isNeeded  int8 = 3
)

// minimize removes the literals of s.learning that the rest implies.
func (s *Solver) minimize() {
	kept := s.learning[:1]
	for _, l := range s.learning[1:] {
		if s.reason[l.Var()] == 0 || !s.implied(l, 0) {
			kept = append(kept, l)
		}
	}
	s.learning = kept
}

// deepest is how far minimizing follows reasons.
const deepest = 100

// implied says whether a false literal follows from others in s.learning.
func (s *Solver) implied(l Lit, depth int) bool {
	for _, x := range s.literals(s.reason[l.Var()]) {
		v := Lit(x).Var()
		if v == l.Var() || s.level[v] == 0 || s.seen[v] == 1 || s.seen[v] == isImplied {
			continue
		}
		if s.seen[v] == isNeeded || s.reason[v] == 0 || depth == deepest {
			return false
		}
		mark := isNeeded
		if s.implied(Lit(x), depth+1) {
			mark = isImplied
		}
		s.seen[v] = mark
		s.toClear = append(s.toClear, Lit(x))
		if mark == isNeeded {
			return false
		}
	}
	return true
}

// glue returns how many levels the literals of a clause have.
func (s *Solver) glue(lits []Lit) int32 {
	s.stamp++
	n := int32(0)
	for _, l := range lits {
		at := s.level[l.Var()]
		for int(at) >= len(s.levels) {
			s.levels = append(s.levels, 0)
		}
		if s.levels[at] != s.stamp {
			s.levels[at] = s.stamp
			n++
		}
	}
	return n
}

// bump makes the group of a variable more active.
func (s *Solver) bump(v int32) {
	if g := s.group[v]; g != NoGroup && !s.NoActivity {
		if s.heap.bump(g, s.increase) > 1e100 {
			s.heap.rescale(1e-100)
			s.increase *= 1e-100
		}
	}
}
