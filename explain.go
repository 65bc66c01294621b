package clew

import (
	"context"
	"fmt"
	"slices"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// explain says in one sentence what cannot happen, and after what. It adds that the other operations open at that
// time, others in number, do not help.
func explain(r *report.Result, others int) string {
	h := r.History
	s := h.Name(h.OpOf[r.FailEvent]) + " cannot happen"
	if len(r.Paths) == 0 {
		return s // what led to it was not found in time
	}
	path := r.Paths[0]
	if r.LastOperation == jepsen.None {
		s += " in the initial state"
	} else {
		s += " after " + h.Name(r.LastOperation)
	}
	s += ": " + path[len(path)-1].Why
	switch {
	case others == 1:
		s += "; the other open operation does not make it possible"
	case others > 1:
		s += fmt.Sprintf("; no order of the %d other open operations makes it possible", others)
	}
	return s
}

// othersOpen returns how many operations that touch the same part of the state are open at a failure, not counting
// the failing one. It depends on the history alone: an engine's order may hold any of them, and an engine may decide
// a part or the whole.
func (c *checking) othersOpen(fail jepsen.Event) int {
	partOf := func(models.Op) int32 { return 0 }
	if p := c.ops.Model.Traits().Partition; p != nil {
		partOf = p.Of
	}
	count := map[int32]int{}
	failing := int32(0)
	for i, res := range c.ops.Res {
		if c.ops.Inv[i] >= int32(fail) || res < int32(fail) {
			continue
		}
		part := partOf(c.ops.Op(models.Row(i)))
		count[part]++
		if res == int32(fail) {
			failing = part
		}
	}
	return count[failing] - 1
}

// prior returns a linearization of the whole history up to just before a failure, or nil if a part is undecided. It
// takes the order of the failing part. From every other part it takes the operations that had returned by then, and
// those that come before them in its order. Linear time.
func (c *checking) prior(fail jepsen.Event, before []jepsen.Operation) []jepsen.Operation {
	free := slices.DeleteFunc(free(c.ops), func(p point) bool { return c.h.Completion[p.op] >= fail })
	if len(c.parts) == 1 && len(free) == 0 {
		return before
	}
	points := []point{}
	for i, part := range c.parts {
		if c.decisions[i].Verdict == jepsen.Unknown {
			return nil
		}
		order := c.decisions[i].Order
		n := len(order)
		for n > 0 && part.Res[order[n-1]] >= int32(fail) {
			n--
		}
		points = addPoints(points, part, order[:n])
	}
	return inOrder(c.h, append(points, free...))
}

// relate fills in what pictures of a failure show: the operations that its sentence names, how they and those of the
// core are related, and what was linearized before.
func (c *checking) relate(ctx context.Context, r *report.Result) {
	part, d := c.parts[c.verdict.failing], c.decisions[c.verdict.failing]
	r.Before = make([]jepsen.Operation, len(d.Order))
	for i, row := range d.Order {
		r.Before[i] = part.Of[row]
	}
	var rows []models.Row
	var told []models.Relation
	if d.why != nil {
		for _, row := range d.why.Rows() {
			if *row >= 0 && !slices.Contains(rows, *row) {
				rows = append(rows, *row)
			}
		}
		for _, row := range rows {
			r.Named = append(r.Named, part.Of[row])
		}
		if related, ok := d.why.(fastpath.Related); ok {
			told = related.Relations()
		}
	} else {
		r.Named = []jepsen.Operation{r.History.OpOf[r.FailEvent]}
		if r.LastOperation != jepsen.None {
			r.Named = append(r.Named, r.LastOperation)
		}
		rows = rowsAmong(part, append(r.Named, r.Core...))
	}
	if stopped(func() { r.Relations = report.Relate(ctx, part, r.FailEvent, rows, told, d.why == nil) }) {
		r.Relations = nil
	}
}
