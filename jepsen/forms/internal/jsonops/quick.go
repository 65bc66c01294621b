package jsonops

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"clew/edn"
	"clew/internal/layouts"
	"clew/internal/opmap"
	"clew/jepsen/forms/internal/scan"
)

// As in package opmap, the ops of a history are nearly all alike: the same keys in the
// same order, with the same text between the values. This file learns the layouts of the
// ops that have been read in the general way. It reads the next ones by comparing the
// text between the values with what it has learned. It checks and interns values at once.
// Unusual or malformed ops are left to the general way, which gives the same events.

// quickReader reads ops like those that it has learned.
type quickReader struct {
	scan.Keywords
	tree    layouts.Tree[about]
	layouts opmap.Layouts
	items   []edn.ID
	depth   int
	asEDN   translator
	others  []byte
	data    []byte // the text in which the op stands
	exact   bool   // see Options
	times   timesKind
	holes   map[string]hole
	shown   func(keys []string) []string        // the keys of the op maps that ops with such keys become
	odd     func(keys []string) *opmap.Misnamed // of records; nil: as for op maps
}

// about says what a step of a layout means.
type about struct {
	hole    hole          // what the value is
	outcome outcome       // of an outcomeHole
	layout  *opmap.Layout // how such ops are printed, if this is the end
}

// hole says what a value means to a reader.
type hole uint8

const (
	otherHole hole = iota // it is only shown
	typeHole
	processHole
	fHole
	valueHole
	indexHole
	keyHole

	// These are for interval records:
	outputHole
	outcomeHole // it is shown, and says how the operation ended
	callHole
	returnHole
	droppedHole
)

// learn adds an op that has been read to the tree, if its keys are plain names.
func (l *quickReader) learn(op []byte) {
	if l.tree.Known == layouts.Max {
		return
	}
	texts, keys := l.parts(op)
	if texts == nil {
		return
	}
	at, end := &l.tree.Root, len(keys)
	for i, key := range keys {
		value := about{hole: l.holes[key]}
		if value.hole == otherHole && l.odd != nil {
			if value.outcome = outcomeOf(key); value.outcome != noOutcome {
				value.hole = outcomeHole
			}
		}
		if at, _ = l.tree.Grow(at, texts[i], value); at == nil {
			return
		}
	}
	if end, isNew := l.tree.Grow(at, texts[end], about{}); isNew {
		if end.About.layout = l.layouts.Of(l.shown(keys)); l.odd != nil {
			end.About.layout.Misnamed = l.odd(keys)
		}
	}
}

// parts returns the text before each value of a valid op, and the text at the end, with the keys as keywords. It returns
// nil unless the keys are plain names, and differ.
func (l *quickReader) parts(op []byte) (texts, keys []string) {
	from := 0
	for f := (field{end: 1}); f.next(op); from = f.end {
		name := op[f.key+1 : f.keyEnd-1]
		if bytes.IndexByte(name, '\\') >= 0 || !l.IsName(name) {
			return nil, nil
		}
		key := ":" + string(name)
		if slices.Contains(keys, key) {
			return nil, nil
		}
		texts, keys = append(texts, string(op[from:f.value])), append(keys, key)
	}
	if len(keys) == 0 || len(keys) == 1 && keys[0] == ":edn" {
		return nil, nil
	}
	return append(texts, string(op[from:])), keys
}

// opHoles are the keys of ops that a checker needs.
var opHoles = map[string]hole{":type": typeHole, ":process": processHole, ":f": fHole, ":value": valueHole, ":index": indexHole, ":key": keyHole}

// op reads the op at i if it is like others. It returns its end, or -1.
func (l *quickReader) op(data []byte, i int, e *opmap.Event) int {
	*e = opmap.Event{}
	l.data, l.others = data, l.others[:0]
	step := &l.tree.Root
	as, valueAt := opRole, -1
	for at := i; ; {
		if next := step.First; next != nil && next.At(data, at) {
			step = next
		} else if step = step.After(data, at); step == nil {
			return -1
		}
		at += step.Size
		switch step.About.hole {
		case otherHole:
			if step.About.layout != nil {
				if e.Has&opmap.HasF == 0 && valueAt >= 0 { // see isTxn
					e.Value, _ = l.value(valueAt, stepsRole)
				}
				e.Lay(step.About.layout, l.others, l.V)
				return at
			}
			at = l.other(at)
		case typeHole:
			e.Type, at = l.word(at)
			e.Has |= opmap.HasType
		case fHole:
			begin := at
			if e.F, at = l.word(at); at >= 0 && string(data[begin:at]) == string(txn) {
				if as = txnRole; valueAt >= 0 { // it has been read as the value of another op
					e.Value, _ = l.value(valueAt, stepsRole)
				}
			}
			e.Has |= opmap.HasF
		case processHole:
			e.Process, at = l.process(at)
			e.Has |= opmap.HasProcess
		case valueHole:
			valueAt = at
			e.Value, at = l.value(at, as.of("value", -1))
			e.Has |= opmap.HasValue
		case keyHole:
			e.Key, at = l.value(at, plainRole)
			e.Has |= opmap.HasKey
		case indexHole:
			e.Index, at = l.int(at)
			e.Has |= opmap.HasIndex
		}
		if at < 0 {
			return -1
		}
	}
}

