package kv

import (
	"math/bits"
	"slices"
	"strconv"

	"clew/internal/gen"
)

// object is kv in generated histories. In long ones its keys are registers, without :append,
// :delete and :cas. In small ones it has all operations, and holds any values, or strings that
// are appended to. A value is a number, and -1 if there is none. With Ok an operation
// succeeded, or found something; if Two is 1 it says so.
type object struct {
	*gen.Maker
	now    []int
	text   bool   // strings
	empty  bool   // the empty string is one of them; then only gets say what is there
	absent string // how a missing key prints: nil or "" (of strings)
	form   int    // how operations show their key
}

// The forms of kv's operations.
const (
	ofPair = iota // [key value]
	ofKey         // :key beside :value
	ofMap         // {:key .. :value ..}, with flags
	ofNone        // they have no key
)

func newObject(m *gen.Maker) gen.Object {
	x := &object{Maker: m, now: slices.Repeat([]int{-1}, m.Keys), absent: "nil"}
	switch {
	case m.Appends:
		return &texts{x, make([][]int, m.Keys)}
	case !m.Small:
	case m.Chance(0.5):
		x.text, x.form, x.empty, x.absent = true, ofKey, m.Chance(0.5), m.OneOf("nil", `""`)
	default:
		x.form = m.Rand.IntN(4)
		if m.Values == 1 && x.form == ofNone {
			x.form = ofKey // any might not have anything else to return
		}
	}
	return x
}

func (x *object) Read(*gen.Thread) gen.Op {
	return gen.Op{F: ":get", Key: x.Rand.IntN(x.Keys)}
}

func (x *object) Change(*gen.Thread) gen.Op {
	return gen.Op{F: ":put", Changes: true, Key: x.Rand.IntN(x.Keys), A: x.Write()}
}

func (x *object) Call(*gen.Thread) gen.Op {
	fs := []string{":get", ":get", ":get", ":put", ":delete", ":cas", ":put-if-absent", ":put"}
	switch {
	case x.empty:
		fs = []string{":get", ":get", ":put", ":append", ":delete"}
	case x.text:
		fs[3], fs[4] = ":append", ":append"
	}
	o := gen.Op{F: x.OneOf(fs...), Key: x.Rand.IntN(x.Keys), A: -1, B: -1}
	if x.form == ofNone || x.Chance(0.4) {
		o.Key = 0 // fewer keys, so that more happens to each
	}
	o.Changes = o.F != ":get"
	switch o.F {
	case ":put":
		o.A = x.any(true)
	case ":append", ":put-if-absent":
		o.A = x.any(false)
	case ":cas":
		if o.A, o.B = x.any(true), x.any(true); x.now[o.Key] >= 0 && x.Chance(0.5) {
			o.A = x.now[o.Key]
		}
	}
	confused := x.form != ofMap && !x.text && (x.Spelling(o.A) == "false" || x.Spelling(o.B) == "false")
	if !x.empty && !confused && x.Chance(0.6) && (o.F == ":delete" || o.F == ":cas" || o.F == ":put-if-absent") {
		o.Two = 1
	}
	if x.form == ofKey {
		o.Beside = x.key(&o)
	}
	return o
}

// Strings of small histories are numbers whose binary digits say which letters they have,
// after a first 1. They have at most mostLetters.
const mostLetters = bits.UintSize - 4

// letters are some strings: a, b, ab and the empty one.
var letters = [...]int{0b10, 0b11, 0b101, 0b1}

// any returns one of the values, or sometimes -1 if it may be nil.
func (x *object) any(orNil bool) int {
	switch {
	case orNil && x.Chance(0.05):
		return -1
	case x.text && x.empty:
		return letters[x.Rand.IntN(min(x.Values, 4))]
	case x.text:
		return letters[x.Rand.IntN(min(x.Values, 3))]
	}
	for {
		if v := x.Write(); x.form != ofNone || x.Spelling(v) != "[1 2]" { // this may be a key and a value
			return v
		}
	}
}

// join returns two strings as one, if it is not too long.
func join(s, t int) (joined int, ok bool) {
	first := 1 // of t
	for 2*first <= t {
		first *= 2
	}
	s = max(s, 1)
	return s*first + t - first, s < (1<<mostLetters)/first
}

func (x *object) Start(b []byte) []byte {
	b = append(b, '{')
	for key := range x.now {
		if o := (gen.Op{Key: key}); (x.form != ofNone || key == 0) && x.Chance(0.7) {
			x.now[key] = x.any(false)
			b = x.print(append(append(b, x.key(&o)...), ' '), x.now[key])
			b = append(b, ", "...)
		}
	}
	return append(b, '}')
}

