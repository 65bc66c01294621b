package modelfile

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A step of Porcupine's returns whether the operation can happen, alone or in a pair with
// the state. Here a step returns the state itself, and a boolean or a pair is a state like
// any other: such a model refuses nothing. So both are errors, unless the initial state is
// one, too.

// shape is the form of a returned value, as far as the text shows.
type shape uint8

const (
	anyShape shape = iota
	literal        // True or False
	truth          // a comparison, or made of comparisons
	pair           // a tuple of two whose first is a literal or a truth
)

// returns are the shapes of the values that the functions of a file return, by their
// places.
type returns map[syntax.Position]returned

// returned is the return of a function that says most.
type returned struct {
	shape shape
	at    syntax.Position
}

// returnsOf finds the returns of the functions in a file.
func returnsOf(list []syntax.Stmt) returns {
	all := returns{}
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt:
				r := returnOf(n.Body)
				all[n.Def], all[n.Name.NamePos] = r, r
			case *syntax.LambdaExpr:
				start, _ := n.Body.Span()
				all[n.Lambda] = returned{shapeOf(n.Body), start}
			}
			return true
		})
	}
	return all
}

// returnOf looks at the returns of a function, not at those of functions within it.
func returnOf(body []syntax.Stmt) (r returned) {
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt, *syntax.LambdaExpr:
				return false
			case *syntax.ReturnStmt:
				if x := shapeOf(n.Result); x > r.shape {
					r = returned{x, n.Return}
				}
			}
			return true
		})
	}
	return r
}

// shapeOf returns the shape of an expression.
func shapeOf(x syntax.Expr) shape {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return shapeOf(x.X)
	case *syntax.Ident:
		if x.Name == "True" || x.Name == "False" {
			return literal
		}
	case *syntax.UnaryExpr:
		if x.Op == syntax.NOT {
			return truth
		}
	case *syntax.BinaryExpr:
		switch x.Op {
		case syntax.EQL, syntax.NEQ, syntax.LT, syntax.GT, syntax.LE, syntax.GE, syntax.IN, syntax.NOT_IN:
			return truth
		case syntax.AND, syntax.OR:
			return min(shapeOf(x.X), shapeOf(x.Y))
		}
	case *syntax.CondExpr:
		a, b := shapeOf(x.True), shapeOf(x.False)
		if a == pair || b == pair {
			return pair
		}
		return min(a, b)
	case *syntax.TupleExpr:
		if len(x.List) == 2 && shapeOf(x.List[0]) != anyShape {
			return pair
		}
	}
	return anyShape
}

// isPair says whether a value is a tuple or list of two that begins with a boolean.
func isPair(v starlark.Value) bool {
	list, ok := v.(starlark.Indexable)
	if !ok || list.Len() != 2 {
		return false
	}
	_, ok = list.Index(0).(starlark.Bool)
	return ok && (v.Type() == "tuple" || v.Type() == "list")
}

const (
	notPair  = "it returns (ok, state), as Porcupine's steps do; expected the next state alone, or inconsistent(why) if the operation cannot happen. If such a pair is the state, the initial state must also be one"
	notTruth = "it returns whether the operation can happen, as Porcupine's steps do; expected the next state, or inconsistent(why) if it cannot. If a boolean is the state, the initial state must also be one"
)

// checkShapes returns an error about a step whose text shows that it returns the same as
// Porcupine's steps.
func (f *File) checkShapes() error {
	_, isBool := f.init.(starlark.Bool)
	for _, name := range f.sortedOps() {
		step := f.ops[name]
		r := f.returns[step.Position()]
		what := ""
		switch {
		case r.shape == pair && !isPair(f.init):
			what = notPair
		case r.shape == truth && !isBool, r.shape == literal && !isBool && f.init != starlark.None:
			what = notTruth
		default:
			continue
		}
		return inFile(f.path, r.at).Errorf("in %s: %s", step.Name(), what)
	}
	return nil
}

// shaped returns an error about a state that looks like the result of Porcupine's steps. It
// remembers the first state that is of another type than the initial one. A state that is
// part of the operation may have any type. So may a state after None or after a state of
// that type.
func (m *bound) shaped(before, v starlark.Value, op operation) error {
	start := m.start
	switch _, isBool := v.(starlark.Bool); {
	case v.Type() == start.Type() || v.Type() == before.Type() || v == starlark.None || start == starlark.None && !isPair(v):
		return nil
	case v.Type() == "tuple" && isPair(v):
		return fmt.Errorf("%s", notPair)
	case start == starlark.None || m.gives(op, v):
		return nil
	case isBool:
		return fmt.Errorf("%s", notTruth)
	case isNumber(v) && isNumber(start):
		return nil
	}
	m.file.remark("a state has type %s after :%s, but %s initially", v.Type(), op.F, start.Type())
	return nil
}

func isNumber(v starlark.Value) bool { return v.Type() == "int" || v.Type() == "float" }

// gives says whether a value is the operation's value or result, or part of one.
func (m *bound) gives(op operation, v starlark.Value) bool {
	return holds(m.values.get(op.Call.Value), v, maxDepth) || op.OK && holds(m.values.get(op.Out), v, maxDepth)
}

// holds says whether v equals x or is inside x, at most depth levels deep.
func holds(x, v starlark.Value, depth int) bool {
	if equal, err := starlark.Equal(x, v); err == nil && equal {
		return true
	}
	items, ok := x.(starlark.Iterable)
	if !ok || depth == 0 {
		return false
	}
	for item := range starlark.Elements(items) {
		if holds(item, v, depth-1) {
			return true
		}
	}
	if d, ok := x.(*starlark.Dict); ok {
		for _, item := range d.Entries() {
			if holds(item, v, depth-1) {
				return true
			}
		}
	}
	return false
}

// remark keeps the first remark that is worth a warning.
func (f *File) remark(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.remarked == "" {
		f.remarked = fmt.Sprintf(format, args...)
	}
}

// Warnings returns what may be wrong with the model, as far as its text and the steps taken
// so far show.
func (f *File) Warnings() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.refuses {
		list = append(list, "no step returns inconsistent(why), so no history is ever invalid")
	}
	if f.remarked != "" {
		list = append(list, f.remarked)
	}
	return list
}
