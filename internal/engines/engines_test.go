package engines

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines/configs"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// The oracle judges small histories. Small histories have missed unsound pruning
// before. So here the engines judge each other on longer ones, a third of them
// at the boundary at which a single crashed operation decides.

// rivals are the engines that decide every history, with the work that each may
// do. A decision past its limit counts as undecided.
var rivals = func() []rival {
	all := []rival{{auto, easyFirst{}, nil, patience}}
	for _, e := range All() {
		switch r := (rival{e.Name, e.New(0), e.Suits, patience}); {
		case e.OnlyWitnesses:
		case e.Name == "porcupine":
			r.patience /= 4
			fallthrough
		default:
			all = append(all, r)
		}
	}
	return all
}()

// rival is an engine under a name.
type rival struct {
	name     string
	engine   fallback.Engine
	only     func(models.Model) bool // nil: it decides any model
	patience int64
}

func (r rival) suits(m models.Model) bool { return r.only == nil || r.only(m) }

const (
	patience      = enginetest.WorkPerSecond / 10
	rivalMemory   = 64 << 20
	longestRival  = 2000 // operations
	shortestRival = 20
)

func (r rival) decide(ops *models.Operations) fallback.Answer {
	return enginetest.Bounded{Engine: r.engine, Work: r.patience}.Decide(context.Background(), ops, fallback.Limits{Memory: models.NewMemory(rivalMemory)})
}

// maimed returns the two searches with some of their rules switched off, chosen
// by the number of the history.
func maimed(n int) []rival {
	names := []string{"no eager reads", "no canonical order", "no domination", "no guide", "no forgetting", "no needs", "no rule on"}
	name := names[n%len(names)]
	return []rival{
		{"window, " + name, configs.Window{Rules: enginetest.Switches[name]}, nil, patience / 8},
		{"frontier, " + name, configs.Frontier{Rules: enginetest.Switches[name]}, nil, patience / 8},
	}
}

// judge decides the boundaries.
func judge(ops *models.Operations) jepsen.Verdict { return rivals[0].decide(ops).Verdict }

// contest counts how the histories of one source were decided.
type contest struct {
	histories, valid, invalid int
	single                    int            // were decided by one engine only
	cores                     int            // were decided again by another engine
	boundaries                int            // between linearizable and not
	undecided                 map[string]int // by engine
}

func newContest() *contest { return &contest{undecided: map[string]int{}} }

// decide lets all engines decide a history. It says where they contradict each
// other, or where the evidence does not show the verdict.
func (c *contest) decide(ops *models.Operations, engines []rival) (jepsen.Verdict, error) {
	var answers []fallback.Answer
	var by []rival
	for _, r := range engines {
		if !r.suits(ops.Model) {
			continue
		}
		a := r.decide(ops)
		if a.Verdict == jepsen.Unknown {
			c.undecided[r.name]++
			continue
		}
		if err := enginetest.Shows(ops, a); err != nil {
			return 0, fmt.Errorf("%s: %w", r.name, err)
		}
		answers, by = append(answers, a), append(by, r)
	}
	c.histories++
	if len(answers) < 2 {
		c.single++
	}
	if len(answers) == 0 {
		return jepsen.Unknown, nil
	}
	a := answers[0]
	for i, b := range answers {
		if a.Verdict != b.Verdict || a.Verdict == jepsen.Invalid && a.FailEvent != b.FailEvent {
			return 0, fmt.Errorf("%s says %d (event %d), %s %d (event %d)", by[0].name, a.Verdict, a.FailEvent, by[i].name, b.Verdict, b.FailEvent)
		}
	}
	if a.Verdict == jepsen.Valid {
		c.valid++
		return jepsen.Valid, nil
	}
	c.invalid++
	return jepsen.Invalid, c.core(ops, a, by)
}

// core lets the other engines decide the core that one engine finds.
func (c *contest) core(ops *models.Operations, a fallback.Answer, by []rival) error {
	finder := by[(c.invalid)%len(by)]
	bounded := enginetest.Bounded{Engine: finder.engine, Work: patience}
	rows := fallback.Core(context.Background(), bounded, ops, a.FailEvent, fallback.Limits{Memory: models.NewMemory(rivalMemory)})
	if failing := int32(slices.Index(ops.Res, a.FailEvent)); !slices.Contains(rows, failing) {
		return fmt.Errorf("the core of %s lacks the failing operation", finder.name)
	}
	core := ops.Alone(rows, a.FailEvent)
	for _, r := range by {
		if r.name == finder.name {
			continue
		}
		switch r.decide(core.Operations).Verdict {
		case jepsen.Valid:
			return fmt.Errorf("the core of %s is linearizable, says %s", finder.name, r.name)
		case jepsen.Invalid:
			c.cores++
			return nil
		}
	}
	return nil
}

