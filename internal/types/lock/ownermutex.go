package lock

import (
	"cmp"
	"fmt"
	"slices"

	"clew/edn"
	"clew/models"
)

// ownerMutex is a lock that only the owner that holds it gives back. The owner may hold it
// several times. If it is fenced, its acquires may carry a fence, a number that only grows.
// Jepsen's Hazelcast suite checks its locks with fences. A fence is the :fence of the value;
// 0, or no :fence, says nothing.
//
// A state is four numbers: owner, holds, fence and greatest fence. The owner is stored plus
// 1, or as 0 if the lock is free. The fence is the one that the owner holds the lock with,
// 0 if none was seen. Fences are numbered in their order. Kinds are Acquire and Release; A
// is the owner, B the fence, or 1 without fences.
type ownerMutex struct {
	owners
	fenced    bool
	reentrant bool
	most      int32 // how often its owner may hold it
	fences    []int64
}

var (
	ownerMutexDefinition = ownerMutexOf("owner-mutex", "a lock that only its holder releases", "OwnerMutex", false, false)

	reentrantMutexDefinition = ownerMutexOf("reentrant-mutex", "a lock that its owner may hold several times", "ReentrantMutex", false, true)

	fencedMutexDefinition = ownerMutexOf("fenced-mutex", "a lock with an owner and growing fences", "FencedMutex", true, false)

	reentrantFencedMutexDefinition = ownerMutexOf("reentrant-fenced-mutex", "a lock with fences that its owner may hold several times", "ReentrantFencedMutex", true, true)
)

func ownerMutexOf(name, about, record string, fenced, reentrant bool) models.Definition {
	fs, params := ":acquire, :release", []models.Param{}
	if fenced {
		fs += ", with {:client c :fence n}"
	}
	if reentrant {
		params = append(params, models.ParamMaxHolds)
	}
	return ownerDefinition(name, fs, about, "clew.model."+record, params, func(b *models.Binding) models.Reader {
		m := &ownerMutex{fenced: fenced, reentrant: reentrant, most: 1}
		if reentrant {
			m.most = int32(cmp.Or(b.Spec.MaxHolds, models.DefaultMaxHolds))
		}
		m.owners = newOwners(b, models.Traits{Finish: m.finish, Shape: m.shape, Because: m.because,
			Anomaly: holding{counts: one, owner: ownerOf, again: reentrant, over: models.SplitBrain, held: holder}.anomaly})
		m.Initial = models.State{0, 0, 0, 0}
		return m
	})
}

// holder returns how often the owner of a mutex holds it in a state.
func holder(s models.State) map[int32]int64 {
	held := map[int32]int64{}
	if s[1] > 0 {
		held[s[0]-1] = int64(s[1])
	}
	return held
}

func (m *ownerMutex) shape() models.Shape {
	if m.fenced {
		return models.FencedLockShape{Holds: m.most}
	}
	return models.OwnerLockShape{Holds: m.most}
}

// Read numbers the fences as they come; finish orders them.
func (m *ownerMutex) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if op.Kind, err = m.kind(o); err != nil {
		return op, false, err
	}
	if !m.fenced {
		op.B = 1
	}
	if err = m.enter(o); err != nil || op.Kind == models.Release || !m.fenced {
		return op, true, err
	}
	n, err := m.fence(o)
	if n > 0 {
		m.fences = append(m.fences, n)
		op.B = int32(len(m.fences))
	}
	return op, true, err
}

// fence returns the fence that an acquire tells, or 0.
func (m *ownerMutex) fence(o models.Operation) (int64, error) {
	if m.V.Kind(o.ValueID) != edn.KindMap {
		if m.V.Same(o.ValueID) != m.V.Same(o.GivenID) && !m.values.silent(o.ValueID) {
			return 0, fmt.Errorf("expected {:fence n}, found %s", m.V.Text(o.ValueID))
		}
		return 0, nil
	}
	fence, found := m.V.Get(o.ValueID, m.values.fields[lockFence])
	if !found {
		return 0, m.values.misnamed(o.ValueID, lockFence)
	}
	n, ok := m.V.Int(fence)
	if fence != edn.Nil && (!ok || n < 0) {
		return 0, fmt.Errorf("expected a fence that is a number from 0 on, found %s", m.V.Text(fence))
	}
	return n, nil
}

