package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// All mutants are built into the test programs at once, since building takes longer than
// most tests do. A function that has a mutant gets a copy of itself for each, with the
// change. It begins by asking mutantOn which of them is wanted. Each package reads that
// from a file when the program starts. Recursion through the function asks again, so
// that a copy never calls the unchanged one.

// edit replaces a part of a text by another text.
type edit struct {
	from, to int
	text     string
}

func applied(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return text
}

// withCopies returns the text of a file with the copies of its mutants, by their numbers.
// A change that cannot be parsed has no copy, and is added to broken.
func withCopies(text string, mutants map[int]mutant, broken map[int]bool) (string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	at := func(p token.Pos) int { return files.Position(p).Offset }
	var edits []edit
	var copies strings.Builder
	for _, d := range file.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		if !isFunc || f.Body == nil || f.Name.Name == "init" {
			continue
		}
		var ask strings.Builder
		var signature []edit
		for _, id := range slices.Sorted(maps.Keys(mutants)) {
			m := mutants[id]
			if m.from < at(f.Body.Pos()) || m.from >= at(f.Body.End()) || broken[id] {
				continue
			}
			of := fmt.Sprint("mutant", id, "_", f.Name.Name)
			copied := applied(text[at(f.Pos()):at(f.End())], []edit{
				{at(f.Name.Pos()) - at(f.Pos()), at(f.Name.End()) - at(f.Pos()), of},
				{m.from - at(f.Pos()), m.from - at(f.Pos()) + len(m.Was), m.Is},
			})
			if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+copied, parser.SkipObjectResolution); err != nil {
				broken[id] = true
				continue
			}
			fmt.Fprintf(&copies, "\n//line mutant%d.go:1\n%s\n", id, copied)
			var call string
			call, signature = callOf(f, of, at)
			fmt.Fprintf(&ask, " case %d: %s;", id, call)
		}
		if ask.Len() > 0 {
			edits = append(append(edits, signature...), edit{at(f.Body.Lbrace) + 1, at(f.Body.Lbrace) + 1, " switch mutantOn {" + ask.String() + " };"})
		}
	}
	return applied(text, edits) + copies.String(), nil
}

// callOf returns a statement that calls another function in place of f, and the edits
// that name those of f's parameters that have no name.
func callOf(f *ast.FuncDecl, name string, at func(token.Pos) int) (call string, signature []edit) {
	named := func(fields *ast.FieldList) (all []string) {
		for _, p := range fields.List {
			if len(p.Names) == 0 {
				all = append(all, fmt.Sprint("mutantArg", at(p.Pos())))
				signature = append(signature, edit{at(p.Pos()), at(p.Pos()), all[len(all)-1] + " "})
			}
			for _, n := range p.Names {
				if all = append(all, n.Name); n.Name == "_" {
					all[len(all)-1] = fmt.Sprint("mutantArg", at(n.Pos()))
					signature = append(signature, edit{at(n.Pos()), at(n.End()), all[len(all)-1]})
				}
			}
			if _, is := p.Type.(*ast.Ellipsis); is {
				all[len(all)-1] += "..."
			}
		}
		return all
	}
	if f.Recv != nil {
		name = named(f.Recv)[0] + "." + name
	} else if f.Type.TypeParams != nil {
		name += "[" + strings.Join(named(f.Type.TypeParams), ", ") + "]"
	}
	call = name + "(" + strings.Join(named(f.Type.Params), ", ") + ")"
	if f.Type.Results == nil {
		return call + "; return", signature
	}
	return "return " + call, signature
}

// switchFile returns the file of a package that says which of its mutants is wanted.
func switchFile(name, chosen string) string {
	return fmt.Sprintf(`package %s

import (
	"os"
	"strconv"
)

var mutantOn = func() int {
	text, _ := os.ReadFile(%q)
	id, _ := strconv.Atoi(string(text))
	return id
}()
`, name, chosen)
}

// build is a folder with test programs that hold all mutants.
type build struct {
	dir     string // where everything is
	overlay string // which texts the go command takes instead of the files
	chosen  string // the file that says which mutant is wanted
}

// newBuild writes the files, without the mutants that do not build. It adds those to
// broken. Mutants are numbered from 1.
func newBuild(ctx context.Context, dir string, mutants []mutant, broken map[int]bool) (*build, error) {
	b := &build{dir, filepath.Join(dir, "overlay.json"), filepath.Join(dir, "chosen")}
	byFile, packages := map[string]map[int]mutant{}, map[string]bool{}
	for i, m := range mutants {
		if byFile[m.File] == nil {
			byFile[m.File] = map[int]mutant{}
		}
		byFile[m.File][i+1] = m
		packages[m.Package] = true
	}
	for {
		replace, err := b.files(byFile, broken)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(b.overlay, text, 0o666); err != nil {
			return nil, err
		}
		args := append([]string{"build", "-gcflags=-e", "-overlay", b.overlay}, slices.Sorted(maps.Keys(packages))...)
		out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
		if err == nil {
			return b, nil
		}
		found := false
		for _, id := range regexp.MustCompile(`mutant(\d+)\.go:`).FindAllSubmatch(out, -1) {
			n, _ := strconv.Atoi(string(id[1]))
			found = found || !broken[n]
			broken[n] = true
		}
		if !found {
			return nil, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
}

// files writes the changed files, and returns which file replaces which.
func (b *build) files(byFile map[string]map[int]mutant, broken map[int]bool) (map[string]string, error) {
	replace := map[string]string{}
	put := func(file, text string) error {
		whole, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		replace[whole] = filepath.Join(b.dir, strings.ReplaceAll(file, string(filepath.Separator), "_"))
		if before, err := os.ReadFile(replace[whole]); err == nil && string(before) == text {
			return nil // so that the file stays as old as it was
		}
		return os.WriteFile(replace[whole], []byte(text), 0o666)
	}
	for file, mutants := range byFile {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		changed, err := withCopies(string(text), mutants, broken)
		if err != nil {
			return nil, err
		}
		clause, err := parser.ParseFile(token.NewFileSet(), file, text, parser.PackageClauseOnly)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(put(file, changed), put(filepath.Join(filepath.Dir(file), "mutanton.go"), switchFile(clause.Name.Name, b.chosen))); err != nil {
			return nil, err
		}
	}
	return replace, nil
}

// choose says which mutant is wanted from now on; 0 means none.
func (b *build) choose(id int) error {
	return os.WriteFile(b.chosen, fmt.Append(nil, id), 0o666)
}

// testProgram builds the test program of a package, unless it is newer than all its sources.
func (b *build) testProgram(ctx context.Context, p string, flags ...string) (string, error) {
	to := filepath.Join(b.dir, strings.NewReplacer("/", "_", ".", "_").Replace(p)+".test")
	if built, err := os.Stat(to); err == nil {
		if newest, err := newestIn(".", b.dir); err != nil || built.ModTime().After(newest) {
			return to, err
		}
	}
	args := append([]string{"test", "-c", "-vet=off", "-o", to}, flags...)
	if out, err := exec.CommandContext(ctx, "go", append(args, p)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c %s: %w\n%s", p, err, bytes.TrimSpace(out))
	}
	return to, nil
}

// newestIn returns the time of the latest change of a Go file below some folders.
func newestIn(folders ...string) (newest time.Time, err error) {
	for _, folder := range folders {
		err = errors.Join(err, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			file, err := d.Info()
			if err == nil && file.ModTime().After(newest) {
				newest = file.ModTime()
			}
			return err
		}))
	}
	return newest, err
}
