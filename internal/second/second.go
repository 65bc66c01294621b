package second

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Options say how Naive reads a history. They have the same meaning as in
// models.Spec.
type Options struct {
	Model            string
	Knossos          bool
	NilReadsExact    bool
	ObserveFailedCAS bool
	Least            bool   // a priority-queue hands out the least first
	Init             string // "": the model's default
	Permits          int
	MaxHolds         int
	Threads          int
	Growing          bool   // ids grow
	Negative         bool   // balances may be negative
	Answers          string // told, echo, or "" if the history shows it
	KVKeys           string // pairs, none, or "" if the history shows it
	Accounts         string // as-written, numbers, strings, or "" if the history shows it
}

// ErrNoReading is Naive's error for a model that it has not been taught.
var ErrNoReading = errors.New("naive: no second reading of the model")

// Decide says whether the history in a text is linearizable, and uses nothing of
// clew. Reading, pairing and models are written again, with values and states
// as strings. It reads only what package gen writes.
func Decide(text string, o Options) (bool, error) {
	ops, spec, init, err := reading(text, o)
	if err != nil {
		return false, err
	}
	failed := map[string]bool{}
	var from func(done uint32, state []string) bool
	from = func(done uint32, state []string) bool {
		key := fmt.Sprintf("%d %q", done, state)
		if failed[key] {
			return false
		}
		complete := true
		for i, a := range ops {
			if done&(1<<i) != 0 {
				continue
			}
			complete = complete && a.Crashed
			first := true
			for j, b := range ops {
				first = first && (done&(1<<j) != 0 || b.Crashed || b.end > a.start)
			}
			if !first {
				continue
			}
			for _, next := range spec(o, state, a) {
				if from(done|1<<i, next) {
					return true
				}
			}
		}
		failed[key] = !complete
		return complete
	}
	return from(0, init), nil
}

// reading returns the operations of a history, their model and its initial state.
func reading(text string, o Options) (ops []Op, spec Step, init []string, err error) {
	reading, ok := readings[o.Model]
	if !ok {
		return nil, nil, nil, fmt.Errorf("%w %q", ErrNoReading, o.Model)
	}
	if ops, err = pairs(text, o); err != nil {
		return nil, nil, nil, err
	}
	if reading.Prepare != nil {
		if err := reading.Prepare(ops, o); err != nil {
			return nil, nil, nil, err
		}
	}
	init, err = initial(reading, o)
	return ops, reading.Step, init, err
}

// Op is an operation with the value that counts.
type Op struct {
	number          int // of the operation in the history
	F, Key          string
	Value, Given    Form // given is the value of the invocation
	Process         string
	Notes           map[string]string // what Prepare found out about it
	start, end      int
	Crashed, Failed bool
}

// pairs reads and pairs the events of integer processes.
func pairs(text string, o Options) ([]Op, error) {
	forms, err := Read(text)
	if err != nil {
		return nil, err
	}
	if len(forms) == 1 && forms[0].Open == "[" {
		forms = forms[0].Items
	}
	var ops []Op
	open := map[string]int{}
	for at, e := range forms {
		p := e.Get(":process").Canon()
		if strings.HasPrefix(p, ":") {
			continue
		}
		i, busy := open[p]
		value := e.Get(":value")
		switch t := e.Get(":type").Atom; {
		case t == ":invoke":
			open[p] = len(ops)
			ops = append(ops, Op{number: len(ops), F: e.Get(":f").Atom, Key: e.Get(":key").Canon(), Value: value, Given: value, Process: p,
				start: at, end: -1, Crashed: true})
			continue
		case !busy:
			continue
		case t == ":ok":
			ops[i].Value, ops[i].end, ops[i].Crashed = value, at, false
		case t == ":fail":
			ops[i].end, ops[i].Crashed, ops[i].Failed = at, false, true
		}
		delete(open, p)
	}
	ops = slices.DeleteFunc(ops, func(a Op) bool {
		return a.Failed && !(o.ObserveFailedCAS && a.F == ":cas")
	})
	return ops, nil
}

// Form is an atom, or a collection with its opening bracket.
type Form struct {
	Open, Atom string
	Items      []Form
}

var IsNil = Form{Atom: "nil"}

func (x Form) IsNil() bool { return x.Atom == "nil" }

func (x Form) IsList() bool { return x.Open == "[" || x.Open == "(" }

// Get returns the value of a key of a map.
func (x Form) Get(key string) Form {
	for i := 0; i+1 < len(x.Items); i += 2 {
		if x.Items[i].Atom == key {
			return x.Items[i+1]
		}
	}
	return IsNil
}

// Read reads forms.
func Read(text string) ([]Form, error) {
	stack := []Form{{}}
	for _, word := range strings.Fields(Spaced(text)) {
		top := len(stack) - 1
		switch word {
		case "{", "#{", "[", "(":
			stack = append(stack, Form{Open: word})
		case "}", "]", ")":
			if top == 0 {
				return nil, fmt.Errorf("naive: %s without its opening", word)
			}
			stack[top-1].Items = append(stack[top-1].Items, stack[top])
			stack = stack[:top]
		default:
			stack[top].Items = append(stack[top].Items, Form{Atom: word})
		}
	}
	if len(stack) > 1 {
		return nil, fmt.Errorf("naive: %s without its closing", stack[1].Open)
	}
	return stack[0].Items, nil
}

