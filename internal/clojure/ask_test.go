package clojure

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed ask.clj
var script []byte

// jars are where Debian has Clojure. CLEW_CLOJURE names another class path, and makes
// Clojure mandatory.
const jars = "/usr/share/java/clojure.jar:/usr/share/java/spec.alpha.jar:/usr/share/java/core.specs.alpha.jar"

// answer is what Clojure says about two forms.
type answer struct {
	equal          string
	compare, exact string // -1, 0, 1, or - for no answer
}

// asked holds questions to Clojure, and its answers.
type asked struct {
	forms   []string
	numbers map[string]int
	pairs   [][2]int
	hashes  []string // by form; "-" if Clojure does not read it
	answers map[[2]int]answer
}

// form returns the number of a form.
func (a *asked) form(text string) int {
	if a.numbers == nil {
		a.numbers = map[string]int{}
	}
	n, ok := a.numbers[text]
	if !ok {
		n = len(a.forms)
		a.numbers[text] = n
		a.forms = append(a.forms, text)
	}
	return n
}

// pair asks about two forms, in both orders.
func (a *asked) pair(x, y int) { a.pairs = append(a.pairs, [2]int{x, y}, [2]int{y, x}) }

// of returns the answer for two forms by number.
func (a *asked) of(x, y int) answer { return a.answers[[2]int{x, y}] }

// ask asks all questions at once. Without Clojure it skips the test.
func (a *asked) ask(t *testing.T) {
	t.Helper()
	path, must := os.LookupEnv("CLEW_CLOJURE")
	if !must {
		path = jars
		if _, err := os.Stat(strings.Split(path, ":")[0]); err != nil {
			t.Skip("Clojure is not there: ", err)
		}
		if _, err := exec.LookPath("java"); err != nil {
			t.Skip("Java is not there: ", err)
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "ask.clj")
	if err := os.WriteFile(file, script, 0o666); err != nil {
		t.Fatal(err)
	}
	lines := a.answered(t, dir, "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, "clojure.main", file)
	a.hashes, a.answers = lines[:len(a.forms)], map[[2]int]answer{}
	for i, p := range a.pairs {
		var x answer
		if _, err := fmt.Sscan(lines[len(a.forms)+i], &x.equal, &x.compare, &x.exact); err != nil {
			t.Fatal(err)
		}
		a.answers[p] = x
	}
}

// checkers returns what the programs that check certificates say about the forms and pairs.
// For a form that they may not read it is -. For a pair it says whether they take it for
// equal, and its order, or - where they do not say.
func (a *asked) checkers(t *testing.T) (forms []string, pairs map[[2]int]answer) {
	t.Helper()
	lines := a.answered(t, t.TempDir(), "python3", "-B", "ask.py")
	pairs = map[[2]int]answer{}
	for i, p := range a.pairs {
		var x answer
		if _, err := fmt.Sscan(lines[len(a.forms)+i], &x.equal, &x.compare); err != nil {
			t.Fatal(err)
		}
		pairs[p] = x
	}
	return lines[:len(a.forms)], pairs
}

// answered returns what a command answers to the questions, line by line.
func (a *asked) answered(t *testing.T, dir string, command ...string) []string {
	t.Helper()
	var questions bytes.Buffer
	for _, text := range a.forms {
		fmt.Fprintln(&questions, base64.StdEncoding.EncodeToString([]byte(text)))
	}
	for _, p := range a.pairs {
		fmt.Fprintln(&questions, "=", p[0], p[1])
	}
	file := filepath.Join(dir, "questions")
	if err := os.WriteFile(file, questions.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], append(command[1:], file)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(a.forms)+len(a.pairs) {
		t.Fatalf("%d answers to %d questions", len(lines), len(a.forms)+len(a.pairs))
	}
	return lines
}
