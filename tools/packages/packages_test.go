// Package packages uses the packages for other languages as people do: it does what their documents say, in a copy
// of the repository.
package packages

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew/tools/internal/tree"
)

// pythonVariable names the Python of the tests, if it is not the first one on the path.
const pythonVariable = "CLEW_PYTHON"

// place is a copy of the repository in which the library has been built.
type place struct {
	dir string
	env []string
}

// newPlace builds the library, the program and the wheel in a copy. Go keeps what it compiles for the next time.
func newPlace(t *testing.T) *place {
	p := &place{dir: tree.Copy(t, "../..")}
	path := filepath.Join(p.dir, "venv", "bin") + ":" + filepath.Join(p.dir, "bin") + ":"
	if python := os.Getenv(pythonVariable); python != "" {
		path += filepath.Dir(python) + ":"
	}
	p.env = append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false", "CARGO_TARGET_DIR="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1",
		"PATH="+path+os.Getenv("PATH"))
	p.needs(t, "gcc")
	p.run(t, "go vet -tags library ./packages/c && make c && go build -o bin/clew ./cmd/clew")
	return p
}

// run runs a command of a shell in the copy, and returns what it printed.
func (p *place) run(t *testing.T, command string) string {
	t.Helper()
	out, status := p.try(t, command)
	if status != 0 {
		t.Fatalf("%s\nexit status %d\n%s", command, status, out)
	}
	return out
}

func (p *place) try(t *testing.T, command string) (out string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", command)
	cmd.Dir, cmd.Env = p.dir, p.env
	both, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(both), cmd.ProcessState.ExitCode()
}

// needs skips a test if a program is not there.
func (p *place) needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, status := p.try(t, "command -v "+program); status != 0 {
			t.Skipf("there is no %s", program)
		}
	}
}

// block matches a block of a document: a file that the sentence before it names, what the last command before it
// prints, or commands.
var block = regexp.MustCompile("(?m)`([\\w./]+)`:\n\n```\\w+\n((?:.*\n)*?)```$|^```(\\w*)\n((?:.*\n)*?)```$|((?:^    .*\n)+)")

// rows matches the commands of a table, which are in its second column.
var rows = regexp.MustCompile("(?m)^\\| (.+?) \\| `(.+?)` \\|")

// ends matches the remark of a command that fails.
var ends = regexp.MustCompile(`# exit status (\d+)(?:: .*)?$`)

// does does what a section of a document says, in order.
func (p *place) does(t *testing.T, document, heading string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", document))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut("\n## \n"+string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %q", document, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	said, commands := "", 0
	for _, b := range block.FindAllStringSubmatch(section, -1) {
		switch {
		case b[1] != "":
			write(t, filepath.Join(p.dir, b[1]), b[2])
		case b[5] != "":
			for line := range strings.Lines(b[5]) {
				commands++
				command := strings.TrimSpace(line)
				out, status := p.try(t, command)
				want := "0"
				if m := ends.FindStringSubmatch(command); m != nil {
					want = m[1]
				}
				if said = out; want != string('0'+rune(status)) {
					t.Fatalf("%s: %s\nexit status %d\n%s", document, command, status, out)
				}
			}
		case b[3] == "":
			if !shows(b[4], said) {
				t.Errorf("%s shows\n%s\nbut this was printed:\n%s", document, b[4], said)
			}
		}
	}
	if commands == 0 {
		t.Errorf("%s: %s has no commands", document, heading)
	}
}

// duration matches how long a check took.
var duration = regexp.MustCompile(`[\d.]+ ms`)

// shows reports whether a document shows what was printed. ".." stands for any text.
func shows(document, printed string) bool {
	var pattern strings.Builder
	document = strings.NewReplacer("\n..\n", "..", "\n..", "..", "..\n", "..").Replace(strings.TrimSpace(document))
	for i, part := range strings.Split(duration.ReplaceAllString(document, "T ms"), "..") {
		if i > 0 {
			pattern.WriteString(`(?s:.*)`)
		}
		pattern.WriteString(regexp.QuoteMeta(part))
	}
	whole := regexp.MustCompile("^" + pattern.String() + "$")
	return whole.MatchString(duration.ReplaceAllString(strings.TrimSpace(printed), "T ms"))
}

func TestPackages(t *testing.T) {
	p := newPlace(t)
	t.Run("the program", p.install)
	t.Run("C", func(t *testing.T) { p.does(t, "c.md", "") })
	t.Run("C, in threads, without leaks", p.threads)
	t.Run("Python", func(t *testing.T) {
		p.needs(t, "python3")
		p.does(t, "python.md", "")
		p.wheel(t)
		for _, heading := range []string{"Checking", "Recording", "Monitoring"} {
			p.does(t, "python.md", heading)
		}
		t.Run("tests", func(t *testing.T) { p.run(t, "python packages/python/tests/test_package.py") })
		t.Run("histories", p.histories)
		t.Run("pytest", p.pytest)
	})
	t.Run("Rust", func(t *testing.T) {
		p.needs(t, "cargo")
		p.does(t, "languages.md", "Rust")
		p.run(t, "cargo test --offline --manifest-path packages/rust/Cargo.toml")
	})
	t.Run("Java", func(t *testing.T) {
		p.needs(t, "javac")
		p.does(t, "languages.md", "Java")
	})
	t.Run("Elixir", func(t *testing.T) {
		p.needs(t, "elixir")
		p.does(t, "languages.md", "Elixir")
	})
}

