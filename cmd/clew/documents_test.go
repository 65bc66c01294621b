package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/fallback"
	"clew/fastpath"
	"clew/internal/engines"
	"clew/internal/families"
	"clew/internal/store"
	"clew/jepsen"
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
	app := newApp(nil, io.Discard, io.Discard, new(int))
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
			headed := found[2] == "" || filepath.Ext(goal) != ".md" // those of docs/try name examples, and tools/browser follows them
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

// rowsOfModels are the rows that the section of a model must have.
var rowsOfModels = []string{"operations", "nil", "crashed", "ambiguous", "flags", "cost"}

// TestCONTRIBUTINGNamesTheRowsOfModels: a page that is added needs no guesses.
func TestCONTRIBUTINGNamesTheRowsOfModels(t *testing.T) {
	text := documents(t)[filepath.Join("..", "..", "CONTRIBUTING.md")]
	_, text, _ = strings.Cut(text, "`page.md`")
	text, _, found := strings.Cut(text, "\n  The plugin's tests")
	if !found {
		t.Fatal("CONTRIBUTING.md does not say what page.md has")
	}
	for _, row := range append(rowsOfModels, "Linearizable:", "Not linearizable:", "Ambiguous:") {
		if !strings.Contains(text, "`"+row+"`") {
			t.Errorf("CONTRIBUTING.md does not name %s", row)
		}
	}
}

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
		for _, row := range rowsOfModels {
			if rows[row] == "" {
				t.Errorf("%s has no row of %s", d.Name, row)
			}
		}
		for _, f := range regexp.MustCompile(`:[a-zA-Z][a-zA-Z-]*`).FindAllString(d.Fs, -1) {
			if !strings.Contains(section, f) {
				t.Errorf("%s does not say %s", d.Name, f)
			}
		}
		every := []models.Param{models.ParamSemantics, models.ParamPosition, models.ParamPositions} // all models take them
		for _, flag := range store.SettingNames {
			if p := models.Param(flag); !slices.Contains(every, p) && d.Takes(p) != strings.Contains(rows["flags"], "--"+flag) {
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
			run(context.Background(), args, nil, &out, &out)
			want := map[string]string{"Linearizable": "h.log: valid\n", "Not linearizable": "h.log: INVALID\n", "Ambiguous": "h.log: unknown: ambiguous: "}[x[1]]
			if !strings.HasPrefix(out.String(), want) {
				t.Errorf("%s, %s: %s", d.Name, x[1], out.String())
			}
		}
		if !said["Linearizable"] || !said["Not linearizable"] {
			t.Errorf("%s lacks an example: %v", d.Name, said)
		}
		if never := strings.HasPrefix(rows["ambiguous"], "never"); said["Ambiguous"] == never {
			t.Errorf(`%s has an example of "Ambiguous:": %t; expected one unless its row "ambiguous" begins with "never", and it is %q`, d.Name, never, rows["ambiguous"])
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

// TestTheWalkNamesWhatThereIs checks docs/architecture.md. If the text of a link is a name in backticks, the file that it
// leads to, or the package if it leads to a folder, declares the name. A method or field is Type.Name.
func TestTheWalkNamesWhatThereIs(t *testing.T) {
	walk := filepath.Join("..", "..", "docs", "architecture.md")
	links := regexp.MustCompile("\\[`([^`]+)`\\]\\(([^)]+)\\)").FindAllStringSubmatch(documents(t)[walk], -1)
	for _, link := range links {
		file := filepath.Join(filepath.Dir(walk), link[2])
		if names, err := declared(file); err != nil || !slices.Contains(names, link[1]) {
			t.Errorf("%s does not declare %s: %v", link[2], link[1], err)
		}
	}
	if len(links) < 60 {
		t.Errorf("only %d names were found", len(links))
	}
}

// declared returns the names that a Go file declares, or all files of a folder.
func declared(path string) (names []string, err error) {
	files := []string{path}
	if filepath.Ext(path) != ".go" {
		if files, err = filepath.Glob(filepath.Join(path, "*.go")); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			names = append(names, declaredBy(d)...)
		}
	}
	return names, nil
}

func declaredBy(d ast.Decl) (names []string) {
	if f, is := d.(*ast.FuncDecl); is {
		if f.Recv == nil {
			return []string{f.Name.Name}
		}
		return []string{strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*") + "." + f.Name.Name}
	}
	for _, spec := range d.(*ast.GenDecl).Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range s.Names {
				names = append(names, name.Name)
			}
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
			var fields *ast.FieldList
			switch of := s.Type.(type) {
			case *ast.StructType:
				fields = of.Fields
			case *ast.InterfaceType:
				fields = of.Methods
			default:
				continue
			}
			for _, field := range fields.List {
				for _, name := range field.Names {
					names = append(names, s.Name.Name+"."+name.Name)
				}
			}
		}
	}
	return names
}

// TestTheWalkShowsWhatRuns checks that docs/architecture.md shows its history as the code sees it at each stage.
func TestTheWalkShowsWhatRuns(t *testing.T) {
	text := documents(t)[filepath.Join("..", "..", "docs", "architecture.md")]
	file := filepath.Join("..", "..", "testdata", "histories", "stale-read.edn")
	ctx := context.Background()
	h, err := clew.ReadFile(file, jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&shown, "    "+format+"\n", args...) }
	for _, e := range []jepsen.Event{10, 11, 15} {
		line("%5d  %5d  %-7s  %7d  %2d %-6s  %5d %-3s  %9d", e, h.Index(e), h.Type[e], h.Process[e],
			h.F[e], h.Values.Text(h.F[e]), h.Value[e], h.Values.Text(h.Value[e]), h.OpOf[e])
	}
	spec, _, err := models.Spec{}.Infer(h)
	if err != nil {
		t.Fatal(err)
	}
	ops, err := spec.Read(h)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[models.Kind]string{models.Read: "Read", models.Write: "Write"}
	for i := range models.Row(ops.Len()) {
		line("%3d  %3d  %3d  %d %-5s  %2d  %d  %2d  %s", i, ops.Inv[i], ops.Res[i], ops.Kind[i], kinds[ops.Kind[i]], ops.A[i], ops.B[i], ops.Of[i], h.Call(ops.Of[i]))
	}
	path, _ := families.Of(ops.Model)
	d := path.Decide(ctx, &ops.Columns, fastpath.WantWitness|fastpath.WantFailure)
	line("%#v", ops.Model.Traits().Shape())
	line("FailEvent %d, Before %v, Core %v", d.FailEvent, d.Before, d.Core)
	line("Why %s, rows %v", d.Why.Name, d.Why.Rows)
	a := engines.New("window", 0).Decide(ctx, ops, fallback.Limits{})
	line("FailEvent %d, Order %v, core %v", a.FailEvent, a.Order, fallback.Core(ctx, engines.New("window", 0), ops, a.FailEvent, fallback.Limits{}))
	r, err := clew.Check(ctx, h, models.Spec{}, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(r.Text(), " ms\n")
	for said := range strings.Lines(rest) {
		if said = strings.TrimSpace(said); said != "" {
			line("%s", said)
		}
	}
	for said := range strings.Lines(shown.String()) {
		if !strings.Contains(text, said) {
			t.Errorf("the document lacks %q", said)
		}
	}
}
