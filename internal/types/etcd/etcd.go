package etcd

import (
	"cmp"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/models"
)

// Kinds of etcd. A is the number of the call.
const (
	transaction models.Kind = iota // also a put, a range or a delete
	grant
	revoke
	compact
	defragment
	old      // a read of an old revision, or one that may be stale
	watching // a watch
)

// etcd is a map of keys that counts its updates, as etcd's own robustness tests model it. Its leases do not run out: those
// tests grant them for hours. Keys are numbered in their order once all operations have been read.
type etcd struct {
	home.Base
	zero     edn.ID
	known    map[edn.ID]bool   // the :f's
	words    [wordCount]edn.ID // the keys of maps
	calls    []call
	tests    []test
	actions  []action
	results  []result
	kvs      []kv
	watches  []watch
	lost     map[[2]edn.ID]int32 // by :f and class of the request: the call whose answer is lost
	keys     []edn.ID            // by number
	number   map[edn.ID]int32    // by class
	leased   map[int32][]int32   // by lease: the keys that are put with it
	puts     map[leasing]bool    // what is put with a lease
	shown    map[int32][]cell    // by revision: what watches show that it left, if some operation can have left it
	sure     map[int32]int32     // by call whose answer is lost: its revision, if watches show it
	before   map[[2]int32]prior  // by revision and key: what watches show of the key before
	covers   []covering
	covered  [][]int32         // by key: which of these deliver it
	compacts int32             // no revision above this one can have been compacted
	reading  map[int32][]int32 // by revision: the calls that read the state that it left
	later    []later           // what is judged once the order is known
}

var definition = models.Definition{
	Name: "etcd", Object: "etcd", Called: []string{"etcd-kv"},
	Fs:     ":put, :range, :delete, :txn, :lease-grant, :lease-revoke, :compact, :defragment, :watch, each with a map and -> a map (docs/models.md#etcd)",
	About:  "keys with revisions, leases and transactions, and watches",
	NoInit: "it starts empty, at revision 1",
	Record: "clew.model.Etcd",
	Infer: func(s *models.Seen) models.Fit {
		return models.FitsIf(s.Any(":range", ":lease-grant", ":lease-revoke"))
	},
	New:   newEtcd,
	Words: told,
}

func newEtcd(b *models.Binding) (models.Reader, error) {
	m := &etcd{Base: home.NewBase(b), zero: b.Values.InternInt(0), known: map[edn.ID]bool{}, lost: map[[2]edn.ID]int32{},
		number: map[edn.ID]int32{}, leased: map[int32][]int32{}, puts: map[leasing]bool{}, shown: map[int32][]cell{}, sure: map[int32]int32{}, reading: map[int32][]int32{}, before: map[[2]int32]prior{}}
	for _, f := range []string{"put", "range", "delete", "txn", "lease-grant", "lease-revoke", "compact", "defragment", "watch"} {
		m.known[b.Values.InternKeyword(f)] = true
	}
	for w, name := range names {
		m.words[w] = b.Values.InternKeyword(name)
	}
	m.Initial = models.State{atRevision: 1, atCompacted: -1, atLeases: 0}
	m.Offered = m.traits()
	return m, nil
}

func (m *etcd) traits() models.Traits {
	return models.Traits{
		Because: m.because,
		Finish:  m.finish,
		Run:     m.run,
		Shape:   func() models.Shape { return models.PositionShape{Model: m} },
		Positions: &models.Positions{Name: "revision", Dense: true, Of: m.position, Moves: m.moves, At: at, Clues: m.clues, Depends: m.depends, Made: m.made,
			Aside: m.aside, Vague: m.vague, Makes: m.makes, Sees: m.sees, None: func(c models.Cell) bool { return c.Value == absent }},
		Visibility: &models.Visibility{Makes: m.makes, Sees: m.sees},
		Anomaly:    m.anomaly,
		Beyond:     &models.Beyond{Judge: m.judge, Alone: m.alone},
	}
}

// leasing is a key and its value, put with a lease.
type leasing struct {
	models.Cell
	lease int32
}

