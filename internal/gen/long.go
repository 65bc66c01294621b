package gen

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// LongKind says what is wrong with a long history, if anything.
type LongKind int

// The kinds of long histories.
const (
	Linearizable LongKind = iota
	// StaleRead: one read sees a value that a completed write had overwritten
	// before it began.
	StaleRead
	// LostWrite: one write completes and never takes effect.
	LostWrite
	// ImpossibleRead: one read sees a value that nobody ever writes.
	ImpossibleRead
	// WrongAnswer: one answer is another one of the Values. That is nearly always a
	// failure, but not for certain, and when it shows is open: fail is -1.
	WrongAnswer
)

// LongOptions say which long history to make.
type LongOptions struct {
	// Model is register, cas-register, multi-register, kv, lookup-set or bank; or it
	// is fifo-queue, unordered-queue, stack, priority-queue, counter, id-generator or
	// log, and these have neither a stale read nor a lost write.
	Model      string
	Kind       LongKind
	Operations int     // a fault may need a few more
	Processes  int     // how many operations run at once; 5 if 0
	Values     int     // distinct values from 0 on; 0: every write has its own
	Keys       int     // of a multi-register or kv, or a bank's accounts; 3 if 0
	Appends    bool    // kv: most updates append to strings; it has no certain fault then
	Reads      float64 // the share of operations that change nothing; a half if 0
	Crashed    int     // how many operations that change something end in :info
	At         float64 // where the fault is, as a fraction of the history; 0.9 if 0
	Seed       uint64
}

// Long writes a long history as Jepsen prints it, a line per operation's event.
// It is linearizable by construction, except for the fault of its kind, which
// is certain: the values of a fault are its own, and no crashed operation
// writes them. fail is the first failing completion, the index of an event, or
// -1.
//
// Of the crashed operations a third has taken effect, a third does so at some
// later time, and a third never does. Their processes go on under new numbers.
func Long(w io.Writer, o LongOptions) (fail int, err error) {
	o.Processes, o.Keys = upTo(o.Processes, 5), upTo(o.Keys, 3)
	if o.At == 0 {
		o.At = 0.9
	}
	l := &long{LongOptions: o, r: Rand(o.Seed), w: w, fail: -1, due: map[int][]longOp{}}
	// The values of faults lie beyond all others.
	l.mark = int32(o.Values)
	if o.Values == 0 {
		l.mark = int32(2 * o.Operations)
	}
	if l.object = l.newLongObject(); l.object == nil {
		return 0, fmt.Errorf("gen: no long history of %s", o.Model)
	}
	switch l.object.(type) {
	case *longQueue, *longStack, *longCounter, *longIDs, *longLog, *longTexts:
		if o.Kind == StaleRead || o.Kind == LostWrite {
			return 0, fmt.Errorf("gen: no %s with a stale read or a lost write", o.Model)
		}
	}
	l.run()
	return l.fail, l.err
}

// Init is the initial value of the histories as EDN, or "" for the model's default.
func (o LongOptions) Init() string {
	if o.Model != "bank" {
		return ""
	}
	return string(longBalances(nil, slices.Repeat([]int32{longBalance}, upTo(o.Keys, 3))))
}

// long makes a long history.
type long struct {
	LongOptions
	r   *rand.Rand
	w   io.Writer
	err error

	object  longObject
	threads []longThread
	due     map[int][]longOp // crashed, by how many operations begin before they take effect
	fresh   int32            // the next value, if every write has its own
	mark    int32            // the first value of faults: the marked one, its successor, one never written
	phase   phase
	changes int // operations that change something and are under way

	started, crashed, events, fail int
	buffer                         []byte
}

// longThread is a client: a process, and its operation if it has one.
type longThread struct {
	process int
	stage   stage
	op      longOp
}

type stage int8

const (
	idle stage = iota
	begun
	took
	refuses
)

// phase is how far a fault has come. From draining to looking, other operations
// only read, so that nothing else can explain what is seen.
type phase int8

const (
	before      phase = iota
	draining          // until nothing that changes something is under way
	marking           // the marked value is written
	overwriting       // another one is written, or gets lost
	looking           // the marked value is read
	after
)

