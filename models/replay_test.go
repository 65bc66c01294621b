package models

import (
	"context"
	"errors"
	"slices"
	"testing"

	"clew/edn"
	"clew/internal/ending"
	"clew/jepsen"
)

func queue(t *testing.T, kinds ...Op) (Model, *Columns) {
	t.Helper()
	m, err := newUnorderedQueue(&Binding{Spec: Spec{Name: "unordered-queue"}, v: edn.NewValues()})
	if err != nil {
		t.Fatal(err)
	}
	c := &Columns{}
	for i, op := range kinds {
		c.Append(int32(2*i), int32(2*i+1), op)
	}
	return m, c
}

// Only the removal of one of two values shows that an earlier removal took the other. The
// test tries both, since the state that comes first leads on in one of them.
func TestReplayPicksOneConsistentRun(t *testing.T) {
	for _, taken := range []int32{1, 2} {
		m, c := queue(t, Op{Enqueue, 1, 0}, Op{Enqueue, 2, 0}, Op{Kind: DequeueAny}, Op{Dequeue, taken, 0})
		run, err := Replay(m, c, []int32{0, 1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		want := []State{{1}, {1, 2}, {taken}, {}}
		if !slices.EqualFunc(run, want, func(a, b State) bool { return slices.Equal(a, b) }) {
			t.Errorf("%d is taken last: the states are %v, want %v", taken, run, want)
		}
	}
}

func TestReplaySaysWhereAndWhyItIsStuck(t *testing.T) {
	m, c := queue(t, Op{Enqueue, 1, 0}, Op{Kind: DequeueAny}, Op{Kind: DequeueAny})
	_, err := Replay(m, c, []int32{0, 1, 2})
	var stuck *ReplayError
	if !errors.As(err, &stuck) || stuck.Position != 2 || stuck.Why != "can't dequeue from empty queue" {
		t.Errorf("%v", err)
	}
}

func TestFinalIsWhatReplayEndsWith(t *testing.T) {
	m, c := queue(t, Op{Enqueue, 1, 0}, Op{Enqueue, 2, 0}, Op{Enqueue, 3, 0}, Op{Kind: DequeueAny}, Op{Dequeue, 1, 0}, Op{Kind: DequeueAny})
	for n := range c.Len() {
		order := []int32{0, 1, 2, 3, 4, 5}[:n]
		want := m.Init()
		if run, err := Replay(m, c, order); err != nil {
			t.Fatal(err)
		} else if n > 0 {
			want = run[n-1]
		}
		if got, err := Final(t.Context(), m, c, order); err != nil || !slices.Equal(got, want) {
			t.Errorf("after %d steps %v, %v; want %v", n, got, err, want)
		}
	}
	_, err := Final(t.Context(), m, c, []int32{0, 3, 5})
	var stuck *ReplayError
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
		ops, err := readRun(t, Spec{Name: "priority-queue"}, c.lines...)
		if err != nil {
			t.Fatal(err)
		}
		order := make([]Row, ops.Len())
		for i := range order {
			order[i] = Row(i)
		}
		var stuck *ReplayError
		if s, err := Final(t.Context(), ops.Model, &ops.Columns, order); !errors.As(err, &stuck) || stuck.Position != c.stuck {
			t.Errorf("%s: %v, %v", c.name, s, err)
		}
	}
}

func TestFinalsOfPartsJoinToTheFinalOfTheWhole(t *testing.T) {
	v := edn.NewValues()
	init, err := v.Parse([]byte("#{7 8}"), edn.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := newLookupSet(&Binding{v: v, init: &init})
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int64) int32 { return int32(v.InternInt(n)) }
	c := &Columns{}
	for i, op := range []Op{{Insert, id(9), 0}, {Remove, id(7), 0}, {Insert, id(1), 0}, {InsertPresent, id(8), 0}, {Remove, id(9), 0}, {Insert, id(900), 0}} {
		c.Append(int32(2*i), int32(2*i+1), op)
	}
	for n := range c.Len() + 1 {
		order := []int32{0, 1, 2, 3, 4, 5}[:n]
		want := m.Init()
		if run, err := Replay(m, c, order); err != nil {
			t.Fatal(err)
		} else if n > 0 {
			want = run[n-1]
		}
		for _, final := range map[string]func() (State, error){
			"a run": func() (State, error) { return Final(t.Context(), m, c, order) },
			"parts": func() (State, error) { return Final(t.Context(), apart{m}, c, order) },
			"both parts": func() (State, error) {
				return FinalOf(t.Context(), m, []*Columns{c, c}, [][]Row{order[:n/2], order[n/2:]})
			},
		} {
			if got, err := final(); err != nil || !slices.Equal(got, want) {
				t.Errorf("after %d steps %v, %v; want %v", n, got, err, want)
			}
		}
	}
}

// apart is a model with parts and without runs.
type apart struct{ Model }

func (m apart) Traits() *Traits { return &Traits{Partition: m.Model.Traits().Partition} }

func TestAReplayEndsWithItsContext(t *testing.T) {
	var long, branching []Op
	for i := range int32(30) {
		branching = append(branching, Op{Enqueue, i, 0})
	}
	// 2^30 states in a single step, and from a run that does not know which elements were
	// taken.
	branching = append(branching, Op{Kind: DrainAny})
	owing := slices.Concat(branching[:30], []Op{{Kind: DequeueAny}, {Kind: DequeueAny}, {Kind: DrainAny}})
	for i := range int32(10_000) {
		long = append(long, Op{Enqueue, i, 0})
	}
	for name, ops := range map[string][]Op{"a long one": long, "one with a step of many outcomes": branching, "likewise, after debts": owing} {
		m, c := queue(t, ops...)
		order := make([]Row, len(ops))
		for i := range order {
			order[i] = Row(i)
		}
		for looks := range 5 {
			ctx := &ending.Context{Context: t.Context(), Looks: looks}
			if _, err := Final(ctx, m, c, order); err != context.Canceled || ctx.After > 2 {
				t.Errorf("%s: %v, after it had been said %d times to end", name, err, ctx.After)
			}
		}
	}
	m, c := queue(t, long[:pollsPerLook-1]...)
	if _, err := Final(&ending.Context{Context: t.Context()}, m, c, []Row{0, 1, 2}); err != nil {
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
		ctx := &ending.Context{Context: t.Context(), Looks: looks}
		if _, err := (Spec{Name: "register"}).ReadWithin(ctx, h); err != context.Canceled || ctx.After > 2 {
			t.Errorf("%v, after it had been said %d times to end", err, ctx.After)
		}
	}
}