// source makes histories of a model. init is the initial value, or "" for the
// model's default.
type source struct {
	name string
	spec models.Spec
	text func(r *rand.Rand) (text, init string)
}

// operations returns a history, by the parts of the model.
func (s source) operations(t *testing.T, r *rand.Rand) []*models.Operations {
	t.Helper()
	text, init := s.text(r)
	h, err := forms.Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.spec.Init = init
	ops, err := s.spec.Read(h)
	if err != nil {
		t.Fatal(err)
	}
	return ops.Parts()
}

// sources returns gen's short histories made longer, which have everything that
// histories can have, and its long ones, with an exact number of crashes.
func sources() []source {
	var all []source
	for _, about := range models.All() {
		spec := models.Spec{Name: about.Name}
		switch spec.Name {
		case "semaphore", "owner-semaphore":
			spec.Permits = 3
		case "reentrant-mutex", "reentrant-fenced-mutex":
			spec.MaxHolds = 2
		}
		all = append(all, source{spec.Name, spec, func(r *rand.Rand) (string, string) { return mixed(r, spec) }})
	}
	for _, model := range []string{"register", "cas-register", "multi-register", "lookup-set", "fifo-queue", "unordered-queue", "priority-queue", "kv"} {
		all = append(all, source{"long " + model, models.Spec{Name: model}, func(r *rand.Rand) (string, string) { return runLong(r, model), "" }})
	}
	return all
}

// crashCounts are about how many operations of a history crash.
var crashCounts = []int{0, 2, 5, 10, 20, 40}

// size returns a number of operations. Every order of magnitude has the same chance.
func size(r *rand.Rand) int {
	return int(shortestRival * math.Pow(longestRival/shortestRival, r.Float64()))
}

func mixed(r *rand.Rand, spec models.Spec) (text, init string) {
	n := size(r)
	o := gen.Options{Model: spec.Name, Operations: n, Processes: 2 + r.IntN(7), Values: 2 + r.IntN(3), Init: true,
		Permits: spec.Permits, MaxHolds: spec.MaxHolds}
	o.Crashes = (float64(crashCounts[r.IntN(len(crashCounts))]) + 0.1) / float64(n)
	for {
		// A history that is random throughout fails at its beginning.
		if h := gen.New(r, o); h.Way != gen.Guess {
			return h.Text, h.Init
		}
	}
}

func runLong(r *rand.Rand, model string) string {
	n, most := size(r), 9
	if model == "multi-register" || strings.HasSuffix(model, "queue") {
		n, most = min(n, 100), 4 // these have many states, and are hard to decide
	}
	o := gen.LongOptions{Model: model, Operations: n, Processes: 2 + r.IntN(most), Values: 2 + r.IntN(4), Keys: 2 + r.IntN(2),
		Crashed: min(crashCounts[r.IntN(len(crashCounts))], n/10), At: 0.2 + 0.8*r.Float64(), Seed: r.Uint64()}
	o.Kind = [...]gen.LongKind{gen.Linearizable, gen.Linearizable, gen.StaleRead, gen.LostWrite, gen.ImpossibleRead}[r.IntN(5)]
	if strings.HasSuffix(model, "queue") && o.Kind != gen.Linearizable {
		o.Kind = [...]gen.LongKind{gen.ImpossibleRead, gen.WrongAnswer}[r.IntN(2)]
	}
	if model == "kv" {
		o.Appends, o.Keys = true, 1
		o.Kind = [...]gen.LongKind{gen.Linearizable, gen.WrongAnswer}[r.IntN(2)]
	}
	var b strings.Builder
	if _, err := gen.Long(&b, o); err != nil {
		panic(err)
	}
	return b.String()
}

func TestEnginesAgreeWithEachOtherUpToTwoThousandOperations(t *testing.T) {
	n := int(effort.Histories(6, uint64(20_000/len(sources()))))
	if effort.Few() {
		n = 2
	}
	for s, source := range sources() {
		if !effort.Takes(s) {
			continue
		}
		t.Run(source.name, func(t *testing.T) {
			c := newContest()
			// A few histories may all have the same verdict.
			for i := 0; i < n || i < 60 && (c.valid == 0 || c.invalid == 0); i++ {
				r := gen.Rand(uint64(1_000_000*s + i))
				engines := append(slices.Clone(rivals), maimed(i)...)
				if where := fmt.Sprintf("history %d", i); i%3 > 0 || !c.meetAtBoundary(t, r, source, engines, where) {
					c.meet(t, source.operations(t, r), jepsen.Unknown, engines, where)
				}
			}
			t.Logf("%d histories: %d valid, %d invalid, %d boundaries, %d cores decided again, %d decided by less than two engines; undecided: %v",
				c.histories, c.valid, c.invalid, c.boundaries, c.cores, c.single, c.undecided)
			if c.valid == 0 || c.invalid == 0 || 4*c.single > 3*c.histories {
				t.Error("that tells too little")
			}
		})
	}
}

