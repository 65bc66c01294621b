package models

import "sync/atomic"

// Memory is an amount of memory that searches and models share. A nil Memory is
// unlimited. It is safe for concurrent use.
type Memory struct {
	left atomic.Int64
	of   *Memory // unless nil, Take and Give apply to this one, too
}

// NewMemory returns a Memory of that many bytes.
func NewMemory(bytes int64) *Memory {
	m := &Memory{}
	m.left.Store(bytes)
	return m
}

// Share returns one n-th of what is left. Taking from it also takes from m.
func (m *Memory) Share(n int) *Memory {
	if m == nil {
		return nil
	}
	part := NewMemory(m.Left() / int64(n))
	part.of = m
	return part
}

// Grow makes a share that many bytes larger, or smaller if negative. The Memory
// of which it is a share does not change.
func (m *Memory) Grow(bytes int64) { m.left.Add(bytes) }

// Left returns how many bytes have not been taken. It is negative if a caller
// was refused and has not yet given back what it asked for.
func (m *Memory) Left() int64 { return m.left.Load() }

// Take takes bytes and says whether they were available. The caller must give
// them back in any case, even if they were not.
func (m *Memory) Take(bytes int64) bool {
	if m == nil {
		return true
	}
	there := m.left.Add(-bytes) >= 0
	return m.of.Take(bytes) && there
}

// Give gives back bytes that were taken.
func (m *Memory) Give(bytes int64) {
	for ; m != nil; m = m.of {
		m.left.Add(bytes)
	}
}
