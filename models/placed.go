package models

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
)

// MaxPosition is the greatest position.
const MaxPosition = math.MaxInt64 / 2

// NoPosition is the Spec.Position that ignores what operations say of their positions.
const NoPosition = "none"

// setPosition sets Position from the name of a key, which may begin with its colon.
func (s *Spec) setPosition(key string) error {
	key = strings.TrimPrefix(key, ":")
	if slices.Contains([]string{"process", "type", "f", "value", "key", "index"}, key) {
		return ParamErrorf("%s must be a key of its own, such as revision, not %s", ParamPosition, key)
	}
	if key == "" || strings.ContainsAny(key, " \t\n,:\"()[]{}") {
		return ParamErrorf("%s must be the key that says an operation's position, such as revision, not %q", ParamPosition, key)
	}
	s.Position = key
	return nil
}

// ToldPosition is what an operation says of its position.
type ToldPosition struct {
	At    int64
	Told  bool   // otherwise At means nothing
	Moves Moving // whether it is an update
}

// Told says what operations tell of their positions.
type Told struct {
	Of     func(op Op) ToldPosition
	Sparse bool // positions only grow; otherwise every update adds one
}

// position gives operations their positions, and a model that counts its updates, if any operation tells one.
func (s Spec) position(ops *Operations, d *Definition) error {
	own := ops.Model.Traits().Told
	if s.Position == NoPosition || s.Position == "" && own == nil {
		return nil
	}
	m := &placed{Model: ops.Model, index: map[placedOp]int32{}, begins: unplaced}
	m.positions = &Positions{Name: cmp.Or(s.Position, "position"), Beside: true, Dense: !s.SparsePositions && (own == nil || !own.Sparse)}
	of := func(row Row) (ToldPosition, error) { return own.Of(ops.Op(row)), nil }
	if s.Position != "" {
		key := ops.History.Extra(s.Position)
		ops.addUnread(key)
		of = func(row Row) (ToldPosition, error) {
			at, err := positionIn(key, ops.History, ops.Of[row])
			at.Moves = m.moving(ops.Op(row))
			return at, err
		}
	}
	told, some := make([]ToldPosition, ops.Len()), false
	for row := range told {
		at, err := of(Row(row))
		if err == nil && at.Told && (at.At < 0 || at.At > MaxPosition) {
			err = fmt.Errorf("expected a natural number below 2^62, found %d", at.At)
		}
		if err != nil {
			h, op := ops.History, ops.Of[row]
			return h.Errorf(lastEvent(h, op), "cannot read the %s of %s: %w", m.positions.Name, h.Name(op), err)
		}
		told[row], some = at, some || at.Told
	}
	switch {
	case some || ops.Len() == 0:
		m.place(ops, told)
	case s.Position != "" && !s.toldElsewhere(ops.History):
		return s.noneTold(ops.Model.Traits().Positions, d)
	}
	return nil
}

// MayTell says whether later operations may tell positions, although none has by now.
func (s Spec) MayTell(m Model) bool {
	if _, is := m.(Placed); is || s.Position == NoPosition {
		return false
	}
	return s.Position != "" || m.Traits().Told != nil
}

// toldElsewhere says whether an operation of another key tells a position.
func (s Spec) toldElsewhere(h *jepsen.History) bool {
	whole := h.Whole()
	if whole == h {
		return false
	}
	key := whole.Extra(s.Position)
	for op := range jepsen.Operation(whole.Operations()) {
		if whole.Completion[op] == jepsen.None {
			continue
		}
		if at, err := positionIn(key, whole, op); err == nil && at.Told {
			return true
		}
	}
	return false
}

// ErrNoPositions is the cause of the error about a history in which no operation tells a position.
var ErrNoPositions = errors.New("no positions")

// noneTold returns an error if no operation tells a position, unless the answers that the model reads tell what was asked for.
func (s Spec) noneTold(own *Positions, d *Definition) error {
	switch {
	case own == nil:
		return &ParamError{format: "%s %s: no operation that completed has a :%s", args: []any{ParamPosition, s.Position, s.Position}, cause: ErrNoPositions}
	case own.Name != s.Position:
		return ParamErrorf("%s %s: no operation that completed has a :%s; the answers of %s tell the %s, without %[1]s", ParamPosition, s.Position, s.Position, d.Name, own.Name)
	case own.Dense && s.SparsePositions:
		return ParamErrorf("%s sparse: in %s, every update adds one to the %s", ParamPositions, d.Name, own.Name)
	}
	return nil
}

