// Command fuzzing is make fuzz. It gives every fuzz target of the module the same CPU time,
// one process at a time. Each piece of work is a line of the log, so a later run goes on
// with what is missing. The table covers all of them.
//
//	make fuzz MINUTES=30
//
// It finds targets by their names, FuzzX in a test file. It keeps what they find where go
// test -fuzz does, below go env GOCACHE. It writes an input that fails to the
// testdata/fuzz of its package, and ends the work on that target.
//
// Go's -fuzztime does the fuzzing. What is our own is what it lacks: several targets, equal CPU time,
// going on where a run ended, and seeds from what was found.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// target is a function that go test can fuzz.
type target struct {
	pkg, name string // clew/edn, FuzzParse
	dir       string
}

func (t target) String() string { return t.pkg + " " + t.name }

// piece is a line of the log: some time of one target.
type piece struct {
	Target      string  `json:"target"`
	Seconds     float64 `json:"seconds"` // of CPU time
	Executions  int     `json:"executions"`
	Interesting int     `json:"interesting"` // inputs that reached something new
	Commit      string  `json:"commit"`
	Failed      bool    `json:"failed,omitempty"`
}

func main() {
	minutes := flag.Float64("minutes", 1, "CPU time of each target")
	slice := flag.Duration("slice", 2*time.Minute, "how long a target is run until it is another's turn; each time it executes first what it has found so far")
	log := flag.String("log", "", "a file that keeps what was done, with which a run goes on")
	only := flag.String("only", "", "targets whose names match this regular expression")
	keep := flag.Bool("keep", false, "fuzz nothing; make seeds of what was found that reaches more than the seeds there are")
	flag.Parse()
	if *keep {
		if err := keepSeeds(*only); err != nil {
			fmt.Fprintln(os.Stderr, "fuzz:", err)
			os.Exit(2)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := run(ctx, *minutes*60, *slice, *log, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

func run(ctx context.Context, seconds float64, slice time.Duration, log, only string) (failed bool, err error) {
	targets, err := find(only)
	if err != nil {
		return false, err
	}
	binaries, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(binaries)
	all := map[string]*piece{}
	count := func(p piece) {
		if all[p.Target] == nil {
			all[p.Target] = &piece{Target: p.Target}
		}
		sum := all[p.Target]
		sum.Seconds += p.Seconds
		sum.Executions += p.Executions
		sum.Interesting += p.Interesting
		sum.Commit, sum.Failed = p.Commit, p.Failed
	}
	to, err := open(log, count)
	if err != nil {
		return false, err
	}
	defer to.Close()
	broken := map[target]bool{} // in this run; a failure of an earlier run may have been fixed
	commit := output("git", "describe", "--always", "--dirty")
	for more := true; more && ctx.Err() == nil; {
		more = false
		for _, t := range targets {
			spent := 0.0
			if sum := all[t.String()]; sum != nil {
				spent = sum.Seconds
			}
			if ctx.Err() != nil || broken[t] || spent >= seconds {
				continue
			}
			more = true
			turn := min(slice, time.Duration(max(seconds-spent, shortest)*float64(time.Second)))
			p, err := t.fuzz(ctx, binaries, t.cache(), turn)
			if err != nil {
				return false, err
			}
			p.Commit = commit
			count(p)
			if p.Failed {
				broken[t] = true
			}
			line, err := json.Marshal(p)
			if err != nil {
				return false, err
			}
			if _, err := to.Write(append(line, '\n')); err != nil {
				return false, err
			}
		}
	}
	return len(broken) > 0, table(all)
}

// shortest is the least number of seconds for which it pays to start a target.
const shortest = 20

// cache returns where go test -fuzz keeps what it finds for a package.
func (t target) cache() string { return filepath.Join(output("go", "env", "GOCACHE"), "fuzz", t.pkg) }

// output returns what a command prints, or "" if it fails.
func output(name string, args ...string) string {
	out, _ := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out))
}

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// find returns the targets of the module.
func find(only string) ([]target, error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Dir}}", "./...").Output()
	if err != nil {
		return nil, err
	}
	var all []target
	for line := range strings.Lines(string(out)) {
		pkg, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, found := range declaration.FindAllSubmatch(text, -1) {
				if t := (target{pkg, string(found[1]), dir}); wanted.MatchString(t.String()) {
					all = append(all, t)
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no fuzz target matches %q", only)
	}
	return all, nil
}

var progress = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)

// fuzz runs a target for some time on the clock, with a single worker. It builds the
// target's binary when it first needs it.
func (t target) fuzz(ctx context.Context, binaries, cache string, turn time.Duration) (piece, error) {
	binary := filepath.Join(binaries, strings.ReplaceAll(t.pkg, "/", "-"))
	if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
		if out, err := exec.Command("go", "test", "-c", "-fuzz", ".", "-o", binary, t.pkg).CombinedOutput(); err != nil {
			return piece{}, fmt.Errorf("building %s: %w\n%s", t.pkg, err, out)
		}
	}
	fmt.Fprintf(os.Stderr, "fuzz: %s\n", t)
	c := exec.CommandContext(ctx, binary, "-test.run", "^$", "-test.fuzz", "^"+t.name+"$", "-test.fuzztime", turn.String(),
		"-test.fuzzminimizetime", "10x", "-test.parallel", "1", "-test.fuzzcachedir", cache)
	c.Dir, c.Env = t.dir, append(os.Environ(), "GOMAXPROCS=1")
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		return piece{}, err
	}
	p := piece{Target: t.String(), Seconds: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()}
	for _, found := range progress.FindAllSubmatch(out, -1) {
		p.Executions, _ = strconv.Atoi(string(found[1]))
		p.Interesting, _ = strconv.Atoi(string(found[2]))
	}
	if err != nil && ctx.Err() == nil {
		p.Failed = true
		if at := bytes.Index(out, []byte("--- FAIL")); at >= 0 {
			out = out[at:]
		}
		fmt.Printf("%s\n%s\n", t, out)
	}
	return p, nil
}

// open opens the log to append to, after counting each of its lines.
func open(file string, count func(piece)) (*os.File, error) {
	if file == "" {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var done piece
		if err := json.Unmarshal(lines.Bytes(), &done); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", file, err), f.Close())
		}
		count(done)
	}
	return f, lines.Err()
}

// table prints what was done, by target.
func table(all map[string]*piece) error {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "CPU minutes\texecutions\tnew interesting\tlast commit\t\t target")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		sum, failed := all[name], ""
		if sum.Failed {
			failed = "FAILED"
		}
		fmt.Fprintf(out, "%.1f\t%d\t%d\t%s\t%s\t %s\n", sum.Seconds/60, sum.Executions, sum.Interesting, sum.Commit, failed, name)
	}
	return out.Flush()
}
