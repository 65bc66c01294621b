package models_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"clew/internal/types/javaqueue"
	"clew/models"
)

func TestMethodsOfAJavaQueue(t *testing.T) {
	for _, test := range []struct {
		name, init string
		lines      []string
		want       string // the final state, or ! and why the last operation cannot happen
	}{
		{"first in, first out", "", []string{"0 offer 1 -> true", "0 addAll [2 1] -> true", "0 peek nil -> 1", "0 poll nil -> 1", "0 poll nil -> 2"}, "[1]"},
		{"nothing in an empty one", "", []string{"0 poll nil -> nil", "0 peek nil -> nil", "0 isEmpty nil -> true", "0 size nil -> 0"}, "[]"},
		{"poll has to take the first", "[1 2]", []string{"0 poll nil -> 2"}, "!poll can't return 2 from [1 2]"},
		{"poll has to find it", "[1]", []string{"0 poll nil -> nil"}, "!poll can't return nil from [1]"},
		{"offer never fails", "", []string{"0 offer 1 -> false"}, "!offer can't return false from []"},
		{"size", "[1 1]", []string{"0 size nil -> 1"}, "!size can't return 1 from [1 1]"},
		{"isEmpty", "[1 1]", []string{"0 isEmpty nil -> true"}, "!isEmpty can't return true from [1 1]"},
		{"clear", "[1 1]", []string{"0 clear nil -> :done"}, "[]"},
		{"contains", "[1 nil]", nil, "java-queue's Spec.Init: expected an element, found nil, which a java.util.Queue does not hold"},
		{"contains one", "[1]", []string{"0 contains 1 -> true", "0 contains 2 -> true"}, "!contains can't return true from [1]"},
		{"remove takes the first one", "[1 2 1]", []string{"0 remove 1 -> true", "0 remove 3 -> false"}, "[2 1]"},
		{"remove finds nothing", "[1]", []string{"0 remove 2 -> true"}, "!remove can't return true from [1]"},
		{"addAll of nothing changes nothing", "[1]", []string{"0 addAll [] -> false"}, "[1]"},
		{"containsAll", "[1 2]", []string{"0 containsAll [2 1 2] -> true", "0 containsAll [1 3] -> true"}, "!containsAll can't return true from [1 2]"},
		{"containsAll of nothing", "", []string{"0 containsAll [] -> true"}, "[]"},
		{"removeAll", "[1 2 1 3]", []string{"0 removeAll [1 3] -> true", "0 removeAll [1] -> false"}, "[2]"},
		{"retainAll", "[1 2 1 3]", []string{"0 retainAll #{1} -> true", "0 retainAll [1 2] -> false"}, "[1 1]"},
		{"toArray", "[1 2]", []string{"0 toArray nil -> (1 2)", "0 toArray nil -> [2 1]"}, "!toArray can't return [2 1] from [1 2]"},
		{"toString", `[1N "a, b" :c -7 true]`, []string{`0 toString nil -> "[1, a, b, :c, -7, true]"`, `0 toString nil -> "[1]"`}, `!toString can't return "[1]" from [1N "a, b" :c -7 true]`},
		{"toString of nothing", "", []string{`0 toString nil -> "[]"`}, "[]"},
		{"a crashed poll takes the first or nothing", "[1]", []string{"0 poll nil -> crash", "1 poll nil -> crash", "2 poll nil -> nil"}, "[]"},
		{"a crashed operation may answer anything", "[1]", []string{"0 remove 2 -> crash", "1 addAll [3] -> crash", "2 retainAll [3] -> crash"}, "[3]"},
		{"its collection is needed", "", []string{"0 addAll 3 -> true"}, "expected [v ..], a collection of elements, in the invocation, found 3"},
		{"its answer is needed", "", []string{"0 contains 3 -> 3"}, "expected true or false, found 3"},
		{"size is a number", "", []string{"0 size nil -> 1.0"}, "expected a number of elements, found 1.0"},
		{"toArray is an array", "", []string{"0 toArray nil -> 1.0"}, "expected [v ..], the elements in order, found 1.0"},
		{"toString is a string", "", []string{"0 toString nil -> [1]"}, `expected a string such as "[1, 2]", found [1]`},
		{"it is not known how a list prints", "", []string{"0 offer (1) -> true", `0 toString nil -> "[[1]]"`}, "expected elements that are integers, strings, keywords, symbols or booleans, found (1) among them"},
		{"nil is no element", "", []string{"0 offer nil -> true"}, "expected an element, found nil"},
		{"there are other methods", "", []string{"0 take nil -> 1"}, "does not know :f :take"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ops, err := readRun(t, models.Spec{Name: "java-queue", Init: test.init}, test.lines...)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %s", err, test.want)
				}
				return
			}
			order := make([]int32, ops.Len())
			for i := range order {
				order[i] = int32(i)
			}
			states, err := models.Replay(ops.Model, &ops.Columns, order)
			got, want := "", "#clew.model.JavaQueue{:items "+test.want+"}"
			var stuck *models.ReplayError
			if errors.As(err, &stuck) {
				got, want = "!"+stuck.Why, test.want
				if stuck.Position != len(order)-1 {
					t.Errorf("stuck at %d", stuck.Position)
				}
			} else {
				got = ops.Model.Record(states[len(states)-1]).String()
			}
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestReadingMethodsThatCrashAreDropped: nothing saw what they answered.
func TestReadingMethodsThatCrashAreDropped(t *testing.T) {
	for _, f := range javaqueue.Fs {
		argument := "1"
		if strings.HasSuffix(f, "All") {
			argument = "[1]"
		}
		ops, err := readRun(t, models.Spec{Name: "java-queue"}, "0 "+f+" "+argument+" -> crash")
		if err != nil {
			t.Fatal(err)
		}
		changes := slices.Contains([]string{"offer", "poll", "clear", "remove", "addAll", "removeAll", "retainAll"}, f)
		if (ops.Len() == 1) != changes {
			t.Errorf("%s: %d operations", f, ops.Len())
		}
	}
}
