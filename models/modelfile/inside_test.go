package modelfile

import (
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"clew/edn"
)

// Operators are calls in a model file, and do the same as in Starlark.
func TestOperatorsAreStarlarks(t *testing.T) {
	for _, expr := range []string{
		`1 + 2 * 3 - 4 // 5 % 6`, `7 / 2`, `-7 // 2`, `-7 % 3`, `6 & 3 | 8 ^ 1`, `1 << 70 >> 68`, `~5`, `+5`, `10000000000000000000000 * 3`,
		`"a" + "b"`, `"ab" * 3`, `3 * "ab"`, `[1] + [2]`, `[1, 2] * 2`, `2 * (1, 2)`, `(1,) + (2,)`, `"%s and %d" % ("x", 3)`, `"%r" % "x"`, `"x" * -1`, `[1] * 0`,
		`{"a": 1} | {"b": 2}`, `set([1, 2]) | set([3])`, `set([1, 2]) & set([2])`, `set([1, 2]) - set([2])`, `set([1, 2]) ^ set([2])`,
		`1 == 1.0`, `[1, [2]] == [1, [2]]`, `(1, 2) < (1, 3)`, `"a" <= "b"`, `2 > 1`, `2 >= 2`, `1 != 2`, `None == None`, `1 in [1, 2]`, `3 not in [1, 2]`, `"b" in "abc"`, `"k" in {"k": 1}`,
		`not 1 == 2 and 3 or 4`, `1 if 2 < 3 else 4`, `[x * 2 for x in range(5) if x % 2 == 1]`, `{x: x + 1 for x in [1, 2]}`, `(lambda x, y = 1 + 1: x + y)(3)`, `[1, 2, 3, 4][1 + 0:3]`, `"abc"[-1]`,
		`",".join(["a", "b"])`, `"a-b".replace("-", "+")`, `"a-b-c".replace("-", "+", 1)`, `"{} {x}".format(1, x = 2)`, `set([1]).union([2])`, `sorted([3, 1, 2], reverse = 1 == 1)`, `str([1, "x"])`, `repr("x")`, `list(range(1, 7, 2))`, `dict([("a", 1)], b = 1 + 1)`,
		`len("a" + "b") + max(1, 2)`, `[a + b for a, b in zip([1, 2], [3, 4])]`, `(1 + 2) * 3`, `type("" + "")`, `str(1 + 1.5)`, `getattr`,
	} {
		check(t, "x = "+expr)
	}
	for _, body := range []string{
		"x = 1\n    x += 2\n    x -= 5\n    x *= 3\n    x //= 2\n    x %= 7\n    x <<= 2\n    x >>= 1\n    x |= 8\n    x &= 12\n    x ^= 5\n    x /= 2",
		"y = [1]\n    x = y\n    x += [2]\n    x += (3,)\n    x = (x, y)",
		"y = {1: 2}\n    x = y\n    x |= {3: 4}\n    x = (x, y)",
		"x = {1: [0]}\n    x[1][0] += 5\n    x[1] += [2]\n    x[2 - 1][0] -= 1",
		"x = set([1])\n    x |= set([2])",
		"x = 'a'\n    x += 'b'\n    x %= ()",
		"x = []\n    for i in range(3):\n        if i == 1:\n            continue\n        x.append(i + 1)\n    x.extend([7] * 2)",
		"x = {}\n    x.update({1: 2}, a = 3)\n    x.update([(4, 5)])",
		"a, (b, c) = 1, (2, 3)\n    x = [a + b, c]",
		"x = [0, 0]\n    x[1 - 1], x[1] = 3 + 4, 5",
		"x = 1 + None", "x = [] + ()", "x = 'a' % 1", "x = {} + {}", "x = 1 // 0", "x = 1 << -1", "x = [1] < ['a']", "x = 1 in 2", "x = 3\n    x += 'a'", "x = 'a'.join(1)", "x = (1).union",
	} {
		check(t, "def f():\n    "+body+"\n    return x\nx = f()")
	}
}

