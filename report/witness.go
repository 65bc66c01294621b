package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"clew/edn/opmap"

	"clew/edn"
	"clew/jepsen"
)

// WriteWitness writes the linearization of a valid result: one op map to a
// line, in order. An operation is shown by its completion if it has one.
func (r *Result) WriteWitness(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, op := range r.Witness {
		h := r.History
		shown := h.OperationMap(op)
		if h.Status[op] != jepsen.Crashed {
			shown = h.EventMap(h.Completion[op])
		}
		fmt.Fprintln(out, shown)
	}
	return out.Flush()
}

// WriteCore writes the core of an invalid result as a history of its own, which
// is not linearizable either: the events of its operations, an op map a line. Of
// independent keys it is the core of the one that fails first, with the key in
// every value, so it is a history of independent keys again.
func (r *Result) WriteCore(w io.Writer) error {
	h, core, shown := r.History, r.Core, (*jepsen.History).EventMap
	if k := r.FailingKey(); k != nil {
		h, core = k.History, k.Core
		shown = func(h *jepsen.History, e jepsen.Event) edn.Value { return h.KeyedEventMap(e, k.Key) }
	}
	var events []jepsen.Event
	for _, op := range core {
		events = append(events, h.Invocation[op])
		if c := h.Completion[op]; c != jepsen.None {
			events = append(events, c)
		}
	}
	slices.Sort(events)
	out := bufio.NewWriter(w)
	for _, e := range events {
		fmt.Fprintln(out, shown(h, e))
	}
	return out.Flush()
}

// ReadWitness reads a witness of a history: op maps, each with the :index of
// one of its operation's events, and its :process and :type if several events
// share an index. Errors say where the mistake is, and what was expected.
func ReadWitness(in io.Reader, name string, h *jepsen.History) ([]jepsen.Operation, error) {
	if in == nil || h == nil {
		return nil, fmt.Errorf("%s: expected a witness and its history, found nil", name)
	}
	byIndex := make(map[int64][]jepsen.Event, len(h.Type))
	for e := range jepsen.Event(len(h.Type)) {
		index := h.Index(e)
		byIndex[index] = append(byIndex[index], e)
	}
	v := h.Values
	reader := opmap.NewReader(in, name, v)
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
		event := slices.IndexFunc(byIndex[index], func(event jepsen.Event) bool {
			return h.Processes[h.Process[event]] == v.Same(e.Process) && v.InternKeyword(h.Type[event].Name()) == e.Type
		})
		if event < 0 {
			return nil, at.Errorf("the history has no %s event of process %s with :index %d",
				v.Text(e.Type), v.Text(e.Process), index)
		}
		witness = append(witness, h.OpOf[byIndex[index][event]])
	}
}
