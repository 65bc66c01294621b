package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// aTest is a test, and what is known about it from a run without a mutant.
type aTest struct {
	Package, Name string
	Seconds       float64
	Lines         map[string][][2]int // by file: the ranges of lines that it runs, in order
	Parts         []string            // its subtests, which run one by one if it takes long
}

// long is how many seconds a test has to take to run in parts, and many how many parts it may have for that: those of a fuzz
// test with a thousand seeds would each be looked at alone.
const long, many = 2, 100

// pattern returns the regular expression of a test's name. Several can be joined if
// they are parts of one test. parent names that test.
func (t *aTest) pattern() (parent, name string) {
	if test, part, is := strings.Cut(t.Name, "/"); is {
		return test, regexp.QuoteMeta(part)
	}
	return "", t.Name
}

func (t *aTest) String() string { return t.Package + " " + t.Name }

// reaches says whether a test runs a line.
func (t *aTest) reaches(file string, line int) bool {
	i, _ := slices.BinarySearchFunc(t.Lines[file], line, func(l [2]int, line int) int { return l[1] - line })
	return i < len(t.Lines[file]) && t.Lines[file][i][0] <= line
}

// apart are packages whose tests do not depend on what a mutant changes: they look at the
// sources.
var apart = []string{"./internal/house"}

// modulePath returns the path of the module whose packages are changed.
func modulePath(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m").Output()
	return strings.TrimSpace(string(out)), err
}

// testPackages returns the packages that have tests and import a package below the folders.
func testPackages(ctx context.Context, folders []string) ([]string, error) {
	module, err := modulePath(ctx)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, "go", "list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		program, isTest := strings.CutSuffix(strings.Fields(line)[0], ".test")
		if p := "." + strings.TrimPrefix(program, module); isTest && !slices.Contains(apart, p) {
			found[p] = slices.ContainsFunc(strings.Fields(line)[1:], func(imported string) bool {
				return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(imported+"/", module+"/"+f+"/") })
			})
		}
	}
	maps.DeleteFunc(found, func(_ string, imports bool) bool { return !imports })
	return slices.Sorted(maps.Keys(found)), nil
}

// lookAt runs each test of the packages alone, without a mutant, and keeps which lines it
// runs in a file. It does not repeat tests that the file already has. It leaves out tests
// that fail.
func lookAt(ctx context.Context, packages, folders []string, file string) ([]*aTest, error) {
	l := &looking{known: map[string]*aTest{}, folders: folders}
	if err := eachLine(file, func(t aTest) { l.known[t.String()] = &t }); err != nil {
		return nil, err
	}
	var err error
	if l.to, err = os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return nil, err
	}
	defer l.to.Close()
	if l.dir, err = os.MkdirTemp("", "mutants"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(l.dir)
	var all []*aTest
	for _, p := range packages {
		names, err := testsOf(p)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			tests, err := l.parts(ctx, p, name)
			if err != nil {
				return nil, err
			}
			all = append(all, tests...)
		}
	}
	return all, nil
}

// looking is a look at tests in progress.
type looking struct {
	known   map[string]*aTest
	folders []string
	to      *os.File // where the findings are kept
	dir     string   // for programs and their output
}

// parts returns a test, or its parts if it takes long, or nothing if it fails.
func (l *looking) parts(ctx context.Context, p, name string) ([]*aTest, error) {
	t, err := l.test(ctx, p, name)
	if err != nil || len(t.Lines) == 0 {
		return nil, err
	}
	if t.Seconds < long || len(t.Parts) < 2 || len(t.Parts) > many {
		return []*aTest{t}, nil
	}
	var all []*aTest
	for _, part := range t.Parts {
		t, err := l.test(ctx, p, name+"/"+part)
		if err != nil {
			return nil, err
		}
		if len(t.Lines) > 0 {
			all = append(all, t)
		}
	}
	return all, nil
}

// test returns what is known about a test, and finds it out if necessary.
func (l *looking) test(ctx context.Context, p, name string) (*aTest, error) {
	if t := l.known[p+" "+name]; t != nil {
		return t, nil
	}
	b := &build{dir: l.dir}
	program, err := b.testProgram(ctx, p, "-cover", "-coverpkg=./"+strings.Join(l.folders, "/...,./")+"/...")
	if err != nil {
		return nil, err
	}
	t, err := runAlone(ctx, l.dir, program, p, name)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%s: %.2fs\n", t, t.Seconds)
	line, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	_, err = l.to.Write(append(line, '\n'))
	return t, err
}

