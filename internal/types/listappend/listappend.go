package listappend

import (
	"fmt"
	"slices"
	"sync"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// Txn is the kind of list-append's operations. A is the transaction.
const Txn models.Kind = 0

// listAppend is a map of lists that transactions append to and read. A state holds the slot and the list of every key
// whose list is not empty, sorted by slot. A list is a node of lists.
type listAppend struct {
	home.Base
	fTxn, fAppend, fRead edn.ID
	slots                models.Numbering
	keys                 []edn.ID          // by slot
	first                []int32           // by class: its first element, plus 1
	others               map[element]int32 // elements of classes that several keys have
	values, slotOf       []int32           // by element: its class, and its slot
	shape                models.TxnListsShape

	*nodes
	read []int32 // by step: the node of the list that it read, or 0
}

// nodes holds the lists of all states, also for the models of cores. Searches run concurrently.
type nodes struct {
	mu    sync.Mutex
	lists home.Lists // of elements
}

// element is a value of a slot.
type element struct{ slot, class int32 }

var listAppendDefinition = models.Definition{
	Name: "list-append", Fs: ":txn with [[:append k v] [:r k [v ..]] ..]",
	Called:  []string{"append"},
	About:   "lists by key, appended to and read together",
	Default: "{}",
	Record:  "clew.model.ListAppend",
	Infer: func(s *models.Seen) models.Fit {
		if s.Any(":txn") && home.OnlyReadsLists(s) {
			return models.MayFit
		}
		return models.FitsIf(s.Any(":txn") && home.AppendsToLists(s))
	},
	New: newListAppend,
}

func newListAppend(b *models.Binding) (models.Reader, error) {
	f := b.Values.InternKeyword
	m := &listAppend{Base: home.NewBase(b), fTxn: f("txn"), fAppend: f("append"), fRead: f("r"), others: map[element]int32{}, nodes: &nodes{}}
	m.shape.From, m.shape.Failed, m.shape.Appends = []int32{0}, m.failed, m.appends
	m.shape.Key = func(slot int32) edn.ID { return m.keys[slot] }
	m.shape.Value = func(element int32) edn.ID { return edn.ID(m.values[element]) }
	m.offer()
	if b.InitID == nil {
		return m, nil
	}
	each, rest, ok := b.PerKey()
	if m.V.Kind(*b.InitID) != edn.KindMap {
		return nil, home.BadInit(b, "a map such as {:x [1 2]}")
	}
	if !ok || rest != nil {
		return nil, home.BadInit(b, "a map such as {:x [1 2]}, with every key that does not begin empty (there is no :default, since an element is in one list)")
	}
	for kvs := each; len(kvs) > 0; kvs = kvs[2:] {
		items, ok := m.Sequence(kvs[1])
		if !ok {
			return nil, home.BadInit(b, "a map such as {:x [1 2]}")
		}
		list := m.list(m.slot(kvs[0]), items)
		if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) < len(list) {
			return nil, home.BadInit(b, "lists that have each value once, such as {:x [1 2]}")
		}
		m.shape.Init = append(m.shape.Init, list)
	}
	m.begin()
	return m, nil
}

// begin sets the initial state.
func (m *listAppend) begin() {
	m.Initial = nil
	for slot, list := range m.shape.Init {
		if len(list) > 0 {
			m.Initial = m.with(m.Initial, int32(slot), m.node(0, list...))
		}
	}
}

// offer sets what the model offers.
func (m *listAppend) offer() {
	m.Offered = models.Traits{
		Because: m.because,
		Anomaly: m.anomaly,
		Opening: m.opening,
		Run:     m.run,
		Weight:  func(models.State) int64 { return 64 * mostAppended }, // a node is held as long as its number is
		Shape:   func() models.Shape { return m.shape },
		Alone: func(all, some *models.Columns, t int32) models.Model {
			return m.under(m.shape.Alone(all, some, t))
		},
	}
}

// under returns the model with another shape, which has the same keys and values.
func (m *listAppend) under(shape models.TxnListsShape) models.Model {
	other := &listAppend{Base: m.Base, fTxn: m.fTxn, fAppend: m.fAppend, fRead: m.fRead, keys: m.keys, values: m.values, shape: shape, nodes: m.nodes}
	other.offer()
	other.begin()
	return other
}

// slot returns the slot of a key.
func (m *listAppend) slot(key edn.ID) int32 {
	slot := m.slots.Of(m.Class(key))
	if int(slot) == len(m.keys) {
		m.keys = append(m.keys, key)
		m.shape.Longest = append(m.shape.Longest, nil)
		m.shape.Slots++
	}
	return slot
}

