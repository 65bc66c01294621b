package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fenced matches a fenced block of a document: its kind, and its text.
var fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

var took = regexp.MustCompile(`[0-9]+(\.[0-9]+)? ms`)

// untimed returns what clew says to people, without the times.
func untimed(said string) string {
	return engineMs.ReplaceAllString(took.ReplaceAllString(said, "N ms"), "$1")
}

// asTold does what a document says, in an empty folder: it writes the files, checks every model's examples, and
// compares every session with a shell with the output in the document. Commands may have a text of their own, up to
// END. A file is a block that begins with its name as a comment, or what cat shows in a session. Others are copies.
func asTold(t *testing.T, document string, copies ...string) (models, sessions int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", document))
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"sh", "sed", "ls", "head", "tail", "grep", "mkdir", "cp"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	texts := map[string]string{}
	for _, file := range copies {
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	t.Chdir(t.TempDir())
	for name, text := range texts {
		putFile(t, name, text)
	}
	shell := func(command string) string {
		out, _ := exec.Command("sh", "-c", command).CombinedOutput() // the command is to show its own status
		return untimed(string(out))
	}
	for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
		kind, text := block[1], block[2]
		switch kind {
		case "python", "clojure":
			first, _, _ := strings.Cut(text, "\n")
			name, isComment := strings.CutPrefix(strings.TrimLeft(first, "#;"), " ")
			if !isComment || strings.Contains(name, " ") {
				continue
			}
			putFile(t, name, text)
			if kind == "python" && strings.Contains(text, "\nexamples = ") {
				models++
				if said := shell("clew models --check " + name); !strings.Contains(said, ", 0 wrong\n") {
					t.Errorf("%s: %s", name, said)
				}
			}
		case "console":
			for _, session := range strings.Split("\n"+text, "\n$ ")[1:] {
				sessions++
				command, want, _ := strings.Cut(session, "\n")
				if strings.HasSuffix(command, " << 'END'") {
					text, after, ended := strings.Cut(want+"\n", "\nEND\n")
					if !ended {
						t.Errorf("%s: %s does not end", document, command)
					}
					command, want = command+"\n"+text+"\nEND", strings.TrimSuffix(after, "\n")
				}
				if want = strings.TrimSuffix(want, "\n"); want != "" {
					want += "\n"
				}
				if name, shown := strings.CutPrefix(command, "cat "); shown && !strings.ContainsAny(name, " |>") {
					putFile(t, name, want)
				} else if said := shell(command); said != untimed(want) {
					t.Errorf("%s says\n%s\nand in %s\n%s", command, said, document, want)
				}
			}
		}
	}
	return models, sessions
}

func TestTheGuideToModels(t *testing.T) {
	if models, sessions := asTold(t, "docs/own-models.md"); models < 3 || sessions < 3 {
		t.Errorf("only %d models and %d sessions were found", models, sessions)
	}
}

func TestTheGuideToPositions(t *testing.T) {
	if models, sessions := asTold(t, "docs/positions.md"); models < 1 || sessions < 15 {
		t.Errorf("only %d models and %d sessions were found", models, sessions)
	}
}

func TestGettingStarted(t *testing.T) {
	text, err := os.ReadFile("../../docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range regexp.MustCompile(`(?m)^\$ cat ([^ \n]+)$`).FindAllStringSubmatch(string(text), -1) {
		t.Errorf("%s is shown before a reader has it", shown[1])
	}
	if _, sessions := asTold(t, "docs/getting-started.md"); sessions < 10 {
		t.Errorf("only %d sessions were found", sessions)
	}
}

func TestTroubleshooting(t *testing.T) {
	if _, sessions := asTold(t, "docs/troubleshooting.md"); sessions < 10 {
		t.Errorf("only %d sessions were found", sessions)
	}
}

func TestTheGuideToTheDoctor(t *testing.T) {
	if _, sessions := asTold(t, "docs/doctor.md"); sessions < 2 {
		t.Errorf("only %d sessions were found", sessions)
	}
}

func TestTheGuideToTransactions(t *testing.T) {
	if _, sessions := asTold(t, "docs/transactions.md"); sessions < 2 {
		t.Errorf("only %d sessions were found", sessions)
	}
}

func TestTheGuideToGuarantees(t *testing.T) {
	if _, sessions := asTold(t, "docs/guarantees.md"); sessions < 2 {
		t.Errorf("only %d sessions were found", sessions)
	}
}

func TestTheGuideToCertificates(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3, which checks certificates, is not there")
	}
	programs := []string{"docs/certificate/check.py", "docs/certificate/more.py", "docs/certificate/levels.py"}
	if _, sessions := asTold(t, "docs/certificate.md", programs...); sessions < 7 {
		t.Errorf("only %d sessions were found", sessions)
	}
}
