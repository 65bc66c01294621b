package isolation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"clew/jepsen"
	"clew/models"
)

// The twin decides each level from its definition, on transactions of its own: it searches for orders, for snapshots and
// commits, and for orders of versions.

// tstep is a micro-operation: an append of a value, or a read of a list.
type tstep struct {
	register bool // it writes or reads the end of the list
	unknown  bool // it read nil, which says nothing
	append   bool
	key      int
	value    int
	list     []int
}

// ttxn is a transaction.
type ttxn struct {
	inv, res int // res is -1 if it never returned
	process  int
	status   jepsen.Status
	steps    []tstep
}

// appended returns what a transaction appends to a key, in order.
func (t *ttxn) appended(key int) (values []int) {
	for _, s := range t.steps {
		if s.append && s.key == key {
			values = append(values, s.value)
		}
	}
	return values
}

// shows says whether a read shows a list, or its end.
func (s *tstep) shows(list []int) bool {
	if s.register {
		return s.unknown || lastOf(list) == lastOf(s.list)
	}
	return slices.Equal(list, s.list)
}

// lastOf returns the last element of a list, or 0.
func lastOf(list []int) int {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1]
}

// touches says whether it is known to concern a key.
func (t *ttxn) touches(key int) bool {
	return slices.ContainsFunc(t.steps, func(s tstep) bool { return s.key == key && (s.append || t.status == jepsen.Succeeded && !s.unknown) })
}

// explains says whether all reads of a transaction show lists, and what it appended before.
func (t *ttxn) explains(lists [][]int) bool {
	now := slices.Clone(lists)
	for _, s := range t.steps {
		if s.append {
			now[s.key] = append(slices.Clone(now[s.key]), s.value)
		} else if t.status == jepsen.Succeeded && !s.shows(now[s.key]) {
			return false
		}
	}
	return true
}

// after returns lists with what a transaction appends.
func (t *ttxn) after(lists [][]int) [][]int {
	now := slices.Clone(lists)
	for _, s := range t.steps {
		if s.append {
			now[s.key] = append(slices.Clone(now[s.key]), s.value)
		}
	}
	return now
}

// twin says whether transactions are at a level.
func twin(txns []ttxn, keys int, level models.Level) bool {
	before, live := precedes(level, keys), live(txns)
	switch level {
	case models.SnapshotIsolation, models.StrongSessionSnapshotIsolation:
		return (&points{txns: live, keys: keys, before: before, seen: map[string]bool{}}).search(0, 0, make([][]int, keys))
	case models.ReadCommitted, models.ReadUncommitted:
		if slices.ContainsFunc(txns, func(t ttxn) bool { return slices.ContainsFunc(t.steps, func(s tstep) bool { return s.register }) }) {
			return adyaRegisters(txns, keys, level)
		}
		return adya(live, txns, keys, level)
	}
	return ordered(live, before, 0, make([][]int, keys), map[string]bool{})
}

// live returns the transactions that did not fail.
func live(txns []ttxn) (live []ttxn) {
	for _, t := range txns {
		if t.status != jepsen.Failed {
			live = append(live, t)
		}
	}
	return live
}

// precedes returns which transactions come before others at a level.
func precedes(level models.Level, keys int) func(a, b *ttxn) bool {
	returned := func(a, b *ttxn) bool { return a.res >= 0 && a.res < b.inv }
	switch level {
	case models.StrictSerializable:
		return returned
	case models.StrongSessionSerializable, models.StrongSessionSnapshotIsolation:
		return func(a, b *ttxn) bool { return a.process == b.process && returned(a, b) }
	case models.SerializableLinearizableKeys:
		return func(a, b *ttxn) bool {
			for key := range keys {
				if a.touches(key) && b.touches(key) && returned(a, b) {
					return true
				}
			}
			return false
		}
	}
	return func(a, b *ttxn) bool { return false }
}

// ordered says whether the transactions that are not done yet have an order. Those that crashed may be left out.
func ordered(txns []ttxn, before func(a, b *ttxn) bool, done int, lists [][]int, seen map[string]bool) bool {
	must := false
	for i := range txns {
		must = must || done&(1<<i) == 0 && txns[i].status == jepsen.Succeeded
	}
	if !must {
		return true
	}
	id := fmt.Sprint(done, lists)
	if seen[id] {
		return false
	}
	seen[id] = true
next:
	for i := range txns {
		if done&(1<<i) != 0 || !txns[i].explains(lists) {
			continue
		}
		for j := range txns {
			if j != i && done&(1<<j) == 0 && before(&txns[j], &txns[i]) {
				continue next
			}
		}
		if ordered(txns, before, done|1<<i, txns[i].after(lists), seen) {
			return true
		}
	}
	return false
}

