// Package house tests what the folders promise each other.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "clew/internal/types"
	"clew/models"
)

// floors are the rooms of the house from the ground up: the folders at the top, the
// root (""), the packages of internal, and what lies higher than the rest of its folder.
// A package imports, besides its own room, only rooms on lower floors.
var floors = [][]string{
	{"internal/beside", "internal/hugepages", "internal/pace"},
	{"internal/bitset", "internal/blocks", "internal/cdcl", "internal/digits", "internal/layouts", "internal/nemesis", "internal/option", "internal/radix", "internal/text", "internal/usage", "internal/watchdog"},
	{"edn", "internal/files", "internal/progress"},
	{"internal/fressian", "internal/opmap", "internal/prints"},
	{"jepsen"},
	{"internal/limits", "internal/live", "internal/samerun"},
	{"internal/memory", "internal/requests", "internal/testfile", "models"},
	{"internal/asked", "jepsen/forms"},
	{"fallback", "fastpath", "internal/gen", "internal/second"},
	{"internal/home"},
	{"internal/types"},
	{"internal/engines", "internal/families", "report"},
	{"internal/isolation"},
	{"internal/certificate", "internal/diagnosis", "internal/forget", "internal/guess", "internal/levels", "internal/story", "internal/terminal"},
	{"internal/held", "internal/howfar", "internal/page", "internal/store"},
	{"internal/outputs"},
	{"internal/shards"},
	{"internal/batch"},
	{""},
	{"clewtest", "internal/checking", "internal/doctor", "internal/serve"},
	{"api"},
	{"cmd"},
}

// forTests are the packages that only tests import. They may import all others.
var forTests = []string{
	"internal/families/testkit", "internal/archive", "internal/campaign", "internal/clojure", "internal/effort", "internal/countdown",
	"internal/enginetest", "internal/fuzzing", "internal/geometry", "internal/goedn", "internal/house", "internal/oracle",
	"internal/pagetest", "internal/testops",
}

// forTest reports whether only tests import a package: those of forTests, and the rooms of internal/tests.
func forTest(path string) bool {
	return slices.Contains(forTests, path) || strings.HasPrefix(path, "internal/tests/")
}

// importable are the packages that a program of others can import. There should be at most
// eleven: each is a promise.
var importable = []string{
	"", "api", "clewtest", "edn", "fallback", "fastpath", "jepsen", "jepsen/forms",
	"models", "models/modelfile", "report",
}

// roomOf returns the room of a package, whose path is that below the module's: a package
// or folder of floors, or else the package itself.
func roomOf(path string) string {
	for room := path; ; room = room[:strings.LastIndex(room, "/")] {
		if slices.ContainsFunc(floors, func(rooms []string) bool { return slices.Contains(rooms, room) }) {
			return room
		}
		if !strings.Contains(room, "/") {
			return path
		}
	}
}

// packages returns the paths of the module's packages below its own, with those of their
// imports, without tests'.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.Module.Path}} {{.ImportPath}} {{join .Imports " "}}`, "../../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		var ours []string
		for _, path := range fields[1:] {
			if rest, below := strings.CutPrefix(path, fields[0]); below && (rest == "" || rest[0] == '/') {
				ours = append(ours, strings.TrimPrefix(rest, "/"))
			}
		}
		all[ours[0]] = ours[1:]
	}
	return all
}

func TestImportsPointDownwards(t *testing.T) {
	floor := map[string]int{}
	for i, rooms := range floors {
		for _, r := range rooms {
			floor[r] = i
		}
	}
	seen := map[string]bool{}
	for from, imports := range packages(t) {
		room := roomOf(from)
		seen[from], seen[room] = true, true
		if forTest(from) {
			continue
		}
		height, known := floor[room]
		if !known {
			t.Errorf("%s is on no floor; expected it in floors or, if only tests import it, in forTests", from)
			continue
		}
		for _, to := range imports {
			if forTest(to) {
				t.Errorf("%s imports %s, which is for tests", from, to)
			} else if roomOf(to) != room && floor[roomOf(to)] >= height {
				t.Errorf("%s imports %s, which does not lie lower", from, to)
			}
		}
	}
	for _, r := range append(slices.Concat(floors...), forTests...) {
		if !seen[r] {
			t.Errorf("there is no package in %q; expected only rooms that exist", r)
		}
	}
}

func TestTheDoorIsNarrow(t *testing.T) {
	found := map[string]bool{}
	for path := range packages(t) {
		if !strings.HasPrefix(path, "cmd/") && !slices.Contains(strings.Split(path, "/"), "internal") {
			found[path] = true
			if !slices.Contains(importable, path) {
				t.Errorf("others can import %s; expected it behind internal, since every name that they see is a promise", path)
			}
		}
	}
	for _, path := range importable {
		if !found[path] {
			t.Errorf("others cannot import %q; expected only what they can in importable", path)
		}
	}
}

