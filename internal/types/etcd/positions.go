package etcd

import (
	"slices"

	"clew/models"
)

// A lease and the compact revision have a place in Visibility, too. Those of keys are their numbers.
const compactPlace int32 = -1

func leasePlace(lease int32) int32 { return -2 - lease }

// exists is the value of a lease that is there, and absent of one that is not.
const exists int32 = 1

func at(s models.State) (int64, bool) { return int64(s[atRevision]), true }

// position is Positions.Of. Reads of old states say nothing about when they happened.
func (m *etcd) position(op models.Op) (int64, bool) {
	told := m.calls[op.A].answer.revision
	if sure, known := m.sure[op.A]; known {
		told = sure
	}
	return int64(told), told != untold && op.Kind != old && op.Kind != watching
}

// moves is Positions.Moves.
func (m *etcd) moves(op models.Op) models.Moving {
	c := &m.calls[op.A]
	switch {
	case c.answer.refused != notRefused:
		return models.NeverMoves
	case op.Kind == revoke:
		return models.MayMove
	case op.Kind != transaction:
		return models.NeverMoves
	}
	all := models.NeverMoves
	for i, branch := range c.mayTake() {
		one := m.moving(c, branch)
		if i > 0 && one != all {
			return models.MayMove
		}
		all = one
	}
	return all
}

// aside is Positions.Aside.
func (m *etcd) aside(op models.Op) bool {
	return (op.Kind == grant || op.Kind == compact) && m.calls[op.A].answer.refused == notRefused
}

// mayTake returns the branches that a transaction may have taken.
func (c *call) mayTake() []int32 {
	switch {
	case c.answer.branch != untold:
		return []int32{c.answer.branch}
	case c.tests.len() == 0:
		return []int32{1}
	}
	return []int32{0, 1}
}

// vague is Positions.Vague: a put with a lease that does not exist does nothing.
func (m *etcd) vague(op models.Op) bool {
	c := &m.calls[op.A]
	return op.Kind == transaction && slices.ContainsFunc(c.mayTake(), func(branch int32) bool {
		return slices.ContainsFunc(m.actionsOf(c, branch), func(a action) bool { return a.do == puts && a.lease != 0 })
	})
}

// moving says whether a branch is an update.
func (m *etcd) moving(c *call, branch int32) models.Moving {
	all := models.NeverMoves
	for i, a := range m.actionsOf(c, branch) {
		r := m.resultOf(c, i)
		switch {
		case a.do == gets, a.do == deletes && r != nil && r.deleted == 0:
		case a.do == puts && a.lease == 0, a.do == deletes && r != nil && r.deleted > 0:
			return models.AlwaysMoves
		default:
			all = models.MayMove
		}
	}
	return all
}

// clues is Positions.Clues.
func (m *etcd) clues(dst []models.Clue, op models.Op) []models.Clue {
	c := &m.calls[op.A]
	if c.answer.branch == 1 { // all conditions hold
		for _, t := range within(m.tests, c.tests) {
			dst = dated(dst, t.key, t.field, t.want)
		}
	}
	for _, r := range within(m.results, c.answer.results) {
		for _, x := range within(m.kvs, r.found) {
			if e := x.is; e[modified] > 0 && e[value] != untold && !m.keysOnly(c) {
				dst = append(dst, models.Clue{Position: int64(e[modified]), Cell: models.Cell{Place: x.key, Value: e[value]}, Count: int64(max(e[version], 0))})
			}
			dst = dated(dst, x.key, created, x.is[created])
		}
	}
	return dst
}

// dated appends what it shows that a key has a revision.
func dated(dst []models.Clue, key int32, field field, revision int32) []models.Clue {
	switch {
	case revision <= 0:
	case field == created:
		dst = append(dst, models.Clue{Position: int64(revision), Cell: models.Cell{Place: key}, Count: 1, Any: true})
	case field == modified:
		dst = append(dst, models.Clue{Position: int64(revision), Cell: models.Cell{Place: key}, Any: true})
	}
	return dst
}

