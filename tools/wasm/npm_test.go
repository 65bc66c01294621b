package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var times = regexp.MustCompile(`"ms":[0-9.]+|[0-9.]+ ms|:ms [0-9.]+`)

// The package for JavaScript is packed, installed into an empty folder and used there, as its README says, and its command
// line prints what clew prints.
func TestThePackage(t *testing.T) {
	for _, program := range []string{"node", "npm", "npx"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	if testing.Short() {
		t.Skip("it builds clew twice for WebAssembly")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	of := filepath.Join(t.TempDir(), "js")
	if err := os.CopyFS(of, os.DirFS(filepath.Join(root, "packages", "js"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	if err := build(of, programs); err != nil {
		t.Fatal(err)
	}
	run := func(dir, name string, args ...string) (said string, status int) {
		t.Helper()
		var out bytes.Buffer
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir, c.Stdout, c.Stderr = dir, &out, &out
		if err := c.Run(); err != nil && c.ProcessState == nil {
			t.Fatal(name, args, err)
		}
		return out.String(), c.ProcessState.ExitCode()
	}
	must := func(dir, name string, args ...string) string {
		t.Helper()
		said, status := run(dir, name, args...)
		if status != 0 {
			t.Fatalf("%s %v: %d\n%s", name, args, status, said)
		}
		return said
	}
	packed := strings.Fields(must(of, "npm", "pack", "--silent"))
	app := t.TempDir()
	putIn(t, app, "package.json", `{"private":true}`)
	must(app, "npm", "install", "--offline", "--no-audit", "--no-fund", filepath.Join(of, packed[len(packed)-1]))
	must(of, "cp", "-r", "test", app)
	if said, status := run(app, "node", "--test", "test/"); status != 0 {
		t.Errorf("the example's tests: %d\n%s", status, said)
	}
	readme(t, app, filepath.Join(of, "README.md"), must)

	texts, err := os.ReadFile(filepath.Join(app, "node_modules", "clew", thirdParty))
	if err != nil || !bytes.Contains(texts, []byte("go.starlark.net")) || !bytes.Contains(texts, []byte("github.com/klauspost/compress")) {
		t.Errorf("the package lacks licenses: %v", err)
	}

	clew := filepath.Join(app, "native-clew")
	must(root, "go", "build", "-o", clew, "./cmd/clew")
	histories, err := filepath.Glob(filepath.Join(root, "testdata", "histories", "*.edn"))
	if err != nil || len(histories) == 0 {
		t.Fatal(histories, err)
	}
	for _, h := range histories {
		must(app, "cp", h, ".")
	}
	for _, command := range []string{
		"check --output json cas-lost.edn crashed-write.edn queue-reordered.edn", "check stale-read.edn", "check --output edn mutex-twice.edn", "check --svg - stale-read.edn",
		"monitor --model register stale-read.edn", "check --frob stale-read.edn", "models", "check --help", "convert --to json valid-register.edn -o -", "chekc",
	} {
		args := strings.Fields(command)
		want, wantStatus := run(app, clew, args...)
		said, status := run(app, "npx", append([]string{"clew"}, args...)...)
		if said, want := times.ReplaceAllString(said, "N"), times.ReplaceAllString(want, "N"); said != want || status != wantStatus {
			t.Errorf("npx clew %s: %d\n%s\nand clew: %d\n%s", command, status, said, wantStatus, want)
		}
	}
	if said, status := run(app, "npx", "clew", "serve", "."); status != 254 || !strings.Contains(said, "has no servers") {
		t.Errorf("npx clew serve: %d\n%s", status, said)
	}
}

// aProgram matches a program of the README, and what it prints, if that is shown.
var aProgram = regexp.MustCompile("(?s)```js\n(.*?)```\n\n((?:    [^\n]*\n)?)")

// aLink matches a link to a file.
var aLink = regexp.MustCompile(`\]\(([^):#]+)\)`)

// readme runs the programs of the README, and follows its links.
func readme(t *testing.T, app, file string, must func(dir, name string, args ...string) string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range aLink.FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join(app, "node_modules", "clew", link[1])); err != nil {
			t.Errorf("the README links to what the package does not have: %v", err)
		}
	}
	shown := 0
	for _, m := range aProgram.FindAllStringSubmatch(string(text), -1) {
		program, want := m[1], strings.TrimSpace(m[2])
		if strings.HasPrefix(program, "// worker.js") {
			continue // for browsers
		}
		putIn(t, app, "readme.mjs", program+"\n")
		said := strings.TrimSpace(must(app, "node", "readme.mjs"))
		if want != "" {
			if shown++; said != want {
				t.Errorf("%s\nprints %s, and in the README %s", program, said, want)
			}
		}
	}
	if shown < 2 {
		t.Errorf("the README shows what %d programs print; expected at least 2", shown)
	}
}

func putIn(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
