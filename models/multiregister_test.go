package models_test

import (
	"fmt"
	"strings"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// txns is a history of transactions, one after the other.
func txns(values ...string) string {
	var b strings.Builder
	for _, value := range values {
		fmt.Fprintf(&b, "{:process 0 :type :invoke :f :txn :value %s}\n{:process 0 :type :ok :f :txn :value %s}\n", value, value)
	}
	return b.String()
}

func TestKeysOfATransactionAreInOnePart(t *testing.T) {
	for _, c := range []struct {
		name string
		txns []string
		want string // the operations of each part
	}{
		{"keys of their own", []string{"[[:w :x 1]]", "[[:w :y 1]]", "[[:r :x 1]]"}, "[[0 2] [1]]"},
		{"tied directly", []string{"[[:w :x 1]]", "[[:w :y 1]]", "[[:r :y 1] [:w :x 2]]"}, "[[0 1 2]]"},
		{"tied through others, whatever the order",
			[]string{"[[:w :a 1]]", "[[:w :b 1]]", "[[:w :c 1]]", "[[:w :d 1]]", "[[:w :d 1] [:w :c 1]]", "[[:w :c 1] [:w :b 1]]", "[[:w :e 1]]"},
			"[[0] [1 2 3 4 5] [6]]"},
		{"not tied by a read that says nothing", []string{"[[:w :x 1] [:r :y nil]]", "[[:w :y 1]]"}, "[[0] [1]]"},
	} {
		h, err := forms.Read(strings.NewReader(txns(c.txns...)), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ops, err := models.Spec{Name: "multi-register", Init: "{:x 7 :z 9}"}.Read(h)
		if err != nil {
			t.Fatal(err)
		}
		var parts [][]jepsen.Operation
		var finals []models.State
		for _, part := range ops.Parts() {
			parts = append(parts, part.Of)
			s := part.Model.Init()
			for i := range part.Of {
				if next := part.Model.Step(nil, s, part.Op(int32(i))); len(next) == 1 {
					s = next[0]
				}
			}
			finals = append(finals, s)
		}
		if got := fmt.Sprint(parts); got != c.want {
			t.Errorf("%s: parts %s, want %s", c.name, got, c.want)
		}
		// The parts' states are the whole's.
		s := ops.Model.Init()
		for i := range ops.Of {
			if next := ops.Model.Step(nil, s, ops.Op(int32(i))); len(next) == 1 {
				s = next[0]
			}
		}
		joined := ops.Model.(models.Partitioner).Join(finals)
		if fmt.Sprint(joined) != fmt.Sprint(s) {
			t.Errorf("%s: joined %v, want %v", c.name, joined, s)
		}
	}
}
