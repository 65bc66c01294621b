package configs

import (
	"encoding/binary"
	"slices"

	"clew/fallback"
	"clew/models"
)

// Rules switch off, for tests, the rules that shrink the search and lose nothing
// (window.go says why).
type Rules struct {
	NoEagerReads, NoCanonicalOrder, NoCovering, NoDomination, NoLocalProof, NoQuiescence, NoLookahead bool
	NoGuide, NoForgetting, NoNeeds, NoRanks, NoNarrowing                                              bool
}

// transitions holds configurations, and says how one leads to another (window.go
// defines them, and says why the rules hold).
//
// A configuration at a return consists of three parts, each in some words. The
// first has the slots that are discharged, whose operations may return. The
// second has the slots that are gone, whose operations can no longer be used.
// The third counts the used crashed operations of each class, bit by bit.
type transitions struct {
	*fallback.Layout
	Rules
	width  int            // words of a configuration
	narrow []bool         // by class: its operations may only narrow down what can happen, see window.go
	exact  []uint64       // by return: the slots of open rows that are neither narrow nor overwriting; nil until needed
	blind  []uint64       // by return: the slots of open rows that overwrite; nil until needed
	counts fallback.Tally // by crash class

	lookahead  *models.Lookahead // nil if the model has none
	others     []models.Op       // see gather and gatherAll
	guide      *models.Guide     // nil if the model has none
	aim        int32             // see aimed
	live       *liveness         // nil if the model does not say what matters
	ranks      *ranks            // nil if the model has none
	horizon    int32             // see wants
	latest     int32             // see blame
	firstCrash int32             // when the first crashed operation begins
	endless    bool              // crashed operations are never used up, see Refute
}

func newTransitions(l *fallback.Layout, r Rules) *transitions {
	m := &transitions{Layout: l, Rules: r}
	if l.Cause != "" {
		return m
	}
	traits := l.Ops.Model.Traits()
	if traits.Lookahead != nil && !m.NoLookahead {
		m.lookahead, m.aim = traits.Lookahead, l.Slots
		l.Words = int(l.Slots+1+63) / 64
	}
	if traits.Rank != nil && !m.NoRanks && !m.NoDomination {
		m.ranks = &ranks{of: traits.Rank, numbers: map[string]int32{}}
	}
	if !m.NoGuide && !m.NoEagerReads {
		m.guide = traits.Guide
	}
	for _, c := range m.Crashed {
		m.counts.Add(2*m.Words, len(c.Rows))
	}
	m.width = 2*m.Words + m.counts.Words()
	if m.Take(16 * int64(l.Words) * int64(len(l.Ends)+1)); m.Cause != "" {
		return m
	}
	if traits.Liveness != nil {
		m.live = newLiveness(l, traits.Liveness)
	}
	m.narrow = m.Space.Reads
	if traits.Narrows != nil && !m.NoNarrowing {
		m.narrow = slices.Clone(m.narrow)
		for class, op := range m.Space.Ops {
			m.narrow[class] = m.narrow[class] || traits.Narrows(op)
		}
	}
	m.firstCrash = m.Ops.Events
	for _, c := range m.Crashed {
		m.firstCrash = min(m.firstCrash, m.Ops.Inv[c.Rows[0]])
	}
	return m
}

// findMasks fills exact and blind. A search that goes straight needs neither.
func (m *transitions) findMasks() {
	m.exact = make([]uint64, m.Words*(len(m.Ends)+1))
	m.blind = make([]uint64, m.Words*(len(m.Ends)+1))
	for k := range m.Ends {
		for _, row := range m.OpenRows(int32(k)) {
			switch class := m.Class[row]; {
			case m.Space.Blind[class]:
				fallback.SetBit(m.blind[k*m.Words:], m.Slot[row])
			case !m.narrow[class] && (m.NoCovering || m.live == nil || !m.live.coverable(class)):
				fallback.SetBit(m.exact[k*m.Words:], m.Slot[row])
			}
		}
	}
}

// alone says whether the operation of the k-th return runs alone: nothing else is open between
// its invocation and its return, not even a crashed one.
func (m *transitions) alone(k int32) bool {
	open := m.OpenRows(k)
	return len(open) == 1 && (k == 0 || m.Ends[k-1] < m.Ops.Inv[open[0]]) && m.Ends[k] < m.firstCrash && !m.NoQuiescence
}

