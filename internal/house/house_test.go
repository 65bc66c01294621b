// Package house tests what the folders promise each other.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"clew/models"
)

// floor is how high a folder lies. A package imports only what lies lower.
var floor = map[string]int{
	"edn": 1, "jepsen": 2, "models": 3, "fastpath": 4, "fallback": 4, "report": 5, "clew": 6, "cmd": 7,
}

// folder returns the top-level folder of a package of this module, "clew" for
// its root and "" for other modules and internal packages.
func folder(path string) string {
	if path == "clew" {
		return "clew"
	}
	rest, ours := strings.CutPrefix(path, "clew/")
	if !ours {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if floor[name] == 0 {
		return ""
	}
	return name
}

func TestImportsPointDownwards(t *testing.T) {
	out, err := exec.Command("go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "clew/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := folder(fields[0])
		if from == "" {
			continue
		}
		seen[from] = true
		for _, path := range fields[1:] {
			to := folder(path)
			if to != "" && to != from && floor[to] >= floor[from] {
				t.Errorf("%s imports %s, which does not lie lower", fields[0], path)
			}
		}
	}
	if len(seen) < len(floor) {
		t.Errorf("only %d of the house's rooms were seen", len(seen))
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
		file, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
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

// maxFiles is how many files a package may have besides its tests. Models have
// a file each.
const maxFiles = 15

func TestPackagesAreSmall(t *testing.T) {
	files := map[string]int{}
	for _, s := range sources(t) {
		files[path.Dir(s.path)]++
	}
	for dir, n := range files {
		if n > maxFiles && dir != "models" {
			t.Errorf("%s has %d files; expected at most %d", dir, n, maxFiles)
		}
	}
}

// A model's name occurs only in its own file. The exceptions are the generators,
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
		if strings.HasPrefix(s.path, "internal/") || strings.HasPrefix(s.path, "tools/") || strings.HasPrefix(s.path, "jepsen/forms/") || s.path == "internal/fressian/codes.go" {
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
			if name, err := strconv.Unquote(lit.Value); err == nil && names[name] {
				if homes[name] == nil {
					homes[name] = map[string]bool{}
				}
				homes[name][s.path] = true
			}
			return true
		})
	}
	for name := range names {
		if len(homes[name]) != 1 {
			t.Errorf("%q stands in %d files: %v; expected one", name, len(homes[name]), homes[name])
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