// longOp is an operation. What its numbers mean depends on the object.
type longOp struct {
	f        string
	changes  bool // something
	crashes  bool
	phase    phase // if it is a step of the fault
	late     bool  // it began when the marked value had been overwritten
	a, b     int32
	key, two int32
	ok       bool
	list     []int32
}

// longObject is a sequential object.
type longObject interface {
	// call makes up an operation that changes something, or one that does not.
	call(changes bool) longOp
	// fault is a step of the fault: write the value, overwrite it, or read.
	fault(p phase, value int32) longOp
	// apply lets an operation take effect, or says that it fails.
	apply(o *longOp) bool
	// see makes the reading step of a fault see a value.
	see(o *longOp, value int32)
	// saw says whether an operation saw the marked value.
	saw(o *longOp) bool
	// value prints the value of an operation, as it was invoked or as it returned.
	value(b []byte, o *longOp, returned bool) []byte
}

// run lets the processes take steps in random order.
func (l *long) run() {
	l.threads = make([]longThread, l.Processes)
	l.buffer = make([]byte, 0, longBuffer)
	for i := range l.threads {
		l.threads[i].process = i
	}
	if l.Kind == Linearizable {
		l.phase = after
	}
	for busy := 0; ; {
		t := &l.threads[l.r.IntN(len(l.threads))]
		switch t.stage {
		case idle:
			if l.started >= l.Operations && l.phase == after && l.crashed >= l.Crashed {
				if busy == 0 {
					l.flush()
					return
				}
				continue
			}
			l.begin(t)
			busy++
		case begun:
			l.effect(t)
		default:
			l.complete(t)
			busy--
		}
	}
}

func (l *long) begin(t *longThread) {
	for _, o := range l.due[l.started] {
		if l.quiet() {
			l.due[l.started+1] = append(l.due[l.started+1], o)
		} else {
			l.object.apply(&o)
		}
	}
	delete(l.due, l.started)
	if l.phase == before && l.started >= int(l.At*float64(l.Operations)) {
		l.phase = draining
		if l.Kind == ImpossibleRead || l.Kind == WrongAnswer {
			l.phase = looking
		}
	}
	if l.phase == draining && l.changes == 0 {
		l.phase = marking
	}
	t.op = l.next()
	if t.op.late = l.phase == looking; t.op.changes {
		l.changes++
	}
	t.stage = begun
	l.started++
	l.emit(t, ":invoke")
}

// next is the next operation.
func (l *long) next() longOp {
	switch {
	case l.phase > draining && l.phase < after && !slices.ContainsFunc(l.threads, longThread.faulting):
		value := l.mark
		switch {
		case l.phase == overwriting:
			value++
		case l.Kind == ImpossibleRead:
			value += 2
		}
		o := l.object.fault(l.phase, value)
		o.phase = l.phase
		return o
	case l.quiet():
		return l.object.call(false)
	}
	// The operations that still have to crash are chosen at random among those
	// that are left.
	if left := l.Operations - l.started; l.r.IntN(max(left, 1)) < l.Crashed-l.crashed {
		l.crashed++
		o := l.object.call(true)
		o.crashes = true
		return o
	}
	if l.Reads > 0 {
		return l.object.call(l.r.Float64() >= l.Reads)
	}
	return l.object.call(l.r.IntN(2) == 0)
}

// faulting says whether a step of the fault is under way.
func (t longThread) faulting() bool { return t.stage != idle && t.op.phase != before }

// quiet says whether nothing but the fault may change anything now.
func (l *long) quiet() bool {
	return l.phase != before && l.phase != after && l.Kind != ImpossibleRead && l.Kind != WrongAnswer
}

// effect lets a thread's operation take effect.
func (l *long) effect(t *longThread) {
	o := &t.op
	t.stage = took
	switch {
	case o.phase == looking && l.Kind == StaleRead:
		l.object.see(o, l.mark)
	case o.phase == looking && l.Kind == ImpossibleRead:
		l.object.see(o, l.mark+2)
	case o.phase == overwriting && l.Kind == LostWrite:
	case o.crashes && l.r.IntN(3) > 0:
		if l.r.IntN(2) == 0 {
			l.postpone(*o)
		}
	case !l.object.apply(o):
		t.stage = refuses
	case o.phase == looking && l.Kind == WrongAnswer:
		if x, ok := l.object.(errs); ok {
			x.err(o)
		} else {
			o.a = (o.a + 1) % l.mark
		}
	}
}

