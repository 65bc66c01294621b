package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A small module, with functions of every shape that copies must imitate, and with tests
// that detect some mutants and not others.
const (
	aModule  = "module clew\n\ngo 1.26\n"
	aPackage = `package p

type pair[T any] struct{ a, b T }

func (pair[_]) two(_ int, more ...int) (n int) {
	n = len(more) + 2
	return
}

func larger[T int | string](a T, _, b T) T {
	if a > b {
		return a
	}
	return b
}

func fill(to []int, _ string) {
	for i := range to {
		to[i]++
	}
}

func sum(of []int) int {
	if len(of) == 0 {
		return 0
	}
	return of[0] + sum(of[1:])
}

func Unseen() bool { return true }
`
	someTests = `package p

import "testing"

func TestAll(t *testing.T) {
	to := []int{1, 2}
	fill(to, "")
	if larger(2, 0, 1) != 2 || larger("a", "", "b") != "b" || sum(to) != 5 || (pair[int]{}).two(0, to...) != 4 {
		t.Error(to)
	}
}

func TestFailsAlways(t *testing.T) { t.Error("whatever the mutant") }
`
)

func TestMutantsAreKilledBySoundTestsOnly(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("p", 0o777); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"go.mod": aModule, "p/p.go": aPackage, "p/p_test.go": someTests} {
		if err := os.WriteFile(filepath.FromSlash(file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	log := "log"
	if err := run(t.Context(), []string{"p"}, 1000, 1, 1e9, log, false); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := eachLine(log, func(o outcome) { got[o.name()] = o.Outcome }); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"p/p.go pair.two 0: n = len(more) + 2 -> {}": killed,
		"p/p.go pair.two 0: + -> -":                  killed,
		"p/p.go pair.two 0: 2 -> (2 + 1)":            killed,
		"p/p.go larger 0: a > b -> false":            killed,
		"p/p.go larger 0: > -> >=":                   survived, // makes no difference
		"p/p.go fill 0: ++ -> --":                    killed,
		"p/p.go sum 0: len(of) == 0 -> false":        killed,
		"p/p.go sum 0: == -> !=":                     killed,
		"p/p.go sum 0: 0 -> (0 + 1)":                 killed,
		"p/p.go sum 1: 0 -> (0 + 1)":                 killed,
		"p/p.go sum 2: 0 -> (0 + 1)":                 killed,
		"p/p.go sum 0: + -> -":                       killed,
		"p/p.go sum 0: 1 -> (1 + 1)":                 killed,
		"p/p.go Unseen 0: true -> false":             survived,
	}
	if !maps.Equal(got, want) {
		for _, name := range slices.Sorted(maps.Keys(got)) {
			t.Log(name, got[name])
		}
		t.Errorf("expected %v", want)
	}
}