// element returns the number of a value of a slot.
func (m *listAppend) element(slot int32, value edn.ID) int32 {
	x := element{slot, m.Class(value)}
	n, known := m.known(x)
	if known {
		return n
	}
	n = int32(len(m.values))
	if more := m.V.Len() - len(m.first); int(x.class) >= len(m.first) {
		m.first = hugepages.Grow(m.first, more)[:len(m.first)+more]
	}
	if m.first[x.class] == 0 {
		m.first[x.class] = n + 1
	} else {
		m.others[x] = n
	}
	m.values, m.slotOf = hugepages.Append(m.values, x.class), hugepages.Append(m.slotOf, slot)
	m.shape.Elements++
	return n
}

// known returns the number of an element, if it has one.
func (m *listAppend) known(x element) (n int32, known bool) {
	if int(x.class) >= len(m.first) || m.first[x.class] == 0 {
		return 0, false
	}
	if n = m.first[x.class] - 1; m.slotOf[n] == x.slot {
		return n, true
	}
	n, known = m.others[x]
	return n, known
}

// list returns the elements of a list of a slot. It is kept as the beginning of the longest one if it is that.
func (m *listAppend) list(slot int32, items []edn.ID) []int32 {
	longest := m.shape.Longest[slot]
	for i, item := range items {
		if i == len(longest) {
			for _, item := range items[i:] {
				longest = append(longest, m.element(slot, item))
			}
			m.shape.Longest[slot] = longest
			break
		}
		if m.values[longest[i]] != m.Class(item) {
			odd := slices.Clone(longest[:i])
			for _, item := range items[i:] {
				odd = append(odd, m.element(slot, item))
			}
			return odd
		}
	}
	return longest[:len(items):len(items)]
}

func (m *listAppend) Read(o models.Operation) (models.Op, bool, error) {
	if o.FID != m.fTxn {
		return models.Op{}, false, models.ErrUnknownF
	}
	items, ok := m.Sequence(o.ValueID)
	if !ok && o.ValueID != edn.Nil {
		return models.Op{}, false, fmt.Errorf("expected [[:append k v] [:r k [v ..]] ..], found %s", m.V.Text(o.ValueID))
	}
	if err := m.repeats(o, items); err != nil {
		return models.Op{}, false, err
	}
	begin := len(m.shape.Steps)
	for _, item := range items {
		step, says, err := m.step(item, o.Status == jepsen.Crashed)
		if err != nil {
			return models.Op{}, false, err
		}
		if says {
			m.shape.Steps = hugepages.Append(m.shape.Steps, step)
		}
	}
	m.shape.From = hugepages.Append(m.shape.From, int32(len(m.shape.Steps)))
	return models.Op{Kind: Txn, A: int32(len(m.shape.From) - 2)}, len(m.shape.Steps) > begin, nil
}

// step reads a micro-operation. A read of a transaction that crashed says nothing.
func (m *listAppend) step(item edn.ID, crashed bool) (step models.ListStep, says bool, err error) {
	parts, _ := m.Sequence(item)
	if len(parts) != 3 || m.V.Same(parts[0]) != m.fAppend && m.V.Same(parts[0]) != m.fRead {
		return step, false, fmt.Errorf("expected [:append k v] or [:r k [v ..]], found %s", m.V.Text(item))
	}
	step.Slot = m.slot(parts[1])
	if step.Append = m.V.Same(parts[0]) == m.fAppend; step.Append {
		step.Value = m.element(step.Slot, parts[2])
		return step, true, nil
	}
	if crashed {
		return step, false, nil
	}
	list, ok := m.Sequence(parts[2])
	if !ok && parts[2] != edn.Nil {
		return step, false, fmt.Errorf("expected the list that was read, or nil if there is none, found %s", m.V.Text(item))
	}
	found := m.list(step.Slot, list)
	if step.Value = int32(len(found)); len(found) > 0 && &found[0] != &m.shape.Longest[step.Slot][0] {
		m.shape.Odd = append(m.shape.Odd, found)
		step.Value = -int32(len(m.shape.Odd))
	}
	return step, true, nil
}