// postpone lets a crashed operation take effect when some more operations have
// begun: a few or very many, with the same chance for every order of magnitude.
func (l *long) postpone(o longOp) {
	left := float64(max(l.Operations-l.started, 1))
	at := l.started + int(math.Pow(left, l.r.Float64()))
	l.due[at] = append(l.due[at], o)
}

func (l *long) complete(t *longThread) {
	o := &t.op
	if o.changes {
		l.changes--
	}
	refused := t.stage == refuses
	t.stage = idle
	if o.crashes {
		l.emit(t, ":info")
		t.process += l.Processes
		return
	}
	if refused {
		l.emit(t, ":fail")
		return
	}
	if l.fail < 0 && (o.phase == looking && l.Kind != LostWrite && l.Kind != WrongAnswer || o.late && l.Kind == LostWrite && l.object.saw(o)) {
		l.fail = l.events
	}
	if o.phase != before {
		l.phase++
	}
	l.emit(t, ":ok")
}

// longBuffer is how much is written at once.
const longBuffer = 1 << 16

// emit writes an event of a thread's operation.
func (l *long) emit(t *longThread, typ string) {
	b := append(l.buffer, "{:process "...)
	b = strconv.AppendInt(b, int64(t.process), 10)
	b = append(append(b, ", :type "...), typ...)
	b = append(append(b, ", :f "...), t.op.f...)
	b = append(b, ", :value "...)
	b = l.object.value(b, &t.op, typ == ":ok")
	b = append(b, ", :index "...)
	b = strconv.AppendInt(b, int64(l.events), 10)
	l.buffer = append(b, "}\n"...)
	l.events++
	if len(l.buffer) > longBuffer-1024 {
		l.flush()
	}
}

func (l *long) flush() {
	if l.err == nil {
		_, l.err = l.w.Write(l.buffer)
	}
	l.buffer = l.buffer[:0]
}

// write is a value to write.
func (l *long) write() int32 {
	if l.Values > 0 {
		return int32(l.r.IntN(l.Values))
	}
	l.fresh++
	return l.fresh - 1
}

