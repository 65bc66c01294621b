package log

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// log is a list that is only appended to. A state is the number of a node: its last value,
// and the list before it. So lists share their beginnings, and a step takes constant time
// however long they are.
type log struct {
	home.Base
	fAppend, fReadAt, fTail, fRead   edn.ID
	kOffset, kMsg, kValue, kExpected edn.ID
	first                            []int32 // the initial list
	told                             bool    // appends tell their offsets
	lists                            [][]int32
	ends                             []int32 // by list: its node
	numbers                          models.Numbering

	mu    sync.Mutex // parts are searched concurrently
	nodes home.Lists
}

var logDefinition = models.Definition{
	Name: "log", Fs: ":append v -> offset, :read-at offset -> v or nil, :tail -> offset, :read -> [v ..]", About: "a list that is appended to",
	NilOutputs: []string{"read-at"},
	Called:     []string{"list"},
	Params:     []models.Param{models.ParamAnswers},
	Untold:     "appends do not return offsets, so none was checked",
	Default:    "[]",
	Record:     "clew.model.Log",
	Warn:       func(_ models.Spec, h *jepsen.History) string { return home.WarnOfNil("read", h) },
	Infer: func(s *models.Seen) models.Fit {
		if all := home.Returned(s, ":read"); s.Only(":read") && all.Lists > 0 && all.Lists == all.Collections && all.Scalars == 0 && !home.HasSteps(s, ":read") {
			return models.MayFit
		}
		return models.NoFit
	},
	New: newLog,
}

func newLog(b *models.Binding) (models.Reader, error) {
	f := b.Values.InternKeyword
	m := &log{Base: home.NewBase(b), fAppend: f("append"), fReadAt: f("read-at"), fTail: f("tail"), fRead: f("read"),
		kOffset: f("offset"), kMsg: f("msg"), kValue: f("value"), kExpected: f("match-seq-num"),
		told: b.Spec.Answers == models.AnswersTold}
	m.Initial = models.State{0}
	m.Offered = models.Traits{
		Because:   m.because,
		Survey:    m.survey,
		Opening:   m.opening,
		Run:       m.run,
		Hindsight: m.hindsight,
		Levels:    &models.Levels{Start: m.start, Moves: m.moves, Shows: m.shows},
		Anomaly:   anomaly,
		Weight:    func(models.State) int64 { return 64 }, // a node is held as long as its number is
		Shape:     func() models.Shape { return models.LogShape{Init: m.first, Lists: m.lists} },
		Lookahead: &models.Lookahead{
			MayFollow: m.mayFollow,
			MayLead:   func(models.State, models.Op, []models.Op) bool { return false },
		},
	}
	if b.InitID == nil {
		return m, nil
	}
	list, ok := m.list(*b.InitID)
	if !ok {
		return nil, home.BadInit(b, "a vector such as [1 2]")
	}
	m.first, m.Initial = list, models.State{m.nodes.Follow(0, list)}
	return m, nil
}

// list returns the classes of a sequence.
func (m *log) list(id edn.ID) (classes []int32, ok bool) {
	items, ok := m.Sequence(id)
	return m.Classes(items), ok
}

func (m *log) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if o.FID == m.fAppend {
		return m.readAppend(o)
	}
	if o.FID != m.fReadAt && o.FID != m.fTail && o.FID != m.fRead {
		return op, false, models.ErrUnknownF
	}
	if o.Status == jepsen.Crashed || o.FID == m.fRead && o.ValueID == edn.Nil {
		return op, false, nil
	}
	switch o.FID {
	case m.fTail:
		op.Kind = models.Tail
		op.B, err = m.offset(o.ValueID)
	case m.fReadAt:
		var value edn.ID
		value, op.B, err = m.found(o)
		op.Kind, op.A = models.ReadAt, m.Class(value)
		if value == edn.Nil {
			op.Kind = models.ReadNothing
		}
	default:
		op.Kind, op.A = models.ReadLog, m.numbers.Of(m.Class(o.ValueID))
		if int(op.A) == len(m.lists) {
			list, ok := m.list(o.ValueID)
			if !ok {
				err = fmt.Errorf("expected [v ..], the whole list, found %s", m.V.Text(o.ValueID))
			}
			m.lists, m.ends = append(m.lists, list), append(m.ends, m.nodes.Follow(0, list))
		}
	}
	return op, true, err
}

