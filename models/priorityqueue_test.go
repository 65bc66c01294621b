package models

import (
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/jepsen"
	"clew/jepsen/forms"
)

func parseAll(t *testing.T, v *edn.Values, texts []string) []edn.ID {
	t.Helper()
	var list []edn.ID
	for _, s := range texts {
		id, err := v.Parse([]byte(s), edn.Pos{})
		if err != nil {
			t.Fatal(s, err)
		}
		list = append(list, v.Same(id))
	}
	return list
}

func TestValuesCompareAsInClojure(t *testing.T) {
	for _, ascending := range [][]string{
		{"nil", "##-Inf", "-3", "-5/2", "-1.5", "0", "1/3", "0.5M", "1", "2N", "2.5", "1e10", "99999999999999999999N", "1e300", "##Inf"},
		{"nil", `""`, `"B"`, `"a"`, `"ab"`, `"b"`},
		{":a", ":b", ":a/a", ":a/b", ":b/a"},
		{"a", "b", "a/a"},
		{"false", "true"},
		{`\a`, `\b`},
		{"[]", "[5]", "[6]", "[nil 3]", "[0 9]", "[1 nil]", "[1 0]", "[1 :x 2]", "[1 :y 0]"},
	} {
		v := edn.NewValues()
		o, list := newOrder(v), parseAll(t, v, ascending)
		for i, x := range list {
			for j, y := range list {
				n, ok := o.compare(x, y)
				if !ok && strings.HasPrefix(ascending[i], "[1 ") {
					continue // they differ in sort somewhere
				}
				if !ok || n < 0 != (i < j) || n > 0 != (i > j) {
					t.Errorf("%s and %s compare as %d, %v", ascending[i], ascending[j], n, ok)
				}
			}
		}
	}
	v := edn.NewValues()
	o := newOrder(v)
	for _, equal := range [][2]string{{"1", "1.0"}, {"1", "1.00M"}, {"1/2", "0.5"}, {"[1 2]", "[1.0 2N]"}, {"0.0", "-0.0"}} {
		list := parseAll(t, v, equal[:])
		if n, ok := o.compare(list[0], list[1]); n != 0 || !ok {
			t.Errorf("%s and %s compare as %d, %v", equal[0], equal[1], n, ok)
		}
	}
	for _, pair := range [][2]string{{"1", `"1"`}, {":a", "a"}, {"true", "1"}, {"#{1}", "#{1}"}, {"{}", "{}"}, {"[1]", "[:a]"}, {"##NaN", "1"}} {
		list := parseAll(t, v, pair[:])
		if n, ok := o.compare(list[0], list[1]); ok {
			t.Errorf("%s and %s compare as %d", pair[0], pair[1], n)
		}
	}
}

// readPriority reads inserts of values, one after the other.
func readPriority(t *testing.T, s Spec, values ...string) (*Operations, error) {
	t.Helper()
	var text strings.Builder
	for _, v := range values {
		text.WriteString("{:process 0, :type :invoke, :f :insert, :value " + v + "}\n{:process 0, :type :ok, :f :insert, :value " + v + "}\n")
	}
	h, err := forms.Read(strings.NewReader(text.String()), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Name = "priority-queue"
	return s.Read(h)
}

func TestRanksHaveNoGaps(t *testing.T) {
	values := []string{"7", "3.0", "100", "3", "7"}
	for priority, want := range map[string][]int32{"": {1, 0, 2, 0, 1}, "max": {1, 0, 2, 0, 1}, "min": {1, 2, 0, 2, 1}} {
		ops, err := readPriority(t, Spec{Priority: priority}, values...)
		if err != nil || !slices.Equal(ops.B, want) {
			t.Errorf("%q: %v, %v; want %v", priority, ops, err, want)
		}
	}
}

func TestPrioritiesOfDifferentSorts(t *testing.T) {
	_, err := readPriority(t, Spec{}, "1", "2", ":a", "3")
	if err == nil || !strings.Contains(err.Error(), "h.edn:5") && !strings.Contains(err.Error(), "h.edn:6") ||
		!strings.Contains(err.Error(), ":a") {
		t.Error(err)
	}
	if _, err = readPriority(t, Spec{}, "#{1}"); err == nil {
		t.Error("a set has a priority")
	}
	if _, err = readPriority(t, Spec{Priority: "best"}, "1"); err == nil {
		t.Error("--priority best")
	}
	if err := (Spec{Name: "stack", Priority: "min"}).Check(); err == nil {
		t.Error("a stack with a priority")
	}
}
