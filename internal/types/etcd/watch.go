package etcd

import (
	"cmp"
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
	prev     entry // each field may be untold
	prevTold bool  // it has prev
}

// cell is a key and its value, absent if it was deleted.
type cell = models.Cell

func (m *etcd) readWatch(c *call, id edn.ID) error {
	f, err := m.fields(id, watchWords)
	if err != nil {
		return err
	}
	c.kind, c.watch = watching, int32(len(m.watches))
	m.watches = append(m.watches, watch{})
	w := &m.watches[c.watch]
	if _, err = f.key(); err != nil {
		return err
	}
	w.key = m.V.Same(f.is[aKey])
	if w.prefix, err = f.yes(aPrefix); err == nil {
		w.prevKV, err = f.yes(prevKV)
	}
	if err == nil {
		w.from, err = f.number(aRevision, 0)
	}
	return err
}

func (m *etcd) readResponses(c *call, id edn.ID) error {
	f, err := m.fields(id, responsesWord)
	if err != nil {
		return err
	}
	items, err := f.items(theResponses)
	w := &m.watches[c.watch]
	for _, item := range items {
		if err != nil {
			return err
		}
		var r response
		r, err = m.response(item)
		for _, e := range r.events {
			w.reached = max(w.reached, e.revision)
		}
		w.responses = append(w.responses, r)
	}
	return err
}

func (m *etcd) response(id edn.ID) (r response, err error) {
	f, err := m.fields(id, responseWords)
	if err != nil {
		return r, err
	}
	if r.revision, err = f.number(aRevision, 0); err == nil {
		r.progress, err = f.yes(aProgress)
	}
	events, wrong := f.items(theEvents)
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
	switch m.keyword(f.is[aType]) {
	case "put":
		e.Value = f.value()
	case "delete":
		e.Value = absent
	default:
		return e, fmt.Errorf("expected :type :put or :delete, found %s", m.V.Text(id))
	}
	if e.revision, err = f.number(aRevision, 0); err == nil {
		e.create, err = f.yes(aCreate)
	}
	if e.prevTold = f.has(aPrev); e.prevTold && err == nil {
		if f, err = m.fields(f.is[aPrev], kvWords); err == nil {
			e.prev[value], e.prev[lease] = f.class(aValue, untold), untold
			err = f.versions(&e.prev)
		}
	}
	return e, err
}

// wants says whether a watch is for a key.
func (m *etcd) wants(w *watch, key int32) bool {
	if w.prefix {
		return strings.HasPrefix(m.name(m.keys[key]), m.name(w.key))
	}
	return m.keys[key] == w.key
}

// prior is what a watch shows of a key before a revision that puts or deletes it.
type prior struct {
	create bool // it puts the key, which was not there
	was    entry
	told   bool // was is
	hidden bool // a watch that shows what was before does not
}

// believe takes what watches show for true: what updates left and found, and which keys they did not touch. It leaves
// out a revision of which watches contradict each other or an answer, or that no operation can have made so.
func (m *etcd) believe(ops *models.Columns) {
	odd := map[int32]bool{}
	for i := range m.calls {
		if c := &m.calls[i]; c.kind == compact && c.answer.refused == notRefused {
			m.compacts = max(m.compacts, c.revision)
		}
	}
	for i := range m.watches {
		w := &m.watches[i]
		for _, r := range w.responses {
			for _, e := range r.events {
				if !m.show(e.cell, e.revision) || !m.showPrior(e, w.prevKV) {
					odd[e.revision] = true
				}
				if e.prevTold && e.prev[value] != untold && e.prev[modified] > 0 && !m.show(cell{Place: e.Place, Value: e.prev[value]}, e.prev[modified]) {
					odd[e.prev[modified]] = true
				}
			}
		}
	}
	m.cover()
	for _, i := range m.oldReads() {
		m.reading[m.reads(i)] = append(m.reading[m.reads(i)], m.later[i].call)
	}
	if len(m.shown) == 0 {
		return
	}
	m.explain(ops, odd)
	for at := range m.before {
		if _, believed := m.shown[at[0]]; !believed {
			delete(m.before, at)
		}
	}
}