func (x *object) Bug(*gen.Thread) gen.Op {
	read := gen.Op{F: ":get"}
	if x.Kind == gen.WrongAnswer {
		read.Key = x.Rand.IntN(x.Keys)
	}
	return x.Overwrite(gen.Op{F: ":put", Changes: true}, read)
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	now := &x.now[o.Key]
	o.Ok = *now >= 0
	switch o.F {
	case ":get":
		o.A = *now
	case ":put":
		*now = o.A
	case ":delete":
		*now = -1
	case ":append":
		joined, ok := join(*now, o.A)
		if !ok {
			return gen.Refused
		}
		*now = joined
	default:
		old, next := -1, o.A
		if o.F == ":cas" {
			old, next = o.A, o.B
		}
		if o.Ok = *now == old; o.Ok {
			*now = next
		} else if o.Two == 0 {
			return gen.Refused
		}
	}
	return gen.Done
}

func (x *object) Err(o *gen.Op) {
	switch {
	case !x.Small:
		x.Maker.Err(o)
	case o.F == ":get":
		o.A = x.any(true)
	default:
		o.Ok = x.Chance(0.5)
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	returned = returned && (!o.Changes || o.Two == 1)
	switch {
	case returned && o.Changes && x.form != ofMap:
		return strconv.AppendBool(b, o.Ok)
	case x.form == ofPair:
		b = append(append(append(b, '['), x.key(o)...), ' ')
		return append(x.value(b, o, returned), ']')
	case x.form != ofMap:
		return x.value(b, o, returned)
	}
	b = append(append(b, "{:key "...), x.key(o)...)
	switch {
	case returned && o.F == ":delete":
		b = strconv.AppendBool(append(b, ", :found "...), o.Ok)
	case returned && o.Changes:
		b = strconv.AppendBool(append(b, ", :succeeded "...), o.Ok)
	case returned && o.A < 0 && x.Chance(0.5):
		b = append(b, ", :found false"...)
	case o.F == ":cas":
		b = x.print(append(b, ", :expected "...), o.A)
		b = x.print(append(b, ", :new "...), o.B)
	default:
		if returned && o.A >= 0 && x.Chance(0.5) {
			b = append(b, ", :found true"...)
		}
		b = x.value(append(b, ", :value "...), o, returned)
	}
	return append(b, '}')
}

// value prints the value of an operation apart from its key.
func (x *object) value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case !returned && (o.F == ":get" || o.F == ":delete"):
		return append(b, "nil"...)
	case returned && o.A < 0:
		return append(b, x.absent...)
	case o.F == ":cas":
		b = append(x.print(append(b, '['), o.A), ' ')
		return append(x.print(b, o.B), ']')
	}
	return x.print(b, o.A)
}

// print prints a value, or a string.
func (x *object) print(b []byte, v int) []byte {
	if !x.text || v < 0 {
		return x.Print(b, v)
	}
	s := []byte(strconv.FormatInt(int64(v), 2)[1:])
	for i := range s {
		s[i] += 'a' - '0'
	}
	return strconv.AppendQuote(b, string(s))
}

// key returns the key of an operation as it prints.
func (x *object) key(o *gen.Op) string {
	switch {
	case !x.Small:
		return strconv.Itoa(o.Key)
	case x.form == ofNone:
		return "nil"
	}
	return [...]string{`"x"`, "1", ":z"}[o.Key]
}

// texts is kv with short strings in long histories. Most updates append to them.
type texts struct {
	*object
	texts [][]int // by key: the pieces of its string
}

// mostPieces is how many pieces a string has before it is replaced.
const mostPieces = 10

func (x *texts) Change(t *gen.Thread) gen.Op {
	o := x.object.Change(t)
	if len(x.texts[o.Key]) < mostPieces {
		o.F = ":append"
	}
	return o
}

func (x *texts) Apply(o *gen.Op) gen.Outcome {
	switch o.F {
	case ":get":
		o.List = slices.Clone(x.texts[o.Key])
	case ":put":
		x.texts[o.Key] = []int{o.A}
	default:
		x.texts[o.Key] = append(x.texts[o.Key], o.A)
	}
	return gen.Done
}

// Err makes a get see another last piece.
func (x *texts) Err(o *gen.Op) {
	if n := len(o.List); n > 0 {
		o.List[n-1] = (o.List[n-1] + 1) % x.Mark
	} else {
		o.List = []int{0}
	}
}

func (x *texts) Value(b []byte, o *gen.Op, returned bool) []byte {
	b = append(gen.AppendNumber(append(b, '['), o.Key), ' ')
	pieces := o.List
	switch {
	case o.Changes:
		pieces = []int{o.A}
	case !returned || len(pieces) == 0:
		return append(b, "nil]"...)
	}
	b = append(b, '"')
	for _, piece := range pieces {
		b = append(gen.AppendNumber(b, piece), '.')
	}
	return append(b, `"]`...)
}
