package kv

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/types/register"
	"clew/models"
)

// kvText is a map of strings that are appended to. A key that is absent reads as the empty
// string. A state holds the keys that are present and their strings, sorted by key. Strings
// are numbered by content, so that states compare as numbers. The A of an operation is its
// key; its B is the number of its string, or a place in args.
type kvText struct {
	home.Base
	args  [][2]int32 // of cas: the strings that it expects and leaves
	shown []int32    // the strings that operations depend on, in order

	mu     sync.Mutex // parts are searched concurrently
	strs   []string
	number map[string]int32
	joined map[[2]int32]int32
}

func newKVText(b *models.Binding) *kvText {
	m := &kvText{Base: home.NewBase(b), number: map[string]int32{}, joined: map[[2]int32]int32{}}
	m.numberOf("") // the empty string is number 0
	m.Offered = models.Traits{
		Because:   m.because,
		Run:       m.run,
		Weight:    m.weight,
		Partition: &models.Partition{Keys: true, Of: func(op models.Op) int32 { return op.A }},
		Liveness:  &models.Liveness{At: get1, Shows: m.shows, Leaves: m.leaves, Becomes: m.becomes, Forget: home.Forget1},
	}
	return m
}

// numberIn returns the number of a string in the table of values. For nil it returns that
// of the empty string.
func (m *kvText) numberIn(class int32) int32 {
	if edn.ID(class) == edn.Nil {
		return 0
	}
	return m.numberOf(m.V.Str(edn.ID(class)))
}

func (m *kvText) numberOf(s string) int32 {
	n, ok := m.number[s]
	if !ok {
		n = int32(len(m.strs))
		m.number[s] = n
		m.strs = append(m.strs, s)
	}
	return n
}

// followed returns the number of the string a followed by b.
func (m *kvText) followed(a, b int32) int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.joined[[2]int32{a, b}]
	if !ok {
		n = m.numberOf(m.strs[a] + m.strs[b])
		m.joined[[2]int32{a, b}] = n
	}
	return n
}

// weight counts strings: one is held as long as its number is.
func (m *kvText) weight(s models.State) (bytes int64) {
	for i := 1; i < len(s); i += 2 {
		if s[i] != home.Forgotten {
			bytes += int64(len(m.str(s[i])))
		}
	}
	return bytes
}

func (m *kvText) str(n int32) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.strs[n]
}

// after returns the string of the key after an operation, and whether the operation can
// happen.
func (m *kvText) after(now int32, op models.Op) (next int32, ok bool) {
	switch op.Kind {
	case models.Read:
		return now, now == op.B
	case models.Write:
		return op.B, true
	case models.CAS:
		return m.args[op.B][1], now == m.args[op.B][0]
	case models.FailedCAS:
		return now, now != op.B
	case deleteFound:
		return 0, now != 0
	}
	if now == home.Forgotten {
		return now, true
	}
	return m.followed(now, op.B), true
}

func (m *kvText) Step(dst []models.State, s models.State, op models.Op) []models.State {
	now := get1(s, op.A)
	next, ok := m.after(now, op)
	switch {
	case !ok:
		return dst
	case !m.Mutates(op):
		return append(dst, s)
	}
	return append(dst, home.Set1(s, op.A, next))
}

// run begins a run. A step takes time linear in its own string: strings grow in place
// as they are appended to, and get numbers at the end.
func (m *kvText) run(s models.State) models.Run {
	r := &kvRun{m, make(map[int32][]byte, len(s)/2)}
	for i := 0; i < len(s); i += 2 {
		r.now[s[i]] = []byte(m.str(s[i+1]))
	}
	return r
}

type kvRun struct {
	m   *kvText
	now map[int32][]byte // by key
}

func (r *kvRun) Apply(op models.Op) models.Outcome {
	if op.Kind == Append {
		r.now[op.A] = append(r.now[op.A], r.m.str(op.B)...)
		return models.One
	}
	now := r.now[op.A]
	is := func(n int32) bool { return string(now) == r.m.str(n) }
	put := func(n int32) { r.now[op.A] = append(now[:0], r.m.str(n)...) }
	ok := true
	switch op.Kind {
	case models.Read:
		ok = is(op.B)
	case models.Write:
		put(op.B)
	case models.CAS:
		if ok = is(r.m.args[op.B][0]); ok {
			put(r.m.args[op.B][1])
		}
	case models.FailedCAS:
		ok = !is(op.B)
	default:
		if ok = len(now) > 0; ok {
			put(0)
		}
	}
	return models.OneIf(ok)
}

