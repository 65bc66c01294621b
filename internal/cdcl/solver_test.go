package cdcl

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"clew/internal/effort"
)

// formulas returns how many formulas a test takes, usually and in the long mode.
func formulas(usual, long int) int {
	if !effort.Long() {
		return usual
	}
	if n, err := strconv.Atoi(os.Getenv("CLEW_LONG_HISTORIES")); err == nil {
		return min(n, long)
	}
	return long
}

// switches are the techniques: all on, each one off, and all off.
var switches = map[string]Options{
	"all":           {},
	"no restarts":   {NoRestarts: true},
	"no minimizing": {NoMinimizing: true},
	"no reducing":   {NoReducing: true},
	"no activity":   {NoActivity: true},
	"no base":       {NoBase: true},
	"none":          {NoRestarts: true, NoMinimizing: true, NoReducing: true, NoActivity: true, NoBase: true},
}

// random returns clauses of one to four literals.
func random(r *rand.Rand, vars, clauses int) [][]Lit {
	var all [][]Lit
	for range clauses {
		var c []Lit
		for _, v := range r.Perm(vars)[:min(vars, 1+r.IntN(4))] {
			c = append(c, Lit(2*v+r.IntN(2)))
		}
		if len(c) > 1 || r.IntN(4) == 0 {
			all = append(all, c)
		}
	}
	return all
}

// holds says whether an assignment, a bit for each variable, makes all clauses
// true.
func holds(clauses [][]Lit, bits uint32) bool {
	for _, c := range clauses {
		if !slices.ContainsFunc(c, func(l Lit) bool { return bits>>l.Var()&1 != uint32(l&1) }) {
			return false
		}
	}
	return true
}

// satisfiable tries every assignment.
func satisfiable(clauses [][]Lit, vars int) bool {
	for bits := range uint32(1) << vars {
		if holds(clauses, bits) {
			return true
		}
	}
	return false
}

// free is a theory that allows everything. A variable, which is its own group, gets the value that it had before.
type free struct {
	*Solver
	had map[int32]Lit
}

func (x *free) Undo(int) {}

func (x *free) Choose(g int32) (Lit, bool) {
	l, known := x.had[g]
	if !known {
		l = Neg(g)
	}
	return l, x.Value(l) == 0
}

func (x *free) Propagate() bool {
	for _, l := range x.trail {
		x.had[l.Var()] = l
	}
	return false
}

// newSolver returns a solver of a theory, which is free if it is nil.
func newSolver(theory Theory, o Options, vars int) *Solver {
	x := &free{had: map[int32]Lit{}}
	if theory == nil {
		theory = x
	}
	s := New(theory, o)
	x.Solver = s
	for range vars {
		s.NewVar(s.NewGroup())
	}
	return s
}

// solution returns what is assigned, as bits.
func (s *Solver) solution() uint32 {
	bits := uint32(0)
	for _, l := range s.trail {
		if l&1 == 0 {
			bits |= 1 << l.Var()
		}
	}
	return bits
}

// check fails the test if the solver's own order is wrong.
func (s *Solver) check(t *testing.T) {
	t.Helper()
	for i, l := range s.trail {
		v := l.Var()
		c := s.reason[v]
		if c == 0 {
			continue
		}
		highest := int32(0)
		for _, x := range s.literals(c) {
			if Lit(x) == l {
				continue
			}
			if s.value[x] >= 0 || slices.Index(s.trail, Lit(x).Not()) > i {
				t.Fatalf("%d is implied by what is not assigned before it", l)
			}
			highest = max(highest, s.level[Lit(x).Var()])
		}
		if highest != s.level[v] {
			t.Fatalf("%d has level %d, its reason %d", l, s.level[v], highest)
		}
	}
	if s.queue < len(s.trail) {
		return
	}
	for c := int32(1); c < int32(len(s.clauses)); c += litsAt + s.clauses[c] {
		free, yes := 0, false
		for _, x := range s.literals(c) {
			yes = yes || s.value[x] > 0
			if s.value[x] == 0 {
				free++
			}
		}
		if s.clauses[c+infoAt]&isDead == 0 && !yes && free < 2 {
			t.Fatalf("a clause with %d free literals was missed at a fixpoint", free)
		}
	}
}

func TestRandomFormulasAgreeWithExhaustiveSearch(t *testing.T) {
	n := formulas(1000, 300_000)
	found := [3]int{}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		vars := 3 + r.IntN(10)
		clauses := random(r, vars, vars*(2+r.IntN(4)))
		want := Unsatisfiable
		if satisfiable(clauses, vars) {
			want = Satisfiable
		}
		found[want]++
		for name, o := range switches {
			s := newSolver(nil, o, vars)
			for _, c := range clauses {
				s.AddClause(slices.Clone(c)...)
			}
			got := s.Solve()
			if got != want {
				t.Fatalf("seed %d, %s: %d, want %d of %v", seed, name, got, want, clauses)
			}
			if got == Satisfiable && !holds(clauses, s.solution()) {
				t.Fatalf("seed %d, %s: no solution of %v", seed, name, clauses)
			}
			s.check(t)
		}
	}
	t.Logf("%d satisfiable, %d not", found[Satisfiable], found[Unsatisfiable])
	if found[Satisfiable] < n/10 || found[Unsatisfiable] < n/10 {
		t.Error("one verdict is rare")
	}
}

