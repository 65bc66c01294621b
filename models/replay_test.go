package models_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"clew/edn"
	"clew/internal/countdown"
	"clew/jepsen"
	"clew/models"
)

func bag(t *testing.T, kinds ...models.Op) (models.Model, *models.Columns) {
	t.Helper()
	m, err := models.Spec{Name: "unordered-queue"}.Model(edn.NewValues())
	if err != nil {
		t.Fatal(err)
	}
	c := &models.Columns{}
	for i, op := range kinds {
		c.Append(int32(2*i), int32(2*i+1), op)
	}
	return m, c
}

// Only the removal of one of two values shows that an earlier removal took the other. The
// test tries both, since the state that comes first leads on in one of them.
func TestReplayPicksOneConsistentRun(t *testing.T) {
	for _, taken := range []int32{1, 2} {
		m, c := bag(t, models.Op{Kind: models.Enqueue, A: 1, B: 0}, models.Op{Kind: models.Enqueue, A: 2, B: 0}, models.Op{Kind: models.DequeueAny}, models.Op{Kind: models.Dequeue, A: taken, B: 0})
		run, err := models.Replay(m, c, []int32{0, 1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		want := []models.State{{1}, {1, 2}, {taken}, {}}
		if !slices.EqualFunc(run, want, func(a, b models.State) bool { return slices.Equal(a, b) }) {
			t.Errorf("%d is taken last: the states are %v, want %v", taken, run, want)
		}
	}
}

func TestReplaySaysWhereAndWhyItIsStuck(t *testing.T) {
	m, c := bag(t, models.Op{Kind: models.Enqueue, A: 1, B: 0}, models.Op{Kind: models.DequeueAny}, models.Op{Kind: models.DequeueAny})
	_, err := models.Replay(m, c, []int32{0, 1, 2})
	var stuck *models.ReplayError
	if !errors.As(err, &stuck) || stuck.Position != 2 || stuck.Why != "can't dequeue from empty queue" {
		t.Errorf("%v", err)
	}
}

func TestFinalIsWhatReplayEndsWith(t *testing.T) {
	m, c := bag(t, models.Op{Kind: models.Enqueue, A: 1, B: 0}, models.Op{Kind: models.Enqueue, A: 2, B: 0}, models.Op{Kind: models.Enqueue, A: 3, B: 0}, models.Op{Kind: models.DequeueAny}, models.Op{Kind: models.Dequeue, A: 1, B: 0}, models.Op{Kind: models.DequeueAny})
	for n := range c.Len() {
		order := []int32{0, 1, 2, 3, 4, 5}[:n]
		want := m.Init()
		if run, err := models.Replay(m, c, order); err != nil {
			t.Fatal(err)
		} else if n > 0 {
			want = run[n-1]
		}
		if got, err := models.Final(t.Context(), m, c, order); err != nil || !slices.Equal(got, want) {
			t.Errorf("after %d steps %v, %v; want %v", n, got, err, want)
		}
	}
	_, err := models.Final(t.Context(), m, c, []int32{0, 3, 5})
	var stuck *models.ReplayError
	if !errors.As(err, &stuck) || stuck.Position != 2 {
		t.Errorf("a step that cannot happen: %v", err)
	}
}

// A run is stuck at the first operation that cannot happen, whether it is in one state or
// in several.
func TestFinalIsStuckAtWhatCannotHappen(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		stuck int
	}{
		{"something greater is there", []string{"0 insert 1 -> 1", "0 insert 2 -> 2", "0 dequeue nil -> 1", "0 dequeue nil -> 2"}, 2},
		{"it is in neither of two states", []string{"0 insert 1 -> 1", "0 insert 1.0 -> 1.0", "1 dequeue nil -> crash", "0 dequeue nil -> 2", "0 peek nil -> 1"}, 3},
		{"neither state is empty", []string{"0 insert 1 -> 1", "0 insert 1.0 -> 1.0", "1 dequeue nil -> crash", "0 peek nil -> nil", "0 peek nil -> 1"}, 3},
	} {
		ops, err := readRun(t, models.Spec{Name: "priority-queue"}, c.lines...)
		if err != nil {
			t.Fatal(err)
		}
		order := make([]models.Row, ops.Len())
		for i := range order {
			order[i] = models.Row(i)
		}
		var stuck *models.ReplayError
		if s, err := models.Final(t.Context(), ops.Model, &ops.Columns, order); !errors.As(err, &stuck) || stuck.Position != c.stuck {
			t.Errorf("%s: %v, %v", c.name, s, err)
		}
	}
}

func TestFinalIsTheEndOfTheReplay(t *testing.T) {
	v := edn.NewValues()
	m, err := models.Spec{Name: "lookup-set", Init: "#{7 8}"}.Model(v)
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int64) int32 { return int32(v.InternInt(n)) }
	c := &models.Columns{}
	for i, op := range []models.Op{{Kind: models.Insert, A: id(9), B: 0}, {Kind: models.Remove, A: id(7), B: 0}, {Kind: models.Insert, A: id(1), B: 0}, {Kind: models.InsertPresent, A: id(8), B: 0}, {Kind: models.Remove, A: id(9), B: 0}, {Kind: models.Insert, A: id(900), B: 0}} {
		c.Append(int32(2*i), int32(2*i+1), op)
	}
	for n := range c.Len() + 1 {
		order := []int32{0, 1, 2, 3, 4, 5}[:n]
		want := m.Init()
		if run, err := models.Replay(m, c, order); err != nil {
			t.Fatal(err)
		} else if n > 0 {
			want = run[n-1]
		}
		for _, final := range map[string]func() (models.State, error){
			"a run": func() (models.State, error) { return models.Final(t.Context(), m, c, order) },
			"steps": func() (models.State, error) { return models.Final(t.Context(), stepping{m}, c, order) },
		} {
			if got, err := final(); err != nil || !slices.Equal(got, want) {
				t.Errorf("after %d steps %v, %v; want %v", n, got, err, want)
			}
		}
	}
}

