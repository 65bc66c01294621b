package etcd

import (
	"cmp"
	"fmt"
	"slices"

	"clew/jepsen"
	"clew/models"
)

// The guarantees of watches, as etcd names them. It has no names for what the headers of responses, the values before and
// the marks of creations promise, nor for a read of an old state.
const (
	filters      = "filter"
	ordered      = "ordered"
	unique       = "unique"
	atomic       = "atomic"
	headers      = "header"
	bookmarkable = "bookmarkable"
	resumable    = "resumable"
	reliable     = "reliable"
	previous     = "prev-kv"
	creation     = "is-create"
	oldState     = "old-state"
)

// later is an operation that is judged once the order is known.
type later struct {
	op   jepsen.Operation
	call int32
}

// judge is Beyond.Judge. It names each guarantee that a watch breaks once, by the first event that breaks it.
func (m *etcd) judge(ops *models.Operations, order []models.Row) (all []models.Broken) {
	if len(m.later) == 0 {
		return nil
	}
	compactions := m.compactions(ops)
	t := m.certain(ops)
	if order != nil {
		t = m.replay(ops, order)
	}
	for i, l := range m.later {
		c := &m.calls[l.call]
		if c.kind == watching {
			j := &judging{m: m, w: &m.watches[c.watch], t: t, of: l.op, h: ops.History}
			all = append(all, j.judge()...)
		} else if by, gone := m.compactedBefore(ops, compactions, l.op, c); gone {
			all = append(all, models.Broken{Operation: l.op, Guarantee: oldState, By: []jepsen.Operation{by},
				Why: fmt.Sprintf("%s reads revision %d, which %s had compacted before it began", called(ops.History, l.op), c.revision, called(ops.History, by))})
		} else if t.wrong[i].what != nothing {
			all = append(all, models.Broken{Operation: l.op, Guarantee: oldState,
				Why: fmt.Sprintf("%s shows another state than %s: %s", called(ops.History, l.op), m.readState(i), m.says(t.wrong[i]))})
		}
	}
	return all
}

// compactions returns the compactions that returned, in that order, without those of lower revisions than one before.
func (m *etcd) compactions(ops *models.Operations) (rows []models.Row) {
	for row := range models.Row(ops.Len()) {
		if c := &m.calls[ops.A[row]]; c.kind == compact && c.answer.refused == notRefused && ops.Res[row] != models.Open {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b models.Row) int { return cmp.Compare(ops.Res[a], ops.Res[b]) })
	highest := int32(-1)
	return slices.DeleteFunc(rows, func(row models.Row) bool {
		lower := m.calls[ops.A[row]].revision <= highest
		highest = max(highest, m.calls[ops.A[row]].revision)
		return lower
	})
}

// compactedBefore returns a compaction that had returned before a read of an old revision began, which it does not allow.
func (m *etcd) compactedBefore(ops *models.Operations, compactions []models.Row, read jepsen.Operation, c *call) (by jepsen.Operation, gone bool) {
	if !c.pinned || c.answer.refused != notRefused {
		return by, false
	}
	k, _ := slices.BinarySearchFunc(compactions, int32(ops.History.Invocation[read]), func(row models.Row, inv int32) int { return cmp.Compare(ops.Res[row], inv) })
	if k == 0 || m.calls[ops.A[compactions[k-1]]].revision <= c.revision {
		return by, false
	}
	return ops.Of[compactions[k-1]], true
}

// called names an operation.
func called(h *jepsen.History, op jepsen.Operation) string {
	end := h.Completion[op]
	return fmt.Sprintf("process %s's %s %s (index %d)", h.Values.Text(h.Processes[h.Process[end]]), h.Values.Text(h.F[end]), h.Values.Text(h.Value[h.Invocation[op]]), h.Index(end))
}

// judging is a watch that is being judged.
type judging struct {
	m      *etcd
	w      *watch
	t      *timeline
	of     jepsen.Operation
	h      *jepsen.History
	broken []models.Broken

	once []delivered // the events that it wants, each once
}

// breaks notes that a guarantee is broken, unless it is known already.
func (j *judging) breaks(guarantee string, by []jepsen.Operation, why string, args ...any) {
	if !slices.ContainsFunc(j.broken, func(b models.Broken) bool { return b.Guarantee == guarantee }) {
		j.broken = append(j.broken, models.Broken{Operation: j.of, Guarantee: guarantee, By: by,
			Why: called(j.h, j.of) + " breaks the guarantee " + guarantee + ": " + fmt.Sprintf(why, args...)})
	}
}

func (j *judging) judge() []models.Broken {
	j.delivery()
	j.whole()
	if !j.t.partial {
		for _, e := range j.once {
			j.details(e)
		}
	}
	return j.broken
}

