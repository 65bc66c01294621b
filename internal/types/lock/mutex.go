package lock

import (
	"clew/edn"
	"clew/internal/home"
	"clew/models"
)

// mutex is a lock that any process may release. Values mean nothing.
type mutex struct {
	v                  *edn.Values
	record             string
	fAcquire, fRelease edn.ID
	traits             models.Traits
}

var mutexDefinition = models.Definition{
	Name: "mutex", Fs: ":acquire, :release", About: "a lock without an owner",
	Called: []string{"lock"},
	NoInit: "it starts free",
	Warn:   warnOfRefused,
	Record: "knossos.model.Mutex",
	Infer:  func(s *models.Seen) models.Fit { return models.FitsIf(s.Any(":acquire", ":release")) },
	New: func(b *models.Binding) (models.Reader, error) {
		m := newMutex(b, models.SemaphoreShape{Permits: 1})
		return &m, nil
	},
}

func newMutex(b *models.Binding, shape models.SemaphoreShape) mutex {
	return mutex{b.Values, b.Record, b.Values.InternKeyword("acquire"), b.Values.InternKeyword("release"), models.Traits{Shape: func() models.Shape { return shape }}}
}

// Traits implements Model.
func (m *mutex) Traits() *models.Traits { return &m.traits }

func (m *mutex) Read(o models.Operation) (models.Op, bool, error) {
	kind, err := lockKind(o.FID, m.fAcquire, m.fRelease)
	return models.Op{Kind: kind}, err == nil, err
}

// lockKind returns the kind of a lock's operation.
func lockKind(f, acquire, release edn.ID) (models.Kind, error) {
	switch f {
	case acquire:
		return models.Acquire, nil
	case release:
		return models.Release, nil
	}
	return 0, models.ErrUnknownF
}

func (m *mutex) Init() models.State { return models.State{0} }

func (m *mutex) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch {
	case op.Kind == models.Acquire && s[0] == 0:
		return models.Only(dst, 1)
	case op.Kind == models.Release && s[0] == 1:
		return models.Only(dst, 0)
	}
	return dst
}

func (m *mutex) Mutates(models.Op) bool { return true }

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
	return home.Record(m.v, m.record, home.Field{Name: "locked?", Value: locked})
}
