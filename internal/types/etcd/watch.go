package etcd

import (
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/models"
)

// watch is what a watch asks for, and what it delivered.
type watch struct {
	key       edn.ID // class
	prefix    bool   // all keys that begin with it
	from      int32  // a revision, 0 for what comes next
	prevKV    bool
	responses []response
	reached   int32 // the greatest revision of an event
}

type response struct {
	revision int32
	progress bool // only says that all events up to revision have been delivered
	events   []delivered
}

// delivered is an event of a watch.
type delivered struct {
	cell
	revision int32
	create   bool
	prev     *entry // each field may be untold; nil: it has none
}

// cell is a key and its value, absent if it was deleted.
type cell = models.Cell

func (m *etcd) readWatch(c *call, id edn.ID) error {
	f, err := m.fields(id, watchWords)
	if err != nil {
		return err
	}
	w := &watch{}
	c.kind, c.watch = watching, w
	if _, err = f.key(); err != nil {
		return err
	}
	w.key = m.V.Same(f.is["key"])
	if w.prefix, err = f.yes("prefix"); err == nil {
		w.prevKV, err = f.yes("prev-kv")
	}
	if err == nil {
		w.from, err = f.number("revision", 0)
	}
	return err
}

func (m *etcd) readResponses(c *call, id edn.ID) error {
	f, err := m.fields(id, responsesWord)
	if err != nil {
		return err
	}
	items, err := f.items("responses")
	for _, item := range items {
		if err != nil {
			return err
		}
		var r response
		r, err = m.response(item)
		for _, e := range r.events {
			c.watch.reached = max(c.watch.reached, e.revision)
		}
		c.watch.responses = append(c.watch.responses, r)
	}
	return err
}

func (m *etcd) response(id edn.ID) (r response, err error) {
	f, err := m.fields(id, responseWords)
	if err != nil {
		return r, err
	}
	if r.revision, err = f.number("revision", 0); err == nil {
		r.progress, err = f.yes("progress")
	}
	events, wrong := f.items("events")
	if err == nil {
		err = wrong
	}
	for _, x := range events {
		if err == nil {
			var e delivered
			e, err = m.delivered(x)
			r.events = append(r.events, e)
		}
	}
	return r, err
}

func (m *etcd) delivered(id edn.ID) (e delivered, err error) {
	f, err := m.fields(id, eventWords)
	if err != nil {
		return e, err
	}
	if e.Place, err = f.key(); err != nil {
		return e, err
	}
	switch m.keyword(f.is["type"]) {
	case "put":
		e.Value = f.value()
	case "delete":
		e.Value = absent
	default:
		return e, fmt.Errorf("expected :type :put or :delete, found %s", m.V.Text(id))
	}
	if e.revision, err = f.number("revision", 0); err == nil {
		e.create, err = f.yes("create")
	}
	if prev, there := f.is["prev"]; there && err == nil {
		e.prev = &entry{}
		if f, err = m.fields(prev, kvWords); err == nil {
			e.prev[value], e.prev[lease] = f.class("value", untold), untold
			err = f.numbers("mod-revision version create-revision", &e.prev[modified], &e.prev[version], &e.prev[created])
		}
	}
	return e, err
}

func (w *watch) renumber(to []int32) {
	for _, r := range w.responses {
		for i := range r.events {
			r.events[i].Place = to[r.events[i].Place]
		}
	}
}

// wants says whether a watch is for a key.
func (m *etcd) wants(w *watch, key int32) bool {
	if w.prefix {
		return strings.HasPrefix(m.name(m.keys[key]), m.name(w.key))
	}
	return m.keys[key] == w.key
}

