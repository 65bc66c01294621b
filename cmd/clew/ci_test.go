package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"clew/internal/effort"
)

// steps returns the shell steps of a file for a pipeline, in order. A step is a line that begins with "run: " or,
// below "script:", with "- ", or a block of lines.
func steps(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci", file))
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`(?m)^( *)run: (?:\|\n((?:^ +.*\n)+?)^ {0,6}-|(.*)\n)`)
	if file == "gitlab.yml" {
		pattern = regexp.MustCompile(`(?m)^( {4})- ()(.*)\n`)
	}
	var all []string
	for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[2]+m[3])
	}
	return all
}

// The files of docs/ci are run as far as they need only a shell. The shell of its pipeline runs each step, with
// clew's own sources as its repository.
func TestTheFilesForPipelines(t *testing.T) {
	if effort.Few() {
		t.Skip("it builds clew")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	const stale = write + "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 2}\n"
	for i, c := range []struct {
		file, shell string
		steps       int
		history     string
		status      int
		says        string // the last step
		reports     []string
	}{
		{"github.yml", "bash", 3, stale, exitInvalid, "::error file=store/etcd/1/history.edn,line=4,col=1,title=clew%3A never-written::value 2 was read ",
			[]string{"clew.xml", "clew.sarif", "pages/index.html", "pages/store/etcd/1/history.html"}},
		{"github.yml", "bash", 3, write, exitValid, "", []string{"clew.xml", "clew.sarif", "pages/index.html"}},
		{"github.yml", "bash", 3, "{", exitUsage, "::error file=store/etcd/1/history.edn,line=1,col=2,title=clew%3A unreadable::", []string{"clew.xml", "clew.sarif"}},
		{"gitlab.yml", "sh", 7, stale, exitInvalid, "\netcd/1  register (inferred)                INVALID ", []string{"clew.xml", "pages/index.html"}},
		{"gitlab.yml", "sh", 7, write, exitValid, "\netcd/1  register (inferred)                valid ", []string{"clew.xml"}},
	} {
		all := steps(t, c.file)
		if len(all) != c.steps {
			t.Fatalf("%s: %d steps, want %d: %q", c.file, len(all), c.steps, all)
		}
		dir := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "store/etcd/1"), 0o777), os.Symlink(root, filepath.Join(dir, "clew")),
			os.WriteFile(filepath.Join(dir, "store/etcd/1/history.edn"), []byte(c.history), 0o666)); err != nil {
			t.Fatal(err)
		}
		script := strings.Join(all, "\n") + "\n"
		if c.file == "gitlab.yml" { // its steps are one script, and the sources are there
			all = []string{strings.NewReplacer("git clone", "true git clone").Replace(script)}
		}
		said, status := "", 0
		for _, step := range all {
			step = regexp.MustCompile(`(?m)^( *)TESTS$`).ReplaceAllString(step, "$1 true")
			if strings.Contains(step, "make ") && i > 0 {
				step = regexp.MustCompile(`(?m)^.*make .*$`).ReplaceAllString(step, "true") // running it once is enough
			}
			cmd := exec.Command(c.shell, "-e", "-c", step)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), append(env, "HOME="+dir, "GITHUB_PATH="+filepath.Join(dir, "path"))...)
			out, err := cmd.Output()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if said, status = string(out), cmd.ProcessState.ExitCode(); status != 0 {
				break
			}
		}
		if status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%s: status %d, want %d: %s", c.file, status, c.status, said)
		}
		for _, report := range c.reports {
			if info, err := os.Stat(filepath.Join(dir, report)); err != nil || info.Size() == 0 {
				t.Errorf("%s: no %s: %v", c.file, report, err)
			}
		}
	}
}