// keyOf returns the number of a key until all are known.
func (m *etcd) keyOf(id edn.ID) int32 {
	class := m.V.Same(id)
	n, met := m.number[class]
	if !met {
		n = int32(len(m.keys))
		m.number[class], m.keys = n, append(m.keys, class)
	}
	return n
}

// name is what keys are ordered by: a string itself, or the text of anything else.
func (m *etcd) name(key edn.ID) string {
	if m.V.Kind(key) == edn.KindString {
		return m.V.Str(key)
	}
	return m.V.Text(key)
}

func (m *etcd) compare(a, b edn.ID) int {
	return cmp.Or(cmp.Compare(m.name(a), m.name(b)), cmp.Compare(a, b))
}

// finish numbers the keys in their order.
func (m *etcd) finish(ops *models.Columns) (row models.Row, err error) {
	order := slices.Clone(m.keys)
	slices.SortFunc(order, m.compare)
	to := make([]int32, len(order))
	for n, key := range order {
		to[m.number[key]] = int32(n)
		m.number[key] = int32(n)
	}
	m.keys = order
	m.renumber(to)
	m.believe(ops)
	return 0, nil
}

// renumber sets the numbers of the keys.
func (m *etcd) renumber(to []int32) {
	for i := range m.tests {
		m.tests[i].key = to[m.tests[i].key]
	}
	for i := range m.actions {
		a := &m.actions[i]
		a.key = to[a.key]
		if a.lo, a.hi = m.span(a); a.do != puts || a.lease == 0 {
			continue
		}
		m.puts[leasing{models.Cell{Place: a.key, Value: a.value}, a.lease}] = true
		if !slices.Contains(m.leased[a.lease], a.key) {
			m.leased[a.lease] = append(m.leased[a.lease], a.key)
		}
	}
	for i := range m.kvs {
		m.kvs[i].key = to[m.kvs[i].key]
	}
	for _, w := range m.watches {
		for _, r := range w.responses {
			for i := range r.events {
				r.events[i].Place = to[r.events[i].Place]
			}
		}
	}
}

// allKeys ends a range that has no end, as in etcd.
const allKeys = "\x00"

// span returns the numbers of the keys of an action.
func (m *etcd) span(a *action) (lo, hi int32) {
	switch {
	case a.to == edn.Nil || m.name(a.to) == "":
		return a.key, a.key + 1
	case m.name(a.to) == allKeys:
		return a.key, int32(len(m.keys))
	}
	end, _ := slices.BinarySearchFunc(m.keys, m.name(a.to), func(key edn.ID, end string) int { return cmp.Compare(m.name(key), end) })
	return a.key, int32(end)
}

// Mutates implements models.Model.
func (m *etcd) Mutates(op models.Op) bool {
	return op.Kind == grant || op.Kind == compact || m.moves(op) != models.NeverMoves
}

// Record implements models.Model.
func (m *etcd) Record(s models.State) edn.Value {
	x, v := now{s: s}, m.V
	word, number := v.InternKeyword, func(n int32) edn.ID { return v.InternInt(int64(n)) }
	var keys []edn.ID
	for at := x.base(); at < len(s); at += wide {
		e := entry(s[at+1 : at+wide])
		kvs := []edn.ID{word("value"), edn.ID(e[value]), word("mod-revision"), number(e[modified]), word("version"), number(e[version]), word("create-revision"), number(e[created])}
		if e[lease] != 0 {
			kvs = append(kvs, word("lease"), edn.ID(e[lease]))
		}
		keys = append(keys, m.keys[s[at]], v.InternMap(kvs))
	}
	kvs := []edn.ID{word("revision"), number(x.revision()), word("keys"), v.InternMap(keys)}
	if x.compacted() >= 0 {
		kvs = append(kvs, word("compact-revision"), number(x.compacted()))
	}
	if len(x.leases()) > 0 {
		kvs = append(kvs, word("leases"), v.InternSet(home.IDs(x.leases())))
	}
	return m.PrintMap(kvs)
}
