package languages

import (
	"slices"

	"clew/fallback"
	"clew/models"
)

// point holds the sets that were about to pass a return.
type point struct {
	k           int32
	words       []uint64
	stack, size []int32
}

func (p *point) bytes() int64 { return 8*int64(len(p.words)) + 8*int64(len(p.stack)) }

// segmentBytes is about how much memory the sets of a segment and the nodes that
// they need take before the next segment begins.
const segmentBytes = 4 << 20

// isLong says whether a segment is long enough.
func (s *search) isLong() bool {
	return s.rules.AlwaysForgetting || !s.rules.NoForgetting && s.sets.bytes()+s.a.bytes()-s.closed > segmentBytes
}

// begin begins a segment with the sets that are about to pass the next return. It
// forgets how they were reached, and the nodes with which no segment begins.
func (s *search) begin() {
	s.sets.keep(s.layer)
	p := point{k: s.k, words: slices.Clone(s.words), stack: slices.Clone(s.stack), size: slices.Clone(s.size)}
	s.points = append(s.points, p)
	s.forget()
	for i := range s.layer {
		s.layer[i] = int32(i)
	}
}

// forget drops nodes.
func (s *search) forget() {
	s.covered.empty()
	s.a.collect(func(each func(n *int32)) {
		for i := range s.stack {
			each(&s.stack[i])
		}
		for _, p := range s.points {
			for i := range p.stack {
				each(&p.stack[i])
			}
		}
	})
	s.closed = s.sets.bytes() + s.a.bytes()
}

// again passes the returns of the last segment again, up to the one before end.
func (s *search) again(end int32) {
	p := s.points[len(s.points)-1]
	s.sets.keep(nil)
	s.layer = s.layer[:0]
	for i, stack := range p.stack {
		s.layer = append(s.layer, s.add(p.words[i*s.width:(i+1)*s.width], stack, p.size[i], p.k))
	}
	s.forget()
	for i := range s.counts {
		s.counts[i].available = 0
	}
	for k := p.k; k < end && s.Cause == ""; k++ {
		s.pass(k)
		s.settle()
	}
}

// trail is a way back from a set: a stack of it, with the top last, and the rows
// that led there, the last one first.
type trail struct {
	set   []uint64
	at    int32
	stack []int32
	nodes []int32 // by height: the node of the set's language there, or none
	rows  []models.Row
}

// top returns the value on top of the stack, or none.
func (t *trail) top() int32 {
	if len(t.stack) == 0 {
		return none
	}
	return t.stack[len(t.stack)-1]
}

// maxTrails is how many linearizations the search shows.
const maxTrails = 11

// orders returns linearizations that lead to sets of the last layer.
func (s *search) orders() [][]models.Row {
	var trails []*trail
	for _, i := range s.layer[:min(len(s.layer), maxTrails)] {
		t := &trail{set: slices.Clone(s.set(i)), at: i}
		for n := s.stack[i]; n != blank && !s.a.ends[n]; n = s.a.targets(n)[0] {
			t.stack = append(t.stack, s.a.values(n)[0])
		}
		slices.Reverse(t.stack)
		trails = append(trails, t)
	}
	for len(s.points) > 0 && s.Cause == "" {
		begins := s.points[len(s.points)-1].k
		for _, t := range trails {
			t.nodes = slices.Repeat([]int32{none}, len(t.stack)+1)
			for s.back(t) && s.Tick() {
			}
			t.set = append(t.set[:0], s.set(t.at)...)
		}
		if s.points = s.points[:len(s.points)-1]; len(s.points) > 0 {
			s.again(begins)
			for _, t := range trails {
				t.at = s.past.slots[s.past.find(&s.sets, t.set, s.width)] - 1
			}
		}
	}
	var orders [][]models.Row
	for _, t := range trails {
		slices.Reverse(t.rows)
		orders = append(orders, t.rows)
	}
	return orders
}

// back goes back to a set from which the one of a trail was reached. It returns
// false if a segment begins there.
func (s *search) back(t *trail) bool {
	if p := &s.points[len(s.points)-1]; int(t.at) < len(p.stack) && s.holds(p.stack[t.at], t) {
		return false
	}
	for at := s.sets.way[t.at]; at != none; at = s.ways[at].before {
		w := s.ways[at]
		switch {
		case w.kind != takes:
			if (w.kind != sees || t.top() == w.row) && s.holds(s.stack[w.from], t) {
				s.emit(t, w)
				t.at = w.from
				return true
			}
		case s.Ops.Kind[w.row] == models.Push:
			if t.top() != s.value[w.row] {
				continue
			}
			top := len(t.stack) - 1
			value, node := t.stack[top], t.nodes[top+1]
			t.stack, t.nodes = t.stack[:top], t.nodes[:top+1]
			if s.holds(s.stack[w.from], t) {
				t.rows = append(t.rows, w.row)
				t.at = w.from
				return true
			}
			t.stack, t.nodes = append(t.stack, value), append(t.nodes, node)
		default:
			if s.unpop(t, w) {
				return true
			}
		}
	}
	panic("languages: there is no way back")
}

// unpop goes back to the stack before a pop.
func (s *search) unpop(t *trail, w way) bool {
	values := s.a.values(s.stack[w.from])
	if value := s.value[w.row]; value != none {
		values = []int32{value}
	}
	top := len(t.stack)
	for _, value := range values {
		t.stack, t.nodes = append(t.stack, value), append(t.nodes, none)
		if s.holds(s.stack[w.from], t) {
			t.rows = append(t.rows, w.row)
			t.at = w.from
			return true
		}
		t.stack, t.nodes = t.stack[:top], t.nodes[:top+1]
	}
	return false
}

// emit adds the rows of a way that takes several.
func (s *search) emit(t *trail, w way) {
	if w.kind == passes {
		return
	}
	k := s.sets.at[w.from]
	open := s.OpenRows(k)
	if w.kind == meets {
		t.rows = append(t.rows, open[0])
	}
	for _, row := range open {
		kind := s.Ops.Kind[row]
		if kind != models.Peek && kind != models.PopEmpty || fallback.HasBit(s.set(w.from), s.Slot[row]) {
			continue
		}
		// The returning operation's bit is cleared where the way ends.
		if row == open[0] && s.sets.at[t.at] > k || fallback.HasBit(s.set(t.at), s.Slot[row]) {
			t.rows = append(t.rows, row)
		}
	}
	if w.kind == meets {
		t.rows = append(t.rows, w.row)
	}
}

// holds says whether the stack of a trail is in a language. If so, it makes the
// trail's nodes those of the language.
func (s *search) holds(n int32, t *trail) bool {
	s.path = s.path[:0]
	h := len(t.stack)
	for ; n != t.nodes[h]; h-- {
		s.path = append(s.path, n)
		s.Work++
		if n == nothing || h == 0 {
			break
		}
		n = s.a.pop(t.stack[h-1], n)
	}
	if n == nothing || h == 0 && n != t.nodes[0] && !s.a.ends[n] {
		return false
	}
	for j, n := range s.path {
		t.nodes[len(t.stack)-j] = n
	}
	return true
}
