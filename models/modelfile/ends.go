package modelfile

import (
	"cmp"
	"fmt"
	"slices"

	"go.starlark.net/syntax"
)

// In Starlark a function that ends without a return gives None, and None is a state like
// any other. A forgotten return would be a false alarm. So every function must return
// something on every path, as far as its text shows. It ends in a return, in fail(..), in
// an if whose branches all do, or in while True without a break.

// forgotten returns an error about a function that can end without a return, nil if there
// is none.
func forgotten(list []syntax.Stmt) error {
	var err error
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt:
				if at, ends := falls(n.Body); ends && err == nil {
					err = syntax.Error{Pos: at, Msg: n.Name.Name + " can end here without return; expected a state, inconsistent(why) or one_of([..]), or return None if nothing should be returned"}
				}
			case *syntax.ReturnStmt:
				if n.Result == nil && err == nil {
					err = syntax.Error{Pos: n.Return, Msg: "this return has no value; expected return None if that is intended"}
				}
			}
			return true
		})
	}
	return err
}

// falls says whether control can leave the end of a block, and where.
func falls(block []syntax.Stmt) (at syntax.Position, ends bool) {
	switch s := block[len(block)-1].(type) {
	case *syntax.ReturnStmt:
		return at, false
	case *syntax.ExprStmt:
		if call, ok := s.X.(*syntax.CallExpr); ok {
			if f, ok := call.Fn.(*syntax.Ident); ok && f.Name == "fail" {
				return at, false
			}
		}
	case *syntax.IfStmt:
		if at, ends = falls(s.True); ends {
			return at, true
		}
		if len(s.False) > 0 {
			return falls(s.False)
		}
		return s.If, true
	case *syntax.WhileStmt:
		return s.While, !endless(s)
	}
	start, _ := block[len(block)-1].Span()
	return start, true
}

// endless says whether a loop can end only with a return.
func endless(s *syntax.WhileStmt) bool {
	always, ok := s.Cond.(*syntax.Ident)
	return ok && always.Name == "True" && !breaks(s.Body)
}

// breaks says whether a break in a block leaves the loop around it.
func breaks(block []syntax.Stmt) bool {
	return slices.ContainsFunc(block, func(s syntax.Stmt) bool {
		switch s := s.(type) {
		case *syntax.BranchStmt:
			return s.Token == syntax.BREAK
		case *syntax.IfStmt:
			return breaks(s.True) || breaks(s.False)
		}
		return false
	})
}

// The value of inconsistent(..) refuses an operation only if the step returns it. A call as
// a statement refuses nothing, and neither does a variable that is never looked at.

// lost returns an error about an inconsistent(..) that no step can return, nil if there is
// none as far as the text shows.
func lost(list []syntax.Stmt) error {
	refusing := refusing(list)
	var err error
	tell := func(x syntax.Node, format string, args ...any) {
		if start, _ := x.Span(); err == nil {
			err = syntax.Error{Pos: start, Msg: fmt.Sprintf(format, args...)}
		}
	}
	const refused = "the result of inconsistent(..) is discarded here, so nothing is refused; expected return inconsistent(..)"
	for _, s := range list {
		var used map[string]bool // in a function
		if def, ok := s.(*syntax.DefStmt); ok {
			used = lookedAt(def)
		}
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.ExprStmt:
				if f := refusing.by(n.X); f == inconsistent {
					tell(n, refused)
				} else if f != "" {
					tell(n, "the result of %s(..) is discarded here, and it may be inconsistent(..); expected return %[1]s(..), or a use of its result", f)
				}
			case *syntax.AssignStmt:
				if name, f := assigned(n), refusing.by(n.RHS); used != nil && name != "" && f != "" && !used[name] {
					tell(n, "%s = %s(..) is never used, so nothing is refused; expected return %[2]s(..)", name, f)
				}
			}
			return true
		})
	}
	return err
}

const inconsistent = "inconsistent"

// functions are names of functions that may give inconsistent(..).
type functions map[string]bool

// refusing returns inconsistent itself, and the functions of a file that return it.
func refusing(list []syntax.Stmt) functions {
	all := functions{inconsistent: true}
	for before := 0; before < len(all); {
		before = len(all)
		for _, s := range list {
			if def, ok := s.(*syntax.DefStmt); ok {
				for _, s := range def.Body {
					syntax.Walk(s, func(n syntax.Node) bool {
						if r, ok := n.(*syntax.ReturnStmt); ok && all.by(r.Result) != "" {
							all[def.Name.Name] = true
						}
						_, inner := n.(*syntax.DefStmt)
						return !inner
					})
				}
			}
		}
	}
	return all
}

// by returns the function that an expression may get its value from, or "".
func (all functions) by(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return all.by(x.X)
	case *syntax.CondExpr:
		return cmp.Or(all.by(x.True), all.by(x.False))
	case *syntax.BinaryExpr:
		if x.Op == syntax.AND || x.Op == syntax.OR {
			return cmp.Or(all.by(x.X), all.by(x.Y))
		}
	case *syntax.CallExpr:
		if f, ok := x.Fn.(*syntax.Ident); ok && all[f.Name] {
			return f.Name
		}
	}
	return ""
}

// assigned returns the variable that a statement sets, "" if it sets anything else.
func assigned(s *syntax.AssignStmt) string {
	if name, ok := s.LHS.(*syntax.Ident); ok && s.Op == syntax.EQ {
		return name.Name
	}
	return ""
}

// lookedAt returns the names that a function mentions other than to set them.
func lookedAt(def *syntax.DefStmt) map[string]bool {
	used := map[string]bool{}
	var visit func(n syntax.Node) bool
	visit = func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Ident:
			used[n.Name] = true
		case *syntax.AssignStmt:
			if assigned(n) != "" {
				syntax.Walk(n.RHS, visit)
				return false
			}
		}
		return true
	}
	for _, s := range def.Body {
		syntax.Walk(s, visit)
	}
	return used
}