// explain finds out which lost updates made the revisions that watches show, and leaves out those that nothing can have
// made.
func (m *etcd) explain(ops *models.Columns, odd map[int32]bool) {
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
			rows = slices.DeleteFunc(rows, func(row models.Row) bool {
				may, _ := m.made(ops.Op(row), int64(revision))
				return !may
			})
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

// showPrior notes what an event shows of the key before, and says whether other events do not contradict it.
func (m *etcd) showPrior(e delivered, prevKV bool) bool {
	p := prior{create: e.create, told: e.prevTold, hidden: prevKV && !e.prevTold, was: e.prev}
	at := [2]int32{e.revision, e.Place}
	other, known := m.before[at]
	if known && (p.create != other.create || p.told && other.told && p.was != other.was) {
		return false
	}
	if other.told {
		p.told, p.was = true, other.was
	}
	p.hidden = p.hidden || other.hidden
	m.before[at] = p
	return true
}

// covering is what watches for a key or a prefix have delivered together.
type covering struct {
	key    edn.ID // class
	prefix bool
	spans  [][2]int32        // of revisions, with both ends, in order
	got    map[[2]int32]bool // revision and key
}

// cover notes what watches have delivered.
func (m *etcd) cover() {
	type filter struct {
		key    edn.ID
		prefix bool
	}
	number, prefixes := map[filter]int32{}, []int32(nil)
	for i := range m.watches {
		w := &m.watches[i]
		first, last := w.covers()
		if first == 0 || first > last {
			continue
		}
		f := filter{w.key, w.prefix}
		n, met := number[f]
		if !met {
			n = int32(len(m.covers))
			number[f], m.covers = n, append(m.covers, covering{key: w.key, prefix: w.prefix, got: map[[2]int32]bool{}})
			if w.prefix {
				prefixes = append(prefixes, n)
			}
		}
		c := &m.covers[n]
		c.spans = append(c.spans, [2]int32{first, last})
		for _, r := range w.responses {
			for _, e := range r.events {
				c.got[[2]int32{e.revision, e.Place}] = true
			}
		}
	}
	for i := range m.covers {
		m.covers[i].merge()
	}
	m.covered = make([][]int32, len(m.keys))
	for key := range m.keys {
		if n, met := number[filter{m.keys[key], false}]; met {
			m.covered[key] = append(m.covered[key], n)
		}
		for _, n := range prefixes {
			if strings.HasPrefix(m.name(m.keys[key]), m.name(m.covers[n].key)) {
				m.covered[key] = append(m.covered[key], n)
			}
		}
	}
}

// covers returns the revisions of which a watch should have delivered all that it is for: from the one that it asked for
// on, or else from the first one that it delivered. There are none if first is 0.
func (w *watch) covers() (first, last int32) {
	first, last = w.from, w.reached
	for _, r := range w.responses {
		for _, e := range r.events {
			if first == 0 || w.from == 0 && e.revision < first {
				first = e.revision
			}
		}
		if r.progress {
			last = max(last, r.revision)
		}
	}
	return first, last
}

// merge joins spans that overlap.
func (c *covering) merge() {
	slices.SortFunc(c.spans, func(a, b [2]int32) int { return cmp.Compare(a[0], b[0]) })
	n := 0
	for _, s := range c.spans[1:] {
		if s[0] <= c.spans[n][1] {
			c.spans[n][1] = max(c.spans[n][1], s[1])
		} else {
			n++
			c.spans[n] = s
		}
	}
	c.spans = c.spans[:n+1]
}

// leavesOut says whether the watches should have delivered a key and a revision, and did not.
func (c *covering) leavesOut(revision, key int32) bool {
	i, found := slices.BinarySearchFunc(c.spans, revision, func(s [2]int32, r int32) int { return cmp.Compare(s[0], r) })
	if !found {
		i--
	}
	return i >= 0 && revision <= c.spans[i][1] && !c.got[[2]int32{revision, key}]
}

// seenBy says whether the next revision, whose changes have been made, found and leaves what watches and reads of old
// states show.
func (m *etcd) seenBy(x *now) bool {
	next := x.revision() + 1
	for _, cell := range m.shown[next] {
		e, there := x.get(cell.Place)
		if e[value] != cell.Value || there && e[modified] != next {
			return x.no(ofWatch, cell.Place, 0, next)
		}
	}
	for _, call := range m.reading[next] {
		if c := &m.calls[call]; !m.looks(x, c) {
			return false
		}
	}
	if len(m.covers)+len(m.before) == 0 {
		return true
	}
	for i, c := range x.undo {
		if slices.ContainsFunc(x.undo[:i], func(other change) bool { return other.key == c.key }) {
			continue
		}
		if p, shown := m.before[[2]int32{next, c.key}]; shown && !m.found(x, c, p) {
			return x.no(ofWatch, c.key, 0, next)
		}
		if int(c.key) >= len(m.covered) {
			continue
		}
		for _, n := range m.covered[c.key] {
			if m.covers[n].leavesOut(next, c.key) {
				return x.no(ofWatch, c.key, 0, next)
			}
		}
	}
	return true
}

// found says whether a change found what watches show of the key before.
func (m *etcd) found(x *now, c change, p prior) bool {
	if _, puts := x.find(c.key); puts && p.create == c.there || p.told && !c.there || p.hidden && c.there && c.was[modified] > m.compacts {
		return false
	}
	for f, told := range p.was {
		if p.told && told != untold && told != c.was[f] {
			return false
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
	own.shown, own.sure, own.before, own.covers, own.covered, own.reading, own.Offered = nil, nil, nil, nil, nil, nil, models.Traits{}
	own.Offered = (&own).traits()
	var rows []models.Row
	for row := range models.Row(ops.Len()) {
		if kind := ops.Op(row).Kind; kind != watching && kind != old {
			rows = append(rows, row)
		}
	}
	return ops.Select(rows).Under(&own)
}
