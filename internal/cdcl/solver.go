package cdcl

// Lit is a literal: twice its variable, plus 1 if it is negated. Variables are
// numbered from 0 on.
type Lit int32

// Pos returns the literal that says v.
func Pos(v int32) Lit { return Lit(2 * v) }

// Neg returns the literal that says not v.
func Neg(v int32) Lit { return Lit(2*v + 1) }

// Not returns the opposite literal.
func (l Lit) Not() Lit { return l ^ 1 }

// Var returns the literal's variable.
func (l Lit) Var() int32 { return int32(l >> 1) }

// Theory constrains assignments beyond what the clauses say.
type Theory interface {
	// Propagate looks at what was assigned since its last call, at a fixpoint of
	// propagation: the rest of Trail. It says whether it has added anything by
	// AddClause. Then it is called again once that is propagated. If it has added
	// nothing, the assignment so far is consistent.
	Propagate() bool
	// Undo says that only the first n of Trail are unchanged. What follows them
	// was taken back, or is to be looked at again.
	Undo(n int)
	// Choose answers the question of a group: it returns an unassigned literal
	// that is to hold. ok is false if the group need not be decided. Choose is
	// called again for a group that was not decided if one of its variables gets
	// unassigned, or after Ask.
	Choose(group int32) (l Lit, ok bool)
}

// NoGroup is the group of variables that are never decided.
const NoGroup int32 = -1

// Options switch techniques off, for tests, and bound the search.
type Options struct {
	NoRestarts, NoMinimizing, NoReducing, NoActivity, NoBase bool
	// Poll, unless nil, is called every few thousand steps and says whether to go on.
	Poll func() bool
}

// Verdict is what Solve found.
type Verdict int8

// The verdicts.
const (
	Stopped Verdict = iota
	Satisfiable
	Unsatisfiable
)

// Solver is a formula and the search for its solution. Make it with New.
type Solver struct {
	Options
	// Base is the level below which jumps and restarts do not go back as long as
	// no conflict lies there.
	Base int
	// Steps is how many watches were looked at, plus conflicts met. It measures
	// the work done.
	Steps int64
	// Conflicts is how many conflicts were met.
	Conflicts int64

	theory Theory
	value  []int8  // by literal: 1 true, -1 false, 0 unassigned
	level  []int32 // by variable
	reason []int32 // by variable: the clause that implied it, or 0
	group  []int32 // by variable
	head   []int32 // by literal: the first clause that watches it, or 0
	seen   []int8  // by variable: met during analysis

	clauses []int32 // all clauses, one after another; see the constants below
	learnt  []int32 // the learnt ones
	garbage int     // how many numbers of clauses are dead
	unsat   bool
	pending []int32 // clauses that AddClause found to be false

	trail   []Lit
	control []int32 // by level, less 1: how long the trail was before it
	queue   int     // how much of the trail is propagated

	heap     heap
	increase float64 // what a bump adds to an activity
	polled   int64   // Steps when Poll was last asked
	restart  int64   // Conflicts at which to restart
	restarts int64
	reduce   int64 // Conflicts at which to drop learnt clauses
	lowered  int   // how far Base went down last

	learning, toClear []Lit
	levels            []int64 // by level: a stamp
	stamp             int64
}

// A clause is a header and its literals. The first two literals are watched.
const (
	sizeAt  = 0 // how many literals
	nextAt  = 1 // the next clause that watches the first literal, then the second
	infoAt  = 3 // 0, or if it is learnt: its glue and flags
	litsAt  = 4
	isDead  = 1
	isUsed  = 2
	isLemma = 4 // it may be dropped
	glueOne = 8
)

// New returns a formula without clauses.
func New(theory Theory, o Options) *Solver {
	return &Solver{Options: o, theory: theory, clauses: make([]int32, 1, 1024), increase: 1, restart: restartUnit, reduce: firstReduce}
}

// NewGroup returns a new group. It is to be decided as soon as it has a variable.
func (s *Solver) NewGroup() int32 { return s.heap.add() }

// NewVar returns a new variable of a group, or of NoGroup.
func (s *Solver) NewVar(group int32) int32 {
	v := int32(len(s.level))
	s.value = append(s.value, 0, 0)
	s.head = append(s.head, 0, 0)
	s.level, s.reason, s.group = append(s.level, 0), append(s.reason, 0), append(s.group, group)
	s.seen = append(s.seen, 0)
	if group != NoGroup {
		s.heap.insert(group)
	}
	return v
}

// SetBase says that everything below a level should stay unchanged if possible.
func (s *Solver) SetBase(level int) { s.Base, s.lowered = max(0, min(level, s.Level())), 0 }

// Ask makes the solver ask the question of a group again.
func (s *Solver) Ask(group int32) { s.heap.insert(group) }

// Value returns 1 if a literal is true, -1 if it is false, and 0 if it is not assigned.
func (s *Solver) Value(l Lit) int8 { return s.value[l] }

// LevelOf returns the level of an assigned literal.
func (s *Solver) LevelOf(l Lit) int32 { return s.level[l.Var()] }

// Level returns how many decisions are in force.
func (s *Solver) Level() int { return len(s.control) }

// Trail returns the assigned literals, in order.
func (s *Solver) Trail() []Lit { return s.trail }

// Vars returns how many variables there are.
func (s *Solver) Vars() int { return len(s.level) }

// Learnt returns how many learnt clauses the solver holds.
func (s *Solver) Learnt() int { return len(s.learnt) }

