package forms

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"clew/edn"
	"clew/internal/opmap"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms/internal/scan"
)

// The text forms of other monitors, for queues, stacks, priority queues and sets:
//
//	# queue                      fastlin: method, value, start, end
//	enq 2 0 1
//
//	# queue                      fptlin: process, start, end, METHOD, value
//	0 1 5 ENQ 10
//
//	# @object atomic-queue       LiMo: calls and returns in order
//	[1] call enq(7)
//	[1] return
//
// In fastlin and fptlin, -1 is the answer of an empty container, and times are
// integers. If several things happen at one time, returns come first. In fptlin the
// answer of a set's operation is one more column, 0 or 1. fastlin has contains_true and
// contains_false; inserted elements were absent from its sets, and removed ones were in
// them. In LiMo a removal's value stands with its return or with its call. Without a
// value, or with "empty", it found nothing. A call that never returns has crashed.
//
// fptlin also has registers, "# rmw", which are initially 0: READ_MODIFY_WRITE 0 2
// is a :cas from 0 to 2 that succeeded. It also has semaphores that count from 0
// without a bound: INCR 1, and DECR 1, or DECR 0 if the count was 0 and stays 0.

// object is an object in the text forms, nearly always a container.
type object struct {
	word   string            // jepsen.History.Object, which is in the heading of fastlin and fptlin
	limo   string            // its name in LiMo's headings, "" if LiMo does not know it
	method map[string]string // its methods, by :f
}

// objects lists the containers. Several :f's may stand for one method of a form.
var objects = []object{
	{"priorityqueue", "", map[string]string{":insert": "insert", ":enqueue": "insert", ":poll": "poll", ":dequeue": "poll", ":peek": "peek"}},
	{"queue", "atomic-queue", map[string]string{":enqueue": "enq", ":dequeue": "deq", ":peek": "peek"}},
	{"stack", "atomic-stack", map[string]string{":push": "push", ":pop": "pop", ":peek": "peek"}},
	{"set", "", map[string]string{":insert": "insert", ":add": "insert", ":remove": "remove",
		":delete": "remove", ":contains": "contains", ":lookup": "contains"}},
	{"rmw", "", map[string]string{":cas": "read_modify_write"}},
	{countingSemaphore, "", map[string]string{":incr": "incr", ":decr": "decr"}},
	{"unordered-queue", "", map[string]string{":enqueue": "enq", ":dequeue": "deq"}},
}

// countingSemaphore stands for "semaphore" in a heading: clew's own semaphores have a bound.
const countingSemaphore = "counting semaphore"

// heads returns the word for an object in the heading of fastlin and fptlin.
func (o object) heads() string { return strings.TrimPrefix(o.word, "counting ") }

// headings are the words of headings, as plainly returns them, with what they
// name. Only LiMo names registers, and their :f's say the same. Several objects
// also have the names of clew's models.
var headings = map[string]string{"register": "", "registers": "", "fifoqueue": "queue", "lookupset": "set", "countingsemaphore": countingSemaphore}

func init() {
	for _, o := range objects {
		headings[plainly(o.heads())] = o.word
	}
}