func (m *ownerMutex) finish(c *models.Columns) (int32, error) {
	ordered := slices.Clone(m.fences)
	slices.Sort(ordered)
	ordered = slices.Compact(ordered)
	for i, b := range c.B {
		if m.fenced && b > 0 {
			k, _ := slices.BinarySearch(ordered, m.fences[b-1])
			c.B[i] = int32(k) + 1
		}
	}
	m.fences = ordered
	return m.owners.finish(c)
}

func (m *ownerMutex) Step(dst []models.State, s models.State, op models.Op) []models.State {
	owner, holds, fence, greatest := s[0]-1, s[1], s[2], s[3]
	if !m.fenced {
		op.B = 0
	}
	switch {
	case op.Kind == models.Release && owner != op.A:
		return dst
	case op.Kind == models.Release && holds == 1:
		return models.Only(dst, 0, 0, 0, greatest)
	case op.Kind == models.Release:
		return models.Only(dst, s[0], holds-1, fence, greatest)
	case holds > 0 && (owner != op.A || holds == m.most):
		return dst
	case fence > 0 && (op.B == 0 || op.B == fence): // held with a fence, again
		return models.Only(dst, s[0], holds+1, fence, greatest)
	case fence == 0 && (op.B == 0 || op.B > greatest):
		return models.Only(dst, op.A+1, holds+1, op.B, max(op.B, greatest))
	}
	return dst
}

func (m *ownerMutex) Why(s models.State, op models.Op) string {
	owner, holds, fence, greatest := s[0]-1, s[1], s[2], s[3]
	switch {
	case op.Kind == models.Release:
		return "not held by " + m.text(op.A)
	case holds > 1 && owner == op.A && holds == m.most:
		return fmt.Sprintf("already held by %s, %d times", m.text(owner), holds)
	case holds > 0 && (owner != op.A || holds == m.most):
		return "already held by " + m.text(owner)
	case fence > 0:
		return fmt.Sprintf("fence %d is not %d, with which it is held", m.number64(op.B), m.number64(fence))
	}
	return fmt.Sprintf("fence %d is not greater than %d", m.number64(op.B), m.number64(greatest))
}

// because is Traits.Because.
func (m *ownerMutex) because(s models.State, op models.Op) string {
	owner, holds := s[0]-1, s[1]
	switch {
	case op.Kind == models.Release:
		return m.text(op.A) + " does not hold the lock"
	case holds > 0 && owner == op.A && holds == m.most && m.most > 1:
		return fmt.Sprintf("%s holds the lock already, %d times", m.text(owner), holds)
	case holds > 0 && (owner != op.A || holds == m.most):
		return m.text(owner) + " holds the lock already"
	}
	return ""
}

// number64 returns a fence as the history has it.
func (m *ownerMutex) number64(n int32) int64 {
	if n == 0 {
		return 0
	}
	return m.fences[n-1]
}

func (m *ownerMutex) Record(s models.State) edn.Value {
	owner, holds := edn.Nil, m.V.InternInt(int64(s[1]))
	if s[0] > 0 {
		owner = m.id(s[0] - 1)
	}
	fence, greatest := m.V.InternInt(m.number64(s[2])), m.V.InternInt(m.number64(s[3]))
	switch {
	case m.fenced && m.reentrant:
		return m.Print("owner holds fence highest-fence", owner, holds, fence, greatest)
	case m.fenced:
		return m.Print("owner fence", owner, greatest)
	case m.reentrant:
		return m.Print("owner holds", owner, holds)
	}
	return m.Print("owner", owner)
}
