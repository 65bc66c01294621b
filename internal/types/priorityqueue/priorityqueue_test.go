package priorityqueue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
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
		{`\newline`, `\a`, `\b`, `\é`, `\uff5e`},
		{`"a"`, `"😀"`, `"\ude00"`, `"\uff5e"`},
		{":a", ":😀", ":～", ":😀/a", ":～/a"},
		{"/", "a", "a/a"},
		{`#inst "1582"`, `#inst "2020-01-01T00:00:00+00:01"`, `#inst "2020"`, `#inst "2020-01-01T00:00:00.001"`},
		{`#uuid "f0000000-0-0-0-0"`, `#uuid "1-1-1-f000-0"`, `#uuid "1-1-1-1-1"`},
		{"9007199254740990.0", "9007199254740991", "9007199254740992.0", "9007199254740994.0"},
		{"[]", "[5]", "[6]", "[nil 3]", "[0 9]", "[1 nil]", "[1 0]", "[1 :x 2]", "[1 :y 0]"},
	} {
		v := edn.NewValues()
		o, list := newOrder(v), parseAll(t, v, ascending)
		for i, x := range list {
			for j, y := range list {
				n, ok := o.compare(x, y)
				if !ok && strings.HasPrefix(ascending[i], "[1 ") {
					continue // their sorts differ somewhere
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
	for _, pair := range [][2]string{{"1", `"1"`}, {":a", "a"}, {"true", "1"}, {"#{1}", "#{1}"}, {"{}", "{}"}, {"[1]", "[:a]"}, {"##NaN", "1"}, {"[1]", "(2)"},
		{`#inst "2020"`, `#uuid "1-1-1-1-1"`}, {`#inst "2020"`, `"2020"`}, {"\"\xff\"", `"a"`}} {
		list := parseAll(t, v, pair[:])
		if n, ok := o.compare(list[0], list[1]); ok {
			t.Errorf("%s and %s compare as %d", pair[0], pair[1], n)
		}
	}
}

// Clojure compares doubles with other numbers as doubles, and cannot compare a decimal with
// 1/3. Values have an order only if that agrees with their exact order.
func TestNumbersThatClojureDoesNotOrderAreAnError(t *testing.T) {
	for _, c := range []struct{ values, found string }{
		{"9007199254740993 9007199254740992.0", "9007199254740993 and 9007199254740992.0"},
		{"9007199254740993 9007199254740993.0", "9007199254740993 and 9007199254740993.0"},
		{"9007199254740992 9007199254740992.0 9007199254740993", "9007199254740993 and 9007199254740992.0"},
		{"9007199254740992 9007199254740992.0 9007199254740994", ""},
		{"9007199254740993 9007199254740994.0", ""},
		{"1/3 0.5M", "0.5M and 1/3"},
		{"1/4 0.5M 1/3 0.3", "0.5M and 1/3"},
		{"1/3 0.3333333333333333", "1/3 and 0.3333333333333333"},
		{"0.1M 0.1", "0.1M and 0.1"},
		{"0.5M 0.5 1/2", ""},
		{"2469135780246913/2 1234567890123456.5", "2469135780246913/2 and 1234567890123456.5"},
		{"1e400M ##Inf", "1e400M and ##Inf"},
		{"1e400M 1e308 0.0", ""},
		{"[1 9007199254740993] [1.0 9007199254740992.0]", "[1 9007199254740993] and [1.0 9007199254740992.0]"},
		{"[9007199254740992 0] [9007199254740992.0 1] [9007199254740993 -1]", "[9007199254740993 -1] and [9007199254740992.0 1]"},
		{"[1 9007199254740993] [2 9007199254740992.0]", ""},
		{"1e5000M 1", "1 and 1e5000M"},
	} {
		v := edn.NewValues()
		items, err := v.ParseAll([]byte(c.values), edn.Pos{})
		if err != nil {
			t.Fatal(err)
		}
		var values []int32
		for _, x := range items {
			values = append(values, int32(v.Same(x)))
		}
		_, x, y, ok := newOrder(v).sorted(values)
		found := ""
		if !ok {
			found = v.Text(edn.ID(x)) + " and " + v.Text(edn.ID(y))
		}
		if found != c.found {
			t.Errorf("%s: without an order are %q, want %q", c.values, found, c.found)
		}
	}
}

// randomValue returns the text of a number or, rarely, of another value. Numbers are close
// to each other, or to where floating point numbers have gaps, or far away.
func randomValue(r *rand.Rand, odd float64) string {
	if r.Float64() < odd {
		return []string{"nil", "##Inf", "##-Inf", "##NaN", `"a"`, ":b", "[1 2]", "1e400M", "-1e400M", "1e2000000M"}[r.IntN(10)]
	}
	n := []int64{0, 1 << 53, 1 << 62, -1 << 53, math.MaxInt64 - 50, math.MinInt64}[r.IntN(6)] + r.Int64N(50)
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("%dN", n)
	case 1:
		return fmt.Sprintf("%d.%dM", n/8, r.IntN(3))
	case 2:
		return fmt.Sprintf("%d/%d", n, 2+r.IntN(3))
	case 3:
		return fmt.Sprintf("%g", float64(n)/float64(1+r.IntN(4)))
	case 4:
		return fmt.Sprintf("%d0000000000%d", n, r.IntN(9))
	case 5:
		return []string{"0.0", "-0.0", "5e-324", "1e-400M", "-1e-400M", "1.7976931348623157e308", "0.1", "1/10", "0.1M"}[r.IntN(9)]
	}
	return fmt.Sprint(n)
}

// TestSortedByKeys compares the order by keys with the one by comparisons.
func TestSortedByKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 3))
	byKey := 0
	for round := range 400 {
		v := edn.NewValues()
		n, odd := r.IntN(40), []float64{0, 0, 0.02}[r.IntN(3)]
		if round%20 == 0 {
			n = 5000 // enough to be sorted by digits
		}
		var texts []string
		for range n {
			if round%4 == 0 {
				texts = append(texts, fmt.Sprint(r.Int64()>>r.IntN(64)-1<<r.IntN(62)))
			} else {
				texts = append(texts, randomValue(r, odd))
			}
		}
		values := make([]int32, 0, n)
		for _, x := range parseAll(t, v, texts) {
			values = append(values, int32(x))
		}
		slices.Sort(values)
		values = slices.Compact(values)
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		o := newOrder(v)
		if _, ok := o.keys(values); ok {
			byKey++
		}
		want, wantX, wantY, wantOK := newOrder(v).compared(slices.Clone(values))
		got, x, y, ok := o.sorted(values)
		if !slices.Equal(got, want) || x != wantX || y != wantY || ok != wantOK {
			t.Fatalf("round %d: %v of %q: sorted as %v (%v), by comparisons %v (%v)", round, values, texts, got, ok, want, wantOK)
		}
	}
	if byKey < 200 {
		t.Errorf("only %d lists were sorted by keys", byKey)
	}
}