// repeats returns an error unless a completion has the micro-operations of its invocation, with what was read.
func (m *listAppend) repeats(o models.Operation, found []edn.ID) error {
	given, ok := m.Sequence(o.GivenID)
	if o.GivenID == o.ValueID || o.GivenID == edn.Nil || o.Status != jepsen.Succeeded {
		return nil
	}
	if !ok || len(given) != len(found) {
		return fmt.Errorf("expected the micro-operations of its invocation, %s, found %s", m.V.Text(o.GivenID), m.V.Text(o.ValueID))
	}
	for i := range given {
		asked, _ := m.Sequence(given[i])
		told, _ := m.Sequence(found[i])
		same := len(asked) >= 2 && len(told) == 3 && m.V.Same(asked[0]) == m.V.Same(told[0]) && m.V.Same(asked[1]) == m.V.Same(told[1])
		if given[i] != found[i] && (!same || m.V.Same(told[0]) == m.fAppend && (len(asked) != 3 || m.V.Same(asked[2]) != m.V.Same(told[2]))) {
			return fmt.Errorf("expected micro-operation %d to be that of its invocation, %s, found %s", i+1, m.V.Text(given[i]), m.V.Text(found[i]))
		}
	}
	return nil
}

// failed is TxnListsShape.Failed.
func (m *listAppend) failed(h *jepsen.History) (txns []jepsen.Operation, elements [][]int32) {
	for i, status := range h.Status {
		op := jepsen.Operation(i)
		if status != jepsen.Failed || m.V.Same(h.F[h.Invocation[op]]) != m.fTxn {
			continue
		}
		var shown []int32
		items, _ := m.Sequence(h.Value[h.Invocation[op]])
		for _, item := range items {
			parts, _ := m.Sequence(item)
			if len(parts) != 3 || m.V.Same(parts[0]) != m.fAppend {
				continue
			}
			if slot, known := m.slots.Has(m.Class(parts[1])); known {
				if e, known := m.known(element{slot, m.Class(parts[2])}); known {
					shown = append(shown, e)
				}
			}
		}
		if shown != nil {
			txns, elements = append(txns, op), append(elements, shown)
		}
	}
	return txns, elements
}

// appends is TxnListsShape.Appends.
func (m *listAppend) appends(h *jepsen.History, txn jepsen.Operation, slot, element int32) int32 {
	items, _ := m.Sequence(h.OpValue(txn))
	return int32(slices.IndexFunc(items, func(item edn.ID) bool {
		parts, _ := m.Sequence(item)
		return len(parts) == 3 && m.V.Same(parts[0]) == m.fAppend && m.Class(parts[1]) == m.Class(m.keys[slot]) && m.Class(parts[2]) == m.values[element]
	}))
}

// steps returns the steps of a transaction.
func (m *listAppend) steps(op models.Op) []models.ListStep { return m.shape.Of(op.A) }

// node returns the node of a list with more elements.
func (m *listAppend) node(node int32, elements ...int32) int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lists.Follow(node, elements)
}

// reserve makes room for n nodes.
func (m *listAppend) reserve(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lists.Reserve(n)
}

// reads says whether a step reads the list of a node.
func (m *listAppend) reads(step int32, node int32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.shape.List(m.shape.Steps[step])
	if int(m.lists.Len(node)) != len(list) {
		return false
	}
	if m.read == nil {
		m.read = make([]int32, len(m.shape.Steps))
	}
	if len(list) > 0 && m.read[step] == 0 {
		m.read[step] = m.lists.Follow(0, list)
	}
	return m.read[step] == node
}

// with returns a state with another list of a slot.
func (m *listAppend) with(s models.State, slot, node int32) models.State {
	return home.Put1(s, slot, node, 0)
}

// mostAppended is about how many elements a transaction appends.
const mostAppended = 4

func (m *listAppend) Step(dst []models.State, s models.State, op models.Op) []models.State {
	mine := false // s is
	for i := m.shape.From[op.A]; i < m.shape.From[op.A+1]; i++ {
		step := m.shape.Steps[i]
		node := home.At1(s, step.Slot, 0)
		if step.Append {
			if !mine {
				s, mine = slices.Clone(s), true
			}
			s = home.Change1(s, step.Slot, m.node(node, step.Value))
		} else if !m.reads(i, node) {
			return dst
		}
	}
	return append(dst, s)
}

func (m *listAppend) Mutates(op models.Op) bool {
	return slices.ContainsFunc(m.steps(op), func(s models.ListStep) bool { return s.Append })
}

// run begins a run. A step takes time linear in its transaction and the lists that it read.
func (m *listAppend) run(s models.State) models.Run {
	r := &run{m: m, now: make([][]int32, m.shape.Slots)}
	for ; len(s) > 0; s = s[2:] {
		r.now[s[0]] = m.of(s[1])
	}
	return r
}

type run struct {
	m   *listAppend
	now [][]int32 // by slot
}

func (r *run) Apply(op models.Op) models.Outcome {
	steps := r.m.steps(op)
	for i, step := range steps {
		if step.Append {
			r.now[step.Slot] = append(r.now[step.Slot], step.Value)
		} else if !slices.Equal(r.now[step.Slot], r.m.shape.List(step)) {
			for _, step := range steps[:i] {
				if step.Append {
					r.now[step.Slot] = r.now[step.Slot][:len(r.now[step.Slot])-1]
				}
			}
			return models.Impossible
		}
	}
	return models.One
}

