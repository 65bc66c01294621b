package modelfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"clew/edn"
	"clew/models"
)

// File is a model file that has been read. It can be used for many histories at once.
type File struct {
	// Print, unless it is nil, gets what the model prints.
	Print io.Writer

	path      string
	about     string
	pure      bool // nothing in it changes a list in place
	init      starlark.Value
	ops       map[string]*starlark.Function
	reads     []string
	overwrite []string
	partition *starlark.Function
	describe  *starlark.Function
	label     *starlark.Function
	position  *starlark.Function
	sparse    bool // positions = "sparse"
	process   bool // uses_process
	keep      bool // keywords = "keep"
	examples  []*Example
	returns   returns
	refuses   bool // something in it mentions inconsistent(..)

	mu       sync.Mutex
	remarked string // see Warnings
}

// maxFile bounds a file's length.
const maxFile = 1 << 20

// Load reads a model file. An error about a place in the file is an *edn.Error.
func Load(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Parse reads the text of a model file. Errors name it by path.
func Parse(path string, text []byte) (*File, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: a model file has at most %d bytes", path, maxFile)
	}
	f := &File{path: path, ops: map[string]*starlark.Function{}}
	globals, err := f.run(text)
	if err != nil {
		return nil, err
	}
	for _, name := range globals.Keys() {
		if err := f.set(name, globals[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if f.init == nil {
		return nil, fmt.Errorf("%s: it has no init; expected the initial state, such as init = 0", path)
	}
	if len(f.ops) == 0 {
		return nil, fmt.Errorf(`%s: it has no ops; expected a function for every :f, such as ops = {"read": read}`, path)
	}
	for _, list := range []struct {
		name string
		fs   []string
	}{{"reads", f.reads}, {"overwrites", f.overwrite}} {
		for _, op := range list.fs {
			if f.ops[op] == nil {
				return nil, fmt.Errorf("%s: %s names %q, which is not among its ops: %s", path, list.name, op, f.names())
			}
		}
	}
	if err := f.checkShapes(); err != nil {
		return nil, err
	}
	return f, f.findExamples(globals["examples"])
}

// run runs the file itself and returns its global names.
func (f *File) run(text []byte) (starlark.StringDict, error) {
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true}
	tree, err := options.Parse(f.path, text, 0)
	if err != nil {
		return nil, placed(f.path, err)
	}
	if err := nested(tree.Stmts); err != nil {
		return nil, placed(f.path, err)
	}
	for _, s := range tree.Stmts {
		if load, ok := s.(*syntax.LoadStmt); ok {
			return nil, placed(f.path, syntax.Error{Pos: load.Load, Msg: "a model is one file and cannot load others"})
		}
	}
	if err := cmp.Or(lost(tree.Stmts), forgotten(tree.Stmts)); err != nil {
		return nil, placed(f.path, err)
	}
	if len(tree.Stmts) > 0 {
		if x, ok := tree.Stmts[0].(*syntax.ExprStmt); ok {
			if doc, ok := x.X.(*syntax.Literal); ok && doc.Token == syntax.STRING {
				f.about, _, _ = strings.Cut(strings.TrimSpace(doc.Value.(string)), "\n")
			}
		}
	}
	f.returns = returnsOf(tree.Stmts)
	for _, s := range tree.Stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			name, ok := n.(*syntax.Ident)
			f.refuses = f.refuses || ok && name.Name == inconsistent
			return true
		})
	}
	b := bounding{}
	b.stmts(tree.Stmts)
	f.pure = !b.impure
	if b.err != nil {
		return nil, placed(f.path, b.err)
	}
	program, err := starlark.FileProgram(tree, predeclared.Has)
	if err != nil {
		return nil, placed(f.path, err)
	}
	c := newCall(f, newTable(), nil)
	globals, err := program.Init(c.thread, predeclared)
	if err != nil {
		return nil, placed(f.path, err)
	}
	for _, name := range globals.Keys() {
		if left := maxSize; !sized(globals[name], &left) {
			return nil, fmt.Errorf("%s: %s has more than %d elements, with those of its elements", f.path, name, maxSize)
		}
	}
	globals.Freeze() // steps run concurrently, and depend only on their arguments
	return globals, nil
}

// maxNesting bounds how deep a file nests, since whatever walks it may run out of stack. Starlark's parser bounds brackets in
// this way, but not chains such as 1 + 1 + 1.
const maxNesting = 1000