// used returns how many crashed operations of a class a configuration uses.
func (m *transitions) used(c []uint64, crash int) int { return m.counts.Of[crash].Used(c) }

// uses returns how many crashed operations a configuration uses.
func (m *transitions) uses(c []uint64) int {
	n := 0
	for crash := range m.counts.Of {
		n += m.used(c, crash)
	}
	return n
}

func (m *transitions) discharged(c []uint64, row int32) bool { return fallback.HasBit(c, m.Slot[row]) }

// free says whether an open row can still be used.
func (m *transitions) free(c []uint64, row int32) bool {
	if m.narrow[m.Class[row]] {
		return !m.discharged(c, row)
	}
	return !fallback.HasBit(c[m.Words:], m.Slot[row])
}

// covers says whether a configuration makes another one redundant, at the same
// return and with the same state. It does if it discharges all that the other
// one does, and can use all that the other one can.
func (m *transitions) covers(a, b []uint64) bool {
	if m.NoDomination {
		return slices.Equal(a, b)
	}
	for i := range m.Words {
		if b[i]&^a[i] != 0 || a[m.Words+i]&^b[m.Words+i] != 0 {
			return false
		}
	}
	return m.counts.NoMore(a[2*m.Words:], b[2*m.Words:])
}

// choices returns the length of the list of ways to go on at the k-th return.
// Most entries are not choices. Their order guesses what is likely to succeed.
// An operation that overwrites takes away the state that others need, so
// operations that change the state in other ways come first, if they can
// happen. And an operation that lets the returning one happen comes before one
// that does not.
func (m *transitions) choices(k int32) int { return 4 + 4*m.elsewhere(k) }

func (m *transitions) elsewhere(k int32) int {
	return len(m.OpenRows(k)) - 1 + len(m.Crashed)
}

// passes stands for a row: the return passes without any step, because the
// operation that returns is discharged and not used.
const passes int32 = -1

// choose returns the row of a choice, or passes. It returns false if there is
// no such choice. crash is the row's crash class, or -1.
func (m *transitions) choose(k int32, choice int, state int32, c []uint64, p plan) (row int32, crash int, ok bool) {
	open := m.OpenRows(k)
	n := m.elsewhere(k)
	m.Work++
	switch alone := choice < 2 || choice >= 2+2*n && choice < 4+2*n; {
	case p == itself && !alone || alone && m.aimed(c):
		return 0, -1, false
	case choice < 2:
		row, ok = m.itself(open, state, c, choice, true)
		return row, -1, ok
	case choice < 2+2*n:
		row, crash, ok = m.other(open, k, (choice-2)%n, false, c)
		return row, crash, ok && m.keeps(k, state, row, p) && m.enables(state, row, open[0], c) == (choice-2 < n)
	case choice < 4+2*n:
		row, ok = m.itself(open, state, c, choice-2-2*n, false)
		return row, -1, ok
	}
	row, crash, ok = m.other(open, k, (choice-4-2*n)%n, true, c)
	return row, crash, ok && m.keeps(k, state, row, p) && m.enables(state, row, open[0], c) == (choice-4-2*n < n)
}

// itself returns a choice about the returning operation: to use it or, if it is
// discharged, to let it pass.
func (m *transitions) itself(open []int32, state int32, c []uint64, choice int, early bool) (row int32, ok bool) {
	returning := open[0]
	if !m.discharged(c, returning) {
		return returning, choice == 0 && early != m.Space.Blind[m.Class[returning]]
	}
	if early == m.useful(open, state, c) {
		return passes, false
	}
	if early == (choice == 0) {
		return passes, true
	}
	return returning, true
}

// other returns the i-th choice among the other open rows and the crash
// classes. If blind is true it has to overwrite, otherwise it must not.
func (m *transitions) other(open []int32, k int32, i int, blind bool, c []uint64) (row int32, crash int, ok bool) {
	if i++; i < len(open) {
		row = open[i]
		return row, -1, m.Space.Blind[m.Class[row]] == blind && m.mayGo(open, i, c)
	}
	crash = i - len(open)
	if m.Space.Blind[m.Crashed[crash].Class] != blind {
		return 0, crash, false
	}
	row, ok = m.crash(open, k, crash, c)
	return row, crash, ok
}