// stepping is a model without runs.
type stepping struct{ models.Model }

func (m stepping) Traits() *models.Traits { return &models.Traits{} }

func TestAReplayEndsWithItsContext(t *testing.T) {
	var long, branching []models.Op
	for i := range int32(30) {
		branching = append(branching, models.Op{Kind: models.Enqueue, A: i, B: 0})
	}
	// 2^30 states in a single step, and from a run that does not know which elements were
	// taken.
	branching = append(branching, models.Op{Kind: models.DrainAny})
	owing := slices.Concat(branching[:30], []models.Op{{Kind: models.DequeueAny}, {Kind: models.DequeueAny}, {Kind: models.DrainAny}})
	for i := range int32(10_000) {
		long = append(long, models.Op{Kind: models.Enqueue, A: i, B: 0})
	}
	for name, ops := range map[string][]models.Op{"a long one": long, "one with a step of many outcomes": branching, "one with many outcomes, after debts": owing} {
		m, c := bag(t, ops...)
		order := make([]models.Row, len(ops))
		for i := range order {
			order[i] = models.Row(i)
		}
		for looks := range 5 {
			ctx := &countdown.Context{Context: t.Context(), Looks: looks}
			if _, err := models.Final(ctx, m, c, order); err != context.Canceled || ctx.After > 2 {
				t.Errorf("%s: %v, after it had been said %d times to end", name, err, ctx.After)
			}
		}
	}
	m, c := bag(t, long[:models.PollsPerLook-1]...)
	if _, err := models.Final(&countdown.Context{Context: t.Context()}, m, c, []models.Row{0, 1, 2}); err != nil {
		t.Errorf("a short one is worth its end: %v", err)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	b := jepsen.NewBuilder(jepsen.Options{})
	for i := range 1000 {
		b.Invoke(0, "write", i)
		b.OK(0, "write", i)
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	for looks := range 5 {
		ctx := &countdown.Context{Context: t.Context(), Looks: looks}
		if _, err := (models.Spec{Name: "register"}).ReadWithin(ctx, h); err != context.Canceled || ctx.After > 2 {
			t.Errorf("%v, after it had been said %d times to end", err, ctx.After)
		}
	}
}