// found returns what a :read-at returned, and the offset that it was called with. A map
// that tells an offset also tells the value. For a :read-at without an offset, the offset
// of the map counts.
func (m *log) found(o models.Operation) (value edn.ID, at int32, err error) {
	asked, value := o.GivenID, o.ValueID
	if offset, ok := m.V.Get(asked, m.kOffset); ok {
		asked = offset
	}
	if offset, told := m.V.Get(value, m.kOffset); told {
		if asked != edn.Nil && m.V.Same(asked) != m.V.Same(offset) {
			return value, 0, fmt.Errorf("expected what is at offset %s, found %s", m.V.Text(asked), m.V.Text(value))
		}
		asked = offset
		if err = m.misnamed(value); err != nil {
			return value, 0, err
		}
		value = m.within(value)
	}
	at, err = m.offset(asked)
	return value, at, err
}

// misnamed returns an error if a map that is an answer may have the offset or the value
// under another name. That is an unknown key in a map without an offset, or a key that is
// spelled almost like a known one.
func (m *log) misnamed(answer edn.ID) error {
	if m.V.Kind(answer) != edn.KindMap {
		return nil
	}
	_, told := m.V.Get(answer, m.kOffset)
	for kvs := m.V.Items(answer); len(kvs) > 0; kvs = kvs[2:] {
		switch key := m.V.Same(kvs[0]); {
		case slices.Contains([]edn.ID{m.kOffset, m.kMsg, m.kValue, m.kExpected}, key):
		case !told || m.isLike(key, "offset", "msg", "message", "value"):
			return fmt.Errorf("expected {:offset n :msg v}, found %s in %s", m.V.Text(key), m.V.Text(answer))
		}
	}
	return nil
}

// isLike says whether a key of a map is spelled almost like one of the names.
func (m *log) isLike(key edn.ID, names ...string) bool {
	k := m.V.Kind(key)
	return (k == edn.KindKeyword || k == edn.KindString) && slices.ContainsFunc(names, func(name string) bool {
		return text.IsLike(strings.ToLower(m.V.Str(key)), name)
	})
}

// readAppend reads an append. An offset counts only if appends tell theirs.
func (m *log) readAppend(o models.Operation) (op models.Op, keep bool, err error) {
	value, expected := m.appended(o.GivenID)
	if value == edn.Nil {
		return op, false, fmt.Errorf("expected a value, found %s", m.V.Text(o.GivenID))
	}
	offset := edn.Nil
	if o.Status == jepsen.Succeeded {
		answer, ok := m.answer(o.GivenID, o.ValueID)
		switch {
		case !ok && m.V.Same(o.ValueID) != m.V.Same(o.GivenID):
			return op, false, m.noAnswer(o.GivenID, o.ValueID)
		case ok && m.told:
			offset = answer
		}
	}
	op.A = m.Class(value)
	for _, told := range []edn.ID{expected, offset} {
		if told == edn.Nil {
			continue
		}
		n, err := m.offset(told)
		if err != nil {
			return op, false, err
		}
		if op.B != 0 && op.B != n+1 {
			op.Kind = models.AppendNever
		}
		op.B = n + 1
	}
	return op, true, nil
}

// appended returns the value that an append was called with, and the offset that it
// expects, or Nil.
func (m *log) appended(given edn.ID) (value, expected edn.ID) {
	if m.V.Kind(given) == edn.KindMap {
		if n, told := m.V.Get(given, m.kExpected); told {
			return m.within(given), n
		}
	}
	return given, edn.Nil
}

// answer returns the offset that a completion of an append tells, Nil if it is nil or a map
// that tells none. ok is false if the completion cannot be an answer.
func (m *log) answer(given, value edn.ID) (offset edn.ID, ok bool) {
	offset = value
	if m.V.Kind(value) == edn.KindMap {
		offset, ok = m.V.Get(value, m.kOffset)
		back := m.within(value)
		if back == edn.Nil && !ok || back != edn.Nil && !m.isAppended(given, back) || m.misnamed(value) != nil {
			return edn.Nil, false
		}
	}
	n, isInt := m.V.Int(offset)
	return offset, offset == edn.Nil || isInt && n >= 0 && n < models.MaxCount
}

// isAppended says whether an append was called to append a value.
func (m *log) isAppended(given, value edn.ID) bool {
	appended, _ := m.appended(given)
	return m.V.Same(value) == m.V.Same(appended)
}

// noAnswer returns the error of a completion that is neither an answer of an append nor its
// value.
func (m *log) noAnswer(given, value edn.ID) error {
	if back := m.within(value); back != edn.Nil && !m.isAppended(given, back) {
		appended, _ := m.appended(given)
		return fmt.Errorf("expected the value %s, found %s", m.V.Text(appended), m.V.Text(value))
	}
	if err := m.misnamed(value); err != nil {
		return err
	}
	offset, told := m.V.Get(value, m.kOffset)
	if !told {
		offset = value
	}
	_, err := m.offset(offset)
	return err
}