// mayGo says whether the i-th open row is a choice. It is if it is free and can
// change the state, and if no row of the same meaning comes before it.
func (m *transitions) mayGo(open []int32, i int, c []uint64) bool {
	row := open[i]
	class := m.Class[row]
	if !m.free(c, row) || m.Space.Reads[class] && !m.NoEagerReads {
		return false
	}
	if m.NoCanonicalOrder {
		return true
	}
	m.Work += i
	for _, o := range open[:i] {
		if m.Class[o] == class && m.free(c, o) && (m.Space.Blind[class] || !m.discharged(c, o) || m.discharged(c, row)) {
			return false
		}
	}
	return true
}

// crash returns the next row of a crash class, or false if there is none.
func (m *transitions) crash(open []int32, k int32, crash int, c []uint64) (row int32, ok bool) {
	class, n := &m.Crashed[crash], m.used(c, crash)
	if m.narrow[class.Class] && !m.NoNarrowing {
		return 0, false
	}
	if n == len(class.Rows) || m.Ops.Inv[class.Rows[n]] > m.Ends[k] {
		return 0, false
	}
	if !m.NoCanonicalOrder {
		m.Work += len(open)
		for _, o := range open {
			if m.Class[o] == class.Class && m.free(c, o) {
				return 0, false
			}
		}
	}
	return class.Rows[n], true
}

// possible says whether a class's operation can happen in a state.
func (m *transitions) possible(state, class int32) bool {
	possible, _ := m.Space.Fits(state, class)
	return possible
}

// enables says whether the returning operation must still happen, cannot happen
// now, and can happen after a row.
func (m *transitions) enables(state, row, returning int32, c []uint64) bool {
	class := m.Class[returning]
	if m.discharged(c, returning) || m.possible(state, class) {
		return false
	}
	for _, to := range m.Space.Step(state, m.Class[row]) {
		if m.possible(to, class) {
			return true
		}
	}
	return false
}

// useful says whether some open operation that must happen, and cannot happen
// now, can happen after the one that returns.
func (m *transitions) useful(open []int32, state int32, c []uint64) bool {
	to := m.Space.Step(state, m.Class[open[0]])
	if len(to) == 0 {
		return false
	}
	m.Work += len(open)
	for _, o := range open[1:] {
		if !m.discharged(c, o) && !m.possible(state, m.Class[o]) && m.possible(to[0], m.Class[o]) {
			return true
		}
	}
	return false
}

// plan is how a configuration may go on, as far as the model sees ahead.
type plan int32

const (
	anyhow   plan = iota
	itself        // only with the operation that returns
	aiming        // with that, or with others if a read comes before it then
	hopeless      // not at all
	guided        // from here on: this plan less guided is the model's course
)

// lookAhead returns the plan of a configuration at the k-th return. window.go says why.
func (m *transitions) lookAhead(k, state int32, c []uint64) plan {
	if m.live != nil && !m.NoNeeds && m.wants(k, state, c) {
		return hopeless
	}
	if m.guide != nil {
		return m.follow(k, state, c)
	}
	if m.lookahead == nil {
		return anyhow
	}
	if m.lookahead.Never != nil && m.misses(k, state, c) {
		return hopeless
	}
	open := m.OpenRows(k)
	class := m.Class[open[0]]
	if m.discharged(c, open[0]) {
		return anyhow
	}
	m.gather(k, c)
	now, op := m.Space.States[state], m.Space.Ops[class]
	aimed, possible := m.aimed(c), m.possible(state, class)
	switch {
	case !aimed && !possible && m.lookahead.MayFollow(now, op, m.others):
		return anyhow
	case !aimed && !possible:
		return hopeless
	case !aimed && (m.Space.Reads[class] || !m.lookahead.MayLead(now, op, m.others)):
		return anyhow
	}
	for _, row := range open[1:] {
		if class := m.Class[row]; m.Space.Reads[class] && !m.discharged(c, row) && m.lookahead.MayFollow(now, m.Space.Ops[class], m.others) {
			return aiming
		}
	}
	if aimed {
		return hopeless
	}
	return itself
}

// misses says whether some open operation that must happen never can, in a configuration at the k-th return. It looks at
// those that liveness.go looks at.
func (m *transitions) misses(k, state int32, c []uint64) bool {
	open := m.OpenRows(k)
	m.Work += len(open)
	for _, row := range open {
		if !m.discharged(c, row) && (row == open[0] || m.Ops.Res[row] < m.horizon) && m.lookahead.Never(m.Space.States[state], m.Space.Ops[m.Class[row]]) {
			m.blame(row, open)
			return true
		}
	}
	return false
}