// nested returns an error if statements nest too deep.
func nested(stmts []syntax.Stmt) (err error) {
	for _, s := range stmts {
		depth := 0
		syntax.Walk(s, func(n syntax.Node) bool {
			if n == nil {
				depth--
				return true
			}
			if depth == maxNesting {
				err = syntax.Error{Pos: placeOf(n), Msg: "excessive nesting"}
			} else if err == nil {
				depth++
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// placeOf returns a place within a node, without walking it.
func placeOf(n syntax.Node) syntax.Position {
	switch n := n.(type) {
	case *syntax.BinaryExpr:
		return n.OpPos
	case *syntax.DotExpr:
		return n.Dot
	case *syntax.CallExpr:
		return n.Lparen
	case *syntax.IndexExpr:
		return n.Lbrack
	case *syntax.Ident:
		return n.NamePos
	case *syntax.Literal:
		return n.TokenPos
	}
	return syntax.Position{}
}

// set takes over a global name of the file.
func (f *File) set(name string, v starlark.Value) (err error) {
	switch name {
	case "init":
		f.init = v
		if _, err = newTable().intern(v, nil, 0); err != nil {
			return fmt.Errorf("init: %w", err)
		}
	case "ops":
		return f.setOps(v)
	case "reads":
		f.reads, err = texts(name, v)
	case "overwrites":
		f.overwrite, err = texts(name, v)
	case "partition":
		f.partition, err = function(name, v, 1)
	case "describe":
		f.describe, err = function(name, v, 1)
	case "label":
		f.label, err = function(name, v, 1)
	case "position":
		f.position, err = function(name, v, 1)
	case "positions":
		if f.sparse = v == starlark.String("sparse"); !f.sparse && v != starlark.String("dense") {
			return fmt.Errorf(`positions is "dense" or "sparse", not %v`, v)
		}
	case "uses_process":
		b, ok := v.(starlark.Bool)
		if f.process = bool(b); !ok {
			return fmt.Errorf("uses_process is True or False, not %v", v)
		}
	case "keywords":
		if f.keep = v == starlark.String("keep"); !f.keep {
			return fmt.Errorf(`keywords is "keep" or not given, not %v`, v)
		}
	}
	return err
}

func (f *File) setOps(v starlark.Value) error {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return fmt.Errorf(`ops is a dict from an :f's name to a function, such as {"read": read}, not a %s`, v.Type())
	}
	for k, v := range d.Entries() {
		name, ok := k.(starlark.String)
		if !ok || strings.HasPrefix(string(name), ":") || name == "" {
			return fmt.Errorf("ops has names of :f's without the colon, such as \"read\", not %v", k)
		}
		step, err := function(fmt.Sprintf("ops[%v]", k), v, 2)
		if err != nil {
			return err
		}
		f.ops[string(name)] = step
	}
	return nil
}

// function returns v as a function with the given number of parameters.
func function(name string, v starlark.Value, params int) (*starlark.Function, error) {
	what := map[int]string{1: "one parameter", 2: "two parameters, a state and an operation"}[params]
	f, ok := v.(*starlark.Function)
	if !ok {
		return nil, fmt.Errorf("%s is a function of %s, not a %s", name, what, v.Type())
	}
	if f.NumParams() != params || f.HasVarargs() || f.HasKwargs() || f.NumKwonlyParams() > 0 {
		return nil, fmt.Errorf("%s is a function of %s; %s at %d:%d has others", name, what, f.Name(), f.Position().Line, f.Position().Col)
	}
	return f, nil
}

// texts returns a list of strings.
func texts(name string, v starlark.Value) ([]string, error) {
	var list []string
	items, ok := v.(starlark.Iterable)
	if ok {
		for item := range starlark.Elements(items) {
			text, isText := starlark.AsString(item)
			ok = ok && isText
			list = append(list, text)
		}
	}
	if !ok {
		return nil, fmt.Errorf("%s is a list of :f's, such as [\"read\"], not %v", name, v)
	}
	return list, nil
}

// names lists the :f's of its ops.
func (f *File) names() string { return strings.Join(f.sortedOps(), ", ") }

func (f *File) sortedOps() []string { return slices.Sorted(maps.Keys(f.ops)) }

// Definition returns the model, for models.Own.
func (f *File) Definition() *models.Definition {
	about := f.about
	if about == "" {
		about = "a model file"
	}
	d := models.Func[state]{Name: filepath.Base(f.path), About: about, Ops: map[string]models.StepFunc[state]{}}
	for name := range f.ops {
		d.Ops[name] = nil
	}
	def := d.Definition()
	def.NoInit = ""
	if f.label != nil {
		def.Label = f.labelOf
	}
	def.New = func(b *models.Binding) (models.Reader, error) { return f.bind(b) }
	return def
}

// pythons are Python's words that Starlark reserves without using them, with what to write
// instead.
var pythons = map[string]string{
	"class":    "; expected a dict or a tuple",
	"del":      "; expected d.pop(key) of a dict of the function's own",
	"except":   ": an error ends the check",
	"finally":  ": an error ends the check",
	"from":     ": a model is one file",
	"global":   ": the state is all that a model remembers",
	"import":   ": a model is one file",
	"is":       "; expected == to compare",
	"nonlocal": ": the state is all that a model remembers",
	"raise":    "; expected fail(why)",
	"try":      ": an error ends the check",
	"yield":    "; expected one_of([..]) for several outcomes",
}

func inFile(path string, pos syntax.Position) edn.Pos {
	return edn.Pos{File: path, Line: int(pos.Line), Col: int(pos.Col)}
}

// placed returns an error of the file with its place.
func placed(path string, err error) error {
	at := func(pos syntax.Position, msg string) error {
		return inFile(path, pos).Errorf("%s", msg)
	}
	var s syntax.Error
	var r resolve.ErrorList
	var e *starlark.EvalError
	switch {
	case errors.As(err, &s):
		word, _, _ := strings.Cut(strings.TrimPrefix(s.Msg, "got "), ",")
		if instead, ok := pythons[word]; ok {
			return at(s.Pos, "Starlark has no "+word+instead)
		}
		if strings.HasPrefix(s.Msg, "got string literal, want ") {
			return at(s.Pos, s.Msg+`; Starlark has no f"{x}": expected "%s" % x`)
		}
		return at(s.Pos, s.Msg)
	case errors.As(err, &r):
		return at(r[0].Pos, r[0].Msg)
	case errors.As(err, &e):
		for _, frame := range slices.Backward(e.CallStack) {
			if frame.Pos.Filename() == path {
				in := "in " + frame.Name + ": "
				if frame.Name == "<toplevel>" {
					in = ""
				}
				msg := strings.TrimPrefix(e.Msg, "Starlark computation cancelled: ")
				return at(frame.Pos, in+strings.TrimPrefix(msg, "fail: "))
			}
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}
