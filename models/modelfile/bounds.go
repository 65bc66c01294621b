package modelfile

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Starlark counts steps, but one step may double a list or square an integer, and forty of
// these exceed any memory. So before a file is compiled, its operators become calls of
// built-in functions that check their operands. A result that would be too large is an
// error. The few methods that make something large out of something small are checked in
// the same way. Errors still name the places of the operators.

// Bounds of values: the length of strings in bytes, of other collections in elements, and
// of integers in bits. Large values also cost steps.
const (
	maxString   = 1 << 20
	maxElements = 1 << 18
	maxBits     = 1 << 18
)

// Names of the built-in functions. No file can call them, because they are not identifiers.
const (
	attribute = "."
	increment = "+="
	unite     = "|="
)

// growing are the methods that make large values.
var growing = []string{"join", "replace", "format", "extend", "update", "union"}

// mutators are the methods that change a list in place.
var mutators = []string{"append", "clear", "extend", "insert", "pop", "remove"}

// bounding rewrites the operators of a file.
type bounding struct {
	impure bool // something may change a list in place
	err    error
}

func (b *bounding) stmts(list []syntax.Stmt) {
	for i, s := range list {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			list[i] = b.assign(s)
		case *syntax.DefStmt:
			b.exprs(s.Params)
			b.stmts(s.Body)
		case *syntax.ExprStmt:
			s.X = b.expr(s.X)
		case *syntax.IfStmt:
			s.Cond = b.expr(s.Cond)
			b.stmts(s.True)
			b.stmts(s.False)
		case *syntax.WhileStmt:
			s.Cond = b.expr(s.Cond)
			b.stmts(s.Body)
		case *syntax.ForStmt:
			s.Vars, s.X = b.expr(s.Vars), b.expr(s.X)
			b.stmts(s.Body)
		case *syntax.ReturnStmt:
			s.Result = b.expr(s.Result)
		}
	}
}

// assign turns x += y into an assignment of a call.
func (b *bounding) assign(s *syntax.AssignStmt) syntax.Stmt {
	if _, name := s.LHS.(*syntax.Ident); !name || s.Op != syntax.EQ {
		b.impure = true
	}
	if s.Op == syntax.EQ {
		s.LHS, s.RHS = b.expr(s.LHS), b.expr(s.RHS)
		return s
	}
	if call := firstCall(s.LHS); call != nil && b.err == nil {
		b.err = syntax.Error{Pos: call.Lparen, Msg: fmt.Sprintf("expected no call to the left of %v; give its value a name first", s.Op)}
	}
	op := s.Op - syntax.PLUS_EQ + syntax.PLUS
	name := op.String()
	if op == syntax.PLUS || op == syntax.PIPE {
		name += "="
	}
	value := b.expr(s.LHS)
	return &syntax.AssignStmt{OpPos: s.OpPos, Op: syntax.EQ, LHS: again(value), RHS: call(name, s.OpPos, value, b.expr(s.RHS))}
}

// firstCall returns a call in an expression, nil if there is none.
func firstCall(x syntax.Expr) (found *syntax.CallExpr) {
	syntax.Walk(x, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && found == nil {
			found = c
		}
		return true
	})
	return found
}

// again returns a copy of an expression, with names that can be bound separately.
func again(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.Ident:
		return &syntax.Ident{NamePos: x.NamePos, Name: x.Name}
	case *syntax.ParenExpr:
		return again(x.X)
	case *syntax.IndexExpr:
		return &syntax.IndexExpr{X: again(x.X), Lbrack: x.Lbrack, Y: again(x.Y), Rbrack: x.Rbrack}
	case *syntax.DotExpr:
		return &syntax.DotExpr{X: again(x.X), Dot: x.Dot, NamePos: x.NamePos, Name: again(x.Name).(*syntax.Ident)}
	case *syntax.TupleExpr:
		list := make([]syntax.Expr, len(x.List))
		for i, y := range x.List {
			list[i] = again(y)
		}
		return &syntax.TupleExpr{Lparen: x.Lparen, List: list, Rparen: x.Rparen}
	case *syntax.UnaryExpr:
		return &syntax.UnaryExpr{OpPos: x.OpPos, Op: x.Op, X: again(x.X)}
	case *syntax.CallExpr: // an operator that is a call already
		args := make([]syntax.Expr, len(x.Args))
		for i, y := range x.Args {
			args[i] = again(y)
		}
		return &syntax.CallExpr{Fn: again(x.Fn), Lparen: x.Lparen, Args: args, Rparen: x.Rparen}
	}
	return x
}

func (b *bounding) exprs(list []syntax.Expr) {
	for i, x := range list {
		list[i] = b.expr(x)
	}
}

