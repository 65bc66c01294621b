package position

import (
	"iter"
	"sort"
)

// pool is updates that have something in common, by invocation, so that lo ascends.
type pool struct {
	fill []int32 // places in matching.fill
	back []int32 // by place in fill, plus 1: an update before that place may be unused from there down; see last
	room [3]int32
}

// addTo adds an update to the pool of those that have something in common. Most are alone.
func addTo[T comparable](pools map[T]*pool, common T, k int32) {
	l := pools[common]
	if l == nil {
		l = &pool{}
		l.fill, l.back = l.room[:0:1], l.room[1:1:3]
		pools[common] = l
	}
	l.add(k)
}

func (l *pool) add(k int32) {
	if len(l.back) == 0 {
		l.back = append(l.back, 0)
	}
	l.fill = append(l.fill, k)
	l.back = append(l.back, int32(len(l.fill)))
}

// last returns the place of the last unused update before place end, or -1.
func (m *matching) last(l *pool, end int32) int32 {
	for {
		root := end
		for l.back[root] != root {
			root = l.back[root]
		}
		for l.back[end] != end {
			end, l.back[end] = l.back[end], root
		}
		if root == 0 || !m.fill[l.fill[root-1]].used {
			return root - 1
		}
		l.back[root] = root - 1
		end = root - 1
	}
}

// end returns how many of the updates may have made a position, as far as they say none themselves.
func (m *matching) end(l *pool, at int64) int32 {
	if l == nil {
		return 0
	}
	return int32(sort.Search(len(l.fill), func(i int) bool { return m.lo[m.fill[l.fill[i]].row] >= at }))
}

// unused returns the first updates to try for a position: unused ones, those first that suit the fewest positions.
func (m *matching) unused(l *pool, at int64) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		end := m.end(l, at)
		for range maxTried {
			if end == 0 {
				return
			}
			i := m.last(l, end)
			if i < 0 {
				return
			}
			if k := l.fill[i]; (m.fill[k].at == none || m.fill[k].at == at || !m.p.Dense && m.fill[k].at < at) && !yield(k) {
				return
			}
			end = i
		}
	}
}

// some says whether an update may have made one of some positions. It may say so though none has.
func (m *matching) some(l *pool, from, latest int64) bool {
	for i := range m.end(l, latest) {
		if f := &m.fill[l.fill[i]]; i == maxTried || max(from, m.lo[f.row]+1) <= latest && (f.at == none || from <= f.at && f.at <= latest) {
			return true
		}
	}
	return false
}
