package house

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// No exported signature, field or constant of an importable package names a type of an
// internal one: others could not write it down.
func TestTheDoorNamesNoInternalTypes(t *testing.T) {
	for _, s := range sources(t) {
		dir := path.Dir(s.path)
		if dir == "." {
			dir = ""
		}
		if !slices.Contains(importable, dir) {
			continue
		}
		internal := map[string]bool{}
		for _, spec := range s.file.Imports {
			if p, _ := strconv.Unquote(spec.Path.Value); strings.Contains(p, "/internal/") {
				internal[path.Base(p)] = true
			}
		}
		for _, part := range promised(s.file) {
			ast.Inspect(part, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && internal[x.Name] {
						t.Errorf("%s: %s.%s is internal; expected exported names to do without it", s.fset.Position(sel.Pos()), x.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// promised returns the types that the exported declarations of a file show.
func promised(file *ast.File) (parts []ast.Node) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d)) {
				parts = append(parts, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch x := spec.(type) {
				case *ast.TypeSpec:
					if x.Name.IsExported() {
						parts = append(parts, shown(x.Type)...)
					}
				case *ast.ValueSpec:
					if x.Type != nil && slices.ContainsFunc(x.Names, (*ast.Ident).IsExported) {
						parts = append(parts, x.Type)
					}
				}
			}
		}
	}
	return parts
}

func exportedReceiver(d *ast.FuncDecl) bool {
	exported := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.IsExported() {
			exported = true
		}
		return !exported
	})
	return exported
}

// shown returns the parts of a type that others see: not its unexported fields.
func shown(t ast.Expr) (parts []ast.Node) {
	fields := (*ast.FieldList)(nil)
	switch x := t.(type) {
	case *ast.StructType:
		fields = x.Fields
	case *ast.InterfaceType:
		fields = x.Methods
	default:
		return []ast.Node{t}
	}
	for _, f := range fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			parts = append(parts, f.Type)
		}
	}
	return parts
}
