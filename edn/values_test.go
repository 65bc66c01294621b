package edn

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clew/internal/fuzzing"
)

func parse(tb testing.TB, v *Values, text string) ID {
	tb.Helper()
	id, err := v.Parse([]byte(text), Pos{})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return id
}

// equalities are pairs of forms, and whether Clojure calls them equal.
var equalities = []struct {
	a, b string
	same bool
}{
	{"1", "1N", true},
	{"1", "+1", true},
	{"31", "0x1F", true},
	{"-31", "-0x1fN", true},
	{"15", "017", true},
	{"5", "2r101", true},
	{"35", "36rZ", true},
	{"0", "-0", true},
	{"0", "00", true},
	{"2", "4/2", true},
	{"-2", "-4/2", true},
	{"0", "0/7", true},
	{"10/3", "010/3", true},
	{"99999999999999999999", "99999999999999999999N", true},
	{"9223372036854775807", "9223372036854775807N", true},
	{"9223372036854775807", "9223372036854775808", false},
	{"-9223372036854775808", "-0x8000000000000000", true},
	{"1", "1.0", false},
	{"1", "1M", false},
	{"1.0", "1.0M", false},
	{"1.0M", "1.00M", true},
	{"1M", "1.000M", true},
	{"100M", "1e2M", true},
	{"0M", "-0.00M", true},
	{"1e999999999M", "10e999999998M", true},
	{"1e999999999M", "1e999999998M", false},
	{"1e99999999999999999999M", "0.1e100000000000000000000M", true},
	{"-1.5M", "1.5M", false},
	{"1/2", "2/4", true},
	{"1/2", "0.5", false},
	{"1/2", "-1/2", false},
	{"0.0", "-0.0", true},
	{"0.0", "0", false},
	{"1.0", "1.", true},
	{"1e3", "1000.0", true},
	{"1e400", "##Inf", true},
	{"##Inf", "##-Inf", false},
	{"##NaN", "##NaN", false},
	{"[##NaN]", "[##NaN]", false},
	{"{:a #{##NaN}}", "{:a #{##NaN}}", false},
	{`"a"`, ":a", false},
	{`"a"`, "a", false},
	{":a", "a", false},
	{`\a`, `"a"`, false},
	{`\a`, "a", false},
	{`\a`, `\u0061`, true},
	{`[[##NaN]]`, `[[##NaN]]`, false},
	{`#{[1 {:a ##NaN}]}`, `#{[1 {:a ##NaN}]}`, false},
	{`\A`, `\o101`, true},
	{`\newline`, `\u000a`, true},
	{`\newline`, "\\\n", true},
	{`\space`, `\ `, true},
	{`\backspace`, `\u0008`, true},
	{`\,`, `\u002c`, true},
	{`\u0041`, `\u0042`, false},
	{`"a\nb"`, "\"a\nb\"", true},
	{`"\u0041"`, `"A"`, true},
	{`"\101"`, `"A"`, true},
	{`"\ud83d\ude00"`, `"😀"`, true},
	{`"\ud83d\ude00s"`, `"😀s"`, true},
	{`"\ud83d"`, `"\ude00"`, false},
	{`"\ud800"`, `"\udfff"`, false},
	{`"\ud800"`, `"\uD800"`, true},
	{`"\ud83d"`, `"\ufffd"`, false},
	{"\"\xff\"", "\"\xfe\"", false},
	{"\"\xff\"", "\"\ufffd\"", false},
	{"[1 2]", "(1 2)", true},
	{"[1 2]", "[2 1]", false},
	{"[1 [2N]]", "((1) 2)", false},
	{"[1 (2N)]", "(1N [2])", true},
	{"#{1}", "[1]", false},
	{"#{1 2 3}", "#{3N 2 1}", true},
	{"#{[1] 2}", "#{2 (1)}", true},
	{"{:a 1, :b 2}", "{:b 2N :a 1}", true},
	{"{:a 1, :b 2}", "{:a 2 :b 1}", false},
	{"{[1] 1}", "{(1) 1}", true},
	{"[]", "()", true},
	{"[]", "{}", false},
	{"[]", "#{}", false},
	{"#{}", "{}", false},
	{"[]", "nil", false},
	{"false", "nil", false},
	{"true", ":true", false},
	{"#foo [1]", "#foo (1)", true},
	{"#foo [1]", "#bar [1]", false},
	{"#foo [1]", "[1]", false},
	{`#inst "2020-01-01T00:00:00.000-00:00"`, `#inst "2020-01-01T01:00:00+01:00"`, true},
	{`#inst "2020-01-01T00:00:00Z"`, `#inst "2020-01-01T00:00:01Z"`, false},
	{`#inst "2020"`, `#inst "2020-01-01"`, true},
	{`#inst "2020-01-01"`, `#inst "2020-01-01T00:00:00.0001Z"`, true},
	{`#inst "2020-01-01T00:00:00.001Z"`, `#inst "2020-01-01T00:00:00.0001Z"`, false},
	{`#inst "2020-01-01T00:59:60"`, `#inst "2020+23:00"`, false},
	{`#inst "2020-01-01T00:59:60"`, `#inst "2020-01-01T01"`, true},
	{`#inst "1582-10-05"`, `#inst "1582-10-15"`, true},
	{`#uuid "1-1-1-1-1"`, `#uuid "00000001-0001-0001-0001-000000000001"`, true},
	{`#uuid "1-1-1-1-1"`, `#uuid "100000001-1-1-1-1"`, true},
	{"#:ns{:a 1}", "{:ns/a 1}", true},
	{"#:ns{:_/a 1, :b/c #:d{e 2}, _/f 3, [:a] 4}", "{:a 1, :b/c {d/e 2}, f 3, [:a] 4}", true},
	{"#:ns {:a 1}", "{:a 1}", false},
	{"{:a 1, :b 2, :a 1N}", "{:a 1, :b 2}", true},
	{"[1 ; x\r 2]", "[1 2]", true},
	{`#uuid "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"`, `#uuid "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`, true},
	{`#"a+"`, `#"a+"`, true},
	{`#"a+"`, `"a+"`, false},
	{"#\"a\nb\"", `#"a\nb"`, true},
	{"^:dynamic x", "x", true},
}

