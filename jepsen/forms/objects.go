package forms

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clew/edn"
	"clew/internal/blocks"
	"clew/internal/files"
	"clew/internal/opmap"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms/internal/jsonops"
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

// dialect says how one of these forms differs from the others.
type dialect struct {
	heading  func(object) string                // how it names an object, "" if it does not
	others   []string                           // further headings
	function func(object, method string) string // the :f of a method
	objects  string                             // what it holds, for messages
	lacks    []string                           // objects that it does not hold although it reads their headings
	empty    string                             // the answer of an empty container
	noPeek   bool
	isWord   func(string) bool // unless nil: whether it has a text for a value that is not an integer
	// processes says that lines have a process, and an answer for sets. Otherwise the names of a set's
	// methods imply the answers.
	processes bool
	write     func(*converter, *jepsen.History) error
}

func (d *dialect) headings() string {
	var known []string
	for _, o := range objects {
		if heading := d.heading(o); heading != "" {
			known = append(known, heading)
		}
	}
	return text.OneOf(append(known, d.others...))
}

// plainly returns a name in lower case, without the characters that may join its parts.
func plainly(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

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
	if h.word, h.known = headings[short]; h.known || h.object || oneName().MatchString(name) {
		h.name = name
	}
	return h
}

var oneName = text.Pattern(`^[A-Za-z][A-Za-z0-9_-]*$`)

// function returns the :f of a method.
func function(_, method string) string {
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

// adds says whether the value of a call is added or written.
func adds(f string) bool { return f == ":enqueue" || f == ":push" || f == ":insert" || f == ":write" }

type textReader struct {
	scan.Scratch
	in      *input
	dialect *dialect
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
	known   scan.Numbered    // the same
	e       opmap.Event

	invoke, ok edn.ID // types
}

type method struct {
	word string
	f    string
	adds bool   // see adds
	id   edn.ID // of f, Nil if it has not been used yet
}

func newTextReader(in *input, d *dialect, text source) *textReader {
	return &textReader{in: in, dialect: d, length: files.Size(text.file), numbers: map[string]int32{},
		lines:  scan.Lines{Blocks: blocks.Blocks{In: settled{text}, Eager: in.eager}},
		invoke: in.values.InternKeyword(jepsen.Invoke.Name()), ok: in.values.InternKeyword(jepsen.OK.Name())}
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
		r.in.to.SetObject(h.word)
		r.object, r.headed, r.numbers, r.known = h.word, len(r.methods), map[string]int32{}, scan.Numbered{}
		r.named, r.unknown = true, nil
	case h.object:
		return r.fail("expected %s, found @object %s", limo.headings(), scan.Clip([]byte(h.name)))
	case h.name != "" && len(r.methods) == 0 && !r.named && r.unknown == nil:
		r.unknown = r.fail("%s is not an object that clew knows in this form: expected %s, or a comment of several words", scan.Clip([]byte(h.name)), r.dialect.headings())
	default:
		r.comment(r.line)
	}
	return nil
}

// firstLine returns the first line of a text that is not a comment of these forms, and whether a
// heading came before it. A text that does not begin with a comment is not divided into lines.
func firstLine(text []byte) (line []byte, headed bool) {
	if text[0] != '#' || len(text) == 1 || strings.IndexByte(" \t\r\n@", text[1]) < 0 {
		return text, false
	}
	for line := range bytes.Lines(text) {
		rest := bytes.TrimSpace(line)
		if len(rest) > 0 && rest[0] != '#' {
			return rest, headed
		}
		if len(rest) > 0 {
			h := headingIn(string(rest))
			headed = headed || h.known || h.object
		}
	}
	return nil, headed
}

// begins reports whether the first byte of a line is in a range.
func begins(line []byte, low, high byte) bool {
	return len(line) > 0 && low <= line[0] && line[0] <= high
}

// inComment matches an operation in any of the text forms.
var inComment = text.Pattern(`[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+[A-Z][A-Z_]*([ \t]+-?[0-9]+)*|` +
	`[A-Za-z_]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t\r]*$|` + anEvent + `.*`)

