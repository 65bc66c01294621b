package models

import (
	"fmt"
	"slices"
	"strconv"

	"clew/edn"
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

var fencedMutexDefinition = Definition{
	LooksAhead: true, // clients may be named later
	Name:       "fenced-mutex", Fs: ":acquire, :release, with {:client c :fence n}", About: "a lock with an owner and growing fences",
	Params: []Param{ParamThreads},
	NoInit: "it starts free",
	Locks:  true,
	Record: "clew.model.FencedMutex",
	New: func(b *Binding) (Reader, error) {
		m := newFencedLock(b)
		m.holds = 1
		return m, nil
	},
}

var reentrantFencedMutexDefinition = Definition{
	LooksAhead: true, // clients may be named later
	Name:       "reentrant-fenced-mutex", Fs: ":acquire, :release, with {:client c :fence n}", About: "such a lock that its owner may hold repeatedly",
	Params: []Param{ParamMaxHolds, ParamThreads},
	NoInit: "it starts free",
	Locks:  true,
	Record: "clew.model.ReentrantFencedMutex",
	New: func(b *Binding) (Reader, error) {
		m := newFencedLock(b)
		m.holds, m.reentrant = b.Spec.maxHolds(), true
		return m, nil
	},
}

func newFencedLock(b *Binding) *fencedLock {
	m := &fencedLock{owners: newOwners(b), record: b.record, fAcquire: b.v.InternKeyword("acquire"), fRelease: b.v.InternKeyword("release")}
	m.traits = Traits{Finish: m.finish, Shape: func() Shape { return FencedLockShape{m.holds} }}
	return m
}

// Read numbers the fences as they come; finish orders them.
func (m *fencedLock) Read(o Operation) (op Op, keep bool, err error) {
	if op.Kind, err = lockKind(o.f, m.fAcquire, m.fRelease); err != nil {
		return op, false, err
	}
	if err = m.enter(o); err != nil || op.Kind == Release {
		return op, true, err
	}
	if m.v.Kind(o.value) != edn.KindMap {
		if o.value != o.given && !m.values.silent(o.value) {
			err = fmt.Errorf("expected {:fence n}, found %s", m.v.Text(o.value))
		}
		return op, true, err
	}
	fence, found := m.v.Get(o.value, m.values.fields[lockFence])
	if !found {
		return op, true, m.values.misnamed(o.value, lockFence)
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

func (m *fencedLock) finish(c *Columns) (int32, error) {
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

func (m *fencedLock) Init() State { return State{0, 0, 0, 0} }

func (m *fencedLock) Mutates(Op) bool { return true }

func (m *fencedLock) Step(dst []State, s State, op Op) []State {
	owner, holds, fence, greatest := s[0]-1, s[1], s[2], s[3]
	switch {
	case op.Kind == Release && owner != op.A:
		return dst
	case op.Kind == Release && holds == 1:
		return only(dst, 0, 0, 0, greatest)
	case op.Kind == Release:
		return only(dst, s[0], holds-1, fence, greatest)
	case holds > 0 && (owner != op.A || holds == m.holds):
		return dst
	case fence > 0 && (op.B == 0 || op.B == fence): // held with a fence, again
		return only(dst, s[0], holds+1, fence, greatest)
	case fence == 0 && (op.B == 0 || op.B > greatest):
		return only(dst, op.A+1, holds+1, op.B, max(op.B, greatest))
	}
	return dst
}

func (m *fencedLock) Why(s State, op Op) string {
	owner, holds, fence, greatest := s[0]-1, s[1], s[2], s[3]
	switch {
	case op.Kind == Release:
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

func (m *fencedLock) Record(s State) edn.Value {
	owner := edn.Nil
	if s[0] > 0 {
		owner = m.id(s[0] - 1)
	}
	number := func(n int32) edn.ID { return m.v.InternInt(m.number64(n)) }
	if !m.reentrant {
		return record(m.v, m.record, field{"owner", owner}, field{"fence", number(s[3])})
	}
	return record(m.v, m.record, field{"owner", owner}, field{"holds", m.v.InternInt(int64(s[1]))},
		field{"fence", number(s[2])}, field{"highest-fence", number(s[3])})
}