// number prints a value; -1 is nil.
func number(b []byte, n int32) []byte {
	if n < 0 {
		return append(b, "nil"...)
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// longRegister is register and cas-register.
type longRegister struct {
	*long
	now int32
	cas bool
}

func (x *longRegister) call(changes bool) longOp {
	switch {
	case !changes:
		return longOp{f: ":read"}
	case !x.cas || x.r.IntN(2) == 0:
		return longOp{f: ":write", changes: true, a: x.write()}
	}
	from := x.now
	if from < 0 || from >= x.mark || x.Values > 0 && x.r.IntN(2) == 0 {
		from = int32(x.r.IntN(max(x.Values, 1)))
	}
	return longOp{f: ":cas", changes: true, a: from, b: x.write()}
}

func (x *longRegister) fault(p phase, value int32) longOp {
	if p == looking {
		return longOp{f: ":read"}
	}
	return longOp{f: ":write", changes: true, a: value}
}

func (x *longRegister) apply(o *longOp) bool {
	switch o.f {
	case ":read":
		o.a = x.now
	case ":write":
		x.now = o.a
	default:
		if x.now != o.a {
			return false
		}
		x.now = o.b
	}
	return true
}

func (x *longRegister) see(o *longOp, value int32) { o.a = value }

func (x *longRegister) saw(o *longOp) bool { return o.f == ":read" && o.a == x.mark }

func (x *longRegister) value(b []byte, o *longOp, returned bool) []byte {
	switch {
	case o.f == ":read" && !returned:
		return append(b, "nil"...)
	case o.f == ":cas":
		b = append(number(append(b, '['), o.a), ' ')
		return append(number(b, o.b), ']')
	}
	return number(b, o.a)
}

// longRegisters is multi-register: a transaction writes or reads a key, and
// perhaps reads another one.
type longRegisters struct {
	*long
	now []int32
}

func (x *longRegisters) call(changes bool) longOp {
	o := longOp{f: ":txn", changes: changes, key: int32(x.r.IntN(x.Keys)), two: int32(x.r.IntN(x.Keys))}
	if x.r.IntN(2) == 0 {
		o.two = -1
	}
	if changes {
		o.a = x.long.write()
	}
	return o
}

func (x *longRegisters) fault(p phase, value int32) longOp {
	return longOp{f: ":txn", changes: p != looking, a: value, two: -1}
}

func (x *longRegisters) apply(o *longOp) bool {
	if o.changes {
		x.now[o.key] = o.a
	} else {
		o.a = x.now[o.key]
	}
	if o.two >= 0 {
		o.b = x.now[o.two]
	}
	return true
}

func (x *longRegisters) see(o *longOp, value int32) { o.a = value }

func (x *longRegisters) saw(o *longOp) bool {
	return !o.changes && o.a == x.mark || o.two >= 0 && o.b == x.mark
}

func (x *longRegisters) value(b []byte, o *longOp, returned bool) []byte {
	read := func(v int32) int32 {
		if returned {
			return v
		}
		return -1
	}
	if o.changes {
		b = append(number(append(b, "[[:write "...), o.key), ' ')
		b = number(b, o.a)
	} else {
		b = append(number(append(b, "[[:read "...), o.key), ' ')
		b = number(b, read(o.a))
	}
	if o.two >= 0 {
		b = append(number(append(b, "] [:read "...), o.two), ' ')
		b = number(b, read(o.b))
	}
	return append(b, "]]"...)
}

// longSet is lookup-set.
type longSet struct {
	*long
	in map[int32]bool
}

func (x *longSet) call(changes bool) longOp {
	f := ":contains"
	if changes {
		f = [...]string{":insert", ":remove"}[x.r.IntN(2)]
	}
	element := int32(0)
	switch {
	case x.Values > 0:
		element = x.write()
	case f == ":insert":
		element = x.write()
	case x.fresh > 0: // one of the last
		element = max(0, x.fresh-1-int32(x.r.IntN(2*x.Processes)))
	}
	return longOp{f: f, changes: changes, a: element}
}

func (x *longSet) fault(p phase, value int32) longOp {
	switch p {
	case marking:
		return longOp{f: ":insert", changes: true, a: x.mark}
	case overwriting:
		return longOp{f: ":remove", changes: true, a: x.mark, ok: true}
	}
	return longOp{f: ":contains", a: value}
}

func (x *longSet) apply(o *longOp) bool {
	switch was := x.in[o.a]; o.f {
	case ":insert":
		x.in[o.a], o.ok = true, !was
	case ":remove":
		delete(x.in, o.a)
		o.ok = was
	default:
		o.ok = was
	}
	return true
}

func (x *longSet) see(o *longOp, _ int32) { o.ok = true }

func (x *longSet) saw(o *longOp) bool { return o.f == ":contains" && o.a == x.mark && o.ok }

func (x *longSet) value(b []byte, o *longOp, returned bool) []byte {
	if !returned {
		return number(b, o.a)
	}
	b = number(append(b, '['), o.a)
	return append(strconv.AppendBool(append(b, ' '), o.ok), ']')
}

// longQueue is fifo-queue and unordered-queue. It stays short.
type longQueue struct {
	*long
	fifo bool
	now  []int32
}

func (x *longQueue) call(bool) longOp {
	if short := 2 * x.Processes; x.r.IntN(len(x.now)+short) < short {
		return longOp{f: ":enqueue", changes: true, a: x.write()}
	}
	return longOp{f: ":dequeue", changes: true}
}

func (x *longQueue) fault(phase, int32) longOp { return longOp{f: ":dequeue", changes: true} }

func (x *longQueue) apply(o *longOp) bool {
	switch {
	case o.f == ":enqueue":
		x.now = append(x.now, o.a)
		return true
	case len(x.now) == 0:
		return false
	case !x.fifo:
		last, i := len(x.now)-1, x.r.IntN(len(x.now))
		x.now[i], x.now[last] = x.now[last], x.now[i]
		o.a, x.now = x.now[last], x.now[:last]
	default:
		o.a, x.now = x.now[0], x.now[1:]
	}
	return true
}

func (x *longQueue) see(o *longOp, value int32) { o.a = value }

func (x *longQueue) saw(*longOp) bool { return false }

func (x *longQueue) value(b []byte, o *longOp, returned bool) []byte {
	if o.f == ":dequeue" && !returned {
		return append(b, "nil"...)
	}
	return number(b, o.a)
}
