package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"clew/internal/store"
	"clew/models"
)

// documents returns all documents for people, below the top of the repository.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "jepsen/clojure/*.md"} {
		names, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(text)
		}
	}
	return texts
}

// TestDocumentsGiveCommandsThatThereAre checks every command in a block of a document, and in the help: clew has the
// commands and flags in it, and takes their values.
func TestDocumentsGiveCommandsThatThereAre(t *testing.T) {
	app := newApp(io.Discard, io.Discard, new(int))
	indented := regexp.MustCompile("(?m)^    .+$")
	part := regexp.MustCompile(`(?:^|[|;&(]|\$|\|\||&&|do|xargs)\s*(clew [^|;&#>)]*)`)
	seen, texts := 0, documents(t)
	for _, c := range app.Commands {
		texts["clew "+c.Name+" --help"] = strings.ReplaceAll(c.Description, "\n   ", "\n    ")
	}
	for name, text := range texts {
		blocks := indented.FindAllString(fenced.ReplaceAllString(text, ""), -1)
		for _, b := range fenced.FindAllStringSubmatch(text, -1) {
			if slices.Contains([]string{"", "console", "sh", "yaml"}, b[1]) {
				blocks = append(blocks, b[2])
			}
		}
		for _, block := range blocks {
			for line := range strings.Lines(block) {
				line = strings.ReplaceAll(strings.TrimSpace(line), `'`, ``)
				if strings.HasPrefix(line, ";") {
					continue // a comment of a history
				}
				for _, found := range part.FindAllStringSubmatch(line, -1) {
					seen++
					if wrong := wrongCommand(app, strings.Fields(found[1])); wrong != "" {
						t.Errorf("%s: %s: %s", name, line, wrong)
					}
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d commands were found", seen)
	}
}

// wrongCommand says what clew does not know of a command.
func wrongCommand(app *cli.App, words []string) string {
	if len(words) < 2 || strings.HasPrefix(words[1], "-") {
		return ""
	}
	command := findCommand(app, words[1])
	if command == nil {
		if words[1] == "help" || strings.ContainsAny(words[1], "./") || words[1] == strings.ToUpper(words[1]) {
			return ""
		}
		return "there is no command " + words[1]
	}
	for i, word := range words[2:] {
		if !isFlag(word) || isHelp(word) {
			continue
		}
		if flagOf(command, word) == nil {
			return "there is no flag " + word
		}
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !given && i+3 < len(words) {
			value = words[i+3]
		}
		if choices := valuesOf(command.Name, name); len(choices) > 0 && value != strings.ToUpper(value) && !slices.Contains(choices, value) {
			return "--" + name + " is none of " + strings.Join(choices, ", ")
		}
	}
	return ""
}

// TestLinksInDocumentsLead: the target of every link to a file, or to a heading of one, exists.
func TestLinksInDocumentsLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^):#]*)(#[^)]*)?\)|(?:src|srcset)="([^":]+)"`)
	notInAnchors := regexp.MustCompile("[^a-z0-9 _-]")
	texts, seen := documents(t), 0
	for name, text := range texts {
		for _, found := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			goal := name
			if path := found[1] + found[3]; path != "" {
				goal = filepath.Join(filepath.Dir(name), path)
			}
			seen++
			if _, err := os.Stat(goal); err != nil {
				t.Errorf("%s leads to %s%s: %v", name, found[1], found[3], err)
				continue
			}
			headed := found[2] == ""
			for _, heading := range regexp.MustCompile("(?m)^#+ (.+)$").FindAllStringSubmatch(texts[goal], -1) {
				anchor := strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")
				headed = headed || found[2] == "#"+anchor
			}
			if !headed {
				t.Errorf("%s leads to %s%s, which is no heading", name, found[1], found[2])
			}
		}
	}
	if seen < 80 {
		t.Errorf("only %d links were found", seen)
	}
}

// example matches a history in docs/models.md, with what clew says of it and the flags.
var example = regexp.MustCompile("(?m)^(Linearizable|Not linearizable|Ambiguous)(?:, with `([^`]+)`)?:\n\n```\n((?:[^`].*\n)+)```$")

