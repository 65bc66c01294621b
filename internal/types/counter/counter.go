package counter

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

var counterDefinition = models.Definition{
	Name: "counter", Fs: ":add n, :read, :incr and :decr (or :increment, :decrement) -> the new value, [n new] if called with n, or nil, :add-and-get n -> [n new]", About: "a number that is added to",
	Params:    []models.Param{models.ParamAnswers},
	Repeating: []string{"add"},
	Untold:    "increments do not return new values, so none was checked",
	Default:   "0",
	Record:    "clew.model.Counter",
	New:       newCounter,
}

// counter is a number that operations add to; it may be negative. A state holds its upper
// and its lower 32 bits.
type counter struct {
	home.Base
	fAdd, fRead, fBoth edn.ID
	fIncr, fDecr       [2]edn.ID
	first              int64
	totals             home.Integers
	told               bool // increments tell the new value
}

func newCounter(b *models.Binding) (models.Reader, error) {
	f := b.Values.InternKeyword
	m := &counter{Base: home.NewBase(b), fAdd: f("add"), fRead: f("read"), fBoth: f("add-and-get"),
		fIncr: [2]edn.ID{f("incr"), f("increment")}, fDecr: [2]edn.ID{f("decr"), f("decrement")}, told: b.Spec.Answers == models.AnswersTold}
	m.Offered = models.Traits{
		Because:   m.because,
		Levels:    m.levels(),
		Anomaly:   m.anomaly,
		Survey:    m.survey,
		Opening:   func() models.Opening { return newOpening(m) },
		FromAny:   m.fromAny,
		Shape:     func() models.Shape { return models.CounterShape{Init: m.first, Totals: m.totals.List} },
		Lookahead: &models.Lookahead{MayFollow: m.mayFollow, MayLead: m.mayLead},
		Hard: func() models.Hard {
			return models.Hard{Change: []string{"let every update return the new value, as :add-and-get does", "use more counters with fewer operations each"}}
		},
	}
	if init, given := b.Init(); given {
		n, ok := init.Int()
		if !ok || n < -maxInitial || n > maxInitial {
			return nil, models.ParamErrorf("counter's %s must be an integer from %d to %d, not %v", models.ParamInit, -maxInitial, maxInitial, init)
		}
		m.first = n
	}
	m.Initial = home.StateOf(m.first)
	return m, nil
}

// maxInitial bounds the initial value, and maxAdded the number that one operation adds. The
// sum over all operations that a history can hold stays an int64.
const (
	maxInitial = int64(1 << 61)
	MaxAdded   = math.MaxInt32
)

func (m *counter) Read(o models.Operation) (models.Op, bool, error) {
	sign := int32(1)
	switch {
	case o.FID == m.fAdd:
		n, err := m.amount(o.ValueID)
		return models.Op{Kind: models.Plus, A: n}, n != 0, err
	case o.FID == m.fRead:
		if o.Status == jepsen.Crashed {
			return models.Op{}, false, nil
		}
		if _, ok := m.V.Int(o.ValueID); !ok {
			return models.Op{}, false, fmt.Errorf("expected the integer that was read, of at most 64 bits, found %s", m.V.Text(o.ValueID))
		}
		return models.Op{Kind: models.Total, B: m.totals.Of(m.V, o.ValueID)}, true, nil
	case slices.Contains(m.fDecr[:], o.FID):
		sign = -1
	case !slices.Contains(m.fIncr[:], o.FID) && o.FID != m.fBoth:
		return models.Op{}, false, models.ErrUnknownF
	}
	return m.readBoth(o, sign)
}

// readBoth reads an operation that adds and may tell the new value. The new value of an
// increment counts only if increments tell it. The invocation says how much is added; nil
// is 1, but not for an :add-and-get.
func (m *counter) readBoth(o models.Operation, sign int32) (op models.Op, keep bool, err error) {
	op = models.Op{Kind: models.Plus, A: sign}
	if o.GivenID != edn.Nil || o.FID == m.fBoth {
		n, err := m.amount(o.GivenID)
		if err != nil {
			return op, false, err
		}
		op.A = sign * n
	}
	if o.Status == jepsen.Crashed {
		return op, op.A != 0, nil
	}
	after, told, both := m.answer(o.GivenID, o.ValueID)
	switch {
	case o.FID == m.fBoth && !both:
		return op, false, fmt.Errorf("expected [%s new], found %s", m.V.Text(o.GivenID), m.V.Text(o.ValueID))
	case !told && o.ValueID != edn.Nil && m.V.Same(o.ValueID) != m.V.Same(o.GivenID) && o.GivenID == edn.Nil:
		return op, false, fmt.Errorf("expected the new value or nil, found %s", m.V.Text(o.ValueID))
	case !told && o.ValueID != edn.Nil && m.V.Same(o.ValueID) != m.V.Same(o.GivenID):
		return op, false, fmt.Errorf("expected the new value, [%s new], %[1]s or nil, found %s", m.V.Text(o.GivenID), m.V.Text(o.ValueID))
	case !told || !m.told && o.FID != m.fBoth:
		return op, op.A != 0, nil
	case op.A == 0:
		return models.Op{Kind: models.Total, B: m.totals.Of(m.V, after)}, true, nil
	}
	return models.Op{Kind: models.PlusTotal, A: op.A, B: m.totals.Of(m.V, after)}, true, nil
}

