package models_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// txns returns a history of transactions, one after the other.
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
		{"not tied by a read that says nothing", []string{"[[:w :x 1] [:read :y nil]]", "[[:w :y 1]]"}, "[[0] [1]]"},
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
		for _, part := range ops.Parts() {
			parts = append(parts, part.Of)
			s, own := ops.Model.Init(), part.Model.Init()
			for i, op := range part.Of {
				row, _ := slices.BinarySearch(ops.Of, op)
				if next := ops.Model.Step(nil, s, ops.Op(int32(row))); len(next) == 1 {
					s = next[0]
				}
				if next := part.Model.Step(nil, own, part.Op(int32(i))); len(next) == 1 {
					own = next[0]
				}
				if got, want := part.Model.Record(own).String(), ops.Model.Record(s).String(); got != want {
					t.Errorf("%s: the part of operation %d is in %s, want %s", c.name, op, got, want)
				}
			}
		}
		if got := fmt.Sprint(parts); got != c.want {
			t.Errorf("%s: parts %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAPartOfOneKeyIsARegister(t *testing.T) {
	const init = "{:x 7 :n nil}"
	for _, c := range []struct {
		name string
		txns []string
		want string // the same on a register; "" if it cannot be
	}{
		{"reads and writes", []string{"[[:w :x 1]]", "[[:r :x 1]]"}, "[write 1] [read 1]"},
		{"the last write and the first read count", []string{"[[:w :x 1] [:w :x 2]]", "[[:r :x 2] [:r :x 2]]"}, "[write 2] [read 2]"},
		{"a read and then a write are a cas", []string{"[[:r :x 7] [:w :x 1] [:r :x 1] [:w :x 2]]"}, "[cas 7 2]"},
		{"what it has written itself says nothing", []string{"[[:w :x 1] [:r :x 1N]]"}, "[write 1]"},
		{"nor does a read of nil", []string{"[[:read :x nil] [:w :x 1]]"}, "[write 1]"},
		{"nil where nil is at first", []string{"[[:w :n nil]]", "[[:w :n 1]]"}, "[write nil] [write 1]"},
		{"nil that is gone again", []string{"[[:w :y nil] [:w :y 1]]"}, "[write 1]"},
		{"nil where nothing is at first", []string{"[[:w :y nil]]", "[[:w :y 1]]"}, ""},
		{"a read that is not of its own write", []string{"[[:w :x 1] [:r :x 2]]"}, ""},
		{"reads of two values", []string{"[[:r :x 1] [:r :x 2]]"}, ""},
		{"two keys", []string{"[[:w :x 1] [:w :y 1]]", "[[:r :x 1]]"}, ""},
	} {
		h, err := forms.Read(strings.NewReader(txns(c.txns...)), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ops, err := models.Spec{Name: "multi-register", Init: init}.Read(h)
		if err != nil {
			t.Fatal(err)
		}
		part := ops.Parts()[0]
		single := part.Model.Traits().IsRegister
		var does []string
		for row := range models.Row(part.Len()) {
			text := func(class int32) string { return h.Values.Text(edn.ID(class)) }
			switch op := part.Op(row); op.Kind {
			case models.Read:
				does = append(does, "[read "+text(op.A)+"]")
			case models.Write:
				does = append(does, "[write "+text(op.A)+"]")
			case models.CAS:
				does = append(does, "[cas "+text(op.A)+" "+text(op.B)+"]")
			}
		}
		if got := strings.Join(does, " "); single != (c.want != "") || single && got != c.want {
			t.Errorf("%s: a register: %t, %s; want %q", c.name, single, got, c.want)
		}
		if whole := ops.Parts()[0]; !single && (whole.Model != ops.Model || !slices.Equal(whole.A, ops.A)) {
			t.Errorf("%s: its columns are not those of the whole", c.name)
		}
	}
}