// unread is the kind of an operation that says a position and nothing else, such as a read of nil that matches anything.
// It can happen in any state, and changes nothing.
const unread Kind = math.MaxUint8

// addUnread adds the operations that succeeded and of which the model reads nothing, if they say a position.
func (o *Operations) addUnread(key func(jepsen.Event) (edn.Value, bool)) {
	h, more := o.History, []jepsen.Operation(nil)
	row := 0
	for op := range jepsen.Operation(h.Operations()) {
		if row < len(o.Of) && o.Of[row] == op {
			row++
		} else if h.Status[op] == jepsen.Succeeded {
			if at, err := positionIn(key, h, op); err != nil || at.Told {
				more = append(more, op)
			}
		}
	}
	if len(more) == 0 {
		return
	}
	all := Operations{Columns: Columns{Events: o.Events}, Of: make([]jepsen.Operation, 0, len(o.Of)+len(more))}
	all.grow(cap(all.Of))
	for row, op := range o.Of {
		for ; len(more) > 0 && more[0] < op; more = more[1:] {
			all.addUnreadOne(h, more[0])
		}
		all.Append(o.Inv[row], o.Res[row], o.Op(Row(row)))
		all.Of = append(all.Of, op)
	}
	for _, op := range more {
		all.addUnreadOne(h, op)
	}
	o.Columns, o.Of = all.Columns, all.Of
}

func (o *Operations) addUnreadOne(h *jepsen.History, op jepsen.Operation) {
	o.Append(int32(h.Invocation[op]), int32(h.Completion[op]), Op{Kind: unread})
	o.Of = append(o.Of, op)
}

// place makes the operations those of a model that counts its updates.
func (m *placed) place(ops *Operations, told []ToldPosition) {
	m.room = make([]placedOp, 0, ops.Len())
	for row, at := range told {
		ops.A[row] = m.number(placedOp{op: ops.Op(Row(row)), ToldPosition: at})
		ops.B[row] = 0
	}
	m.offer()
	ops.Model = m
}

// positionIn returns the position under a key of an operation's completion. One that crashed has none: it may not
// have happened.
func positionIn(key func(jepsen.Event) (edn.Value, bool), h *jepsen.History, op jepsen.Operation) (at ToldPosition, err error) {
	if h.Status[op] == jepsen.Crashed {
		return at, nil
	}
	x, found := key(h.Completion[op])
	if !found || x.Kind() == edn.KindNil {
		return at, nil
	}
	n, ok := naturalNumber(x)
	if !ok {
		return at, fmt.Errorf(`expected a natural number below 2^62, such as 7, "7" or "0x7", found %s`, text.Shorten(x.String(), MaxRepeated))
	}
	at.At, at.Told = n, true
	return at, nil
}

// naturalNumber returns a natural number below 2^62 that a value or the digits of a string spell. A ratio does not, even if
// it is one.
func naturalNumber(x edn.Value) (n int64, ok bool) {
	switch x.Kind() {
	case edn.KindInt:
		n, ok = x.Int()
		return n, ok && n >= 0 && n <= MaxPosition && !strings.Contains(x.String(), "/") // 5/1 equals 5
	case edn.KindString:
		digits, base := x.Go().(string), 10
		if hex, is := strings.CutPrefix(strings.ToLower(digits), "0x"); is {
			digits, base = hex, 16
		}
		u, err := strconv.ParseUint(digits, base, 62)
		return int64(u), err == nil
	}
	return 0, false
}

// placed is a model whose state also counts its updates. A state is the position in two halves, and then a state of the
// other model. The A of an Op is a place in room.
type placed struct {
	Model
	room      []placedOp
	index     map[placedOp]int32 // places in room of operations that say no position
	positions *Positions
	traits    Traits
	begins    int64 // the position of the initial state
}

