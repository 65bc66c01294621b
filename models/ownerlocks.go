package models

import (
	"slices"
	"strconv"

	"clew/edn"
	"clew/jepsen"
)

// owners numbers the holders of locks: the :client that an ok value names, or else the
// process (or the process modulo the parameter threads). An operation whose value does not
// name a client belongs to the client that its process named last before it. If there is
// none, it belongs to the client that the process names next.
type owners struct {
	v       *edn.Values
	threads int64
	values  lockValues

	numbers map[owner]int32
	list    []owner
	rows    []claim // by row of the columns
	traits  Traits
}

// Traits implements Model.
func (w *owners) Traits() *Traits { return &w.traits }

// owner is a client, or a process.
type owner struct {
	client bool
	id     edn.ID
}

// claim names the owner of an operation by numbers of owners. client is -1 if the
// operation's value does not name one.
type claim struct{ process, client int32 }

func newOwners(b *Binding) owners {
	return owners{v: b.v, threads: int64(b.Spec.Threads), values: newLockValues(b.v), numbers: map[owner]int32{}}
}

func (w *owners) number(o owner) int32 {
	n, ok := w.numbers[o]
	if !ok {
		n = int32(len(w.list))
		w.numbers[o] = n
		w.list = append(w.list, o)
	}
	return n
}

// enter notes the owner of an operation, which becomes a row of the columns.
func (w *owners) enter(o Operation) error {
	process := o.process
	if n, ok := w.v.Int(process); ok && w.threads > 0 {
		process = w.v.InternInt(((n % w.threads) + w.threads) % w.threads)
	}
	c := claim{w.number(owner{false, w.v.Same(process)}), -1}
	if o.status == jepsen.Succeeded && w.v.Kind(o.value) == edn.KindMap {
		if client, found := w.v.Get(o.value, w.values.fields[lockClient]); found && client != edn.Nil {
			c.client = w.number(owner{true, w.v.Same(client)})
		} else if err := w.values.misnamed(o.value, lockClient); err != nil {
			return err
		}
	}
	w.rows = append(w.rows, c)
	return nil
}

// finish puts the owners into A.
func (w *owners) finish(c *Columns) (int32, error) {
	named := make([]int32, len(w.list)) // by process: the client it named last, plus 1
	for i, x := range w.rows {
		if x.client >= 0 {
			named[x.process] = x.client + 1
		}
		c.A[i] = named[x.process] - 1
	}
	clear(named)
	for i := len(w.rows) - 1; i >= 0; i-- {
		x := w.rows[i]
		if x.client >= 0 {
			named[x.process] = x.client + 1
		}
		if c.A[i] >= 0 {
			continue
		}
		if c.A[i] = named[x.process] - 1; c.A[i] < 0 {
			c.A[i] = x.process
		}
	}
	return 0, nil
}

// id returns an owner as it prints in a record.
func (w *owners) id(n int32) edn.ID { return w.list[n].id }

func (w *owners) text(n int32) string {
	if w.list[n].client {
		return "client " + w.v.Text(w.list[n].id)
	}
	return "process " + w.v.Text(w.list[n].id)
}

// ownerLock is a lock or semaphore that only the owner who holds it gives back. It has K
// permits for all owners together, and at most D of them for each owner. Some locks allow
// only one owner at a time. A state holds the owners that hold permits, and how many each
// holds, sorted by owner. The kinds are Acquire and Release; A is the owner, and B is the
// number of permits.
type ownerLock struct {
	owners
	fAcquire, fRelease edn.ID
	record             string
	reentrant          bool  // an owner may hold it several times
	permits            int32 // of all; 0: one owner at a time
	holds              int32 // of one owner; 0: all permits that there are
}

var ownerMutexDefinition = Definition{
	LooksAhead: true, // clients may be named later
	Name:       "owner-mutex", Fs: ":acquire, :release", About: "a lock that only its holder releases",
	Params: []Param{ParamThreads},
	NoInit: "it starts free",
	Locks:  true,
	Record: "clew.model.OwnerMutex",
	New: func(b *Binding) (Reader, error) {
		m := newOwnerLock(b)
		m.holds = 1
		return m, nil
	},
}

var reentrantMutexDefinition = Definition{
	LooksAhead: true, // clients may be named later
	Name:       "reentrant-mutex", Fs: ":acquire, :release", About: "a lock that its owner may hold several times",
	Params: []Param{ParamMaxHolds, ParamThreads},
	NoInit: "it starts free",
	Locks:  true,
	Record: "clew.model.ReentrantMutex",
	New: func(b *Binding) (Reader, error) {
		m := newOwnerLock(b)
		m.holds, m.reentrant = b.Spec.maxHolds(), true
		return m, nil
	},
}

