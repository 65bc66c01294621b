package gen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// value is a value in all its spellings. The first one represents it.
type value []string

var pool = []value{
	{"1", "1N"}, {"2", "2N", "+2"}, {"3"}, {"[1 2]", "(1 2)", "[1N 2]"}, {`"a"`}, {":b"},
	{"0.0", "-0.0"}, {"#{1 :x}", "#{:x 1N}"}, {"1.0"}, {"false"}, {"{:a 1}", "{:a 1N}"}, {"-7", "-7N"},
}

// ordered are values that a priority queue can compare: 1 and 1.0 differ, but
// neither comes first.
var ordered = []value{
	{"1", "1N"}, {"2", "2N", "+2"}, {"3"}, {"1.0"}, {"-7", "-7N"}, {"0.5"}, {"3.0"}, {"12"}, {"2.5"}, {"4"}, {"5"}, {"-1"},
}

// numbers are values that every form can hold.
var numbers = []value{{"1"}, {"2"}, {"3"}, {"7"}, {"12"}, {"300"}, {"0"}, {"-7"}, {"5"}, {"100000"}, {"4"}, {"70"}}

// drawValues mixes plain numbers with odd values.
func drawValues(r *rand.Rand, pool []value, n int) []value {
	if r.IntN(2) == 0 {
		return pool[:n]
	}
	var vs []value
	for _, i := range r.Perm(len(pool))[:n] {
		vs = append(vs, pool[i])
	}
	return vs
}

// spell writes a value given by its first spelling in any of them.
func (g *generator) spell(first string) string {
	for _, v := range g.values {
		if v[0] == first {
			return v[g.r.IntN(len(v))]
		}
	}
	return first
}

// any returns one of the history's values.
func (g *generator) any() string { return g.values[g.r.IntN(len(g.values))][0] }

// call is an operation as its object sees it. Values are first spellings.
// Printing respells them.
type call struct {
	f, key string
	arg    string   // the invocation's value, printed
	args   []string // the part of it that the object needs
	named  bool     // it crashes, and its invocation says what it would take
	name   string   // printed
	waited int
}

// object is a simple sequential object.
type object interface {
	// call makes up a call.
	call() call
	// name makes the invocation of a call that will crash say what it takes. It
	// returns false if calls cannot say it.
	name(c *call) bool
	// apply lets the operation take effect now and sets its result.
	apply(o *op) outcome
	// guess returns a random result that the call might have.
	guess(c *call) string
}

// starter is an object that need not start from the model's default.
type starter interface {
	// start sets an initial value and prints it.
	start() string
}

func newObject(g *generator) object {
	switch g.o.Model {
	case "register", "cas-register":
		return &register{g: g, now: "nil", cas: g.o.Model == "cas-register"}
	case "multi-register":
		return &registers{g: g, now: map[string]string{}}
	case "mutex":
		return &mutex{g: g}
	case "semaphore", "owner-mutex", "reentrant-mutex", "owner-semaphore", "fenced-mutex", "reentrant-fenced-mutex":
		return newLock(g)
	case "versioned-register":
		return &versioned{register: register{g: g, now: "nil", cas: true}}
	case "set":
		return &set{g: g}
	case "lookup-set":
		return &lookupSet{g: g}
	case "fifo-queue":
		return &queue{g: g, add: []string{":enqueue"}, remove: []string{":dequeue"}, peeks: true, drains: true, may: first}
	case "unordered-queue":
		return &queue{g: g, add: []string{":enqueue"}, remove: []string{":dequeue"}, drains: true, may: whichever}
	case "stack":
		return &queue{g: g, add: []string{":push"}, remove: []string{":pop"}, peeks: true, may: last}
	case "priority-queue":
		return &queue{g: g, add: []string{":enqueue", ":insert"}, remove: []string{":dequeue", ":poll"}, peeks: true, may: g.highest}
	case "java-queue":
		return &javaQueue{g: g}
	case "kv":
		return newKV(g)
	case "counter":
		return newCounter(g)
	case "counting-semaphore":
		return &countingSemaphore{g: g}
	case "id-generator":
		return &idGenerator{g: g}
	case "bank":
		return &bank{g: g}
	case "log":
		return newLog(g)
	case "lease":
		return &lease{g: g, epoch: -1}
	}
	panic("gen: unknown model " + g.o.Model)
}