// placedOp is an operation with its position.
type placedOp struct {
	op Op
	ToldPosition
}

// unplaced is the position of a state before any operation has told one.
const unplaced = -1

// number returns the place of an operation in room. Those of one meaning that say no position share it.
func (m *placed) number(x placedOp) int32 {
	if !x.Told {
		x.At = 0
		if n, known := m.index[x]; known {
			return n
		}
		m.index[x] = int32(len(m.room))
	}
	m.room = append(m.room, x)
	return int32(len(m.room) - 1)
}

// moving says whether an operation of the other model is an update.
func (m *placed) moving(op Op) Moving {
	switch idle := m.Model.Traits().MayIdle; {
	case op.Kind == unread:
		return NeverMoves
	case !m.Model.Mutates(op):
		return NeverMoves
	case idle != nil && idle(op):
		return MayMove
	}
	return AlwaysMoves
}

// offer sets the traits.
func (m *placed) offer() {
	of, p := m.Model.Traits(), m.positions
	p.Of = func(op Op) (int64, bool) { x := &m.room[op.A]; return x.At, x.Told }
	p.Moves = func(op Op) Moving { return m.room[op.A].Moves }
	p.At = func(s State) (int64, bool) { at := positionOf(s); return at, at != unplaced }
	if see := of.Cells(); see != nil {
		p.Makes = func(dst []Cell, op Op) []Cell {
			if op.Kind == unread {
				return dst
			}
			return see.Makes(dst, m.room[op.A].op)
		}
		p.Sees = func(dst []Cell, op Op) ([]Cell, bool) {
			if op.Kind == unread {
				return dst, false
			}
			return see.Sees(dst, m.room[op.A].op)
		}
	}
	m.traits = Traits{
		Text: func(int32) string { return "" }, Within: of.Within, Hard: of.Hard, Positions: p,
		Shape:   func() Shape { return PositionShape{m} },
		Because: m.because,
	}
	if of.Declared != nil {
		bare := *m
		bare.Model = of.Declared.Bare()
		bare.offer()
		m.traits.Declared = &Declared{Bare: func() Model { return &bare }, Doubt: of.Declared.Doubt}
	}
	if of.Run != nil {
		m.traits.Run = func(s State) Run { return &placedRun{m, positionOf(s), of.Run(s[2:])} }
	}
	if of.Weight != nil {
		m.traits.Weight = func(s State) int64 { return of.Weight(s[2:]) }
	}
	if of.Refused != nil {
		m.traits.Refused = func(op Op) bool { return op.Kind != unread && of.Refused(m.room[op.A].op) }
	}
}

// Cells returns what says which cells operations leave and depend on, nil if nothing does.
func (t *Traits) Cells() *Visibility {
	if t.Visibility == nil && t.Partition != nil {
		return t.Partition.Cells
	}
	return t.Visibility
}

func positionOf(s State) int64 { return int64(s[0])<<32 | int64(uint32(s[1])) }

func placedState(at int64, s State) State {
	return append(State{int32(at >> 32), int32(uint32(at))}, s...)
}

// Traits implements Model.
func (m *placed) Traits() *Traits { return &m.traits }

// Init implements Model.
func (m *placed) Init() State { return placedState(m.begins, m.Model.Init()) }

// Placed is a model that counts the updates of another one.
type Placed interface {
	Model
	// Uncounted returns the other model.
	Uncounted() Model
	// Uncount returns an operation of the other model, and UncountState a state.
	Uncount(op Op) Op
	UncountState(s State) State
	// Begin returns the model as it begins at a position, in the initial state of another one.
	Begin(position int64, other Model) Model
}

// Changes says whether an operation can change the state, apart from its position.
func Changes(m Model, op Op) bool {
	if p, is := m.(Placed); is {
		x := p.Uncount(op)
		return x.Kind != unread && p.Uncounted().Mutates(x)
	}
	return m.Mutates(op)
}

// Uncounted implements Placed.
func (m *placed) Uncounted() Model { return m.Model }

// Uncount implements Placed.
func (m *placed) Uncount(op Op) Op { return m.room[op.A].op }

