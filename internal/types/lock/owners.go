package lock

import (
	"slices"
	"strconv"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
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
	traits  models.Traits
}

// Traits implements Model.
func (w *owners) Traits() *models.Traits { return &w.traits }

// owner is a client, or a process.
type owner struct {
	client bool
	id     edn.ID
}

// claim names the owner of an operation by numbers of owners. client is -1 if the
// operation's value does not name one.
type claim struct{ process, client int32 }

func newOwners(b *models.Binding) owners {
	return owners{v: b.Values, threads: int64(b.Spec.Threads), values: newLockValues(b.Values), numbers: map[owner]int32{}}
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
func (w *owners) enter(o models.Operation) error {
	process := o.ProcessID
	if n, ok := w.v.Int(process); ok && w.threads > 0 {
		process = w.v.InternInt(((n % w.threads) + w.threads) % w.threads)
	}
	c := claim{w.number(owner{false, w.v.Same(process)}), -1}
	if o.Status == jepsen.Succeeded && w.v.Kind(o.ValueID) == edn.KindMap {
		if client, found := w.v.Get(o.ValueID, w.values.fields[lockClient]); found && client != edn.Nil {
			c.client = w.number(owner{true, w.v.Same(client)})
		} else if err := w.values.misnamed(o.ValueID, lockClient); err != nil {
			return err
		}
	}
	w.rows = append(w.rows, c)
	return nil
}

// finish puts the owners into A.
func (w *owners) finish(c *models.Columns) (int32, error) {
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

var ownerMutexDefinition = models.Definition{
	LooksAhead: true, // clients may be named later
	Name:       "owner-mutex", Fs: ":acquire, :release", About: "a lock that only its holder releases",
	Params: []models.Param{models.ParamThreads},
	NoInit: "it starts free",
	Warn:   warnOfRefused,
	Record: "clew.model.OwnerMutex",
	New: func(b *models.Binding) (models.Reader, error) {
		m := newOwnerLock(b)
		m.holds = 1
		return m, nil
	},
}

var reentrantMutexDefinition = models.Definition{
	LooksAhead: true, // clients may be named later
	Name:       "reentrant-mutex", Fs: ":acquire, :release", About: "a lock that its owner may hold several times",
	Params: []models.Param{models.ParamMaxHolds, models.ParamThreads},
	NoInit: "it starts free",
	Warn:   warnOfRefused,
	Record: "clew.model.ReentrantMutex",
	New: func(b *models.Binding) (models.Reader, error) {
		m := newOwnerLock(b)
		m.holds, m.reentrant = maxHolds(b.Spec), true
		return m, nil
	},
}

var ownerSemaphoreDefinition = models.Definition{
	LooksAhead: true, // clients may be named later
	Name:       "owner-semaphore", Fs: ":acquire, :release, with :value n or {:permits n} for n permits", About: "permits that only their holder returns",
	Params: []models.Param{models.ParamPermits, models.ParamThreads},
	NoInit: "it starts free",
	Warn:   warnOfRefused,
	Record: "clew.model.OwnerSemaphore",
	New: func(b *models.Binding) (models.Reader, error) {
		m := newOwnerLock(b)
		m.permits = int32(b.Spec.Permits)
		return m, nil
	},
}

func newOwnerLock(b *models.Binding) *ownerLock {
	m := &ownerLock{owners: newOwners(b), record: b.Record, fAcquire: b.Values.InternKeyword("acquire"), fRelease: b.Values.InternKeyword("release")}
	m.traits = models.Traits{Finish: m.finish, Shape: func() models.Shape { return models.OwnerLockShape{Holds: m.holds, Permits: m.permits} }}
	return m
}

func maxHolds(s models.Spec) int32 {
	if s.MaxHolds == 0 {
		return models.DefaultMaxHolds
	}
	return int32(s.MaxHolds)
}

func (m *ownerLock) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if op.Kind, err = lockKind(o.FID, m.fAcquire, m.fRelease); err != nil {
		return op, false, err
	}
	op.B = 1
	if err = m.enter(o); err == nil && m.permits > 0 {
		op.B, err = m.values.permits(o)
	}
	return op, true, err
}

func (m *ownerLock) Init() models.State { return nil }

func (m *ownerLock) Mutates(models.Op) bool { return true }

func (m *ownerLock) Step(dst []models.State, s models.State, op models.Op) []models.State {
	i, holds := place(s, op.A)
	switch {
	case op.Kind == models.Release && holds && s[i+1] > op.B:
		s = slices.Clone(s)
		s[i+1] -= op.B
	case op.Kind == models.Release && holds && s[i+1] == op.B:
		s = slices.Delete(slices.Clone(s), i, i+2)
	case op.Kind == models.Release || !m.fits(s, i, holds, op):
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
func (m *ownerLock) fits(s models.State, i int, holds bool, op models.Op) bool {
	if m.permits > 0 {
		return int64(op.B)+total(s) <= int64(m.permits)
	}
	if holds {
		return s[i+1] < m.holds
	}
	return len(s) == 0
}

// place returns the index where an owner stands in a state, or would stand.
func place(s models.State, owner int32) (i int, holds bool) {
	for i < len(s) && s[i] < owner {
		i += 2
	}
	return i, i < len(s) && s[i] == owner
}

func total(s models.State) int64 {
	n := int64(0)
	for i := 0; i < len(s); i += 2 {
		n += int64(s[i+1])
	}
	return n
}

func (m *ownerLock) Why(s models.State, op models.Op) string {
	i, holds := place(s, op.A)
	switch {
	case op.Kind == models.Release && !holds:
		return "not held by " + m.text(op.A)
	case op.Kind == models.Release:
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

func (m *ownerLock) Record(s models.State) edn.Value {
	if m.permits > 0 {
		var kvs []edn.ID
		for i := 0; i < len(s); i += 2 {
			kvs = append(kvs, m.id(s[i]), m.v.InternInt(int64(s[i+1])))
		}
		return home.Record(m.v, m.record,
			home.Field{Name: "permits", Value: m.v.InternInt(int64(m.permits))}, home.Field{Name: "held", Value: m.v.InternMap(kvs)})
	}
	owner, holds := edn.Nil, int32(0)
	if len(s) > 0 {
		owner, holds = m.id(s[0]), s[1]
	}
	if !m.reentrant {
		return home.Record(m.v, m.record, home.Field{Name: "owner", Value: owner})
	}
	return home.Record(m.v, m.record, home.Field{Name: "owner", Value: owner}, home.Field{Name: "holds", Value: m.v.InternInt(int64(holds))})
}
