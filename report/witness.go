package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/opmap"
	"clew/internal/option"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// WriteWitness writes the linearization of a valid result, in order, one
// op map per line. It shows an operation by its completion if it has one. A result
// that has no witness is an error.
func (r *Result) WriteWitness(w io.Writer) error {
	if r.Witness == nil {
		return fmt.Errorf("expected a result with a witness, found one that says %s", r.Verdict)
	}
	h := r.History
	ops := h.OpPrinter()
	return writeLines(w, r.Witness, func(line []byte, op jepsen.Operation) []byte {
		if h.Status[op] == jepsen.Crashed {
			return ops.AppendOperation(line, op)
		}
		return ops.AppendEvent(line, h.Completion[op])
	})
}

func writeLines[T any](w io.Writer, all []T, appendTo func(line []byte, x T) []byte) error {
	out := bufio.NewWriter(w)
	var line []byte
	for _, x := range all {
		line = append(appendTo(line[:0], x), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// maxTook bounds how many crashed operations a sentence names.
const maxTook = 5

// Took says which crashed operations took effect in a witness, or returns
// "". Those after the last operation that returned did not have to.
func Took(h *jepsen.History, witness []jepsen.Operation) string {
	var crashed []jepsen.Operation
	count := 0
	for _, op := range witness {
		if h.Status[op] == jepsen.Crashed {
			crashed = append(crashed, op)
		} else {
			count = len(crashed)
		}
	}
	var names []string
	for _, op := range crashed[:min(count, maxTook)] {
		names = append(names, h.Name(op))
	}
	switch {
	case count == 0:
		return ""
	case count == 1:
		return "clew's order has this crashed operation take effect: " + names[0]
	case count > maxTook:
		names = append(names, fmt.Sprintf("and %d more (%s lists them)", count-maxTook, option.Witness))
	}
	return fmt.Sprintf("clew's order has these %d crashed operations take effect: %s", count, strings.Join(names, ", "))
}

// WriteCore writes what is saved of the core of an invalid result as a separate history, which fails in the same way: the events of
// its operations, one op map per line. If keys are independent, it writes the core of the one that fails first, with the key in every
// value. The output is then also a history of independent keys. Its first line is the initial value if the core does not fail
// from any. If operations of one process are open at the same time, which EDN cannot express, it writes interval records. A
// result that has no core is an error.
func (r *Result) WriteCore(w io.Writer) error {
	failing, key := r, (*edn.Value)(nil)
	if k := r.FailingKey(); k != nil {
		failing, key = k.Result(), &k.Key
	}
	h, core := failing.History, failing.Saved
	if core == nil {
		core = failing.Core
	}
	var events []jepsen.Event
	for _, op := range core {
		events = append(events, h.Invocation[op])
		if c := h.Completion[op]; c != jepsen.None {
			events = append(events, c)
		}
	}
	slices.Sort(events)
	if len(events) == 0 {
		return fmt.Errorf("expected a result with a core, found one that says %s", r.Verdict)
	}
	if overlap(h, events) {
		whole := make([]jepsen.Operation, len(core))
		for i, op := range core {
			whole[i] = h.WholeOperation(op)
		}
		return forms.WriteRecords(w, r.History, whole)
	}
	if r.CoreInit != "" {
		if _, err := fmt.Fprintf(w, "%s%s\n", forms.Initially, r.CoreInit); err != nil {
			return err
		}
	}
	ops := h.OpPrinter()
	return writeLines(w, events, func(line []byte, e jepsen.Event) []byte {
		if key != nil {
			return append(line, h.KeyedEventMap(e, *key).String()...)
		}
		return ops.AppendEvent(line, e)
	})
}

// overlap says whether a process begins an operation while another of its operations is open.
func overlap(h *jepsen.History, events []jepsen.Event) bool {
	open := map[int32]bool{}
	for _, e := range events {
		begins := h.Invocation[h.OpOf[e]] == e
		if begins && open[h.Process[e]] {
			return true
		}
		open[h.Process[e]] = begins
	}
	return false
}

// ReadWitness reads a witness of a history: op maps, each with the :index, :process and :type
// of one of its operation's events. If several events share these, :f and :value distinguish
// them, and the first comes first. Errors say where the mistake is, and what was expected.
func ReadWitness(in io.Reader, name string, h *jepsen.History) ([]jepsen.Operation, error) {
	if in == nil || h == nil {
		return nil, fmt.Errorf("%s: expected a witness and its history, found nil", name)
	}
	byIndex := newIndexed(h)
	v := h.Values
	reader := opmap.NewReader(in, name, v)
	named := make([]bool, h.Operations())
	var witness []jepsen.Operation
	var e opmap.Event
	for {
		if err := reader.Next(&e); err == io.EOF {
			return witness, nil
		} else if err != nil {
			return nil, err
		}
		index, at := e.Index, edn.Pos{File: name, Line: e.Line, Col: e.Col}
		if e.Has&opmap.HasIndex == 0 {
			return nil, at.Errorf("the op has no :index; expected that of an event of the history")
		}
		event := byIndex.event(h, &e, named)
		if event == jepsen.None {
			return nil, at.Errorf("the history has no %s event of process %s with :index %d",
				v.Text(e.Type), v.Text(e.Process), index)
		}
		if err := mismatch(h, event, &e); err != "" {
			return nil, at.Errorf("%s", err)
		}
		named[h.OpOf[event]] = true
		witness = append(witness, h.OpOf[event])
	}
}

// mismatch says where an op map of a witness differs from its operation in
// the history, or returns "". It compares the :f and the :key if the map
// has them, and a :value with those of the invocation and the completion.
func mismatch(h *jepsen.History, event jepsen.Event, e *opmap.Event) string {
	op := h.OpOf[event]
	inv, res, values := h.Invocation[op], h.Completion[op], []edn.ID{h.Value[event]}
	for _, x := range []jepsen.Event{inv, res} {
		if x != jepsen.None && !slices.Contains(values, h.Value[x]) {
			values = append(values, h.Value[x])
		}
	}
	for _, x := range []struct {
		key   string
		has   opmap.Fields
		value edn.ID
		own   []edn.ID
	}{
		{":f", opmap.HasF, e.F, []edn.ID{h.F[inv]}},
		{":key", opmap.HasKey, e.Key, []edn.ID{h.Key(inv)}},
		{":value", opmap.HasValue, e.Value, values},
	} {
		v := h.Values
		same := func(own edn.ID) bool { return v.Same(own) == v.Same(x.value) || v.Text(own) == v.Text(x.value) }
		if e.Has&x.has != 0 && !slices.ContainsFunc(x.own, same) {
			texts := make([]string, len(x.own))
			for i, own := range x.own {
				texts[i] = text.Shorten(v.Text(own), maxValue)
			}
			slices.Reverse(texts)
			return fmt.Sprintf("the op has %s %s, but %s of the history has %[1]s %[4]s",
				x.key, text.Shorten(v.Text(x.value), maxValue), h.Name(op), strings.Join(texts, " and "))
		}
	}
	return ""
}

// maxValue bounds a value in a sentence.
const maxValue = 80

// indexed holds the events of a history in order of their
// :index, and those with the same index in order of time.
type indexed []indexedEvent

type indexedEvent struct {
	index int64
	event jepsen.Event
}

func newIndexed(h *jepsen.History) indexed {
	x := make(indexed, len(h.Type))
	for e := range x {
		x[e] = indexedEvent{h.Index(jepsen.Event(e)), jepsen.Event(e)}
	}
	byIndex := func(a, b indexedEvent) int { return cmp.Compare(a.index, b.index) }
	if !slices.IsSortedFunc(x, byIndex) {
		slices.SortStableFunc(x, byIndex)
	}
	return x
}

// of returns the events with an :index. Logarithmic time.
func (x indexed) of(index int64) []indexedEvent {
	find := func(e indexedEvent, index int64) int { return cmp.Compare(e.index, index) }
	from, _ := slices.BinarySearchFunc(x, index, find)
	to := from
	for to < len(x) && x[to].index == index {
		to++
	}
	return x[from:to]
}

// event returns the event of the history with the :index, :process and :type of
// an op, or None if there is none. Among several it prefers one with the op's :f,
// then with its :value, then one of an operation that has not been named yet.
func (x indexed) event(h *jepsen.History, op *opmap.Event, named []bool) jepsen.Event {
	v, found, best := h.Values, jepsen.Event(jepsen.None), -1
	for _, e := range x.of(op.Index) {
		if op.Type != v.InternKeyword(h.Type[e.event].Name()) || v.Same(op.Process) != v.Same(h.Processes[h.Process[e.event]]) {
			continue
		}
		fits := 0
		if v.Same(op.F) == h.F[e.event] {
			fits += 4
		}
		if v.Same(op.Value) == v.Same(h.Value[e.event]) {
			fits += 2
		}
		if named != nil && !named[h.OpOf[e.event]] {
			fits++
		}
		if fits > best {
			found, best = e.event, fits
		}
	}
	return found
}
