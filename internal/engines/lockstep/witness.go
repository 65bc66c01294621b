package lockstep

import (
	"slices"

	"clew/models"
)

// before orders all operations that returned before a time, given the steps that the
// search has taken.
func (p *problem) before(steps []step, until int32) []models.Row {
	m := merger{problem: p}
	m.replay(steps, until)
	if p.sizes {
		m.fill()
	}
	m.rest(until)
	return p.rows(p.insert(m.merge(), until))
}

// enqueues orders all enqueues that are not crashed and left, given the steps of a search.
func (p *problem) enqueues(steps []step) []int32 {
	m := merger{problem: p}
	m.replay(steps, models.Open)
	m.rest(models.Open)
	return m.adds
}

// rest adds the enqueues that are left and returned before a time.
func (m *merger) rest(until int32) {
	placed := make([]bool, len(m.inv))
	for _, op := range m.adds {
		placed[op] = true
	}
	for place, op := range m.in.ops {
		if !placed[op] && m.in.res[place] < until {
			m.adds = append(m.adds, op)
		}
	}
}

// merger merges the two orders.
type merger struct {
	*problem
	adds, sees []int32
	needs      []int32 // by place in sees: how many enqueues precede it
	first      int32   // 1 if some element is first, else 0
}

// replay splits the steps into the two orders, without sizes that return later.
func (m *merger) replay(steps []step, until int32) {
	drain := none // a drain that is not complete
	after := none // the place in flat after what it has taken
	for _, s := range steps {
		op := s.op()
		if m.kind[op] == models.Enqueue {
			m.adds = append(m.adds, op)
			m.first = 0
			switch {
			case s.drained():
				m.needs[len(m.needs)-1] = int32(len(m.adds))
			case drain == none:
				m.first = 1
			case m.last[after]:
				m.see(drain)
				drain = none
			default:
				after++
			}
			continue
		}
		if m.kind[op] == models.Drain && !m.last[m.value[op]] {
			drain, after = op, m.value[op]+1
			continue
		}
		switch m.kind[op] {
		case models.Size:
			if m.res[op] < until {
				m.sees, m.needs = append(m.sees, op), append(m.needs, int32(len(m.adds))-m.first+m.value[op])
			}
			continue
		case models.Peek:
		default:
			m.first = 0
		}
		m.see(op)
	}
}

func (m *merger) see(op int32) {
	m.sees, m.needs = append(m.sees, op), append(m.needs, int32(len(m.adds)))
}

// fill adds enqueues until all sizes are right.
func (m *merger) fill() {
	var list []owed
	before, n := models.Open, int32(len(m.adds))
	for i, op := range slices.Backward(m.sees) {
		if before = min(before, m.res[op]); m.kind[op] == models.Size && m.needs[i] > n {
			list = append(list, owed{m.needs[i], before, none})
		}
	}
	slices.Reverse(list)
	w, place := make([]uint64, m.words+m.counts.Words()), int32(0)
	for _, op := range m.adds {
		m.place(&m.in, &place, w, op)
	}
	x := filler{problem: m.problem, marks: make([]int32, len(m.inv))}
	x.fill(&frame{in: place, adds: n}, w, list, models.Open)
	m.adds = append(m.adds, x.picked...)
}

// merge returns one order that respects both orders, time, and the needed enqueues.
func (m *merger) merge() []int32 {
	addRes, seeRes := m.earliest(m.adds), m.earliest(m.sees)
	next := make([]int32, len(m.sees)+1) // by place in sees: how many enqueues precede the next empty answer
	next[len(m.sees)] = models.Open
	for i := len(m.sees) - 1; i >= 0; i-- {
		next[i] = next[i+1]
		if kind := m.kind[m.sees[i]]; kind == models.DequeueEmpty || kind == models.Size {
			next[i] = m.needs[i]
		}
	}
	order := make([]int32, 0, len(m.adds)+len(m.sees))
	for a, s := 0, 0; a < len(m.adds) || s < len(m.sees); {
		switch {
		case s < len(m.sees) && int(m.needs[s]) <= a && m.inv[m.sees[s]] < addRes[a]:
			order = append(order, m.sees[s])
			s++
		case a < len(m.adds) && int32(a) < next[s] && m.inv[m.adds[a]] < seeRes[s]:
			order = append(order, m.adds[a])
			a++
		default:
			panic("lockstep: the two orders cannot be merged")
		}
	}
	return order
}

// earliest returns, by place in an order, the earliest return from there on.
func (m *merger) earliest(order []int32) []int32 {
	res := make([]int32, len(order)+1)
	res[len(order)] = models.Open
	for i, op := range slices.Backward(order) {
		res[i] = min(res[i+1], m.res[op])
	}
	return res
}

// insert puts operations that say nothing right behind the last operation that
// returned before they were invoked.
func (p *problem) insert(order []int32, until int32) []int32 {
	free := slices.DeleteFunc(slices.Clone(p.free), func(op int32) bool { return p.res[op] >= until })
	if len(free) == 0 {
		return order
	}
	behind := make([]int32, 2*p.first+p.ops.Events+1) // by time: how many operations precede, up to the last one that had returned
	for i, op := range order {
		if res := p.res[op]; res != models.Open {
			behind[res] = int32(i) + 1
		}
	}
	for t := range behind[1:] {
		behind[t+1] = max(behind[t+1], behind[t])
	}
	whole := make([]int32, 0, len(order)+len(free))
	for i := range int32(len(order) + 1) {
		for ; len(free) > 0 && behind[p.inv[free[0]]] == i; free = free[1:] {
			whole = append(whole, free[0])
		}
		if int(i) < len(order) {
			whole = append(whole, order[i])
		}
	}
	return whole
}

// rows returns operations as rows, without the initial elements.
func (p *problem) rows(order []int32) []models.Row {
	rows := make([]models.Row, 0, len(order))
	for _, op := range order {
		if op >= p.first {
			rows = append(rows, op-p.first)
		}
	}
	return rows
}
