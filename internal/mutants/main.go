// Command mutants asks whether the tests notice when the code is wrong. It changes one
// small thing at a time, such as < into <=, and runs the tests of the package, then
// those of the packages that import it. A mutant that all of them pass has survived.
//
//	go run ./internal/mutants -n 1000 -log mutants.jsonl
//
// Mutants are drawn at random with a seed, and what became of each is a line of the log;
// a second run goes on where the first ended. Files stay as they are: the go command is
// told to take another text for one of them. Survivors that make no difference, or only
// to how long something takes, are listed with the reason in harmless.txt.
package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What becomes of a mutant.
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
	By      string // which package's tests have killed it, or why it is harmless
}

//go:embed harmless.txt
var harmlessText string

func main() {
	in := flag.String("in", "edn,jepsen,models,fastpath,fallback,report", "folders whose files are changed")
	n := flag.Int("n", 1000, "mutants that build")
	seed := flag.Uint64("seed", 1, "which are drawn")
	log := flag.String("log", "mutants.jsonl", "what became of each; a run goes on with it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, strings.Split(*in, ","), *n, *seed, *log); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folders []string, n int, seed uint64, log string) error {
	all, err := mutantsIn(folders)
	if err != nil {
		return err
	}
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	harmless, err := reasons(harmlessText)
	if err != nil {
		return err
	}
	before, err := readLog(log)
	if err != nil {
		return err
	}
	t := tester{took: map[string]time.Duration{}}
	if t.importers, err = importersOf(ctx); err != nil {
		return err
	}
	to, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer to.Close()
	count := map[string]int{}
	var left []outcome
	for _, m := range all {
		if built(count) >= n || ctx.Err() != nil {
			break
		}
		o, known := before[m.name()]
		if !known {
			if o, err = t.try(ctx, m); err != nil {
				return errors.Join(err, report(count, left))
			}
			line, err := json.Marshal(o)
			if err != nil {
				return err
			}
			if _, err := to.Write(append(line, '\n')); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%d %s:%d %s -> %s: %s %s\n", built(count), m.File, m.Line, m.Was, m.Is, o.Outcome, o.By)
		}
		if why := harmless[m.name()]; why != "" && o.Outcome == survived {
			o.Outcome, o.By = isHarmless, why
		}
		if count[o.Outcome]++; o.Outcome == survived {
			left = append(left, o)
		}
	}
	return report(count, left)
}

// built is how many mutants have been tested.
func built(count map[string]int) int {
	return count[killed] + count[timedOut] + count[survived] + count[isHarmless]
}

// report prints what became of all.
func report(count map[string]int, left []outcome) error {
	for _, what := range slices.Sorted(maps.Keys(count)) {
		fmt.Printf("%6d %s\n", count[what], what)
	}
	fmt.Printf("%6d tested, of which %.1f%% survived and are not known to be harmless\n", built(count), 100*float64(count[survived])/float64(max(built(count), 1)))
	for _, o := range left {
		fmt.Println(o.name())
	}
	return nil
}

// tester runs tests.
type tester struct {
	importers map[string][]string      // by package: see importersOf
	took      map[string]time.Duration // by package: how long its tests take without a mutant
}

// try runs the tests that may notice a mutant, those of its package first.
func (t *tester) try(ctx context.Context, m mutant) (outcome, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile(m.File)
	if err != nil {
		return outcome{}, err
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	whole, err := filepath.Abs(m.File)
	if err != nil {
		return outcome{}, err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{whole: changed}})
	if err != nil {
		return outcome{}, err
	}
	if err := errors.Join(os.WriteFile(changed, []byte(m.apply(string(text))), 0o666), os.WriteFile(overlay, replace, 0o666)); err != nil {
		return outcome{}, err
	}
	for _, p := range append([]string{m.Package}, t.importers[m.Package]...) {
		how, err := t.test(ctx, overlay, p)
		if how != survived || err != nil {
			return outcome{m, how, p}, err
		}
	}
	return outcome{m, survived, ""}, nil
}

// test runs the tests of a package, and says what becomes of the mutant. They get much
// longer than they take without it.
func (t *tester) test(ctx context.Context, overlay, p string) (string, error) {
	took, known := t.took[p]
	if !known {
		begun := time.Now()
		if how, err := goTest(ctx, p, time.Hour); how != survived || err != nil {
			return "", errors.Join(err, fmt.Errorf("without a mutant the tests of %s: %s", p, how))
		}
		took = time.Since(begun)
		t.took[p] = took
	}
	return goTest(ctx, p, time.Minute+4*took, "-overlay", overlay)
}

func goTest(ctx context.Context, p string, limit time.Duration, flags ...string) (string, error) {
	flags = append([]string{"test", "-short", "-failfast", "-count=1", "-vet=off", fmt.Sprint("-timeout=", limit)}, flags...)
	c := exec.CommandContext(ctx, "go", append(flags, p)...)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == nil:
		return survived, nil
	case !errors.As(err, &exit):
		return "", err
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return noBuild, nil
	case bytes.Contains(out, []byte("test timed out")):
		return timedOut, nil
	}
	return killed, nil
}

// importersOf are, by package, those that import it, which have tests, nearest first.
func importersOf(ctx context.Context) (map[string][]string, error) {
	c := exec.CommandContext(ctx, "go", "list", "-f",
		`{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{join .Deps " "}}{{end}}`, "./...")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	const module = "clew"
	importers := map[string][]string{}
	var lines [][]string
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], module+"/internal/") {
			lines = append(lines, words)
		}
	}
	slices.SortStableFunc(lines, func(a, b []string) int { return len(a) - len(b) }) // few imports: near
	for _, words := range lines {
		for _, imported := range words[1:] {
			if folder, is := strings.CutPrefix(imported, module+"/"); is {
				importers["./"+folder] = append(importers["./"+folder], "."+strings.TrimPrefix(words[0], module))
			}
		}
	}
	return importers, nil
}

// readLog is what is known from earlier runs, by name. There may be none.
func readLog(file string) (map[string]outcome, error) {
	known := map[string]outcome{}
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		known[o.name()] = o
	}
	return known, lines.Err()
}

// reasons are the reasons by mutant, each on the line below it, after a tab.
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
