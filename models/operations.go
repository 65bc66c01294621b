package models

import "clew/internal/hugepages"

import "clew/jepsen"

// Operations are the operations of a history as a model reads them.
type Operations struct {
	Columns
	Model   Model
	History *jepsen.History
	Of      []jepsen.Operation // by row: the operation of the history

	verbs   map[string]string // of the model's Definition
	repeats jepsen.Operation  // each operation before it was called with nil or with the value that it completed with
}

// Rows returns the row of each operation of the history, or -1 for one that has none.
func (o *Operations) Rows() []Row {
	rows := hugepages.Make[Row](o.History.Operations())
	for op := range rows {
		rows[op] = -1
	}
	for row, op := range o.Of {
		rows[op] = Row(row)
	}
	return rows
}

// Among returns the rows of some operations of the history.
func (o *Operations) Among(some []jepsen.Operation) []Row {
	in := make([]bool, o.History.Operations())
	for _, op := range some {
		in[op] = true
	}
	var rows []Row
	for row, op := range o.Of {
		if in[op] {
			rows = append(rows, Row(row))
		}
	}
	return rows
}

// Select returns the operations of the given rows, which ascend.
func (o *Operations) Select(rows []int32) *Operations {
	part := &Operations{Model: o.Model, History: o.History, verbs: o.verbs}
	part.Events = o.Events
	part.grow(len(rows))
	part.Of = make([]jepsen.Operation, 0, len(rows))
	for _, i := range rows {
		part.Append(o.Inv[i], o.Res[i], o.Op(i))
		part.Of = append(part.Of, o.Of[i])
	}
	return part
}

// tail returns Operations without any rows, with the room from row n on.
func (o *Operations) tail(n int) *Operations {
	tail := *o
	tail.Inv, tail.Res, tail.Kind = o.Inv[n:n:cap(o.Inv)], o.Res[n:n:cap(o.Res)], o.Kind[n:n:cap(o.Kind)]
	tail.A, tail.B, tail.Of = o.A[n:n:cap(o.A)], o.B[n:n:cap(o.B)], o.Of[n:n:cap(o.Of)]
	return &tail
}

// join appends the operations of tail(n), which has been filled since. If o has n rows,
// they are already in place.
func (o *Operations) join(n int, tail *Operations) {
	if o.repeats == jepsen.Operation(n) {
		o.repeats = tail.repeats
	}
	if all := n + tail.Len(); o.Len() == n {
		o.Inv, o.Res, o.Kind = o.Inv[:all], o.Res[:all], o.Kind[:all]
		o.A, o.B, o.Of = o.A[:all], o.B[:all], o.Of[:all]
		return
	}
	o.Inv, o.Res, o.Kind = append(o.Inv, tail.Inv...), append(o.Res, tail.Res...), append(o.Kind, tail.Kind...)
	o.A, o.B, o.Of = append(o.A, tail.A...), append(o.B, tail.B...), append(o.Of, tail.Of...)
}

// Under returns the same operations under another model with the same states.
func (o *Operations) Under(m Model) *Operations {
	other := *o
	other.Model = m
	return &other
}

// Prefix returns the operations invoked up to event t, as they stand there. Operations that
// have not completed by then are optional and keep the value that they will return (as in
// Knossos).
func (o *Operations) Prefix(t int32) Cut {
	cut := Cut{&Operations{Model: o.Model, History: o.History, verbs: o.verbs}, nil}
	cut.Events = t + 1
	for i := int32(0); i < int32(o.Len()) && o.Inv[i] <= t; i++ {
		op, res := o.Op(i), o.Res[i]
		if res > t {
			if !o.Model.Mutates(op) {
				continue
			}
			res = Open
		}
		cut.Append(o.Inv[i], res, op)
		if len(o.Of) > 0 { // operations that are built and not read have none
			cut.Of = append(cut.Of, o.Of[i])
		}
		cut.Rows = append(cut.Rows, i)
	}
	return cut
}

// Alone returns the operations of the given rows, which ascend, as a history of its own up to event t. If the model says so,
// what only other operations make does not count in it.
func (o *Operations) Alone(rows []Row, t int32) Cut {
	cut := o.Select(rows).Prefix(t)
	if alone := o.Model.Traits().Alone; alone != nil {
		cut.Model = alone(&o.Columns, &cut.Columns, t)
	}
	return cut
}

// Parts splits the rows by the model's partition, in order of the parts' first operations.
// If the model has no partition, there is one part. If it has a projection, each part has a
// model of its own, and may have kinds of its own.
func (o *Operations) Parts() []*Operations {
	p := o.Model.Traits().Partition
	if p == nil || o.Len() == 0 {
		return []*Operations{o}
	}
	all := make([]int32, o.Len())
	for i := range all {
		all[i] = int32(i)
	}
	var parts []*Operations
	for _, rows := range o.split(p, all) {
		part := o.Select(rows)
		if p.Project != nil {
			part.Model = p.Project(p.Of(o.Op(rows[0])), &part.Columns)
		}
		parts = append(parts, part)
	}
	return parts
}