func (m *log) survey(s *models.Spec, h *jepsen.History) error {
	return s.SurveyAnswers(h, "an offset", func(f, given, value edn.ID) models.Answer {
		if f != m.fAppend {
			return models.NoAnswer
		}
		offset, ok := m.answer(given, value)
		if ok && offset == edn.Nil {
			return models.Silent
		}
		return models.AnswerOf(m.V.Same(value) == m.V.Same(given), ok)
	})
}

// within returns the value in a map.
func (m *log) within(id edn.ID) edn.ID {
	value, ok := m.V.Get(id, m.kMsg)
	if !ok {
		value, _ = m.V.Get(id, m.kValue)
	}
	return value
}

func (m *log) offset(id edn.ID) (int32, error) {
	n, ok := m.V.Int(id)
	if !ok || n < 0 || n >= models.MaxCount {
		return 0, fmt.Errorf("expected an offset from 0 on, less than %d, found %s", models.MaxCount, m.V.Text(id))
	}
	return int32(n), nil
}

func (m *log) Step(dst []models.State, s models.State, op models.Op) []models.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	length, ok := m.nodes.Len(s[0]), false
	switch op.Kind {
	case models.AppendTo:
		if op.B == 0 || op.B-1 == length {
			return models.Only(dst, m.nodes.With(s[0], op.A))
		}
	case models.ReadAt:
		ok = op.B < length && m.nodes.Last(m.nodes.Beginning(s[0], op.B+1)) == op.A
	case models.ReadNothing:
		ok = op.B >= length
	case models.Tail:
		ok = op.B == length
	case models.ReadLog:
		ok = m.ends[op.A] == s[0]
	}
	if ok {
		return append(dst, s)
	}
	return dst
}

func (m *log) Mutates(op models.Op) bool { return op.Kind == models.AppendTo }

// length is a level: that of the list. The others are how often it holds each value.
const length = -1

func (m *log) start(level int64) (n int64) {
	for _, x := range m.first {
		if level == length || int64(x) == level {
			n++
		}
	}
	return n
}

// anomaly is Traits.Anomaly. A log only grows, so one that is too short is an old one.
func anomaly(ops *models.Operations, row models.Row) models.Anomaly {
	return home.ByLevels(ops, row, func(op models.Op, x home.Beyond) models.Anomaly {
		switch {
		case x.Level != length:
			return x.Missing
		case x.Above:
			return ""
		case op.Kind == models.AppendTo:
			return models.ReusedID
		}
		return models.StaleRead
	})
}

func (m *log) moves(dst []models.Move, op models.Op) []models.Move {
	if op.Kind == models.AppendTo {
		dst = append(dst, models.By(int64(op.A), 1), models.By(length, 1))
	}
	return dst
}

func (m *log) shows(dst []models.Bound, op models.Op) []models.Bound {
	at := int64(op.B)
	switch op.Kind {
	case models.AppendTo:
		if at > 0 {
			dst = append(dst, models.Bound{Level: length, Least: at, Most: at})
		}
	case models.ReadAt:
		dst = append(dst, models.Bound{Level: length, Least: at + 1, Most: models.Unbounded},
			models.Bound{Level: int64(op.A), Least: 1, Most: models.Unbounded})
	case models.ReadNothing:
		dst = append(dst, models.Bound{Level: length, Least: 0, Most: at})
	case models.Tail:
		dst = append(dst, models.Bound{Level: length, Least: at, Most: at})
	}
	return dst
}

// mayFollow rests on that a list only grows, and by at most the number of values that the
// others append.
func (m *log) mayFollow(s models.State, op models.Op, others []models.Op) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	length := m.nodes.Len(s[0])
	most, held := length, false // held: some other appends the value
	for _, other := range others {
		if other.Kind == models.AppendTo {
			most++
			held = held || other.A == op.A
		}
	}
	switch op.Kind {
	case models.AppendTo:
		return op.B == 0 || length <= op.B-1 && op.B-1 <= most
	case models.ReadAt:
		if op.B < length {
			return m.nodes.Last(m.nodes.Beginning(s[0], op.B+1)) == op.A
		}
		return op.B < most && held
	case models.ReadNothing:
		return op.B >= length
	case models.Tail:
		return length <= op.B && op.B <= most
	case models.ReadLog:
		end := m.ends[op.A]
		return m.nodes.Beginning(end, length) == s[0] && m.nodes.Len(end) <= most
	}
	return false
}