// Canon returns a value as a string: equal values have equal strings.
func (x Form) Canon() string {
	var parts []string
	for _, y := range x.Items {
		parts = append(parts, y.Canon())
	}
	switch x.Open {
	case "":
		if c := x.Atom[len(x.Atom)-1]; c == 'N' && strings.ContainsAny(x.Atom[:1], "+-0123456789") {
			return Form{Atom: x.Atom[:len(x.Atom)-1]}.Canon()
		}
		if x.Atom == "-0.0" {
			return "0.0"
		}
		return strings.TrimPrefix(x.Atom, "+")
	case "(", "[":
		return "[" + strings.Join(parts, " ") + "]"
	case "#{":
		return "#{" + strings.Join(Sorted(parts), " ") + "}"
	}
	var pairs []string
	for i := 0; i+1 < len(parts); i += 2 {
		pairs = append(pairs, parts[i]+" "+parts[i+1])
	}
	return "{" + strings.Join(Sorted(pairs), " ") + "}"
}

func Sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

// Step returns the states to which an operation leads, or none if it
// cannot happen.
type Step func(o Options, s []string, a Op) [][]string

// Reading is a second reading of a model. A state is strings.
type Reading struct {
	// Prepare, unless it is nil, sees all operations before the first step, and may leave
	// notes about them.
	Prepare func(ops []Op, o Options) error
	// Default is the initial state unless one is given. Init returns that; if it is nil, the
	// items of the initial value are the state.
	Default []string
	Init    func(given Form) []string
	Step    Step
}

// readings are the second readings of all models, by name.
var readings = map[string]Reading{}

// Register makes second readings known. It is not safe for concurrent use.
func Register(models map[string]Reading) { maps.Copy(readings, models) }

func initial(r Reading, o Options) ([]string, error) {
	if o.Init == "" {
		return r.Default, nil
	}
	given, err := Read(o.Init)
	switch {
	case err != nil:
		return nil, err
	case r.Init != nil:
		return r.Init(given[0]), nil
	}
	return given[0].Parts(), nil
}

// Parts returns the items of a collection as strings.
func (x Form) Parts() (parts []string) {
	for _, y := range x.Items {
		parts = append(parts, y.Canon())
	}
	return parts
}

// WholeInit returns the initial state of a single value.
func WholeInit(given Form) []string { return []string{given.Canon()} }

// SortedInit returns the initial state of a collection without order.
func SortedInit(given Form) []string { return Sorted(given.Parts()) }

// MapInit returns the initial state of a map.
func MapInit(given Form) (s []string) {
	for parts := given.Parts(); len(parts) > 0; parts = parts[2:] {
		s = Assign(s, parts[0], parts[1])
	}
	return s
}

// Stay returns the state itself if a condition holds.
func Stay(s []string, holds bool) [][]string {
	if holds {
		return [][]string{s}
	}
	return nil
}

// Lookup and assign treat a state as alternating keys and values, sorted by key.
func Lookup(s []string, key, missing string) string {
	for i := 0; i < len(s); i += 2 {
		if s[i] == key {
			return s[i+1]
		}
	}
	return missing
}

func Assign(s []string, key, value string) []string {
	m := map[string]string{key: value}
	keys := []string{key}
	for i := 0; i < len(s); i += 2 {
		if s[i] != key {
			m[s[i]] = s[i+1]
			keys = append(keys, s[i])
		}
	}
	var next []string
	for _, k := range Sorted(keys) {
		next = append(next, k, m[k])
	}
	return next
}

// Told sets for all operations whether those that can tell an offset, or a new value,
// do. They do if some completion is neither nil nor the value of its invocation.
func Told(ops []Op, o Options) error {
	said := o.Answers
	told := said == "told"
	for _, a := range ops {
		if slices.Contains([]string{":append", ":incr", ":increment", ":decr", ":decrement"}, a.F) && !a.Crashed && !a.Failed && said == "" {
			told = told || !a.Value.IsNil() && a.Value.Canon() != a.Given.Canon() && (a.Value.Open != "{" || !a.Value.Get(":offset").IsNil())
		}
	}
	for i := range ops {
		if told {
			ops[i].Notes = map[string]string{"told": "yes"}
		}
	}
	return nil
}

func Int(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// Spaced returns a text with blanks around brackets and instead of commas.
// Within strings it replaces all of these by other characters.
func Spaced(text string) string {
	var b strings.Builder
	b.Grow(2 * len(text))
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside = !inside
			b.WriteByte(c)
		case inside && strings.IndexByte(" ,[](){}#", c) >= 0:
			b.WriteRune(0xe000 + rune(c))
		case inside:
			b.WriteByte(c)
		case c == ',':
			b.WriteByte(' ')
		case c == '#' && strings.HasPrefix(text[i+1:], "{"):
			b.WriteString(" #{ ")
			i++
		case strings.IndexByte("[](){}", c) >= 0:
			b.WriteByte(' ')
			b.WriteByte(c)
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
