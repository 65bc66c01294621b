package porcupine

import (
	"cmp"
	"slices"

	"clew/models"
)

// part is the history of one partition, by row.
type part struct {
	columns models.Columns
	calls   []call
}

// call is the input of an operation, and what it returned.
type call struct{ input, output any }

// newPart returns nil unless every operation is one call and then one return.
func newPart(events []Event) *part {
	n := len(events) / 2
	p := &part{calls: make([]call, 0, n)}
	block := make([]int32, 4*n)
	p.columns = models.Columns{Events: int32(len(events)), Kind: make([]models.Kind, 0, n),
		Inv: block[0:0:n], Res: block[n : n : 2*n], A: block[2*n : 2*n : 3*n], B: block[3*n : 3*n : 4*n]}
	rows := newPlaces(events)
	for at, e := range events {
		row, called := rows.get(e.Id)
		switch {
		case e.Kind == CallEvent && !called:
			rows.set(e.Id, int32(len(p.calls)))
			p.calls = append(p.calls, call{input: e.Value})
			p.columns.Append(int32(at), models.Open, models.Op{})
		case e.Kind == ReturnEvent && called && p.columns.Res[row] == models.Open:
			p.calls[row].output = e.Value
			p.columns.Res[row] = int32(at)
		default:
			return nil
		}
	}
	if slices.Contains(p.columns.Res, models.Open) {
		return nil
	}
	return p
}

// places are rows by Id. The Ids of most histories are near each other.
type places struct {
	least int
	few   []int32 // by Id from the least one on, plus 1; 0 is none
	many  map[int]int32
}

func newPlaces(events []Event) *places {
	p := &places{}
	if len(events) == 0 {
		return p
	}
	least, most := events[0].Id, events[0].Id
	for _, e := range events {
		least, most = min(least, e.Id), max(most, e.Id)
	}
	p.least = least
	if span := uint(most) - uint(least); span < 16*uint(len(events)) {
		p.few = make([]int32, span+1)
	} else {
		p.many = make(map[int]int32, len(events)/2)
	}
	return p
}

func (p *places) get(id int) (row int32, known bool) {
	if p.many == nil {
		row = p.few[id-p.least] - 1
		return row, row >= 0
	}
	row, known = p.many[id]
	return row, known
}

func (p *places) set(id int, row int32) {
	if p.many == nil {
		p.few[id-p.least] = row + 1
		return
	}
	p.many[id] = row
}

// eventsOf returns the events of operations with times. Calls come before
// returns at the same time: operations whose times touch are concurrent.
func eventsOf(ops []Operation) []Event {
	type end struct {
		time int64
		rank int // 0: a call, 1: a return
		op   int
	}
	ends := make([]end, 0, 2*len(ops))
	for i, o := range ops {
		ends = append(ends, end{o.Call, 0, i}, end{o.Return, 1, i})
	}
	slices.SortFunc(ends, func(a, b end) int {
		return cmp.Or(cmp.Compare(a.time, b.time), a.rank-b.rank)
	})
	events := make([]Event, len(ends))
	for i, e := range ends {
		events[i] = Event{Kind: CallEvent, Id: e.op, Value: ops[e.op].Input}
		if e.rank == 1 {
			events[i].Kind, events[i].Value = ReturnEvent, ops[e.op].Output
		}
	}
	return events
}

// opened returns the columns with operations that never return, which may happen
// or not. It does this to every operation that returns after all that matters.
// Such an operation is possible in every state. It returns after the calls of all
// operations and the returns of all others, so a linearization without it can go
// on with it at the end. The model must have been explored.
//
// The rows are those of the part that are left: an operation that changes nothing need not happen.
func (p *part) opened(m *numbered) (models.Columns, []models.Row) {
	calls := p.columns.Inv
	matters := calls[len(calls)-1]
	for i, res := range p.columns.Res {
		if !m.total[p.columns.A[i]] {
			matters = max(matters, res)
		}
	}
	c, rows := models.Columns{Events: p.columns.Events}, []models.Row(nil)
	for i, res := range p.columns.Res {
		op := p.columns.Op(int32(i))
		if res > matters && m.total[op.A] {
			if !m.Mutates(op) {
				continue
			}
			res = models.Open
		}
		c.Append(p.columns.Inv[i], res, op)
		rows = append(rows, models.Row(i))
	}
	return c, rows
}

// closed returns an order of rows of opened as one of the part. If it is a linearization, the
// operations that it leaves out follow it: they are possible in every state.
func (p *part) closed(r CheckResult, order, rows []models.Row) []models.Row {
	all, in := make([]models.Row, 0, len(p.calls)), make([]bool, len(p.calls))
	for _, row := range order {
		all = append(all, rows[row])
		in[rows[row]] = true
	}
	for row := range p.calls {
		if r == Ok && !in[row] {
			all = append(all, models.Row(row))
		}
	}
	return all
}

// calls returns the Ids of the operations of events, in the order of their calls.
func calls(events []Event) (ids []int) {
	for _, e := range events {
		if e.Kind == CallEvent {
			ids = append(ids, e.Id)
		}
	}
	return ids
}
