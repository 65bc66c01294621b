package edn

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
)

func bigInt(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(text)
	}
	return n
}

func TestEveryKindOfValueIsPlainGo(t *testing.T) {
	for _, c := range []struct {
		text string
		want any // nil: the Value itself
	}{
		{"true", true},
		{"false", false},
		{"-7", int64(-7)},
		{"7N", int64(7)},
		{"4/2", int64(2)},
		{"0x1F", int64(31)},
		{"9223372036854775807", int64(math.MaxInt64)},
		{"9223372036854775808", bigInt("9223372036854775808")},
		{"-99999999999999999999N", bigInt("-99999999999999999999")},
		{"1/3", big.NewRat(1, 3)},
		{"-010/3", big.NewRat(-10, 3)},
		{"1.5", 1.5},
		{"1.", 1.0},
		{"-1e-3", -0.001},
		{"1e400", math.Inf(1)},
		{"##Inf", math.Inf(1)},
		{"##-Inf", math.Inf(-1)},
		{`"a\nb"`, "a\nb"},
		{`""`, ""},
		{":a.b/c", Keyword("a.b/c")},
		{"::a", Keyword(":a")},
		{"sym", Symbol("sym")},
		{"#'user/x", Symbol("#'user/x")},
		{"[]", []any{}},
		{"[1 [nil :a]]", []any{int64(1), []any{nil, Keyword("a")}}},
		{"()", List{}},
		{"(1 (2))", List{int64(1), List{int64(2)}}},
		{"#{3 1}", Set{int64(3), int64(1)}},
		{"{}", map[any]any{}},
		{`{:a {"b" nil}, nil 2}`, map[any]any{Keyword("a"): map[any]any{"b": nil}, nil: int64(2)}},
		{"{#a 1 2}", map[any]any{Tagged{"a", int64(1)}: int64(2)}},
		{"#foo/bar [1]", Tagged{"foo/bar", []any{int64(1)}}},
		{"#:ns{:a 1}", map[any]any{Keyword("ns/a"): int64(1)}},
		{`#inst "2020-01-01T00:00:00Z"`, Tagged{"inst", "2020-01-01T00:00:00Z"}},
		{"1.50M", nil},
		{`\a`, nil},
		{`#"re"`, nil},
		{"{[1] 2}", nil},
		{"{#{1} 2}", nil},
		{"{#a [1] 2}", nil},
		{"{99999999999999999999 1}", nil},
		{"{1/2 1}", nil},
	} {
		v := NewValues()
		x := v.Value(parse(t, v, c.text))
		want := c.want
		if want == nil {
			want = x
		}
		got := x.Go()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", c.text, got, want)
		}
		for name, table := range map[string]*Values{"its own": v, "another": NewValues()} {
			back, err := table.From(got)
			if err != nil || table.Same(back.ID()) != table.Same(parse(t, table, c.text)) {
				t.Errorf("%s: back in %s table it is %s, %v", c.text, name, back, err)
			}
		}
	}
}

func TestNilAndNaNArePlainGo(t *testing.T) {
	v := NewValues()
	if got := v.Value(Nil).Go(); got != nil {
		t.Errorf("nil is %v", got)
	}
	nan, ok := v.Value(parse(t, v, "##NaN")).Go().(float64)
	if !ok || nan == nan {
		t.Errorf("##NaN is %v", nan)
	}
	if x, err := v.From(nan); err != nil || x.String() != "##NaN" {
		t.Errorf("NaN is %s, %v", x, err)
	}
}

func TestPlainGoIsAValue(t *testing.T) {
	type (
		name  string
		count uint16
		pair  [2]any
	)
	seven := 7
	pointer := &seven
	other := NewValues()
	for _, c := range []struct {
		x    any
		want string
	}{
		{nil, "nil"},
		{int8(-1), "-1"},
		{uint8(255), "255"},
		{uint64(math.MaxInt64), "9223372036854775807"},
		{uint64(math.MaxUint64), "18446744073709551615"},
		{int64(math.MinInt64), "-9223372036854775808"},
		{float32(0.5), "0.5"},
		{2.0, "2.0"},
		{math.Copysign(0, -1), "-0.0"},
		{bigInt("12"), "12"},
		{bigInt("-123456789012345678901"), "-123456789012345678901"},
		{big.NewRat(6, 3), "2"},
		{big.NewRat(-1, 3), "-1/3"},
		{(*big.Int)(nil), "nil"},
		{(*big.Rat)(nil), "nil"},
		{(*int)(nil), "nil"},
		{pointer, "7"},
		{&pointer, "7"},
		{name("x"), `"x"`},
		{Keyword("k"), ":k"},
		{Symbol("s"), "s"},
		{Symbol("nil"), "nil"},
		{count(3), "3"},
		{pair{1, "a"}, `[1 "a"]`},
		{[]int(nil), "[]"},
		{[]byte{1, 2}, "[1 2]"},
		{[]any{nil, []string{"a"}, List{1}}, `[nil ["a"] (1)]`},
		{Set{1, uint8(1), 2}, "#{1 2}"},
		{map[string]int(nil), "{}"},
		{map[string]any{"b": 1, "a": nil}, `{"a" nil, "b" 1}`},
		{map[any]any{Keyword("k"): map[int]bool{1: true}, [1]int{2}: 'x'}, "{:k {1 true}, [2] 120}"},
		{Tagged{"t", []int{1}}, "#t [1]"},
		{Value{}, "nil"},
		{[]Value{other.Value(parse(t, other, `{:a #"re", :b 10.0M}`)), {}}, `[{:a #"re", :b 10.0M} nil]`},
	} {
		v := NewValues()
		x, err := v.From(c.x)
		if err != nil || x.String() != c.want {
			t.Errorf("%#v: got %s, %v, want %s", c.x, x, err, c.want)
		}
		if again, _ := v.From(c.x); again != x {
			t.Errorf("%#v is another form the second time", c.x)
		}
		if _, err := v.Parse([]byte(x.String()), Pos{}); err != nil {
			t.Errorf("%#v: %v", c.x, err)
		}
	}
}