func TestEqualityIsThatOfClojure(t *testing.T) {
	for _, c := range equalities {
		for _, p := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			v := NewValues()
			a, b := parse(t, v, p[0]), parse(t, v, p[1])
			if got := v.Same(a) == v.Same(b); got != c.same {
				t.Errorf("%s = %s: got %v, want %v", p[0], p[1], got, c.same)
			}
		}
	}
}

func TestFormsAreExact(t *testing.T) {
	v := NewValues()
	for _, p := range [][2]string{{"[1 2]", "(1 2)"}, {"1", "1N"}, {"1.0M", "1.00M"}, {"#{1 2}", "#{2 1}"}} {
		a, b := parse(t, v, p[0]), parse(t, v, p[1])
		if a == b {
			t.Errorf("%s and %s are one form", p[0], p[1])
		}
		if again := parse(t, v, p[0]); again != a {
			t.Errorf("%s is two forms", p[0])
		}
	}
}

func TestTheFirstFormSeenRepresentsItsClass(t *testing.T) {
	for _, texts := range [][]string{{"1N", "1", "+1"}, {"(1 2)", "[1 2]"}, {"#{2 1}", "#{1 2}"}, {"1.50M", "1.5M", "15E-1M"}, {"-0.0", "0.0"}} {
		v := NewValues()
		first := parse(t, v, texts[0])
		for _, text := range texts {
			if id := parse(t, v, text); v.Same(id) != first {
				t.Errorf("%s is represented by %s, not by %s", text, v.Text(v.Same(id)), texts[0])
			}
		}
	}
}