// delivery judges what needs no order: header, filter, unique, ordered, atomic and bookmarkable.
func (j *judging) delivery() {
	seen := map[[2]int32]bool{}
	last, ended, noted := int32(0), int32(0), int32(0) // of the events, of the response before, of the notifications
	for _, r := range j.w.responses {
		if r.progress {
			switch {
			case r.revision < noted:
				j.breaks(bookmarkable, nil, "it notes revision %d after it has noted %d", r.revision, noted)
			case r.revision < last:
				j.breaks(bookmarkable, nil, "it notes revision %d after it has delivered %d", r.revision, last)
			}
			noted = max(noted, r.revision)
		}
		first := true
		for _, e := range r.events {
			if 0 < r.revision && r.revision < e.revision {
				j.breaks(headers, nil, "a response says that it was made at revision %d, and delivers %s", r.revision, j.text(e))
			}
			if !j.m.wants(j.w, e.Place) {
				j.breaks(filters, nil, "it delivers %s", j.text(e))
				continue
			}
			if seen[[2]int32{e.revision, e.Place}] {
				j.breaks(unique, nil, "it delivers %s twice", j.text(e))
				continue
			}
			seen[[2]int32{e.revision, e.Place}] = true
			j.once = append(j.once, e)
			switch {
			case e.revision <= noted:
				j.breaks(bookmarkable, nil, "it delivers %s after it has noted revision %d", j.text(e), noted)
			case e.revision < last:
				j.breaks(ordered, nil, "it delivers %s after revision %d", j.text(e), last)
			case first && e.revision == ended:
				j.breaks(atomic, nil, "it delivers %s, and others of revision %d in the response before", j.text(e), ended)
			}
			first, last = false, max(last, e.revision)
		}
		if len(r.events) > 0 {
			ended = last
		}
	}
}

// text returns an event in words.
func (j *judging) text(e delivered) string {
	key := j.m.V.Text(j.m.keys[e.Place])
	if e.Value == absent {
		return fmt.Sprintf("the delete of %s in revision %d", key, e.revision)
	}
	return fmt.Sprintf("the put of %s to %s in revision %d", j.m.Text(e.Value), key, e.revision)
}

// whole judges whether the watch delivers all that it should: resumable and reliable.
func (j *judging) whole() {
	first, last := int32(0), int32(0)
	for _, e := range j.once {
		if first == 0 || e.revision < first {
			first = e.revision
		}
		last = max(last, e.revision)
	}
	for _, r := range j.w.responses {
		if r.progress {
			last = max(last, r.revision)
		}
	}
	if j.w.from > 0 {
		j.resumed(first, last)
	}
	if first == 0 {
		return
	}
	got := map[[2]int32]bool{}
	for _, e := range j.once {
		got[[2]int32{e.revision, e.Place}] = true
		x, there := j.t.at(e.revision, e.Place)
		switch {
		case !there && j.t.partial && !j.t.whole[e.revision]:
		case !there:
			j.breaks(reliable, nil, "it delivers %s, and no operation can have done that", j.text(e))
		case x.is[value] != e.Value:
			j.breaks(reliable, []jepsen.Operation{x.by}, "it delivers %s, which was %s", j.text(e), j.done(x))
		}
	}
	for _, x := range j.t.between(first, last) {
		if j.m.wants(j.w, x.key) && !got[[2]int32{x.revision, x.key}] {
			j.breaks(reliable, []jepsen.Operation{x.by}, "it delivers up to revision %d, and leaves out %s", last, j.done(x))
		}
	}
}

// resumed judges the first event of a watch from a revision on, which has delivered or noted up to last.
func (j *judging) resumed(first, last int32) {
	if first > 0 && first < j.w.from {
		j.breaks(resumable, nil, "it begins at revision %d, and delivers %d", j.w.from, first)
	}
	for _, x := range j.t.between(j.w.from, last) {
		if j.m.wants(j.w, x.key) {
			if first == 0 || x.revision < first {
				j.breaks(resumable, []jepsen.Operation{x.by}, "it begins at revision %d, and leaves out %s", j.w.from, j.done(x))
			}
			return
		}
	}
}

// done returns in words what an operation has done, with the operation.
func (j *judging) done(x happened) string {
	inv := j.h.Invocation[x.by]
	return fmt.Sprintf("%s by process %s (index %d)", j.text(delivered{cell: cell{Place: x.key, Value: x.is[value]}, revision: x.revision}),
		j.h.Values.Text(j.h.Processes[j.h.Process[inv]]), j.h.LastIndex(x.by))
}

// details judges what an event says of the key before: prev-kv and is-create.
func (j *judging) details(e delivered) {
	x, there := j.t.at(e.revision, e.Place)
	if !there {
		return
	}
	was := x.was[value] != absent
	by := []jepsen.Operation{x.by}
	switch {
	case e.Value != absent && e.create && was:
		j.breaks(creation, by, "%s says that it creates the key, which was there", j.text(e))
	case e.Value != absent && !e.create && !was:
		j.breaks(creation, by, "%s does not say that it creates the key, which was not there", j.text(e))
	}
	switch {
	case !e.prevTold && was && j.w.prevKV && x.was[modified] > j.m.compacts:
		j.breaks(previous, by, "%s does not show the value before, %s", j.text(e), j.m.Text(x.was[value]))
	case !e.prevTold:
	case !was:
		j.breaks(previous, by, "%s shows a value before, and there was none", j.text(e))
	default:
		for f, told := range e.prev {
			if told != untold && told != x.was[f] {
				j.breaks(previous, by, "%s shows another value, mod revision or version before than there was: %s of revision %d", j.text(e), j.m.Text(x.was[value]), x.was[modified])
			}
		}
	}
}