// threads runs a program of C that calls the library from several threads. AddressSanitizer finds what it leaves
// behind, and also a leak that is made on purpose.
func (p *place) threads(t *testing.T) {
	const compile = `gcc -std=c11 -Wall -Wextra -Werror -g -o threads tools/packages/testdata/threads.c -Ibin -Lbin -lclew -Wl,-rpath,"$PWD/bin" -pthread`
	p.run(t, compile+" && ./threads")
	p.run(t, "gcc -x c++ -Wall -Wextra -Werror -fsyntax-only bin/clew.h")
	if out, status := p.try(t, compile+" -fsanitize=address"); status != 0 {
		t.Skipf("there is no AddressSanitizer: %s", out)
	}
	p.run(t, "./threads")
	if out, status := p.try(t, "./threads leak"); status == 0 || !strings.Contains(out, "LeakSanitizer: detected memory leaks") {
		t.Errorf("a leak is not found: exit status %d\n%s", status, out)
	}
}

// wheel compares the files of a wheel with its list of them, and builds it as pip does.
func (p *place) wheel(t *testing.T) {
	first, err := filepath.Glob(filepath.Join(p.dir, "bin", "clew-*.whl"))
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	before, err := os.ReadFile(first[0])
	if err != nil {
		t.Fatal(err)
	}
	p.run(t, "python -m pip wheel --no-index --no-deps -w again packages/python && python -m zipfile -t again/*.whl && python -m pip check")
	after, err := os.ReadFile(filepath.Join(p.dir, "again", filepath.Base(first[0])))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("pip builds another wheel than make python: %v", err)
	}
	if files := p.run(t, "python -m pip show -f clew"); !strings.Contains(files, "clew/py.typed\n") || !strings.Contains(files, "clew/libclew.") || !strings.Contains(files, "THIRD_PARTY_LICENSES.txt") {
		t.Error(files)
	}
}

// pytest does what the document says of pytest, with the pytest that the machine's Python has.
func (p *place) pytest(t *testing.T) {
	folder, status := p.try(t, `PATH=${PATH#*:}; python3 -c "import os, pytest; print(os.path.dirname(os.path.dirname(pytest.__file__)))"`)
	if status != 0 {
		t.Skip("Python has no pytest; " + pythonVariable + " names one that has")
	}
	with := *p
	with.env = append(slices.Clone(p.env), "PYTHONPATH="+strings.TrimSpace(folder))
	with.does(t, "python.md", "pytest")
	if _, err := os.Stat(filepath.Join(p.dir, "pages", "test_store.py-test_reads_from_a_cache.html")); err != nil {
		t.Error(err)
	}
	with.run(t, "python -m pytest -q -p no:cacheprovider packages/python/tests/test_plugin.py")
}

// install runs the commands of docs/install.md that need neither root nor docker, each in an empty home, and then
// what the page goes on with.
func (p *place) install(t *testing.T) {
	text, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.Fields(p.run(t, "go env GOCACHE GOMODCACHE"))
	elsewhere := map[string]string{
		"Debian, Ubuntu":               "tools/release tests the packages",
		"a container":                  "tools/release tests the container file",
		"Python 3.9 or newer":          "docs/python.md has the same",
		"C, C++, Rust":                 "docs/c.md has the same",
		"JavaScript, Node 20 or newer": "tools/wasm installs the package",
		"a browser, offline":           "tools/browser opens the page",
		"Go":                           "beside the clone",
		"Linux, macOS":                 "",
		"Windows, any with Go":         "",
	}
	here, _, _ := strings.Cut(string(text), "\n## From a release\n") // of which tools/release tests what can be
	for _, row := range rows.FindAllStringSubmatch(here, -1) {
		why, known := elsewhere[row[1]]
		delete(elsewhere, row[1])
		if !known {
			t.Errorf("nothing tests %s: %s", row[1], row[2])
		}
		home, dir := t.TempDir(), p.dir
		switch {
		case row[1] == "Go":
			dir = filepath.Join(home, "mine")
			write(t, filepath.Join(dir, "mine.go"), "package main\n\nimport (\n\t\"fmt\"\n\n\t\"clew\"\n)\n\nfunc main() { fmt.Println(clew.Options{}.Depth) }\n")
			write(t, filepath.Join(dir, "go.mod"), "module mine\n\ngo 1.25.0\n")
			if err := os.Symlink(p.dir, filepath.Join(home, "clew")); err != nil {
				t.Fatal(err)
			}
		case why != "":
			continue
		}
		in := &place{dir: dir, env: append(slices.Clone(p.env), "HOME="+home, "GOCACHE="+cache[0], "GOMODCACHE="+cache[1], "GOPATH="+home+"/go",
			"PATH="+home+"/.local/bin:"+home+"/go/bin:"+os.Getenv("PATH"))}
		in.run(t, row[2])
		if row[1] == "Go" {
			in.run(t, "go run .")
			continue
		}
		if where := strings.TrimSpace(in.run(t, "command -v clew")); !strings.HasPrefix(where, home) {
			t.Errorf("%s installs no program: %s", row[2], where)
		}
		in.does(t, "install.md", "")
	}
	if len(elsewhere) > 0 {
		t.Errorf("the page does not have %v", elsewhere)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}
