package models

import (
	"fmt"
	"slices"
	"strconv"

	"clew/edn"
)

// checkLocks says whether the parameters of locks go with the model.
func (s Spec) checkLocks() error {
	is := func(names ...string) bool { return slices.Contains(names, s.Name) }
	switch needs := is("semaphore", "owner-semaphore"); {
	case s.Permits < 0 || needs && s.Permits == 0:
		return fmt.Errorf("%s needs --permits K, the number of its permits, at least 1", s.Name)
	case s.Permits > 0 && !needs:
		return fmt.Errorf("--permits goes with semaphore and owner-semaphore, not with %s", s.Name)
	case s.MaxHolds < 0:
		return fmt.Errorf("--max-holds is at least 1, not %d", s.MaxHolds)
	case s.MaxHolds > 0 && !is("reentrant-mutex", "reentrant-fenced-mutex"):
		return fmt.Errorf("--max-holds goes with reentrant locks, not with %s", s.Name)
	case s.Threads < 0:
		return fmt.Errorf("--threads is at least 1, not %d", s.Threads)
	case s.Threads > 0 && !is("owner-mutex", "reentrant-mutex", "owner-semaphore", "fenced-mutex", "reentrant-fenced-mutex"):
		return fmt.Errorf("--threads goes with locks that have an owner, not with %s", s.Name)
	}
	return nil
}

// semaphore hands out permits to nobody in particular. A state is how many are
// held. Its kinds are Acquire and Release; B is how many permits.
type semaphore struct {
	mutex
	permits int32
}

func newSemaphore(s Spec, v *edn.Values, init *edn.ID) (definition, error) {
	if init != nil {
		return nil, fmt.Errorf("semaphore takes no --init: all its permits are free at first")
	}
	d, err := newMutex(s, v, nil)
	return &semaphore{*d.(*mutex), int32(s.Permits)}, err
}

func (m *semaphore) read(o operation) (Op, bool, error) {
	op, keep, err := m.mutex.read(o)
	if err == nil {
		op.B, err = count(m.v, o.value)
	}
	return op, keep, err
}

// maxCount bounds the permits of one operation, so that sums do not overflow.
const maxCount = 1 << 30

// count is how many permits a value speaks of: n or {:permits n}, else one.
func count(v *edn.Values, value edn.ID) (int32, error) {
	if v.Kind(value) == edn.KindMap {
		permits, found := v.Get(value, v.InternKeyword("permits"))
		if !found {
			return 1, nil
		}
		value = permits
		if _, ok := v.Int(value); !ok {
			return 0, fmt.Errorf("expected a number of permits, found %s", v.Text(value))
		}
	}
	n, ok := v.Int(value)
	switch {
	case !ok:
		return 1, nil
	case n < 1 || n > maxCount:
		return 0, fmt.Errorf("expected a number of permits from 1 to %d, found %d", maxCount, n)
	}
	return int32(n), nil
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

// Shape makes semaphore Shaped.
func (m *semaphore) Shape() Shape { return SemaphoreShape{Permits: m.permits, Counted: true} }

func (m *semaphore) Why(s State, op Op) string {
	if op.Kind == Acquire {
		return "only " + strconv.Itoa(int(m.permits-s[0])) + " of " + strconv.Itoa(int(m.permits)) + " permits are free"
	}
	return "only " + strconv.Itoa(int(s[0])) + " permits are held"
}

func (m *semaphore) Record(s State) edn.ID {
	return recordOf(m.v, "clew.model.Semaphore",
		field{"permits", m.v.InternInt(int64(m.permits))}, field{"held", m.v.InternInt(int64(s[0]))})
}

// field is a field of a record.
type field struct {
	name  string
	value edn.ID
}

// recordOf is a Clojure record.
func recordOf(v *edn.Values, name string, fields ...field) edn.ID {
	var kvs []edn.ID
	for _, f := range fields {
		kvs = append(kvs, v.InternKeyword(f.name), f.value)
	}
	return v.InternTagged(name, v.InternMap(kvs))
}
