// Command mutants asks whether the tests notice when the code is wrong. It changes one
// small thing at a time, such as < into <=, and runs the tests that run the changed line,
// the fastest first. A mutant that all of them pass has survived.
//
//	make mutants ARGS="-n 1000 -log mutants.jsonl"
//
// Mutants are drawn at random with a seed. The result of each is a line of the log, and a
// second run goes on where the first ended. Files do not change: the go command is told
// to take other texts for them. All mutants are built at once (see copies.go). The
// command finds out once which lines a test runs, and keeps this beside the log, in
// mutants.jsonl.tests. Remove that file when the code has changed. harmless.txt lists
// survivors that make no difference, or only to how long something takes, with the
// reason.
//
// It is our own because well-kept tools, such as gremlins, build and run a package's tests once for
// each mutant. Most of what judges a package here is in other packages, and takes minutes.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// The results of a mutant.
const (
	killed     = "killed"
	timedOut   = "timed out" // counts as killed
	noBuild    = "does not build"
	survived   = "survived"
	isHarmless = "harmless" // survived, and makes no difference
)

// outcome is a line of the log.
type outcome struct {
	mutant
	Outcome string
	By      string // the test that has killed it, or how many tests it has survived
}

//go:embed harmless.txt
var harmlessText string

func main() {
	in := flag.String("in", "edn,jepsen,models,fastpath,internal/families,fallback,internal/engines,report", "folders whose files are changed")
	n := flag.Int("n", 1000, "mutants that build")
	seed := flag.Uint64("seed", 1, "which are drawn")
	log := flag.String("log", "mutants.jsonl", "what became of each; a run goes on with it")
	seconds := flag.Float64("seconds", 1e9, "how long the tests that a mutant meets may take together")
	again := flag.Bool("again", false, "try those again that have survived and are not known to be harmless")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, strings.Split(*in, ","), *n, *seed, *seconds, *log, *again); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folders []string, n int, seed uint64, seconds float64, log string, again bool) error {
	all, err := mutantsIn(folders)
	if err != nil {
		return err
	}
	harmless, err := reasons(harmlessText)
	if err != nil {
		return err
	}
	known := map[string]outcome{}
	if err := eachLine(log, func(o outcome) { known[o.name()] = o }); err != nil {
		return err
	}
	// Always the same folder, for the go command's cache. The go command does not look for packages
	// in it.
	dir, err := filepath.Abs(filepath.Join(filepath.Dir(log), "_"+filepath.Base(log)+".build"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	drawn, b, err := draw(ctx, dir, all, n, seed, known)
	if err != nil {
		return err
	}
	to, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer to.Close()
	open := func(m mutant) bool {
		o, is := known[m.name()]
		return !is || again && o.Outcome == survived && harmless[m.name()] == ""
	}
	var t *tester
	for i, m := range drawn {
		if ctx.Err() != nil || known[m.name()].Outcome == noBuild || !open(m) {
			continue
		}
		if t == nil {
			if t, err = newTester(ctx, b, folders, seconds, log); err != nil {
				return err
			}
		}
		o, err := t.try(ctx, m, i+1)
		if err != nil {
			report(drawn, known, harmless)
			return err
		}
		line, err := json.Marshal(o)
		if err != nil {
			return err
		}
		if _, err := to.Write(append(line, '\n')); err != nil {
			return err
		}
		known[m.name()] = o
		fmt.Fprintf(os.Stderr, "%d %s:%d %s: %s %s\n", i+1, m.File, m.Line, m.name(), o.Outcome, o.By)
	}
	report(drawn, known, harmless)
	return nil
}

// draw returns the first n mutants that build. If the code changes, the mutants that
// remain keep their order. draw adds mutants that do not build to known.
func draw(ctx context.Context, dir string, all []mutant, n int, seed uint64, known map[string]outcome) ([]mutant, *build, error) {
	slices.SortStableFunc(all, func(a, b mutant) int { return bytes.Compare(a.place(seed), b.place(seed)) })
	for more := n + n/8; ; more += n / 8 {
		all := all[:min(more, len(all))]
		broken := map[int]bool{}
		b, err := newBuild(ctx, dir, all, broken)
		if err != nil {
			return nil, nil, err
		}
		builds := 0
		for i, m := range all {
			if builds == n {
				return all[:i], b, nil
			} else if !broken[i+1] {
				builds++
				continue
			}
			known[m.name()] = outcome{m, noBuild, ""}
		}
		if len(all) < more {
			return all, b, nil
		}
	}
}

// newTester returns a tester that knows all tests.
func newTester(ctx context.Context, b *build, folders []string, seconds float64, log string) (*tester, error) {
	packages, err := testPackages(ctx, folders)
	if err != nil {
		return nil, err
	}
	tests, err := lookAt(ctx, packages, folders, log+".tests")
	return &tester{b, map[string]string{}, tests, map[string]bool{}, map[string]int{}, seconds}, err
}

// report prints the results in each folder, and the survivors that are not known to be harmless.
func report(drawn []mutant, known map[string]outcome, harmless map[string]string) {
	counts := map[string]map[string]int{}
	var left []string
	for _, m := range drawn {
		what := known[m.name()].Outcome
		if what == survived && harmless[m.name()] != "" {
			what = isHarmless
		} else if what == survived {
			left = append(left, m.name())
		}
		folder, _, _ := strings.Cut(m.File, "/")
		for _, of := range []string{folder, "all"} {
			if counts[of] == nil {
				counts[of] = map[string]int{}
			}
			if counts[of][what]++; what != noBuild {
				counts[of]["drawn"]++
			}
		}
	}
	columns := []string{"drawn", killed, timedOut, isHarmless, survived}
	fmt.Println("| folder |", strings.Join(columns, " | "), "|")
	for _, folder := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("| %s |", folder)
		for _, column := range columns {
			fmt.Printf(" %d |", counts[folder][column])
		}
		fmt.Println()
	}
	for _, name := range left {
		fmt.Println(name)
	}
	now := map[string]bool{}
	for _, m := range drawn {
		now[m.name()] = true
	}
	for name := range harmless {
		if !now[name] {
			fmt.Println("in harmless.txt and not drawn:", name)
		}
	}
}

// reasons returns the reasons by mutant. Each is on the line below its mutant,
// after a tab.
func reasons(text string) (map[string]string, error) {
	list, last := map[string]string{}, ""
	for line := range strings.Lines(text) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "" || line[0] == '#':
		case line[0] != '\t':
			last = line
		case last == "":
			return nil, fmt.Errorf("harmless.txt: a reason without a mutant: %s", line)
		default:
			list[last], last = strings.TrimSpace(line), ""
		}
	}
	return list, nil
}
