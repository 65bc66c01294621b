package jepsen_test

import (
	"testing"

	"clew/edn"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

func TestTimedOpsAreTheWholeHistory(t *testing.T) {
	b := jepsen.NewBuilder(jepsen.Options{})
	v := b.Values()
	three, read := v.InternInt(3), v.InternKeyword("read")
	ops := feed.TimedOps{Order: []int32{2, 0, 3, 1}, Process: []edn.ID{three, three}, Method: []int32{0, 0}, Methods: []feed.TimedMethod{{F: read}},
		Value: []edn.ID{three, edn.Nil}, Line: []int32{7, 9}, Col: []int32{1, 4}}
	if added, err := feed.Of(b).AddTimedOps(t.Context(), &ops); added || err != nil {
		t.Errorf("a process with two open operations: %t, %v", added, err)
	}
	ops.Process = nil
	if added, err := feed.Of(b).AddTimedOps(t.Context(), &ops); !added || err != nil {
		t.Errorf("two processes: %t, %v", added, err)
	}
	h, err := b.History()
	if err != nil || h.Operations() != 2 || h.Op(0).String() != "process 1's :read (index 2)" || h.Line(0) != 9 || h.Col(2) != 4 || h.Col(3) != 1 || h.Op(1).String() != "process 0's :read 3 (index 3)" {
		t.Errorf("%v, %v, %v", h.Op(0), h.Op(1), err)
	}
	if added, err := feed.Of(b).AddTimedOps(t.Context(), &ops); added || err == nil {
		t.Errorf("once more: %t, %v", added, err)
	}
	b = jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, "read", nil)
	if added, err := feed.Of(b).AddTimedOps(t.Context(), &ops); added || err == nil {
		t.Errorf("after an event: %t, %v", added, err)
	}
}