// readPriority reads inserts of values, one after the other.
func readPriority(t *testing.T, s models.Spec, values ...string) (*models.Operations, error) {
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
	for _, values := range [][]string{{"7", "3.0", "100", "3", "7"}, {"[7]", "[3.0]", "[100]", "[3]", "[7]"}} {
		ranksHaveNoGaps(t, values)
	}
}

// ranksHaveNoGaps ranks 7, 3, 100, 3 in another form, and 7 again.
func ranksHaveNoGaps(t *testing.T, values []string) {
	t.Helper()
	for priority, want := range map[string][]int32{"": {1, 0, 2, 0, 1}, "max": {1, 0, 2, 0, 1}, "min": {1, 2, 0, 2, 1}} {
		ops, err := readPriority(t, models.Spec{Priority: priority}, values...)
		if err != nil || !slices.Equal(ops.B, want) {
			t.Errorf("%q: %v, %v; want %v", priority, ops, err, want)
		}
	}
}

// TestRanksOfFarClasses has the values of one key among many: their classes lie far apart.
func TestRanksOfFarClasses(t *testing.T) {
	for _, apart := range []int{0, 1, 100} {
		v := edn.NewValues()
		r, err := models.Spec{Name: "priority-queue"}.Model(v)
		if err != nil {
			t.Fatal(err)
		}
		q := r.(*priorityQueue)
		var c models.Columns
		for i, n := range []int64{70, 30, 1000, 30} {
			for range apart {
				v.InternString(strings.Repeat("x", v.Len()))
			}
			c.Append(int32(i), models.Open, models.Op{Kind: models.Enqueue, A: int32(v.Same(v.InternInt(n)))})
		}
		c.Append(4, models.Open, models.Op{Kind: models.DequeueAny})
		if _, err := q.finish(&c); err != nil || !slices.Equal(c.B, []int32{1, 0, 2, 0, 0}) {
			t.Errorf("%d apart: %v, %v", apart, c.B, err)
		}
		if rank := q.rank(c.A[3] + 1000); rank != -1 {
			t.Errorf("a value of another history has rank %d", rank)
		}
	}
}

func TestPrioritiesOfDifferentSorts(t *testing.T) {
	_, err := readPriority(t, models.Spec{}, "1", "2", ":a", "3")
	if err == nil || !strings.Contains(err.Error(), "h.edn:5") && !strings.Contains(err.Error(), "h.edn:6") ||
		!strings.Contains(err.Error(), ":a") {
		t.Error(err)
	}
	if _, err = readPriority(t, models.Spec{}, "#{1}"); err == nil || !strings.Contains(err.Error(), "expected a value that can be ordered, found #{1};") {
		t.Errorf("a set has a priority: %v", err)
	}
	if _, err = readPriority(t, models.Spec{Priority: "best"}, "1"); err == nil {
		t.Error("--priority best")
	}
	if err := (models.Spec{Name: "stack", Priority: "min"}).Check(); err == nil {
		t.Error("a stack with a priority")
	}
}

// The registry of all data types imports this package.
func init() { models.Register(&priorityQueueDefinition) }
