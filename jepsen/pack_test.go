package jepsen_test

import (
	"reflect"
	"strings"
	"testing"

	"clew/internal/opmap"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

// columnsOf returns everything that a packed history has.
func columnsOf(h *jepsen.History) (all []any) {
	for e := range jepsen.Event(len(h.Type)) {
		all = append(all, h.Type[e].String(), h.Values.Text(h.Processes[h.Process[e]]), h.Values.Text(h.F[e]), h.Values.Text(h.Value[e]),
			h.Values.Text(h.Key(e)), h.Index(e), h.Line(e), h.Col(e), int(h.OpOf[e]))
	}
	for op := range jepsen.Operation(h.Operations()) {
		all = append(all, h.Invocation[op], h.Completion[op], h.Status[op], h.Name(op))
	}
	return all
}

func packedAndBack(t *testing.T, p *jepsen.Packer, h *jepsen.History) {
	t.Helper()
	packed := p.Append([]byte("before"), h)[len("before"):]
	again, inWhole, err := jepsen.Unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	again.File = h.File
	if got, want := columnsOf(again), columnsOf(h); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	printer := again.OpPrinter()
	for e, in := range inWhole {
		event := jepsen.Event(e)
		shown := again.EventMap(event)
		if value, _ := shown.Get("value"); value.ID() != again.Value[e] || string(printer.AppendEvent(nil, event)) == "" {
			t.Errorf("event %d is shown as %s", e, shown)
		}
		if want := h.InWhole(jepsen.Event(e)); in != want {
			t.Errorf("event %d is %d of the whole history, want %d", e, in, want)
		}
	}
	for n := range packed {
		if _, _, err := jepsen.Unpack(packed[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken for all", n, len(packed))
		}
	}
	if _, _, err := jepsen.Unpack([]byte("{:process 0}")); err == nil {
		t.Error("an op map is taken for a packed history")
	}
}

func TestAPackedHistoryIsTheSame(t *testing.T) {
	b := jepsen.NewBuilder(jepsen.Options{File: "h.edn"})
	b.Invoke(0, "write", []any{1, 5}, jepsen.With("key", "k"))
	b.Invoke(7, "read", []any{1, nil}, jepsen.With("index", 70))
	b.Invoke(3, "add", []any{2, "x;y"})
	b.Fail(7, "read", []any{1, nil})
	b.Info(0, "write", []any{1, 5})
	b.Invoke(0, "write", []any{2, []any{1.5, true, nil}})
	b.OK(3, "add", []any{2, "x;y"}, jepsen.With("key", 3))
	built, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	timed, err := jepsen.FromIntervals([]jepsen.Interval{ // a process with two operations at once
		{Process: 1, F: "write", Input: []any{1, 1}, Call: 0, Return: 10},
		{Process: 1, F: "write", Input: []any{1, 2}, Call: 5, Return: 20},
		{Process: 1, F: "write", Input: []any{2, 2}, Call: 6, Status: jepsen.Crashed},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := jepsen.NewBuilder(jepsen.Options{File: "h.edn", AllClients: true})
	for i, line := range []int{1, 2, 3, 7, 8} { // as if read from a text, with other processes between
		v := c.Values()
		e := opmap.Event{Type: v.InternKeyword([]string{"invoke", "ok"}[i%2]), Process: v.InternString("a;b"), F: v.InternKeyword("a b"),
			Has: opmap.HasType | opmap.HasProcess | opmap.HasF | opmap.HasIndex, Index: int64(10 * i), Line: line, Col: 1 + i/3}
		if i == 2 {
			e.Process = v.InternKeyword("nemesis")
		}
		if i > 2 {
			e.Type = v.InternKeyword([]string{"ok", "invoke"}[i%2])
		}
		e.Value, _ = v.ParseLenient([]byte("[1 #<Foo>]"))
		if err := feed.Of(c).Add(&e, feed.ByProcess); err != nil {
			t.Fatal(err)
		}
	}
	read, err := c.History()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*jepsen.History{built, timed, read} {
		p := h.NewPacker()
		packedAndBack(t, p, h)
		keyed, err := h.Independent()
		if err != nil {
			t.Fatal(err)
		}
		p = keyed.Unwrapped.NewPacker()
		for row := range keyed.Keys {
			packedAndBack(t, p, keyed.History(row).History)
		}
	}
	if s := strings.Join(read.Warnings, ""); read.Skipped != 1 {
		t.Errorf("%d skipped; %s", read.Skipped, s)
	}
}
