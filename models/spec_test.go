package models_test

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"clew/jepsen"
	"clew/models"
)

// longHistory returns a history of n sequential operations, with the :f's and values that f
// returns. One in every fails operations fails, and one in every crashes crashes.
func longHistory(t *testing.T, n, fails, crashes int, f func(i int) (f string, value any)) *jepsen.History {
	t.Helper()
	b := jepsen.NewBuilder(jepsen.Options{})
	for i := range n {
		name, value := f(i)
		b.Invoke(i, name, value)
		switch {
		case fails > 0 && i%fails == 1:
			b.Fail(i, name, value)
		case crashes > 0 && i%crashes == 2:
			b.Info(i, name, value)
		default:
			b.OK(i, name, value)
		}
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Operations read in two halves are the same as those read one after another.
func TestHalvesAreReadAsTheWhole(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const n = models.ManyOperations + 101
	for model, fs := range map[string][]string{
		"register": {"write", "read"}, "cas-register": {"write", "read"}, "fifo-queue": {"enqueue", "dequeue", "peek"},
		"unordered-queue": {"enqueue", "dequeue"}, "stack": {"push", "pop", "peek"}, "priority-queue": {"enqueue", "poll", "peek"},
		"lookup-set": {"insert", "contains", "remove"}, "mutex": {"acquire", "release"},
	} {
		for _, every := range [][2]int{{0, 0}, {7, 0}, {5, 3}} {
			h := longHistory(t, n, every[0], every[1], func(i int) (string, any) {
				if model == "lookup-set" {
					return fs[i%len(fs)], i%5 == 0
				}
				return fs[i%len(fs)], i / 2
			})
			read := func() *models.Operations {
				ops, err := models.Spec{Name: model}.Read(h)
				if err != nil {
					t.Fatal(model, err)
				}
				return ops
			}
			halves := read()
			runtime.GOMAXPROCS(1)
			whole := read()
			runtime.GOMAXPROCS(2)
			if !halves.Model.Traits().AnyOrder(h) {
				t.Errorf("%s is read whole", model)
			}
			if !reflect.DeepEqual(halves.Columns, whole.Columns) || !reflect.DeepEqual(halves.Of, whole.Of) {
				t.Errorf("%s, %v: two halves have %d operations, the whole has %d", model, every, halves.Len(), whole.Len())
			}
		}
	}
}

// Of several errors the first in the history counts, in either half.
func TestHalvesHaveTheFirstError(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const n = models.ManyOperations + 100
	for _, wrong := range [][]int{{10, n - 10}, {n - 10}, {n/2 + 1, n - 1}, {n/2 - 1, n / 2}} {
		h := longHistory(t, n, 0, 0, func(i int) (string, any) {
			for _, w := range wrong {
				if i == w {
					return "cas", i
				}
			}
			return "write", i
		})
		_, err := models.Spec{Name: "cas-register"}.Read(h)
		if want := fmt.Sprintf("expected [old new], found %d;", wrong[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v; want %s", wrong, err, want)
		}
	}
	h := longHistory(t, n, 0, 0, func(i int) (string, any) { return "write", i })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (models.Spec{Name: "register"}).ReadWithin(ctx, h); err != context.Canceled {
		t.Error(err)
	}
}

// Drains are listed in the order in which they are read.
func TestDrainsAreNotReadInHalves(t *testing.T) {
	for _, f := range []string{"dequeue", "drain"} {
		h := longHistory(t, 3, 0, 0, func(i int) (string, any) { return []string{"enqueue", "peek", f}[i], []any{i} })
		ops, err := models.Spec{Name: "fifo-queue"}.Read(h)
		if err != nil {
			t.Fatal(err)
		}
		if halves := ops.Model.Traits().AnyOrder(h); halves != (f != "drain") {
			t.Errorf("with a %s: halves are %v", f, halves)
		}
	}
}
