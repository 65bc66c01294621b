package modelfile

import (
	"fmt"

	"go.starlark.net/starlark"

	"clew/internal/text"
	"clew/jepsen"
)

// Example is a history in a model file, and its expected verdict. Its operations follow one
// another, except that those in a list of their own are concurrent.
type Example struct {
	Name  string // its operations, unless it has one
	Valid bool

	steps [][]exampleOp
}

// exampleOp is an operation of an example.
type exampleOp struct {
	f                        string
	value, out, key, process any
	ok                       bool
}

// Examples returns the examples of the file.
func (f *File) Examples() []*Example { return f.examples }

func (f *File) findExamples(v starlark.Value) error {
	if v == nil {
		return nil
	}
	list, ok := v.(starlark.Iterable)
	if !ok {
		return fmt.Errorf(`%s: examples is a list such as [{"ops": [("read", None, 0)], "valid": True}], not a %s`, f.path, v.Type())
	}
	for item := range starlark.Elements(list) {
		x, err := f.example(item)
		if err != nil {
			return fmt.Errorf("%s: example %d: %w", f.path, len(f.examples)+1, err)
		}
		f.examples = append(f.examples, x)
	}
	return nil
}

func (f *File) example(v starlark.Value) (*Example, error) {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf(`expected a dict such as {"ops": [..], "valid": True}, found %v`, v)
	}
	x := &Example{}
	verdict, given := false, false
	for k, v := range d.Entries() {
		switch k {
		case starlark.String("name"):
			x.Name, ok = starlark.AsString(v)
		case starlark.String("valid"):
			var b starlark.Bool
			b, ok = v.(starlark.Bool)
			x.Valid, verdict = bool(b), true
		case starlark.String("ops"):
			given = true
			if err := f.exampleOps(x, v); err != nil {
				return nil, err
			}
		default:
			ok = false
		}
		if !ok {
			return nil, fmt.Errorf(`expected "ops", "valid" and perhaps "name", found %v: %v`, k, v)
		}
	}
	if !verdict || !given {
		return nil, fmt.Errorf(`expected "ops" and "valid", found %v`, v)
	}
	if x.Name == "" {
		ops, _, err := d.Get(starlark.String("ops"))
		if err != nil {
			return nil, err
		}
		x.Name = text.Shorten(ops.String(), maxName)
	}
	return x, nil
}

// maxName bounds the name of an example that does not give one.
const maxName = 60

func (f *File) exampleOps(x *Example, v starlark.Value) error {
	list, ok := v.(starlark.Indexable)
	if !ok {
		return fmt.Errorf("ops is a list, not a %s", v.Type())
	}
	for i := range list.Len() {
		together := []starlark.Value{list.Index(i)}
		if several, ok := list.Index(i).(*starlark.List); ok {
			together = elements(several)
		}
		var ops []exampleOp
		for _, v := range together {
			op, err := f.exampleOp(v)
			if err != nil {
				return err
			}
			ops = append(ops, op)
		}
		x.steps = append(x.steps, ops)
	}
	return nil
}

// exampleOp reads one operation: (f, value), (f, value, out), (f, value, crashed) or a dict
// with any of f, value, out, key, process and ok.
func (f *File) exampleOp(v starlark.Value) (op exampleOp, err error) {
	const form = `expected ("add", 1), ("read", None, 3), ("add", 1, crashed) or {"f": "add", "value": 1, "key": "x"}`
	t := newValues(f.keep)
	op.ok = true
	switch v := v.(type) {
	case starlark.Tuple:
		name, ok := "", len(v) >= 2 && len(v) <= 3
		if ok {
			name, ok = starlark.AsString(v[0])
		}
		if !ok {
			return op, fmt.Errorf("%s, found %v", form, v)
		}
		op.f, op.value, op.out = name, t.plain(v[1]), t.plain(v[len(v)-1])
		if len(v) == 3 && v[2] == (crash{}) {
			op.ok, op.out = false, nil
		}
	case *starlark.Dict:
		answered := false
		for k, x := range v.Entries() {
			key, _ := starlark.AsString(k)
			switch key {
			case "f":
				op.f, _ = starlark.AsString(x)
			case "value":
				op.value = t.plain(x)
			case "out":
				op.out, answered = t.plain(x), true
			case "key":
				op.key = t.plain(x)
			case "process":
				op.process = t.plain(x)
			case "ok":
				op.ok = bool(x.Truth())
			default:
				return op, fmt.Errorf("%s, found %v", form, v)
			}
		}
		if !answered {
			op.out = op.value
		}
	default:
		return op, fmt.Errorf("%s, found %v", form, v)
	}
	if f.ops[op.f] == nil {
		return op, fmt.Errorf("there is no %q among the ops: %s", op.f, f.names())
	}
	return op, nil
}

// History returns the example as a history.
func (x *Example) History() (*jepsen.History, error) {
	b := jepsen.NewBuilder(jepsen.Options{})
	fresh := 0
	for _, together := range x.steps {
		processes := make([]int, len(together))
		for i, op := range together {
			if n, ok := op.process.(int64); ok {
				processes[i] = int(n)
			} else {
				processes[i] = fresh
				fresh++
			}
			b.Invoke(processes[i], op.f, op.value, op.with()...)
		}
		for i, op := range together {
			if op.ok {
				b.OK(processes[i], op.f, op.out, op.with()...)
			} else {
				b.Info(processes[i], op.f, op.value, op.with()...)
			}
		}
	}
	return b.History()
}

func (op exampleOp) with() []jepsen.Extra {
	if op.key == nil {
		return nil
	}
	return []jepsen.Extra{jepsen.With("key", op.key)}
}
