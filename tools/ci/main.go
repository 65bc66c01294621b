// Command ci runs the steps of .ci/run, and says what they took:
//
//	ci step [-inputs PATHS] NAME COMMAND ARG..   runs a step
//	ci raced                                     prints the packages that the race detector is for
//	ci table                                     prints what all steps took, and the tests that they skipped
//
// A step's output is printed once it has ended, since other steps run beside it. The
// folder that CLEW_CI_RESULTS names keeps what steps took. A test that skips itself fails
// the table unless another step ran it, or .ci/skips lists it with a reason. With inputs,
// a step that passed before with the same files is not run again, unless CLEW_CI is "all".
// The real histories are among the inputs of each step, by their names and sizes.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// result is what a step took, and what it tested.
type result struct {
	Name          string
	Began         time.Time
	Wall, CPU     time.Duration
	Failed        int
	Passes, Skips []string // package and name of each test that passed, or that skipped itself
	Unchanged     bool     // it passed before with the same inputs
	OK            bool
}

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("expected step, raced or table"))
	}
	var err error
	switch os.Args[1] {
	case "step":
		err = step(os.Args[2:])
	case "raced":
		err = raced(os.Stdout)
	case "table":
		err = table(os.Stdout)
	default:
		err = fmt.Errorf("expected step, raced or table, found %s", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "ci:", err)
	os.Exit(1)
}

// step runs a step, prints its output, and keeps its result.
func step(args []string) error {
	var inputs string
	if len(args) > 1 && args[0] == "-inputs" {
		inputs, args = args[1], args[2:]
	}
	if len(args) < 2 {
		return errors.New("expected the name of a step and its command")
	}
	r := &result{Name: args[0], Began: time.Now()}
	stamp := ""
	if inputs != "" {
		var err error
		if stamp, err = stampOf(r.Name, strings.Fields(inputs)); err != nil {
			return err
		}
		if _, err := os.Stat(stamp); err == nil && os.Getenv("CLEW_CI") != "all" {
			fmt.Printf("\n== %s: passed before with the same inputs; CLEW_CI=all runs it again\n", r.Name)
			r.Unchanged, r.OK = true, true
			return r.keep()
		}
	}
	cmd := exec.Command(args[1], args[2:]...)
	var out bytes.Buffer
	log, err := os.Create(r.path("log")) // for those who watch a long step
	if err != nil {
		return err
	}
	defer log.Close()
	both := io.MultiWriter(&out, log)
	cmd.Stdout, cmd.Stderr = both, both
	err = cmd.Run()
	r.Wall, r.OK = time.Since(r.Began), err == nil
	if cmd.ProcessState != nil {
		r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	var text bytes.Buffer
	r.read(&out, &text)
	fmt.Printf("\n== %s (%.0f s)\n%s", r.Name, r.Wall.Seconds(), text.Bytes())
	if err := r.keep(); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s failed: %w", r.Name, err)
	}
	if stamp != "" {
		return os.WriteFile(stamp, nil, 0o666)
	}
	return nil
}

// event is a line that go test -json prints.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// read takes a step's output, in which the lines of go test -json are counted. It prints
// all other lines, a line for each package, and what failing tests and packages printed.
func (r *result) read(in io.Reader, out io.Writer) {
	all, _ := io.ReadAll(in)
	said := map[[2]string]*strings.Builder{}
	for line := range bytes.Lines(all) {
		var e event
		if !bytes.HasPrefix(line, []byte(`{"`)) || json.Unmarshal(line, &e) != nil || e.Action == "" {
			out.Write(line)
			continue
		}
		key := [2]string{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			io.WriteString(out, e.Output)
			continue
		case "output":
			if said[key] == nil {
				said[key] = &strings.Builder{}
			}
			said[key].WriteString(e.Output)
			continue
		case "pass":
			if e.Test != "" {
				r.Passes = append(r.Passes, e.Package+" "+e.Test)
			} else {
				fmt.Fprintf(out, "ok  \t%s\t%.3fs\n", e.Package, e.Elapsed)
			}
		case "fail":
			if text := said[key]; text != nil {
				io.WriteString(out, text.String())
			}
			if e.Test != "" {
				r.Failed++
			} else {
				for other, text := range said { // a test that a panic or the limit ended has no result of its own
					if other[0] == e.Package && other[1] != "" {
						io.WriteString(out, text.String())
					}
				}
				fmt.Fprintf(out, "FAIL\t%s\t%.3fs\n", e.Package, e.Elapsed)
			}
		case "skip":
			if e.Test != "" {
				r.Skips = append(r.Skips, e.Package+" "+e.Test)
			}
		default:
			continue
		}
		delete(said, key)
	}
}

// keep writes the result where table reads it.
func (r *result) keep() error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(r.path("json"), text, 0o666)
}