// testsOf returns the names of the tests in a package's folder.
func testsOf(p string) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(p, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, name := range regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`).FindAllSubmatch(text, -1) {
			if string(name[1]) != "TestMain" {
				names = append(names, string(name[1]))
			}
		}
	}
	return names, nil
}

// asInCI returns the environment of tests that take as many histories as CI's do, on one core.
func asInCI(more ...string) []string {
	return append(append(os.Environ(), "GOMAXPROCS=1", "CLEW_FULL=1"), more...)
}

// runAlone runs a test to see which lines it runs, including in programs that
// it starts.
func runAlone(ctx context.Context, dir, program, p, name string) (*aTest, error) {
	data, profile := filepath.Join(dir, "data"), filepath.Join(dir, "profile")
	if err := errors.Join(os.RemoveAll(data), os.Mkdir(data, 0o777)); err != nil {
		return nil, err
	}
	t := &aTest{Package: p, Name: name}
	c := exec.CommandContext(ctx, program, "-test.v", "-test.run", patternOf([]*aTest{t}), "-test.gocoverdir", data)
	c.Dir, c.Env = p, asInCI("GOCOVERDIR="+data)
	begun := time.Now()
	out, err := c.CombinedOutput()
	t.Seconds = time.Since(begun).Seconds()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fmt.Fprintf(os.Stderr, "without a mutant %s %s fails: %v\n%s", p, name, err, out)
		return t, nil
	}
	for _, part := range regexp.MustCompile(`(?m)^=== RUN   `+regexp.QuoteMeta(name)+`/([^/\s]+)$`).FindAllSubmatch(out, -1) {
		t.Parts = append(t.Parts, string(part[1]))
	}
	t.Lines = map[string][][2]int{}
	if out, err := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i", data, "-o", profile).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", t, err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	module, err := modulePath(ctx)
	if err != nil {
		return nil, err
	}
	for _, at := range regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(module)+`/(.*):(\d+)\.\d+,(\d+)\.\d+ \d+ [1-9]\d*$`).FindAllSubmatch(text, -1) {
		from, _ := strconv.Atoi(string(at[2]))
		to, _ := strconv.Atoi(string(at[3]))
		t.Lines[string(at[1])] = append(t.Lines[string(at[1])], [2]int{from, to})
	}
	for file, lines := range t.Lines {
		t.Lines[file] = joined(lines)
	}
	return t, nil
}

// patternOf returns the pattern of some tests, or of some parts of one test.
func patternOf(tests []*aTest) string {
	parent, names := "", make([]string, len(tests))
	for i, t := range tests {
		parent, names[i] = t.pattern()
	}
	if parent != "" {
		parent = "^" + parent + "$/"
	}
	return parent + "^(" + strings.Join(names, "|") + ")$"
}

// joined returns the same lines, in order, each once.
func joined(lines [][2]int) [][2]int {
	slices.SortFunc(lines, func(a, b [2]int) int { return a[0] - b[0] })
	all := lines[:1]
	for _, l := range lines[1:] {
		if last := &all[len(all)-1]; l[0] <= last[1]+1 {
			last[1] = max(last[1], l[1])
		} else {
			all = append(all, l)
		}
	}
	return all
}

// eachLine calls f with each line of a file, read as JSON. The file need not exist.
func eachLine[T any](file string, f func(T)) error {
	from, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer from.Close()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var line T
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		f(line)
	}
	return lines.Err()
}

// rounds are the seconds that a test may take to run in each round, so that tests that kill
// quickly run first. The first round has the package's own tests, up to a second.
var rounds = []float64{0, 0.05, 0.3, 1, 3, 10, 1e9}

// tester runs tests with mutants.
type tester struct {
	*build
	programs map[string]string // by package, once they are built
	tests    []*aTest
	sound    map[string]bool // by test: whether it passes without a mutant, once it has failed with one
	kills    map[string]int  // by the mutant's package and the tests'
	seconds  float64         // how much time the tests of a mutant may take together
}

// try runs the tests that may detect a mutant, the fastest first.
func (t *tester) try(ctx context.Context, m mutant, id int) (outcome, error) {
	var may []*aTest
	for _, test := range t.tests {
		if test.reaches(m.File, m.reach) {
			may = append(may, test)
		}
	}
	left := t.seconds
	for i, limit := range rounds {
		groups := map[string][]*aTest{}
		for _, test := range may {
			soon := i == 0 && test.Package == m.Package && test.Seconds <= 1
			later := i > 0 && test.Seconds <= limit && test.Seconds > rounds[i-1] && !(test.Package == m.Package && test.Seconds <= 1)
			if (soon || later) && left >= test.Seconds {
				parent, _ := test.pattern()
				groups[test.Package+" "+parent] = append(groups[test.Package+" "+parent], test)
				left -= test.Seconds
			}
		}
		order := slices.Sorted(maps.Keys(groups))
		slices.SortStableFunc(order, func(a, b string) int { return t.kills[m.Package+" "+b] - t.kills[m.Package+" "+a] })
		for _, g := range order {
			how, by, err := t.run(ctx, id, groups[g])
			if how != survived || err != nil {
				t.kills[m.Package+" "+g]++
				return outcome{m, how, by}, err
			}
		}
	}
	return outcome{m, survived, fmt.Sprint(len(may), " tests")}, nil
}

// run returns the result of a mutant in some tests of a package, or parts of one.
func (t *tester) run(ctx context.Context, id int, tests []*aTest) (how, by string, err error) {
	for {
		tests = slices.DeleteFunc(tests, func(test *aTest) bool { sound, known := t.sound[test.String()]; return known && !sound })
		if len(tests) == 0 {
			return survived, "", nil
		}
		how, failed, err := t.goTest(ctx, id, tests)
		if how == survived || err != nil {
			return how, "", err
		}
		i := slices.IndexFunc(tests, func(test *aTest) bool { return test.Name == failed })
		if i < 0 && len(tests) > 1 { // it crashed
			return t.oneByOne(ctx, id, tests)
		}
		i = max(i, 0)
		if _, known := t.sound[tests[i].String()]; !known {
			without, _, err := t.goTest(ctx, 0, tests[i:i+1])
			if err != nil {
				return "", "", err
			}
			if t.sound[tests[i].String()] = without == survived; without != survived {
				fmt.Fprintf(os.Stderr, "without a mutant %s fails, and is not asked again\n", tests[i])
			}
		}
		if t.sound[tests[i].String()] {
			return how, tests[i].String(), nil
		}
	}
}

// oneByOne does what run does for tests that do not say which of them has failed.
func (t *tester) oneByOne(ctx context.Context, id int, tests []*aTest) (how, by string, err error) {
	for _, test := range tests {
		if how, by, err = t.run(ctx, id, []*aTest{test}); how != survived || err != nil {
			return how, by, err
		}
	}
	return survived, "", nil
}

// goTest runs tests of a package, and names the one that fails. They get more processor
// time than they take without a mutant. So an endless loop does not survive, whatever
// else the machine does.
func (t *tester) goTest(ctx context.Context, id int, tests []*aTest) (how, failed string, err error) {
	program := t.programs[tests[0].Package]
	if program == "" {
		if program, err = t.testProgram(ctx, tests[0].Package, "-overlay", t.overlay); err != nil {
			return "", "", err
		}
		t.programs[tests[0].Package] = program
	}
	if err := t.choose(id); err != nil {
		return "", "", err
	}
	seconds := 0.0
	for _, test := range tests {
		seconds += test.Seconds
	}
	limit := fmt.Sprintf(`ulimit -t %d && ulimit -v %d && exec "$@"`, int(5+5*seconds), 12<<20)
	c := exec.CommandContext(ctx, "sh", "-c", limit, "sh", program, "-test.failfast",
		"-test.timeout", fmt.Sprint(time.Duration((60+20*seconds)*float64(time.Second))), "-test.run", patternOf(tests))
	c.Dir, c.Env, c.WaitDelay = tests[0].Package, asInCI(), time.Second
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", "", context.Cause(ctx)
	case err == nil:
		return survived, "", nil
	case !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return "", "", err
	}
	for _, name := range regexp.MustCompile(`(?m)^\s*--- FAIL: (\S*)`).FindAllSubmatch(out, -1) {
		if slices.ContainsFunc(tests, func(test *aTest) bool { return test.Name == string(name[1]) }) {
			failed = string(name[1])
			break
		}
	}
	if exit != nil && exit.ProcessState.ExitCode() < 0 || bytes.Contains(out, []byte("test timed out")) {
		return timedOut, failed, nil
	}
	return killed, failed, nil
}