func (m *log) Why(s models.State, op models.Op) string {
	m.mu.Lock()
	length := m.nodes.Len(s[0])
	m.mu.Unlock()
	value := m.Text(op.A)
	switch op.Kind {
	case models.AppendTo:
		return fmt.Sprintf("can't append %s at offset %d: the next one is %d", value, op.B-1, length)
	case models.AppendNever:
		return "can't append " + value + " at two offsets"
	case models.ReadAt:
		return fmt.Sprintf("can't read %s at offset %d", value, op.B)
	case models.ReadNothing:
		return fmt.Sprintf("there is a value at offset %d: the tail is %d", op.B, length)
	case models.Tail:
		return fmt.Sprintf("the tail can't be %d: it is %d", op.B, length)
	}
	return "can't read " + m.V.Text(m.Vector(m.lists[op.A])) + " from " + m.V.Text(m.vector(s))
}

// because is Traits.Because.
func (m *log) because(s models.State, op models.Op) string {
	list := m.values(s)
	switch {
	case op.Kind == models.ReadAt && int(op.B) < len(list):
		return fmt.Sprintf("%s is at offset %d, not %s", m.Text(list[op.B]), op.B, m.Text(op.A))
	case op.Kind == models.ReadAt:
		return fmt.Sprintf("nothing is at offset %d", op.B)
	case op.Kind == models.ReadLog && len(list) == 0:
		return "the log is empty"
	case op.Kind == models.ReadLog:
		return "the log holds " + m.V.Text(m.vector(s))
	}
	return ""
}

// run begins a run. A step takes constant time, except a read of the whole list. That takes
// time linear in the list read.
func (m *log) run(s models.State) models.Run {
	list := m.values(s)
	return &logRun{m, list, s[0], len(list)}
}

type logRun struct {
	m     *log
	list  []int32
	node  int32 // of the first values
	noted int   // how many values that is
}

func (r *logRun) Apply(op models.Op) models.Outcome {
	length := int32(len(r.list))
	switch op.Kind {
	case models.AppendTo:
		if op.B != 0 && op.B-1 != length {
			return models.Impossible
		}
		r.list = append(r.list, op.A)
		return models.One
	case models.ReadAt:
		return models.OneIf(op.B < length && r.list[op.B] == op.A)
	case models.ReadNothing:
		return models.OneIf(op.B >= length)
	case models.Tail:
		return models.OneIf(op.B == length)
	case models.ReadLog:
		return models.OneIf(slices.Equal(r.list, r.m.lists[op.A]))
	}
	return models.Impossible
}

func (r *logRun) State() models.State {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	r.m.nodes.Reserve(len(r.list) - r.noted)
	r.node, r.noted = r.m.nodes.Follow(r.node, r.list[r.noted:]), len(r.list)
	return models.State{r.node}
}

// values returns the list of a state.
func (m *log) values(s models.State) []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nodes.Values(s[0])
}

// vector returns the list of a state as a vector.
func (m *log) vector(s models.State) edn.ID { return m.V.InternVector(home.IDs(m.values(s))) }

func (m *log) Record(s models.State) edn.Value {
	return m.Print("items", m.vector(s))
}

// opening looks for the values before the first one that an append was called with.
func (m *log) opening() models.Opening {
	const anywhere = -1 // the place of a value that a call is to append
	var o *home.Places
	o = home.NewPlaces(home.Places{
		Shows: func(dst []models.Cell, op models.Op) []models.Cell {
			switch op.Kind {
			case models.ReadAt:
				dst = append(dst, models.Cell{Place: op.B, Value: op.A})
			case models.ReadLog:
				for at, x := range m.lists[op.A] {
					dst = append(dst, models.Cell{Place: int32(at), Value: x})
				}
			}
			return dst
		},
		Leaves: func(dst []models.Cell, op models.Op) []models.Cell {
			if op.Kind == models.AppendTo || op.Kind == models.AppendNever {
				dst = append(dst, models.Cell{Place: anywhere, Value: op.A})
			}
			return dst
		},
		Before: func(cell models.Cell) bool {
			_, called := o.Callers[models.Cell{Place: anywhere, Value: cell.Value}]
			return called
		},
		Mutates: m.Mutates,
		Start: func(cells []models.Cell) []edn.ID {
			slices.SortFunc(cells, func(a, b models.Cell) int { return int(a.Place - b.Place) })
			var list []edn.ID
			for at, cell := range cells {
				if cell.Place != int32(at) {
					break
				}
				list = append(list, edn.ID(cell.Value))
			}
			if list == nil {
				return nil
			}
			return []edn.ID{m.V.InternVector(list)}
		},
	})
	return o
}