// Usually clauses are dropped only after thousands of conflicts. Here it happens all the
// time, and the rest moves together.
func TestDroppedClausesAreNotMissed(t *testing.T) {
	first, more := firstReduce, moreReduce
	defer func() { firstReduce, moreReduce = first, more }()
	firstReduce, moreReduce = 3, 0
	found, dropped := [3]int{}, int64(0)
	for seed := range formulas(40, 5000) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		const vars = 50
		var clauses [][]Lit
		for range vars * 43 / 10 { // about half of such formulas have a solution
			p := r.Perm(vars)
			clauses = append(clauses, []Lit{Lit(2*p[0] + r.IntN(2)), Lit(2*p[1] + r.IntN(2)), Lit(2*p[2] + r.IntN(2))})
		}
		solved := func(o Options) (*Solver, int) {
			s := newSolver(nil, o, vars)
			for _, c := range clauses {
				s.AddClause(slices.Clone(c)...)
			}
			return s, int(s.Solve())
		}
		_, want := solved(Options{NoReducing: true})
		for name, o := range switches {
			s, got := solved(o)
			missed := slices.ContainsFunc(clauses, func(c []Lit) bool { return !slices.ContainsFunc(c, func(l Lit) bool { return s.value[l] > 0 }) })
			if got != want || got == int(Satisfiable) && missed {
				t.Fatalf("seed %d, %s: %d, want %d of %v", seed, name, got, want, clauses)
			}
			if s.check(t); !o.NoReducing {
				dropped += s.Conflicts - int64(len(s.learnt))
			}
			found[got]++
		}
	}
	t.Logf("%v, %d clauses dropped", found, dropped)
	if found[Satisfiable] == 0 || found[Unsatisfiable] == 0 || dropped < 1000 {
		t.Error("one verdict is rare, or few clauses are dropped")
	}
}

// Clauses and variables are added when a solution already stands, and the search may
// not go back before half of it.
func TestClausesAndVariablesCanBeAddedAtAnyLevel(t *testing.T) {
	n := formulas(500, 200_000)
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		for name, o := range switches {
			vars := 3 + r.IntN(4)
			s := newSolver(nil, o, vars)
			var all [][]Lit
			for range 8 {
				if vars < 12 && r.IntN(2) == 0 {
					vars++
					s.NewVar(s.NewGroup())
				}
				s.SetBase(r.IntN(s.Level() + 1))
				for _, c := range random(r, vars, 1+r.IntN(vars)) {
					all = append(all, c)
					s.AddClause(slices.Clone(c)...)
				}
				got := s.Solve()
				if want := satisfiable(all, vars); (got == Satisfiable) != want {
					t.Fatalf("seed %d, %s: %d, want %t of %v", seed, name, got, want, all)
				}
				if got == Unsatisfiable {
					break
				}
				s.check(t)
				if !holds(all, s.solution()) {
					t.Fatalf("seed %d, %s: no solution of %v", seed, name, all)
				}
			}
		}
	}
}

// lazy is a theory that holds clauses back until an assignment makes one false,
// or sometimes until it leaves one literal. It adds some by way of a new
// variable.
type lazy struct {
	*Solver
	r       *rand.Rand
	clauses [][]Lit
	stands  int // how much of the trail it has seen and was not told to forget
	t       *testing.T
}

func (x *lazy) Undo(n int) { x.stands = min(x.stands, n) }

func (x *lazy) Choose(g int32) (Lit, bool) {
	l := Lit(2*g + int32(x.r.IntN(2)))
	return l, x.Value(l) == 0
}

func (x *lazy) Propagate() bool {
	x.check(x.t)
	x.stands = len(x.trail)
	for _, c := range x.clauses {
		free, yes := 0, false
		for _, l := range c {
			yes = yes || x.Value(l) > 0
			if x.Value(l) == 0 {
				free++
			}
		}
		if yes || free > 1 || free == 1 && x.r.IntN(3) > 0 {
			continue
		}
		if len(c) > 2 && x.r.IntN(3) == 0 {
			// Name two of them.
			name := x.NewVar(NoGroup)
			x.AddClause(append([]Lit{Pos(name)}, c[2:]...)...)
			x.AddClause(Neg(name), c[0], c[1])
			return true
		}
		x.AddLemma(slices.Clone(c)...)
		return true
	}
	return false
}

