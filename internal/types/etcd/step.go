package etcd

import (
	"fmt"

	"clew/models"
)

// event is a key that was put or deleted.
type event struct {
	key      int32
	revision int32
	was, is  entry // their value is absent if the key is
}

// wrong is why an operation cannot happen.
type wrong struct {
	what      mistake
	key       int32
	got, want int32 // what the state has, and what the answer shows
	idle      int32 // the lease of a put that does nothing as that is not there, or 0
}

type mistake uint8

const (
	nothing mistake = iota
	ofRevision
	ofNext
	ofBranch
	ofMissing
	ofExtra
	ofCount
	ofDeleted
	ofCompacted
	ofFuture
	ofLease
	ofWatch
	ofField // and those after it, for each field
)

// no notes why an operation cannot happen.
func (x *now) no(what mistake, key, got, want int32) bool {
	x.wrong = wrong{what: what, key: key, got: got, want: want}
	return false
}

// apply lets an operation happen if it can, and says so. If it cannot, x is as it was.
func (m *etcd) apply(x *now, c *call) bool {
	x.undo, x.wrong = x.undo[:0], wrong{}
	a := &c.answer
	switch c.kind {
	case transaction:
		return m.transact(x, c)
	case grant:
		if !x.at(a.revision, 0) {
			return false
		}
		x.let(c.lease, true)
		return true
	case revoke:
		return m.revoke(x, c)
	case compact:
		if ok := x.at(a.revision, 0) && x.reaches(c.revision, a.refused, x.compacted()); !ok || a.refused != notRefused {
			return ok
		}
		x.change()
		x.s[atCompacted] = c.revision
		return true
	case watching:
		reached := m.watches[c.watch].reached
		return reached <= x.revision() || x.no(ofFuture, 0, x.revision(), reached)
	case old:
		return m.looksBack(x, c)
	}
	return true
}

// at says whether the revision is the one that an answer tells, after some more updates.
func (x *now) at(told, more int32) bool {
	switch {
	case told == untold || told == x.revision()+more:
		return true
	case more > 0:
		return x.no(ofNext, 0, x.revision()+more, told)
	}
	return x.no(ofRevision, 0, x.revision(), told)
}

// reaches says whether a revision is above the compacted one, or one that is not allowed any more, and not above the
// current one, or that the answer refuses it for that.
func (x *now) reaches(revision int32, refused refusal, compacted int32) bool {
	switch {
	case revision <= compacted:
		return refused == wasCompacted || x.no(ofCompacted, 0, x.compacted(), revision)
	case revision > x.revision():
		return refused == inFuture || x.no(ofFuture, 0, x.revision(), revision)
	case refused == wasCompacted:
		return x.no(ofCompacted, 0, x.compacted(), revision)
	case refused == inFuture:
		return x.no(ofFuture, 0, x.revision(), revision)
	}
	return true
}

// looksBack says whether a read of an old revision can happen. What it shows is judged once the order is known.
func (m *etcd) looksBack(x *now, c *call) bool {
	if told := c.answer.revision; told > x.revision() && (!c.pinned || c.answer.refused != notRefused) {
		return x.no(ofFuture, 0, x.revision(), told)
	}
	return !c.pinned || x.reaches(c.revision, c.answer.refused, x.compacted()-1)
}

func (m *etcd) revoke(x *now, c *call) bool {
	if c.answer.refused == noLease {
		return x.at(c.answer.revision, 0) && (!x.has(c.lease) || x.no(ofLease, 0, 1, 0))
	}
	more := int32(0)
	for at := x.base(); at < len(x.s) && more == 0; at += wide {
		if x.s[at+1+int(lease)] == c.lease {
			more = 1
		}
	}
	if !x.at(c.answer.revision, more) {
		return false
	}
	for at := x.base(); at < len(x.s) && more > 0; {
		if x.s[at+1+int(lease)] == c.lease {
			m.drop(x, at)
		} else {
			at += wide
		}
	}
	if !m.moved(x, c, more) {
		return false
	}
	x.let(c.lease, false)
	return true
}

