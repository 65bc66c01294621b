package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"clew/internal/gen"
	"clew/internal/oracle"
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
			if strings.HasSuffix(model, "semaphore") {
				spec.Permits = 2
			}
			r := gen.Rand(7)
			for range 400 {
				text := gen.New(r, gen.Options{Model: model, Operations: 6, Permits: 2, MaxHolds: models.DefaultMaxHolds}).Text
				ops := read(t, spec, text)
				o := oracle.Options{Bag: model == "unordered-queue"}
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
		{"an open dequeue of a bag with empty answers does not", "unordered-queue",
			op("0", "invoke", "enqueue", "1") + op("0", "ok", "enqueue", "1") +
				op("1", "invoke", "dequeue", "nil") +
				op("2", "invoke", "dequeue", "nil") + op("2", "ok", "dequeue", ":empty") + op("1", "ok", "dequeue", "7"), 5},
		{"a crashed dequeue of a bag keeps the value in its invocation", "unordered-queue",
			op("0", "invoke", "enqueue", "1") + op("0", "ok", "enqueue", "1") +
				op("1", "invoke", "dequeue", "7") + op("1", "info", "dequeue", "7") +
				op("2", "invoke", "dequeue", "nil") + op("2", "ok", "dequeue", ":empty"), 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			ops := read(t, models.Spec{Name: c.model}, c.text)
			a := oracle.Decide(ops, oracle.Options{Bag: c.model == "unordered-queue"})
			if a.Fail != c.fail || a.Linearizable != (c.fail < 0) {
				t.Errorf("%+v; expected the first failure at %d", a, c.fail)
			}
			naive, err := oracle.Naive(c.text, oracle.NaiveOptions{Model: c.model})
			if err != nil || naive != (c.fail < 0) {
				t.Errorf("naively linearizable: %t, %v", naive, err)
			}
		})
	}
}