// Bytes returns how much memory the solver holds.
func (s *Solver) Bytes() int64 {
	return int64(cap(s.value)+cap(s.seen)) + 4*int64(cap(s.head)+cap(s.level)+cap(s.reason)+cap(s.group)+
		cap(s.clauses)+cap(s.learnt)+cap(s.trail)+cap(s.control)) + s.heap.bytes()
}

// AddClause adds a clause, at any level. Its literals must have different
// variables. If all but one are false, that one is implied, with the level of
// the others. If all are false, Solve resolves the conflict. AddClause
// overwrites lits.
func (s *Solver) AddClause(lits ...Lit) { s.add(lits, 0) }

// AddLemma adds a clause that follows from the theory. The solver may drop it,
// since the theory can say it again.
func (s *Solver) AddLemma(lits ...Lit) { s.add(lits, isLemma) }

func (s *Solver) add(lits []Lit, info int32) {
	kept := lits[:0]
	for _, l := range lits {
		if s.value[l] != 0 && s.level[l.Var()] == 0 {
			if s.value[l] > 0 {
				return
			}
			continue
		}
		kept = append(kept, l)
	}
	lits = kept
	switch len(lits) {
	case 0:
		s.unsat = true
		return
	case 1:
		l := lits[0]
		if s.value[l] != 0 {
			s.backtrack(int(s.level[l.Var()]) - 1)
		}
		s.assign(l, 0, 0)
		return
	}
	bestInFront(s, lits)
	if info != 0 {
		info |= isUsed + glueOne*s.glue(lits)
	}
	if c := s.store(lits, info); s.isFalse(c) {
		s.pending = append(s.pending, c)
	}
}

// isFalse looks at a clause that has its best literals in front. It implies the
// first one if the others are false, and says whether all are false.
func (s *Solver) isFalse(c int32) bool {
	first, second := Lit(s.clauses[c+litsAt]), Lit(s.clauses[c+litsAt+1])
	switch {
	case s.value[first] < 0:
		return true
	case s.value[second] >= 0:
	case s.value[first] == 0:
		s.assign(first, c, s.level[second.Var()])
	case s.level[first.Var()] > s.level[second.Var()]:
		// It would not be implied again once its level is taken back.
		s.backtrack(int(s.level[first.Var()]) - 1)
		s.assign(first, c, s.level[second.Var()])
	}
	return false
}

// nextPending returns a pending clause that is still false, or 0.
func (s *Solver) nextPending() int32 {
	for len(s.pending) > 0 {
		c := s.pending[len(s.pending)-1]
		s.pending = s.pending[:len(s.pending)-1]
		s.rewatch(c)
		if s.isFalse(c) {
			return c
		}
	}
	return 0
}

// bestInFront moves the two literals that are to be watched to the front. It
// prefers true ones of low levels, then unassigned ones, then false ones of high
// levels.
func bestInFront[L ~int32](s *Solver, lits []L) {
	rank := func(x L) int32 {
		l := Lit(x)
		switch v := s.value[l]; {
		case v > 0:
			return 1<<31 - 1 - s.level[l.Var()]
		case v == 0:
			return 1 << 30
		}
		return s.level[l.Var()]
	}
	for to := range 2 {
		best := to
		for i := to + 1; i < len(lits); i++ {
			if rank(lits[i]) > rank(lits[best]) {
				best = i
			}
		}
		lits[to], lits[best] = lits[best], lits[to]
	}
}

// rewatch makes a clause watch its best literals.
func (s *Solver) rewatch(c int32) {
	s.unwatch(c, 0)
	s.unwatch(c, 1)
	bestInFront(s, s.literals(c))
	s.watch(c, 0, 0)
	s.watch(c, 1, 1)
}

// store writes a clause and watches its first two literals.
func (s *Solver) store(lits []Lit, info int32) int32 {
	c := int32(len(s.clauses))
	s.clauses = append(s.clauses, int32(len(lits)), s.head[lits[0]], s.head[lits[1]], info)
	for _, l := range lits {
		s.clauses = append(s.clauses, int32(l))
	}
	s.head[lits[0]], s.head[lits[1]] = c, c
	if info != 0 {
		s.learnt = append(s.learnt, c)
	}
	return c
}

// literals returns the literals of a clause.
func (s *Solver) literals(c int32) []int32 {
	return s.clauses[c+litsAt : c+litsAt+s.clauses[c+sizeAt]]
}

// assign makes a literal true.
func (s *Solver) assign(l Lit, reason, level int32) {
	v := l.Var()
	s.value[l], s.value[l.Not()] = 1, -1
	s.level[v], s.reason[v] = level, reason
	s.trail = append(s.trail, l)
}

// backtrack takes back all literals above a level. Those of lower levels that
// were assigned later stay, and are propagated again.
func (s *Solver) backtrack(level int) {
	if level >= len(s.control) {
		return
	}
	start := int(s.control[level])
	kept := s.trail[:start]
	for _, l := range s.trail[start:] {
		v := l.Var()
		if int(s.level[v]) <= level {
			kept = append(kept, l)
			continue
		}
		s.value[l], s.value[l.Not()] = 0, 0
		s.reason[v] = 0
		if g := s.group[v]; g != NoGroup {
			s.heap.insert(g)
		}
	}
	s.trail, s.control = kept, s.control[:level]
	s.queue = min(s.queue, start)
	s.Base = min(s.Base, level)
	s.theory.Undo(start)
}
