package forget

import (
	"slices"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// Ages remembers which values were written, and what each client has seen of them, so as to tell how old a value is.
// The zero Ages remembers nothing yet.
type Ages struct {
	Written Written
	Clients map[uint64]*client // by the hash of the process and the key

	writers writers
	noted   []*client    // by process of the part that is being noted
	rows    []models.Row // that it notes
	at      []models.Row
}

// client is what is known of it. Places are numbers of events, counted from the first.
type client struct {
	Wrote, Saw newest            // the newest of its own writes, and of those of which it has seen the value
	Number     int               // of all that it has seen
	Sights     [mostSights]sight // the last of them, a ring

	name uint64 // that of the process
}

// newest is a write, by the place where it began, and that where the client's operation returned that wrote or saw it.
type newest struct{ Began, Ended int64 }

// take takes another write if it is newer.
func (n *newest) take(began, ended int64) {
	if began > n.Began {
		*n = newest{began, ended}
	}
}

// before says whether the client knew, before a place, of a write that began after another one had ended.
func (n *newest) before(place, old int64) bool { return n.Began > old && n.Ended < place }

// sight is a value that a client has seen.
type sight struct {
	Value uint64
	Ended int64 // when the operation returned that saw it
}

// mostClients bounds the clients that are remembered, mostSights what each has seen.
const (
	mostClients = 1 << 16
	mostSights  = 8
)

// Clock says when the events of a history came.
type Clock struct {
	Place func(jepsen.Event) int64                  // its number among all events, counted from the first
	Time  func(jepsen.Event) (ns int64, known bool) // its :time
}

// time returns the :time of an event, or NoTime.
func (c Clock) time(e jepsen.Event) int64 {
	if ns, known := c.Time(e); known {
		return ns
	}
	return NoTime
}

// Age says how old the value is that an operation saw.
type Age struct {
	Behind  int    // how many newer values had been written when the operation began, or -1 if that is not known
	For     int64  // how long before that the first of them had certainly been written, in nanoseconds of :time, or -1
	Session string // MonotonicReads, MonotonicWrites, ReadYourWrites or ""
	Was     bool   // the value was written, or put in
	Certain bool   // Was is certain
}

// The guarantees of sessions.
const (
	MonotonicReads  = "monotonic-reads"
	MonotonicWrites = "monotonic-writes"
	ReadYourWrites  = "read-your-writes"
)

// Note remembers the operations of a part that returned at an event or later, and before another one. The key names the
// part among all others. If that may be spelled otherwise later, varies is true, and nothing is remembered of it.
func (a *Ages) Note(part *models.Operations, key string, varies bool, from, to int32, clock Clock) {
	update := updates(part.Model)
	if update == nil || to <= from {
		return
	}
	if varies {
		a.Written.Lost = true
		return
	}
	h, k, initial := part.History, KeyOf(key), initialOf(part.Model)
	a.writers.begin(part, update)
	defer a.writers.end()
	a.noted = append(a.noted[:0], make([]*client, len(h.Processes))...)
	register := part.Model.Traits().IsRegister
	for _, row := range a.returned(part, from, to) {
		op := part.Of[row]
		value, writes := update(part.Op(row))
		invoked, returned := clock.Place(h.Invocation[op]), clock.Place(h.Completion[op])
		process := h.Process[h.Invocation[op]]
		c := a.noted[process]
		if c == nil {
			c = a.client(h, op, k)
			a.noted[process] = c
		}
		if sees(register, part.Kind[row]) {
			saw := part.A[row]
			v := ValueOf(k, h.Values, edn.ID(saw))
			began, known := int64(0), false
			if of := a.Written.of(v.Hash); of != nil {
				began, known = of.Began, !of.Again
			} else if saw != initial {
				x := Write{Began: -1, Ended: returned, At: clock.time(h.Completion[op])}
				if of, found := a.writers.of(saw); found {
					x.Began, x.By = clock.Place(h.Invocation[part.Of[of]]), nameOf(h, part.Of[of]).Hash
				}
				a.Written.Note(v, x)
				began, known = x.Began, x.Began >= 0
			}
			c.see(v, returned)
			if known {
				c.Saw.take(began, returned)
			}
		}
		if writes {
			a.Written.Note(ValueOf(k, h.Values, edn.ID(value)), Write{Began: invoked, Ended: returned, At: clock.time(h.Completion[op]), By: c.name,
				Returned: true, Again: value == initial})
			c.Wrote.take(invoked, returned)
		}
	}
}

// returned returns the rows of a part that returned at an event or later, and before another one, in that order. They are
// valid until the next call.
func (a *Ages) returned(part *models.Operations, from, to int32) []models.Row {
	rows := a.rows[:0]
	defer func() { a.rows = rows }()
	if int(to-from) > 8*part.Len() {
		for row, res := range part.Res {
			if from <= res && res < to {
				rows = append(rows, models.Row(row))
			}
		}
		slices.SortFunc(rows, func(a, b models.Row) int { return int(part.Res[a] - part.Res[b]) })
		return rows
	}
	a.at = slices.Grow(a.at[:0], int(to-from))
	at := a.at[:to-from] // by event, plus 1
	clear(at)
	for row, res := range part.Res {
		if from <= res && res < to {
			at[res-from] = models.Row(row) + 1
		}
	}
	for _, row := range at {
		if row > 0 {
			rows = append(rows, row-1)
		}
	}
	return rows
}

// writers finds what wrote the values of a part, one part after another.
type writers struct {
	part   *models.Operations
	update func(models.Op) (int32, bool)
	filled bool
	number int64   // of parts so far
	by     []int64 // by value: the number of the last part in which it was looked for, and below it the last row that writes it
}

// begin begins with a part, end ends it.
func (w *writers) begin(part *models.Operations, update func(models.Op) (int32, bool)) {
	w.part, w.update, w.filled = part, update, false
}

func (w *writers) end() { w.part, w.update = nil, nil }

// of returns the last operation that writes a value. The first call takes linear time.
func (w *writers) of(value int32) (row models.Row, found bool) {
	if !w.filled {
		w.fill()
	}
	if int(value) >= len(w.by) {
		return 0, false
	}
	by := w.by[value]
	return models.Row(by), by>>32 == w.number
}

// fill notes for all values the last operation that writes them.
func (w *writers) fill() {
	w.filled = true
	w.number++
	for row := range w.part.Len() {
		if value, writes := w.update(w.part.Op(models.Row(row))); writes {
			if int(value) >= len(w.by) {
				w.by = slices.Grow(w.by, int(value)+1-len(w.by))[:value+1]
			}
			w.by[value] = w.number<<32 | int64(row)
		}
	}
}

// initialOf returns the value that a register holds from the beginning, or -1.
func initialOf(m models.Model) int32 {
	if shape, ok := models.ShapeOf[models.RegisterShape](m); ok {
		return shape.Init
	}
	return -1
}

// client returns what is known of the client that called an operation.
func (a *Ages) client(h *jepsen.History, op jepsen.Operation, k Key) *client {
	own := ValueOf(k, h.Values, h.Processes[h.Process[h.Invocation[op]]]).Hash // its name and the key
	c := a.Clients[own]
	if c == nil {
		if a.Clients == nil || len(a.Clients) == mostClients {
			a.Clients = map[uint64]*client{}
			clear(a.noted)
		}
		c = &client{Wrote: newest{Began: -1}, Saw: newest{Began: -1}}
		a.Clients[own] = c
	}
	c.name = nameOf(h, op).Hash
	return c
}

// nameOf returns what stands for the process that called an operation.
func nameOf(h *jepsen.History, op jepsen.Operation) Value {
	return ValueOf(0, h.Values, h.Processes[h.Process[h.Invocation[op]]])
}

// see notes that the client has seen a value.
func (c *client) see(v Value, ended int64) {
	c.Sights[c.Number%mostSights] = sight{v.Hash, ended}
	c.Number++
}

// Of returns the age of the value that an operation saw. It returns false if the operation saw none, or if ages of the
// model are not known.
func (a *Ages) Of(part *models.Operations, key string, varies bool, row models.Row, clock Clock) (age Age, saw bool) {
	op, register := part.Op(row), part.Model.Traits().IsRegister
	if updates(part.Model) == nil || !sees(register, op.Kind) {
		return Age{}, false
	}
	h, k := part.History, KeyOf(key)
	v := ValueOf(k, h.Values, edn.ID(op.A))
	if age.Behind, age.For = -1, -1; varies {
		return age, true
	}
	age.Was, age.Certain = a.Written.Was(v)
	if !register {
		return age, true
	}
	invoke := h.Invocation[part.Of[row]]
	began := clock.Place(invoke)
	initial := initialOf(part.Model) == op.A
	if behind, since, known := a.Written.Behind(v, began, initial); known {
		age.Behind = behind
		if now := clock.time(invoke); since != NoTime && now != NoTime && since <= now {
			age.For = max(-1, now-since) // which may be more than fits
		}
	}
	old := a.Written.of(v.Hash)
	if initial && old == nil {
		old = &write{Began: -1, Ended: -1, Open: true}
	}
	if old != nil && !old.Again {
		age.Session = a.session(a.client(h, part.Of[row], k), old, began)
	}
	return age, true
}

// # Sessions
//
// A client saw the value of a write, and everything that it had seen or written before that had returned earlier. A write
// is certainly newer if it began after the other one had ended.
//
//   - The client had written a newer value: its reads do not show its own writes (read-your-writes).
//   - The client had seen a later write of the client that wrote this value, and had not seen this value before that. So it
//     observed two writes of one client in the wrong order (monotonic-writes). Each client does one thing after the other, so
//     no order in time between clients is needed to show this. It also breaks monotonic-reads.
//   - The client had seen a newer value: its second look shows an older state (monotonic-reads).
//
// For the second it must be known what the client had seen since the value was written: that is certain as long as all of it
// is in the ring. A crashed write may happen after what its client does next, so it does not count as the earlier one.
//
// session returns the first of these that is broken by an operation that a client began at a place, or "".
func (a *Ages) session(c *client, old *write, began int64) string {
	if c.Wrote.before(began, old.Ended) {
		return ReadYourWrites
	}
	first := max(0, c.Number-mostSights)
	complete := first == 0 || c.Sights[first%mostSights].Ended < old.Began // all that matters is in the ring
	for n := first; n < c.Number && complete && !old.Open && old.By != c.name; n++ {
		x := c.Sights[n%mostSights]
		if x.Value == old.Value {
			break
		}
		if later := a.Written.of(x.Value); later != nil && !later.Again && later.By == old.By && later.Began > old.Began && x.Ended < began {
			return MonotonicWrites
		}
	}
	if c.Saw.before(began, old.Ended) {
		return MonotonicReads
	}
	return ""
}

// sees says whether operations of a kind see their value A, of a register or of a container.
func sees(register bool, kind models.Kind) bool {
	if register {
		return kind == models.Read || kind == models.CAS
	}
	return kind == models.Dequeue || kind == models.Peek
}

// updates returns a function that returns the value that an operation writes or puts in, if it does. It returns nil for
// a model of which no operations are forgotten.
func updates(m models.Model) func(op models.Op) (value int32, ok bool) {
	of := m.Traits().Shape
	if of == nil {
		return nil
	}
	switch of().(type) {
	case models.RegisterShape:
		return func(op models.Op) (int32, bool) {
			if op.Kind == models.CAS {
				return op.B, op.A != op.B
			}
			return op.A, op.Kind == models.Write
		}
	case models.FIFOShape, models.BagShape, models.PriorityShape:
		return func(op models.Op) (int32, bool) { return op.A, op.Kind == models.Enqueue }
	}
	return nil
}