func (r *run) State() models.State {
	n := 0
	for _, list := range r.now {
		n += len(list)
	}
	r.m.reserve(n)
	var s models.State
	for slot, list := range r.now {
		if len(list) > 0 {
			s = append(s, int32(slot), r.m.node(0, list...))
		}
	}
	return s
}

// of returns the elements of a node.
func (m *listAppend) of(node int32) []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lists.Values(node)
}

// vector returns elements as a vector of their values.
func (m *listAppend) vector(elements []int32) edn.ID {
	classes := make([]int32, len(elements))
	for i, e := range elements {
		classes[i] = m.values[e]
	}
	return m.Vector(classes)
}

func (m *listAppend) Why(s models.State, op models.Op) string {
	if why := m.because(s, op); why != "" {
		return why
	}
	return "can't happen"
}

// because is Traits.Because.
func (m *listAppend) because(s models.State, op models.Op) string {
	for _, step := range m.steps(op) {
		node := home.At1(s, step.Slot, 0)
		if step.Append {
			s = m.with(s, step.Slot, m.node(node, step.Value))
		} else if now, list := m.of(node), m.shape.List(step); !slices.Equal(now, list) {
			return m.differs(step.Slot, now, list)
		}
	}
	return ""
}

// differs says how the list of a slot differs from the one that was read.
func (m *listAppend) differs(slot int32, now, read []int32) string {
	key, n := m.V.Text(m.keys[slot]), 0
	for n < min(len(now), len(read)) && now[n] == read[n] {
		n++
	}
	switch {
	case n == len(read):
		return fmt.Sprintf("%s already has %s", key, m.Text(m.values[now[n]]))
	case !slices.Contains(now, read[n]):
		return fmt.Sprintf("%s does not have %s", key, m.Text(m.values[read[n]]))
	case n == len(now):
		return fmt.Sprintf("%s has %s only once", key, m.Text(m.values[read[n]]))
	}
	return fmt.Sprintf("%s has %s before %s", key, m.Text(m.values[now[n]]), m.Text(m.values[read[n]]))
}

// anomaly is Traits.Anomaly. It compares a transaction with all others. What had returned before it began is in the lists, as is
// all that a transaction appended of which they show something.
func (m *listAppend) anomaly(ops *models.Operations, row models.Row) (found models.Anomaly) {
	if ops.Res[row] == models.Open {
		return ""
	}
	reads, updates := map[int32]bool{}, map[int32]bool{} // by slot
	shown := map[int32]*origin{}                         // by element
	for _, step := range m.steps(ops.Op(row)) {
		if step.Append {
			updates[step.Slot] = true
			continue
		}
		reads[step.Slot] = true
		for _, e := range m.shape.List(step) {
			shown[e] = &origin{}
		}
	}
	for _, e := range slices.Concat(m.shape.Init...) {
		if x := shown[e]; x != nil {
			x.before++
		}
	}
	for other := range models.Row(ops.Len()) {
		for _, step := range m.steps(ops.Op(other)) {
			if x := shown[step.Value]; step.Append && x != nil {
				if ops.Inv[other] < ops.Res[row] {
					x.before++
				} else {
					x.later = true
				}
			}
		}
	}
	for _, x := range shown {
		if x.before == 0 && (found == "" || !x.later) {
			if found = models.NeverWritten; x.later {
				found = models.FutureRead
			}
		}
	}
	if found != "" {
		return found
	}
	for other := range models.Row(ops.Len()) {
		if ops.Inv[other] > ops.Res[row] {
			break
		}
		some, lacks := false, false
		for _, step := range m.steps(ops.Op(other)) {
			x := shown[step.Value]
			some = some || step.Append && x != nil && x.before == 1
			if !step.Append || other == row || x != nil || !reads[step.Slot] {
				continue
			}
			lacks = true
			if before := ops.Res[other] < ops.Inv[row]; before && updates[step.Slot] {
				found = models.LostUpdate
			} else if before && found == "" {
				found = models.StaleRead
			}
		}
		if some && lacks {
			return models.TornRead
		}
	}
	return found
}

// origin says how many have appended an element that a transaction shows before it returned, and whether others did later.
type origin struct {
	before int
	later  bool
}

func (m *listAppend) Record(s models.State) edn.Value {
	var kvs []edn.ID
	for ; len(s) > 0; s = s[2:] {
		kvs = append(kvs, m.keys[s[0]], m.vector(m.of(s[1])))
	}
	return m.PrintMap(kvs)
}
