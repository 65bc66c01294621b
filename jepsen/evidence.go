package jepsen

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"clew/edn/opmap"
)

// WriteWitness writes the linearization of a valid result: an op map a line, in
// order. An operation is shown by its completion where it has one.
func (r *Result) WriteWitness(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, op := range r.Witness {
		h := r.History
		id := h.echoInvocation(op)
		if h.Status[op] != Crashed {
			id = h.echo(h.Completion[op])
		}
		fmt.Fprintln(out, h.Values.Text(id))
	}
	return out.Flush()
}

// WriteCore writes the core of an invalid result as a history of its own, which
// is not linearizable either: the events of its operations, an op map a line.
func (r *Result) WriteCore(w io.Writer) error {
	h := r.History
	var events []int32
	for _, op := range r.Core {
		events = append(events, h.Invocation[op])
		if c := h.Completion[op]; c != None {
			events = append(events, c)
		}
	}
	slices.Sort(events)
	out := bufio.NewWriter(w)
	for _, e := range events {
		fmt.Fprintln(out, h.Values.Text(h.echo(e)))
	}
	return out.Flush()
}

// ReadWitness reads a witness of a history: op maps, each with the :index of
// one of its operation's events, and its :process and :type where several
// events share an index. Errors say where, and what was expected.
func ReadWitness(in io.Reader, name string, h *History) ([]int32, error) {
	byIndex := make(map[int64][]int32, h.places.n)
	for e := range h.places.n {
		index := h.Index(e)
		byIndex[index] = append(byIndex[index], e)
	}
	v := h.Values
	reader := opmap.NewReader(in, name, v)
	var witness []int32
	var e opmap.Event
	for {
		if err := reader.Next(&e); err == io.EOF {
			return witness, nil
		} else if err != nil {
			return nil, err
		}
		index := e.Index
		if e.Has&opmap.HasIndex == 0 {
			return nil, &Error{name, e.Line, e.Col, "the op has no :index; expected that of an event of the history"}
		}
		event := slices.IndexFunc(byIndex[index], func(event int32) bool {
			return h.Processes[h.Process[event]] == v.Same(e.Process) && v.InternKeyword(h.Type[event].String()[1:]) == e.Type
		})
		if event < 0 {
			return nil, &Error{name, e.Line, e.Col, fmt.Sprintf("the history has no %s event of process %s with :index %d",
				v.Text(e.Type), v.Text(e.Process), index)}
		}
		witness = append(witness, h.OpOf[byIndex[index][event]])
	}
}
