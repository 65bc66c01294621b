package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/second"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

func read(t *testing.T, spec models.Spec, text string) *models.Operations {
	t.Helper()
	h, err := forms.Read(strings.NewReader(text), "", jepsen.Options{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	ops, err := spec.Read(h)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return ops
}

func TestRememberingWhereTheSearchHasBeenChangesNoAnswer(t *testing.T) {
	for _, about := range models.All() {
		model := about.Name
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			spec := models.Spec{Name: model}
			if model == "semaphore" || model == "owner-semaphore" {
				spec.Permits = 2
			}
			r := gen.Rand(7)
			for range 400 {
				text := gen.New(r, gen.Options{Model: model, Operations: 6, Permits: 2, MaxHolds: models.DefaultMaxHolds}).Text
				ops := read(t, spec, text)
				o := oracle.Options{}
				quick := oracle.Decide(ops, o)
				o.Plain = true
				plain := oracle.Decide(ops, o)
				if quick.Linearizable != plain.Linearizable || quick.Fail != plain.Fail || !slices.Equal(quick.Order, plain.Order) {
					t.Fatalf("%s%+v with memory, %+v without", text, quick, plain)
				}
			}
		})
	}
}

// op writes an event of a history.
func op(process, typ, f, value string) string {
	return "{:process " + process + " :type :" + typ + " :f :" + f + " :value " + value + "}\n"
}

func TestAnswersKnownByHand(t *testing.T) {
	for _, c := range []struct {
		name, model, text string
		fail              int32
	}{
		{"an empty history is linearizable", "register", "", -1},
		{"a read may see a write that overlaps it", "register",
			op("0", "invoke", "write", "1") + op("1", "invoke", "read", "nil") + op("1", "ok", "read", "1") + op("0", "ok", "write", "1"), -1},
		{"a read cannot see a write that begins later", "register",
			op("1", "invoke", "read", "nil") + op("1", "ok", "read", "1") + op("0", "invoke", "write", "1") + op("0", "ok", "write", "1"), 1},
		{"a crashed write may take effect late, once", "register",
			op("0", "invoke", "write", "1") + op("0", "info", "write", "1") +
				op("1", "invoke", "write", "2") + op("1", "ok", "write", "2") +
				op("1", "invoke", "read", "nil") + op("1", "ok", "read", "1") +
				op("1", "invoke", "read", "nil") + op("1", "ok", "read", "2"), 7},
		{"an open dequeue keeps the value that it will return", "fifo-queue",
			op("0", "invoke", "enqueue", "1") + op("0", "ok", "enqueue", "1") +
				op("1", "invoke", "dequeue", "nil") +
				op("2", "invoke", "dequeue", "nil") + op("2", "ok", "dequeue", ":empty") + op("1", "ok", "dequeue", "7"), 4},
		{"so does one of a bag", "unordered-queue",
			op("0", "invoke", "enqueue", "1") + op("0", "ok", "enqueue", "1") +
				op("1", "invoke", "dequeue", "nil") +
				op("2", "invoke", "dequeue", "nil") + op("2", "ok", "dequeue", ":empty") + op("1", "ok", "dequeue", "7"), 4},
		{"of strings the one whose UTF-16 units are greater comes first", "priority-queue",
			op("0", "invoke", "enqueue", `"😀"`) + op("0", "ok", "enqueue", `"😀"`) + op("0", "invoke", "enqueue", `"～"`) + op("0", "ok", "enqueue", `"～"`) +
				op("0", "invoke", "dequeue", "nil") + op("0", "ok", "dequeue", `"～"`), -1},
		{"and the other does not", "priority-queue",
			op("0", "invoke", "enqueue", `"😀"`) + op("0", "ok", "enqueue", `"😀"`) + op("0", "invoke", "enqueue", `"～"`) + op("0", "ok", "enqueue", `"～"`) +
				op("0", "invoke", "dequeue", "nil") + op("0", "ok", "dequeue", `"😀"`), 5},
		{"a double is the double that it is read as", "priority-queue",
			op("0", "invoke", "enqueue", "9007199254740993.0") + op("0", "ok", "enqueue", "9007199254740993.0") + op("0", "invoke", "enqueue", "9007199254740992") +
				op("0", "ok", "enqueue", "9007199254740992") + op("0", "invoke", "dequeue", "nil") + op("0", "ok", "dequeue", "9007199254740992"), -1},
		{"a crashed dequeue of a bag keeps the value in its invocation", "unordered-queue",
			op("0", "invoke", "enqueue", "1") + op("0", "ok", "enqueue", "1") +
				op("1", "invoke", "dequeue", "7") + op("1", "info", "dequeue", "7") +
				op("2", "invoke", "dequeue", "nil") + op("2", "ok", "dequeue", ":empty"), 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			ops := read(t, models.Spec{Name: c.model}, c.text)
			a := oracle.Decide(ops, oracle.Options{})
			if a.Fail != c.fail || a.Linearizable != (c.fail < 0) {
				t.Errorf("%+v; expected the first failure at %d", a, c.fail)
			}
			naive, err := second.Decide(c.text, second.Options{Model: c.model})
			if err != nil || naive != (c.fail < 0) {
				t.Errorf("naively linearizable: %t, %v", naive, err)
			}
		})
	}
}

