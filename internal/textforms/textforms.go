// Package textforms reads histories in the text forms of other tools, and
// writes them as EDN. Three forms are known by their first words:
//
//	# queue            fastlin: method, value, start, end
//	enq 2 0 1
//
//	# queue            fptlin: process, start, end, METHOD, value
//	0 1 5 ENQ 10
//
//	# @object atomic-queue     limo: calls and returns in order
//	[1] call enq(7)
//	[1] return
//
// In fastlin and fptlin -1 is the answer of an empty container, times are
// integers, and of what happens at one time returns come first. A set's answer
// is one more column, 0 or 1. In limo a removal's value stands with its return
// or with its call; without one, or as "empty", it found nothing. Calls that
// never return have crashed.
package textforms

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// History is a history in the order of its events.
type History struct {
	Model  string // clew's name of it; "" if the text does not say
	Events []Event
}

// Event is one end of an operation. F and Value are EDN.
type Event struct {
	Process  int
	Complete bool
	F, Value string
}

// names is clew's names.
var names = map[string]string{
	"queue": "fifo-queue", "stack": "stack", "priorityqueue": "priority-queue", "set": "lookup-set",
	"atomic-queue": "fifo-queue", "atomic-stack": "stack",
}

// functions is clew's names where they differ.
var functions = map[string]string{"enq": "enqueue", "deq": "dequeue"}

// Read reads a history. Errors name file and line.
func Read(in io.Reader, file string) (*History, error) {
	r := reader{h: &History{}, open: map[int]Event{}}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if err := r.line(strings.TrimSpace(lines.Text())); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	r.inOrder()
	return r.h, nil
}

// WriteEDN writes the events one a line, with their indices.
func (h *History) WriteEDN(w io.Writer) error {
	out := bufio.NewWriter(w)
	for i, e := range h.Events {
		kind := ":invoke"
		if e.Complete {
			kind = ":ok"
		}
		fmt.Fprintf(out, "{:index %d, :process %d, :type %s, :f %s, :value %s}\n", i, e.Process, kind, e.F, e.Value)
	}
	return out.Flush()
}

type reader struct {
	h    *History
	open map[int]Event // limo: calls without a return
	ends []end         // fastlin, fptlin
	next int           // the next process of fastlin
}

// end is an event with its time.
type end struct {
	time int64
	Event
}

func (r *reader) line(s string) error {
	switch {
	case s == "":
		return nil
	case s[0] == '#':
		if words := strings.Fields(s[1:]); len(words) > 0 && names[words[len(words)-1]] != "" {
			r.h.Model = names[words[len(words)-1]]
		}
		return nil
	case s[0] == '[':
		return r.limo(s)
	case s[0] >= '0' && s[0] <= '9':
		return r.fptlin(strings.Fields(s))
	}
	return r.fastlin(strings.Fields(s))
}

func (r *reader) fastlin(words []string) error {
	if len(words) != 4 {
		return fmt.Errorf("expected method, value, start and end, found %d words", len(words))
	}
	r.next++
	return r.timed(r.next-1, words[0], words[1:2], words[2], words[3])
}

func (r *reader) fptlin(words []string) error {
	if len(words) != 5 && len(words) != 6 {
		return fmt.Errorf("expected process, start, end, method and value, found %d words", len(words))
	}
	process, err := strconv.Atoi(words[0])
	if err != nil {
		return fmt.Errorf("expected a process, found %q", words[0])
	}
	return r.timed(process, words[3], words[4:], words[1], words[2])
}

// timed adds an operation that is given by its times.
func (r *reader) timed(process int, method string, values []string, start, stop string) error {
	from, err := strconv.ParseInt(start, 10, 64)
	if err != nil {
		return fmt.Errorf("expected a time, found %q", start)
	}
	to, err := strconv.ParseInt(stop, 10, 64)
	if err != nil || to <= from {
		return fmt.Errorf("expected a time after %s, found %q", start, stop)
	}
	f, value := function(method), edn(values[0])
	call := value
	switch {
	case len(values) == 2:
		value = fmt.Sprintf("[%s %t]", value, values[1] == "1")
	case !adds(f):
		call = "nil"
		if value == "-1" {
			value = "nil"
		}
	}
	r.ends = append(r.ends, end{from, Event{process, false, f, call}}, end{to, Event{process, true, f, value}})
	return nil
}

// inOrder puts the events in the order of their times. Those of a process keep
// theirs.
func (r *reader) inOrder() {
	slices.SortStableFunc(r.ends, func(a, b end) int {
		rank := func(e end) int {
			if e.Complete {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.time, b.time), rank(a)-rank(b))
	})
	for _, e := range r.ends {
		r.h.Events = append(r.h.Events, e.Event)
	}
}

func (r *reader) limo(s string) error {
	number, rest, _ := strings.Cut(s[1:], "]")
	process, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("expected a process in brackets, found %q", s)
	}
	rest, _, _ = strings.Cut(rest, "#")
	verb, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	rest = strings.TrimSpace(rest)
	call, isOpen := r.open[process]
	switch {
	case verb == "call" && !isOpen:
		cut := strings.IndexAny(rest+" ", "( ")
		value := strings.TrimSpace(strings.TrimSuffix(strings.TrimLeft(rest[cut:], "( "), ")"))
		call = Event{process, false, function(rest[:cut]), edn(value)}
		r.open[process] = call
		if !adds(call.F) {
			call.Value = "nil"
		}
		r.h.Events = append(r.h.Events, call)
	case verb == "return" && isOpen:
		delete(r.open, process)
		call.Complete = true
		if rest != "" {
			call.Value = edn(rest)
		}
		r.h.Events = append(r.h.Events, call)
	default:
		return fmt.Errorf("process %d cannot %s here", process, verb)
	}
	return nil
}

// adds says whether the value of a call is what is added.
func adds(f string) bool { return f == ":enqueue" || f == ":push" || f == ":insert" }

func function(method string) string {
	method = strings.ToLower(method)
	return ":" + cmp.Or(functions[method], method)
}

// edn is a value: an integer, nil, or else a string.
func edn(s string) string {
	if s == "" || s == "empty" {
		return "nil"
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	return strconv.Quote(s)
}
