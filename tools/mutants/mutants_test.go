package main

import (
	"fmt"
	"slices"
	"testing"
)

func TestMutantsOfAFunction(t *testing.T) {
	const text = `package p

func (s *set[T]) f(a, b int) bool {
	if a < b+1 {
		b = max(a, b)
		return true
	}
	for {
		a++
		break
	}
	g(a)
	if a < b {
		panic(a + b)
	}
	return false
}

func h(n int) (bool, error) {
	if x := make([]int, n+1, n+2); g(x) {
		return true, errors.New("")
	}
	return true, nil
}
`
	all, err := mutantsOf("p/p.go", text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		if m.Package != "./p" || m.apply(text) == text || m.apply(text)[:m.from] != text[:m.from] {
			t.Errorf("wrong: %+v", m)
		}
		got = append(got, fmt.Sprint(m.Line, " ", m.name()))
	}
	want := []string{
		"4 p/p.go set.f 0: a < b+1 -> false", "4 p/p.go set.f 0: < -> <=", "4 p/p.go set.f 0: + -> -", "4 p/p.go set.f 0: 1 -> (1 + 1)",
		"5 p/p.go set.f 0: b = max(a, b) -> {}", "5 p/p.go set.f 0: max -> min", "6 p/p.go set.f 0: true -> false",
		"9 p/p.go set.f 0: ++ -> --", "10 p/p.go set.f 0: break -> {}", "12 p/p.go set.f 0: g(a) -> {}",
		"13 p/p.go set.f 0: a < b -> false", "13 p/p.go set.f 1: < -> <=",
		"16 p/p.go set.f 0: false -> true",
		"20 p/p.go h 0: g(x) -> false", "20 p/p.go h 0: + -> -", "20 p/p.go h 0: 1 -> (1 + 1)",
		"23 p/p.go h 1: true -> false", // mutants that make no difference count, too
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestReasonsStandBelowTheirMutants(t *testing.T) {
	got, err := reasons("# a comment\n\na.go f 0: < -> <=\n\tthey are never equal\nb.go g 1: 1 -> (1 + 1)\n\tonly room\n")
	if err != nil || len(got) != 2 || got["a.go f 0: < -> <="] != "they are never equal" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := reasons("\twithout one\n"); err == nil {
		t.Error("a reason without a mutant is taken")
	}
}

func TestPatternsAreOfTestsOrOfTheirParts(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"TestA", "ExampleB"}, "^(TestA|ExampleB)$"},
		{[]string{"TestA/a_part", "TestA/a+b/c"}, `^TestA$/^(a_part|a\+b/c)$`},
	} {
		var tests []*aTest
		for _, name := range c.names {
			tests = append(tests, &aTest{Name: name})
		}
		if got := patternOf(tests); got != c.want {
			t.Errorf("%q: %s, want %s", c.names, got, c.want)
		}
	}
}

func TestLinesThatATestReaches(t *testing.T) {
	a := &aTest{Lines: map[string][][2]int{"f.go": joined([][2]int{{7, 9}, {1, 2}, {3, 3}, {20, 21}, {8, 8}})}}
	reached := ""
	for line := range 25 {
		if a.reaches("f.go", line) {
			reached += fmt.Sprint(line, " ")
		}
	}
	if reached != "1 2 3 7 8 9 20 21 " || a.reaches("g.go", 1) {
		t.Errorf("it reaches %s", reached)
	}
}
