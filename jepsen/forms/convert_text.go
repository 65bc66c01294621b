package forms

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"clew/edn"
	"clew/internal/opmap"
	"clew/jepsen"
	"clew/jepsen/forms/internal/jsonops"
)

// text takes an event for a form that holds only operations.
func (c *converter) text(e *opmap.Event) error {
	if err := jepsen.CheckOp(c.file, e); err != nil {
		return err
	}
	if c.table.Kind(e.Process) != edn.KindInt {
		return c.refuse(e, "it has no place for processes that are not clients")
	}
	if err := c.drop(e, ":process", ":type", ":f", ":value"); err != nil {
		return err
	}
	return c.b.Add(e)
}

// refuseOp returns an error that names an event of the history.
func (c *converter) refuseOp(h *jepsen.History, event jepsen.Event, format string, args ...any) error {
	return c.refuse(&opmap.Event{Process: h.Processes[h.Process[event]], Type: h.Values.InternKeyword(h.Type[event].Name()),
		F: h.F[event], Line: h.Line(event), Col: h.Col(event)}, format, args...)
}

// operations writes a history in the text form of another monitor. The times of
// events are their positions.
func (c *converter) operations(h *jepsen.History) error {
	o := objectOf(h)
	c.object = o
	switch {
	case o.word == "":
	case c.to == LiMo && o.limo == "", c.to == Fastlin && (o.word == "rmw" || o.word == countingSemaphore):
		if len(h.Invocation) == 0 {
			return edn.Pos{File: c.file}.Errorf("%s has no %s", c.to, o.word)
		}
		return c.refuseOp(h, h.Invocation[0], "it has no %s", o.word)
	case c.to == LiMo:
		c.put([]byte("# @object " + o.limo))
	default:
		c.put([]byte("# " + o.heads()))
	}
	if c.to == LiMo {
		return c.calls(h)
	}
	for op, inv := range h.Invocation {
		line, err := c.timed(h, jepsen.Operation(op), inv)
		if err != nil {
			return err
		}
		c.put(line)
	}
	return nil
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
				if f != ":peek" && seen[f] && (f == function(method) || isSet) {
					return o
				}
			}
		}
	}
	return object{method: map[string]string{":peek": "peek"}}
}

// timed returns the line of an operation in fastlin or fptlin.
func (c *converter) timed(h *jepsen.History, op jepsen.Operation, inv jepsen.Event) ([]byte, error) {
	method, err := c.method(h, inv)
	if err != nil {
		return nil, err
	}
	ev := h.Completion[op]
	switch {
	case h.Status[op] == jepsen.Failed:
		return nil, c.refuseOp(h, ev, "it has no operations that failed")
	case h.Status[op] == jepsen.Crashed && ev == jepsen.None:
		return nil, c.refuseOp(h, inv, "it has no crashed operations, and this one never ends")
	case h.Status[op] == jepsen.Crashed:
		return nil, c.refuseOp(h, ev, "it has no crashed operations")
	}
	value, answer, err := c.value(h, op, method)
	if err != nil {
		return nil, err
	}
	if c.to == Fastlin && c.object.word == "set" {
		switch changed := answer == " 1"; {
		case method == "contains":
			method += fmt.Sprintf("_%t", changed)
		case !changed:
			return nil, c.refuseOp(h, ev, "it has no %s that did nothing", method)
		}
	}
	if c.to == Fastlin {
		return fmt.Appendf(nil, "%s %s %d %d", method, value, inv, ev), nil
	}
	process, err := c.process(h, inv)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%d %d %d %s %s%s", process, inv, ev, strings.ToUpper(method), value, answer), nil
}

func (c *converter) method(h *jepsen.History, inv jepsen.Event) (string, error) {
	method, known := c.object.method[h.Values.Text(h.F[inv])]
	if !known || c.to == LiMo && method == "peek" {
		var fs []string
		for f, m := range c.object.method {
			if c.to != LiMo || m != "peek" {
				fs = append(fs, f)
			}
		}
		slices.Sort(fs)
		switch {
		case len(fs) < 2 && c.to == LiMo:
			return "", c.refuseOp(h, inv, "it has queues and stacks")
		case len(fs) < 2:
			return "", c.refuseOp(h, inv, "it has queues, stacks, priority queues and sets")
		}
		return "", c.refuseOp(h, inv, "a %s has %s there", c.object.word, strings.Join(fs, ", "))
	}
	return method, nil
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
	} else if !adds(function(method)) && (id == edn.Nil || jsonops.IsKeyword(v, id, "empty")) {
		if c.to == LiMo {
			return "empty", "", nil
		}
		return strconv.Itoa(empty), "", nil
	}
	n, isInt := v.Int(id)
	switch {
	case c.to == LiMo && v.Kind(id) == edn.KindString && isWord(v.Str(id)):
		return v.Str(id), "", nil
	case !isInt:
		return "", "", c.refuseOp(h, at, "its value %s is not an integer", v.Text(id))
	case n == empty && c.to != LiMo && c.object.word != "set":
		return "", "", c.refuseOp(h, at, "%d stands for an empty container there", empty)
	}
	return strconv.FormatInt(n, 10), answer, nil
}

// pair returns the text of two integers.
func pair(v *edn.Values, id edn.ID) (text string, ok bool) {
	items := v.Items(id)
	if len(items) != 2 || v.Kind(id) != edn.KindVector && v.Kind(id) != edn.KindList {
		return "", false
	}
	a, isInt := v.Int(items[0])
	b, areInts := v.Int(items[1])
	return fmt.Sprint(a, " ", b), isInt && areInts
}

// isWord says whether LiMo's form has a text for a value that is not an integer.
func isWord(s string) bool {
	if _, err := strconv.ParseInt(s, 10, 64); err == nil || s == "" || s == "empty" || s == "Empty" {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("()#\ufeff", c) })
}

// calls writes the events of a history as LiMo's calls and returns.
func (c *converter) calls(h *jepsen.History) error {
	ended := map[int32]jepsen.Event{} // the crashed operations, by process
	for e, op := range h.OpOf {
		ev := jepsen.Event(e)
		process, err := c.process(h, ev)
		if err != nil {
			return err
		}
		method, err := c.method(h, h.Invocation[op])
		if err != nil {
			return err
		}
		if h.Status[op] == jepsen.Failed {
			return c.refuseOp(h, h.Completion[op], "it has no operations that failed")
		}
		value, _, err := c.value(h, op, method)
		isCall := ev == h.Invocation[op]
		crashed := h.Status[op] == jepsen.Crashed
		if before, dead := ended[h.Process[ev]]; isCall && dead {
			return c.refuseOp(h, ev, "a process whose operation has crashed (%s) cannot begin another there", h.Where(before))
		}
		switch {
		case crashed && !isCall:
			continue
		case err != nil:
			return err
		case crashed && !adds(function(method)) && value != "empty":
			return c.refuseOp(h, ev, "a crashed call has no value there, and this one has %s", value)
		case crashed:
			ended[h.Process[ev]] = ev
		}
		switch {
		case isCall && adds(function(method)):
			c.put(fmt.Appendf(nil, "[%d] call %s(%s)", process, method, value))
		case isCall:
			c.put(fmt.Appendf(nil, "[%d] call %s()", process, method))
		case adds(function(method)):
			c.put(fmt.Appendf(nil, "[%d] return", process))
		default:
			c.put(fmt.Appendf(nil, "[%d] return %s", process, value))
		}
	}
	return nil
}