func TestValuesTellWhatTheyAre(t *testing.T) {
	for _, c := range []struct {
		text string
		kind Kind
		str  string
	}{
		{"nil", KindNil, "nil"},
		{"true", KindBool, "true"},
		{"-12", KindInt, "-12"},
		{"12N", KindInt, "12N"},
		{"4/2", KindInt, "4/2"},
		{"1/3", KindRatio, "1/3"},
		{"1.5", KindFloat, "1.5"},
		{"##-Inf", KindFloat, "##-Inf"},
		{"1.50M", KindDecimal, "1.50M"},
		{`\newline`, KindChar, `\newline`},
		{`\(`, KindChar, `\(`},
		{`"a\"b\\\/\t\b\f"`, KindString, "a\"b\\/\t\b\f"},
		{":a.b/c", KindKeyword, "a.b/c"},
		{"::a", KindKeyword, ":a"},
		{":a/b/c", KindKeyword, "a/b/c"},
		{"foo$bar<x>", KindSymbol, "foo$bar<x>"},
		{"Lambda$1/0x7f", KindSymbol, "Lambda$1/0x7f"},
		{"@x", KindSymbol, "@x"},
		{"#'user/x", KindSymbol, "#'user/x"},
		{"-", KindSymbol, "-"},
		{".5", KindSymbol, ".5"},
		{"[1]", KindVector, ""},
		{"(1)", KindList, ""},
		{"#{1}", KindSet, ""},
		{"{1 2}", KindMap, ""},
		{"#object[Foo 0x6d06 \"x\"]", KindTagged, "object"},
		{"#:ns{:a 1}", KindMap, ""},
		{`#"re\"x"`, KindOpaque, `#"re\"x"`},
		{"#<Foo <a> b>", KindOpaque, "#<Foo <a> b>"},
	} {
		v := NewValues()
		id := parse(t, v, c.text)
		if v.Kind(id) != c.kind || v.Str(id) != c.str {
			t.Errorf("%s: got kind %d %q, want kind %d %q", c.text, v.Kind(id), v.Str(id), c.kind, c.str)
		}
	}
}

func TestIntegersThatFitAreGiven(t *testing.T) {
	v := NewValues()
	for text, want := range map[string]int64{"0": 0, "12N": 12, "4/2": 2, "0x10": 16, "-9223372036854775808": math.MinInt64, "1000000000000000000": 1e18} {
		if n, ok := v.Int(parse(t, v, text)); n != want || !ok {
			t.Errorf("%s: got %d, %v", text, n, ok)
		}
	}
	for _, text := range []string{"9223372036854775808", "1.0", "1/2", "nil", "[0]", ":a"} {
		if n, ok := v.Int(parse(t, v, text)); ok {
			t.Errorf("%s: got the integer %d", text, n)
		}
	}
}

func TestItemsAreInSourceOrder(t *testing.T) {
	v := NewValues()
	for _, c := range []struct{ text, items string }{
		{"[3 1N 2]", "3 1N 2"}, {"(3 1 2)", "3 1 2"}, {"#{3 1 2}", "3 1 2"}, {"{:b 1 :a 2}", ":b 1 :a 2"}, {"#foo [1]", "[1]"}, {"x", ""},
	} {
		var got []string
		for _, id := range v.Items(parse(t, v, c.text)) {
			got = append(got, v.Text(id))
		}
		if strings.Join(got, " ") != c.items {
			t.Errorf("%s: got items %v", c.text, got)
		}
	}
}

func TestGetComparesKeysByValue(t *testing.T) {
	v := NewValues()
	m := parse(t, v, "{[1 2] :vector, 1 :one, :k nil}")
	for key, want := range map[string]string{"(1 2)": ":vector", "1N": ":one", ":k": "nil"} {
		if id, ok := v.Get(m, parse(t, v, key)); !ok || v.Text(id) != want {
			t.Errorf("%s: got %s, %v", key, v.Text(id), ok)
		}
	}
	if _, ok := v.Get(m, parse(t, v, "1.0")); ok {
		t.Error("1.0 is a key")
	}
	if _, ok := v.Get(parse(t, v, "[1 1]"), parse(t, v, "1")); ok {
		t.Error("a vector has a key")
	}
}

func TestInterningAgreesWithParsing(t *testing.T) {
	v := NewValues()
	one, two, a := v.InternInt(1), v.InternInt(2), v.InternKeyword("a")
	for text, id := range map[string]ID{
		"1": one, ":a": a, `"x\ny"`: v.InternString("x\ny"), "sym": v.InternSymbol("sym"), "nil": v.InternSymbol("nil"),
		"[1 2]": v.InternVector([]ID{one, two}), "(1)": v.InternList([]ID{one}), "#{1 2}": v.InternSet([]ID{one, two, one}),
		"{:a 2, 1 1}": v.InternMap([]ID{a, one, one, one, a, two}), "#t 1": v.InternTagged("t", one),
		"1.5": v.InternFloat(1.5), "1.0E10": v.InternFloat(1e10), "1.0E-5": v.InternFloat(1e-5), "100.0": v.InternFloat(100),
		"##Inf": v.InternFloat(math.Inf(1)), "-5": v.InternInt(-5), "-9223372036854775808": v.InternInt(math.MinInt64), "-0.0": v.InternFloat(math.Copysign(0, -1)),
	} {
		if got := parse(t, v, text); got != id {
			t.Errorf("%s: parsing gives %s, interning %s", text, v.Text(got), v.Text(id))
		}
	}
	if nan := v.InternFloat(math.NaN()); nan == v.InternFloat(math.NaN()) || v.Text(nan) != "##NaN" {
		t.Error("two NaNs are one form")
	}
}

