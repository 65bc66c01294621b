package gen

import (
	"io"
	"math"
	"math/rand/v2"
	"strconv"
)

// Maker makes the history of an object. Its processes take steps in random order.
type Maker struct {
	LongOptions
	*writer
	Small   bool
	Options Options // of a small history
	small

	key     int // its number; -1 if it is the only one
	threads []Thread

	object  Object
	due     map[int][]Op // crashed, by how many operations begin before they take effect
	pending int          // how many of these there are
	Fresh   int          // the next value, if every write has its own
	Mark    int          // the first value of bugs: the marked one, its successor, one that is never written
	Step    int          // how many steps the bug has taken
	Phase   phase
	busy    int  // operations in progress
	changes int  // operations in progress that change something
	bugged  bool // a step of the bug is in progress
	alone   bool // only the bug's steps may begin

	Started, crashed int

	at, said int64 // positions: of the object, and the greatest one that was said
}

// create makes the object.
func (m *Maker) create() {
	m.due = map[int][]Op{}
	// The values of bugs lie beyond all others.
	if m.Mark = m.Values; m.Mark == 0 {
		m.Mark = 2 * m.Operations
	}
	if m.Kind == Linearizable {
		m.Phase = After
	}
	m.object = registered[m.Model].New(m)
}

// Thread is a client: a process, and its operation if it has one.
type Thread struct {
	Number  int // from 0 on, always the same
	Process int
	stage   stage
	crashed bool // its last operation ended in :info, and the process goes on
	op      Op
	floor   int64 // the greatest position that had been said when it began
}

func newThreads(n int) []Thread {
	threads := make([]Thread, n)
	for i := range threads {
		threads[i].Process, threads[i].Number = i, i
	}
	return threads
}

type stage int8

const (
	idle stage = iota
	begun
	took
	refuses
)

// phase says how far a bug has come.
type phase int8

const (
	before   phase = iota
	Draining       // until no change is in progress
	acting         // the bug takes its steps
	After
)

// done says whether the history of the object is at its end.
func (m *Maker) done() bool {
	return m.busy == 0 && m.full()
}

// full says whether no more operations begin.
func (m *Maker) full() bool {
	return m.Started >= m.Operations && m.Phase == After && m.crashed >= m.Crashed
}

// step lets a process take a step.
func (m *Maker) step(t *Thread) {
	switch t.stage {
	case idle:
		m.begin(t)
	case begun:
		m.effect(t)
	default:
		m.complete(t)
	}
}

func (m *Maker) begin(t *Thread) {
	if m.pending > 0 {
		m.haunt(m.Started)
	}
	m.advance()
	if m.full() || !m.next(t) {
		return
	}
	m.start(t)
}

// start begins a thread's operation.
func (m *Maker) start(t *Thread) {
	t.stage, t.floor = begun, m.said
	m.Started++
	m.busy++
	if t.op.Changes {
		m.changes++
	}
	m.emit(t, ":invoke")
}

// haunt lets the crashed operations of an instant take effect.
func (m *Maker) haunt(instant int) {
	ops := m.due[instant]
	for i := range ops {
		m.apply(&ops[i])
	}
	if ops != nil {
		m.pending -= len(ops)
		delete(m.due, instant)
	}
}

// advance goes on to the next phase of the bug if it is time.
func (m *Maker) advance() {
	if m.Phase == before && m.Started >= int(m.At*float64(m.Operations)) {
		m.Phase = Draining
		if m.Kind == ImpossibleRead || m.Kind == WrongAnswer || m.Kind == WrongPosition {
			m.Phase = acting
		}
		m.alone = m.Kind == LostWrite || m.Kind.anomaly() // otherwise other operations would see that it is lost
	}
	if m.Phase == Draining && m.changes == 0 && (m.busy == 0 || !m.alone) && m.object.Rests() {
		m.Phase = acting
		// Crashed operations that are to take effect do so now, and not later.
		for m.pending > 0 {
			first := math.MaxInt
			for at := range m.due {
				first = min(first, at)
			}
			m.haunt(first)
		}
		if s, ok := scripts[m.Kind]; ok {
			m.play(s)
		}
	}
}