// boundaryTries is how many histories are tried for one with a boundary.
const boundaryTries = 20

// meetAtBoundary lets the engines decide both sides of a boundary, and says
// whether it found one.
func (c *contest) meetAtBoundary(t *testing.T, r *rand.Rand, s source, engines []rival, where string) bool {
	t.Helper()
	for range boundaryTries {
		for _, part := range s.operations(t, r) {
			if with, without, ok := testops.Boundary(r, part, judge); ok {
				c.boundaries++
				c.meet(t, []*models.Operations{with}, jepsen.Valid, engines, where+" with the deciding crash")
				c.meet(t, []*models.Operations{without}, jepsen.Invalid, engines, where+" without the deciding crash")
				return true
			}
		}
	}
	return false
}

// meet lets the engines decide the parts of a history. want is the verdict,
// where known.
func (c *contest) meet(t *testing.T, parts []*models.Operations, want jepsen.Verdict, engines []rival, where string) {
	t.Helper()
	for _, ops := range parts {
		v, err := c.decide(ops, engines)
		if err == nil && want != jepsen.Unknown && v != jepsen.Unknown && v != want {
			err = fmt.Errorf("the engines say %d, and the bisection %d", v, want)
		}
		if err == nil {
			continue
		}
		small := testops.Shrink(ops, func(ops *models.Operations) bool {
			_, err := newContest().decide(ops, engines)
			return err != nil
		})
		t.Fatalf("%s, %d operations: %v; smaller:\n%s", where, ops.Len(), err, testops.Text(small))
	}
}

// liar answers as Window does, except for one lie.
type liar struct {
	lie func(a *fallback.Answer, ops *models.Operations)
}

func (liar) Name() string { return "liar" }

func (l liar) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	a := configs.Window{}.Decide(ctx, ops, lim)
	l.lie(&a, ops)
	return a
}

func TestTheContestCatchesALiar(t *testing.T) {
	for _, c := range []struct {
		name, caught string
		lie          func(a *fallback.Answer, ops *models.Operations)
	}{
		{"one that never finds a failure", "missing", func(a *fallback.Answer, ops *models.Operations) { a.Verdict = jepsen.Valid }},
		{"one that fails everything at the end", "(event", func(a *fallback.Answer, ops *models.Operations) {
			if ends := fallback.Completions(ops); len(ends) > 0 {
				a.Verdict, a.FailEvent = jepsen.Invalid, ends[len(ends)-1]
			}
		}},
		{"one whose order is no linearization", "before", func(a *fallback.Answer, ops *models.Operations) { slices.Reverse(a.Order) }},
		{"one that leaves out the last", "missing", func(a *fallback.Answer, ops *models.Operations) {
			last := len(a.Order) - 1
			for last > 0 && ops.Res[a.Order[last]] == models.Open {
				last-- // no operation needs it
			}
			a.Order = a.Order[:max(0, last)]
		}},
		{"one that repeats the first", "twice", func(a *fallback.Answer, ops *models.Operations) {
			if len(a.Order) > 0 {
				a.Order = append(a.Order, a.Order[0])
			}
		}},
		{"one that fails what is linearizable, for its cores", "linearizable", func(a *fallback.Answer, ops *models.Operations) {
			if ends := fallback.Completions(ops); a.Verdict == jepsen.Valid && len(ends) > 0 && ops.Len() < 20 {
				a.Verdict, a.FailEvent = jepsen.Invalid, ends[len(ends)-1]
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			caught := 0
			for seed := range uint64(150) {
				ops, _ := testops.Generated(t, models.Spec{Name: "cas-register"}, gen.Options{Operations: 60}, seed)
				// Twice, so that the core is the liar's in one of them.
				contest := newContest()
				for range 2 {
					_, err := contest.decide(ops, []rival{rivals[1], {"liar", liar{c.lie}, nil, patience}})
					if err != nil && strings.Contains(err.Error(), c.caught) {
						caught++
					}
				}
			}
			t.Logf("caught %d times in 300", caught)
			if caught < 5 {
				t.Errorf("caught %d times in 300 only", caught)
			}
		})
	}
}