func TestOfEqualKeysTheLastWins(t *testing.T) {
	v := NewValues()
	one, big := v.InternInt(1), parse(t, v, "1N")
	if got := v.Text(v.InternSet([]ID{one, big})); got != "#{1N}" {
		t.Errorf("got set %s", got)
	}
	if got := v.Text(v.InternMap([]ID{one, True, big, False})); got != "{1N false}" {
		t.Errorf("got map %s", got)
	}
}

func TestIntegersAreFoundWhereverTheyAreKept(t *testing.T) {
	v := NewValues()
	ids := map[int64]ID{}
	for _, step := range []int64{1_000_003, 997, 7, 1, -13} {
		for n := range int64(3000) {
			id := v.InternInt(n * step)
			if old, ok := ids[n*step]; ok && old != id {
				t.Fatalf("%d is two forms", n*step)
			}
			ids[n*step] = id
		}
	}
	for n, id := range ids {
		if got, _ := v.Int(id); got != n || v.InternInt(n) != id {
			t.Fatalf("%d is found as %d", n, got)
		}
	}
}

// An integer that was seen before the dense range reached it keeps its form
// when the range grows past it.
func TestIntegersMetEarlyAreFoundOnceTheDenseOnesReachThem(t *testing.T) {
	for early := range int64(2100) {
		v := NewValues()
		id := v.InternInt(early)
		for n := range 2 * early {
			v.InternInt(n)
		}
		if again := v.InternInt(early); again != id {
			t.Fatalf("%d is two forms, %d and %d", early, id, again)
		}
	}
}

