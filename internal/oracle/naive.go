package oracle

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// NaiveOptions say how Naive reads a history. They have the same meaning as in
// models.Spec.
type NaiveOptions struct {
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
}

// ErrNoReading is Naive's error for a model that it has not been taught.
var ErrNoReading = errors.New("naive: no second reading of the model")

// Naive says whether the history in a text is linearizable, and uses nothing of
// clew. Reading, pairing and models are written again, with values and states
// as strings. It reads only what package gen writes.
func Naive(text string, o NaiveOptions) (bool, error) {
	ops, spec, init, err := naiveReading(text, o)
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
			complete = complete && a.crashed
			first := true
			for j, b := range ops {
				first = first && (done&(1<<j) != 0 || b.crashed || b.end > a.start)
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

// naiveReading returns the operations of a history, their model and its initial state.
func naiveReading(text string, o NaiveOptions) (ops []naiveOp, spec naiveSpec, init []string, err error) {
	if ops, err = naivePairs(text, o); err != nil {
		return nil, nil, nil, err
	}
	for _, a := range ops {
		if o.Model == "multi-register" && !naiveSameSteps(a) {
			return nil, nil, nil, fmt.Errorf("naive: %s completed as %s", a.given.canon(), a.value.canon())
		}
	}
	spec, ok := naiveSpecs[o.Model]
	if !ok {
		return nil, nil, nil, fmt.Errorf("%w %q", ErrNoReading, o.Model)
	}
	init, err = naiveInit(o)
	return ops, spec, init, err
}

// naiveOp is an operation with the value that counts.
type naiveOp struct {
	number          int // of the operation in the history
	f, key          string
	value, given    form // given is the value of the invocation
	process         string
	owner           string // of locks
	absent          string // the value of a key that a map lacks
	told            bool   // completions of the history tell offsets and new values
	keyless         bool   // no operation of the history has a key
	start, end      int
	crashed, failed bool
}

// naivePairs reads and pairs the events of integer processes.
func naivePairs(text string, o NaiveOptions) ([]naiveOp, error) {
	forms, err := naiveRead(text)
	if err != nil {
		return nil, err
	}
	if len(forms) == 1 && forms[0].open == "[" {
		forms = forms[0].items
	}
	var ops []naiveOp
	open := map[string]int{}
	for at, e := range forms {
		p := e.get(":process").canon()
		if strings.HasPrefix(p, ":") {
			continue
		}
		i, busy := open[p]
		value := e.get(":value")
		switch t := e.get(":type").atom; {
		case t == ":invoke":
			open[p] = len(ops)
			ops = append(ops, naiveOp{number: len(ops), f: e.get(":f").atom, key: e.get(":key").canon(), value: value, given: value, process: p,
				start: at, end: -1, crashed: true})
			continue
		case !busy:
			continue
		case t == ":ok":
			ops[i].value, ops[i].end, ops[i].crashed = value, at, false
		case t == ":fail":
			ops[i].end, ops[i].crashed, ops[i].failed = at, false, true
		}
		delete(open, p)
	}
	ops = slices.DeleteFunc(ops, func(a naiveOp) bool {
		return a.failed && !(o.ObserveFailedCAS && a.f == ":cas")
	})
	naiveOwners(ops, o.Threads)
	naiveKeyless(ops, o.KVKeys)
	naiveAbsent(ops)
	naiveTold(ops, o.Answers)
	return ops, nil
}

// form is an atom, or a collection with its opening bracket.
type form struct {
	open, atom string
	items      []form
}

var isNil = form{atom: "nil"}

func (x form) isNil() bool { return x.atom == "nil" }

func (x form) isList() bool { return x.open == "[" || x.open == "(" }

// get returns the value of a key of a map.
func (x form) get(key string) form {
	for i := 0; i+1 < len(x.items); i += 2 {
		if x.items[i].atom == key {
			return x.items[i+1]
		}
	}
	return isNil
}

// naiveRead reads forms.
func naiveRead(text string) ([]form, error) {
	stack := []form{{}}
	for _, word := range strings.Fields(naiveSpaced(text)) {
		top := len(stack) - 1
		switch word {
		case "{", "#{", "[", "(":
			stack = append(stack, form{open: word})
		case "}", "]", ")":
			if top == 0 {
				return nil, fmt.Errorf("naive: %s without its opening", word)
			}
			stack[top-1].items = append(stack[top-1].items, stack[top])
			stack = stack[:top]
		default:
			stack[top].items = append(stack[top].items, form{atom: word})
		}
	}
	if len(stack) > 1 {
		return nil, fmt.Errorf("naive: %s without its closing", stack[1].open)
	}
	return stack[0].items, nil
}

// canon returns a value as a string: equal values have equal strings.
func (x form) canon() string {
	var parts []string
	for _, y := range x.items {
		parts = append(parts, y.canon())
	}
	switch x.open {
	case "":
		if c := x.atom[len(x.atom)-1]; c == 'N' && strings.ContainsAny(x.atom[:1], "+-0123456789") {
			return form{atom: x.atom[:len(x.atom)-1]}.canon()
		}
		if x.atom == "-0.0" {
			return "0.0"
		}
		return strings.TrimPrefix(x.atom, "+")
	case "(", "[":
		return "[" + strings.Join(parts, " ") + "]"
	case "#{":
		return "#{" + strings.Join(sorted(parts), " ") + "}"
	}
	var pairs []string
	for i := 0; i+1 < len(parts); i += 2 {
		pairs = append(pairs, parts[i]+" "+parts[i+1])
	}
	return "{" + strings.Join(sorted(pairs), " ") + "}"
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

// naiveSpec returns the states to which an operation leads, or none if it
// cannot happen.
type naiveSpec func(o NaiveOptions, s []string, a naiveOp) [][]string

var naiveSpecs = map[string]naiveSpec{
	"register": naiveRegister, "cas-register": naiveRegister, "mutex": naiveMutex,
	"multi-register": naiveTxn, "set": naiveSet, "kv": naiveKV,
	"fifo-queue": naiveFIFO, "unordered-queue": naiveBag,
	"stack": naiveStack, "priority-queue": naivePriority,
	"lookup-set": naiveLookupSet, "versioned-register": naiveVersioned,
	"java-queue": naiveJava, "counter": naiveCounter, "counting-semaphore": naiveCounting,
	"id-generator": naiveIDs, "bank": naiveBank, "log": naiveLog, "lease": naiveLease,
	"semaphore": naiveSemaphore, "owner-semaphore": naiveSemaphore,
	"owner-mutex": naiveOwnerMutex, "reentrant-mutex": naiveOwnerMutex,
	"fenced-mutex": naiveFenced, "reentrant-fenced-mutex": naiveFenced,
}

func naiveInit(o NaiveOptions) ([]string, error) {
	var given form
	if o.Init != "" {
		forms, err := naiveRead(o.Init)
		if err != nil {
			return nil, err
		}
		given = forms[0]
	}
	var parts []string
	for _, x := range given.items {
		parts = append(parts, x.canon())
	}
	switch o.Model {
	case "register", "cas-register":
		if o.Init == "" {
			return []string{"nil"}, nil
		}
		return []string{given.canon()}, nil
	case "versioned-register":
		if o.Init == "" {
			return []string{"0", "nil"}, nil
		}
	case "counter", "counting-semaphore":
		return naiveCounterInit(given, o.Init != ""), nil
	case "lease":
		if o.Init == "" || o.Init == "[nil nil]" {
			return []string{"nil", "-1", "true"}, nil
		}
		return append(parts, "true"), nil
	case "mutex":
		return []string{"free"}, nil
	case "fenced-mutex", "reentrant-fenced-mutex":
		return []string{"", "0", "0", "0"}, nil
	case "set", "lookup-set":
		return slices.Compact(sorted(parts)), nil
	case "unordered-queue", "priority-queue":
		return sorted(parts), nil
	case "multi-register", "kv", "bank":
		var s []string
		for ; len(parts) > 0; parts = parts[2:] {
			s = assign(s, parts[0], parts[1])
		}
		return s, nil
	}
	return parts, nil
}

// stay returns the state itself if a condition holds.
func stay(s []string, holds bool) [][]string {
	if holds {
		return [][]string{s}
	}
	return nil
}

func naiveRegister(o NaiveOptions, s []string, a naiveOp) [][]string {
	switch a.f {
	case ":read":
		return stay(s, a.crashed || a.value.isNil() && !o.NilReadsExact || a.value.canon() == s[0])
	case ":write":
		return [][]string{{a.value.canon()}}
	}
	from, to := "nil", "nil"
	if pair := a.value.items; len(pair) >= 2 {
		from, to = pair[0].canon(), pair[1].canon()
	}
	if a.failed {
		return stay(s, s[0] != from)
	}
	return stay([]string{to}, s[0] == from)
}

func naiveMutex(_ NaiveOptions, s []string, a naiveOp) [][]string {
	if a.f == ":acquire" {
		return stay([]string{"held"}, s[0] == "free")
	}
	return stay([]string{"free"}, s[0] == "held")
}

// lookup and assign treat a state as alternating keys and values, sorted by key.
func lookup(s []string, key, missing string) string {
	for i := 0; i < len(s); i += 2 {
		if s[i] == key {
			return s[i+1]
		}
	}
	return missing
}

func assign(s []string, key, value string) []string {
	m := map[string]string{key: value}
	keys := []string{key}
	for i := 0; i < len(s); i += 2 {
		if s[i] != key {
			m[s[i]] = s[i+1]
			keys = append(keys, s[i])
		}
	}
	var next []string
	for _, k := range sorted(keys) {
		next = append(next, k, m[k])
	}
	return next
}

// naiveSameSteps says whether a transaction completed with the steps that it was called
// with, ignoring what it read.
func naiveSameSteps(a naiveOp) bool {
	if a.crashed || a.given.isNil() {
		return true
	}
	return slices.EqualFunc(a.given.items, a.value.items, func(x, y form) bool {
		kind := x.items[0].atom[:2] // :r or :w
		return y.items[0].atom[:2] == kind && x.items[1].canon() == y.items[1].canon() && (kind == ":r" || x.items[2].canon() == y.items[2].canon())
	})
}

func naiveTxn(o NaiveOptions, s []string, a naiveOp) [][]string {
	for _, step := range a.value.items {
		name, key, value := step.items[0].atom, step.items[1].canon(), step.items[2]
		switch {
		case name == ":write" || name == ":w":
			s = assign(s, key, value.canon())
		case a.crashed || value.isNil() && !o.NilReadsExact:
		case lookup(s, key, "nil") != value.canon():
			return nil
		}
	}
	return [][]string{s}
}

func naiveSet(o NaiveOptions, s []string, a naiveOp) [][]string {
	if a.f == ":add" {
		return [][]string{slices.Compact(sorted(append(slices.Clone(s), a.value.canon())))}
	}
	if a.crashed {
		return [][]string{s}
	}
	if a.value.open != "#{" && (o.Knossos || !a.value.isList()) {
		return nil
	}
	var read []string
	for _, y := range a.value.items {
		read = append(read, y.canon())
	}
	return stay(s, slices.Equal(slices.Compact(sorted(read)), s))
}

// naiveLookupSet treats a plain true or false as the answer for the element in
// the invocation.
func naiveLookupSet(_ NaiveOptions, s []string, a naiveOp) [][]string {
	element, answer := a.given.canon(), a.value.atom
	if a.value.isList() && !a.crashed {
		answer = a.value.items[1].atom
	}
	was := slices.Contains(s, element)
	now, want := was, strconv.FormatBool(was)
	switch a.f {
	case ":insert", ":add":
		now, want = true, strconv.FormatBool(!was)
	case ":remove", ":delete":
		now = false
	}
	if !a.crashed && answer != want {
		return nil
	}
	next := slices.DeleteFunc(slices.Clone(s), func(x string) bool { return x == element })
	if now {
		next = sorted(append(next, element))
	}
	return [][]string{next}
}

// naiveVersioned holds a version and a value. A nil in a read, and a nil
// version, match anything.
func naiveVersioned(_ NaiveOptions, s []string, a naiveOp) [][]string {
	if a.value.isNil() {
		return [][]string{s} // a read that says nothing
	}
	version, value := a.value.items[0].canon(), a.value.items[1]
	now, err := strconv.Atoi(s[0])
	if err != nil {
		panic(err)
	}
	if a.f == ":read" {
		return stay(s, a.crashed || (version == "nil" || version == s[0]) && (value.isNil() || value.canon() == s[1]))
	}
	after := strconv.Itoa(now + 1)
	possible := version == "nil" || version == after
	if a.f == ":write" {
		return stay([]string{after, value.canon()}, possible)
	}
	return stay([]string{after, value.items[1].canon()}, possible && value.items[0].canon() == s[1])
}

func naiveFIFO(o NaiveOptions, s []string, a naiveOp) [][]string {
	return naiveQueue(o, s, a, func(s []string) [][2]any {
		if len(s) == 0 {
			return nil
		}
		return [][2]any{{s[0], s[1:]}}
	})
}

func naiveBag(o NaiveOptions, s []string, a naiveOp) [][]string {
	return naiveQueue(o, s, a, func(s []string) [][2]any {
		var ways [][2]any
		for i := range s {
			ways = append(ways, [2]any{s[i], sorted(slices.Delete(slices.Clone(s), i, i+1))})
		}
		return ways
	})
}

func naiveStack(o NaiveOptions, s []string, a naiveOp) [][]string {
	return naiveQueue(o, s, a, func(s []string) [][2]any {
		if len(s) == 0 {
			return nil
		}
		return [][2]any{{s[len(s)-1], s[:len(s)-1]}}
	})
}

// naivePriority holds numbers, or strings without escapes. The highest come first (or the
// least), and equal ones in any order.
func naivePriority(o NaiveOptions, s []string, a naiveOp) [][]string {
	higher := func(x, y string) bool {
		if o.Least {
			x, y = y, x
		}
		return naiveCompare(x, y) > 0
	}
	return naiveQueue(o, s, a, func(s []string) [][2]any {
		var ways [][2]any
		for i := range s {
			if !slices.ContainsFunc(s, func(other string) bool { return higher(other, s[i]) }) {
				ways = append(ways, [2]any{s[i], sorted(slices.Delete(slices.Clone(s), i, i+1))})
			}
		}
		return ways
	})
}

// naiveCompare compares numbers, exactly, or strings by their UTF-16 units.
func naiveCompare(x, y string) int {
	if strings.HasPrefix(x, `"`) && strings.HasPrefix(y, `"`) {
		return slices.Compare(utf16.Encode([]rune(strings.Trim(x, `"`))), utf16.Encode([]rune(strings.Trim(y, `"`))))
	}
	number := func(text string) *big.Rat {
		n, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "N"))
		if f, err := strconv.ParseFloat(text, 64); ok && err == nil && strings.ContainsAny(text, ".e") {
			n.SetFloat64(f) // A double is the value that its text is read as.
		}
		if !ok {
			panic("naive: no number: " + text)
		}
		return n
	}
	return number(x).Cmp(number(y))
}

// naiveNames are other names of a queue's operations.
var naiveNames = map[string]string{":push": ":enqueue", ":insert": ":enqueue", ":pop": ":dequeue", ":poll": ":dequeue"}

// naiveQueue stands for any container that hands out its elements. take returns
// the ways to take one: which one, and what is left.
func naiveQueue(o NaiveOptions, s []string, a naiveOp, take func([]string) [][2]any) [][]string {
	value := a.value.canon()
	empty := !o.Knossos && (value == "nil" || value == ":empty")
	var next [][]string
	f := a.f
	if name, ok := naiveNames[f]; ok {
		f = name
	}
	switch f {
	case ":enqueue":
		return [][]string{append(slices.Clone(s), value)}
	case ":peek":
		first := slices.ContainsFunc(take(s), func(way [2]any) bool { return way[0] == value })
		return stay(s, a.crashed || empty && len(s) == 0 || first)
	case ":dequeue":
		if empty && (!a.crashed || value == ":empty") {
			return stay(s, len(s) == 0)
		}
		for _, way := range take(s) {
			if empty || way[0] == value {
				next = append(next, way[1].([]string))
			}
		}
		return next
	}
	// A drain is a number of dequeues in a row.
	list, known := a.value.items, a.value.isList()
	states := [][]string{s}
	if !known {
		next = states
	}
	for i := 0; (!known || i < len(list)) && len(states) > 0; i++ {
		var after [][]string
		for _, s := range states {
			for _, way := range take(s) {
				if !known || way[0] == list[i].canon() {
					after = append(after, way[1].([]string))
				}
			}
		}
		states = after
		if !known {
			next = append(next, states...)
		}
	}
	if known {
		return states
	}
	return next
}