// expr rewrites an expression; it may be nil.
func (b *bounding) expr(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.BinaryExpr:
		x.X, x.Y = b.expr(x.X), b.expr(x.Y)
		switch x.Op {
		case syntax.EQ, syntax.AND, syntax.OR, syntax.NOT_IN:
			return x
		}
		return call(x.Op.String(), x.OpPos, x.X, x.Y)
	case *syntax.DotExpr:
		b.impure = b.impure || slices.Contains(mutators, x.Name.Name)
		x.X = b.expr(x.X)
		if slices.Contains(growing, x.Name.Name) {
			return call(attribute, x.NamePos, x.X, &syntax.Literal{Token: syntax.STRING, TokenPos: x.NamePos, Raw: x.Name.Name, Value: x.Name.Name})
		}
	case *syntax.CallExpr:
		x.Fn = b.expr(x.Fn)
		for i, arg := range x.Args {
			if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
				named.Y = b.expr(named.Y)
			} else {
				x.Args[i] = b.expr(arg)
			}
		}
	case *syntax.Comprehension:
		x.Body = b.expr(x.Body)
		for _, c := range x.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				c.X = b.expr(c.X)
			case *syntax.IfClause:
				c.Cond = b.expr(c.Cond)
			}
		}
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = b.expr(x.Cond), b.expr(x.True), b.expr(x.False)
	case *syntax.DictEntry:
		x.Key, x.Value = b.expr(x.Key), b.expr(x.Value)
	case *syntax.DictExpr:
		b.exprs(x.List)
	case *syntax.IndexExpr:
		x.X, x.Y = b.expr(x.X), b.expr(x.Y)
	case *syntax.LambdaExpr:
		b.exprs(x.Params)
		x.Body = b.expr(x.Body)
	case *syntax.ListExpr:
		b.exprs(x.List)
	case *syntax.ParenExpr:
		x.X = b.expr(x.X)
	case *syntax.SliceExpr:
		x.X, x.Lo, x.Hi, x.Step = b.expr(x.X), b.expr(x.Lo), b.expr(x.Hi), b.expr(x.Step)
	case *syntax.TupleExpr:
		b.exprs(x.List)
	case *syntax.UnaryExpr:
		x.X = b.expr(x.X)
	}
	return x
}

// call returns a call of a built-in function at a place.
func call(name string, at syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: name}, Lparen: at, Args: args, Rparen: at}
}

// operators are the operators that become calls.
var operators = []syntax.Token{
	syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT,
	syntax.AMP, syntax.PIPE, syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT,
	syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.IN,
}

// operator returns the function for one of them: x op y.
func operator(op syntax.Token) builtin {
	compares := slices.Contains([]syntax.Token{syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE}, op)
	return func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		x, y := args[0], args[1]
		charge(thread, size(x)+size(y))
		if compares {
			yes, err := starlark.Compare(op, x, y)
			return starlark.Bool(yes), err
		}
		switch op {
		case syntax.PLUS:
			if err := bounded(x, size(x)+size(y)); err != nil {
				return nil, err
			}
			if x, ok := x.(*starlark.List); ok {
				if y, ok := y.(*starlark.List); ok {
					return callOf(thread).sum(x, y)
				}
			}
		case syntax.STAR:
			if err := boundedProduct(thread, x, y); err != nil {
				return nil, err
			}
		case syntax.PERCENT:
			if format, ok := x.(starlark.String); ok {
				if err := printable(thread, len(format), y); err != nil {
					return nil, err
				}
			}
		case syntax.PIPE:
			if err := bounded(x, size(x)+size(y)); err != nil {
				return nil, err
			}
		}
		return starlark.Binary(op, x, y)
	}
}

// builtin is a Go function for Starlark.
type builtin = func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error)

// size returns the length of a string or a collection, or the bits of an integer.
func size(x starlark.Value) int64 {
	switch x := x.(type) {
	case starlark.Int:
		if _, small := x.Int64(); small {
			return 1
		}
		return int64(x.BigInt().BitLen())
	case interface{ Len() int }:
		return int64(x.Len())
	}
	return 1
}

// perStep is the size of operands that counts as a step.
const perStep = 64

// charge counts the steps that an operator costs beyond its own.
func charge(thread *starlark.Thread, size int64) { thread.Steps += uint64(size / perStep) }

// bounded returns an error if a value like x may not become that large.
func bounded(x starlark.Value, size int64) error {
	most, what := int64(maxElements), "elements"
	switch x.(type) {
	case starlark.Int:
		most, what = maxBits, "bits"
	case starlark.String, starlark.Bytes:
		most, what = maxString, "bytes"
	}
	if size > most {
		return fmt.Errorf("this would be a value of %d %s; a model's values have at most %d", size, what, most)
	}
	return nil
}