// made is Positions.Made: watches show what a revision left, and what was there before.
func (m *etcd) made(op models.Op, position int64) (may, known bool) {
	cells, known := m.shown[int32(position)]
	return !known || m.leavesAll(op, cells) && (op.Kind != revoke || m.revokes(op, int32(position), cells)), known
}

// revokes says whether the keys that watches show to be gone may have had the lease that is revoked.
func (m *etcd) revokes(op models.Op, revision int32, cells []models.Cell) bool {
	return !slices.ContainsFunc(cells, func(c models.Cell) bool {
		p := m.before[[2]int32{revision, c.Place}]
		return p.told && p.was[value] != untold && !m.puts[leasing{models.Cell{Place: c.Place, Value: p.was[value]}, m.calls[op.A].lease}]
	})
}

// keysOnly says whether some range leaves the values out.
func (m *etcd) keysOnly(c *call) bool {
	out := func(a action) bool { return a.keysOnly }
	return slices.ContainsFunc(m.actionsOf(c, 0), out) || slices.ContainsFunc(m.actionsOf(c, 1), out)
}

// makes is Visibility.Makes: what an operation may leave.
func (m *etcd) makes(dst []models.Cell, op models.Op) []models.Cell {
	c := &m.calls[op.A]
	switch {
	case c.answer.refused != notRefused:
		return dst
	case op.Kind == grant:
		return append(dst, models.Cell{Place: leasePlace(c.lease), Value: exists})
	case op.Kind == compact:
		return append(dst, models.Cell{Place: compactPlace, Value: c.revision})
	case op.Kind == revoke:
		dst = append(dst, models.Cell{Place: leasePlace(c.lease), Value: absent})
		for _, key := range m.leased[c.lease] {
			dst = append(dst, models.Cell{Place: key, Value: absent})
		}
		return dst
	case op.Kind != transaction:
		return dst
	}
	for _, branch := range c.mayTake() {
		for i, a := range m.actionsOf(c, branch) {
			switch r := m.resultOf(c, i); {
			case a.do == puts:
				dst = adding(dst, models.Cell{Place: a.key, Value: a.value})
			case a.do == deletes && (r == nil || r.deleted != 0):
				for key := a.lo; key < a.hi; key++ {
					dst = adding(dst, models.Cell{Place: key, Value: absent})
				}
			}
		}
	}
	return dst
}

// adding adds a cell unless it is there.
func adding(dst []models.Cell, cell models.Cell) []models.Cell {
	if slices.Contains(dst, cell) {
		return dst
	}
	return append(dst, cell)
}

// sees is Visibility.Sees: what an answer shows.
func (m *etcd) sees(dst []models.Cell, op models.Op) (cells []models.Cell, all bool) {
	c := &m.calls[op.A]
	switch branches := c.mayTake(); {
	case op.Kind != transaction || len(branches) > 1:
		return dst, false
	default:
		dst = m.tested(dst, c, branches[0])
		var own [][2]int32 // the ranges of keys that it has put or deleted before
		for i, a := range m.actionsOf(c, branches[0]) {
			switch r := m.resultOf(c, i); {
			case a.do == puts && a.lease != 0:
				dst = append(dst, models.Cell{Place: leasePlace(a.lease), Value: exists})
				fallthrough
			case a.do == puts:
				own = append(own, [2]int32{a.key, a.key + 1})
			case r != nil:
				dst = m.seen(dst, &a, r, own)
			}
			if a.do == deletes { // what comes after it finds nothing there
				own = append(own, [2]int32{a.lo, a.hi})
			}
		}
	}
	return dst, false
}