// follow returns the plan of a configuration at the k-th return if the model guides the search.
func (m *transitions) follow(k, state int32, c []uint64) plan {
	returning := m.OpenRows(k)[0]
	if m.discharged(c, returning) {
		return anyhow
	}
	m.gatherAll(k, c)
	switch course := m.guide.Course(m.Space.States[state], m.Ops.Op(returning), m.others); course {
	case models.Anyhow:
		return anyhow
	case models.Directly:
		return itself
	default:
		return guided + plan(course)
	}
}

// gatherAll fills others with the operations that are open at the k-th return and
// may still be linearized, except for the one that returns. If the search began
// with anything (localproof.go), these are more than the operations that must be
// linearized.
func (m *transitions) gatherAll(k int32, c []uint64) {
	m.others = m.others[:0]
	for _, row := range m.OpenRows(k)[1:] {
		if m.free(c, row) {
			m.others = append(m.others, m.Ops.Op(row))
		}
	}
	m.Work += len(m.others)
}

// keeps says whether a row keeps to a plan. If the plan is a course, others are gathered.
func (m *transitions) keeps(k, state, row int32, p plan) bool {
	if p < guided {
		return true
	}
	returning, crashed := m.Ops.Op(m.OpenRows(k)[0]), m.Ops.Res[row] == models.Open
	return m.possible(state, m.Class[row]) &&
		m.guide.Keeps(m.Space.States[state], models.Course(p-guided), returning, m.Ops.Op(row), crashed, m.others)
}

// gather fills others with the operations that may be linearized before the k-th
// return, except for reads and the operation that returns.
func (m *transitions) gather(k int32, c []uint64) {
	m.others = m.others[:0]
	for _, row := range m.OpenRows(k)[1:] {
		if !m.Space.Reads[m.Class[row]] && m.free(c, row) {
			m.others = append(m.others, m.Ops.Op(row))
		}
	}
	for crash, of := range m.Crashed {
		for _, row := range of.Rows[m.used(c, crash):] {
			if m.Ops.Inv[row] > m.Ends[k] {
				break
			}
			m.others = append(m.others, m.Ops.Op(row))
		}
	}
	m.Work += len(m.others)
}

// aimed says whether a configuration owes a read before the operation that
// returns. A slot of its own holds that bit, among the slots that are gone.
func (m *transitions) aimed(c []uint64) bool {
	return m.lookahead != nil && fallback.HasBit(c[m.Words:], m.aim)
}

// aimAt records that a row was used with a plan.
func (m *transitions) aimAt(k int32, c []uint64, row int32, p plan) {
	switch {
	case m.lookahead == nil:
	case m.Space.Reads[m.Class[row]] || row == m.OpenRows(k)[0]:
		fallback.ClearBit(c[m.Words:], m.aim)
	case p == aiming:
		fallback.SetBit(c[m.Words:], m.aim)
	}
}

// use marks a row as used, with a plan, in a configuration at the k-th return.
func (m *transitions) use(k int32, c []uint64, row int32, crash int, p plan) {
	class := m.Class[row]
	m.aimAt(k, c, row, p)
	if returning := m.OpenRows(k)[0]; row != returning && m.discharged(c, returning) {
		// It could return as it is. Since it does not, whatever comes before it is
		// meant to let it happen.
		fallback.ClearBit(c, m.Slot[returning])
	}
	if m.Space.Blind[class] && !m.NoCovering {
		if m.blind == nil {
			m.findMasks()
		}
		for i, blind := range m.blind[int(k)*m.Words : (int(k)+1)*m.Words] {
			c[i] |= blind &^ c[m.Words+i]
		}
	}
	if m.live != nil && !m.NoCovering {
		m.cover(k, c, class)
	}
	if crash >= 0 {
		if !m.endless {
			m.counts.Of[crash].Use(c)
		}
		return
	}
	fallback.SetBit(c, m.Slot[row])
	if !m.narrow[class] {
		fallback.SetBit(c[m.Words:], m.Slot[row])
	}
}

// cover discharges the open rows that an operation of a class covers.
func (m *transitions) cover(k int32, c []uint64, class int32) {
	if m.live.hides[class] == 0 {
		return
	}
	open := m.OpenRows(k)
	m.Work += len(open)
	for _, o := range open {
		if m.live.covers(class, m.Class[o]) && !fallback.HasBit(c[m.Words:], m.Slot[o]) {
			fallback.SetBit(c, m.Slot[o])
		}
	}
}