// check compares x in a text with x in Starlark, or the errors.
func check(t *testing.T, text string) {
	t.Helper()
	say := func(globals starlark.StringDict, err error) string {
		if err != nil {
			_, msg, _ := strings.Cut(err.Error(), "in f: ")
			return "error: " + strings.TrimPrefix(msg, "error: ")
		}
		return globals["x"].String()
	}
	f := &File{path: "x.star"}
	got := say(f.run([]byte(text)))
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{Set: true}, &starlark.Thread{}, "x.star", text, nil)
	if err != nil {
		err = fmt.Errorf("in f: %w", err)
	}
	if want := say(globals, err); got != want {
		t.Errorf("%s\n%s, want %s", text, got, want)
	}
}

// value returns the value of an expression.
func value(t testing.TB, expr string) starlark.Value {
	t.Helper()
	f := &File{path: "x.star"}
	globals, err := f.run([]byte("x = " + expr))
	if err != nil {
		t.Fatal(err)
	}
	return globals["x"]
}

// A value that would be too large is refused before it is made, however large the numbers.
func TestProductsAreBounded(t *testing.T) {
	for _, expr := range []string{
		`"ab" * (1 << 20)`, `"ab" * (1 << 62)`, `(1 << 62) * "ab"`, `[1, 2, 3] * (1 << 61)`, `(1, 2) * (1 << 63)`, `"ab" * (1 << 64)`, `"" * (1 << 64)`,
		`b"ab" * (1 << 62)`,
	} {
		if _, err := (&File{path: "x.star"}).run([]byte("x = " + expr)); err == nil || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: %v", expr, err)
		}
	}
	// This holds wherever it stands.
	for _, place := range []string{
		`X`, `(X)`, `[X]`, `(1, X)`, `{1: X}`, `{X: 1}`, `len(X)`, `dict(b = X)`, `dict(**{"b": X})`, `max(*[X])`, `(X)[0]`, `[1][X]`, `[1][X:]`, `[1][:X]`, `[1][::X]`,
		`[X for i in [1]]`, `[i for i in X]`, `[i for i in [1] if X]`, `{i: X for i in [1]}`, `{X: i for i in [1]}`, `X if 1 else 2`, `1 if X else 2`, `1 if 0 else X`,
		`(lambda y = X: y)()`, `(lambda: X)()`, `not X`, `(X).upper()`, `X == 1`, `1 and X`, `"%s" % X`, `1 in X`, `str(X)`, `(X).join(["a", "b"])`,
	} {
		if _, err := (&File{path: "x.star"}).run([]byte("x = " + strings.Replace(place, "X", `"ab" * (1 << 62)`, 1))); err == nil || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: %v", place, err)
		}
	}
	for _, body := range []string{
		"x = X", "x, y = 1, X", "return X", "if X: pass", "for i in X: pass", "for i in [1]: return X", "len(X)", "x = [1]\n    x[X] = 1", "x = [1]\n    x[0] = X", "x = ''\n    x += X", "x = 'ab'\n    x *= 1 << 62",
		"if 0: pass\n    elif X: pass", "if 0: pass\n    else: return X", "def g(y = X): return y", "def g(): return X\n    return g()",
	} {
		if _, err := (&File{path: "x.star"}).run([]byte("def f():\n    " + strings.Replace(body, "X", `"ab" * (1 << 62)`, 1) + "\n    return None\nx = f()")); err == nil || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, expr := range []string{`-5 * [1]`, `"ab" * (1 << 19)`, `0 * "ab"`} {
		if _, err := (&File{path: "x.star"}).run([]byte("x = " + expr)); err != nil {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

// The value that stands for no state is false, like None, and the one that stands for
// several is true.
func TestWhatStandsForNoStateIsFalse(t *testing.T) {
	if got := value(t, `[inconsistent("no") or 5, one_of([0]) and 6, 7 if crashed else 8]`).String(); got != "[5, 6, 7]" {
		t.Errorf("it is %s", got)
	}
}

func TestEqualValuesHaveOneNumber(t *testing.T) {
	table := newTable()
	number := func(expr string) int32 {
		n, err := table.intern(value(t, expr), nil, 0)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		if got, err := starlark.Equal(table.value(n), value(t, expr)); err != nil || !got {
			t.Errorf("%s comes back as %v, %v", expr, table.value(n), err)
		}
		return n
	}
	seen := map[int32]string{}
	for _, equal := range [][]string{
		{`None`}, {`True`}, {`False`}, {`0`}, {`1`, `2 - 1`}, {`1 << 80`, `(1 << 79) * 2`}, {`1.5`, `3 / 2`}, {`""`}, {`"1"`}, {`keyword("1")`},
		{`[]`}, {`()`}, {`{}`}, {`set()`}, {`[1, 2]`, `[1] + [2]`}, {`(1, 2)`}, {`[2, 1]`}, {`[[1], 2]`}, {`[1, [2]]`}, {`[[1, 2]]`},
		{`{1: 2, "a": [3]}`, `{"a": [3], 1: 2}`}, {`{1: [3], "a": 2}`}, {`[1, 2, "a", [3]]`}, {`set([3, 1, 2])`, `set([1, 2, 3])`}, {`[1, 2, 3]`},
		{`{(1, "a"): None, (0, "b"): None}`, `{(0, "b"): None, (1, "a"): None}`}, {`{None: 1}`}, {`{True: 1}`}, {`[None]`}, {`[False]`},
	} {
		n := number(equal[0])
		if other, taken := seen[n]; taken {
			t.Errorf("%s has the number of %s", equal[0], other)
		}
		seen[n] = equal[0]
		for _, same := range equal[1:] {
			if number(same) != n {
				t.Errorf("%s and %s have different numbers", equal[0], same)
			}
		}
	}
	// A dict comes back in canonical order, in whatever order it was filled.
	n := number(`{"b": 1, "a": 2, 3: 4, None: 5}`)
	if got := table.value(n).String(); got != `{None: 5, 3: 4, "a": 2, "b": 1}` {
		t.Errorf("the dict comes back as %s", got)
	}
}

// Lists that grow out of one another share their elements but stay separate.
func TestListsThatGrow(t *testing.T) {
	for _, pure := range []bool{true, false} {
		table := newTable()
		start, err := table.intern(value(t, "[0]"), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		grow := func(n int32, with string) int32 {
			grown := growth{}
			sum, err := table.sum(table.value(n).(*starlark.List), value(t, with).(*starlark.List), grown, pure)
			if err != nil {
				t.Fatal(err)
			}
			if !pure && with == "[9]" {
				if err := sum.(*starlark.List).SetIndex(0, starlark.String("changed")); err != nil {
					t.Fatal(err)
				}
			}
			to, err := table.intern(sum, grown, 0)
			if err != nil {
				t.Fatal(err)
			}
			return to
		}
		one := grow(start, "[1]")
		other := grow(start, "[2]")
		both := grow(one, "[2, {4: 5}]")
		again := grow(grow(start, "[1]"), "[2]")
		for n, want := range map[int32]string{start: "[0]", one: "[0, 1]", other: "[0, 2]", both: "[0, 1, 2, {4: 5}]", again: "[0, 1, 2]"} {
			if got := table.value(n).String(); got != want {
				t.Errorf("%t: %s, want %s", pure, got, want)
			}
		}
		if !pure {
			if got := table.value(grow(start, "[9]")).String(); got != `["changed", 9]` {
				t.Errorf("a list that was changed is %s", got)
			}
		}
		n := start
		for i := range 5000 {
			if n = grow(n, "[7]"); i%1000 == 0 {
				grow(n, "[8]")
			}
		}
		if len(table.nodes) > 5100 {
			t.Errorf("%d nodes for a list of 5,000", len(table.nodes))
		}
		if list := table.value(n).(*starlark.List); list.Len() != 5001 || list.Index(5000) != starlark.MakeInt(7) {
			t.Errorf("it ends as %d elements", list.Len())
		}
	}
}

// Values that are not held any more come back.
func TestTheRoomForValuesIsBounded(t *testing.T) {
	table := newTable()
	table.room = 1000
	var numbers []int32
	for i := range 200 {
		n, err := table.intern(value(t, fmt.Sprintf(`[%d] * 30 + [{"a": [%d]}]`, i, i)), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		table.value(n)
		numbers = append(numbers, n)
	}
	if len(table.held) > 100 {
		t.Errorf("%d values are held", len(table.held))
	}
	for i, n := range numbers {
		if got, want := table.value(n).(*starlark.List).Index(30).String(), fmt.Sprintf(`{"a": [%d]}`, i); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestValuesOfHistories(t *testing.T) {
	for _, c := range []struct{ edn, star, back string }{
		{`nil`, `None`, `nil`},
		{`true`, `True`, `true`},
		{`12`, `12`, `12`},
		{`12N`, `12`, `12`},
		{`123456789012345678901234567890`, `123456789012345678901234567890`, `123456789012345678901234567890N`},
		{`1.5`, `1.5`, `1.5`},
		{`"a"`, `"a"`, `"a"`},
		{`:a/b`, `"a/b"`, `:a/b`},
		{`[1 (2 [])]`, `[1, [2, []]]`, `[1 [2 []]]`},
		{`#{3 1 [2]}`, `set([1, 3, (2,)])`, `#{1 3 [2]}`},
		{`{:b 1, "a" [2], nil 3}`, `{None: 3, "a": [2], "b": 1}`, `{nil 3, "a" [2], :b 1}`},
		{`{[1 2] 3}`, `{(1, 2): 3}`, `[[[1 2] 3]]`},
		{`1/2`, `1/2`, `1/2`},
		{`\a`, `\a`, `\a`},
		{`1.0M`, `1.0M`, `1.0M`},
		{`sym`, `sym`, `sym`},
		{`#x/y [1]`, `#x/y [1]`, `#x/y [1]`},
		{`#{#{1}}`, `set([#{1}])`, `#{#{1}}`},
		{`#{{1 2}}`, `set([{1 2}])`, `#{{1 2}}`},
	} {
		table := edn.NewValues()
		id, err := table.Parse([]byte(c.edn), edn.Pos{})
		if err != nil {
			t.Fatal(err)
		}
		values := newValues(false)
		v, err := values.read(table.Value(id))
		if err != nil {
			t.Errorf("%s: %v", c.edn, err)
			continue
		}
		if v.String() != c.star {
			t.Errorf("%s is %s, want %s", c.edn, v, c.star)
		}
		back, err := table.From(values.plain(v))
		if err != nil {
			t.Errorf("%s: %v", c.edn, err)
			continue
		}
		want, err := table.Parse([]byte(c.back), edn.Pos{})
		if err != nil {
			t.Fatal(err)
		}
		if back.Class() != table.Value(want).Class() {
			t.Errorf("%s comes back as %v, want %s", c.edn, back, c.back)
		}
	}
	// NaN equals nothing; opaque values equal what they equal in Clojure.
	table := edn.NewValues()
	ids, err := table.ParseAll([]byte(`##NaN ##NaN 1/2 2/4 \a`), edn.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	values := newValues(false)
	var all []starlark.Value
	for _, id := range ids {
		v, err := values.read(table.Value(id))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	for i := range all {
		for j := range all {
			equal, err := starlark.Equal(all[i], all[j])
			if want := i == j || i+j == 5 && i*j == 6; err != nil || equal != want {
				t.Errorf("%v == %v: %t, %v", all[i], all[j], equal, err)
			}
		}
	}
}
