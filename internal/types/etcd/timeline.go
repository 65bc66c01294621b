package etcd

import (
	"cmp"
	"fmt"
	"slices"

	"clew/jepsen"
	"clew/models"
)

// timeline is what an order of the operations has put and deleted, in order of the revisions.
type timeline struct {
	events []happened
	wrong  map[int]wrong // by place among what is judged later: why a read of an old state is not right

	partial bool           // it only has what happens in every order
	whole   map[int32]bool // partial: the revisions that are known as a whole
}

type happened struct {
	event
	by jepsen.Operation
}

// maxLooks bounds how many states reads of old states that tell no revision are compared with. If there are more, they
// are not judged.
const maxLooks = 50_000_000

// replay returns the timeline of an order, and judges reads of old states on the way. A read that tells no revision may
// be of any. It is not judged unless the order is the only one: another may explain it.
func (m *etcd) replay(ops *models.Operations, order []models.Row) *timeline {
	t := &timeline{wrong: map[int]wrong{}}
	var by jepsen.Operation
	x := now{s: slices.Clone(m.Initial), own: true, event: func(e event) { t.events = append(t.events, happened{e, by}) }}
	reads := m.oldReads()
	told := slices.IndexFunc(reads, func(i int) bool { return m.reads(i) > 0 })
	if told < 0 {
		told = len(reads)
	}
	undated, reads := reads[:told], reads[told:]
	if len(undated) > maxLooks/(len(order)+1) || !m.onlyOrder(ops) {
		undated = nil
	}
	for next, at := 0, int32(-1); ; next++ {
		if at != x.revision() {
			at = x.revision()
			undated = slices.DeleteFunc(undated, func(i int) bool {
				if !m.looks(&x, &m.calls[m.later[i].call]) {
					t.wrong[i] = x.wrong
					return false
				}
				delete(t.wrong, i)
				return true
			})
		}
		for len(reads) > 0 && m.reads(reads[0]) <= x.revision() {
			if c := &m.calls[m.later[reads[0]].call]; m.reads(reads[0]) == x.revision() && !m.looks(&x, c) {
				t.wrong[reads[0]] = x.wrong
			}
			reads = reads[1:]
		}
		if next == len(order) {
			break
		}
		by = ops.Of[order[next]]
		m.apply(&x, &m.calls[ops.A[order[next]]])
	}
	return t
}

// certain returns what happens in every order: what updates did that returned with their revisions.
func (m *etcd) certain(ops *models.Operations) *timeline {
	t := &timeline{partial: true, whole: map[int32]bool{}}
	for row := range models.Row(ops.Len()) {
		op := ops.Op(row)
		c := &m.calls[op.A]
		revision := c.answer.revision
		if ops.Res[row] == models.Open || revision == untold || m.moves(op) != models.AlwaysMoves || len(c.mayTake()) != 1 {
			continue
		}
		whole := true
		for i, a := range m.actionsOf(c, c.mayTake()[0]) {
			r := m.resultOf(c, i)
			e := event{key: a.key, revision: revision, is: entry{value: a.value}}
			switch {
			case a.do == gets, a.do == deletes && r != nil && r.deleted == 0:
				continue
			case a.do == puts && a.lease == 0:
			case a.do == deletes && a.hi == a.lo+1 && r != nil && r.deleted == 1:
				e.is[value] = absent
			default:
				whole = false
				continue
			}
			t.events = append(t.events, happened{e, ops.Of[row]})
		}
		t.whole[revision] = whole
	}
	slices.SortStableFunc(t.events, func(a, b happened) int { return cmp.Compare(a.revision, b.revision) })
	return t
}

// reads returns the revision that a read of an old state shows.
func (m *etcd) reads(i int) int32 {
	c := &m.calls[m.later[i].call]
	if c.pinned {
		return c.revision
	}
	return c.answer.revision
}

// onlyOrder says whether there is but one order of the updates: nothing crashed, and all of them tell their revisions.
func (m *etcd) onlyOrder(ops *models.Operations) bool {
	for row := range models.Row(ops.Len()) {
		op := ops.Op(row)
		if _, told := m.position(op); ops.Res[row] == models.Open || !told && m.moves(op) != models.NeverMoves {
			return false
		}
	}
	return true
}

// readState says in words which state a read of an old state shows.
func (m *etcd) readState(i int) string {
	if m.reads(i) <= 0 {
		return "there ever was, such as the last one"
	}
	return fmt.Sprintf("that of revision %d", m.reads(i))
}

// looks says whether a state is the one that a read of an old state shows.
func (m *etcd) looks(x *now, c *call) bool {
	return m.shows(x, &m.actionsOf(c, 1)[0], m.resultOf(c, 0))
}

// oldReads returns the reads of old states whose results are told, by revision.
func (m *etcd) oldReads() (list []int) {
	for i, l := range m.later {
		if c := &m.calls[l.call]; c.kind == old && c.answer.refused == notRefused && c.answer.results.len() == 1 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(i, j int) int { return int(m.reads(i)) - int(m.reads(j)) })
	return list
}

// at returns the event of a key and a revision.
func (t *timeline) at(revision, key int32) (happened, bool) {
	i, _ := slices.BinarySearchFunc(t.events, revision, func(e happened, r int32) int { return int(e.revision) - int(r) })
	for ; i < len(t.events) && t.events[i].revision == revision; i++ {
		if t.events[i].key == key {
			return t.events[i], true
		}
	}
	return happened{}, false
}

// between returns the events from a revision on, up to and with another one.
func (t *timeline) between(from, to int32) []happened {
	place := func(r int32) int {
		i, _ := slices.BinarySearchFunc(t.events, r, func(e happened, r int32) int { return int(e.revision) - int(r) })
		return i
	}
	return t.events[place(from):max(place(from), place(to+1))]
}