// path returns the file of a step's results.
func (r *result) path(kind string) string {
	return filepath.Join(os.Getenv("CLEW_CI_RESULTS"), strings.ReplaceAll(r.Name, "/", "-")+"."+kind)
}

// table prints what all steps took. It fails if a step did, or if a test skipped itself
// that .ci/skips does not list.
func table(out io.Writer) error {
	files, err := filepath.Glob(filepath.Join(os.Getenv("CLEW_CI_RESULTS"), "*.json"))
	if err != nil {
		return err
	}
	var all []*result
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		r := &result{}
		if err := json.Unmarshal(text, r); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *result) int { return a.Began.Compare(b.Began) })
	list, err := os.ReadFile(".ci/skips")
	if err != nil {
		return err
	}
	allowed := readSkips(string(list))
	var unlisted []string
	passes := map[string]bool{} // a test that one step skips may have run in another
	for _, r := range all {
		for _, test := range r.Passes {
			passes[test] = true
		}
	}
	passed, failed, skipped := 0, 0, 0
	fmt.Fprintf(out, "\n%-50s %7s %7s %7s %6s\n", "step", "wall s", "CPU s", "tests", "skips")
	for _, r := range all {
		note := ""
		if r.Unchanged {
			note = "  unchanged since it passed"
		}
		if !r.OK {
			note, failed = "  FAILED", max(failed, 1)
		}
		fmt.Fprintf(out, "%-50s %7.0f %7.0f %7d %6d%s\n", r.Name, r.Wall.Seconds(), r.CPU.Seconds(), len(r.Passes)+r.Failed, len(r.Skips), note)
		passed, failed, skipped = passed+len(r.Passes), failed+r.Failed, skipped+len(r.Skips)
		for _, s := range r.Skips {
			if !passes[s] && !allowed.take(s) {
				unlisted = append(unlisted, s)
			}
		}
	}
	fmt.Fprint(out, "\nTests that may skip themselves, and how many did (.ci/skips):\n")
	for _, a := range allowed {
		fmt.Fprintf(out, "%4d  %s  # %s\n", a.times, a.test, a.reason)
	}
	for _, s := range unlisted {
		fmt.Fprintf(out, "skipped, but not listed in .ci/skips: %s\n", s)
	}
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped\n", passed, failed+len(unlisted), skipped-len(unlisted))
	if failed > 0 || len(unlisted) > 0 {
		return errors.New("a step failed, or a test skipped itself that .ci/skips does not list")
	}
	return nil
}

// skip is a test that may skip itself, with the reason.
type skip struct {
	test, reason string // a test is its package and name; * at its end stands for what is left
	times        int
}

type skips []*skip

// readSkips reads lines such as "clew/clewtest TestMisuse # why".
func readSkips(text string) (all skips) {
	for line := range strings.Lines(text) {
		test, reason, found := strings.Cut(strings.TrimSpace(line), "#")
		if test = strings.TrimSpace(test); test != "" && found {
			all = append(all, &skip{test: test, reason: strings.TrimSpace(reason)})
		}
	}
	return all
}

// take counts a test that skipped itself, and reports whether the list has it.
func (all skips) take(test string) bool {
	for _, s := range all {
		if prefix, any := strings.CutSuffix(s.test, "*"); s.test == test || any && strings.HasPrefix(test, prefix) {
			s.times++
			return true
		}
	}
	return false
}

// raced prints the packages whose own files or tests start goroutines, or import what
// several share. Others have nothing that the race detector could see.
func raced(out io.Writer) error {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct {
			ImportPath, Dir                    string
			GoFiles, TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&p); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				return err
			}
			if races(file) {
				fmt.Fprintln(out, p.ImportPath)
				break
			}
		}
	}
}

// races reports whether a file starts goroutines, or imports what several share.
func races(file *ast.File) bool {
	for _, i := range file.Imports {
		if path := strings.Trim(i.Path.Value, `"`); path == "sync" || path == "sync/atomic" || strings.HasPrefix(path, "golang.org/x/sync/") {
			return true
		}
	}
	starts := false
	ast.Inspect(file, func(n ast.Node) bool {
		_, is := n.(*ast.GoStmt)
		starts = starts || is
		return !starts
	})
	return starts
}

// stampOf returns the file that exists once a step has passed with the tracked files of
// the paths as they are, with this Go. It is beside Go's build cache.
func stampOf(name string, paths []string) (string, error) {
	text, err := exec.Command("go", "env", "GOCACHE", "GOVERSION").Output()
	if err != nil {
		return "", err
	}
	cache, version, _ := strings.Cut(string(text), "\n")
	hash, err := hashOf(cmp.Or(strings.TrimSpace(version), "?"), paths)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "clew-ci")
	return filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+"-"+hash), os.MkdirAll(folder, 0o777)
}
