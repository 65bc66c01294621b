package modelfile

import (
	"slices"

	"go.starlark.net/syntax"
)

// In Starlark a function that ends without a return gives None, and None is a state
// like any other: a forgotten return would be a false alarm. So every function must
// return something on every way through it, as far as its text shows: it ends in a
// return, in fail(..), in an if whose branches all do, or in while True without a break.

// forgotten is an error about a function that can end without a return, nil if
// there is none.
func forgotten(list []syntax.Stmt) error {
	var err error
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt:
				if at, ends := falls(n.Body); ends && err == nil {
					err = syntax.Error{Pos: at, Msg: n.Name.Name + " can end here without return; expected a state, inconsistent(why) or one_of([..]), or return None if it is to give nothing"}
				}
			case *syntax.ReturnStmt:
				if n.Result == nil && err == nil {
					err = syntax.Error{Pos: n.Return, Msg: "this return gives nothing; expected return None if that is what it is to give"}
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

// endless says whether nothing but a return leaves a loop.
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