type unnamed struct{}

func (unnamed) name(*call) bool { return false }

// register is register and cas-register.
type register struct {
	unnamed
	g   *generator
	now string
	cas bool
}

func (x *register) any() string {
	if x.g.chance(0.05) {
		return "nil"
	}
	return x.g.any()
}

func (x *register) call() call {
	g := x.g
	switch n := g.r.IntN(10); {
	case n < 5:
		return call{f: ":read", arg: "nil"}
	case n < 7 || !x.cas:
		v := x.any()
		return call{f: ":write", arg: g.spell(v), args: []string{v}}
	}
	from, to := x.any(), x.any()
	if g.chance(0.4) {
		from = x.now
	}
	text := g.sequence([]string{from, to})
	switch {
	case g.chance(0.05):
		text = g.sequence([]string{from, to, g.any()})
	case from == "nil" && to == "nil" && g.chance(0.5):
		text = "nil"
	}
	return call{f: ":cas", arg: text, args: []string{from, to}}
}

// sequence prints values as a vector or a list.
func (g *generator) sequence(vs []string) string {
	var spelled []string
	for _, v := range vs {
		spelled = append(spelled, g.spell(v))
	}
	if g.chance(0.2) {
		return "(" + strings.Join(spelled, " ") + ")"
	}
	return "[" + strings.Join(spelled, " ") + "]"
}

func (x *register) start() string {
	x.now = x.any()
	return x.g.spell(x.now)
}

func (x *register) apply(o *op) outcome {
	o.result = o.arg
	switch o.f {
	case ":read":
		o.result = x.g.spell(x.now)
		if !x.g.o.NilReadsExact && x.g.chance(0.1) {
			o.result = "nil"
		}
	case ":write":
		x.now = o.args[0]
	default:
		if x.now != o.args[0] {
			return refused
		}
		x.now = o.args[1]
	}
	return done
}

func (x *register) guess(c *call) string {
	switch c.f {
	case ":read":
		return x.g.spell(x.any())
	case ":write":
		return c.arg
	}
	return x.g.sequence([]string{x.any(), x.any()})
}

// versioned is a register whose values come with a version: the one that an
// update leaves, or that a read sees.
type versioned struct {
	register
	version int
}

func (x *versioned) call() call {
	c := x.register.call()
	if c.f == ":cas" {
		c.arg = x.g.sequence(c.args) // always a pair
	}
	if c.f != ":read" || x.g.chance(0.8) {
		c.arg = "[nil " + c.arg + "]"
	}
	return c
}

func (x *versioned) start() string {
	x.version = x.g.r.IntN(3)
	return x.print(x.version, x.register.start())
}

func (x *versioned) apply(o *op) outcome {
	before := *o
	switch {
	case x.register.apply(o) == refused:
		return refused
	case before.f == ":write":
		o.result = x.g.spell(before.args[0])
	case before.f == ":cas":
		o.result = x.g.sequence(before.args)
	}
	if before.f != ":read" {
		x.version++
	}
	o.result = x.print(x.version, o.result)
	return done
}

// print writes a version and its value.
func (x *versioned) print(version int, value string) string {
	return x.g.sequence([]string{fmt.Sprint(version), value})
}

func (x *versioned) guess(c *call) string {
	value := x.g.spell(x.any())
	switch c.f {
	case ":write":
		value = x.g.spell(c.args[0])
	case ":cas":
		value = x.g.sequence(c.args)
	}
	if x.g.chance(0.2) {
		return x.g.sequence([]string{"nil", value})
	}
	// Often about right.
	return x.print(max(0, x.version+x.g.r.IntN(4)-1), value)
}

// registers is multi-register.
type registers struct {
	unnamed
	g   *generator
	now map[string]string
}

var microNames = map[bool][]string{true: {":write", ":w"}, false: {":read", ":r"}}