// source is a Go file that is not a test, by its path below the project.
type source struct {
	path string
	fset *token.FileSet
	file *ast.File
}

// sources returns all of them.
func sources(t *testing.T) []source {
	t.Helper()
	const root = "../.."
	var all []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && p != root:
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		rel, _ := filepath.Rel(root, p)
		all = append(all, source{filepath.ToSlash(rel), fset, file})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d files were found", len(all))
	}
	return all
}

// maxLines is how many lines a function may have to fit a screen.
const maxLines = 80

func TestFunctionsFitAScreen(t *testing.T) {
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; n > maxLines {
				t.Errorf("%s: %s has %d lines; expected at most %d", s.path, f.Name.Name, n, maxLines)
			}
		}
	}
}

// several is how many files a package may have, besides its tests, before doc.go walks
// through it. A command's comment may stay in main.go.
const several = 5

// aFile matches the name of a file in a sentence.
var aFile = regexp.MustCompile(`\b[a-z0-9_]+\.go\b`)

// Every package says what it is about. The comment is in doc.go if there are several
// files, and does not name files that do not exist.
func TestPackagesAreDescribed(t *testing.T) {
	files, described := map[string][]string{}, map[string][]string{}
	for _, s := range sources(t) {
		dir, name := path.Split(s.path)
		files[dir] = append(files[dir], name)
		if s.file.Doc == nil || strings.HasSuffix(s.file.Name.Name, "_test") {
			continue
		}
		described[dir] = append(described[dir], name)
		for _, named := range aFile.FindAllString(s.file.Doc.Text(), -1) {
			if _, err := os.Stat("../../" + dir + named); err != nil {
				t.Errorf("the comment of %s names %s, which is not there", s.path, named)
			}
		}
	}
	for dir, names := range files {
		if len(described[dir]) != 1 {
			t.Errorf("%s: %d files have a package comment: %v; expected one", dir, len(described[dir]), described[dir])
		} else if where := described[dir][0]; len(names) > several && where != "doc.go" && where != "main.go" {
			t.Errorf("%s: the package comment is in %s; expected it in doc.go, since there are %d files", dir, where, len(names))
		}
	}
}

// Every room of tests says what it tests, in one comment.
func TestRoomsOfTestsAreDescribed(t *testing.T) {
	rooms, err := filepath.Glob("../tests/*")
	if err != nil || len(rooms) == 0 {
		t.Fatal(len(rooms), err)
	}
	for _, room := range rooms {
		files, err := filepath.Glob(room + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		var described []string
		for _, p := range files {
			file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if file.Doc != nil {
				described = append(described, p)
			}
		}
		if len(described) != 1 {
			t.Errorf("%s: the files %v have a package comment; expected one", room, described)
		}
	}
}

// whiteBox are the root's tests of what it does not export.
var whiteBox = []string{"export_test.go", "follow_test.go"}

// The root has its Examples, and no tests besides those of whiteBox.
func TestTheRootHasNoTestsButExamples(t *testing.T) {
	files, err := filepath.Glob("../../*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, p := range files {
		if name := filepath.Base(p); !strings.HasPrefix(name, "example") && !slices.Contains(whiteBox, name) {
			t.Errorf("%s is in the root; expected it in a room of internal/tests", name)
		}
	}
}

// maxFiles is how many files a package may have besides its tests and doc.go.
const maxFiles = 15

// aFileEach are the packages with a file for each thing of a kind. They grow with their
// tables.
var aFileEach = []string{"cmd/clew", "models"}

func TestPackagesAreSmall(t *testing.T) {
	files := map[string]int{}
	for _, s := range sources(t) {
		if path.Base(s.path) != "doc.go" {
			files[path.Dir(s.path)]++
		}
	}
	for dir, n := range files {
		if n > maxFiles && !slices.Contains(aFileEach, dir) {
			t.Errorf("%s has %d files; expected at most %d", dir, n, maxFiles)
		}
	}
}

// namesakes are words of a home that are also the names of other models.
var namesakes = map[string]string{"internal/types/etcd": "lease"} // keys have leases

// A model's name occurs only in its home. The exceptions are the generators,
// benchmarks and oracles that tests share, which also name models. The text forms
// of other monitors and the tags of Fressian have words of their own that may be
// the same.
func TestModelsHaveOneHome(t *testing.T) {
	names := map[string]bool{}
	for _, d := range models.All() {
		names[d.Name] = true
	}
	homes := map[string]map[string]bool{}
	for _, s := range sources(t) {
		home := strings.HasPrefix(s.path, "internal/types/")
		if strings.HasPrefix(s.path, "internal/") && !home || strings.HasPrefix(s.path, "tools/") || strings.HasPrefix(s.path, "jepsen/forms/") || s.path == "internal/fressian/codes.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Object" {
					return false // this is what other monitors call it
				}
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if name, err := strconv.Unquote(lit.Value); err == nil && names[name] && namesakes[path.Dir(s.path)] != name {
				if homes[name] == nil {
					homes[name] = map[string]bool{}
				}
				homes[name][path.Dir(s.path)] = true
			}
			return true
		})
	}
	for name := range names {
		if len(homes[name]) != 1 {
			t.Errorf("%q stands in %d folders: %v; expected one", name, len(homes[name]), homes[name])
		}
	}
}

