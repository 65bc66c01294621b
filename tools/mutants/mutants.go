package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is a small change of a file.
type mutant struct {
	Package string // its folder, as an argument of go test
	File    string
	Line    int
	Func    string // in which the change is
	Was, Is string // the text before and after the change
	Nth     int    // among the changes of that function with the same texts, from 0
	from    int    // where the text begins in the file
	reach   int    // the line that a test runs if it runs the text
}

// name distinguishes mutants, and does not change when lines are added elsewhere.
func (m mutant) name() string {
	return fmt.Sprintf("%s %s %d: %s -> %s", m.File, m.Func, m.Nth, strings.Join(strings.Fields(m.Was), " "), m.Is)
}

// place says where a mutant is in the order that a seed draws.
func (m mutant) place(seed uint64) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.name()))
	return sum[:]
}

// operators says what replaces an operator.
var operators = map[token.Token][]token.Token{
	token.LSS: {token.LEQ}, token.LEQ: {token.LSS}, token.GTR: {token.GEQ}, token.GEQ: {token.GTR},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.AND: {token.OR}, token.OR: {token.AND}, token.SHL: {token.SHR}, token.SHR: {token.SHL},
}

// names says what replaces a name.
var names = map[string]string{"max": "min", "min": "max", "true": "false", "false": "true"}

// mutantsIn returns all mutants of the Go files under folders, except tests, in order.
func mutantsIn(folders []string) ([]mutant, error) {
	var all []mutant
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{"testdata", "testkit"}, d.Name()):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			of, err := mutantsOf(filepath.ToSlash(path), string(text))
			all = append(all, of...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// mutantsOf returns the mutants of a file.
func mutantsOf(path, text string) ([]mutant, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []mutant
	seen := map[string]int{}
	for _, d := range file.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		if !isFunc || f.Body == nil {
			continue
		}
		cases, idle := casesOf(f), idleIn(f)
		change := func(from, to token.Pos, is string) {
			at, end := files.Position(from), files.Position(to)
			m := mutant{Package: "./" + filepath.ToSlash(filepath.Dir(path)), File: path, Line: at.Line, Func: funcName(f),
				Was: text[at.Offset:end.Offset], Is: is, from: at.Offset, reach: at.Line}
			for _, c := range cases {
				if c.from <= from && from < c.to {
					m.reach = files.Position(c.of).Line
				}
			}
			key := m.name()
			m.Nth = seen[key]
			seen[key]++
			if !slices.ContainsFunc(idle, func(n ast.Node) bool { return n.Pos() <= from && to <= n.End() }) {
				all = append(all, m)
			}
		}
		ast.Inspect(f.Body, func(n ast.Node) bool { return mutate(n, change) })
	}
	return all, nil
}

// aCase is the text between case and colon, with its switch. Coverage knows the line of
// the switch.
type aCase struct{ from, to, of token.Pos }

// casesOf returns the cases of a function, inner ones after outer ones.
func casesOf(f *ast.FuncDecl) (all []aCase) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if s, is := n.(*ast.SwitchStmt); is {
			for _, c := range s.Body.List {
				all = append(all, aCase{c.Pos(), c.(*ast.CaseClause).Colon, s.Switch})
			}
		}
		return true
	})
	return all
}

// idleIn returns the places of a function where a change makes no difference: the
// capacity of a make, and literals beside an error.
func idleIn(f *ast.FuncDecl) (all []ast.Node) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if made, is := n.Fun.(*ast.Ident); is && made.Name == "make" && len(n.Args) == 3 {
				all = append(all, n.Args[2])
			}
		case *ast.ReturnStmt:
			if last := len(n.Results) - 1; last > 0 && isError(f.Type.Results) && !isNil(n.Results[last]) {
				for _, x := range n.Results[:last] {
					switch x.(type) {
					case *ast.BasicLit, *ast.Ident:
						all = append(all, x)
					}
				}
			}
		}
		return true
	})
	return all
}

// isError says whether the last result is an error.
func isError(results *ast.FieldList) bool {
	if results == nil {
		return false
	}
	last, is := results.List[len(results.List)-1].Type.(*ast.Ident)
	return is && last.Name == "error"
}

func isNil(x ast.Expr) bool {
	name, is := x.(*ast.Ident)
	return is && name.Name == "nil"
}

// mutate calls change with what may replace a node or a part of it. It says whether
// to go on within the node.
func mutate(n ast.Node, change func(from, to token.Pos, is string)) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, op := range operators[n.Op] {
			change(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op.String())
		}
	case *ast.Ident:
		if is := names[n.Name]; is != "" {
			change(n.Pos(), n.End(), is)
		}
	case *ast.BasicLit:
		if n.Kind == token.INT {
			change(n.Pos(), n.End(), "("+n.Value+" + 1)")
		}
	case *ast.IfStmt:
		change(n.Cond.Pos(), n.Cond.End(), "false")
	case *ast.IncDecStmt:
		is := token.INC
		if n.Tok == token.INC {
			is = token.DEC
		}
		change(n.TokPos, n.TokPos+2, is.String())
	case *ast.BranchStmt:
		if n.Label == nil && (n.Tok == token.BREAK || n.Tok == token.CONTINUE) {
			change(n.Pos(), n.End(), "{}")
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			change(n.Pos(), n.End(), "{}")
		}
	case *ast.ExprStmt:
		if call, is := n.X.(*ast.CallExpr); is {
			if f, is := call.Fun.(*ast.Ident); is && f.Name == "panic" {
				return false // this cannot happen
			}
		}
		change(n.Pos(), n.End(), "{}")
	}
	return true
}

// funcName returns a function's name, with the type of which it is a method.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if p, is := of.(*ast.StarExpr); is {
		of = p.X
	}
	if g, is := of.(*ast.IndexExpr); is {
		of = g.X
	}
	if name, is := of.(*ast.Ident); is {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// apply returns the text of the mutant's file with the change.
func (m mutant) apply(text string) string {
	return text[:m.from] + m.Is + text[m.from+len(m.Was):]
}