// UncountState implements Placed.
func (m *placed) UncountState(s State) State { return s[2:] }

// Begin implements Placed.
func (m *placed) Begin(position int64, other Model) Model {
	next := *m
	next.Model, next.begins = other, position
	own := *m.positions
	next.positions = &own
	next.offer()
	return &next
}

// Mutates implements Model. A read moves an unknown position, or in sparse positions one that others may have made, but
// an operation that crashed and changes nothing has no position.
func (m *placed) Mutates(op Op) bool {
	x := &m.room[op.A]
	return x.Told || m.Model.Mutates(x.op)
}

// Record implements Model.
func (m *placed) Record(s State) edn.Value { return m.Model.Record(s[2:]) }

// Step implements Model.
func (m *placed) Step(dst []State, s State, op Op) []State {
	x, at := &m.room[op.A], positionOf(s)
	for _, next := range m.inner(s, x) {
		moved, stays := m.after(at, x, !slices.Equal(next, s[2:]))
		if moved != impossible {
			dst = append(dst, placedState(moved, next))
		}
		if stays != impossible && stays != moved {
			dst = append(dst, placedState(stays, next))
		}
	}
	return dst
}

// inner returns the states of the other model after an operation.
func (m *placed) inner(s State, x *placedOp) []State {
	if x.op.Kind == unread {
		return []State{s[2:]}
	}
	return m.Model.Step(nil, s[2:], x.op)
}

// impossible is the position of a step that cannot happen.
const impossible = -2

// after returns the positions after an operation: if it is an update, and if it is not.
func (m *placed) after(at int64, x *placedOp, changes bool) (moved, stays int64) {
	moved, stays = impossible, impossible
	if x.Moves == AlwaysMoves || x.Moves == MayMove {
		switch {
		case x.Told && (at < x.At && !m.positions.Dense || at == unplaced || at+1 == x.At):
			moved = x.At
		case !x.Told && at == unplaced:
			moved = unplaced
		case !x.Told:
			moved = at + 1
		}
	}
	if x.Moves == NeverMoves || x.Moves == MayMove && !changes {
		switch {
		case !x.Told || at == x.At:
			stays = at
		case at == unplaced || at < x.At && !m.positions.Dense:
			stays = x.At
		}
	}
	return moved, stays
}

// Why implements Model.
func (m *placed) Why(s State, op Op) string {
	if why := m.wrongPosition(s, op); why != "" {
		return why
	}
	return m.Model.Why(s[2:], m.room[op.A].op)
}

func (m *placed) because(s State, op Op) string {
	if why := m.wrongPosition(s, op); why != "" {
		return why
	}
	return Because(m.Model, s[2:], m.room[op.A].op)
}

// wrongPosition says what is wrong with the position of an operation that could happen otherwise, "" if it could not.
func (m *placed) wrongPosition(s State, op Op) string {
	x, at := &m.room[op.A], positionOf(s)
	if len(m.inner(s, x)) == 0 || !x.Told {
		return ""
	}
	switch {
	case x.Moves == AlwaysMoves && m.positions.Dense:
		return fmt.Sprintf("the next %s is %d, not %d", m.positions.Name, at+1, x.At)
	case x.Moves == AlwaysMoves:
		return fmt.Sprintf("the %s is %d already, and %d is not greater", m.positions.Name, at, x.At)
	}
	return fmt.Sprintf("the %s is %d, not %d", m.positions.Name, at, x.At)
}

// placedRun is a run of a placed model.
type placedRun struct {
	m   *placed
	at  int64
	run Run
}

// Apply implements Run.
func (r *placedRun) Apply(op Op) Outcome {
	x := &r.m.room[op.A]
	if x.Moves == MayMove {
		return Several // Step tells whether it changes the state
	}
	moved, stays := r.m.after(r.at, x, true)
	if next := max(moved, stays); next == impossible {
		return Impossible
	} else if x.op.Kind == unread {
		r.at = next
	} else if outcome := r.run.Apply(x.op); outcome != One {
		return outcome
	} else {
		r.at = next
	}
	return One
}

// State implements Run.
func (r *placedRun) State() State { return placedState(r.at, r.run.State()) }
