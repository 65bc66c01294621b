package kv

import (
	"maps"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/types/register"
	"clew/models"
)

// kvMap is a map of any values; nothing is appended. Every key is a register whose values
// are [key value], and A and B are classes of such pairs. The value of an absent key is
// nil, or the empty string if gets report it so. A state holds the keys that are present
// and their pairs, sorted by key.
type kvMap struct {
	home.Base
	absent  edn.ID
	none    map[int32]int32 // by key: the pair of the key and absent
	deletes bool            // some delete says that it found something, which no register does
}

// newKVMap returns a kvMap whose initial state is that of base, a map of keys and values.
func newKVMap(base home.Base, absent edn.ID) *kvMap {
	init := base.Initial
	m := &kvMap{Base: base, absent: absent, none: map[int32]int32{}}
	m.Offered = models.Traits{Run: m.run,
		Because: func(s models.State, op models.Op) string { return m.because(m.at(s, m.key(op)), op) }, Partition: &models.Partition{Keys: true, Of: m.key, Project: m.project, Cells: &models.Visibility{Makes: m.makes, Sees: m.sees}},
		MayIdle: func(op models.Op) bool { return op.Kind == models.Write && op.A == m.none[m.key(op)] }}
	m.Initial = nil
	for i := 0; i < len(init); i += 2 {
		if pair := m.pair(init[i], init[i+1]); pair != m.nothing(init[i]) {
			m.Initial = append(m.Initial, init[i], pair)
		}
	}
	return m
}

// pair returns the class of [key value].
func (m *kvMap) pair(key, value int32) int32 {
	if nothing := m.nothing(key); edn.ID(value) == edn.Nil {
		return nothing
	}
	return int32(m.V.Same(m.V.InternVector([]edn.ID{edn.ID(key), edn.ID(value)})))
}

// nothing returns the pair of a key that is absent.
func (m *kvMap) nothing(key int32) int32 {
	pair, ok := m.none[key]
	if !ok {
		pair = int32(m.V.Same(m.V.InternVector([]edn.ID{edn.ID(key), m.absent})))
		m.none[key] = pair
	}
	return pair
}

// at returns the pair of a key in a state.
func (m *kvMap) at(s models.State, key int32) int32 {
	return home.At1(s, key, m.none[key])
}

// with returns a state with another pair of a key.
func (m *kvMap) with(s models.State, key, pair int32) models.State {
	return home.Put1(s, key, pair, m.none[key])
}

// after returns the pair of the key after an operation, and whether the operation can
// happen.
func (m *kvMap) after(key, now int32, op models.Op) (next int32, ok bool) {
	if op.Kind == deleteFound {
		return m.none[key], now != m.none[key]
	}
	return register.After(now, op)
}

func (m *kvMap) Step(dst []models.State, s models.State, op models.Op) []models.State {
	key := m.key(op)
	now := m.at(s, key)
	next, ok := m.after(key, now, op)
	switch {
	case !ok:
		return dst
	case next == now:
		return append(dst, s)
	}
	return append(dst, m.with(s, key, next))
}

// run begins a run. Every step takes constant time.
func (m *kvMap) run(s models.State) models.Run {
	r := &kvMapRun{m, make(map[int32]int32, len(s)/2)}
	for i := 0; i < len(s); i += 2 {
		r.now[s[i]] = s[i+1]
	}
	return r
}

type kvMapRun struct {
	m   *kvMap
	now map[int32]int32 // by key
}

func (r *kvMapRun) Apply(op models.Op) models.Outcome {
	key := r.m.key(op)
	now, present := r.now[key]
	if !present {
		now = r.m.none[key]
	}
	next, ok := r.m.after(key, now, op)
	if ok && next != now {
		r.now[key] = next
	}
	return models.OneIf(ok)
}

func (r *kvMapRun) State() models.State {
	var s models.State
	for _, key := range slices.Sorted(maps.Keys(r.now)) {
		if pair := r.now[key]; pair != r.m.none[key] {
			s = append(s, key, pair)
		}
	}
	return s
}

func (m *kvMap) Mutates(op models.Op) bool {
	return op.Kind != models.Read && op.Kind != models.FailedCAS
}

func (m *kvMap) Why(s models.State, op models.Op) string { return m.why(m.at(s, m.key(op)), op) }

// why says why an operation cannot happen with the pair of its key.
func (m *kvMap) why(now int32, op models.Op) string {
	value := func(pair int32) string {
		if op.Kind != models.CAS && pair == 0 {
			return ""
		}
		return m.V.Text(m.value(pair))
	}
	return whyNot(op.Kind, value(now), value(op.A), value(op.B))
}

// because is Traits.Because, with the pair of the key.
func (m *kvMap) because(now int32, op models.Op) string {
	saw := m.value(op.A)
	if op.Kind == deleteFound || op.Kind != models.Read && saw == edn.Nil { // of a :put-if-absent
		return ""
	}
	return register.Differs("the value of key "+m.V.Text(m.keyOf(op.A)), m.V.Text(m.value(now)), m.V.Text(saw), op)
}

// makes appends the pair that an operation leaves.
func (m *kvMap) makes(dst []models.Cell, op models.Op) []models.Cell {
	key, after := m.key(op), op.A
	switch op.Kind {
	case deleteFound:
		after = m.none[key]
	case models.CAS:
		after = op.B
	case models.Write:
	default:
		return dst
	}
	return append(dst, models.Cell{Place: key, Value: after})
}

// sees appends the pair that an operation depends on. A delete that found something depends on more than that.
func (m *kvMap) sees(dst []models.Cell, op models.Op) (cells []models.Cell, all bool) {
	switch op.Kind {
	case models.Read, models.CAS:
		return append(dst, models.Cell{Place: m.key(op), Value: op.A}), false
	}
	return dst, op.Kind != models.Write
}

// keyOf returns the first item of a pair.
func (m *kvMap) keyOf(pair int32) edn.ID { return m.V.Items(edn.ID(pair))[0] }

// value returns the second item of a pair.
func (m *kvMap) value(pair int32) edn.ID { return m.V.Items(edn.ID(pair))[1] }

func (m *kvMap) Record(s models.State) edn.Value {
	var kvs []edn.ID
	for i := 0; i < len(s); i += 2 {
		kvs = append(kvs, edn.ID(s[i]), m.value(s[i+1]))
	}
	return m.PrintMap(kvs)
}

// key returns the operation's key.
func (m *kvMap) key(op models.Op) int32 { return int32(m.V.Same(m.keyOf(op.A))) }

// project is Partition.Project: a key is a register.
func (m *kvMap) project(part int32, _ *models.Columns) models.Model {
	if m.deletes {
		return m
	}
	k := &kvKey{register.OfKey(m.V, m.at(m.Initial, part)), m, part}
	k.Offered.Shape = func() models.Shape { return models.RegisterShape{Init: k.Initial[0], CAS: true} }
	k.Offered.Text = func(pair int32) string { return m.V.Text(m.value(pair)) }
	k.Offered.Place = func(pair int32) string { return " of key " + m.V.Text(m.keyOf(pair)) }
	k.Offered.Because = func(s models.State, op models.Op) string { return m.because(s[0], op) }
	return k
}

// kvKey is a key of a kvMap.
type kvKey struct {
	register.Register
	whole *kvMap
	key   int32
}

func (k *kvKey) Why(s models.State, op models.Op) string { return k.whole.why(s[0], op) }

func (k *kvKey) Record(s models.State) edn.Value {
	return k.whole.Record(k.whole.with(k.whole.Initial, k.key, s[0]))
}
