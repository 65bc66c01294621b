package models

import "clew/edn"

// Kinds of locks.
const (
	Acquire Kind = iota
	Release
)

// mutex is a lock that any process may release. Values mean nothing.
type mutex struct {
	v                  *edn.Values
	record             string
	fAcquire, fRelease edn.ID
	traits             Traits
}

var mutexDefinition = Definition{
	Name: "mutex", Fs: ":acquire, :release", About: "a lock without an owner",
	Called: []string{"lock"},
	NoInit: "it starts free",
	Locks:  true,
	Record: "knossos.model.Mutex",
	Infer:  func(s *Seen) Fit { return fitsIf(s.Any(":acquire", ":release")) },
	New: func(b *Binding) (Reader, error) {
		m := newMutex(b, SemaphoreShape{Permits: 1})
		return &m, nil
	},
}

func newMutex(b *Binding, shape SemaphoreShape) mutex {
	return mutex{b.v, b.record, b.v.InternKeyword("acquire"), b.v.InternKeyword("release"), Traits{Shape: func() Shape { return shape }}}
}

// Traits implements Model.
func (m *mutex) Traits() *Traits { return &m.traits }

func (m *mutex) Read(o Operation) (Op, bool, error) {
	kind, err := lockKind(o.f, m.fAcquire, m.fRelease)
	return Op{Kind: kind}, err == nil, err
}

// lockKind returns the kind of a lock's operation.
func lockKind(f, acquire, release edn.ID) (Kind, error) {
	switch f {
	case acquire:
		return Acquire, nil
	case release:
		return Release, nil
	}
	return 0, ErrUnknownF
}

func (m *mutex) Init() State { return State{0} }

func (m *mutex) Step(dst []State, s State, op Op) []State {
	switch {
	case op.Kind == Acquire && s[0] == 0:
		return only(dst, 1)
	case op.Kind == Release && s[0] == 1:
		return only(dst, 0)
	}
	return dst
}

func (m *mutex) Mutates(Op) bool { return true }

func (m *mutex) Why(_ State, op Op) string {
	if op.Kind == Acquire {
		return "already held"
	}
	return "not held"
}

func (m *mutex) Record(s State) edn.Value {
	locked := edn.False
	if s[0] == 1 {
		locked = edn.True
	}
	return record(m.v, m.record, field{"locked?", locked})
}