// withoutDead returns a state at the k-th return, with one value for all that no
// operation will see.
func (m *transitions) withoutDead(k, state int32) int32 {
	if m.live == nil || m.NoForgetting || int(k) == len(m.Ends) {
		return state
	}
	return m.live.forget(k, state)
}

// read linearizes the open rows that fit the state, change nothing there and may
// only narrow down what can happen, and appends them to order.
func (m *transitions) read(order []int32, k int32, c []uint64, state int32) []int32 {
	if m.NoEagerReads {
		return order
	}
	for _, row := range m.OpenRows(k) {
		class := m.Class[row]
		if !m.narrow[class] || m.discharged(c, row) {
			continue
		}
		if possible, same := m.Space.Fits(state, class); possible && (same || m.Space.Reads[class]) {
			fallback.SetBit(c, m.Slot[row])
			m.aimAt(k, c, row, anyhow)
			order = append(order, row)
		}
	}
	return order
}

// pass frees the slot of the operation that returns.
func (m *transitions) pass(k int32, c []uint64) {
	slot := m.Slot[m.OpenRows(k)[0]]
	fallback.ClearBit(c, slot)
	fallback.ClearBit(c[m.Words:], slot)
}

// settle turns the order of a search into a linearization. The order has the
// complement of a row that passed its return discharged, without having been
// used. Such a row belongs right before the operation that overwrote last.
func (m *transitions) settle(order []int32) []int32 {
	type place struct{ before, row int32 }
	var places []place // ascending
	last := int32(-1)
	for i, row := range order {
		switch {
		case row < 0 && m.live != nil:
			last = int32(i) - 1
			for order[last] < 0 || !m.live.covers(m.Class[order[last]], m.Class[^row]) {
				last--
			}
			places = append(places, place{last, ^row})
		case row < 0:
			places = append(places, place{last, ^row})
		case m.Space.Blind[m.Class[row]]:
			last = int32(i)
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return int(a.before - b.before) })
	if len(places) == 0 {
		return order
	}
	settled := make([]int32, 0, len(order))
	for i, row := range order {
		for ; len(places) > 0 && places[0].before == int32(i); places = places[1:] {
			settled = append(settled, places[0].row)
		}
		if row >= 0 {
			settled = append(settled, row)
		}
	}
	return settled
}

// antichain holds configurations none of which makes another one redundant.
type antichain struct {
	*transitions
	chunks [][]uint64
	n      int32
	heads  []int32 // the first of a list of configurations, plus 1
	reuse  bool    // redundant configurations make room for new ones
	free   []int32
}

// In a chunk, two words stand before each configuration: its return and state,
// and the next one in its list, plus 1, or dead.
const (
	chunkBits = 8
	header    = 2
	dead      = ^uint64(0)
	minHeads  = 64
)

func newAntichain(m *transitions, reuse bool) *antichain {
	return &antichain{transitions: m, reuse: reuse, heads: make([]int32, minHeads)}
}

func (a *antichain) record(i int32) []uint64 {
	stride := header + a.width
	at := int(i) & (1<<chunkBits - 1) * stride
	return a.chunks[i>>chunkBits][at : at+stride]
}

func (a *antichain) config(i int32) (state int32, c []uint64) {
	r := a.record(i)
	return int32(uint32(r[0])), r[header:]
}

func (a *antichain) isDead(i int32) bool { return a.record(i)[1] == dead }

func keyOf(k, state int32) uint64 { return uint64(uint32(k))<<32 | uint64(uint32(state)) }

// asGood says whether two keys have the same return, and whatever is possible in the state
// of the second one is so in that of the first one.
func (a *antichain) asGood(first, second uint64) bool {
	if first == second || a.ranks == nil {
		return first == second
	}
	s, t := int32(uint32(first)), int32(uint32(second))
	return first>>32 == second>>32 && a.ranks.group(a.Space, s) == a.ranks.group(a.Space, t) && a.ranks.rank[s] <= a.ranks.rank[t]
}

// ranks holds the groups and ranks of states (see models.Traits.Rank).
type ranks struct {
	of      func(s models.State) (group models.State, rank int32)
	groups  []int32 // by state
	rank    []int32 // by state
	numbers map[string]int32
	key     []byte
}

