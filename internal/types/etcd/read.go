package etcd

import (
	"fmt"
	"strings"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// call is an operation: what it asks for, and its answer.
type call struct {
	kind     models.Kind
	tests    []test
	branches [2][]action // what happens if a test fails, and if none does
	lease    int32
	revision int32 // of a compaction, or of an old state that is read
	pinned   bool  // a read says the revision itself
	watch    *watch
	answer   answer
	crashed  bool // or its answer is lost
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
	key                 int32 // of a put
	from, to            edn.ID
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
	results  []result
}

// none is an answer that tells nothing.
var none = answer{revision: untold, branch: untold}

// of returns the result of an action, none if it is not told.
func (a *answer) of(i int) *result {
	if i < len(a.results) {
		return &a.results[i]
	}
	return nil
}

// result is what an action showed.
type result struct {
	found          []kv
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
	switch m.V.Str(o.FID) {
	case "put", "delete":
		a, err := m.action(m.V.Str(o.FID), id, nil)
		c.kind, c.branches[1] = transaction, []action{a}
		return err
	case "range":
		return m.readRange(c, id)
	case "txn":
		return m.readTxn(c, id)
	case "lease-grant", "lease-revoke":
		c.kind = grant
		if m.V.Str(o.FID) == "lease-revoke" {
			c.kind = revoke
		}
		f, err := m.fields(id, leaseWords)
		c.lease = f.class("lease", 0)
		return err
	case "compact":
		c.kind = compact
		f, err := m.fields(id, compactWords)
		if err == nil {
			c.revision, err = f.number("revision", 0)
		}
		return err
	case "watch":
		return m.readWatch(c, id)
	}
	c.kind = defragment
	return nil
}

// readRange reads a range. If it is of an old revision, or may be of any, it is judged once the order is known.
func (m *etcd) readRange(c *call, id edn.ID) error {
	f, err := m.fields(id, rangeWords)
	if err != nil {
		return err
	}
	a, err := m.action("range", id, &f)
	if err != nil {
		return err
	}
	c.kind, c.branches[1] = transaction, []action{a}
	stale, err := f.yes("serializable")
	if err == nil {
		c.revision, err = f.number("revision", 0)
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
	tests, err := f.items("if")
	for _, x := range tests {
		t, err := m.test(x)
		if err != nil {
			return err
		}
		c.tests = append(c.tests, t)
	}
	for branch, name := range [...]string{"else", "then"} {
		var actions []edn.ID
		if err == nil {
			actions, err = f.items(name)
		}
		for _, x := range actions {
			if err == nil {
				var a action
				a, err = m.action("", x, nil)
				c.branches[branch] = append(c.branches[branch], a)
			}
		}
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
	if _, there := f.is["value"]; there && len(f.is) == 2 {
		return test{t.key, value, f.value()}, nil
	}
	for name, field := range map[string]field{"version": version, "mod-revision": modified, "create-revision": created} {
		if _, there := f.is[name]; there && len(f.is) == 2 {
			want, err := f.number(name, 0)
			return test{t.key, field, want}, err
		}
	}
	return t, fmt.Errorf("expected a condition with one of :value, :version, :mod-revision and :create-revision, found %s", m.V.Text(id))
}

// action reads an action, whose map says its :f unless it is given. Its fields may have been read.
func (m *etcd) action(do string, id edn.ID, read *fields) (a action, err error) {
	known := map[string]words{"put": putWords, "delete": deleteWords, "": actionWords}[do]
	if read == nil {
		f, err := m.fields(id, known)
		if err != nil {
			return a, err
		}
		read = &f
	}
	f := *read
	if a.key, err = f.key(); err != nil {
		return a, err
	}
	if do == "" {
		if do = m.keyword(f.is["f"]); do != "put" && do != "range" && do != "delete" {
			return a, fmt.Errorf("expected :f :put, :range or :delete, found %s", m.V.Text(id))
		}
	}
	a.do = map[string]doing{"put": puts, "range": gets, "delete": deletes}[do]
	a.from, a.to = m.V.Same(f.is["key"]), f.is["end"]
	if a.lease = f.class("lease", 0); a.lease == m.Class(m.zero) {
		a.lease = 0
	}
	a.value = f.value()
	if a.limit, err = f.number("limit", 0); err == nil {
		a.keysOnly, err = f.yes("keys-only")
	}
	if err == nil {
		a.countOnly, err = f.yes("count-only")
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
	if c.answer.revision, err = f.number("revision", untold); err != nil {
		return err
	}
	if why, there := f.is["error"]; there {
		c.answer.refused, err = m.refusal(why)
		return err
	}
	if _, there := f.is["succeeded"]; there {
		yes, err := f.yes("succeeded")
		if c.answer.branch = 0; yes {
			c.answer.branch = 1
		}
		if err != nil {
			return err
		}
	}
	results, err := f.items("results")
	if _, there := f.is["results"]; !there {
		results = []edn.ID{id} // a put, a range or a delete is a transaction of one action
	} else if err == nil {
		err = fits(c, len(results))
	}
	for _, x := range results {
		if err == nil {
			var r result
			r, err = m.result(x)
			c.answer.results = append(c.answer.results, r)
		}
	}
	return err
}

// fits returns an error unless a branch that a transaction may have taken has that many actions.
func fits(c *call, results int) error {
	for branch, actions := range c.branches {
		if len(actions) == results && (c.answer.branch == untold || int(c.answer.branch) == branch) {
			return nil
		}
	}
	return fmt.Errorf("expected a result for each action, found %d", results)
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

func (m *etcd) result(id edn.ID) (r result, err error) {
	f, err := m.fields(id, answerWords)
	if err != nil {
		return r, err
	}
	found, err := f.items("kvs")
	_, r.finds = f.is["kvs"]
	for _, x := range found {
		if err == nil {
			var one kv
			one, err = m.kv(x)
			r.found = append(r.found, one)
		}
	}
	if err == nil {
		err = f.numbers("count deleted", &r.count, &r.deleted)
	}
	return r, err
}

func (m *etcd) kv(id edn.ID) (x kv, err error) {
	f, err := m.fields(id, kvWords)
	if err != nil {
		return x, err
	}
	if x.key, err = f.key(); err != nil {
		return x, err
	}
	x.is[value], x.is[lease] = f.class("value", untold), f.class("lease", untold)
	return x, f.numbers("mod-revision version create-revision", &x.is[modified], &x.is[version], &x.is[created])
}

// Read implements models.Reader. Operations without an answer that ask for the same are the same.
func (m *etcd) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if !m.known[o.FID] {
		return op, false, models.ErrUnknownF
	}
	c := call{answer: none, crashed: o.Status == jepsen.Crashed}
	if err := m.request(&c, o); err != nil {
		return op, false, err
	}
	told := !c.crashed && o.ValueID != o.GivenID && o.ValueID != edn.Nil
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
			m.lost[lost], m.calls = number, append(m.calls, c)
		}
		op.A = number
		return op, keep, nil
	}
	op.A = int32(len(m.calls))
	m.calls = append(m.calls, c)
	return op, keep, err
}
