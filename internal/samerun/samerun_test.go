package samerun_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/samerun"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// run returns the lines of a history of three clients, with few different values.
func run(rng *rand.Rand, times bool) (lines []string) {
	var open [3]string
	for range 60 {
		p, at := rng.IntN(3), ""
		if times {
			at = fmt.Sprintf(", :time %d", rng.IntN(1<<40))
		}
		if open[p] == "" {
			open[p] = fmt.Sprint(rng.IntN(3))
			lines = append(lines, fmt.Sprintf("{:process %d, :type :invoke, :f :write, :value %s%s}", p, open[p], at))
			continue
		}
		lines = append(lines, fmt.Sprintf("{:process %d, :type :ok, :f :write, :value %s%s}", p, open[p], at))
		open[p] = ""
	}
	return lines
}

func read(t *testing.T, lines []string) *jepsen.History {
	t.Helper()
	h, err := forms.Read(strings.NewReader(strings.Join(lines, "\n")+"\n"), "history.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// without returns the lines without some whole operations.
func without(rng *rand.Rand, lines []string) []string {
	drop := map[int]bool{}
	for range 3 {
		i := rng.IntN(len(lines))
		if !strings.Contains(lines[i], ":invoke") {
			continue
		}
		process, _, _ := strings.Cut(lines[i], ",")
		rest := slices.IndexFunc(lines[i+1:], func(l string) bool { return strings.HasPrefix(l, process+",") })
		if drop[i] = true; rest >= 0 {
			drop[i+1+rest] = true
		}
	}
	var left []string
	for i, l := range lines {
		if !drop[i] {
			left = append(left, l)
		}
	}
	return left
}

// shuffled returns the lines in another order, but for those of the same client.
func shuffled(rng *rand.Rand, lines []string) []string {
	lines = slices.Clone(lines)
	for range 200 {
		i := rng.IntN(len(lines) - 1)
		if a, _, _ := strings.Cut(lines[i], ","); !strings.HasPrefix(lines[i+1], a+",") {
			lines[i], lines[i+1] = lines[i+1], lines[i]
		}
	}
	return lines
}

func TestAPartOfARunIsToldFromAnotherRun(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 3))
	for range 100 {
		lines := run(rng, rng.IntN(2) == 0)
		whole := read(t, lines)
		for name, part := range map[string][]string{"all": lines, "the beginning": lines[:rng.IntN(len(lines))], "some": without(rng, lines), "shuffled": shuffled(rng, lines)} {
			if !samerun.Part(read(t, part), whole) {
				t.Fatalf("%s is not a part\n%s", name, strings.Join(part, "\n"))
			}
		}
		other := run(rng, true)
		if samerun.Part(read(t, other), read(t, run(rng, true))) {
			t.Fatalf("another run is a part\n%s", strings.Join(other, "\n"))
		}
	}
}

// One event that differs in one thing makes another run.
func TestAnEventThatDiffersIsOfAnotherRun(t *testing.T) {
	t.Parallel()
	lines := []string{"{:process 0, :type :invoke, :f :write, :value 1, :time 5}", "{:process 0, :type :ok, :f :write, :value 1, :time 6}"}
	h := read(t, lines)
	for _, c := range []struct {
		old, new string
		same     bool
	}{
		{"", "", true}, {":value 1", ":value 1N", true}, {":value 1", ":value 2", false}, {":time 6", ":time 7", false}, {", :time 6", "", true},
		{":f :write", ":f :read", false}, {":process 0", ":process 1", false}, {":ok", ":info", false},
	} {
		other := read(t, []string{strings.ReplaceAll(lines[0], strings.ReplaceAll(c.old, " 6", " 5"), strings.ReplaceAll(c.new, " 7", " 5")), strings.ReplaceAll(lines[1], c.old, c.new)})
		if got := samerun.Part(other, h); got != c.same {
			t.Errorf("%s for %s: %t", c.new, c.old, got)
		}
	}
}

func begins(h, log *jepsen.History) bool {
	return samerun.Begins(h, samerun.First(log, 1000, h.Values))
}

func TestALogBeginsAsItsHistoryDoes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 4))
	for range 100 {
		lines := run(rng, true)
		h := read(t, lines)
		log := shuffled(rng, lines[:30])
		if !samerun.Begins(h, samerun.First(read(t, log), 1000, h.Values)) {
			t.Fatalf("the log is of another run\n%s", strings.Join(log, "\n"))
		}
		if other := run(rng, true); samerun.Begins(h, samerun.First(read(t, other), 10, h.Values)) {
			t.Fatalf("another run begins so\n%s", strings.Join(other, "\n"))
		}
		crashed := slices.Insert(slices.Clone(lines), 60, "{:process 9, :type :invoke, :f :write, :value 1}", "{:process 9, :type :info, :f :write, :value 1}")
		if log := append(slices.Clone(crashed[:61:61]), crashed[62:]...); !begins(read(t, crashed), read(t, log)) {
			t.Fatal("an :info that is not logged makes another run")
		}
		if !samerun.Begins(read(t, lines[:5]), samerun.First(h, 1000, edn.NewValues())[:0]) {
			t.Fatal("nothing contradicts nothing")
		}
	}
}
