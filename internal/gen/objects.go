package gen

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Integer writes a number in one of its spellings.
func (g *SmallHistory) Integer(n int) string {
	return strconv.Itoa(n) + [...]string{"", "", "", "N"}[g.Rand.IntN(4)]
}

// Value is a value in all its spellings. The first one represents it.
type Value []string

var pool = []Value{
	{"1", "1N"}, {"2", "2N", "+2"}, {"3"}, {"[1 2]", "(1 2)", "[1N 2]"}, {`"a"`}, {":b"},
	{"0.0", "-0.0"}, {"#{1 :x}", "#{:x 1N}"}, {"1.0"}, {"false"}, {"{:a 1}", "{:a 1N}"}, {"-7", "-7N"},
}

// numbers are values that every form can hold.
var numbers = []Value{{"1"}, {"2"}, {"3"}, {"7"}, {"12"}, {"300"}, {"0"}, {"-7"}, {"5"}, {"100000"}, {"4"}, {"70"}}

// drawValues mixes plain numbers with odd values.
func drawValues(r *rand.Rand, pool []Value, n int) []Value {
	if r.IntN(2) == 0 {
		return pool[:n]
	}
	var vs []Value
	for _, i := range r.Perm(len(pool))[:n] {
		vs = append(vs, pool[i])
	}
	return vs
}

// Spell writes a value given by its first spelling in any of them.
func (g *SmallHistory) Spell(first string) string {
	for _, v := range g.Values {
		if v[0] == first {
			return v[g.Rand.IntN(len(v))]
		}
	}
	return first
}

// Any returns one of the history's values.
func (g *SmallHistory) Any() string { return g.Values[g.Rand.IntN(len(g.Values))][0] }

// Call is an operation as its object sees it. Values are first spellings.
// Printing respells them.
type Call struct {
	F, Key string
	Arg    string   // the invocation's value, printed
	Args   []string // the part of it that the object needs
	Named  bool     // it crashes, and its invocation says what it would take
	Says   string   // printed
	waited int
}

// Object is a simple sequential object.
type Object interface {
	// Call makes up a call.
	Call() Call
	// Name makes the invocation of a call that will crash say what it takes. It
	// returns false if calls cannot say it.
	Name(c *Call) bool
	// Apply lets the operation take effect now and sets its result.
	Apply(o *Op) Outcome
	// Guess returns a random result that the call might have.
	Guess(c *Call) string
}

// starter is an object that need not start from the model's default.
type starter interface {
	// Start sets an initial value and prints it.
	Start() string
}

func newObject(g *SmallHistory) Object {
	model, known := registered[g.Options.Model]
	if !known {
		panic("gen: unknown model " + g.Options.Model)
	}
	return model.Small(g)
}

type Unnamed struct{}

func (Unnamed) Name(*Call) bool { return false }

// Sequence prints values as a vector or a list.
func (g *SmallHistory) Sequence(vs []string) string {
	var spelled []string
	for _, v := range vs {
		spelled = append(spelled, g.Spell(v))
	}
	if g.Chance(0.2) {
		return "(" + strings.Join(spelled, " ") + ")"
	}
	return "[" + strings.Join(spelled, " ") + "]"
}

// Some returns some of the history's values.
func (g *SmallHistory) Some() []string {
	var vs []string
	for _, v := range g.Values {
		if g.Chance(0.5) {
			vs = append(vs, v[0])
		}
	}
	return vs
}

// Number returns the number that a text such as 7, 7N, +7 or 0.5 stands for.
func Number(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "N"), 64)
	if err != nil {
		panic("gen: no number: " + text)
	}
	return n
}
