package models

import (
	"strconv"

	"clew/edn"
)

// semaphore hands out permits without owners. A state is how many permits are held. The
// kinds are Acquire and Release; B is the number of permits.
type semaphore struct {
	mutex
	values  lockValues
	permits int32
}

var semaphoreDefinition = Definition{
	Name: "semaphore", Fs: ":acquire, :release, with :value n or {:permits n} for n permits", About: "permits that any process may return",
	Params: []Param{ParamPermits},
	NoInit: "all its permits start free",
	Locks:  true,
	Record: "clew.model.Semaphore",
	New: func(b *Binding) (Reader, error) {
		permits := int32(b.Spec.Permits)
		return &semaphore{newMutex(b, SemaphoreShape{Permits: permits, Counted: true}), newLockValues(b.v), permits}, nil
	},
}

func (m *semaphore) Read(o Operation) (Op, bool, error) {
	op, keep, err := m.mutex.Read(o)
	if err == nil {
		op.B, err = m.values.permits(o)
	}
	return op, keep, err
}

func (m *semaphore) Step(dst []State, s State, op Op) []State {
	held := s[0] + op.B
	if op.Kind == Release {
		held = s[0] - op.B
	}
	if held < 0 || held > m.permits {
		return dst
	}
	return only(dst, held)
}

func (m *semaphore) Why(s State, op Op) string {
	if op.Kind == Acquire {
		return "only " + strconv.Itoa(int(m.permits-s[0])) + " of " + strconv.Itoa(int(m.permits)) + " permits are free"
	}
	return "only " + strconv.Itoa(int(s[0])) + " permits are held"
}

func (m *semaphore) Record(s State) edn.Value {
	return record(m.v, m.record,
		field{"permits", m.v.InternInt(int64(m.permits))}, field{"held", m.v.InternInt(int64(s[0]))})
}