// answer returns the new value that a completion may tell, and whether it stands beside the
// amount, as [n new].
func (m *counter) answer(given, value edn.ID) (after edn.ID, told, both bool) {
	after = value
	if n, other, ok := m.Pair(value); ok && m.V.Same(n) == m.V.Same(given) {
		after, both = other, true
	}
	_, told = m.V.Int(after)
	return after, told, both && told
}

func (m *counter) survey(s *models.Spec, h *jepsen.History) error {
	return s.SurveyAnswers(h, "a new value", func(f, given, value edn.ID) models.Answer {
		switch {
		case !slices.Contains(m.fIncr[:], f) && !slices.Contains(m.fDecr[:], f):
			return models.NoAnswer
		case value == edn.Nil:
			return models.Silent
		}
		_, told, _ := m.answer(given, value)
		return models.AnswerOf(m.V.Same(value) == m.V.Same(given), told)
	})
}

// amount reads an integer that is added.
func (m *counter) amount(id edn.ID) (int32, error) {
	n, ok := m.V.Int(id)
	if !ok || n < -MaxAdded || n > MaxAdded {
		return 0, fmt.Errorf("expected an integer from %d to %d, found %s", -MaxAdded, MaxAdded, m.V.Text(id))
	}
	return int32(n), nil
}

func (m *counter) Step(dst []models.State, s models.State, op models.Op) []models.State {
	next := home.Number(s) + int64(op.A)
	switch {
	case op.Kind != models.Plus && next != m.totals.List[op.B]:
		return dst
	case op.Kind == models.Total:
		return append(dst, s)
	}
	return append(dst, home.StateOf(next))
}

func (m *counter) Mutates(op models.Op) bool { return op.Kind != models.Total }

// mayFollow says whether the missing amount lies between the sums of what the others can take
// away and add.
func (m *counter) mayFollow(s models.State, op models.Op, others []models.Op) bool {
	if op.Kind == models.Plus {
		return true
	}
	missing := m.totals.List[op.B] - int64(op.A) - home.Number(s)
	least, most := int64(0), int64(0)
	for _, other := range others {
		if other.A < 0 {
			least += int64(other.A)
		} else {
			most += int64(other.A)
		}
	}
	return least <= missing && missing <= most
}

// levels has the total as its only level.
func (m *counter) levels() *models.Levels {
	return &models.Levels{
		Start: func(int64) int64 { return home.Number(m.Initial) },
		Moves: func(dst []models.Move, op models.Op) []models.Move { return append(dst, models.By(0, int64(op.A))) },
		Shows: func(dst []models.Bound, op models.Op) []models.Bound {
			if op.Kind != models.Plus {
				saw := m.totals.List[op.B]
				dst = append(dst, models.Bound{Level: 0, Least: saw, Most: saw})
			}
			return dst
		},
	}
}

// anomaly is Traits.Anomaly. A total that no choice of the additions before it can reach is wrong, whatever was chosen.
func (m *counter) anomaly(ops *models.Operations, row models.Row) models.Anomaly {
	op := ops.Op(row)
	if op.Kind == models.Plus || ops.Res[row] == models.Open {
		return ""
	}
	least, most := home.Number(m.Initial), home.Number(m.Initial)
	for i := range models.Row(ops.Len()) {
		if ops.Inv[i] < ops.Res[row] {
			least, most = least+int64(min(ops.A[i], 0)), most+int64(max(ops.A[i], 0))
		}
	}
	if saw := m.totals.List[op.B]; saw < least || saw > most {
		return models.WrongSum
	}
	return ""
}

// mayLead rests on that the order of additions does not matter unless an operation sees the
// total.
func (m *counter) mayLead(_ models.State, op models.Op, others []models.Op) bool {
	return op.Kind == models.Plus && !slices.ContainsFunc(others, func(other models.Op) bool { return other.Kind != models.Plus })
}

func (m *counter) Why(s models.State, op models.Op) string {
	now, saw := home.Number(s), m.totals.List[op.B]
	if op.Kind == models.PlusTotal {
		return fmt.Sprintf("can't go from counter %d to %d by %d", now, saw, op.A)
	}
	return "can't read " + strconv.FormatInt(saw, 10) + " from counter " + strconv.FormatInt(now, 10)
}

// because is Traits.Because.
func (m *counter) because(s models.State, op models.Op) string {
	now, saw := home.Number(s), m.totals.List[op.B]
	if op.Kind == models.PlusTotal {
		return fmt.Sprintf("the counter is %d, and %d after adding %d, not %d", now, now+int64(op.A), op.A, saw)
	}
	return fmt.Sprintf("the counter is %d, not %d", now, saw)
}

func (m *counter) Record(s models.State) edn.Value {
	return m.Print("value", m.V.InternInt(home.Number(s)))
}