// believe lets watches say what updates have left where their answers do not: which of the lost ones made a revision, or
// whether the lease of a put was there. It leaves out a revision of which watches contradict each other or an answer, or
// that no operation can have made so.
func (m *etcd) believe(ops *models.Columns) {
	odd := map[int32]bool{}
	show := func(c cell, revision int32) { odd[revision] = !m.show(c, revision) || odd[revision] }
	for i := range m.calls {
		w := m.calls[i].watch
		if w == nil {
			continue
		}
		for _, r := range w.responses {
			for _, e := range r.events {
				show(e.cell, e.revision)
				if e.prev != nil && e.prev[value] != untold && e.prev[modified] > 0 {
					show(cell{Place: e.Place, Value: e.prev[value]}, e.prev[modified])
				}
			}
		}
		m.covers = append(m.covers, w.covers())
	}
	for _, i := range m.oldReads() {
		m.reading[m.reads(i)] = append(m.reading[m.reads(i)], m.later[i].call)
	}
	if len(m.shown) == 0 {
		return
	}
	lost := map[cell][]models.Row{}     // by what they may leave: updates whose answers tell no revision
	perhaps := map[int32][]models.Row{} // by revision: what its answer tells it for, and may be an update
	sure := map[int32]models.Row{}      // by revision: the update whose answer tells it
	for row := range models.Row(ops.Len()) {
		op := ops.Op(row)
		told, tells := m.position(op)
		switch m.moves(op) {
		case models.NeverMoves:
			continue
		case models.AlwaysMoves:
			if tells {
				sure[int32(told)] = row
				continue
			}
		default:
			if tells {
				perhaps[int32(told)] = append(perhaps[int32(told)], row)
				continue
			}
		}
		for _, cell := range m.makes(nil, op) {
			lost[cell] = append(lost[cell], row)
		}
	}
	for revision, cells := range m.shown {
		if made, known := sure[revision]; known {
			if odd[revision] || !m.leavesAll(ops.Op(made), cells) {
				delete(m.shown, revision)
			}
			continue
		}
		rows := append(slices.Clone(perhaps[revision]), fewest(lost, cells)...)
		if len(rows) <= maxBelieved {
			rows = slices.DeleteFunc(rows, func(row models.Row) bool { return !m.leavesAll(ops.Op(row), cells) })
		}
		switch {
		case odd[revision] || len(rows) == 0:
			delete(m.shown, revision)
		case len(rows) == 1:
			m.sure[ops.A[rows[0]]] = revision
		}
	}
}

// maxBelieved bounds the updates that are looked at for a revision. Of more, some may have made it.
const maxBelieved = 64

// fewest returns the updates that may leave one of some cells: the cell that the fewest may leave.
func fewest(can map[cell][]models.Row, cells []cell) []models.Row {
	rows := can[cells[0]]
	for _, c := range cells[1:] {
		if len(can[c]) < len(rows) {
			rows = can[c]
		}
	}
	return rows[:min(len(rows), maxBelieved+1)]
}

// leavesAll says whether an operation may leave some cells.
func (m *etcd) leavesAll(op models.Op, cells []cell) bool {
	made := m.makes(nil, op)
	return !slices.ContainsFunc(cells, func(c cell) bool { return !slices.Contains(made, c) })
}

// show notes what an event shows, and says whether other events do not contradict it.
func (m *etcd) show(c cell, revision int32) bool {
	for _, other := range m.shown[revision] {
		if other.Place == c.Place {
			return other == c
		}
	}
	m.shown[revision] = append(m.shown[revision], c)
	return true
}

// covering is what a watch has delivered, between two revisions.
type covering struct {
	w           *watch
	first, last int32
	got         map[[2]int32]bool // revision and key
}

func (w *watch) covers() covering {
	c := covering{w: w, last: w.reached, got: map[[2]int32]bool{}}
	for _, r := range w.responses {
		for _, e := range r.events {
			if c.got[[2]int32{e.revision, e.Place}] = true; c.first == 0 || e.revision < c.first {
				c.first = e.revision
			}
		}
	}
	return c
}

// seenBy says whether the next revision, whose changes have been made, leaves what watches and reads of old states show.
// Where an answer tells its revision, what watches leave out is judged later.
func (m *etcd) seenBy(x *now, told bool) bool {
	next := x.revision() + 1
	for _, cell := range m.shown[next] {
		e, there := x.get(cell.Place)
		if e[value] != cell.Value || there && e[modified] != next {
			return x.no(ofWatch, cell.Place, 0, next)
		}
	}
	for _, call := range m.reading[next] {
		if c := &m.calls[call]; !x.shows(&c.branches[1][0], &c.answer.results[0]) {
			return false
		}
	}
	for _, c := range m.covers {
		if told || next < c.first || next > c.last {
			continue
		}
		for _, key := range x.touched {
			if m.wants(c.w, key) && !c.got[[2]int32{next, key}] {
				return x.no(ofWatch, key, 0, next)
			}
		}
	}
	return true
}

// alone returns the operations without what watches and reads of old states show.
func (m *etcd) alone(ops *models.Operations) *models.Operations {
	if len(m.later) == 0 {
		return nil
	}
	own := *m
	own.shown, own.sure, own.covers, own.reading, own.Offered = nil, nil, nil, nil, models.Traits{}
	own.Offered = (&own).traits()
	var rows []models.Row
	for row := range models.Row(ops.Len()) {
		if kind := ops.Op(row).Kind; kind != watching && kind != old {
			rows = append(rows, row)
		}
	}
	return ops.Select(rows).Under(&own)
}