// TestTheDocumentOfModels checks docs/models.md: every model has its section, which leaves out no operation and no
// flag. The examples have the verdicts that the document gives.
func TestTheDocumentOfModels(t *testing.T) {
	text := documents(t)[filepath.Join("..", "..", "docs", "models.md")]
	t.Chdir(t.TempDir())
	for _, d := range models.All() {
		_, section, found := strings.Cut(text, "\n## "+d.Name+"\n")
		if section, _, _ = strings.Cut(section, "\n## "); !found {
			t.Errorf("%s has no section", d.Name)
			continue
		}
		rows := map[string]string{}
		for _, row := range regexp.MustCompile(`(?m)^\| ([a-z]+) \| (.+) \|$`).FindAllStringSubmatch(section, -1) {
			rows[row[1]] = row[2]
		}
		for _, row := range []string{"operations", "nil", "crashed", "ambiguous", "flags", "cost"} {
			if rows[row] == "" {
				t.Errorf("%s has no row of %s", d.Name, row)
			}
		}
		for _, f := range regexp.MustCompile(`:[a-zA-Z][a-zA-Z-]*`).FindAllString(d.Fs, -1) {
			if !strings.Contains(section, f) {
				t.Errorf("%s does not say %s", d.Name, f)
			}
		}
		for _, flag := range store.SettingNames {
			if p := models.Param(flag); p != models.ParamSemantics && d.Takes(p) != strings.Contains(rows["flags"], "--"+flag) {
				t.Errorf("%s takes --%s: %t, and it says %s", d.Name, flag, d.Takes(p), rows["flags"])
			}
		}
		said := map[string]bool{}
		for _, x := range example.FindAllStringSubmatch(section, -1) {
			said[x[1]] = true
			putFile(t, "h.log", x[3])
			args := append([]string{"clew", "check", "--model", d.Name, "h.log"}, strings.Fields(x[2])...)
			if x[1] == "Ambiguous" {
				args = append(args, "--algorithm", "fast")
			}
			var out bytes.Buffer
			run(context.Background(), args, &out, &out)
			want := map[string]string{"Linearizable": "h.log: valid\n", "Not linearizable": "h.log: INVALID\n", "Ambiguous": "h.log: unknown: ambiguous: "}[x[1]]
			if !strings.HasPrefix(out.String(), want) {
				t.Errorf("%s, %s: %s", d.Name, x[1], out.String())
			}
		}
		if !said["Linearizable"] || !said["Not linearizable"] || said["Ambiguous"] == strings.HasPrefix(rows["ambiguous"], "never") {
			t.Errorf("%s lacks an example: %v", d.Name, said)
		}
	}
	if n := strings.Count(text, "\n## "); n != len(models.All())+2 {
		t.Errorf("%d sections, of %d models and two others", n, len(models.All()))
	}
}

// TestMessagesInTroubleshootingAreSaid checks every message that docs/troubleshooting.md explains, a line of code
// that is a heading. Some test has seen clew print it, with anything in its gaps (..).
func TestMessagesInTroubleshootingAreSaid(t *testing.T) {
	text := documents(t)[filepath.Join("..", "..", "docs", "troubleshooting.md")]
	var said []string
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		said = append(said, block[2]) // TestTroubleshooting runs it
	}
	for _, m := range slices.Concat(malformed, damaged()) {
		said = append(said, m.message)
	}
	for _, pattern := range []string{"testdata/script/*.txtar", "testdata/cases/*.txt", "internal/types/*/*cases.txt"} {
		names, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			plain := regexp.MustCompile(`\\(.)`).ReplaceAllString(string(text), "$1") // the text of a pattern
			said = append(said, strings.ReplaceAll(plain, "''", "'"))
		}
	}
	messages := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(text, -1)
	for _, message := range messages {
		gaps := strings.Split(message[1], "..")
		for i := range gaps {
			gaps[i] = regexp.QuoteMeta(gaps[i])
		}
		is := regexp.MustCompile("(?m)" + strings.Join(gaps, ".+"))
		if !slices.ContainsFunc(said, is.MatchString) {
			t.Errorf("nothing says %s", message[1])
		}
	}
	if len(messages) < 20 {
		t.Errorf("only %d messages were found", len(messages))
	}
}