// points searches for snapshots and commits.
type points struct {
	txns   []ttxn
	keys   int
	before func(a, b *ttxn) bool
	seen   map[string]bool
}

// search goes on where some transactions have taken their snapshots, some of those have committed, and that left these lists.
func (p *points) search(started, committed int, lists [][]int) bool {
	must := false
	for i := range p.txns {
		must = must || committed&(1<<i) == 0 && p.txns[i].status == jepsen.Succeeded
	}
	if !must {
		return true
	}
	id := fmt.Sprint(started, committed, lists)
	if p.seen[id] {
		return false
	}
	p.seen[id] = true
	for i := range p.txns {
		t, bit := &p.txns[i], 1<<i
		switch {
		case started&bit == 0 && p.mayStart(i, started, committed) && t.explains(lists):
			if p.search(started|bit, committed, lists) {
				return true
			}
		case started&bit != 0 && committed&bit == 0:
			if p.search(started, committed|bit, t.after(lists)) {
				return true
			}
		}
	}
	return false
}

// mayStart says whether a transaction may take its snapshot: all that come before it have committed, and none is open that
// updates a key that it updates, too.
func (p *points) mayStart(i, started, committed int) bool {
	for j := range p.txns {
		if j == i {
			continue
		}
		if committed&(1<<j) == 0 && p.before(&p.txns[j], &p.txns[i]) && (p.txns[j].status == jepsen.Succeeded) {
			return false
		}
		if started&(1<<j) != 0 && committed&(1<<j) == 0 {
			for key := range p.keys {
				if p.txns[i].appended(key) != nil && p.txns[j].appended(key) != nil {
					return false
				}
			}
		}
	}
	return true
}

// adya decides read committed and read uncommitted. It tries each order of the elements that no list shows.
func adya(live, all []ttxn, keys int, level models.Level) bool {
	rc := level == models.ReadCommitted
	writer := map[[2]int]int{} // by key and value, in live
	for i := range live {
		for key := range keys {
			for _, v := range live[i].appended(key) {
				writer[[2]int{key, v}] = i
			}
		}
	}
	failed := map[[2]int]bool{}
	for i := range all {
		if all[i].status == jepsen.Failed {
			for key := range keys {
				for _, v := range all[i].appended(key) {
					if _, other := writer[[2]int{key, v}]; !other {
						failed[[2]int{key, v}] = true
					}
				}
			}
		}
	}
	happened := make([]bool, len(live))
	longest := make([][]int, keys)
	for i := range live {
		happened[i] = live[i].status == jepsen.Succeeded
		for _, s := range live[i].steps {
			if happened[i] && !s.append && len(s.list) > len(longest[s.key]) {
				longest[s.key] = s.list
			}
		}
	}
	for i := range live {
		if live[i].status != jepsen.Succeeded {
			continue // what it read is not known
		}
		shown := map[[2]int]bool{}
		for _, s := range live[i].steps {
			if s.append {
				if rc && shown[[2]int{s.key, s.value}] {
					return false // it read what it appended later
				}
				continue
			}
			count := map[int]int{}
			for _, v := range s.list {
				by, some := writer[[2]int{s.key, v}]
				if !some && !failed[[2]int{s.key, v}] {
					return false // nothing wrote it
				}
				if count[v]++; count[v] > 1 {
					return false
				}
				if rc && !some {
					return false // aborted
				}
				if some {
					happened[by] = true
				}
				shown[[2]int{s.key, v}] = true
			}
			if rc && !slices.Equal(s.list, longest[s.key][:len(s.list)]) {
				return false
			}
			if outside := outsideOf(&live[i], s); rc && len(outside) > 0 {
				last := outside[len(outside)-1]
				if of := live[writer[[2]int{s.key, last}]].appended(s.key); of[len(of)-1] != last {
					return false // replaced by the same transaction
				}
			}
		}
	}
	// Behind that on which all lists of a key agree comes the rest, in each order. More versions only add to what is wrong.
	orders := slices.Clone(longest)
	for i := range live {
		for _, s := range live[i].steps {
			for j, v := range s.list {
				if live[i].status == jepsen.Succeeded && !s.append && j < len(orders[s.key]) && v != orders[s.key][j] {
					orders[s.key] = orders[s.key][:j]
				}
			}
		}
	}
	var try func(key int) bool
	try = func(key int) bool {
		if !adyaOrders(live, happened, writer, orders, rc) {
			return false
		}
		if key == keys {
			return true
		}
		all, before := true, orders[key]
		for i := range live {
			for _, v := range live[i].appended(key) {
				if happened[i] && !slices.Contains(before, v) {
					all, orders[key] = false, append(slices.Clone(before), v)
					if try(key) {
						return true
					}
				}
			}
		}
		orders[key] = before
		return all && try(key+1)
	}
	return try(0)
}