func TestTheFormOfAMapDoesNotDependOnGosOrder(t *testing.T) {
	v := NewValues()
	m := map[string]int{}
	for i := range 20 {
		m[fmt.Sprint(i)] = i
	}
	first, err := v.From(m)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if x, _ := v.From(m); x != first {
			t.Fatal("a map has two forms")
		}
	}
}

type cycle []cycle

func TestWhatIsNoValueIsRefused(t *testing.T) {
	const plain = "expected a value in plain Go (nil, a boolean, number, string, Keyword, Symbol, slice or map), found a "
	round := cycle{nil}
	round[0] = round
	type loop *loop
	var self loop
	self = &self
	deep := any(1)
	for range MaxDepth + 1 {
		deep = []any{deep}
	}
	digits := strings.Repeat("9", MaxNumber+1)
	for _, c := range []struct {
		x    any
		want string
	}{
		{make(chan int), plain + "chan int"},
		{[]any{1, func() {}}, plain + "func()"},
		{struct{}{}, plain + "struct {}"},
		{map[complex64]int{1: 1}, plain + "complex64"},
		{map[int]any{1: &struct{ A int }{}}, plain + "struct { A int }"},
		{Tagged{"t", uintptr(1)}, plain + "uintptr"},
		{Keyword(""), `expected the name of a keyword, without its colon, found ""`},
		{Keyword("a b"), `expected the name of a keyword, without its colon, found "a b"`},
		{Keyword("a]"), `expected the name of a keyword, without its colon, found "a]"`},
		{Symbol(""), `expected the name of a symbol, found ""`},
		{Symbol("12"), `expected the name of a symbol, found "12"`},
		{Symbol(":a"), `expected the name of a symbol, found ":a"`},
		{Symbol("a;"), `expected the name of a symbol, found "a;"`},
		{Tagged{"", 1}, `expected a tag, without its #, found ""`},
		{Tagged{"_", 1}, `expected a tag, without its #, found "_"`},
		{Tagged{"a b", 1}, `expected a tag, without its #, found "a b"`},
		{map[any]any{1: "a", int8(1): "b"}, "expected different keys in a map, found 1 twice"},
		{bigInt(digits), "expected a number of at most 4096 characters, found one of 4097"},
		{new(big.Rat).SetFrac(big.NewInt(1), bigInt(digits)), "expected a number of at most 4096 characters, found one of 4099"},
		{round, "expected at most 1000 levels of nesting, found more"},
		{self, "expected at most 1000 levels of nesting, found more"},
		{deep, "expected at most 1000 levels of nesting, found more"},
	} {
		x, err := NewValues().From(c.x)
		if err == nil || err.Error() != c.want || x != (Value{}) {
			t.Errorf("%T: got %s, %v, want %s", c.x, x, err, c.want)
		}
	}
	if _, err := NewValues().From(deep.([]any)[0]); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
}

func TestTheZeroValueIsNil(t *testing.T) {
	var x Value
	if _, ok := x.Int(); ok || x.Kind() != KindNil || x.String() != "nil" || x.Go() != nil || x.ID() != Nil || x.Class() != 0 || x.Items() != nil {
		t.Errorf("got %s", x)
	}
	if _, ok := x.Get("a"); ok {
		t.Error("nil has a key")
	}
}

func TestValuesAnswerForThemselves(t *testing.T) {
	v := NewValues()
	m := v.Value(parse(t, v, "{:a [1 2N], :b 99999999999999999999}"))
	a, ok := m.Get("a")
	if !ok || a.String() != "[1 2N]" || a.Kind() != KindVector {
		t.Fatalf("got %s, %v", a, ok)
	}
	if n, ok := a.Items()[1].Int(); n != 2 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	if same := v.Value(parse(t, v, "(1N 2)")); same.Class() != a.Class() || same == a {
		t.Error("a list and a vector are not of one class, or one form")
	}
	b, _ := m.Get("b")
	if _, ok := b.Int(); ok {
		t.Error("a big integer fits")
	}
	before := v.Len()
	if _, ok := m.Get("never seen"); ok || v.Len() != before {
		t.Error("asking for a key interns it")
	}
	if _, ok := a.Get("a"); ok {
		t.Error("a vector has a key")
	}
}
