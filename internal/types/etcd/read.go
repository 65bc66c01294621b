package etcd

import (
	"fmt"
	"strings"

	"clew/edn"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// call is an operation: what it asks for, and its answer.
type call struct {
	kind     models.Kind
	pinned   bool    // a read says the revision itself
	tests    part    // of etcd.tests
	branches [2]part // of etcd.actions: what happens if a test fails, and if none does
	lease    int32
	revision int32 // of a compaction, or of an old state that is read
	watch    int32 // of a watch: its place in etcd.watches
	answer   answer
}

// part is what stands in a list from one place to another.
type part struct{ from, end int32 }

func (p part) len() int { return int(p.end - p.from) }

func within[T any](list []T, p part) []T { return list[p.from:p.end:p.end] }

// since returns the part of a list from a place on.
func since[T any](list []T, from int) part { return part{int32(from), int32(len(list))} }

// actionsOf returns what happens in a branch of a transaction.
func (m *etcd) actionsOf(c *call, branch int32) []action {
	return within(m.actions, c.branches[branch])
}

// resultOf returns the result of an action, nil if it is not told.
func (m *etcd) resultOf(c *call, i int) *result {
	if i < c.answer.results.len() {
		return &m.results[int(c.answer.results.from)+i]
	}
	return nil
}

// test is a condition of a transaction: a field of a key is what is wanted.
type test struct {
	key   int32
	field field
	want  int32
}

type doing uint8

const (
	gets doing = iota
	puts
	deletes
)

// action is what a transaction does: to a key, or to all keys from one to another.
type action struct {
	do                  doing
	key                 int32 // of a put, or the first of a range
	to                  edn.ID
	lo, hi              int32 // the keys' numbers once all are known
	value, lease        int32
	limit               int32 // 0: none
	keysOnly, countOnly bool
}

// untold is what an answer does not say.
const untold int32 = -1

// absent is the value of a key that is not there.
const absent int32 = -1

// refusal is an error that is an answer.
type refusal uint8

const (
	notRefused refusal = iota
	wasCompacted
	inFuture
	noLease
)

// refusals are the words for errors. Messages of etcd contain them.
var refusals = [...]string{wasCompacted: "compacted", inFuture: "future rev", noLease: "lease not found"}

// answer is what an operation returned.
type answer struct {
	refused  refusal
	revision int32
	branch   int32 // that a transaction took: 0 or 1
	results  part  // of etcd.results
}

// none is an answer that tells nothing.
var none = answer{revision: untold, branch: untold}

// result is what an action showed.
type result struct {
	found          part // of etcd.kvs
	finds          bool // found is told
	count, deleted int32
}

// kv is a key with its fields, each of which may be untold.
type kv struct {
	key int32
	is  entry
}

// request reads what an operation asks for.
func (m *etcd) request(c *call, o models.Operation) error {
	id := o.GivenID
	switch f := m.V.Str(o.FID); f {
	case "put":
		return m.readOne(c, puts, id, putWords)
	case "delete":
		return m.readOne(c, deletes, id, deleteWords)
	case "range":
		return m.readRange(c, id)
	case "txn":
		return m.readTxn(c, id)
	case "lease-grant", "lease-revoke":
		c.kind = grant
		if f == "lease-revoke" {
			c.kind = revoke
		}
		f, err := m.fields(id, leaseWords)
		c.lease = f.class(aLease, 0)
		return err
	case "compact":
		c.kind = compact
		f, err := m.fields(id, compactWords)
		if err == nil {
			c.revision, err = f.number(aRevision, 0)
		}
		return err
	case "watch":
		return m.readWatch(c, id)
	}
	c.kind = defragment
	return nil
}

// readOne reads a transaction of one action.
func (m *etcd) readOne(c *call, do doing, id edn.ID, known words) error {
	f, err := m.fields(id, known)
	if err == nil {
		err = m.only(c, do, &f)
	}
	return err
}

// only makes a call a transaction of one action.
func (m *etcd) only(c *call, do doing, f *fields) error {
	a, err := m.action(do, f)
	m.actions = hugepages.Append(m.actions, a)
	c.kind, c.branches[1] = transaction, since(m.actions, len(m.actions)-1)
	return err
}

// readRange reads a range. If it is of an old revision, or may be of any, it is judged once the order is known.
func (m *etcd) readRange(c *call, id edn.ID) error {
	f, err := m.fields(id, rangeWords)
	if err != nil {
		return err
	}
	if err := m.only(c, gets, &f); err != nil {
		return err
	}
	stale, err := f.yes(serializable)
	if err == nil {
		c.revision, err = f.number(aRevision, 0)
	}
	if c.pinned = c.revision > 0; c.pinned || stale {
		c.kind = old
	}
	return err
}

func (m *etcd) readTxn(c *call, id edn.ID) error {
	f, err := m.fields(id, txnWords)
	if err != nil {
		return err
	}
	c.kind = transaction
	tests, err := f.items(anIf)
	from := len(m.tests)
	for _, x := range tests {
		t, err := m.test(x)
		if err != nil {
			return err
		}
		m.tests = hugepages.Append(m.tests, t)
	}
	c.tests = since(m.tests, from)
	for branch, name := range [...]word{anElse, aThen} {
		var actions []edn.ID
		if err == nil {
			actions, err = f.items(name)
		}
		from := len(m.actions)
		for _, x := range actions {
			if err == nil {
				var a action
				a, err = m.named(x)
				m.actions = hugepages.Append(m.actions, a)
			}
		}
		c.branches[branch] = since(m.actions, from)
	}
	return err
}

// test reads a condition. A value is compared with that of a key, which may be absent.
func (m *etcd) test(id edn.ID) (t test, err error) {
	f, err := m.fields(id, testWords)
	if err != nil {
		return t, err
	}
	if t.key, err = f.key(); err != nil {
		return t, err
	}
	if f.has(aValue) && f.count == 2 {
		return test{t.key, value, f.value()}, nil
	}
	for _, x := range [...]struct {
		word
		field
	}{{aVersion, version}, {modRevision, modified}, {createRevision, created}} {
		if f.has(x.word) && f.count == 2 {
			want, err := f.number(x.word, 0)
			return test{t.key, x.field, want}, err
		}
	}
	return t, fmt.Errorf("expected a condition with one of :value, :version, :mod-revision and :create-revision, found %s", m.V.Text(id))
}

// named reads an action whose map says its :f.
func (m *etcd) named(id edn.ID) (a action, err error) {
	f, err := m.fields(id, actionWords)
	if err == nil {
		_, err = f.key()
	}
	if err != nil {
		return a, err
	}
	do := gets
	switch m.keyword(f.is[anF]) {
	case "range":
	case "put":
		do = puts
	case "delete":
		do = deletes
	default:
		return a, fmt.Errorf("expected :f :put, :range or :delete, found %s", m.V.Text(id))
	}
	return m.action(do, &f)
}

func (m *etcd) action(do doing, f *fields) (a action, err error) {
	if a.key, err = f.key(); err != nil {
		return a, err
	}
	a.do, a.to = do, f.is[anEnd]
	if a.lease = f.class(aLease, 0); a.lease == m.Class(m.zero) {
		a.lease = 0
	}
	a.value = f.value()
	if a.limit, err = f.number(aLimit, 0); err == nil {
		a.keysOnly, err = f.yes(keysOnly)
	}
	if err == nil {
		a.countOnly, err = f.yes(countOnly)
	}
	return a, err
}

// keyword returns the name of a keyword, or a string that stands for one in JSON, "" of anything else.
func (m *etcd) keyword(id edn.ID) string {
	if kind := m.V.Kind(id); kind != edn.KindKeyword && kind != edn.KindString {
		return ""
	}
	return m.V.Str(id)
}

// answered reads the answer of an operation.
func (m *etcd) answered(c *call, id edn.ID) error {
	if c.kind == watching {
		return m.readResponses(c, id)
	}
	f, err := m.fields(id, answerWords)
	if err != nil {
		return err
	}
	c.answer = none
	if c.answer.revision, err = f.number(aRevision, untold); err != nil {
		return err
	}
	if f.has(anError) {
		if c.answer.refused, err = m.refusal(f.is[anError]); err == nil && !c.refusedBy(c.answer.refused) {
			err = fmt.Errorf("expected an answer that the operation can have, found %s", m.V.Text(id))
		}
		return err
	}
	if f.has(succeeded) {
		yes, err := f.yes(succeeded)
		if c.answer.branch = 0; yes {
			c.answer.branch = 1
		}
		if err != nil {
			return err
		}
	}
	from := len(m.results)
	defer func() { c.answer.results = since(m.results, from) }()
	if !f.has(theResults) { // a put, a range or a delete is a transaction of one action
		return m.result(c, 0, &f)
	}
	results, err := f.items(theResults)
	if err == nil {
		err = fits(c, len(results))
	}
	for i, x := range results {
		if err == nil {
			f, err = m.fields(x, answerWords)
		}
		if err == nil {
			err = m.result(c, i, &f)
		}
	}
	return err
}

// refusedBy says whether an operation can have an error as its answer.
func (c *call) refusedBy(r refusal) bool {
	switch c.kind {
	case transaction, revoke:
		return r == noLease
	case compact, old:
		return r != noLease
	}
	return false
}

// fits notes which branch a transaction has taken if only one has that many actions. If none has, it returns an error.
func fits(c *call, results int) error {
	one, other := c.branches[1].len() == results && c.answer.branch != 0, c.branches[0].len() == results && c.answer.branch != 1
	switch {
	case !one && !other:
		return fmt.Errorf("expected a result for each action, found %d", results)
	case !one:
		c.answer.branch = 0
	case !other:
		c.answer.branch = 1
	}
	return nil
}

// refusal reads an error: a keyword, or a string that may have more words.
func (m *etcd) refusal(id edn.ID) (refusal, error) {
	said := strings.ReplaceAll(m.V.Text(id), "-", " ")
	for r, words := range refusals {
		if words != "" && strings.Contains(said, words) {
			return refusal(r), nil
		}
	}
	return 0, fmt.Errorf("expected an :error that is an answer (compacted, future revision or lease not found), found %s; an answer that is lost is an :info", m.V.Text(id))
}

// result reads what the i-th action showed. Only ranges show keys, and only deletes how many were deleted.
func (m *etcd) result(c *call, i int, f *fields) error {
	r, from := result{finds: f.has(kvs)}, len(m.kvs)
	found, err := f.items(kvs)
	for _, x := range found {
		if err == nil {
			var one kv
			one, err = m.kv(x)
			m.kvs = hugepages.Append(m.kvs, one)
		}
	}
	r.found = since(m.kvs, from)
	if err == nil {
		r.count, err = f.number(aCount, untold)
	}
	if err == nil {
		r.deleted, err = f.number(aDeleted, untold)
	}
	m.results = hugepages.Append(m.results, r)
	ranges, removes := false, false
	for _, branch := range c.mayTake() {
		if actions := m.actionsOf(c, branch); i < len(actions) {
			ranges, removes = ranges || actions[i].do == gets, removes || actions[i].do == deletes
		}
	}
	if err == nil && (!ranges && (len(found) > 0 || r.count > 0) || !removes && r.deleted > 0) {
		err = fmt.Errorf("expected what the action shows, found %s", m.V.Text(f.of))
	}
	return err
}

func (m *etcd) kv(id edn.ID) (x kv, err error) {
	f, err := m.fields(id, kvWords)
	if err != nil {
		return x, err
	}
	if x.key, err = f.key(); err != nil {
		return x, err
	}
	x.is[value], x.is[lease] = f.class(aValue, untold), f.class(aLease, untold)
	if x.is[lease] == m.Class(m.zero) {
		x.is[lease] = 0 // it has none
	}
	return x, f.versions(&x.is)
}

// Read implements models.Reader. Operations without an answer that ask for the same are the same.
func (m *etcd) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if !m.known[o.FID] {
		return op, false, models.ErrUnknownF
	}
	c := call{answer: none}
	if err := m.request(&c, o); err != nil {
		return op, false, err
	}
	told := o.Status != jepsen.Crashed && o.ValueID != o.GivenID && o.ValueID != edn.Nil
	if told {
		err = m.answered(&c, o.ValueID)
	}
	keep = c.kind != defragment && (c.kind != grant || c.lease != 0 && c.lease != m.Class(m.zero))
	op.Kind = c.kind
	if told && o.History != nil && (c.kind == old || c.kind == watching) {
		m.later = append(m.later, later{o.Of, int32(len(m.calls))})
	}
	if lost := [2]edn.ID{o.FID, m.V.Same(o.GivenID)}; !told && err == nil {
		number, met := m.lost[lost]
		if !met {
			number = int32(len(m.calls))
			m.lost[lost], m.calls = number, hugepages.Append(m.calls, c)
		}
		op.A = number
		return op, keep, nil
	}
	op.A = int32(len(m.calls))
	m.calls = hugepages.Append(m.calls, c)
	return op, keep, err
}
