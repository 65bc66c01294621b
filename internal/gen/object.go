package gen

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Object is a sequential object, of long and of small histories. It embeds its Maker, which
// has defaults for all methods but Change, Bug, Apply and Value.
type Object interface {
	// Change makes up an operation of a thread that changes something.
	Change(t *Thread) Op
	// Read makes up one that does not, or one that brings the object to rest. It has no
	// F if there is none now.
	Read(t *Thread) Op
	// Bug returns the next step of the bug, if this thread may take it; otherwise it has
	// no F. The steps come one after another, and the last one is marked. Step counts them.
	Bug(t *Thread) Op
	// Apply lets an operation take effect.
	Apply(o *Op) Outcome
	// Value prints the value of an operation, as it was invoked or as it returned.
	Value(b []byte, o *Op, returned bool) []byte
	// Err changes the answer of an operation into another one. In small histories it may
	// be any that the operation might have, the right one, too.
	Err(o *Op)

	// Rests says whether the bug may begin when no change is in progress.
	Rests() bool
	// MayCrash says whether an operation of a thread that begins may crash.
	MayCrash(t *Thread, o *Op) bool
	// Ghost says whether an operation that crashes takes effect.
	Ghost(o *Op) Haunting

	// Call makes up an operation of a small history: a Read or a Change.
	Call(t *Thread) Op
	// Name makes the invocation of a call that will crash say what it takes, if it can.
	Name(o *Op)
}

// Starter is an object whose small histories need not start from the model's default.
type Starter interface {
	// Start sets an initial value and prints it.
	Start(b []byte) []byte
}

// Op is an operation. The object gives its numbers their meaning.
type Op struct {
	F       string
	Changes bool // whether it changes something
	Crashes bool
	fails   bool
	step    bool // of the bug
	Forced  bool // it has its answer already, and does not take effect
	Last    bool // its completion is the impossible one
	Named   bool // it crashes, and its invocation says what it would take
	Ok      bool
	A, B    int
	Key     int
	Two     int
	List    []int
	at      int64  // its position
	Beside  string // the key that its events show beside the value, if any
}

// Wrong returns the last step of a bug: an operation whose answer cannot be.
func Wrong(o Op) Op {
	o.Forced, o.Last = true, true
	return o
}

// Outcome is the result of an attempt to take effect.
type Outcome int

const (
	Done    Outcome = iota
	Refused         // it fails
	Blocked         // not now
)

// Haunting says whether a crashed operation takes effect.
type Haunting int8

const (
	Perhaps Haunting = iota // at once, later or never
	Surely                  // at once
	Never
)

func (m *Maker) Read(*Thread) Op            { return Op{} }
func (m *Maker) Err(o *Op)                  { o.A = (o.A + 1) % m.Mark }
func (m *Maker) Rests() bool                { return true }
func (m *Maker) MayCrash(*Thread, *Op) bool { return true }
func (m *Maker) Ghost(*Op) Haunting         { return Perhaps }
func (m *Maker) Name(*Op)                   {}
func (m *Maker) Call(t *Thread) Op {
	if m.Chance(0.45) {
		if o := m.object.Read(t); o.F != "" {
			return o
		}
	}
	return m.object.Change(t)
}

// Write returns a value to write.
func (m *Maker) Write() int {
	if m.Values > 0 {
		return m.Rand.IntN(m.Values)
	}
	m.Fresh++
	return m.Fresh - 1
}

// Any returns a value, or sometimes -1 for nil in a small history.
func (m *Maker) Any() int {
	if m.Small && m.Chance(0.05) {
		return -1
	}
	return m.Write()
}

// Some returns some of a small history's values, each once.
func (m *Maker) Some() (list []int) {
	for n := range m.values {
		if m.Chance(0.5) {
			list = append(list, n)
		}
	}
	return list
}

func (m *Maker) Chance(p float64) bool { return m.Rand.Float64() < p }

// OneOf returns one of an operation's names: always the first in long histories.
func (m *Maker) OneOf(names ...string) string {
	if !m.Small {
		return names[0]
	}
	return names[m.Rand.IntN(len(names))]
}

// value is a value of small histories in all its spellings. The first one represents it.
type value = []string

// Values are values of small histories: each in all its spellings, of which the first one
// represents it.
type Values []value

var anyValues = Values{
	{"1", "1N"}, {"2", "2N", "+2"}, {"3"}, {"[1 2]", "(1 2)", "[1N 2]"}, {`"a"`}, {":b"},
	{"0.0", "-0.0"}, {"#{1 :x}", "#{:x 1N}"}, {"1.0"}, {"false"}, {"{:a 1}", "{:a 1N}"}, {"-7", "-7N"},
}

// numbers are values that every form can hold.
var numbers = Values{{"1"}, {"2"}, {"3"}, {"7"}, {"12"}, {"300"}, {"0"}, {"-7"}, {"5"}, {"100000"}, {"4"}, {"70"}}

// draw returns n of the values: mostly plain numbers, or odd values, too.
func (pool Values) draw(r *rand.Rand, n int) Values {
	if r.IntN(2) == 0 {
		return pool[:n]
	}
	var vs Values
	for _, i := range r.Perm(len(pool))[:n] {
		vs = append(vs, pool[i])
	}
	return vs
}

// Spelling returns the first spelling of a small history's value. Numbers beyond all values
// are themselves, and negative ones stand for what is not a value: -1 for nil, -2 for :empty.
func (m *Maker) Spelling(n int) string {
	switch {
	case n == -1:
		return "nil"
	case n < 0:
		return ":empty"
	case n < len(m.values):
		return m.values[n][0]
	}
	return strconv.Itoa(n)
}

// Number returns the number that a small history's value such as 7, 7N, +7 or 0.5 is.
func (m *Maker) Number(value int) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(m.Spelling(value), "N"), 64)
	if err != nil {
		panic("gen: not a number: " + m.Spelling(value))
	}
	return n
}

// Print prints a value, in a small history in any of its spellings; -1 is nil.
func (m *Maker) Print(b []byte, n int) []byte {
	switch {
	case !m.Small:
		return AppendNumber(b, n)
	case n >= 0 && n < len(m.values):
		return append(b, m.values[n][m.Rand.IntN(len(m.values[n]))]...)
	}
	return append(b, m.Spelling(n)...)
}

// Int prints an integer, in a small history in any of its spellings.
func (m *Maker) Int(b []byte, n int) []byte {
	b = strconv.AppendInt(b, int64(n), 10)
	if m.Small && m.Rand.IntN(4) == 0 {
		b = append(b, 'N')
	}
	return b
}

// Open begins a sequence and returns its end: a vector, or a list in some small histories.
func (m *Maker) Open(b []byte) (begun []byte, end byte) {
	if m.Small && m.Chance(0.2) {
		return append(b, '('), ')'
	}
	return append(b, '['), ']'
}

// Sequence prints values as a sequence.
func (m *Maker) Sequence(b []byte, values ...int) []byte {
	b, end := m.Open(b)
	return append(m.Items(b, values), end)
}

// Items prints values with blanks between them.
func (m *Maker) Items(b []byte, values []int) []byte {
	for i, n := range values {
		if i > 0 {
			b = append(b, ' ')
		}
		b = m.Print(b, n)
	}
	return b
}

// AppendNumber prints a value; -1 is nil.
func AppendNumber(b []byte, n int) []byte {
	if n < 0 {
		return append(b, "nil"...)
	}
	return strconv.AppendInt(b, int64(n), 10)
}