// depends is Positions.Depends: all that conditions and actions look at.
func (m *etcd) depends(dst []int32, op models.Op) []int32 {
	c := &m.calls[op.A]
	for _, t := range within(m.tests, c.tests) {
		dst = append(dst, t.key)
	}
	switch op.Kind {
	case revoke:
		return append(append(dst, leasePlace(c.lease)), m.leased[c.lease]...)
	case grant:
		return append(dst, leasePlace(c.lease))
	case compact:
		return append(dst, compactPlace)
	case transaction:
		for _, branch := range c.mayTake() {
			for _, a := range m.actionsOf(c, branch) {
				switch {
				case a.do == puts && a.lease != 0:
					dst = append(dst, leasePlace(a.lease))
				case a.do != puts:
					for key := a.lo; key < a.hi; key++ {
						dst = append(dst, key)
					}
				}
			}
		}
		return append(dst, compactPlace)
	}
	return dst
}

// tested adds what the conditions of a transaction show if all of them hold, or if there is one that does not.
func (m *etcd) tested(dst []models.Cell, c *call, branch int32) []models.Cell {
	for _, t := range within(m.tests, c.tests) {
		switch {
		case branch == 1 && t.field == value:
			dst = append(dst, models.Cell{Place: t.key, Value: t.want})
		case branch == 1 && t.want == 0:
			dst = append(dst, models.Cell{Place: t.key, Value: absent})
		}
	}
	return dst
}

// seen adds what the result of an action shows, besides what the transaction has put or deleted itself.
func (m *etcd) seen(dst []models.Cell, a *action, r *result, own [][2]int32) []models.Cell {
	next, found := 0, within(m.kvs, r.found)
	for key := a.lo; key < a.hi; key++ {
		cell, known := models.Cell{Place: key, Value: absent}, r.count == 0 || r.finds && !a.countOnly || a.do == deletes && r.deleted == 0
		if r.finds && next < len(found) && found[next].key == key {
			cell.Value, known = found[next].is[value], found[next].is[value] != untold && !a.keysOnly
			next++
		} else if a.limit > 0 && next == int(a.limit) {
			break
		}
		if known && !slices.ContainsFunc(own, func(keys [2]int32) bool { return keys[0] <= key && key < keys[1] }) {
			dst = append(dst, cell)
		}
	}
	return dst
}

// anomaly is Traits.Anomaly: a value that no put has left by then, or a revision that is below, or not above, one that
// had been told before.
func (m *etcd) anomaly(ops *models.Operations, row models.Row) models.Anomaly {
	if ops.Res[row] == models.Open {
		return ""
	}
	seen, _ := m.sees(nil, ops.Op(row))
	for _, cell := range seen {
		if cell.Place < 0 || cell.Value == absent {
			continue
		}
		kind := models.NeverWritten
		for i := range models.Row(ops.Len()) {
			switch {
			case !slices.Contains(m.makes(nil, ops.Op(i)), cell):
			case ops.Inv[i] < ops.Res[row]:
				kind = ""
			case kind != "":
				kind = models.FutureRead
			}
		}
		if kind != "" {
			return kind
		}
	}
	return m.backwards(ops, row)
}

// backwards returns the kind of a revision that cannot come after those that had been told before.
func (m *etcd) backwards(ops *models.Operations, row models.Row) models.Anomaly {
	own, told := m.position(ops.Op(row))
	if !told {
		return ""
	}
	updates := m.moves(ops.Op(row)) == models.AlwaysMoves
	for i := range models.Row(ops.Len()) {
		p, told := m.position(ops.Op(i))
		switch before := ops.Res[i] < ops.Inv[row]; {
		case i == row || !told || ops.Inv[i] > ops.Res[row]:
		case p == own && updates && ops.Res[i] < ops.Res[row] && m.moves(ops.Op(i)) == models.AlwaysMoves:
			return models.ReusedID
		case before && p > own && updates:
			return models.NotMonotonic
		case before && p > own:
			return models.StaleRead
		}
	}
	return ""
}