func (l *quickReader) process(i int) (edn.ID, int) {
	if i < len(l.data) && l.data[i] == '"' {
		return l.word(i)
	}
	n, end := l.int(i)
	if end < 0 {
		return edn.Nil, -1
	}
	return l.V.InternInt(n), end
}

// word reads the string at i as a keyword, or as a string if it is not a name.
func (l *quickReader) word(i int) (edn.ID, int) {
	data := l.data
	if i >= len(data) || data[i] != '"' {
		return edn.Nil, -1
	}
	end := l.plain(i)
	if end < 0 {
		return edn.Nil, -1
	}
	if id, ok := l.Named(data[i+1 : end-1]); ok {
		return id, end
	}
	return l.V.InternStringBytes(data[i+1 : end-1]), end
}

// plain returns the end of the string at i, if that is valid and without escapes, or else -1.
func (l *quickReader) plain(i int) int {
	data, odd := l.data, byte(0)
	for j := i + 1; j < len(data); j++ {
		switch c := data[j]; {
		case c == '"':
			if odd >= utf8.RuneSelf && !utf8.Valid(data[i:j]) {
				return -1
			}
			return j + 1
		case c < ' ' || c == '\\':
			return -1
		default:
			odd |= c
		}
	}
	return -1
}

func (l *quickReader) int(i int) (n int64, end int) {
	data, j := l.data, i
	if j < len(data) && data[j] == '-' {
		j++
	}
	first := j
	for ; j < len(data) && data[j]-'0' < 10; j++ {
		n = 10*n + int64(data[j]-'0') // It may overflow, but then it has too many digits.
	}
	digits := j - first
	if digits == 0 || digits > 18 || data[first] == '0' && j-i > 1 || j == len(data) || !structural(data[j]) {
		return 0, -1
	}
	if first > i {
		n = -n
	}
	return n, j
}

// time reads a time as int does. Those with a fraction it leaves to Reader.time.
func (l *quickReader) time(i int) (n int64, end int) {
	if l.times == fractions {
		return 0, -1
	}
	return l.int(i)
}

// value checks and interns the value at i.
func (l *quickReader) value(i int, as role) (edn.ID, int) {
	data := l.data
	if i >= len(data) {
		return edn.Nil, -1
	}
	switch c := data[i]; {
	case c == '"':
		return l.text(i, as)
	case c == '[':
		return l.array(i, as)
	case c == '{':
		return l.object(i, as)
	case c == '-' || c-'0' < 10:
		if n, end := l.int(i); end >= 0 {
			return l.V.InternInt(n), end
		}
		return l.parsed(i)
	}
	for _, w := range literals {
		if end := i + len(w.text); end < len(data) && string(data[i:end]) == w.text && structural(data[end]) {
			return w.id, end
		}
	}
	return edn.Nil, -1
}

var literals = []struct {
	text string
	id   edn.ID
}{{"null", edn.Nil}, {"true", edn.True}, {"false", edn.False}}

func (l *quickReader) text(i int, as role) (edn.ID, int) {
	if as == nameRole {
		return l.word(i)
	}
	if end := l.plain(i); end >= 0 {
		return l.V.InternStringBytes(l.data[i+1 : end-1]), end
	}
	return l.parsed(i)
}

// whole returns the end of the value at i if the value is valid, and -1 otherwise.
func (l *quickReader) whole(i int) int {
	if i >= len(l.data) {
		return -1
	}
	end := valueEnd(l.data, i)
	if end >= len(l.data) || !json.Valid(l.data[i:end]) || !utf8.Valid(l.data[i:end]) {
		return -1
	}
	return end
}

// parsed reads the number or string at i, which has the same spelling in EDN.
func (l *quickReader) parsed(i int) (edn.ID, int) {
	end := l.whole(i)
	if end < 0 {
		return edn.Nil, -1
	}
	id, err := l.V.Parse(l.data[i:end], edn.Pos{})
	if err != nil {
		return edn.Nil, -1
	}
	return id, end
}

// maxQuick bounds the nesting of values that are read quickly: together with
// values given as EDN they must not reach edn.MaxDepth.
const maxQuick = 400

