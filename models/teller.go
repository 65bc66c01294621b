package models

import (
	"fmt"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
)

// Teller names operations, given by their rows, as people speak of them. It supplies the
// words of sentences about violations.
type Teller struct{ ops *Operations }

// Teller returns a Teller of these operations.
func (o *Operations) Teller() Teller { return Teller{o} }

// Op returns the operation of a row as its model reads it.
func (t Teller) Op(row Row) Op { return t.ops.Op(row) }

// Init returns the model's initial state.
func (t Teller) Init() State { return t.ops.Model.Init() }

// Name returns an operation with its process: "process 13's :read 471 (index 983)".
func (t Teller) Name(row Row) string { return t.ops.History.Name(t.ops.Of[row]) }

// OneProcess reports whether one process called two operations.
func (t Teller) OneProcess(a, b Row) bool {
	h, of := t.ops.History, t.ops.Of
	return h.Process[h.Invocation[of[a]]] == h.Process[h.Invocation[of[b]]]
}

// Who returns the process of an operation: "process 13 (index 983)".
func (t Teller) Who(row Row) string { return t.ops.History.Who(t.ops.Of[row]) }

// F returns the :f of an operation, with "failed " before it if it failed.
func (t Teller) F(row Row) string {
	if h := t.ops.History; h.Status[t.ops.Of[row]] == jepsen.Failed {
		return "failed " + t.verb(row)
	}
	return t.verb(row)
}

// verb returns the :f of an operation.
func (t Teller) verb(row Row) string {
	h := t.ops.History
	return h.Values.Text(h.F[h.Invocation[t.ops.Of[row]]])
}

// Value returns the text of the value that an operation's A stands for, with its place: "471", "1 of key :x".
func (t Teller) Value(row Row) string {
	class := t.ops.A[row]
	if place := t.ops.Model.Traits().Place; place != nil {
		return t.Text(class) + text.Shorten(place(class), maxText)
	}
	return t.Text(class)
}

// Text returns a value class as EDN, or as the model tells it, in at most maxText
// characters.
func (t Teller) Text(class int32) string {
	if of := t.ops.Model.Traits().Text; of != nil {
		return text.Shorten(of(class), maxText)
	}
	return text.Shorten(t.ops.History.Values.Text(edn.ID(class)), maxText)
}

// List returns value classes in words, in the order in which a set of them prints: "1, 2 and 7 more". Without any it is
// "an element".
func (t Teller) List(classes []int32) string {
	ids := make([]edn.ID, len(classes))
	for i, class := range classes {
		ids[i] = edn.ID(class)
	}
	var list []string
	for i, k := range t.ops.History.Values.Sorted(ids) {
		if i == maxList {
			list = append(list, fmt.Sprintf("%d more", len(ids)-i))
			break
		}
		list = append(list, t.Text(classes[k]))
	}
	if list == nil {
		return "an element"
	}
	return text.AllOf(list)
}

// maxList bounds the values that a sentence lists.
const maxList = 3

// maxText bounds a value in a sentence; most, such as UUIDs, are shorter.
const maxText = 120

// Positions returns how the operations of the model stand in the order of updates, if they do.
func (t Teller) Positions() *Positions { return t.ops.Model.Traits().Positions }

// Because says why an operation cannot happen in a state.
func (t Teller) Because(s State, row Row) string { return Because(t.ops.Model, s, t.Op(row)) }

// Did returns an operation in the past tense: "value 471 was read by process 13 (index
// 983)".
func (t Teller) Did(row Row) string { return t.tell(row, "was") }

// Had returns an operation in the past perfect.
func (t Teller) Had(row Row) string { return t.tell(row, "had been") }

// Adds says whether an operation is on a container, whose values are added and taken rather
// than written and read.
func (t Teller) Adds(row Row) bool {
	_, ok := t.ops.verbs[t.verb(row)]
	return ok
}

func (t Teller) tell(row Row, be string) string {
	op, who, a := t.ops.Op(row), t.Who(row), t.Value(row)
	verb, ok := t.ops.verbs[t.verb(row)]
	switch {
	case ok && a == "" && be == "was":
		return who + " " + verb
	case ok && a == "":
		return who + " had " + verb
	case ok:
		return fmt.Sprintf("value %s %s %s by %s", a, be, verb, who)
	}
	switch op.Kind {
	case Write:
		return fmt.Sprintf("value %s %s written by %s", a, be, who)
	case CAS:
		return fmt.Sprintf("value %s %s changed to %s by %s", a, be, t.Text(op.B), who)
	}
	return fmt.Sprintf("value %s %s read by %s", a, be, who)
}
