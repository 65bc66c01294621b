package gen_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"clew/internal/gen"
)

func TestASeedMakesTheSameHistoriesEveryTime(t *testing.T) {
	a, b := gen.Rand(3), gen.Rand(3)
	for range 100 {
		o := gen.Options{Model: "multi-register"}
		if x, y := gen.New(a, o), gen.New(b, o); x != y {
			t.Fatalf("%s\n%s", x.Text, y.Text)
		}
	}
}

func TestInitialValuesTurnUpWhereTheyAreAskedFor(t *testing.T) {
	r := gen.Rand(6)
	for _, model := range []string{"cas-register", "versioned-register", "multi-register", "set", "lookup-set", "fifo-queue", "stack", "kv"} {
		seen := map[string]bool{}
		for range 300 {
			seen[gen.New(r, gen.Options{Model: model, Init: true}).Init] = true
		}
		if !seen[""] || len(seen) < 5 {
			t.Errorf("%s starts from %q", model, slices.Collect(maps.Keys(seen)))
		}
	}
}

func TestEveryFeatureOfHistoriesTurnsUp(t *testing.T) {
	for _, c := range []struct {
		model    string
		features []string
	}{
		{"register", []string{":info", ":fail", ":nemesis", "1N", ":value nil", ":index", "-0.0", "(1 2)"}},
		{"cas-register", []string{":cas", "(1 2)", "[1 2 "}},
		{"mutex", []string{":acquire", ":release", ":fail"}},
		{"multi-register", []string{":txn", "[:w ", "[:read ", ":value []"}},
		{"set", []string{"#{}", "#{1 ", ":value [1"}},
		{"fifo-queue", []string{":empty", ":peek", ":drain", ":value nil", ":invoke, :f :dequeue, :value 1"}},
		{"unordered-queue", []string{":empty", ":drain", ":invoke, :f :dequeue, :value :empty"}},
		{"lookup-set", []string{":insert", ":add", ":remove", ":delete", ":contains", ":lookup", ":value true", "[1 true]", "(1N false)"}},
		{"semaphore", []string{":acquire", ":release", ":value 2", ":value {:permits 2}", ":value nil", ":done"}},
		{"owner-semaphore", []string{":value 2", ":permits 2", ":client \"n0\"", ":client \"n1\""}},
		{"reentrant-fenced-mutex", []string{":fence 0", ":fence 1", ":fence 2N", ":client", "{}"}},
		{"versioned-register", []string{"[nil nil]", "[nil [", "[1 ", "(2 ", ":value nil"}},
		{"java-queue", []string{":toString", `"[1, 2]"`, `"[]"`, ":retainAll", ":containsAll", ":value []", ":value true", ":value nil", "1N"}},
		{"kv", []string{":append", ":key", ":get", `"ab"`}},
	} {
		var all strings.Builder
		r := gen.Rand(5)
		for i := range 1000 {
			all.WriteString(gen.New(r, gen.Options{Model: c.model, Permits: 2, MaxHolds: 2, Knossos: i%2 == 1}).Text)
		}
		for _, feature := range c.features {
			if !strings.Contains(all.String(), feature) {
				t.Errorf("no %s in 1000 histories of %s", feature, c.model)
			}
		}
	}
}
