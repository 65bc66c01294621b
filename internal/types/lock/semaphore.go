package lock

import (
	"strconv"

	"clew/edn"
	"clew/internal/home"
	"clew/models"
)

// semaphore hands out permits without owners. A state is how many permits are held. The
// kinds are Acquire and Release; B is the number of permits.
type semaphore struct {
	mutex
	values  lockValues
	permits int32
}

var semaphoreDefinition = models.Definition{
	Name: "semaphore", Fs: ":acquire, :release, with :value n or {:permits n} for n permits", About: "permits that any process may return",
	Params: []models.Param{models.ParamPermits},
	NoInit: "all its permits start free",
	Warn:   warnOfRefused,
	Record: "clew.model.Semaphore",
	New: func(b *models.Binding) (models.Reader, error) {
		permits := int32(b.Spec.Permits)
		return &semaphore{newMutex(b, models.SemaphoreShape{Permits: permits, Counted: true}), newLockValues(b.Values), permits}, nil
	},
}

func (m *semaphore) Read(o models.Operation) (models.Op, bool, error) {
	op, keep, err := m.mutex.Read(o)
	if err == nil {
		op.B, err = m.values.permits(o)
	}
	return op, keep, err
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
		return "only " + strconv.Itoa(int(m.permits-s[0])) + " of " + strconv.Itoa(int(m.permits)) + " permits are free"
	}
	return "only " + strconv.Itoa(int(s[0])) + " permits are held"
}

func (m *semaphore) Record(s models.State) edn.Value {
	return home.Record(m.v, m.record,
		home.Field{Name: "permits", Value: m.v.InternInt(int64(m.permits))}, home.Field{Name: "held", Value: m.v.InternInt(int64(s[0]))})
}