func TestATheoryMaySpeakAtEveryFixpoint(t *testing.T) {
	n := formulas(1000, 300_000)
	found := [2]int{}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		vars := 3 + r.IntN(9)
		clauses := random(r, vars, vars*(2+r.IntN(4)))
		want := satisfiable(clauses, vars)
		for name, o := range switches {
			x := &lazy{r: r, clauses: clauses, t: t}
			x.Solver = newSolver(x, o, vars)
			for at := 0; ; at++ {
				got := x.Solve()
				if got != Satisfiable && want || got == Satisfiable && !want && at > 3 {
					t.Fatalf("seed %d, %s: %d, want %t of %v", seed, name, got, want, clauses)
				}
				if got != Satisfiable {
					found[0]++
					break
				}
				if !holds(clauses, x.solution()&(1<<vars-1)) {
					t.Fatalf("seed %d, %s: no solution of %v", seed, name, clauses)
				}
				found[1]++
				if at == 3 {
					break
				}
				x.SetBase(r.IntN(x.Level() + 1))
				x.backtrack(r.IntN(x.Level() + 1))
			}
		}
	}
	t.Logf("%d satisfiable, %d not", found[1], found[0])
}

// holes adds n+1 pigeons in n holes.
func holes(s *Solver, n int32) {
	for i := range n + 1 {
		var some []Lit
		for j := range n {
			s.NewVar(s.NewGroup())
			some = append(some, Pos(i*n+j))
		}
		s.AddClause(some...)
	}
	for j := range n {
		for i := range n + 1 {
			for k := range i {
				s.AddClause(Neg(i*n+j), Neg(k*n+j))
			}
		}
	}
}

func TestPigeonsDoNotFit(t *testing.T) {
	most := int32(6)
	if effort.Few() {
		most = 5
	}
	for name, o := range switches {
		for n := range most + 1 {
			s := newSolver(nil, o, 0)
			holes(s, n)
			if got := s.Solve(); got != Unsatisfiable {
				t.Errorf("%s, %d holes: %d", name, n, got)
			}
		}
	}
	if effort.Race {
		return // the search is in one goroutine, and takes a minute
	}
	s := newSolver(nil, Options{}, 0)
	holes(s, 8) // long enough for restarts, and for clauses to be dropped
	if got := s.Solve(); got != Unsatisfiable || s.restarts == 0 || s.Conflicts < firstReduce {
		t.Errorf("8 holes: %d after %d conflicts and %d restarts", got, s.Conflicts, s.restarts)
	}
}

func TestWhatIsLearntIsImplied(t *testing.T) {
	n := formulas(20, 5000)
	checked := 0
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		vars := 10 + r.IntN(5)
		clauses := slices.DeleteFunc(random(r, vars, vars*14), func(c []Lit) bool { return len(c) < 3 })
		for name, o := range switches {
			o.NoReducing = true
			s := newSolver(nil, o, vars)
			for _, c := range clauses {
				s.AddClause(slices.Clone(c)...)
			}
			s.Solve()
			for _, c := range s.learnt {
				with := slices.Clone(clauses)
				for _, x := range s.literals(c) {
					with = append(with, []Lit{Lit(x).Not()})
				}
				if checked++; satisfiable(with, vars) {
					t.Fatalf("seed %d, %s: %v is not implied by %v", seed, name, s.literals(c), clauses)
				}
			}
			for _, l := range s.trail {
				if s.level[l.Var()] == 0 && satisfiable(append(slices.Clone(clauses), []Lit{l.Not()}), vars) {
					t.Fatalf("seed %d, %s: %d is not implied by %v", seed, name, l, clauses)
				}
			}
		}
	}
	t.Logf("%d clauses", checked)
	if checked < n {
		t.Error("too few")
	}
}

func TestSolveStopsWhenItIsTold(t *testing.T) {
	polls := 0
	s := newSolver(nil, Options{Poll: func() bool { polls++; return polls < 3 }}, 0)
	holes(s, 12)
	if got := s.Solve(); got != Stopped || polls != 3 {
		t.Errorf("%d after %d polls", got, polls)
	}
	if s.Steps < 2*pollEvery || s.Steps > 5*pollEvery {
		t.Errorf("%d steps", s.Steps)
	}
	before := s.Bytes()
	s.Poll = func() bool { polls++; return polls < 300 }
	if got := s.Solve(); got != Stopped || s.Bytes() <= before {
		t.Errorf("%d, %d bytes, then %d", got, before, s.Bytes())
	}
}

func TestLuby(t *testing.T) {
	want := []int64{1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8}
	for i, x := range want {
		if got := luby(int64(i)); got != x {
			t.Errorf("luby(%d) is %d, want %d", i, got, x)
		}
	}
}
