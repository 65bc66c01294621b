package old

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The text forms of other monitors, of queues, stacks, priority queues and sets:
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
// In fastlin and fptlin -1 is the answer of an empty container, times are
// integers, and if several things happen at one time, returns come first. In
// fptlin the answer of a set's operation is one more column, 0 or 1. In LiMo a
// removal's value stands with its return or with its call; without one, or as
// "empty", it found nothing. A call that never returns has crashed.

// object is a container in the text forms.
type object struct {
	word   string            // jepsen.History.Object, which is in the heading of fastlin and fptlin
	limo   string            // its name in LiMo's headings, "" if LiMo does not know it
	method map[string]string // its methods, by :f
}

// objects are the containers. Several :f's may stand for one method of a form.
var objects = []object{
	{"priorityqueue", "", map[string]string{":insert": "insert", ":enqueue": "insert", ":poll": "poll", ":dequeue": "poll", ":peek": "peek"}},
	{"queue", "atomic-queue", map[string]string{":enqueue": "enq", ":dequeue": "deq", ":peek": "peek"}},
	{"stack", "atomic-stack", map[string]string{":push": "push", ":pop": "pop", ":peek": "peek"}},
	{"set", "", map[string]string{":insert": "insert", ":add": "insert", ":remove": "remove",
		":delete": "remove", ":contains": "contains", ":lookup": "contains"}},
}

// heading is the object that a comment names, or "".
func heading(comment string) string {
	words := strings.Fields(strings.TrimLeft(comment, "#"))
	for _, o := range objects {
		switch {
		case len(words) == 1 && words[0] == o.word:
			return o.word
		case len(words) == 2 && words[0] == "@object" && o.limo != "" && words[1] == o.limo:
			return o.word
		}
	}
	return ""
}

// function is the :f of a method.
func function(method string) string {
	switch method = strings.ToLower(method); method {
	case "enq":
		return ":enqueue"
	case "deq":
		return ":dequeue"
	}
	return ":" + method
}

// adds says whether the value of a call is what is added.
func adds(f string) bool { return f == ":enqueue" || f == ":push" || f == ":insert" }

// textReader reads the events of a text form as EDN.
type textReader struct {
	scratch
	in    *input
	form  Form
	lines *bufio.Scanner
	n     int    // the current line
	line  string // its text
	col   int    // where the text begins
	out   []byte

	open map[int]textOp // LiMo: calls without a return

	// The others: operations, and their ends in the order of time.
	ops  []textOp
	ends []textEnd
	read bool
}

type textOp struct {
	process        int
	f, call, value string // EDN
	at             place
}

type textEnd struct {
	time     int64
	op       int32
	complete bool
}

func newTextReader(r io.Reader, form Form, in *input) *textReader {
	t := &textReader{in: in, form: form, lines: bufio.NewScanner(r), open: map[int]textOp{}}
	t.lines.Buffer(make([]byte, 1<<12), maxLine)
	return t
}

func (r *textReader) fail(format string, args ...any) error {
	return r.in.at(r.n, r.col).Errorf(format, args...)
}

// more goes on to the next line that holds an event, if there is one.
func (r *textReader) more() (bool, error) {
	for r.lines.Scan() {
		r.n++
		whole := bytes.TrimPrefix(r.lines.Bytes(), []byte("\xef\xbb\xbf"))
		left := bytes.TrimLeft(whole, blanks)
		r.line = string(bytes.TrimRight(left, blanks))
		r.col = 1 + utf8.RuneCount(whole[:len(whole)-len(left)])
		switch {
		case r.line == "":
		case r.line[0] == '#':
			if word := heading(r.line); word != "" {
				r.in.b.SetObject(word)
			}
		default:
			return true, nil
		}
	}
	switch err := r.lines.Err(); err {
	case nil:
		return false, nil
	case bufio.ErrTooLong:
		return false, r.in.at(r.n+1, 1).Errorf("line longer than 64 MB")
	default:
		return false, fmt.Errorf("%s: %w", r.in.file, err)
	}
}

// next is the next event as EDN.
func (r *textReader) next() ([]byte, place, error) {
	if r.form == LiMo {
		more, err := r.more()
		if err != nil || !more {
			return nil, place{}, cmp.Or(err, io.EOF)
		}
		return r.limo()
	}
	if !r.read {
		r.read = true
		if err := r.all(); err != nil {
			return nil, place{}, err
		}
	}
	if len(r.ends) == 0 {
		return nil, place{}, io.EOF
	}
	e := r.ends[0]
	r.ends = r.ends[1:]
	return r.event(&r.ops[e.op], e.complete)
}

func (r *textReader) event(o *textOp, complete bool) ([]byte, place, error) {
	kind, value := ":invoke", o.call
	if complete {
		kind, value = ":ok", o.value
	}
	r.out = fmt.Appendf(r.out[:0], "{:process %d, :type %s, :f %s, :value %s}", o.process, kind, o.f, value)
	return r.out, o.at, nil
}

