package models_test

import (
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

func TestStacksAndPriorityQueuesReadAsQueuesDo(t *testing.T) {
	for _, test := range []struct{ model, add, remove string }{
		{"fifo-queue", "enqueue", "dequeue"}, {"stack", "push", "pop"},
		{"priority-queue", "enqueue", "poll"}, {"priority-queue", "insert", "dequeue"},
	} {
		text := `{:process 0, :type :invoke, :f :add, :value 7}
{:process 0, :type :ok, :f :add, :value 7}
{:process 1, :type :invoke, :f :remove}
{:process 2, :type :invoke, :f :remove, :value 7}
{:process 3, :type :invoke, :f :remove}
{:process 3, :type :ok, :f :remove, :value 7}
{:process 3, :type :invoke, :f :remove}
{:process 3, :type :ok, :f :remove, :value :empty}
{:process 3, :type :invoke, :f :peek}
{:process 3, :type :ok, :f :peek}
{:process 3, :type :invoke, :f :peek}
{:process 3, :type :ok, :f :peek, :value 7}
{:process 4, :type :invoke, :f :peek}
`
		text = strings.NewReplacer(":f :add", ":f :"+test.add, ":f :remove", ":f :"+test.remove).Replace(text)
		h, err := forms.Read(strings.NewReader(text), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ops, err := models.Spec{Name: test.model}.Read(h)
		if err != nil {
			t.Fatal(err)
		}
		if want := []models.Kind{models.Push, models.PopAny, models.Pop, models.Pop, models.PopEmpty, models.PopEmpty, models.Peek}; !slices.Equal(ops.Kind, want) {
			t.Errorf("%s: %v, want %v", test.model, ops.Kind, want)
		}
		for _, bad := range []string{":drain, :value [1]", ":" + test.add + ", :value nil"} {
			if test.model == "fifo-queue" && strings.HasPrefix(bad, ":drain") {
				continue
			}
			h, err := forms.Read(strings.NewReader("{:process 0, :type :invoke, :f "+bad+"}"), "h.edn", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := (models.Spec{Name: test.model}).Read(h); err == nil {
				t.Errorf("%s reads %s", test.model, bad)
			}
		}
	}
}

func TestStepsOfStacksAndPriorityQueues(t *testing.T) {
	for _, test := range []struct {
		model, state string
		op           models.Op
		want         string // the states that it leads to, or why it leads to none
	}{
		{"stack", "[1 2]", models.Op{Kind: models.Push, A: 3}, "[1 2 3]"},
		{"stack", "[1 2]", models.Op{Kind: models.Pop, A: 2}, "[1]"},
		{"stack", "[1 2]", models.Op{Kind: models.Pop, A: 1}, "can't pop 1"},
		{"stack", "[]", models.Op{Kind: models.Pop, A: 1}, "can't pop 1 from empty stack"},
		{"stack", "[1 2]", models.Op{Kind: models.PopAny}, "[1]"},
		{"stack", "[]", models.Op{Kind: models.PopAny}, "can't pop from empty stack"},
		{"stack", "[1 2]", models.Op{Kind: models.Peek, A: 2}, "[1 2]"},
		{"stack", "[1 2]", models.Op{Kind: models.Peek, A: 1}, "can't peek 1"},
		{"stack", "[1]", models.Op{Kind: models.PopEmpty}, "not empty: [1]"},
		{"stack", "[]", models.Op{Kind: models.PopEmpty}, "[]"},
		{"priority-queue", "[3 1]", models.Op{Kind: models.Enqueue, A: 2}, "[3 2 1]"},
		{"priority-queue", "[3 2]", models.Op{Kind: models.Dequeue, A: 3}, "[2]"},
		{"priority-queue", "[3 2]", models.Op{Kind: models.Dequeue, A: 2}, "can't dequeue 2"},
		{"priority-queue", "[3 2]", models.Op{Kind: models.Peek, A: 3}, "[3 2]"},
		{"priority-queue", "[3 2]", models.Op{Kind: models.DequeueAny}, "[2]"},
		{"priority-queue", "[]", models.Op{Kind: models.DequeueEmpty}, "[]"},
		{"priority-queue", "[1]", models.Op{Kind: models.DequeueEmpty}, "not empty: [1]"},
	} {
		v := edn.NewValues()
		for n := int64(1); n <= 3; n++ {
			v.InternInt(n)
		}
		class := func(n int32) int32 { return int32(v.Same(v.InternInt(int64(n)))) }
		d, _, err := models.Spec{Name: test.model, Init: test.state}.Bind(v)
		if err != nil {
			t.Fatal(err)
		}
		c := &models.Columns{}
		for n := int32(1); n <= 3; n++ {
			c.Append(2*n, 2*n+1, models.Op{Kind: models.Enqueue, A: class(n)})
		}
		finish(t, d, c)
		op := test.op
		if op.A != 0 {
			op.A = class(op.A)
		}
		var got []string
		for _, s := range d.Step(nil, d.Init(), op) {
			got = append(got, v.Text(v.InternVector(home.IDs(s))))
		}
		if got == nil {
			got = []string{d.Why(d.Init(), op)}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s %s, %v: %s, want %s", test.model, test.state, test.op, s, test.want)
		}
	}
}

func TestEqualPrioritiesTakeAnyOfThem(t *testing.T) {
	v := edn.NewValues()
	d, _, err := models.Spec{Name: "priority-queue", Init: "[0 2 2.0 2]"}.Bind(v)
	if err != nil {
		t.Fatal(err)
	}
	c := &models.Columns{}
	c.Append(0, 1, models.Op{Kind: models.Dequeue, A: int32(v.Same(v.InternInt(2)))})
	if finish(t, d, c); c.B[0] != 1 {
		t.Fatal(c.B)
	}
	if next := d.Step(nil, d.Init(), models.Op{Kind: models.DequeueAny}); len(next) != 2 {
		t.Errorf("%v", next)
	}
	if text := d.Record(d.Init()).String(); text != "#clew.model.PriorityQueue{:items [2 2 2.0 0]}" {
		t.Error(text)
	}
}