// counter is a spec of a counter: kind 0 adds A, kind 1 reads A, kind 2 adds A or
// nothing.
var counter = oracle.Spec{Init: oracle.State(0), Step: func(dst []string, op models.Op, s string) []string {
	now := oracle.Number(s, 0)
	switch {
	case op.Kind != 1:
		dst = append(dst, oracle.State(now+op.A))
		if op.Kind == 2 {
			dst = append(dst, s)
		}
	case now == op.A:
		dst = append(dst, s)
	}
	return dst
}}

// TestASpecOfOnesOwn searches without a model: steps with several outcomes,
// orders, and what is wrong with an order or a core.
func TestASpecOfOnesOwn(t *testing.T) {
	c := &models.Columns{Events: 10}
	for _, r := range []struct {
		op       models.Op
		inv, res int32
	}{
		{models.Op{Kind: 0, A: 1}, 0, 4},
		{models.Op{Kind: 2, A: 2}, 1, models.Open},
		{models.Op{Kind: 1, A: 3}, 2, 3},
		{models.Op{Kind: 1, A: 1}, 5, 6},
		{models.Op{Kind: 0, A: 5}, 7, 8},
	} {
		c.Append(r.inv, r.res, r.op)
	}
	h := oracle.New(c, counter)
	if got := h.FirstFailing(); got != 6 {
		t.Errorf("it fails at %d first, not at 6", got)
	}
	if order, ok := h.Order(6, h.All()); !ok || !slices.Equal(order, []models.Row{0, 1, 2}) || h.Shows(order, 6) != nil {
		t.Errorf("%v, %t before the failure", order, ok)
	}
	before := &models.Columns{Events: 6, Inv: c.Inv[:3], Res: c.Res[:3], Kind: c.Kind[:3], A: c.A[:3], B: c.B[:3]}
	var orders [][]models.Row
	oracle.New(before, counter).Orders(func(order []models.Row) { orders = append(orders, slices.Clone(order)) })
	if len(orders) != 2 || !slices.Equal(orders[1], []models.Row{1, 0, 2}) {
		t.Errorf("orders %v", orders)
	}
	any := func(oracle.Set) bool { return true }
	values := oracle.Unions(1<<1, []oracle.Set{1 << 0, 1<<2 | 1<<3})
	for _, test := range []struct {
		name, caught string
		core         []models.Row
		closed       func(oracle.Set) bool
	}{
		{"a core", "", []models.Row{0, 1, 2, 3}, nil},
		{"one that is not minimal", "not minimal", []models.Row{0, 1, 2, 3}, any},
		{"one whose parts are no choices", "", []models.Row{0, 1, 2, 3}, oracle.Unions(1<<1, []oracle.Set{1<<0 | 1<<2 | 1<<3})},
		{"one that fails before, as a history of its own", "it fails before", []models.Row{1, 2, 3}, values},
		{"one that parts what belongs together", "not closed", []models.Row{1, 3}, values},
		{"one without what is always there", "not closed", []models.Row{2, 3}, values},
		{"one that can happen", "linearizable", []models.Row{0, 3}, any},
	} {
		err := h.Core(test.core, 6, test.closed)
		if (err == nil) != (test.caught == "") || err != nil && !strings.Contains(err.Error(), test.caught) {
			t.Errorf("%s: found %v; expected %q", test.name, err, test.caught)
		}
	}
}
