package models

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"clew/edn"
	"clew/jepsen"
)

// Kinds of counter. A is the number added. B is a place in the model's totals.
const (
	Plus      Kind = iota // adds A
	Total                 // saw B
	PlusTotal             // adds A, and saw B then
)

var counterDefinition = Definition{
	Name: "counter", Fs: ":add n, :read, :incr and :decr (or :increment, :decrement) -> the new value or nil, :add-and-get n -> [n new]", About: "a number that is added to",
	Params:    []Param{ParamAnswers},
	Repeating: []string{"add"},
	Untold:    "increments do not return new values, so none was checked",
	Default:   "0",
	Record:    "clew.model.Counter",
	New:       newCounter,
}

// counter is a number that operations add to; it may be negative. A state holds its upper
// and its lower 32 bits.
type counter struct {
	v                  *edn.Values
	record             string
	fAdd, fRead, fBoth edn.ID
	fIncr, fDecr       [2]edn.ID
	init               int64
	totals             integers
	told               bool // increments tell the new value
	traits             Traits
}

func newCounter(b *Binding) (Reader, error) {
	f := b.v.InternKeyword
	m := &counter{v: b.v, record: b.record, fAdd: f("add"), fRead: f("read"), fBoth: f("add-and-get"),
		fIncr: [2]edn.ID{f("incr"), f("increment")}, fDecr: [2]edn.ID{f("decr"), f("decrement")}, told: b.Spec.Answers == AnswersTold}
	m.traits = Traits{
		Survey: m.survey,
		Opening: func() Opening {
			return &counterOpening{m: m, sums: map[int64]bool{0: true}, may: map[int64]bool{0: true}}
		},
		Shape:     func() Shape { return CounterShape{Init: m.init, Totals: m.totals.list} },
		Lookahead: &Lookahead{MayFollow: m.mayFollow, MayLead: m.mayLead},
	}
	if init, given := b.Init(); given {
		n, ok := init.Int()
		if !ok || n < -maxInitial || n > maxInitial {
			return nil, paramErrorf("counter's %s must be an integer from %d to %d, not %v", ParamInit, -maxInitial, maxInitial, init)
		}
		m.init = n
	}
	return m, nil
}

// maxInitial bounds the initial value, and maxAdded the number that one operation adds. The
// sum over all operations that a history can hold stays an int64.
const (
	maxInitial = 1 << 61
	maxAdded   = math.MaxInt32
)

func (m *counter) Read(o Operation) (Op, bool, error) {
	sign := int32(1)
	switch {
	case o.f == m.fAdd:
		n, err := m.amount(o.value)
		return Op{Kind: Plus, A: n}, n != 0, err
	case o.f == m.fRead:
		if o.status == jepsen.Crashed {
			return Op{}, false, nil
		}
		if _, ok := m.v.Int(o.value); !ok {
			return Op{}, false, fmt.Errorf("expected the integer that was read, of at most 64 bits, found %s", m.v.Text(o.value))
		}
		return Op{Kind: Total, B: m.totals.of(m.v, o.value)}, true, nil
	case slices.Contains(m.fDecr[:], o.f):
		sign = -1
	case !slices.Contains(m.fIncr[:], o.f) && o.f != m.fBoth:
		return Op{}, false, ErrUnknownF
	}
	return m.readBoth(o, sign)
}

// readBoth reads an operation that adds and may tell the new value. The new value of an
// increment counts only if increments tell it. The invocation says how much is added; nil
// is 1, but not for an :add-and-get.
func (m *counter) readBoth(o Operation, sign int32) (op Op, keep bool, err error) {
	op = Op{Kind: Plus, A: sign}
	if o.given != edn.Nil || o.f == m.fBoth {
		n, err := m.amount(o.given)
		if err != nil {
			return op, false, err
		}
		op.A = sign * n
	}
	if o.status == jepsen.Crashed {
		return op, op.A != 0, nil
	}
	after, told, both := m.answer(o.given, o.value)
	switch {
	case o.f == m.fBoth && !both:
		return op, false, fmt.Errorf("expected [%s new], found %s", m.v.Text(o.given), m.v.Text(o.value))
	case !told && o.value != edn.Nil && m.v.Same(o.value) != m.v.Same(o.given) && o.given == edn.Nil:
		return op, false, fmt.Errorf("expected the new value or nil, found %s", m.v.Text(o.value))
	case !told && o.value != edn.Nil && m.v.Same(o.value) != m.v.Same(o.given):
		return op, false, fmt.Errorf("expected the new value, [%s new], %[1]s or nil, found %s", m.v.Text(o.given), m.v.Text(o.value))
	case !told || !m.told && o.f != m.fBoth:
		return op, op.A != 0, nil
	case op.A == 0:
		return Op{Kind: Total, B: m.totals.of(m.v, after)}, true, nil
	}
	return Op{PlusTotal, op.A, m.totals.of(m.v, after)}, true, nil
}

// answer returns the new value that a completion may tell, and whether it stands beside the
// amount, as [n new].
func (m *counter) answer(given, value edn.ID) (after edn.ID, told, both bool) {
	after = value
	if k := m.v.Kind(value); k == edn.KindVector || k == edn.KindList {
		items := m.v.Items(value)
		if both = len(items) == 2 && m.v.Same(items[0]) == m.v.Same(given); both {
			after = items[1]
		}
	}
	_, told = m.v.Int(after)
	return after, told, both && told
}

