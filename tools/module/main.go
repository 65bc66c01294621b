// Command module renames the module, since a path that others can fetch begins with a
// name that has a dot.
//
//	make module PATH=example.com/x/clew
//
// It changes the modules of this repository (tools and contrib come along), the imports,
// and the places in comments and docs that name a package or the module. It takes the
// present name from go.mod, so it can run again. Names of other things stay: the command,
// analyzers such as clew/window, and the Clojure plugin, which nothing fetches by this path.
//
// It is our own because no tool does more than the imports: gofmt -r does not see them,
// and gomajor and the like change only their major version.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

func main() {
	err := errors.New("expected one argument, the new path; run make module PATH=example.com/x/clew")
	if len(os.Args) == 2 {
		err = rename(".", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "module:", err)
		os.Exit(1)
	}
}

// rename gives the module in a folder, and those below it, another path.
func rename(dir, to string) error {
	if err := module.CheckPath(to); err != nil {
		return fmt.Errorf("%w; expected a path that the go command can fetch, such as example.com/x/clew", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	r := &renaming{from: modfile.ModulePath(text), to: to, packages: map[string]bool{}}
	files, err := r.files(dir)
	if err != nil {
		return err
	}
	r.prepare()
	for _, file := range files {
		before, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		after, err := r.file(file, string(before))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if after == string(before) {
			continue
		}
		if err := os.WriteFile(file, []byte(after), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// renaming replaces a module's path.
type renaming struct {
	from, to string
	packages map[string]bool // by import path

	name     *regexp.Regexp // what may name a package in a sentence
	imported *regexp.Regexp // a line that imports a package
	said     *regexp.Regexp // a place that names the module itself
}

func (r *renaming) prepare() {
	from := regexp.QuoteMeta(r.from)
	r.name = regexp.MustCompile(`(^|[^\w/.\[-])(` + from + `(?:/[\w-]+)+)`)
	r.imported = regexp.MustCompile(`(?m)^(?:(?:// ?)?[ \t]*(?:import )?(?:\w+ )?")(` + from + `(?:/[\w/-]+)?)"\r?$`)
	r.said = regexp.MustCompile("(go doc |go list |-require |-replace |module is called `)" + from + "([@=` \\n.])")
}

// files returns the files that may have the module's path, and notes its packages.
func (r *renaming) files(dir string) (all []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "fuzz"):
			return filepath.SkipDir
		case d.IsDir() || !d.Type().IsRegular():
			return nil
		}
		if filepath.Ext(path) == ".go" {
			rel, err := filepath.Rel(dir, filepath.Dir(path))
			if err != nil {
				return err
			}
			r.packages[strings.TrimSuffix(r.from+"/"+filepath.ToSlash(rel), "/.")] = true
		}
		if slices.Contains([]string{".go", ".mod", ".md", ".yml", ".yaml", ".txtar"}, filepath.Ext(path)) {
			all = append(all, path)
		}
		return nil
	})
	return all, err
}

// file returns a file's text with the new path.
func (r *renaming) file(path, text string) (string, error) {
	switch filepath.Ext(path) {
	case ".mod":
		return r.goMod(path, text)
	case ".go":
		return r.source(path, text)
	}
	return r.prose(text), nil
}

// moved returns a path with the new beginning.
func (r *renaming) moved(path string) string {
	if rest, ours := strings.CutPrefix(path, r.from); ours && (rest == "" || rest[0] == '/') {
		return r.to + rest
	}
	return path
}

// prose changes what names the module or a package of it in a text.
func (r *renaming) prose(text string) string {
	text = r.programs(text)
	text = r.said.ReplaceAllString(text, "${1}"+r.to+"${2}")
	var b strings.Builder
	rest := 0
	for _, m := range r.name.FindAllStringSubmatchIndex(text, -1) {
		// A Clojure coordinate looks like a package: clew/jepsen {:local/root ..}.
		if r.packages[text[m[4]:m[5]]] && !strings.HasPrefix(text[m[5]:], " {") {
			b.WriteString(text[rest:m[4]] + r.moved(text[m[4]:m[5]]))
			rest = m[5]
		}
	}
	return b.String() + text[rest:]
}

// programs changes the imports of programs in a text.
func (r *renaming) programs(text string) string {
	return r.imported.ReplaceAllStringFunc(text, func(line string) string {
		path := r.imported.FindStringSubmatch(line)[1]
		if !r.packages[path] {
			return line
		}
		return strings.Replace(line, `"`+path, `"`+r.moved(path), 1)
	})
}

// goMod changes the module's path, and that of the modules of this repository that it
// requires and replaces.
func (r *renaming) goMod(path, text string) (string, error) {
	f, err := modfile.Parse(path, []byte(text), nil)
	if err != nil {
		return "", err
	}
	change := func(l *modfile.Line) {
		for i, word := range l.Token {
			l.Token[i] = r.moved(word)
		}
	}
	for _, stmt := range f.Syntax.Stmt {
		switch s := stmt.(type) {
		case *modfile.Line:
			change(s)
		case *modfile.LineBlock:
			for _, l := range s.Line {
				change(l)
			}
		}
	}
	f.SortBlocks()
	return string(modfile.Format(f.Syntax)), nil
}

// source changes a Go file: its comments, its imports, and the strings that are imports,
// name a package, or are programs.
func (r *renaming) source(path, text string) (string, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	rest := 0
	replace := func(n ast.Node, by string) {
		from, to := files.Position(n.Pos()).Offset, files.Position(n.End()).Offset
		b.WriteString(text[rest:from] + by)
		rest = to
	}
	nodes := []ast.Node{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			nodes = append(nodes, c)
		}
	}
	imports := map[*ast.BasicLit]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			imports[n.Path] = true
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				nodes = append(nodes, n)
			}
		}
		return true
	})
	slices.SortFunc(nodes, func(a, b ast.Node) int { return int(a.Pos() - b.Pos()) })
	for _, n := range nodes {
		switch n := n.(type) {
		case *ast.Comment:
			replace(n, r.prose(n.Text))
		case *ast.BasicLit:
			value, err := strconv.Unquote(n.Value)
			switch {
			case err != nil:
				return "", err
			case imports[n], r.packages[value] && value != r.from:
				replace(n, strconv.Quote(r.moved(value)))
			case n.Value[0] == '`':
				replace(n, r.programs(n.Value))
			}
		}
	}
	formatted, err := format.Source([]byte(b.String() + text[rest:]))
	return string(formatted), err
}
