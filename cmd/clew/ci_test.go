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

// step is a shell step of a file for a pipeline.
type step struct {
	shell  string
	always bool // also after one that failed
}

// steps returns the shell steps of a file for a pipeline, in order. A step is a line that begins with "run: " or,
// below "script:", with "- ", or a block of lines.
func steps(t *testing.T, file string) (all []step) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci", file))
	if err != nil {
		t.Fatal(err)
	}
	if file == "gitlab.yml" {
		for _, m := range regexp.MustCompile(`(?m)^ {4}- (.*)\n`).FindAllStringSubmatch(string(text), -1) {
			all = append(all, step{shell: m[1]})
		}
		return all
	}
	run := regexp.MustCompile(`(?m)^ {8}run: (?:\|\n((?:^ +.*\n)+)|(.*)\n)`)
	for item := range strings.SplitSeq(string(text), "\n      - ") {
		if m := run.FindStringSubmatch(item + "\n"); m != nil {
			all = append(all, step{m[1] + m[2], strings.Contains(item, "\n        if: always()")})
		}
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
		tests       string // TESTS
		history     string // "": they leave none
		status      int
		says        string // the last step
		reports     []string
	}{
		{"github.yml", "bash", 3, "true", stale, exitInvalid, "::error file=store/etcd/1/history.edn,line=4,col=1,title=clew%3A never-written::Never written: value 2 was read ",
			[]string{"clew.xml", "clew.sarif", "pages/index.html", "pages/store/etcd/1/history.html"}},
		{"github.yml", "bash", 3, "true", write, exitValid, "", []string{"clew.xml", "clew.sarif", "pages/index.html"}},
		{"github.yml", "bash", 3, "true", "{", exitUsage, "::error file=store/etcd/1/history.edn,line=1,col=2,title=clew%3A unreadable::", []string{"clew.xml", "clew.sarif"}},
		{"gitlab.yml", "sh", 8, "true", stale, exitInvalid, "\netcd/1  register (inferred)                INVALID ", []string{"clew.xml", "pages/index.html"}},
		{"gitlab.yml", "sh", 8, "true", write, exitValid, "\netcd/1  register (inferred)                valid ", []string{"clew.xml"}},
		{"github.yml", "bash", 3, "false", stale, exitInvalid, "::error file=store/etcd/1/history.edn,line=4,", []string{"clew.xml", "clew.sarif", "pages/index.html"}},
		{"github.yml", "bash", 3, "false", write, exitInvalid, "", []string{"clew.xml", "clew.sarif"}},
		{"github.yml", "bash", 3, "false", "", exitUsage, "", nil},
		{"gitlab.yml", "sh", 8, "(exit 2)", stale, exitInvalid, "\netcd/1  register (inferred)                INVALID ", []string{"clew.xml", "pages/index.html"}},
		{"gitlab.yml", "sh", 8, "(exit 2)", write, exitInvalid, "\netcd/1  register (inferred)                valid ", []string{"clew.xml"}},
	} {
		all := steps(t, c.file)
		if len(all) != c.steps {
			t.Fatalf("%s: %d steps, want %d: %v", c.file, len(all), c.steps, all)
		}
		dir := t.TempDir()
		err := os.Symlink(root, filepath.Join(dir, "clew"))
		if c.history != "" {
			err = errors.Join(err, os.MkdirAll(filepath.Join(dir, "store/etcd/1"), 0o777), os.WriteFile(filepath.Join(dir, "store/etcd/1/history.edn"), []byte(c.history), 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.file == "gitlab.yml" { // its steps are one script, and the sources are there
			script := ""
			for _, step := range all {
				script += strings.NewReplacer("git clone", "true git clone").Replace(step.shell) + "\n"
			}
			all = []step{{shell: script}}
		}
		said, status := "", 0
		for _, step := range all {
			if status != 0 && !step.always {
				continue
			}
			shell := regexp.MustCompile(`\bTESTS\b`).ReplaceAllString(step.shell, c.tests)
			if strings.Contains(shell, "make ") && i > 0 {
				shell = regexp.MustCompile(`(?m)^.*make .*$`).ReplaceAllString(shell, "true") // running it once is enough
			}
			cmd := exec.Command(c.shell, "-e", "-c", shell)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), append(env, "HOME="+dir, "GITHUB_PATH="+filepath.Join(dir, "path"))...)
			out, err := cmd.Output()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if said = string(out); cmd.ProcessState.ExitCode() != 0 {
				status = cmd.ProcessState.ExitCode()
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
