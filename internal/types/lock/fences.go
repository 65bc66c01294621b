package lock

import (
	"fmt"
	"slices"
	"strconv"

	"clew/edn"
	"clew/internal/home"
	"clew/models"
)

// fencedLock is a lock with an owner. Its acquires may carry a fence, a number that only
// grows. Jepsen's Hazelcast suite checks its locks with fences. A fence is the :fence of
// the value; 0, or no :fence, says nothing.
//
// A state is four numbers: owner, holds, fence and greatest fence. The owner is stored plus
// 1, or as 0 if the lock is free. The fence is the one that the owner holds the lock with,
// 0 if none was seen. Fences are numbered in their order. Kinds are Acquire and Release; A
// is the owner, B the fence.
type fencedLock struct {
	owners
	fAcquire, fRelease edn.ID
	record             string
	reentrant          bool
	holds              int32 // of the owner
	fences             []int64
}

var fencedMutexDefinition = models.Definition{
	LooksAhead: true, // clients may be named later
	Name:       "fenced-mutex", Fs: ":acquire, :release, with {:client c :fence n}", About: "a lock with an owner and growing fences",
	Params: []models.Param{models.ParamThreads},
	NoInit: "it starts free",
	Warn:   warnOfRefused,
	Record: "clew.model.FencedMutex",
	New: func(b *models.Binding) (models.Reader, error) {
		m := newFencedLock(b)
		m.holds = 1
		return m, nil
	},
}

var reentrantFencedMutexDefinition = models.Definition{
	LooksAhead: true, // clients may be named later
	Name:       "reentrant-fenced-mutex", Fs: ":acquire, :release, with {:client c :fence n}", About: "such a lock that its owner may hold repeatedly",
	Params: []models.Param{models.ParamMaxHolds, models.ParamThreads},
	NoInit: "it starts free",
	Warn:   warnOfRefused,
	Record: "clew.model.ReentrantFencedMutex",
	New: func(b *models.Binding) (models.Reader, error) {
		m := newFencedLock(b)
		m.holds, m.reentrant = maxHolds(b.Spec), true
		return m, nil
	},
}

func newFencedLock(b *models.Binding) *fencedLock {
	m := &fencedLock{owners: newOwners(b), record: b.Record, fAcquire: b.Values.InternKeyword("acquire"), fRelease: b.Values.InternKeyword("release")}
	m.traits = models.Traits{Finish: m.finish, Shape: func() models.Shape { return models.FencedLockShape{Holds: m.holds} }}
	return m
}

// Read numbers the fences as they come; finish orders them.
func (m *fencedLock) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if op.Kind, err = lockKind(o.FID, m.fAcquire, m.fRelease); err != nil {
		return op, false, err
	}
	if err = m.enter(o); err != nil || op.Kind == models.Release {
		return op, true, err
	}
	if m.v.Kind(o.ValueID) != edn.KindMap {
		if o.ValueID != o.GivenID && !m.values.silent(o.ValueID) {
			err = fmt.Errorf("expected {:fence n}, found %s", m.v.Text(o.ValueID))
		}
		return op, true, err
	}
	fence, found := m.v.Get(o.ValueID, m.values.fields[lockFence])
	if !found {
		return op, true, m.values.misnamed(o.ValueID, lockFence)
	}
	if fence == edn.Nil {
		return op, true, nil
	}
	n, ok := m.v.Int(fence)
	if !ok || n < 0 {
		return op, false, fmt.Errorf("expected a fence that is a number from 0 on, found %s", m.v.Text(fence))
	}
	if n > 0 {
		m.fences = append(m.fences, n)
		op.B = int32(len(m.fences))
	}
	return op, true, nil
}

func (m *fencedLock) finish(c *models.Columns) (int32, error) {
	ordered := slices.Clone(m.fences)
	slices.Sort(ordered)
	ordered = slices.Compact(ordered)
	for i, b := range c.B {
		if b > 0 {
			k, _ := slices.BinarySearch(ordered, m.fences[b-1])
			c.B[i] = int32(k) + 1
		}
	}
	m.fences = ordered
	return m.owners.finish(c)
}

func (m *fencedLock) Init() models.State { return models.State{0, 0, 0, 0} }

func (m *fencedLock) Mutates(models.Op) bool { return true }

func (m *fencedLock) Step(dst []models.State, s models.State, op models.Op) []models.State {
	owner, holds, fence, greatest := s[0]-1, s[1], s[2], s[3]
	switch {
	case op.Kind == models.Release && owner != op.A:
		return dst
	case op.Kind == models.Release && holds == 1:
		return models.Only(dst, 0, 0, 0, greatest)
	case op.Kind == models.Release:
		return models.Only(dst, s[0], holds-1, fence, greatest)
	case holds > 0 && (owner != op.A || holds == m.holds):
		return dst
	case fence > 0 && (op.B == 0 || op.B == fence): // held with a fence, again
		return models.Only(dst, s[0], holds+1, fence, greatest)
	case fence == 0 && (op.B == 0 || op.B > greatest):
		return models.Only(dst, op.A+1, holds+1, op.B, max(op.B, greatest))
	}
	return dst
}

func (m *fencedLock) Why(s models.State, op models.Op) string {
	owner, holds, fence, greatest := s[0]-1, s[1], s[2], s[3]
	switch {
	case op.Kind == models.Release:
		return "not held by " + m.text(op.A)
	case holds > 0 && owner != op.A:
		return "already held by " + m.text(owner)
	case holds > 0 && holds == m.holds:
		return "already held by " + m.text(owner) + heldTimes(holds)
	case fence > 0:
		return "fence " + m.fence(op.B) + " is not " + m.fence(fence) + ", with which it is held"
	}
	return "fence " + m.fence(op.B) + " is not greater than " + m.fence(greatest)
}

func (m *fencedLock) fence(n int32) string { return strconv.FormatInt(m.number64(n), 10) }

func (m *fencedLock) number64(n int32) int64 {
	if n == 0 {
		return 0
	}
	return m.fences[n-1]
}

func (m *fencedLock) Record(s models.State) edn.Value {
	owner := edn.Nil
	if s[0] > 0 {
		owner = m.id(s[0] - 1)
	}
	number := func(n int32) edn.ID { return m.v.InternInt(m.number64(n)) }
	if !m.reentrant {
		return home.Record(m.v, m.record, home.Field{Name: "owner", Value: owner}, home.Field{Name: "fence", Value: number(s[3])})
	}
	return home.Record(m.v, m.record, home.Field{Name: "owner", Value: owner}, home.Field{Name: "holds", Value: m.v.InternInt(int64(s[1]))},
		home.Field{Name: "fence", Value: number(s[2])}, home.Field{Name: "highest-fence", Value: number(s[3])})
}
