package register

import (
	"cmp"
	"fmt"
	"slices"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// # The gaps of a versioned register
//
// Decides: whether updates that never returned can fill the gaps between versions, one each.
//
// Let due(v) be the first return among the updates to v and later versions, and the reads of these.
//
// Lemma: updates can fill gaps if and only if each suits the values of its gap v
// and was invoked before due(v). Proof: if so, nothing that must stand after such
// an update returned before it was invoked. Since the update never returned, it
// may stand after everything that did return. The converse is obvious.
//
// So if it is known which value a gap follows, nothing else determines which updates suit it:
// all writes, and all cas that expect that value. If the value of the gap is known, only those
// that leave it suit. What remains is to match gaps and updates. due never decreases from one
// version to the next, so an update that is in time for a gap is in time for all later gaps.
//
//   - An update that never returned but says its version suits only one gap, so
//     it goes first. (In a prefix most gaps are filled in this way.)
//   - The others are matched greedily: a cas before a write, since a write
//     suits more gaps; and updates that were invoked later first, since they
//     suit fewer. Gaps come in ascending order. If there is no cas, those of
//     unknown value come last: then no gap that could be filled is ever left
//     over.
//   - If no update is left, an augmenting path is sought (Berge 1957). If there
//     is none, no matching fills the gaps so far. Paths are rare. Together they
//     may take stepsPerOperation steps for each operation; beyond that the
//     history is ambiguous.
//
// After a gap of unknown value, a cas may or may not suit, depending on what fills that gap.
// So writes are tried first, and then a cas together with an update before it that leaves
// what the cas expects. If this succeeds, the gaps can be filled. If it fails, it is certain
// in two cases that they cannot be filled: if those after known values cannot be, or if not
// all can be even when every cas counts as a write. Otherwise the history is ambiguous.

// fillGaps finds updates that did not return for the gaps.
func (s *versionSweep) fillGaps() fastpath.Result {
	due, k := int32(models.Open), len(s.gaps)-1
	for v := int32(len(s.versions)) - 1; k >= 0; v-- {
		due = min(due, s.versions[v].minRes)
		if g := &s.gaps[k]; g.version == v {
			g.due = due
			k--
		} else {
			due = min(due, s.in.Res[s.versions[v].update-1])
		}
	}
	bad, certain := s.fill(strictly)
	for _, how := range []filling{onlySure, casAreWrites} {
		if bad < 0 || certain {
			break
		}
		if worse, sure := s.fill(how); worse >= 0 && sure {
			bad, certain = worse, true
		}
	}
	if bad < 0 {
		for _, g := range s.gaps {
			s.versions[g.version].update = g.by
		}
		return fastpath.Result{Verdict: jepsen.Valid}
	}
	below, above := s.gaps[bad].version-1, s.gaps[bad].version
	for s.returned(above) == none {
		above++
	}
	if !certain {
		return fastpath.Result{Reason: Unplaced.Of(s.returned(above))}
	}
	for below > 0 && s.returned(below) == none {
		below--
	}
	from := s.returned(below)
	if from == none {
		from = fastpath.Initial
	}
	return s.missing(NoUpdate.Of(s.returned(above), from))
}

// returned returns an operation on a version that returned, or none.
func (s *versionSweep) returned(v int32) int32 {
	switch x := s.versions[v]; {
	case x.update != 0 && s.in.Res[x.update-1] != models.Open:
		return x.update - 1
	case x.read != 0:
		return x.read - 1
	case x.minRes != models.Open:
		return s.in.OpReturning(x.minRes)
	}
	return none
}

// gap is a version without an update that returned.
type gap struct {
	version, due int32
	from, to     int32 // the values before it and in it, or unknown
	sure         bool  // an operation that returned told from
	by           int32 // the update that fills it, plus 1
	place        int32 // the same while still tentative: see fitting
}

// none means no operation, or no place.
const none int32 = -1

// unknown means an unknown value, and also what a write expects to find.
const unknown int32 = -1

// filling says how gaps are filled.
type filling uint8

const (
	strictly     filling = iota // a filling that it finds is possible
	onlySure                    // gaps after unknown values are omitted: if the others cannot be filled, neither can all
	casAreWrites                // the same, with every cas counted as a write
)

// fill fills the gaps, in ascending order. It returns the index of the first gap that
// it could not fill, or -1, and whether it is certain that the gaps cannot be filled.
func (s *versionSweep) fill(how filling) (bad int, certain bool) {
	m := newFitting(s, how)
	s.suit(m)
	certain = true
	for _, k := range m.ordered() {
		g := &s.gaps[k]
		if g.by != 0 || how == onlySure && !g.sure {
			continue
		}
		certain = certain && (g.sure || !m.cas)
		if !m.take(k) && !m.repair(k) && !m.both(k) {
			return int(k), certain && m.budget > 0
		}
	}
	for k := range s.gaps {
		if g := &s.gaps[k]; g.place > 0 {
			g.by = m.rest[g.place-1] + 1
		}
	}
	return -1, true
}

// ordered returns the gaps in the order of filling: ascending, except that
// a gap of unknown value comes after the others if any write suits it.
func (m *fitting) ordered() []int32 {
	var told, wild []int32
	for k, g := range m.s.gaps {
		if m.cas || g.to != unknown {
			told = append(told, int32(k))
		} else {
			wild = append(wild, int32(k))
		}
	}
	return append(told, wild...)
}

// suit finds out what suits the gaps. It fills those that an update which
// says its version can fill.
func (s *versionSweep) suit(m *fitting) {
	left := unknown // the value left by what fills the previous gap
	for k := range s.gaps {
		g := &s.gaps[k]
		_, from, sure := s.told(g.version - 1)
		_, to, told := s.told(g.version)
		g.from, g.to, g.sure, g.by, g.place = unknown, unknown, sure, 0, 0
		switch {
		case m.how == casAreWrites:
		case sure:
			g.from = from
		case k > 0 && s.gaps[k-1].version == g.version-1:
			g.from = left
		}
		if told {
			g.to = to
		}
		left = unknown
		if i := m.ofVersion(g); i != none {
			g.by = i + 1
			left = s.leaves(i)
		}
	}
}

// fitting matches gaps with the updates that did not return. Gaps come in ascending
// order, so an update that was invoked in time for one gap is in time for the next.
type fitting struct {
	s         *versionSweep
	how       filling
	cas       bool    // there is a cas, and it counts as one
	byVersion []int32 // the updates that say their version
	rest      []int32 // those that do not, by invocation; the fields below refer to them by their places in it
	fills     []int32 // by place: the gap that the update fills, plus 1; negative if final
	exact     groups  // by the values that they expect and leave
	expecting groups  // by the value that they expect
	budget    int     // of repair

	via     []int32 // by place: the gap from which repair reached it, plus 1
	reached []int32 // places
	touched []*group
	queue   []int32 // gaps
}

// groups holds updates by the values that they expect and leave.
type groups struct {
	places []int32
	of     []group
}

// group is the updates that expect from and leave to; if to is unknown, they may leave
// any value. They are a range of places. The first of them were invoked in time for
// the current gap. Of these, a stack holds all that fill no gap, and some that do.
type group struct {
	from, to         int32
	start, next, end int32
	stack            []int32
	reached          int32 // by repair
}

// stepsPerOperation bounds the steps of all repairs.
const stepsPerOperation = 8

func newFitting(s *versionSweep, how filling) *fitting {
	m := &fitting{s: s, how: how, budget: stepsPerOperation*s.in.Len() + 1000}
	for _, i := range s.open {
		m.cas = m.cas || s.in.Kind[i] == models.CAS && how != casAreWrites
		if s.in.A[i] == 0 {
			m.rest = append(m.rest, i)
		} else {
			m.byVersion = append(m.byVersion, i)
		}
	}
	slices.SortStableFunc(m.byVersion, func(i, j int32) int { return cmp.Compare(s.in.A[i], s.in.A[j]) })
	m.fills, m.via = make([]int32, len(m.rest)), make([]int32, len(m.rest))
	m.exact, m.expecting = m.grouped(false), m.grouped(true)
	return m
}

// grouped groups the updates that do not say their version.
func (m *fitting) grouped(anyValue bool) groups {
	from, to := make([]int32, len(m.rest)), make([]int32, len(m.rest))
	all := groups{places: make([]int32, len(m.rest))}
	for p, i := range m.rest {
		all.places[p] = int32(p)
		from[p], to[p] = unknown, unknown
		if m.s.in.Kind[i] == models.CAS && m.how != casAreWrites {
			from[p] = m.s.Args[m.s.in.B[i]][0]
		}
		if !anyValue {
			to[p] = m.s.leaves(i)
		}
	}
	slices.SortFunc(all.places, func(p, q int32) int {
		return cmp.Or(cmp.Compare(from[p], from[q]), cmp.Compare(to[p], to[q]), cmp.Compare(p, q))
	})
	for k, p := range all.places {
		n := len(all.of)
		if n == 0 || all.of[n-1].from != from[p] || all.of[n-1].to != to[p] {
			all.of = append(all.of, group{from: from[p], to: to[p], start: int32(k), next: int32(k)})
			n++
		}
		all.of[n-1].end = int32(k) + 1
	}
	return all
}

// suiting returns the groups of updates that suit a gap: the cas and the writes.
func (m *fitting) suiting(g *gap) (in *groups, suiting [2]*group) {
	in = &m.exact
	if g.to == unknown {
		in = &m.expecting
	}
	find := func(from int32) *group {
		k, found := slices.BinarySearchFunc(in.of, from, func(a group, from int32) int {
			return cmp.Or(cmp.Compare(a.from, from), cmp.Compare(a.to, g.to))
		})
		if !found {
			return nil
		}
		return &in.of[k]
	}
	if g.from != unknown {
		suiting[0] = find(g.from)
	}
	suiting[1] = find(unknown)
	return in, suiting
}

// ofVersion returns an update that says that it made the version of a gap
// and can have made it, or none.
func (m *fitting) ofVersion(g *gap) int32 {
	in, named := m.s.in, g.version+m.s.First+1
	k, _ := slices.BinarySearchFunc(m.byVersion, named, func(i, named int32) int { return cmp.Compare(in.A[i], named) })
	for ; k < len(m.byVersion) && in.A[m.byVersion[k]] == named; k++ {
		i := m.byVersion[k]
		if in.Inv[i] < g.due && (g.to == unknown || m.s.leaves(i) == g.to) &&
			(in.Kind[i] == models.Write || m.how == casAreWrites || m.s.Args[in.B[i]][0] == g.from) {
			return i
		}
	}
	return none
}

// take fills gap k with an update that fills no gap yet. It prefers a cas,
// and among several the one invoked last.
func (m *fitting) take(k int32) bool {
	g := &m.s.gaps[k]
	in, suiting := m.suiting(g)
	for _, t := range suiting {
		if t == nil {
			continue
		}
		for t.next < t.end && m.s.in.Inv[m.rest[in.places[t.next]]] < g.due {
			t.stack = append(t.stack, in.places[t.next])
			t.next++
		}
		for n := len(t.stack); n > 0; n-- {
			p := t.stack[n-1]
			t.stack = t.stack[:n-1]
			if m.fills[p] == 0 {
				m.fills[p], g.place = k+1, p+1
				return true
			}
		}
	}
	return false
}

// repair fills gap k with an update that fills another gap, fills that gap with
// yet another update, and so on. It ends at an update that filled none: an
// augmenting path. If there is no path, the gaps up to k cannot all be filled.
func (m *fitting) repair(k int32) bool {
	m.queue = append(m.queue[:0], k)
	p := none
	for n := 0; n < len(m.queue) && p == none && m.budget > 0; n++ {
		p = m.reach(m.queue[n])
	}
	filled := p != none
	for p != none {
		k := m.via[p] - 1
		m.fills[p] = k + 1
		p, m.s.gaps[k].place = m.s.gaps[k].place-1, p+1
	}
	for _, p := range m.reached {
		m.via[p] = 0
	}
	for _, t := range m.touched {
		t.reached = 0
	}
	m.reached, m.touched = m.reached[:0], m.touched[:0]
	return filled
}

// both fills gap k with a cas that is not known to suit it, and the gap
// before so that the cas does suit. Both fillings are final.
func (m *fitting) both(k int32) bool {
	s, g := m.s, &m.s.gaps[k]
	if !m.cas || g.from != unknown {
		return false
	}
	before := &s.gaps[k-1]
	for p, i := range m.rest {
		if m.budget--; m.budget <= 0 || s.in.Inv[i] >= g.due {
			break
		}
		if m.fills[p] != 0 || s.in.Kind[i] != models.CAS || g.to != unknown && s.leaves(i) != g.to {
			continue
		}
		expected := s.Args[s.in.B[i]][0]
		q := before.place - 1
		if s.leaves(m.rest[q]) != expected {
			if q = m.leaving(before, expected, int32(p)); q == none {
				continue
			}
			m.fills[before.place-1] = 0
		}
		m.fills[p], g.place = -1, int32(p)+1
		m.fills[q], before.place = -1, q+1
		return true
	}
	return false
}

// leaving returns the place of an update that suits a gap, leaves the given
// value and fills no gap, or none. It does not return other.
func (m *fitting) leaving(g *gap, value, other int32) int32 {
	in, suiting := m.suiting(&gap{from: g.from, to: value})
	for _, t := range suiting {
		if t == nil {
			continue
		}
		for _, p := range in.places[t.start:t.end] {
			if m.budget--; m.s.in.Inv[m.rest[p]] >= g.due {
				break
			}
			if p != other && m.fills[p] == 0 {
				return p
			}
		}
	}
	return none
}

// reach looks at all updates that suit gap k. It returns one that fills no gap. If there
// is none, it returns none and puts the gaps that these updates fill into the queue.
func (m *fitting) reach(k int32) int32 {
	g := &m.s.gaps[k]
	in, suiting := m.suiting(g)
	for _, t := range suiting {
		if t == nil {
			continue
		}
		m.touched = append(m.touched, t)
		for ; t.start+t.reached < t.end; t.reached++ {
			p := in.places[t.start+t.reached]
			if m.s.in.Inv[m.rest[p]] >= g.due {
				break
			}
			m.budget--
			if m.via[p] != 0 || m.fills[p] < 0 {
				continue
			}
			m.via[p] = k + 1
			m.reached = append(m.reached, p)
			if m.fills[p] == 0 {
				return p
			}
			m.queue = append(m.queue, m.fills[p]-1)
		}
	}
	return none
}

// NoUpdate (op, from): some update between from (Initial: the initial version) and op
// is missing, although their versions say that there was one. The updates
// that had begun by then are not possible there, or were needed elsewhere.
var NoUpdate = &fastpath.Pattern{Name: "no-update", Kind: models.GhostUpdate, Choose: func(t models.Teller, v []models.Row) string {
	from := versionOf(t, v[1])
	missing := versionOf(t, v[0]) - from
	if t.Op(v[0]).Kind != models.Read {
		missing--
	}
	if missing > 1 {
		return fmt.Sprintf("{name 0} needs updates that made versions %d to %d, and too few that had begun by then can have done so", from+1, from+missing)
	}
	return fmt.Sprintf("{name 0} needs an update that made version %d, and none that had begun by then can have done so", from+1)
}}