// outsideOf returns a list that was read without what the reader has appended at its end.
func outsideOf(t *ttxn, s tstep) []int {
	list := s.list
	for len(list) > 0 && slices.Contains(t.appended(s.key), list[len(list)-1]) {
		list = list[:len(list)-1]
	}
	return list
}

// adyaOrders says whether the orders of versions make no cycle, nor contradict the order within transactions.
func adyaOrders(live []ttxn, happened []bool, writer map[[2]int]int, orders [][]int, rc bool) bool {
	n := len(live)
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = make([]bool, n)
	}
	for key, order := range orders {
		for i := range order {
			for j := range i {
				a, aLives := writer[[2]int{key, order[j]}]
				b, bLives := writer[[2]int{key, order[i]}]
				switch {
				case !aLives || !bLives:
				case a != b:
					reach[a][b] = true
				case rc && slices.Index(live[a].appended(key), order[j]) > slices.Index(live[a].appended(key), order[i]):
					return false
				}
			}
		}
	}
	if rc {
		for i := range live {
			for _, s := range live[i].steps {
				if outside := outsideOf(&live[i], s); !s.append && happened[i] && live[i].status == jepsen.Succeeded && len(outside) > 0 {
					if by := writer[[2]int{s.key, outside[len(outside)-1]}]; by != i {
						reach[by][i] = true
					}
				}
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	for i := range n {
		if reach[i][i] {
			return false
		}
	}
	return true
}

// text prints transactions as a history.
func text(txns []ttxn) string {
	type event struct {
		at   int
		text string
	}
	var events []event
	for _, t := range txns {
		values := func(returned bool) string {
			var b []string
			for _, s := range t.steps {
				switch {
				case s.register && s.append:
					b = append(b, fmt.Sprintf("[:w %d %d]", s.key, s.value))
				case s.append:
					b = append(b, fmt.Sprintf("[:append %d %d]", s.key, s.value))
				case !returned:
					b = append(b, fmt.Sprintf("[:r %d nil]", s.key))
				case s.register && (s.unknown || len(s.list) == 0):
					b = append(b, fmt.Sprintf("[:r %d %s]", s.key, initially(s.unknown, s.key)))
				case s.register:
					b = append(b, fmt.Sprintf("[:r %d %d]", s.key, lastOf(s.list)))
				default:
					b = append(b, fmt.Sprintf("[:r %d %v]", s.key, s.list))
				}
			}
			return "[" + strings.Join(b, " ") + "]"
		}
		line := func(at int, typ string, returned bool) {
			events = append(events, event{at, fmt.Sprintf("{:process %d, :type :%s, :f :txn, :value %s}\n", t.process, typ, values(returned))})
		}
		line(t.inv, "invoke", false)
		switch {
		case t.status == jepsen.Succeeded:
			line(t.res, "ok", true)
		case t.status == jepsen.Failed:
			line(t.res, "fail", false)
		case t.res < -1:
			line(-t.res, "info", false)
		}
	}
	slices.SortFunc(events, func(a, b event) int { return a.at - b.at })
	var b strings.Builder
	for _, e := range events {
		b.WriteString(e.text)
	}
	return b.String()
}

// store runs transactions, with as little isolation as it is told.
type store struct {
	r      *rand.Rand
	keys   int
	lists  [][]int
	fresh  int
	serial bool // a transaction runs at once
	snap   bool // it reads from a snapshot
	dirty  bool // it appends at once
	late   bool // it may commit after it has returned
	stale  bool // a snapshot may be old
	first  bool // the first of those that update a key at the same time wins
	probe  bool // a transaction appends once, or reads all keys
	torn   bool // and not the same for all keys
	past   [][][]int
	writes float64
	wrong  float64
	txns   []ttxn
}

// running is a transaction that runs.
type running struct {
	txn       int
	lists     [][]int // its snapshot
	own       [][]int
	at        int // the next step
	committed bool
	returned  bool
}

// draw makes transactions.
func draw(r *rand.Rand, n, keys, processes, steps int) ([]ttxn, int) {
	if n > 3 && r.IntN(20) == 0 {
		return blind(r, n, 2+r.IntN(2))
	}
	txns, keys := drawStore(r, n, keys, processes, steps)
	if r.IntN(2) == 0 {
		arrange(r, txns, keys)
	}
	return txns, keys
}

// blind makes transactions that append to one key and read others as they are initially. Nothing reads what they append.
func blind(r *rand.Rand, n, keys int) (txns []ttxn, of int) {
	for i := range n {
		t := ttxn{inv: i, res: n + i, process: i, status: jepsen.Succeeded}
		key := r.IntN(keys)
		t.steps = append(t.steps, tstep{append: true, key: key, value: i + 1})
		for other := range keys {
			if other != key && r.IntN(3) > 0 {
				t.steps = append(t.steps, tstep{key: other})
			}
		}
		txns = append(txns, t)
	}
	return txns, keys
}

// arrange makes transactions read what they would have read in some order that a level allows, and some of them something else.
func arrange(r *rand.Rand, txns []ttxn, keys int) {
	var open []int
	for now, next := 2, 0; next < len(txns) || len(open) > 0; now++ {
		if next < len(txns) && (len(open) == 0 || len(open) < 3 && r.IntN(2) == 0) {
			t := &txns[next]
			t.inv, t.process = now, r.IntN(3)
			for slices.ContainsFunc(open, func(i int) bool { return txns[i].process == t.process }) {
				t.process++
			}
			open = append(open, next)
			next++
			continue
		}
		i := r.IntN(len(open))
		if r.IntN(5) > 0 { // long ones see more of the order in time
			for j := range open {
				if len(txns[open[j]].steps) < len(txns[open[i]].steps) {
					i = j
				}
			}
		}
		t := &txns[open[i]]
		switch {
		case t.res >= 0:
			t.res = now
		case t.res < -1:
			t.res = -now
		default:
			t.process += 100 * (1 + open[i])
		}
		open = slices.Delete(open, i, i+1)
	}
	levels := models.AllLevels()[:4]
	before, lists, past := precedes(levels[r.IntN(len(levels))], keys), make([][]int, keys), [][][]int(nil)
	for left := r.Perm(len(txns)); len(left) > 0; {
		at := slices.IndexFunc(left, func(i int) bool {
			return !slices.ContainsFunc(left, func(j int) bool { return i != j && before(&txns[j], &txns[i]) })
		})
		t := &txns[left[at]]
		left = slices.Delete(left, at, at+1)
		past = append(past, lists)
		now := lists
		if r.IntN(max(12, len(txns)*len(txns)/3)) == 0 {
			now = past[r.IntN(len(past))]
		}
		now = slices.Clone(now)
		for i := range t.steps {
			if s := &t.steps[i]; s.append {
				now[s.key] = append(slices.Clone(now[s.key]), s.value)
			} else {
				s.list = now[s.key]
			}
		}
		if t.status == jepsen.Succeeded || t.status == jepsen.Crashed && r.IntN(2) == 0 {
			lists = t.after(lists)
		}
	}
}

// drawStore makes transactions of a store that may be wrong.
func drawStore(r *rand.Rand, n, keys, processes, steps int) ([]ttxn, int) {
	s := &store{r: r, keys: keys, lists: make([][]int, keys), late: r.IntN(4) == 0, stale: r.IntN(2) == 0, writes: 0.3 + 0.4*r.Float64(),
		first: r.IntN(2) == 0, probe: r.IntN(2) == 0, torn: r.IntN(3) == 0}
	switch r.IntN(12) {
	case 0, 1:
		s.serial = true
	case 2, 3, 4, 5, 6, 7:
		s.snap = true
	case 8:
		s.dirty = true
	}
	if r.IntN(3) == 0 {
		s.wrong = 0.1
	}
	s.run(n, processes, steps)
	return s.txns, keys
}

func (s *store) run(n, processes, steps int) {
	busy := make([]bool, processes)
	var open []*running
	for now := 0; len(s.txns) < n || len(open) > 0; now++ {
		if p := s.r.IntN(processes); len(s.txns) < n && !busy[p] && s.r.IntN(3) == 0 {
			busy[p] = true
			t := ttxn{inv: now, res: -1, process: p, status: jepsen.Crashed}
			n, reads := 1+s.r.IntN(steps), s.probe && s.r.Float64() >= s.writes
			if s.probe {
				n = 1
			}
			if reads {
				n = s.keys
			}
			for i := range n {
				step := tstep{append: s.r.Float64() < s.writes, key: s.r.IntN(s.keys)}
				if s.probe {
					step.append = !reads
				}
				if reads {
					step.key = i
				}
				if step.append {
					s.fresh++
					step.value = s.fresh
				}
				t.steps = append(t.steps, step)
			}
			s.txns = append(s.txns, t)
			open = append(open, &running{txn: len(s.txns) - 1})
			continue
		}
		if len(open) == 0 {
			continue
		}
		i := s.r.IntN(len(open))
		if x := open[i]; s.advance(x, now) {
			if s.txns[x.txn].status != jepsen.Crashed || s.txns[x.txn].res < -1 {
				busy[s.txns[x.txn].process] = false // else it hangs
			} else if s.txns[x.txn].res == -1 {
				busy[s.txns[x.txn].process] = false
				s.txns[x.txn].process += 100 * (1 + x.txn) // others go on under another number
			}
			open = slices.Delete(open, i, i+1)
		}
	}
}

// advance does the next thing of a transaction, and says whether that was the last one.
func (s *store) advance(x *running, now int) bool {
	t := &s.txns[x.txn]
	if x.lists == nil {
		x.lists, x.own = slices.Clone(s.lists), make([][]int, s.keys)
		if s.past = append(s.past, s.lists); s.stale {
			x.lists = slices.Clone(s.past[s.r.IntN(len(s.past))])
		}
		if s.torn {
			for key := range s.keys {
				x.lists[key] = s.past[s.r.IntN(len(s.past))][key]
			}
		}
	}
	for x.at < len(t.steps) {
		s.step(x, &t.steps[x.at])
		if x.at++; !s.serial && s.r.IntN(2) == 0 {
			return false
		}
	}
	if !x.returned && (x.committed || s.late && s.r.IntN(3) == 0) {
		x.returned = true
		switch s.r.IntN(12) {
		case 0:
			t.res = -now // :info
			if now < 2 {
				t.res = -1
			}
		case 1:
		case 2:
			t.status, t.res = jepsen.Failed, now
		default:
			t.status, t.res = jepsen.Succeeded, now
		}
		return x.committed
	}
	if !x.committed {
		x.committed = true
		lost := s.r.IntN(10) == 0
		for key, own := range x.own {
			lost = lost || s.first && own != nil && !slices.Equal(s.lists[key], x.lists[key])
		}
		if lost && !x.returned && s.r.IntN(10) > 0 {
			t.status, t.res = jepsen.Failed, now
			return true
		}
		if !s.dirty && !lost {
			for key, own := range x.own {
				s.lists[key] = append(slices.Clone(s.lists[key]), own...)
			}
		}
	}
	return x.returned
}

// step runs a step.
func (s *store) step(x *running, step *tstep) {
	switch {
	case step.append && s.dirty:
		s.lists[step.key] = append(slices.Clone(s.lists[step.key]), step.value)
	case step.append:
		x.own[step.key] = append(x.own[step.key], step.value)
	case s.snap:
		step.list = slices.Concat(x.lists[step.key], x.own[step.key])
	default:
		step.list = slices.Concat(s.lists[step.key], x.own[step.key])
	}
	if step.append || s.r.Float64() >= s.wrong {
		return
	}
	switch n := len(step.list); s.r.IntN(4) {
	case 0:
		step.list = step.list[:s.r.IntN(n+1)]
	case 1:
		step.list = slices.Insert(slices.Clone(step.list), s.r.IntN(n+1), 1+s.r.IntN(s.fresh+1))
	case 2:
		if n > 1 {
			i := s.r.IntN(n - 1)
			step.list = slices.Clone(step.list)
			step.list[i], step.list[i+1] = step.list[i+1], step.list[i]
		}
	case 3:
		if n > 0 {
			i := s.r.IntN(n)
			step.list = slices.Delete(slices.Clone(step.list), i, i+1)
		}
	}
}