// strangers are the files and folders outside internal/types whose strings are :f's of models, and
// why. Whatever else knows an :f belongs into the model's home.
var strangers = map[string]string{
	"api/call.go":               "check is a call",
	"cmd/clew/":                 "check is a command",
	"contrib/porcupine/peers/":  "Porcupine's histories have words of their own",
	"fastpath/finding.go":       "the first reads show the initial value",
	"internal/home/appends.go":  "two models have transactions",
	"explain.go":                "a failed :cas explains a first read",
	"internal/campaign/":        "changes of a model's operations, until each is in its model's home",
	"internal/gen/":             "a failed :cas may count",
	"internal/second/":          "a failed :cas may count",
	"models/modelfile/":         "the methods of Starlark's lists",
	"models/words.go":           "models of users' own have :f's, too",
	"internal/pagetest/":        "histories that tests draw",
	"internal/testops/":         "small histories, until they are in their models' homes",
	"internal/tests/kit/":       "small histories that simulate systems",
	"jepsen/forms/":             "other monitors' text forms have words of their own",
	"jepsen/independent.go":     "a :cas may have a key and two values",
	"jepsen/withoutf.go":        "Elle takes transactions without an :f, and only their steps show what they are",
	"internal/home/shapes.go":   "the shapes of values go with the names of operations",
	"internal/store/skipped.go": "skipped events may be reads",
	"tools/":                    "benchmarks choose what they measure",
}

// aWord matches an :f, or a key beside it, where a model lists them.
var aWord = regexp.MustCompile(`:([a-z][A-Za-z-]*)`)

// keysBesides are the words of the lists that are keys of an operation.
var keysBesides = []string{"key", "value", "client", "fence", "permits"}

// The :f's of models occur only in their homes.
func TestWordsOfModelsHaveOneHome(t *testing.T) {
	fs := map[string]bool{}
	for _, d := range models.All() {
		for _, word := range aWord.FindAllStringSubmatch(d.Fs, -1) {
			fs[word[1]] = !slices.Contains(keysBesides, word[1])
		}
	}
	met := map[string]bool{}
	for _, s := range sources(t) {
		if strings.HasPrefix(s.path, "internal/types/") {
			continue
		}
		where := s.path
		for place := range strangers {
			if strings.HasPrefix(s.path, place) {
				where = place
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && fs[strings.TrimPrefix(text, ":")] {
				if met[where] = true; strangers[where] == "" {
					t.Errorf("%s: the string %s is an :f of a model; expected such only in its home", s.fset.Position(lit.Pos()), lit.Value)
				}
			}
			return true
		})
	}
	for place, why := range strangers {
		if !met[place] {
			t.Errorf("%s has no :f any more (%s); remove it from strangers", place, why)
		}
	}
}

// Every execution of a fuzz target begins with the guard of its time and memory.
func TestFuzzTargetsAreGuarded(t *testing.T) {
	const root = "../.."
	targets := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			targets++
			if !isGuarded(f) {
				t.Errorf("%s: %s: expected its f.Fuzz to begin with defer fuzzing.Guard(t)()", p, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil || targets < 10 {
		t.Errorf("%d targets were found, %v", targets, err)
	}
}

// isGuarded says whether the function that a target passes to f.Fuzz begins with the guard.
func isGuarded(f *ast.FuncDecl) (guarded bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok || len(lit.Body.List) == 0 {
			return true
		}
		if first, ok := lit.Body.List[0].(*ast.DeferStmt); ok {
			if call, ok := first.Call.Fun.(*ast.CallExpr); ok {
				if name, ok := call.Fun.(*ast.SelectorExpr); ok && name.Sel.Name == "Guard" {
					guarded = true
				}
			}
		}
		return true
	})
	return guarded
}