// moved brings the state to the next revision if something has changed.
func (m *etcd) moved(x *now, c *call, more int32) bool {
	if !x.at(c.answer.revision, more) || more > 0 && !m.seenBy(x) {
		x.back()
		return false
	}
	if more > 0 {
		x.change()
		x.s[atRevision]++
	}
	return true
}

// transact lets a transaction happen.
func (m *etcd) transact(x *now, c *call) bool {
	a := &c.answer
	if told := a.revision; told != untold && told != x.revision() && (told != x.revision()+1 || a.refused != notRefused) {
		return x.no(ofRevision, 0, x.revision(), told)
	}
	branch := m.branch(x, c)
	if a.branch != untold && a.branch != branch {
		return x.no(ofBranch, 0, branch, a.branch)
	}
	if a.refused == noLease {
		return m.lacksLease(x, m.actionsOf(c, branch))
	}
	more := int32(0)
	actions := m.actionsOf(c, branch)
	for i := range actions {
		changes, ok := m.act(x, &actions[i], m.resultOf(c, i))
		if !ok {
			x.back()
			x.wrong.idle = x.lacking(actions)
			return false
		}
		if changes {
			more = 1
		}
	}
	if !m.moved(x, c, more) {
		x.wrong.idle = x.lacking(actions)
		return false
	}
	return true
}

// branch returns 1 if all tests hold, else 0.
func (m *etcd) branch(x *now, c *call) int32 {
	for _, t := range within(m.tests, c.tests) {
		if e, _ := x.get(t.key); e[t.field] != t.want {
			return 0
		}
	}
	return 1
}

// lacksLease says whether some put has a lease that is not there. Then nothing happens.
func (m *etcd) lacksLease(x *now, actions []action) bool {
	return x.lacking(actions) != 0 || x.no(ofLease, 0, 1, 0)
}

// lacking returns the first lease of a put that is not there, or 0.
func (x *now) lacking(actions []action) int32 {
	for i := range actions {
		if a := &actions[i]; a.do == puts && a.lease != 0 && !x.has(a.lease) {
			return a.lease
		}
	}
	return 0
}

// act lets an action happen if its result can be. It says whether that changes a key.
func (m *etcd) act(x *now, a *action, r *result) (changes, ok bool) {
	switch a.do {
	case gets:
		return false, r == nil || m.shows(x, a, r)
	case puts:
		if a.lease != 0 && !x.has(a.lease) {
			return false, true
		}
		was, there := x.get(a.key)
		is := entry{value: a.value, modified: x.revision() + 1, version: was[version] + 1, created: was[created], lease: a.lease}
		if !there {
			is[created] = is[modified]
		}
		x.put(a.key, is)
		x.tell(a.key, was, is)
		return true, true
	}
	n := int32(0)
	at, _ := x.find(a.lo)
	for at < len(x.s) && x.s[at] < a.hi {
		m.drop(x, at)
		n++
	}
	if r != nil && r.deleted != untold && r.deleted != n {
		return n > 0, x.no(ofDeleted, 0, n, r.deleted)
	}
	return n > 0, true
}

// drop deletes the key that stands somewhere.
func (m *etcd) drop(x *now, at int) {
	key, was := x.s[at], entry(x.s[at+1:at+wide])
	x.remove(at)
	x.tell(key, was, entry{value: absent})
}

func (x *now) tell(key int32, was, is entry) {
	if x.event != nil {
		x.event(event{key, x.revision() + 1, was, is})
	}
}

// shows says whether a range has a result.
func (m *etcd) shows(x *now, a *action, r *result) bool {
	at, _ := x.find(a.lo)
	n, found := int32(0), within(m.kvs, r.found)
	compares := r.finds && !a.countOnly
	for ; at < len(x.s) && x.s[at] < a.hi; at += wide {
		if compares && (a.limit == 0 || n < a.limit) && !x.fits(at, int(n), a, found) {
			return false
		}
		n++
	}
	shown := n
	if a.limit > 0 {
		shown = min(n, a.limit)
	}
	if compares && len(found) > int(shown) {
		return x.no(ofExtra, found[shown].key, 0, 0)
	}
	return r.count == untold || r.count == n || x.no(ofCount, 0, n, r.count)
}