// next makes up the next operation of a thread, if one may begin.
func (m *Maker) next(t *Thread) bool {
	o := &t.op
	if m.Small {
		return m.nextSmall(t)
	}
	if m.Phase == acting && !m.bugged {
		if *o = m.bug(t); o.F != "" {
			m.Step++
			o.step, m.bugged = true, true
			return true
		}
	}
	if m.alone {
		return false
	}
	if m.quiet() {
		*o = m.object.Read(t)
		return o.F != ""
	}
	// The operations that still have to crash are chosen at random among those
	// that are left.
	if m.Crashed > 0 && m.Rand.IntN(max(m.Operations-m.Started, 1)) < m.Crashed-m.crashed {
		*o = m.object.Change(t)
		if o.Crashes = m.object.MayCrash(t, o); o.Crashes {
			m.crashed++
		}
		return true
	}
	*o = Op{}
	if m.Reads > 0 && m.Rand.Float64() < m.Reads || m.Reads == 0 && m.Rand.IntN(2) == 0 {
		*o = m.object.Read(t)
	}
	if o.F == "" {
		*o = m.object.Change(t)
	}
	switch {
	case m.Crashes > 0 && m.Rand.Float64() < m.Crashes:
		o.Crashes = m.object.MayCrash(t, o)
	case m.Fails > 0 && o.Changes:
		o.fails = m.Rand.Float64() < m.Fails
	}
	return true
}

// bug returns the next step of the bug.
func (m *Maker) bug(t *Thread) Op {
	if m.Kind != WrongPosition {
		return m.object.Bug(t)
	}
	o := m.object.Read(t)
	o.Last = t.floor > 0
	return o
}

// quiet says whether only the bug may change anything now.
func (m *Maker) quiet() bool {
	return (m.Phase == Draining || m.Phase == acting) && m.Kind != ImpossibleRead && m.Kind != WrongAnswer && m.Kind != WrongPosition
}

// effect lets a thread's operation take effect.
func (m *Maker) effect(t *Thread) {
	o := &t.op
	t.stage = took
	switch {
	case o.Forced:
		if o.at = m.at; o.Changes { // it is lost, but got a position
			m.move()
			o.at = m.at
		}
	case o.fails:
		t.stage = refuses
	case o.Crashes:
		m.vanish(o)
	case m.way == Guess:
		m.object.Err(o)
	default:
		switch m.apply(o) {
		case Refused:
			t.stage = refuses
		case Blocked:
			m.wait(t)
		case Done:
			if o.Last && m.Kind == WrongAnswer {
				m.object.Err(o)
			}
		}
	}
}

// apply lets an operation take effect, and gives it its position.
func (m *Maker) apply(o *Op) Outcome {
	outcome := m.object.Apply(o)
	if outcome == Done && o.Changes {
		m.move()
	}
	o.at = m.at
	return outcome
}

// move counts an update.
func (m *Maker) move() {
	if m.at++; m.Sparse {
		m.at += int64(m.Rand.IntN(10))
	}
}

// patience is how often, on average, an operation is blocked before it gives up.
const patience = 8

// wait lets an operation that is blocked try again, or give up.
func (m *Maker) wait(t *Thread) {
	t.stage = begun
	switch {
	case m.way == Mutated && m.Chance(0.6): // answers of locks say little, so the order has to be wrong
		m.object.Err(&t.op)
		t.stage = took
	case m.Rand.IntN(patience) > 0:
	case m.Small && m.Chance(0.5):
		t.op.Crashes = true
	default:
		t.stage = refuses
	}
}