// plainly returns a name in lower case, without the characters that may join its parts.
func plainly(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

// A heading is a comment that may name the object of a history.
type heading struct {
	name   string // with its spelling, "" if the comment is not a heading
	word   string // of the object that it names
	known  bool
	object bool // it begins with @object
}

// headingIn reads a comment. A comment of a single word may be a heading.
func headingIn(comment string) (h heading) {
	words := strings.Fields(strings.TrimLeft(comment, "#"))
	if h.object = len(words) > 1 && strings.EqualFold(words[0], "@object"); h.object {
		words = words[1:]
	}
	name := strings.Join(words, " ")
	short := plainly(name)
	if h.object {
		short = strings.TrimPrefix(short, "atomic")
	}
	if h.word, h.known = headings[short]; h.known || h.object || oneName.MatchString(name) {
		h.name = name
	}
	return h
}

var oneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// function returns the :f of a method. In LiMo, a container's methods may also have other names.
func function(method string) string {
	switch method = strings.ToLower(method); method {
	case "enq":
		return ":enqueue"
	case "deq":
		return ":dequeue"
	case "contains_true", "contains_false":
		return ":contains"
	case "read_modify_write":
		return ":cas"
	}
	return ":" + method
}

// containers are the :f's of a container's methods by their names in LiMo's
// generated histories, and in those of violin, where the form comes from.
var containers = map[string][2]string{"queue": {":enqueue", ":dequeue"}, "stack": {":push", ":pop"}}

// functionOf does the same as function for LiMo.
func functionOf(object, method string) string {
	if fs, known := containers[object]; known {
		switch method {
		case "add", "put":
			return fs[0]
		case "remove", "rem", "rmv", "get":
			return fs[1]
		}
	}
	return function(method)
}

// adds says whether the value of a call is added or written.
func adds(f string) bool { return f == ":enqueue" || f == ":push" || f == ":insert" || f == ":write" }

// textReader reads the lines of a text form, and makes events.
type textReader struct {
	scan.Scratch
	in      *input
	form    Form
	length  int64  // of the text, 0 if unknown
	object  string // of the last heading
	named   bool   // there was a heading
	unknown error  // about the first unknown comment that may be a heading
	lines   scan.Lines
	line    []byte // the current line, without blanks around it
	col     int    // where it begins
	words   [][]byte
	methods []method
	headed  int              // how many methods there were before the last heading
	numbers map[string]int32 // of the methods after it
	known   known            // the same
	e       opmap.Event

	invoke, ok edn.ID // types
}

// method is a method by its name in the text.
type method struct {
	word string
	f    string
	adds bool   // see adds
	id   edn.ID // of f, Nil if it has not been used yet
}

// textForm reads the events of a text form.
func (in *input) textForm(r io.Reader, form Form, length int64) error {
	t := &textReader{in: in, form: form, length: length, numbers: map[string]int32{}, lines: scan.Lines{Blocks: scan.Blocks{In: r, Eager: in.eager}}}
	t.invoke, t.ok = in.values.InternKeyword(jepsen.Invoke.Name()), in.values.InternKeyword(jepsen.OK.Name())
	if form == LiMo {
		in.b.Expect(length)
		return t.limo()
	}
	return t.timed()
}

func (r *textReader) fail(format string, args ...any) error {
	return r.in.at(r.lines.N, r.col).Errorf(format, args...)
}

// more goes to the next line that holds an event. It returns io.EOF at the end.
func (r *textReader) more() error {
	for {
		whole, err := r.lines.Next()
		switch {
		case err == scan.ErrTooLong:
			return r.in.at(r.lines.N+1, 1).Errorf("%v", err)
		case err == io.EOF && r.unknown != nil:
			return r.unknown
		case err == io.EOF:
			r.in.lastLine(&r.lines)
			return err
		case err != nil:
			return fmt.Errorf("%s: %w", r.in.file, err)
		}
		whole = bytes.TrimPrefix(whole, []byte("\ufeff"))
		var before int
		r.line, before = scan.Trim(whole)
		r.col = 1 + before
		switch {
		case len(r.line) == 0:
		case r.line[0] == '#':
			if err := r.heading(headingIn(string(r.line))); err != nil {
				return err
			}
		default:
			return r.unknown
		}
	}
}

// heading handles a comment. An unknown name is an error unless another heading
// comes before the first operation, which is where headings belong in these forms.
func (r *textReader) heading(h heading) error {
	switch {
	case h.known && r.named && h.word != r.object:
		return r.fail("expected one object, found %s after %s", scan.Clip([]byte(h.name)), r.object)
	case h.known:
		r.in.b.SetObject(h.word)
		r.object, r.headed, r.numbers, r.known = h.word, len(r.methods), map[string]int32{}, known{}
		r.named, r.unknown = true, nil
	case h.object:
		return r.fail("expected %s, found @object %s", knownHeadings(LiMo), scan.Clip([]byte(h.name)))
	case h.name != "" && len(r.methods) == 0 && !r.named && r.unknown == nil:
		r.unknown = r.fail("%s is not an object that clew knows in this form: expected %s, or a comment of several words", scan.Clip([]byte(h.name)), knownHeadings(r.form))
	default:
		r.comment(r.line)
	}
	return nil
}

// knownHeadings lists the headings of a form.
func knownHeadings(form Form) string {
	var known []string
	for _, o := range objects {
		switch {
		case form != LiMo:
			known = append(known, "# "+o.heads())
		case o.limo != "":
			known = append(known, "# @object "+o.limo)
		}
	}
	if form == LiMo {
		known = append(known, "# @object register")
	}
	return text.OneOf(known)
}

// inComment matches an operation in any of the text forms.
var inComment = regexp.MustCompile(`[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+[A-Z][A-Z_]*([ \t]+-?[0-9]+)*|` +
	`[A-Za-z_]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t\r]*$|` + anEvent + `.*`)

// comment warns of a comment with an operation, such as one that follows a line
// whose end was lost.
func (r *textReader) comment(text []byte) {
	if op := inComment.Find(text); op != nil {
		r.in.b.Warn("line %d: %s is in a comment and is ignored", r.lines.N, scan.Clip(op))
	}
}

// split returns the words of the current line.
func (r *textReader) split() [][]byte {
	r.words = r.words[:0]
	begin := -1
	for i, c := range r.line {
		switch {
		case c >= utf8.RuneSelf:
			return bytes.Fields(r.line)
		case c != ' ' && (c < '\t' || c > '\r'):
			if begin < 0 {
				begin = i
			}
		case begin >= 0:
			r.words = append(r.words, r.line[begin:i])
			begin = -1
		}
	}
	if begin >= 0 {
		r.words = append(r.words, r.line[begin:])
	}
	return r.words
}

// method returns the number of a method, or -1 if the word is not a name.
func (r *textReader) method(word []byte) int32 {
	const few = 8
	for i, m := range r.methods[r.headed:min(r.headed+few, len(r.methods))] {
		if m.word == string(word) {
			return int32(r.headed + i)
		}
	}
	if m, known := r.numbers[string(word)]; known {
		return m
	}
	if !r.IsName(word) {
		return -1
	}
	f := function(string(word))
	if r.form == LiMo {
		f = functionOf(r.object, string(word))
	}
	m := int32(len(r.methods))
	r.methods = append(r.methods, method{word: string(word), f: f, adds: adds(f)})
	r.numbers[string(word)] = m
	r.known.add(word, m)
	return m
}

// event returns an event without its value.
func (r *textReader) event(process edn.ID, m int32, complete bool, line, col int32) *opmap.Event {
	e, method := &r.e, &r.methods[m] // Its other fields stay empty.
	e.Process, e.Type, e.Value, e.Line, e.Col = process, r.invoke, edn.Nil, int(line), int(col)
	e.Has = opmap.HasProcess | opmap.HasType | opmap.HasF | opmap.HasValue
	e.End = r.lines.Offset + int64(r.lines.At)
	if complete {
		e.Type = r.ok
	}
	if method.id == edn.Nil {
		method.id = r.in.values.InternKeyword(method.f[1:])
	}
	e.F = method.id
	return e
}
