package models

import (
	"errors"
	"slices"
	"testing"

	"clew/edn"
)

func queue(t *testing.T, kinds ...Op) (Model, *Columns) {
	t.Helper()
	m, err := newUnorderedQueue(Spec{Name: "unordered-queue"}, edn.NewValues(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &Columns{}
	for i, op := range kinds {
		c.Append(int32(2*i), int32(2*i+1), op)
	}
	return m, c
}

func TestReplayPicksOneConsistentRun(t *testing.T) {
	m, c := queue(t, Op{Enqueue, 1, 0}, Op{Enqueue, 2, 0}, Op{Kind: DequeueAny}, Op{Dequeue, 1, 0})
	run, err := Replay(m, c, []int32{0, 1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	want := []State{{1}, {1, 2}, {1}, {}}
	for i := range want {
		if !slices.Equal(run[i], want[i]) {
			t.Errorf("after %d steps %v, want %v", i+1, run[i], want[i])
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