// boundedProduct bounds x * y.
func boundedProduct(thread *starlark.Thread, x, y starlark.Value) error {
	n, isInt := x.(starlark.Int)
	m, isInt2 := y.(starlark.Int)
	switch {
	case isInt && isInt2:
		charge(thread, size(x)*size(y)/perStep)
		return bounded(x, size(x)+size(y))
	case isInt:
		x, m = y, n
	}
	times, small := m.Int64()
	switch {
	case !small && m.Sign() > 0:
		times = maxString + 1
	case times < 0:
		times = 0
	}
	length := max(size(x), 1)
	if times > maxString {
		return bounded(x, maxString+1)
	}
	return bounded(x, length*times)
}

// printable bounds the text of values inside a text of times bytes, each of which may
// repeat it.
func printable(thread *starlark.Thread, times int, values ...starlark.Value) error {
	total := 0
	for _, v := range values {
		if !weigh(v, &total, maxDepth) {
			return errors.New("a value nests too deep to be printed")
		}
	}
	charge(thread, int64(total))
	if total > maxString || times > 0 && total > maxString/times+maxString/1024 {
		return bounded(starlark.String(""), maxString+1)
	}
	return nil
}

// weigh adds roughly the bytes of a value's text, until they are too many. It returns false
// if the value nests deeper than depth.
func weigh(v starlark.Value, total *int, depth int) bool {
	if *total > maxString {
		return true
	}
	if depth == 0 {
		return false
	}
	switch x := v.(type) {
	case starlark.String:
		*total += len(x)
	case starlark.Int:
		*total += 1 + int(size(x)/3)
	case *starlark.Dict:
		for k, held := range x.Entries() {
			if *total++; !weigh(k, total, depth-1) || !weigh(held, total, depth-1) {
				return false
			}
		}
	case starlark.Iterable:
		for item := range starlark.Elements(x) {
			if *total++; !weigh(item, total, depth-1) {
				return false
			}
		}
	default:
		*total += 8
	}
	return true
}

// sized subtracts the elements of a value, and those of its elements, from what is left. It
// returns false if too few are left. Freezing a value takes as long as this.
func sized(v starlark.Value, left *int) bool {
	switch x := v.(type) {
	case *starlark.Dict:
		for k, held := range x.Entries() {
			if *left--; *left < 0 || !sized(k, left) || !sized(held, left) {
				return false
			}
		}
	case starlark.Iterable:
		for item := range starlark.Elements(x) {
			if *left--; *left < 0 || !sized(item, left) {
				return false
			}
		}
	}
	return true
}

// incremented returns x += y and changes a list in place.
func incremented(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if list, ok := args[0].(*starlark.List); ok {
		return inPlace(thread, list, "extend", args[1])
	}
	return operator(syntax.PLUS)(thread, nil, args, nil)
}

// united returns x |= y and changes a dict in place.
func united(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if dict, ok := args[0].(*starlark.Dict); ok {
		if _, ok := args[1].(*starlark.Dict); ok {
			return inPlace(thread, dict, "update", args[1])
		}
	}
	return operator(syntax.PIPE)(thread, nil, args, nil)
}

// inPlace calls a method that changes x and returns x.
func inPlace(thread *starlark.Thread, x starlark.HasAttrs, method string, y starlark.Value) (starlark.Value, error) {
	f, err := x.Attr(method)
	if err != nil {
		return nil, err
	}
	if err := bounded(x, size(x)+size(y)); err != nil {
		return nil, err
	}
	charge(thread, size(y))
	_, err = starlark.Call(thread, f, starlark.Tuple{y}, nil)
	return x, err
}

// attributed returns x.name for a method that may make something large.
func attributed(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	x, name := args[0], string(args[1].(starlark.String))
	has, ok := x.(starlark.HasAttrs)
	var method starlark.Value
	if ok {
		var err error
		if method, err = has.Attr(name); err != nil {
			return nil, err
		}
	}
	if method == nil {
		return nil, fmt.Errorf("%s has no .%s field or method", x.Type(), name)
	}
	text, isText := x.(starlark.String)
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
		all := slices.Clone(args)
		for _, arg := range named {
			all = append(all, arg[1])
		}
		err := error(nil)
		switch {
		case isText && name == "join" && len(all) == 1:
			err = printable(thread, 0, append(all, starlark.Tuple(slices.Repeat([]starlark.Value{text}, int(size(all[0])))))...)
		case isText && name != "join":
			err = printable(thread, len(text), all...)
		default:
			for _, arg := range all {
				if err == nil {
					err = bounded(x, size(x)+size(arg))
				}
				charge(thread, size(x)+size(arg))
			}
		}
		if err != nil {
			return nil, err
		}
		return starlark.Call(thread, method, args, named)
	}), nil
}

// ranged is range with a bounded length.
func ranged(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	r, err := starlark.Call(thread, starlark.Universe["range"], args, named)
	if err != nil {
		return nil, err
	}
	return r, bounded(r, size(r))
}

// texted is str or repr of bounded values.
func texted(name string) builtin {
	return func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
		if err := printable(thread, 0, args...); err != nil {
			return nil, err
		}
		return starlark.Call(thread, starlark.Universe[name], args, named)
	}
}
