package lock

import (
	"fmt"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// lock is what all locks have.
type lock struct {
	home.Base
	fAcquire, fRelease edn.ID
	values             lockValues
}

func newLock(b *models.Binding, traits models.Traits) lock {
	m := lock{home.NewBase(b), b.Values.InternKeyword("acquire"), b.Values.InternKeyword("release"), newLockValues(b.Values)}
	m.Initial, m.Offered = models.State{0}, traits
	m.Offered.Hard = func() models.Hard {
		return models.Hard{Change: []string{"take and return one permit at a time", moreLocks}}
	}
	return m
}

const moreLocks = "use more locks with fewer operations each"

func (m *lock) Mutates(models.Op) bool { return true }

// kind returns the kind of an operation.
func (m *lock) kind(o models.Operation) (models.Kind, error) {
	switch o.FID {
	case m.fAcquire:
		return models.Acquire, nil
	case m.fRelease:
		return models.Release, nil
	}
	return 0, models.ErrUnknownF
}

// mutex is a lock that any process may release. Values mean nothing.
type mutex struct{ lock }

var mutexDefinition = models.Definition{
	Name: "mutex", Fs: ":acquire, :release", About: "a lock without an owner",
	Called: []string{"lock"},
	NoInit: "it starts free",
	Warn:   warnOfRefused,
	Record: "knossos.model.Mutex",
	Infer:  func(s *models.Seen) models.Fit { return models.FitsIf(s.Any(":acquire", ":release")) },
	New: func(b *models.Binding) (models.Reader, error) {
		shape := models.SemaphoreShape{Permits: 1}
		traits := models.Traits{Shape: func() models.Shape { return shape }, AnyOrder: func(*jepsen.History) bool { return true }}
		traits.Because = func(_ models.State, op models.Op) string {
			if op.Kind == models.Acquire {
				return "the lock is held already"
			}
			return "the lock is free"
		}
		traits.Anomaly = holding{permits: 1, counts: one, over: models.SplitBrain}.anomaly
		return &mutex{newLock(b, traits)}, nil
	},
}

func (m *mutex) Read(o models.Operation) (models.Op, bool, error) {
	kind, err := m.kind(o)
	return models.Op{Kind: kind}, err == nil, err
}

func (m *mutex) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch {
	case op.Kind == models.Acquire && s[0] == 0:
		return models.Only(dst, 1)
	case op.Kind == models.Release && s[0] == 1:
		return models.Only(dst, 0)
	}
	return dst
}

func (m *mutex) Why(_ models.State, op models.Op) string {
	if op.Kind == models.Acquire {
		return "already held"
	}
	return "not held"
}

func (m *mutex) Record(s models.State) edn.Value {
	locked := edn.False
	if s[0] == 1 {
		locked = edn.True
	}
	return m.Print("locked?", locked)
}

// semaphore hands out permits without owners. A state is how many permits are held. The
// kinds are Acquire and Release; B is the number of permits.
type semaphore struct {
	lock
	permits int32
}

var semaphoreDefinition = models.Definition{
	Name: "semaphore", Fs: ":acquire, :release, with :value n or {:permits n} for n permits", About: "permits that any process may return",
	Params: []models.Param{models.ParamPermits},
	NoInit: "all its permits start free",
	Warn:   warnOfRefused,
	Record: "clew.model.Semaphore",
	New: func(b *models.Binding) (models.Reader, error) {
		shape := models.SemaphoreShape{Permits: int32(b.Spec.Permits), Counted: true}
		traits := models.Traits{Shape: func() models.Shape { return shape }, AnyOrder: func(*jepsen.History) bool { return true }}
		traits.Anomaly = holding{permits: int64(shape.Permits), counts: permitsIn, over: overheld(shape.Permits)}.anomaly
		return &semaphore{newLock(b, traits), shape.Permits}, nil
	},
}

func (m *semaphore) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if op.Kind, err = m.kind(o); err != nil {
		return op, false, err
	}
	op.B, err = m.values.permits(o)
	return op, true, err
}

func (m *semaphore) Step(dst []models.State, s models.State, op models.Op) []models.State {
	held := s[0] + op.B
	if op.Kind == models.Release {
		held = s[0] - op.B
	}
	if held < 0 || held > m.permits {
		return dst
	}
	return models.Only(dst, held)
}

func (m *semaphore) Why(s models.State, op models.Op) string {
	if op.Kind == models.Acquire {
		return free(int64(m.permits-s[0]), m.permits)
	}
	return held(s[0])
}

// free says how many of all permits are free.
func free(n int64, all int32) string {
	switch n {
	case 0:
		return fmt.Sprintf("none of %d permits is free", all)
	case 1:
		return fmt.Sprintf("only 1 of %d permits is free", all)
	}
	return fmt.Sprintf("only %d of %d permits are free", n, all)
}

// held says how many permits are held.
func held(n int32) string {
	switch n {
	case 0:
		return "no permit is held"
	case 1:
		return "only 1 permit is held"
	}
	return fmt.Sprintf("only %d permits are held", n)
}

func (m *semaphore) Record(s models.State) edn.Value {
	return m.Print("permits held", m.V.InternInt(int64(m.permits)), m.V.InternInt(int64(s[0])))
}
