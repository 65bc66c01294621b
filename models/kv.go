package models

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"clew/edn"
	"clew/jepsen"
)

// Kinds of kv. A is the key's value class, B the string: a number of strs.
const (
	Get Kind = iota
	Put
	Append
)

// kv is a map of strings. A key that is absent reads as the empty string. A
// state holds the keys that are present and their strings, sorted by key.
// Strings are numbered by content, so that states compare as numbers.
type kv struct {
	v                   *edn.Values
	record              string
	fGet, fPut, fAppend edn.ID
	init                State

	mu     sync.Mutex // parts are searched concurrently
	strs   []string
	number map[string]int32
	joined map[[2]int32]int32
}

var kvDefinition = Definition{
	Name: "kv", Fs: ":get, :put, :append with :key and :value", About: "strings by key",
	Record: "clew.model.KV",
	Infer:  func(s *Seen) Fit { return fitsIf(s.Any(":get", ":put")) },
	New:    newKV,
}

func newKV(b *Binding) (Reader, error) {
	v, init := b.v, b.init
	m := &kv{
		v:       v,
		record:  b.record,
		fGet:    v.InternKeyword("get"),
		fPut:    v.InternKeyword("put"),
		fAppend: v.InternKeyword("append"),
		number:  map[string]int32{},
		joined:  map[[2]int32]int32{},
	}
	m.numberOf("") // the empty string is number 0
	if init == nil {
		return m, nil
	}
	if v.Kind(*init) != edn.KindMap {
		return nil, paramErrorf("kv's %s is a map such as {\"k\" \"v\"}, not %s", ParamInit, v.Text(*init))
	}
	for kvs := v.Items(*init); len(kvs) > 0; kvs = kvs[2:] {
		if v.Kind(kvs[1]) != edn.KindString {
			return nil, paramErrorf("kv's %s holds strings, not %s", ParamInit, v.Text(kvs[1]))
		}
		m.init = set1(m.init, int32(v.Same(kvs[0])), m.numberOf(v.Str(kvs[1])))
	}
	return m, nil
}

func (m *kv) numberOf(s string) int32 {
	n, ok := m.number[s]
	if !ok {
		n = int32(len(m.strs))
		m.number[s] = n
		m.strs = append(m.strs, s)
	}
	return n
}

// join is the number of the string a followed by b.
func (m *kv) join(a, b int32) int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.joined[[2]int32{a, b}]
	if !ok {
		n = m.numberOf(m.strs[a] + m.strs[b])
		m.joined[[2]int32{a, b}] = n
	}
	return n
}

// Weight makes kv Weighing: a string is held as long as its number is.
func (m *kv) Weight(s State) (bytes int64) {
	for i := 1; i < len(s); i += 2 {
		bytes += int64(len(m.str(s[i])))
	}
	return bytes
}

func (m *kv) str(n int32) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.strs[n]
}

func (m *kv) Read(o Operation) (Op, bool, error) {
	var kind Kind
	switch o.f {
	case m.fGet:
		kind = Get
	case m.fPut:
		kind = Put
	case m.fAppend:
		kind = Append
	default:
		return Op{}, false, ErrUnknownF
	}
	if kind == Get && o.status == jepsen.Crashed {
		return Op{}, false, nil
	}
	s := int32(0)
	switch k := m.v.Kind(o.value); {
	case k == edn.KindString:
		s = m.numberOf(m.v.Str(o.value))
	case k != edn.KindNil || kind != Get:
		return Op{}, false, fmt.Errorf("expected a string, found %s", m.v.Text(o.value))
	}
	return Op{kind, int32(m.v.Same(o.key)), s}, true, nil
}

func (m *kv) Init() State { return m.init }

func (m *kv) Step(dst []State, s State, op Op) []State {
	now := get1(s, op.A)
	switch op.Kind {
	case Get:
		if now == op.B {
			return append(dst, s)
		}
		return dst
	case Put:
		return append(dst, set1(s, op.A, op.B))
	}
	return append(dst, set1(s, op.A, m.join(now, op.B)))
}

// Run makes kv a Runner. A step takes time linear in its own string: the strings
// that are appended to grow in place, and get numbers at the end.
func (m *kv) Run(s State) Run {
	r := &kvRun{m, make(map[int32][]byte, len(s)/2)}
	for i := 0; i < len(s); i += 2 {
		r.now[s[i]] = []byte(m.str(s[i+1]))
	}
	return r
}

type kvRun struct {
	m   *kv
	now map[int32][]byte // by key
}

func (r *kvRun) Apply(op Op) Outcome {
	text := r.m.str(op.B)
	switch op.Kind {
	case Get:
		if string(r.now[op.A]) != text {
			return Impossible
		}
	case Put:
		r.now[op.A] = append(r.now[op.A][:0], text...)
	default:
		r.now[op.A] = append(r.now[op.A], text...)
	}
	return One
}

func (r *kvRun) State() State {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	s := make(State, 0, 2*len(r.now))
	for _, key := range slices.Sorted(maps.Keys(r.now)) {
		s = append(s, key, r.m.numberOf(string(r.now[key])))
	}
	return s
}

func (r *kvRun) States(func()) []State { return []State{r.State()} }

// get1 is the string at a key, the empty one if the key is absent.
func get1(s State, key int32) int32 {
	if i, found := find1(s, key); found {
		return s[i+1]
	}
	return 0
}

// find1 is the index where a key stands, or would stand, in a state of keys and
// values that is sorted by key.
func find1(s State, key int32) (i int, found bool) {
	for i < len(s) && s[i] < key {
		i += 2
	}
	return i, i < len(s) && s[i] == key
}

// set1 is s with another value at a key.
func set1(s State, key, value int32) State {
	i, found := find1(s, key)
	next := slices.Clone(s)
	if found {
		next[i+1] = value
		return next
	}
	return slices.Insert(next, i, key, value)
}

func (m *kv) Mutates(op Op) bool { return op.Kind != Get }

func (m *kv) Why(s State, op Op) string {
	return m.quoted(get1(s, op.A)) + "≠" + m.quoted(op.B)
}

func (m *kv) quoted(n int32) string { return m.v.Text(m.v.InternString(m.str(n))) }

func (m *kv) Record(s State) edn.Value {
	var kvs []edn.ID
	for i := 0; i < len(s); i += 2 {
		kvs = append(kvs, edn.ID(s[i]), m.v.InternString(m.str(s[i+1])))
	}
	return m.v.Value(m.v.InternTagged(m.record, m.v.InternMap(kvs)))
}

// Part is the operation's key.
func (m *kv) Part(op Op) int32 { return op.A }

// Join puts the keys of all parts together. Every part has all keys of the
// initial map, and only the part's own key can differ from that map.
func (m *kv) Join(parts []State) State {
	whole := m.init
	for _, s := range parts {
		for i := 0; i < len(s); i += 2 {
			if !slices.Contains(pairs(m.init), [2]int32(s[i:i+2])) {
				whole = set1(whole, s[i], s[i+1])
			}
		}
	}
	return whole
}

// pairs are the keys of a state with their strings.
func pairs(s State) [][2]int32 {
	var list [][2]int32
	for i := 0; i < len(s); i += 2 {
		list = append(list, [2]int32(s[i:i+2]))
	}
	return list
}