func (x *registers) call() call {
	g := x.g
	c := call{f: [...]string{":txn", ":txn", ":read", ":write"}[g.r.IntN(4)]}
	for range g.r.IntN(4) {
		m := [3]string{"w", [...]string{":x", ":y", "[1 2]"}[g.r.IntN(3)], g.any()}
		if g.chance(0.5) {
			m[0], m[2] = "r", "nil"
		} else if g.chance(0.05) {
			m[2] = "nil"
		}
		if g.o.OneKey && len(c.args) > 0 {
			m[1] = c.args[1]
		}
		c.args = append(c.args, m[:]...)
	}
	c.arg = x.print(c.args, func(string) string { return "nil" })
	return c
}

// print writes a transaction. read gives the values that it reads.
func (x *registers) print(args []string, read func(key string) string) string {
	if len(args) == 0 && x.g.chance(0.5) {
		return "nil"
	}
	var parts []string
	for m := args; len(m) > 0; m = m[3:] {
		names, v := microNames[m[0] == "w"], m[2]
		if m[0] == "r" {
			v = read(m[1])
		}
		key := m[1]
		if key == "[1 2]" && x.g.chance(0.5) {
			key = "(1 2N)"
		}
		parts = append(parts, "["+names[x.g.r.IntN(2)]+" "+key+" "+x.g.spell(v)+"]")
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func (x *registers) start() string {
	var pairs []string
	for _, key := range []string{":x", ":y", "[1 2]"} {
		if x.g.chance(0.7) {
			x.now[key] = x.g.any()
			pairs = append(pairs, key+" "+x.g.spell(x.now[key]))
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func (x *registers) apply(o *op) outcome {
	// Reads inside the transaction see its own writes, in order.
	var saw []string
	for m := o.args; len(m) > 0; m = m[3:] {
		if m[0] == "w" {
			x.now[m[1]] = m[2]
		} else {
			v, ok := x.now[m[1]]
			if !ok || !x.g.o.NilReadsExact && x.g.chance(0.1) {
				v = "nil"
			}
			saw = append(saw, v)
		}
	}
	i := -1
	o.result = x.print(o.args, func(string) string { i++; return saw[i] })
	return done
}

func (x *registers) guess(c *call) string {
	return x.print(c.args, func(string) string {
		if x.g.chance(0.1) {
			return "nil"
		}
		return x.g.any()
	})
}

// mutex is a lock without an owner.
type mutex struct {
	unnamed
	g    *generator
	held bool
}

func (x *mutex) call() call {
	// Mostly this is an operation that can happen next, so that not all operations block.
	f := ":acquire"
	if x.held != x.g.chance(0.25) {
		f = ":release"
	}
	return call{f: f, arg: [...]string{"nil", "1", "nil"}[x.g.r.IntN(3)]}
}

func (x *mutex) apply(o *op) outcome {
	if x.held == (o.f == ":acquire") {
		if x.g.way == Mutated && o.fate != crashes && x.g.chance(0.3) {
			o.result = x.guess(&o.call) // values say nothing, so the order has to be wrong
			return done
		}
		if o.fate != crashes && x.g.chance(0.1) {
			return refused
		}
		return blocked
	}
	x.held = !x.held
	o.result = x.guess(&o.call)
	return done
}

func (x *mutex) guess(*call) string { return [...]string{"nil", ":done"}[x.g.r.IntN(2)] }

// set only grows.
type set struct {
	unnamed
	g   *generator
	now []string
}

func (x *set) call() call {
	if x.g.chance(0.5) {
		return call{f: ":read", arg: "nil"}
	}
	v := x.g.any()
	return call{f: ":add", arg: x.g.spell(v), args: []string{v}}
}

func (x *set) start() string {
	x.now = x.g.some()
	return x.print(x.now)
}

// some returns some of the history's values.
func (g *generator) some() []string {
	var vs []string
	for _, v := range g.values {
		if g.chance(0.5) {
			vs = append(vs, v[0])
		}
	}
	return vs
}

func (x *set) apply(o *op) outcome {
	if o.f == ":read" {
		o.result = x.print(x.now)
		return done
	}
	if o.result = o.arg; !slices.Contains(x.now, o.args[0]) {
		x.now = append(slices.Clone(x.now), o.args[0])
	}
	return done
}

// print writes a read of a set. With clew's semantics it may also be a
// sequence, even with an element twice.
func (x *set) print(elements []string) string {
	g := x.g
	es := slices.Clone(elements)
	g.r.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
	if !g.o.Knossos && g.chance(0.3) {
		if len(es) > 0 && g.chance(0.3) {
			es = append(es, es[0])
		}
		return g.sequence(es)
	}
	var spelled []string
	for _, e := range es {
		spelled = append(spelled, g.spell(e))
	}
	return "#{" + strings.Join(spelled, " ") + "}"
}

func (x *set) guess(c *call) string {
	if c.f == ":add" {
		return c.arg
	}
	if x.g.o.Knossos && x.g.chance(0.05) {
		return [...]string{"[]", "nil", "7"}[x.g.r.IntN(3)]
	}
	return x.print(x.g.some())
}

// lookupSet is a set that operations ask element by element.
type lookupSet struct {
	unnamed
	g   *generator
	now map[string]bool
}

func (x *lookupSet) call() call {
	v := x.g.any()
	f := [...]string{":insert", ":add", ":remove", ":delete", ":contains", ":lookup"}[x.g.r.IntN(6)]
	return call{f: f, arg: x.g.spell(v), args: []string{v}}
}

func (x *lookupSet) start() string {
	x.now = map[string]bool{}
	var spelled []string
	for _, v := range x.g.some() {
		x.now[v] = true
		spelled = append(spelled, x.g.spell(v))
	}
	return "#{" + strings.Join(spelled, " ") + "}"
}

func (x *lookupSet) apply(o *op) outcome {
	if x.now == nil {
		x.now = map[string]bool{}
	}
	was, answer := x.now[o.args[0]], false
	switch o.f {
	case ":insert", ":add":
		x.now[o.args[0]], answer = true, !was
	case ":remove", ":delete":
		x.now[o.args[0]], answer = false, was
	default:
		answer = was
	}
	o.result = x.print(o.args[0], answer)
	return done
}

// print writes an answer.
func (x *lookupSet) print(element string, answer bool) string {
	if x.g.chance(0.3) {
		return strconv.FormatBool(answer)
	}
	return x.g.sequence([]string{element, strconv.FormatBool(answer)})
}

func (x *lookupSet) guess(c *call) string {
	if x.g.chance(0.5) {
		return strconv.FormatBool(x.g.chance(0.5))
	}
	return x.g.sequence([]string{c.args[0], strconv.FormatBool(x.g.chance(0.5))})
}

// queue is any container that hands out its elements.
type queue struct {
	g             *generator
	add, remove   []string // the names of the operations
	peeks, drains bool
	may           func(elements []string) []int // returns which elements may be taken
	now           []string
	added         int
}

func first(elements []string) []int { return []int{0} }
func last(elements []string) []int  { return []int{len(elements) - 1} }

func whichever(elements []string) []int {
	all := make([]int, len(elements))
	for i := range all {
		all[i] = i
	}
	return all
}

// highest returns the places of the elements that have the highest priority.
func (g *generator) highest(elements []string) []int {
	priority := func(e string) float64 {
		if g.o.Least {
			return -Number(e)
		}
		return Number(e)
	}
	var best []int
	for i, e := range elements {
		switch {
		case len(best) == 0 || priority(e) > priority(elements[best[0]]):
			best = []int{i}
		case priority(e) == priority(elements[best[0]]):
			best = append(best, i)
		}
	}
	return best
}

// Number returns the number that a text such as 7, 7N, +7 or 0.5 stands for.
func Number(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "N"), 64)
	if err != nil {
		panic("gen: no number: " + text)
	}
	return n
}

// ranked says whether elements must have an order.
func (x *queue) ranked() bool { return x.g.o.Model == "priority-queue" }

func (x *queue) element() string {
	if x.g.o.Knossos && !x.ranked() && x.g.chance(0.1) {
		return [...]string{"nil", ":empty"}[x.g.r.IntN(2)]
	}
	return x.g.any()
}

func (x *queue) call() call {
	g := x.g
	switch n := g.r.IntN(20); {
	case n < 9:
		v := x.element()
		if g.o.Unique {
			// Every value once, then nothing more.
			if x.added == len(g.values) {
				return call{f: x.remove[0], arg: "nil"}
			}
			v = g.values[x.added][0]
			x.added++
		}
		return call{f: x.add[g.r.IntN(len(x.add))], arg: g.spell(v), args: []string{v}}
	case n == 19 && x.drains:
		return call{f: ":drain", arg: "nil"}
	case n >= 17 && x.peeks:
		return call{f: ":peek", arg: "nil"}
	}
	return call{f: x.remove[g.r.IntN(len(x.remove))], arg: "nil"}
}

func (x *queue) start() string {
	for range x.g.r.IntN(4) {
		v := x.g.any()
		if x.g.o.Unique {
			if x.added == len(x.g.values) {
				break
			}
			v = x.g.values[x.added][0]
			x.added++
		}
		x.now = append(x.now, v)
	}
	return x.g.sequence(x.now)
}

func (x *queue) name(c *call) bool {
	switch {
	case slices.Contains(x.remove, c.f):
		c.args = []string{x.element()}
		if x.g.chance(0.05) && !(x.g.o.Knossos && x.ranked()) {
			c.args = []string{":empty"} // nothing, unless that is an element
		}
		c.name = x.g.spell(c.args[0])
	case c.f == ":drain":
		for range x.g.r.IntN(3) {
			c.args = append(c.args, x.element())
		}
		c.name = x.g.sequence(c.args)
	default:
		return false
	}
	return true
}

// take takes the i-th element.
func (x *queue) take(i int) string {
	v := x.now[i]
	x.now = slices.Delete(slices.Clone(x.now), i, i+1)
	return v
}

// any returns the place of an element that may be taken.
func (x *queue) any() int {
	places := x.may(x.now)
	return places[x.g.r.IntN(len(places))]
}

// takeNamed takes the given elements one after another, or none.
func (x *queue) takeNamed(elements []string) {
	before := x.now
	for _, e := range elements {
		i := slices.Index(x.now, e)
		if i < 0 || !slices.ContainsFunc(x.may(x.now), func(j int) bool { return x.now[j] == e }) {
			x.now = before
			return
		}
		for _, j := range x.may(x.now) {
			if x.now[j] == e {
				i = j
			}
		}
		x.take(i)
	}
}

func (x *queue) apply(o *op) outcome {
	g := x.g
	o.result = o.arg
	switch {
	case slices.Contains(x.add, o.f):
		x.now = append(slices.Clone(x.now), o.args[0])
	case o.named:
		x.takeNamed(o.args)
	case o.f == ":drain":
		var took []string
		for len(x.now) > 0 && g.chance(0.9) {
			took = append(took, x.take(x.any()))
		}
		o.result = g.sequence(took)
	case o.fate == crashes && g.o.Knossos && o.f != ":peek":
		// For Knossos this is a dequeue of nil.
		x.takeNamed([]string{"nil"})
	case len(x.now) > 0 && o.f == ":peek":
		o.result = g.spell(x.now[x.any()])
	case len(x.now) > 0:
		o.result = g.spell(x.take(x.any()))
	case g.o.Knossos || g.chance(0.3):
		return refused
	default:
		o.result = [...]string{"nil", ":empty"}[g.r.IntN(2)]
	}
	return done
}

func (x *queue) guess(c *call) string {
	g := x.g
	switch {
	case slices.Contains(x.add, c.f):
		return c.arg
	case c.f == ":drain":
		var took []string
		for range g.r.IntN(3) {
			took = append(took, x.element())
		}
		return g.sequence(took)
	}
	if !g.o.Knossos && g.chance(0.15) {
		return [...]string{"nil", ":empty"}[g.r.IntN(2)]
	}
	return g.spell(x.element())
}