func (r *kvRun) State() models.State {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	s := make(models.State, 0, 2*len(r.now))
	for _, key := range slices.Sorted(maps.Keys(r.now)) {
		s = append(s, key, r.m.numberOf(string(r.now[key])))
	}
	return s
}

// get1 returns the string at a key, the empty one if the key is absent.
func get1(s models.State, key int32) int32 {
	return home.At1(s, key, 0)
}

func (m *kvText) Mutates(op models.Op) bool {
	return op.Kind != models.Read && op.Kind != models.FailedCAS
}

func (m *kvText) Why(s models.State, op models.Op) string {
	now := m.quoted(get1(s, op.A))
	if op.Kind == models.CAS {
		return whyNot(op.Kind, now, m.quoted(m.args[op.B][0]), m.quoted(m.args[op.B][1]))
	}
	return whyNot(op.Kind, now, m.quoted(op.B), "")
}

// because is Traits.Because.
func (m *kvText) because(s models.State, op models.Op) string {
	saw := op.B
	switch op.Kind {
	case models.CAS:
		saw = m.args[op.B][0]
	case deleteFound:
		return ""
	}
	if op.Kind != models.Read && m.quoted(saw) == "nil" {
		return ""
	}
	return register.Differs("the value of key "+m.V.Text(edn.ID(op.A)), m.quoted(get1(s, op.A)), m.quoted(saw), op)
}

func (m *kvText) quoted(n int32) string { return m.V.Text(m.V.InternString(m.str(n))) }

func (m *kvText) Record(s models.State) edn.Value {
	var kvs []edn.ID
	for i := 0; i < len(s); i += 2 {
		kvs = append(kvs, edn.ID(s[i]), m.V.InternString(m.str(s[i+1])))
	}
	return m.PrintMap(kvs)
}

func (m *kvText) shows(dst []models.Cell, op models.Op) (cells []models.Cell, needs bool) {
	switch op.Kind {
	case models.Read:
		return append(dst, models.Cell{Place: op.A, Value: op.B}), true
	case models.CAS:
		return append(dst, models.Cell{Place: op.A, Value: m.args[op.B][0]}), true
	case models.FailedCAS:
		return append(dst, models.Cell{Place: op.A, Value: op.B}), false
	case deleteFound:
		return append(dst, models.Cell{Place: op.A, Value: 0}), false
	}
	return dst, false
}

func (m *kvText) leaves(dst []models.Cell, op models.Op) (cells []models.Cell, blindly bool) {
	switch op.Kind {
	case models.Write:
		return append(dst, models.Cell{Place: op.A, Value: op.B}), true
	case models.CAS:
		return append(dst, models.Cell{Place: op.A, Value: m.args[op.B][1]}), true
	case deleteFound:
		return append(dst, models.Cell{Place: op.A, Value: 0}), true
	case Append:
		return append(dst, models.Cell{Place: op.A, Value: home.Forgotten}), false
	}
	return dst, true
}

// show notes which strings operations depend on.
func (m *kvText) show(c *models.Columns) {
	var cells []models.Cell
	for i := range c.Kind {
		cells, _ = m.shows(cells[:0], c.Op(models.Row(i)))
		for _, cell := range cells {
			m.shown = append(m.shown, cell.Value)
		}
	}
	slices.SortFunc(m.shown, func(a, b int32) int { return strings.Compare(m.strs[a], m.strs[b]) })
	m.shown = slices.Compact(m.shown)
}

// becomes is Liveness.Becomes: a string may become any shown string that it is a prefix of.
func (m *kvText) becomes(dst []models.Cell, cell models.Cell) []models.Cell {
	if cell.Value == home.Forgotten {
		return dst
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	prefix := m.strs[cell.Value]
	i, _ := slices.BinarySearchFunc(m.shown, prefix, func(n int32, prefix string) int { return strings.Compare(m.strs[n], prefix) })
	for ; i < len(m.shown) && strings.HasPrefix(m.strs[m.shown[i]], prefix); i++ {
		dst = append(dst, models.Cell{Place: cell.Place, Value: m.shown[i]})
	}
	return dst
}