// all reads a history of timed operations and puts their ends in order. Ends
// that are equal keep the order of the text.
func (r *textReader) all() error {
	for {
		more, err := r.more()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		words := strings.Fields(r.line)
		if r.form == Fastlin {
			err = r.fastlin(words)
		} else {
			err = r.fptlin(words)
		}
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(r.ends, func(a, b textEnd) int {
		rank := func(e textEnd) int {
			if e.complete {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.time, b.time), rank(a)-rank(b))
	})
	return nil
}

func (r *textReader) fastlin(words []string) error {
	if len(words) != 4 {
		return r.fail("expected METHOD VALUE START END, found %s", clip([]byte(r.line)))
	}
	return r.timed(len(r.ops), words[0], words[1:2], words[2], words[3])
}

func (r *textReader) fptlin(words []string) error {
	if len(words) != 5 && len(words) != 6 {
		return r.fail("expected PROCESS START END METHOD VALUE, found %s", clip([]byte(r.line)))
	}
	process, err := strconv.Atoi(words[0])
	if err != nil || process < 0 {
		return r.fail("expected a process such as 0, found %s", clip([]byte(words[0])))
	}
	return r.timed(process, words[3], words[4:], words[1], words[2])
}

// timed adds an operation that is given by its times.
func (r *textReader) timed(process int, method string, values []string, start, stop string) error {
	from, err := strconv.ParseInt(start, 10, 64)
	if err != nil {
		return r.fail("expected a time as an integer, found %s", clip([]byte(start)))
	}
	to, err := strconv.ParseInt(stop, 10, 64)
	if err != nil || to <= from {
		return r.fail("expected a time after %d, found %s", from, clip([]byte(stop)))
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil {
		return r.fail("expected an integer for the value, found %s", clip([]byte(values[0])))
	}
	if !r.isName([]byte(method)) {
		return r.fail("expected a method such as enq, found %s", clip([]byte(method)))
	}
	o := textOp{process: process, f: function(method), at: place{r.n, r.col}}
	o.call = strconv.FormatInt(n, 10)
	o.value = o.call
	switch {
	case len(values) == 2:
		answer, known := map[string]bool{"0": false, "1": true}[values[1]]
		if !known {
			return r.fail("expected 0 or 1 for the answer, found %s", clip([]byte(values[1])))
		}
		o.value = fmt.Sprintf("[%d %t]", n, answer)
	case !adds(o.f):
		o.call = "nil"
		if n == empty {
			o.value = "nil"
		}
	}
	row := int32(len(r.ops))
	r.ops = append(r.ops, o)
	r.ends = append(r.ends, textEnd{from, row, false}, textEnd{to, row, true})
	return nil
}

// empty is what a removal from an empty container returns in fastlin and fptlin.
const empty = -1

// limo reads an event of LiMo.
func (r *textReader) limo() ([]byte, place, error) {
	at := place{r.n, r.col}
	number, rest, _ := strings.Cut(strings.TrimPrefix(r.line, "["), "]")
	process, err := strconv.Atoi(number)
	if err != nil || r.line[0] != '[' || process < 0 {
		return nil, at, r.fail("expected [THREAD] call METHOD(VALUE) or [THREAD] return VALUE, found %s", clip([]byte(r.line)))
	}
	rest, _, _ = strings.Cut(rest, "#")
	verb, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	rest = strings.TrimSpace(rest)
	call, isOpen := r.open[process]
	switch {
	case verb == "call" && isOpen:
		return nil, at, r.fail("thread %d calls while its call on line %d has not returned", process, call.at.line)
	case verb == "call":
		cut := strings.IndexAny(rest+" ", "( ")
		method, value := rest[:cut], strings.TrimSpace(strings.TrimSuffix(strings.TrimLeft(rest[cut:], "( "), ")"))
		if !r.isName([]byte(method)) {
			return nil, at, r.fail("expected a method such as push(1) after call, found %s", clip([]byte(rest)))
		}
		call = textOp{process, function(method), r.limoValue(value), r.limoValue(value), at}
		if !adds(call.f) {
			call.call = "nil"
		}
		r.open[process] = call
		return r.event(&call, false)
	case verb == "return" && isOpen:
		delete(r.open, process)
		call.at = at
		if rest != "" {
			call.value = r.limoValue(rest)
		}
		return r.event(&call, true)
	case verb == "return":
		return nil, at, r.fail("thread %d returns, but has not called", process)
	}
	return nil, at, r.fail("expected call or return, found %s", clip([]byte(verb)))
}

// limoValue is a value as EDN: an integer, nil, or else a string.
func (r *textReader) limoValue(s string) string {
	if s == "" || s == "empty" {
		return "nil"
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	v := r.values()
	return v.Text(v.InternString(s))
}