var ownerSemaphoreDefinition = Definition{
	LooksAhead: true, // clients may be named later
	Name:       "owner-semaphore", Fs: ":acquire, :release, with :value n or {:permits n} for n permits", About: "permits that only their holder returns",
	Params: []Param{ParamPermits, ParamThreads},
	NoInit: "it starts free",
	Locks:  true,
	Record: "clew.model.OwnerSemaphore",
	New: func(b *Binding) (Reader, error) {
		m := newOwnerLock(b)
		m.permits = int32(b.Spec.Permits)
		return m, nil
	},
}

func newOwnerLock(b *Binding) *ownerLock {
	m := &ownerLock{owners: newOwners(b), record: b.record, fAcquire: b.v.InternKeyword("acquire"), fRelease: b.v.InternKeyword("release")}
	m.traits = Traits{Finish: m.finish, Shape: func() Shape { return OwnerLockShape{Holds: m.holds, Permits: m.permits} }}
	return m
}

// DefaultMaxHolds is how many times the owner of a reentrant lock may hold it by default.
const DefaultMaxHolds = 2

func (s Spec) maxHolds() int32 {
	if s.MaxHolds == 0 {
		return DefaultMaxHolds
	}
	return int32(s.MaxHolds)
}

func (m *ownerLock) Read(o Operation) (op Op, keep bool, err error) {
	if op.Kind, err = lockKind(o.f, m.fAcquire, m.fRelease); err != nil {
		return op, false, err
	}
	op.B = 1
	if err = m.enter(o); err == nil && m.permits > 0 {
		op.B, err = m.values.permits(o)
	}
	return op, true, err
}

func (m *ownerLock) Init() State { return nil }

func (m *ownerLock) Mutates(Op) bool { return true }

func (m *ownerLock) Step(dst []State, s State, op Op) []State {
	i, holds := place(s, op.A)
	switch {
	case op.Kind == Release && holds && s[i+1] > op.B:
		s = slices.Clone(s)
		s[i+1] -= op.B
	case op.Kind == Release && holds && s[i+1] == op.B:
		s = slices.Delete(slices.Clone(s), i, i+2)
	case op.Kind == Release || !m.fits(s, i, holds, op):
		return dst
	case holds:
		s = slices.Clone(s)
		s[i+1] += op.B
	default:
		s = slices.Insert(slices.Clone(s), i, op.A, op.B)
	}
	return append(dst, s)
}

// fits says whether an acquire can happen.
func (m *ownerLock) fits(s State, i int, holds bool, op Op) bool {
	if m.permits > 0 {
		return int64(op.B)+total(s) <= int64(m.permits)
	}
	if holds {
		return s[i+1] < m.holds
	}
	return len(s) == 0
}

// place returns the index where an owner stands in a state, or would stand.
func place(s State, owner int32) (i int, holds bool) {
	for i < len(s) && s[i] < owner {
		i += 2
	}
	return i, i < len(s) && s[i] == owner
}

func total(s State) int64 {
	n := int64(0)
	for i := 0; i < len(s); i += 2 {
		n += int64(s[i+1])
	}
	return n
}

func (m *ownerLock) Why(s State, op Op) string {
	i, holds := place(s, op.A)
	switch {
	case op.Kind == Release && !holds:
		return "not held by " + m.text(op.A)
	case op.Kind == Release:
		return "only " + strconv.Itoa(int(s[i+1])) + " permits are held by " + m.text(op.A)
	case m.permits > 0:
		return "only " + strconv.Itoa(int(int64(m.permits)-total(s))) + " of " + strconv.Itoa(int(m.permits)) + " permits are free"
	case holds:
		return "already held by " + m.text(op.A) + heldTimes(s[i+1])
	}
	return "already held by " + m.text(s[0])
}

func heldTimes(n int32) string {
	if n == 1 {
		return ""
	}
	return ", " + strconv.Itoa(int(n)) + " times"
}

func (m *ownerLock) Record(s State) edn.Value {
	if m.permits > 0 {
		var kvs []edn.ID
		for i := 0; i < len(s); i += 2 {
			kvs = append(kvs, m.id(s[i]), m.v.InternInt(int64(s[i+1])))
		}
		return record(m.v, m.record,
			field{"permits", m.v.InternInt(int64(m.permits))}, field{"held", m.v.InternMap(kvs)})
	}
	owner, holds := edn.Nil, int32(0)
	if len(s) > 0 {
		owner, holds = m.id(s[0]), s[1]
	}
	if !m.reentrant {
		return record(m.v, m.record, field{"owner", owner})
	}
	return record(m.v, m.record, field{"owner", owner}, field{"holds", m.v.InternInt(int64(holds))})
}