func TestPrintingIsThatOfClojureInStableOrder(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{:b 2 :a 1}", "{:a 1, :b 2}"},
		{"#{10 9 -1 :b :a \"x\" 99999999999999999999 -99999999999999999999}", "#{-99999999999999999999 -1 9 10 99999999999999999999 \"x\" :a :b}"},
		{"( 1,2 )", "(1 2)"},
		{"[ ]", "[]"},
		{"{}", "{}"},
		{"\"a\nb\\t\\\"\\\\\r\"", `"a\nb\t\"\\\r"`},
		{"\"\xffé\"", "\"\xffé\""},
		{"1.50M", "1.50M"},
		{"0x1F", "0x1F"},
		{`\u0041`, `\u0041`},
		{"\\\n", `\newline`},
		{"\\\v", `\u000b`},
		{"#foo [1]", "#foo [1]"},
		{"#knossos.model.Register{:value 1}", "#knossos.model.Register{:value 1}"},
		{"#:a{:b 1, :_/c 2}", "{:a/b 1, :c 2}"},
		{"#_x ^{:m 1} [1 #_2 ; three\n 4]", "[1 4]"},
		{"#\"a\\\nb\r\"", `#"a\nb\r"`},
		{"{{:b 1 :a 2} #{2 1}}", "{{:a 2, :b 1} #{1 2}}"},
	} {
		v := NewValues()
		if got := v.Text(parse(t, v, c.text)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestAllFormsOfALineAreRead(t *testing.T) {
	v := NewValues()
	ids, err := v.ParseAll([]byte(" :a, 1 #_x [2] ; end"), Pos{})
	if err != nil || v.Text(v.InternVector(ids)) != "[:a 1 [2]]" {
		t.Errorf("got %v, %v", ids, err)
	}
	if ids, err := v.ParseAll([]byte("  "), Pos{}); err != nil || len(ids) != 0 {
		t.Errorf("got %v, %v", ids, err)
	}
	for text, want := range map[string]string{
		"1 ]":    "f:2:5: expected a value, found ]",
		"1 #_":   "f:2:7: expected a value after #_, found end of input",
		"\n1 1x": "f:3:3: expected a number, found 1x",
	} {
		_, err := v.ParseAll([]byte(text), Pos{File: "f", Line: 2, Col: 3})
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// Some of these would take hours to read.
func TestHugeNumbersAreRefused(t *testing.T) {
	v := NewValues()
	long := strings.Repeat("9", 1_000_000)
	for _, text := range []string{long, long + "N", long + "/7", "0x" + long, long + ".5", "1e" + long + "M", long + "M"} {
		_, err := v.Parse([]byte(text), Pos{})
		if err == nil || !strings.HasPrefix(err.Error(), "1:1: expected a number of at most 4096 characters, found ") {
			t.Errorf("got %v", err)
		}
	}
	parse(t, v, "1e-"+long[:4000]+"M")
	parse(t, v, long[:4096])
	if _, err := v.Parse([]byte(long[:4097]), Pos{}); err == nil {
		t.Error("4097 characters are taken")
	}
}

func TestASingleFormMustBeAlone(t *testing.T) {
	for text, want := range map[string]string{
		"":      "5:9: expected a value, found end of input",
		" ; x":  "5:13: expected a value, found end of input",
		"1 2":   "5:11: expected end of input, found a number",
		"1 #_":  "5:13: expected a value after #_, found end of input",
		"]":     "5:9: expected a value, found ]",
		"[1\n ": "6:2: expected ] to close [ opened at 5:9, found end of input",
		"#":     "5:10: expected a tag after #, found end of input",
	} {
		_, err := NewValues().Parse([]byte(text), Pos{Line: 5, Col: 9, Offset: 100})
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestWhatIsNoValueDoesNotBecomeOneByBeingKept(t *testing.T) {
	for _, text := range []string{"1x3", `\nobody`} {
		v := NewValues()
		if id, err := v.ParseLenient([]byte(text)); err != nil || v.Kind(id) != KindOpaque {
			t.Fatalf("%s: %v", text, err)
		}
		if id, err := v.Parse([]byte(text), Pos{}); err == nil {
			t.Errorf("%s is read as %s", text, v.Text(id))
		}
	}
}

func TestParseLenientKeepsWhatIsNoValueAsText(t *testing.T) {
	v := NewValues()
	id, err := v.ParseLenient([]byte("{:error {:at 1x3, :odd {:a},\n :same #{1 1}} :value 2}"))
	if err != nil {
		t.Fatal(err)
	}
	want := "{:error {:at 1x3, :odd {:a}, :same #{1 1}}, :value 2}"
	if got := v.Text(id); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := v.ParseLenient([]byte("{:a [1}")); err == nil {
		t.Error("brackets that do not match were accepted")
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"[1 (2N) #{:a \\b} {\"c\" 1.5M}]", "##NaN", "#inst \"2020-01-01T00:00:00Z\"", `"\ud83d\ude00\101"`, "#:ns{:a #_b 1}", "^m #'x", `#"re\"x"`,
		"#<Foo bar>", "\\o101 \\u0041", "1/2", "2r101", "0x1F", "-0.0", "1e999999999M", "{1 2 1N 3}", "#a #b [", "@x ::a :a/b/c 5. .5 'y", "#^x y", "\xff\x00",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		defer fuzzing.Guard(t)()
		v := NewValues()
		id, err := v.Parse(text, Pos{})
		all, errAll := v.ParseAll(text, Pos{})
		if err != nil {
			return
		}
		printed := v.AppendText(nil, id)
		if bytes.ContainsAny(printed, "\n\r") {
			t.Fatalf("%q prints as several lines: %q", text, printed)
		}
		again, err := v.Parse(printed, Pos{})
		if err != nil {
			t.Fatalf("%q prints as %q: %v", text, printed, err)
		}
		if errAll != nil || len(all) != 1 {
			t.Fatalf("%q: ParseAll gives %v, %v", text, all, errAll)
		}
		if v.forms[id].nan != v.forms[again].nan || !v.forms[id].nan && v.Same(id) != v.Same(again) {
			t.Fatalf("%q prints as %q, which is another value", text, printed)
		}
		if reprinted := v.AppendText(nil, again); !bytes.Equal(printed, reprinted) {
			t.Fatalf("%q prints as %q, then as %q", text, printed, reprinted)
		}
	})
}

func TestReservedIntegersAreThoseThatAreInterned(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 5000} {
		v, plain := NewValues(), NewValues()
		for i, k := range []int64{7, 300, 4999, -1, 1 << 40, 5000, 0} {
			if i == 3 {
				v.ReserveInts(n)
			}
			if got, want := v.InternInt(k), plain.InternInt(k); got != want || v.InternInt(k) != want {
				t.Errorf("%d is %d, want %d", k, got, want)
			}
		}
		for k := range int64(6000) {
			if got, want := v.InternInt(k), plain.InternInt(k); got != want {
				t.Fatalf("of %d: %d is %d, want %d", n, k, got, want)
			}
		}
	}
}

// What is white space in Unicode but not in Clojure does not end a character.
func TestACharactersNameEndsWhereClojureHasIt(t *testing.T) {
	for _, text := range []string{"\\M\u0085", "\\newline\u00a0", "\\u0041\u2003", "\\o101\u0085"} {
		v := NewValues()
		id, err := v.Parse([]byte(text), Pos{Line: 1, Col: 1})
		if want := "1:1: expected a character, found " + text; err == nil || err.Error() != want {
			t.Errorf("%q is %s, %v, not %q", text, v.Text(id), err, want)
		}
	}
}

// A character is the same in all its spellings, anywhere in Unicode.
func TestCharactersAreEqualInAllSpellings(t *testing.T) {
	v := NewValues()
	parse := func(text string) ID {
		id, err := v.Parse([]byte(text), Pos{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if v.Text(id) != text {
			t.Errorf("%s prints as %s", text, v.Text(id))
		}
		return v.Same(id)
	}
	for _, same := range [][]string{
		{`\a`, `\u0061`, `\o141`}, {`\A`, `\u0041`}, {`\é`, `\u00e9`, `\u00E9`}, {`\~`, `\u007e`}, {`\u007f`, `\o177`}, {"\\\u0080", `\u0080`}, {`\u0000`, `\o0`}, {`\u001f`, `\o37`},
		{`\space`, `\u0020`}, {`\newline`, `\u000a`, `\o12`}, {`\return`, `\u000d`}, {`\tab`, `\u0009`}, {`\formfeed`, `\u000c`}, {`\backspace`, `\u0008`},
		{`\"`, `\u0022`}, {`\\`, `\u005c`}, {"\\\ud7ff", `\ud7ff`}, {`\ud800`, `\uD800`}, {`\udfff`}, {"\\\ue000", `\ue000`}, {"\\\uffff", `\uffff`}, {`\😀`}, {`\😁`},
	} {
		for _, other := range same[1:] {
			if parse(other) != parse(same[0]) {
				t.Errorf("%s and %s differ", other, same[0])
			}
		}
		if parse(same[0]) == parse(`\b`) {
			t.Errorf(`%s is \b`, same[0])
		}
	}
}

// Collections are found again although many have the same ends, and so the same slots near each other.
func TestCollectionsWithTheSameEndsAreFound(t *testing.T) {
	v := NewValues()
	v.InternKeyword("lasting")
	ids := map[string]ID{}
	for round := range 3 {
		for n := range int64(2000) {
			first, last := v.InternInt(n%3), v.InternInt(n%2)
			for _, kind := range []Kind{KindVector, KindList} {
				id := v.intern(kind, []ID{first, v.InternInt(n), v.InternInt(n * 7), last})
				text := v.Text(id)
				if old, seen := ids[text]; seen && old != id || seen != (round > 0) {
					t.Fatalf("%s is %d, and was %d", text, id, old)
				}
				ids[text] = id
			}
		}
		if round == 1 {
			var keep []*ID
			var texts []string
			for text, id := range ids {
				keep, texts = append(keep, &id), append(texts, text)
			}
			v.Forget(keep)
			for i, text := range texts {
				ids[text] = *keep[i]
			}
		}
	}
}

// Two sets are equal if each has an element for each of the other's, however both are spelled and ordered.
func TestSetsAreEqualInAnyOrder(t *testing.T) {
	r, v := rand.New(rand.NewPCG(1, 2)), NewValues()
	v.InternKeyword("lasting")
	spelled := func(n int) string { return []string{"%d", "%dN", "(%d)", "[%d]", "#{%d}", "#{%dN}"}[n%6] }
	classes, keys := map[string]ID{}, map[ID]string{} // by a text of the elements' classes in order, and back
	for i := range 4000 {
		size, from := r.IntN(3), 100*r.IntN(4)
		if i%4 == 0 {
			size = r.IntN(100)
		}
		text, elements := "#{", []string{}
		for _, n := range r.Perm(size) {
			shape := r.IntN(6)
			text += fmt.Sprintf(spelled(shape)+" ", from+n)
			elements = append(elements, fmt.Sprint(from+n, shape/2))
		}
		slices.Sort(elements)
		id, err := v.Parse([]byte(text+"}"), Pos{})
		if err != nil {
			t.Fatal(err)
		}
		got := "#{"
		for _, item := range v.Items(id) {
			got += v.Text(item) + " "
		}
		if got != text {
			t.Fatalf("%s} became %s}", text, got)
		}
		key := strings.Join(elements, " ")
		class := v.Same(id)
		if old, seen := classes[key]; seen && old != class {
			t.Fatalf("%s} has the class %d, the elements %s had %d", text, class, key, old)
		}
		if old, seen := keys[class]; seen && old != key {
			t.Fatalf("%s} has the class %d, as the elements %s", text, class, old)
		}
		classes[key], keys[class] = class, key
		if i%1000 == 999 {
			var keep []*ID
			var kept []string
			for key, id := range classes {
				if r.IntN(2) == 0 {
					keep, kept = append(keep, &id), append(kept, key)
				}
			}
			v.Forget(keep)
			clear(classes)
			clear(keys)
			for k, key := range kept {
				classes[key] = v.Same(*keep[k])
				keys[classes[key]] = key
			}
		}
	}
}

// A message about an element that comes twice says where it comes the second time.
func TestAnElementThatComesTwiceHasAPlace(t *testing.T) {
	var many strings.Builder
	for n := range 40 {
		fmt.Fprintf(&many, "%d ", n)
	}
	odd := `#_ x ^{:a 1} b #inst "2020" [1 {2 3} "}"] \} "x}" #:a{:b 1} #'v #"}" #^c d ##Inf ; }` + "\n"
	for _, before := range []string{"", many.String(), odd} {
		for _, twice := range []string{"a", "a #_b", "^x a", "#u a", `"a"`, "{1 2}", "#{2}"} {
			text := fmt.Sprintf("#{ %s %s ", twice, before)
			_, err := NewValues().Parse([]byte(text+twice+"}"), Pos{})
			var at *Error
			if !errors.As(err, &at) || at.Offset != int64(len(text)) || !strings.Contains(err.Error(), "duplicate element") {
				t.Errorf("%s%s}: %v, expected byte %d", text, twice, err, len(text))
			}
		}
	}
}

// Lists that grow share their items, also if tables forget, and if lists with the same beginning go on in different ways.
func TestListsThatGrowAreWhatTheyWere(t *testing.T) {
	r, v := rand.New(rand.NewPCG(1, 2)), NewValues()
	v.InternKeyword("lasting")
	var lists [40][]int64
	var ids []ID
	var want []string
	for i := range 20_000 {
		list := &lists[r.IntN(len(lists))]
		switch r.IntN(50) {
		case 0:
			*list = nil
		case 1:
			*list = slices.Clone(lists[r.IntN(len(lists))]) // two that have been the same
		default:
			*list = append(*list, int64(i))
		}
		var items []ID
		for _, n := range (*list)[:r.IntN(len(*list)+1)] {
			items = append(items, v.InternInt(n))
		}
		ids = append(ids, v.intern([]Kind{KindVector, KindList, KindSet}[r.IntN(3)], items))
		want = append(want, v.Text(ids[len(ids)-1]))
		if r.IntN(3000) == 0 {
			ids, want = ids[len(ids)/2:], want[len(want)/2:]
			var keep []*ID
			for i := range ids {
				keep = append(keep, &ids[i])
			}
			v.Forget(keep)
		}
	}
	for i, id := range ids {
		if v.Text(id) != want[i] {
			t.Fatalf("%s became %s", want[i], v.Text(id))
		}
	}
}

// A list that grows takes about as much memory as its last state.
func TestListsThatGrowShareTheirItems(t *testing.T) {
	v := NewValues()
	var items []ID
	for n := range int64(1000) {
		items = append(items, v.InternInt(n))
		v.InternVector(items)
	}
	held := 0
	for _, chunk := range v.arena {
		held += cap(chunk)
	}
	if held > 10*len(items) {
		t.Errorf("room for %d items", held)
	}
}