// Traits implements Model.
func (m *counter) Traits() *Traits { return &m.traits }

func (m *counter) survey(s *Spec, h *jepsen.History) error {
	return s.surveyAnswers(h, "a new value", func(f, given, value edn.ID) Answer {
		switch {
		case !slices.Contains(m.fIncr[:], f) && !slices.Contains(m.fDecr[:], f):
			return NoAnswer
		case value == edn.Nil:
			return Silent
		}
		_, told, _ := m.answer(given, value)
		return answerOf(m.v.Same(value) == m.v.Same(given), told)
	})
}

// amount reads an integer that is added.
func (m *counter) amount(id edn.ID) (int32, error) {
	n, ok := m.v.Int(id)
	if !ok || n < -maxAdded || n > maxAdded {
		return 0, fmt.Errorf("expected an integer from %d to %d, found %s", -maxAdded, maxAdded, m.v.Text(id))
	}
	return int32(n), nil
}

// integers numbers the integers that operations show, from 0 on.
type integers struct {
	numbers numbering
	list    []int64
}

// of returns the number of an integer in a table.
func (x *integers) of(v *edn.Values, id edn.ID) int32 {
	n := x.numbers.of(int32(v.Same(id)))
	if int(n) == len(x.list) {
		k, _ := v.Int(id)
		x.list = append(x.list, k)
	}
	return n
}

// stateOf returns a number as a state, and number returns it as a number again.
func stateOf(n int64) State { return State{int32(n >> 32), int32(n)} }

func number(s State) int64 { return int64(s[0])<<32 | int64(uint32(s[1])) }

func (m *counter) Init() State { return stateOf(m.init) }

func (m *counter) Step(dst []State, s State, op Op) []State {
	next := number(s) + int64(op.A)
	switch {
	case op.Kind != Plus && next != m.totals.list[op.B]:
		return dst
	case op.Kind == Total:
		return append(dst, s)
	}
	return append(dst, stateOf(next))
}

func (m *counter) Mutates(op Op) bool { return op.Kind != Total }

// mayFollow says whether the missing amount lies between the sums of what the others can take
// away and add.
func (m *counter) mayFollow(s State, op Op, others []Op) bool {
	if op.Kind == Plus {
		return true
	}
	missing := m.totals.list[op.B] - int64(op.A) - number(s)
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

// mayLead rests on that the order of additions does not matter unless an operation sees the
// total.
func (m *counter) mayLead(_ State, op Op, others []Op) bool {
	return op.Kind == Plus && !slices.ContainsFunc(others, func(other Op) bool { return other.Kind != Plus })
}

func (m *counter) Why(s State, op Op) string {
	now, saw := number(s), m.totals.list[op.B]
	if op.Kind == PlusTotal {
		return fmt.Sprintf("can't go from counter %d to %d by %d", now, saw, op.A)
	}
	return "can't read " + strconv.FormatInt(saw, 10) + " from counter " + strconv.FormatInt(now, 10)
}

func (m *counter) Record(s State) edn.Value {
	return record(m.v, m.record, field{"value", m.v.InternInt(number(s))})
}

// counterOpening is the Opening of counter. A number that is a sum of amounts called so far
// may have come from them.
type counterOpening struct {
	noNeeds
	m      *counter
	sums   map[int64]bool // sums of any amounts called so far
	may    map[int64]bool // the same without those that failed
	starts []int64
	less   []int64 // starts, less what had been added by then
}

// maxSums bounds the sums that are kept.
const maxSums = 1 << 14

func (o *counterOpening) Call(_ jepsen.Operation, op Op, status jepsen.Status) {
	if op.Kind == Total || op.A == 0 {
		return
	}
	addTo(o.sums, int64(op.A))
	if status != jepsen.Failed {
		addTo(o.may, int64(op.A))
	}
}

// addTo adds the sums that include one more number, up to a bound.
func addTo(sums map[int64]bool, n int64) {
	if len(sums) <= maxSums {
		for _, sum := range slices.Collect(maps.Keys(sums)) {
			sums[sum+n] = true
		}
	}
}

func (o *counterOpening) Return(_ jepsen.Operation, op Op, early bool) {
	if !early || op.Kind != Total || len(o.starts) == maxOpenings {
		return
	}
	total := o.m.totals.list[op.B]
	if len(o.sums) > maxSums || o.sums[total] || total < -maxInitial || total > maxInitial {
		return
	}
	if !slices.Contains(o.starts, total) {
		o.starts = append(o.starts, total)
	}
	for _, sum := range slices.Sorted(maps.Keys(o.may)) {
		if len(o.less) < maxOpenings && !slices.Contains(o.less, total-sum) {
			o.less = append(o.less, total-sum)
		}
	}
}

func (o *counterOpening) Puts(op Op) bool { return op.Kind != Total }

func (o *counterOpening) Later() bool { return false }

func (o *counterOpening) Starts() []edn.ID {
	var starts []edn.ID
	for _, n := range append(o.starts, o.less...) {
		if id := o.m.v.InternInt(n); n != 0 && !slices.Contains(starts, id) {
			starts = append(starts, id)
		}
	}
	return starts
}