// item goes to the next element or key of the collection whose bracket was before
// i, or past the bracket that closes it. first says that it is the first one.
func (l *quickReader) item(i int, first bool, closing byte) (at int, more bool) {
	data := l.data
	at = l.space(i)
	switch {
	case at >= len(data):
		return -1, false
	case data[at] == closing:
		return at + 1, false
	case first:
		return at, true
	case data[at] != ',':
		return -1, false
	}
	if at = l.space(at + 1); at >= len(data) || data[at] == closing {
		return -1, false
	}
	return at, true
}

func (l *quickReader) space(i int) int {
	for i < len(l.data) && (l.data[i] == ' ' || l.data[i] == '\n' || l.data[i] == '\r' || l.data[i] == '\t') {
		i++
	}
	return i
}

func (l *quickReader) array(i int, as role) (edn.ID, int) {
	base := len(l.items)
	if l.depth++; l.depth > maxQuick {
		return l.drop(base)
	}
	at, more := l.item(i+1, true, ']')
	for n := 0; more; n++ {
		var id edn.ID
		if id, at = l.value(at, as.of("", n)); at < 0 {
			break
		}
		l.items = append(l.items, id)
		at, more = l.item(at, false, ']')
	}
	if at < 0 {
		return l.drop(base)
	}
	id := l.V.InternVector(l.items[base:])
	l.drop(base)
	return id, at
}

func (l *quickReader) drop(base int) (edn.ID, int) {
	l.items = l.items[:base]
	l.depth--
	return edn.Nil, -1
}

// object reads the object at i as a map, or as the value whose EDN it holds.
func (l *quickReader) object(i int, as role) (edn.ID, int) {
	if id, end := l.embedded(i); end >= 0 {
		return id, end
	}
	base, data := len(l.items), l.data
	if l.depth++; l.depth > maxQuick {
		return l.drop(base)
	}
	at, more := l.item(i+1, true, '}')
	if more && bytes.HasPrefix(data[at:], []byte(`"edn"`)) {
		return l.drop(base) // without anything else, it is not a map, and this key must not enter the table of values
	}
	for more {
		key, end := l.word(at)
		colon := l.space(max(end, 0))
		if end < 0 || colon >= len(data) || data[colon] != ':' {
			return l.drop(base)
		}
		name := data[at+1 : end-1]
		var value edn.ID
		if value, at = l.value(l.space(colon+1), as.of(string(name), -1)); at < 0 {
			return l.drop(base)
		}
		l.items = append(l.items, key, value)
		at, more = l.item(at, false, '}')
	}
	if at < 0 || l.exact && len(l.items) > base+2 {
		return l.drop(base)
	}
	id := l.V.InternMap(l.items[base:])
	if len(l.V.Items(id)) != len(l.items)-base { // a key twice
		return l.drop(base)
	}
	l.drop(base)
	return id, at
}

// embedded reads the object at i if it holds only the EDN of a value.
func (l *quickReader) embedded(i int) (edn.ID, int) {
	data := l.data
	at := l.space(i + 1)
	if rest := data[min(at, len(data)):]; len(rest) < 6 || string(rest[:5]) != `"edn"` {
		return edn.Nil, -1
	}
	if at = l.space(at + 5); at >= len(data) || data[at] != ':' {
		return edn.Nil, -1
	}
	if at = l.space(at + 1); at >= len(data) || data[at] != '"' {
		return edn.Nil, -1
	}
	end := l.whole(at)
	if end < 0 {
		return edn.Nil, -1
	}
	after, more := l.item(end, false, '}')
	if after < 0 || more {
		return edn.Nil, -1
	}
	text := unquoted(data[at:end])
	if mayBeDeep(text) {
		return edn.Nil, -1
	}
	id, err := l.V.Parse(text, edn.Pos{})
	if err != nil {
		return edn.Nil, -1
	}
	return id, after
}

// other keeps the value at i as EDN. It belongs to a key that a checker does not need.
func (l *quickReader) other(i int) int {
	data, end := l.data, i
	if i >= len(data) {
		return -1
	}
	switch {
	case data[i] == '"':
		end = l.plain(i)
	default:
		_, end = l.int(i)
	}
	if end >= 0 {
		l.others = append(append(l.others, data[i:end]...), '\n')
		return end
	}
	if end = l.whole(i); end < 0 || mayBeDeep(data[i:end]) {
		return -1
	}
	e := &l.asEDN
	e.op, e.at, e.out, e.wrong = data[i:end], 0, e.out[:0], ""
	if e.value(plainRole); e.wrong != "" || bytes.IndexByte(e.out, '\n') >= 0 {
		return -1
	}
	l.others = append(append(l.others, e.out...), '\n')
	return end
}

// mayBeDeep says whether a text has so many brackets, or characters that may stand
// for them, that it may nest too deeply.
func mayBeDeep(text []byte) bool {
	n := 0
	for _, c := range text {
		switch c {
		case '[', '{', '(', '#', '^', '\\':
			n++
		}
	}
	return n > maxQuick
}