// vanish decides whether and when an operation that crashes takes effect.
func (m *Maker) vanish(o *Op) {
	how := Perhaps
	if !m.Small {
		how = m.object.Ghost(o)
	}
	switch n := m.Rand.IntN(3); {
	case !o.Changes || how == Never || how == Perhaps && n == 0:
	case how == Surely || n == 1:
		m.apply(o)
	default:
		m.postpone(*o)
	}
}

// longPending bounds the crashed operations that may still take effect.
const longPending = 1 << 12

// postpone lets a crashed operation take effect when some more operations have
// begun: a few or very many, with the same chance for every order of magnitude.
func (m *Maker) postpone(o Op) {
	if m.quiet() || m.pending >= longPending {
		return
	}
	left := float64(max(m.Operations-m.Started, 1))
	at := m.Started + int(math.Pow(left, m.Rand.Float64()))
	m.due[at] = append(m.due[at], o)
	m.pending++
}

func (m *Maker) complete(t *Thread) {
	o := &t.op
	refused := t.stage == refuses
	t.stage = idle
	m.busy--
	if o.Changes {
		m.changes--
	}
	if o.step {
		m.bugged = false
	}
	switch {
	case o.Crashes:
		m.crash(t)
		return
	case refused:
		m.emit(t, ":fail")
		return
	}
	m.mutate(o)
	if o.Last {
		if m.Kind == WrongPosition {
			o.at = t.floor - 1
		}
		if m.Kind != WrongAnswer {
			m.fail = m.events
		}
		m.Phase, m.alone = After, false
	}
	m.emit(t, ":ok")
	m.said = max(m.said, o.at)
}

// crash ends an operation without a result. The thread mostly goes on as a new process.
func (m *Maker) crash(t *Thread) {
	if m.Small && m.Chance(m.silent) {
		m.renumber(t)
		return
	}
	m.emit(t, ":info")
	if t.crashed = m.Small; !m.Small {
		m.renumber(t)
	}
}

// renumber gives a thread a new process. With Threads, it stays on the same one.
func (m *Maker) renumber(t *Thread) {
	t.Process += m.Clients * max(1, m.Options.Threads)
	t.crashed, t.op = false, Op{}
}

// writer writes the events of all objects.
type writer struct {
	w       io.Writer // nil if they stay in the buffer
	err     error
	Rand    *rand.Rand
	Clients int
	events  int
	time    int64 // nanoseconds
	fail    int   // the first failing completion, or -1
	buffer  []byte
}

// longBuffer is how much is written at once.
const longBuffer = 1 << 16

// emit writes an event of a thread's operation.
func (m *Maker) emit(t *Thread, typ string) {
	if m.Small {
		m.emitSmall(strconv.Itoa(t.Process), typ, &t.op)
		return
	}
	m.time += int64(1000 + m.Rand.Uint32()>>12)
	b := append(m.buffer, "{:index "...)
	b = strconv.AppendInt(b, int64(m.events), 10)
	b = strconv.AppendInt(append(b, ", :time "...), m.time, 10)
	b = append(append(b, ", :type "...), typ...)
	b = strconv.AppendInt(append(b, ", :process "...), int64(t.Process), 10)
	b = append(append(b, ", :f "...), t.op.F...)
	b = append(b, ", :value "...)
	if m.key >= 0 {
		b = append(AppendNumber(append(b, '['), m.key), ' ')
	}
	b = m.object.Value(b, &t.op, typ == ":ok")
	if m.key >= 0 {
		b = append(b, ']')
	}
	if m.Position != "" && typ == ":ok" {
		b = strconv.AppendInt(append(append(append(b, ", :"...), m.Position...), ' '), t.op.at, 10)
	}
	m.buffer = append(b, "}\n"...)
	m.events++
	if len(m.buffer) > longBuffer-1024 {
		m.flush()
	}
}

func (w *writer) flush() {
	if w.err == nil {
		_, w.err = w.w.Write(w.buffer)
	}
	w.buffer = w.buffer[:0]
}