// comment warns of a comment with an operation, such as one that follows a line
// whose end was lost.
func (r *textReader) comment(text []byte) {
	if op := inComment().Find(text); op != nil {
		r.in.to.Warn("line %d: %s is in a comment and is ignored", r.lines.N, scan.Clip(op))
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
	f := r.dialect.function(r.object, string(word))
	m := int32(len(r.methods))
	r.methods = append(r.methods, method{word: string(word), f: f, adds: adds(f)})
	r.numbers[string(word)] = m
	r.known.Add(word, m)
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

// objectEvent takes an event for a form that holds only operations on objects.
func (c *converter) objectEvent(e *opmap.Event, op int32) error {
	if err := opmap.Check(c.file, e); err != nil {
		return err
	}
	if c.table.Kind(e.Process) != edn.KindInt {
		return c.refuse(e, "it has no place for processes that are not clients")
	}
	if err := c.drop(e, ":process", ":type", ":f", ":value"); err != nil {
		return err
	}
	return c.Feed.Add(e, op)
}

// refuseOp returns an error that names an event of the history.
func (c *converter) refuseOp(h *jepsen.History, event jepsen.Event, format string, args ...any) error {
	return c.refuse(&opmap.Event{Process: h.Processes[h.Process[event]], Type: h.Values.InternKeyword(h.Type[event].Name()),
		F: h.F[event], Line: h.Line(event), Col: h.Col(event)}, format, args...)
}

// writeObject returns what writes the history in a form. The times of events are their positions.
func writeObject(d *dialect) func(*converter) error {
	return func(c *converter) error {
		h, err := c.b.History()
		if err != nil {
			return err
		}
		o := objectOf(h)
		if d.noPeek {
			o.method = maps.Clone(o.method)
			delete(o.method, ":peek")
		}
		c.object, c.dialect = o, d
		switch heading := d.heading(o); {
		case o.word == "":
		case heading == "" || slices.Contains(d.lacks, o.word):
			if len(h.Invocation) == 0 {
				return edn.Pos{File: c.file}.Errorf("%s has no %s", c.to.name, o.word)
			}
			return c.refuseOp(h, h.Invocation[0], "it has no %s", o.word)
		default:
			c.put([]byte(heading))
		}
		return d.write(c, h)
	}
}

// objectOf returns the container of a history: the one that its text names, or else
// the one that its :f's show. An :insert may belong to a set or to a priority queue.
// If there is an :insert or a :poll, an :enqueue also belongs to a priority queue.
func objectOf(h *jepsen.History) object {
	seen := map[string]bool{}
	for _, inv := range h.Invocation {
		seen[h.Values.Text(h.F[inv])] = true
	}
	isSet := seen[":contains"] || seen[":lookup"] || seen[":remove"] || seen[":delete"] || seen[":add"]
	for op, inv := range h.Invocation {
		if !isSet && h.Status[op] == jepsen.Succeeded && h.Values.Text(h.F[inv]) == ":insert" {
			answer := h.OpValue(jepsen.Operation(op))
			kind := h.Values.Kind(answer)
			isSet = kind == edn.KindVector || kind == edn.KindList || kind == edn.KindBool && answer != h.Value[inv]
		}
	}
	for _, o := range objects {
		switch {
		case h.Object != "":
			if o.word == h.Object {
				return o
			}
		case isSet != (o.word == "set"):
		default:
			for f, method := range o.method {
				if f != ":peek" && seen[f] && (f == function("", method) || isSet) {
					return o
				}
			}
		}
	}
	return object{method: map[string]string{":peek": "peek"}}
}

func (c *converter) method(h *jepsen.History, inv jepsen.Event) (string, error) {
	has := c.object.method
	if method, known := has[h.Values.Text(h.F[inv])]; known {
		return method, nil
	}
	if len(has) < 2 {
		return "", c.refuseOp(h, inv, "it has %s", c.dialect.objects)
	}
	return "", c.refuseOp(h, inv, "a %s has %s there", c.object.word, strings.Join(slices.Sorted(maps.Keys(has)), ", "))
}

func (c *converter) process(h *jepsen.History, ev jepsen.Event) (int64, error) {
	process, fits := h.Values.Int(h.Processes[h.Process[ev]])
	if !fits || process < 0 {
		return 0, c.refuseOp(h, ev, "a process is an integer from 0 on there")
	}
	return process, nil
}

// value returns the value of an operation that succeeded, or of a crashed call.
// For sets it also returns the answer.
func (c *converter) value(h *jepsen.History, op jepsen.Operation, method string) (value, answer string, err error) {
	v, id, at := h.Values, h.OpValue(op), h.Invocation[op]
	if h.Status[op] == jepsen.Succeeded {
		at = h.Completion[op]
	}
	switch c.object.word {
	case "rmw":
		if value, ok := pair(v, id); ok {
			return value, "", nil
		}
		return "", "", c.refuseOp(h, at, "expected two integers for its value, found %s", v.Text(id))
	case countingSemaphore:
		switch id {
		case edn.False:
			return "0", "", nil
		case edn.True:
			return "1", "", nil
		}
		return "", "", c.refuseOp(h, at, "expected true or false for its value, found %s", v.Text(id))
	}
	if c.object.word == "set" {
		truth := id
		id = h.Value[h.Invocation[op]]
		if items := v.Items(truth); len(items) == 2 && (v.Kind(truth) == edn.KindVector || v.Kind(truth) == edn.KindList) {
			id, truth = items[0], items[1]
		}
		switch truth {
		case edn.False:
			answer = " 0"
		case edn.True:
			answer = " 1"
		default:
			return "", "", c.refuseOp(h, at, "expected [VALUE true] or [VALUE false] for its value, found %s", v.Text(h.OpValue(op)))
		}
	} else if !adds(function("", method)) && (id == edn.Nil || jsonops.IsKeyword(v, id, "empty")) {
		return c.dialect.empty, "", nil
	}
	n, isInt := v.Int(id)
	value = strconv.FormatInt(n, 10)
	switch {
	case c.dialect.isWord != nil && v.Kind(id) == edn.KindString && c.dialect.isWord(v.Str(id)):
		return v.Str(id), "", nil
	case !isInt:
		return "", "", c.refuseOp(h, at, "its value %s is not an integer", v.Text(id))
	case value == c.dialect.empty && c.object.word != "set":
		return "", "", c.refuseOp(h, at, "%s stands for an empty container there", value)
	}
	return value, answer, nil
}

func pair(v *edn.Values, id edn.ID) (text string, ok bool) {
	items := v.Items(id)
	if len(items) != 2 || v.Kind(id) != edn.KindVector && v.Kind(id) != edn.KindList {
		return "", false
	}
	a, isInt := v.Int(items[0])
	b, areInts := v.Int(items[1])
	return fmt.Sprint(a, " ", b), isInt && areInts
}