// group returns the number of a state's group.
func (r *ranks) group(space *fallback.Space, state int32) int32 {
	for n := len(r.groups); n <= int(state); n++ {
		group, rank := r.of(space.States[n])
		r.key = r.key[:0]
		for _, x := range group {
			r.key = binary.LittleEndian.AppendUint32(r.key, uint32(x))
		}
		number, ok := r.numbers[string(r.key)]
		if !ok {
			number = int32(len(r.numbers))
			r.numbers[string(r.key)] = number
		}
		r.groups, r.rank = append(r.groups, number), append(r.rank, rank)
	}
	return r.groups[state]
}

// bucket returns the list that a configuration belongs to.
func (a *antichain) bucket(key uint64, c []uint64) *int32 {
	if a.ranks != nil {
		key = keyOf(int32(key>>32), a.ranks.group(a.Space, int32(uint32(key))))
	}
	if a.exact == nil {
		a.findMasks()
	}
	h := key * 0x9e3779b97f4a7c15
	k := int(key >> 32)
	for i, exact := range a.exact[k*a.Words : (k+1)*a.Words] {
		h = (h ^ h>>29 ^ c[i]&exact) * 0xbf58476d1ce4e5b9
	}
	return &a.heads[(h^h>>32)&uint64(len(a.heads)-1)]
}

// covered says whether a configuration is redundant.
func (a *antichain) covered(k, state int32, c []uint64) bool {
	if int(a.n) == len(a.free) {
		return false // it is empty
	}
	key := keyOf(k, state)
	for i := *a.bucket(key, c); i != 0; {
		r := a.record(i - 1)
		if a.asGood(r[0], key) && a.covers(r[header:], c) {
			return true
		}
		i = int32(r[1])
		a.Work += 2
	}
	return false
}

// add adds a configuration that is not redundant, and removes those that it
// makes redundant. It returns the place of the new one.
func (a *antichain) add(k, state int32, c []uint64) int32 {
	key := keyOf(k, state)
	head := a.bucket(key, c)
	for at := uint64(*head); at != 0; {
		r := a.record(int32(at) - 1)
		next := r[1]
		if a.asGood(key, r[0]) && a.covers(c, r[header:]) {
			a.unlink(head, int32(at))
		}
		at = next
		a.Work += 2
	}
	i := a.room()
	if a.Cause != "" {
		return i
	}
	r := a.record(i)
	head = a.bucket(key, c)
	r[0], r[1] = key, uint64(*head)
	copy(r[header:], c)
	*head = i + 1
	return i
}

// unlink removes a configuration, given plus 1, from its list.
func (a *antichain) unlink(head *int32, which int32) {
	r := a.record(which - 1)
	if *head == which {
		*head = int32(r[1])
	} else {
		at := *head
		for int32(a.record(at - 1)[1]) != which {
			at = int32(a.record(at - 1)[1])
			a.Work++
		}
		a.record(at - 1)[1] = r[1]
	}
	r[1] = dead
	if a.reuse {
		a.free = append(a.free, which-1)
	}
}

// room returns a place for a configuration.
func (a *antichain) room() int32 {
	if n := len(a.free); n > 0 {
		i := a.free[n-1]
		a.free = a.free[:n-1]
		return i
	}
	if int(a.n)>>chunkBits == len(a.chunks) {
		words := (header + a.width) << chunkBits
		if a.Take(8*int64(words) + 4<<chunkBits + a.Space.Spent()); a.Cause != "" {
			return 0
		}
		a.chunks = append(a.chunks, make([]uint64, words))
	}
	if int(a.n) >= len(a.heads) {
		a.rehash()
	}
	a.n++
	return a.n - 1
}

func (a *antichain) rehash() {
	if n := 2 * len(a.heads); n <= cap(a.heads) {
		a.heads = a.heads[:n]
		clear(a.heads)
	} else if a.Take(2 * int64(n)); a.Cause != "" {
		return
	} else {
		a.heads = make([]int32, n)
	}
	for i := range a.n {
		r := a.record(i)
		if r[1] == dead {
			continue
		}
		head := a.bucket(r[0], r[header:])
		r[1] = uint64(*head)
		*head = i + 1
	}
}

// empty removes all configurations.
func (a *antichain) empty() {
	for len(a.heads) > minHeads && 8*int(a.n) < len(a.heads) {
		a.heads = a.heads[:len(a.heads)/2]
	}
	clear(a.heads)
	a.n, a.free = 0, a.free[:0]
}