// fits says whether the n-th key that a range found is the one that stands somewhere.
func (x *now) fits(at, n int, a *action, list []kv) bool {
	if n >= len(list) || list[n].key > x.s[at] {
		return x.no(ofMissing, x.s[at], x.s[at+1], 0)
	}
	found := &list[n]
	if found.key < x.s[at] {
		return x.no(ofExtra, found.key, 0, 0)
	}
	for f, want := range found.is {
		if got := x.s[at+1+f]; want != untold && want != got && !(a.keysOnly && field(f) == value) {
			return x.no(ofField+mistake(f), found.key, got, want)
		}
	}
	return true
}

// Step implements models.Model.
func (m *etcd) Step(dst []models.State, s models.State, op models.Op) []models.State {
	x := now{s: s}
	if !m.apply(&x, &m.calls[op.A]) {
		return dst
	}
	return append(dst, x.s)
}

// run begins a run, which changes its state in place.
func (m *etcd) run(s models.State) models.Run {
	return &etcdRun{m, now{s: append(models.State(nil), s...), own: true}}
}

type etcdRun struct {
	m *etcd
	now
}

func (r *etcdRun) Apply(op models.Op) models.Outcome {
	return models.OneIf(r.m.apply(&r.now, &r.m.calls[op.A]))
}

func (r *etcdRun) State() models.State { return append(models.State(nil), r.s...) }

// because is Traits.Because.
func (m *etcd) because(s models.State, op models.Op) string {
	x := now{s: s}
	if m.apply(&x, &m.calls[op.A]) {
		return ""
	}
	return m.says(x.wrong)
}

// Why implements models.Model.
func (m *etcd) Why(s models.State, op models.Op) string { return m.because(s, op) }

// says puts into words why an operation cannot happen.
func (m *etcd) says(w wrong) string {
	if w.idle != 0 {
		idle := w.idle
		w.idle = 0
		return fmt.Sprintf("%s; a put with lease %s does nothing, as there is no such lease", m.says(w), m.Text(idle))
	}
	key := ""
	if int(w.key) < len(m.keys) {
		key = m.V.Text(m.keys[w.key])
	}
	switch w.what {
	case ofRevision:
		return fmt.Sprintf("the revision is %d, not %d", w.got, w.want)
	case ofNext:
		return fmt.Sprintf("the next revision is %d, not %d", w.got, w.want)
	case ofBranch:
		return [...]string{"a condition does not hold, and the answer says that all do", "all conditions hold, and the answer says that one does not"}[w.got]
	case ofMissing:
		return fmt.Sprintf("%s is there, and the answer does not show it", key)
	case ofExtra:
		return fmt.Sprintf("%s is not there, and the answer shows it", key)
	case ofCount:
		return fmt.Sprintf("there are %d keys, not %d", w.got, w.want)
	case ofDeleted:
		return fmt.Sprintf("it deletes %d keys, not %d", w.got, w.want)
	case ofCompacted:
		return fmt.Sprintf("revision %d is asked for, and the compact revision is %d", w.want, w.got)
	case ofFuture:
		return fmt.Sprintf("the revision is only %d, and the answer needs %d", w.got, w.want)
	case ofLease:
		return "its leases are there"
	case ofWatch:
		return fmt.Sprintf("a watch shows something else of %s and revision %d", key, w.want)
	}
	names := [fieldCount]string{"value", "mod revision", "version", "create revision", "lease"}
	f := field(w.what - ofField)
	got, want := fmt.Sprint(w.got), fmt.Sprint(w.want)
	if f == value || f == lease {
		got, want = m.Text(w.got), m.Text(w.want)
	}
	return fmt.Sprintf("the %s of %s is %s, not %s", names[f], key, got, want)
}
