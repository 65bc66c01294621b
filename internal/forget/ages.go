package forget

import (
	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// Ages remembers which values were written, and what each client has seen of them, so as to tell how old a value is.
// The zero Ages remembers nothing yet.
type Ages struct {
	written Written
	clients map[clientKey]*client
}

// clientKey is a client of an object.
type clientKey struct {
	process Value
	key     Key
}

// client is what is known of it: when the newest write began of which it has seen or written the value, and when it had.
// Places are numbers of events, counted from the first.
type client struct {
	began, saw int64
	wrote      bool              // it is its own
	sights     [mostSights]sight // the last values that it has seen, a ring
	number     int               // of all that it has seen
}

// sight is a value that a client has seen.
type sight struct {
	value uint64
	ended int64 // when the operation returned that saw it
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
// part among all others.
func (a *Ages) Note(part *models.Operations, key string, from, to int32, clock Clock) {
	update := updates(part.Model)
	if update == nil || to <= from {
		return
	}
	rows := make([]models.Row, to-from) // by event, plus 1
	for row, res := range part.Res {
		if from <= res && res < to {
			rows[res-from] = models.Row(row) + 1
		}
	}
	h, k := part.History, KeyOf(key)
	clients := make([]*client, len(h.Processes))
	for _, row := range rows {
		if row--; row < 0 {
			continue
		}
		op := part.Of[row]
		value, writes := update(part.Op(row))
		if !writes {
			value = part.A[row]
		}
		began, ended, known := clock.Place(h.Invocation[op]), clock.Place(h.Completion[op]), true
		c := &clients[h.Process[h.Invocation[op]]]
		if *c == nil {
			*c = a.client(h, op, k)
		}
		v := ValueOf(k, h.Values, edn.ID(value))
		switch {
		case writes:
			a.written.Note(began, ended, clock.time(h.Completion[op]), v, nameOf(h, op).hash)
			if part.Kind[row] == models.CAS {
				(*c).see(ValueOf(k, h.Values, edn.ID(part.A[row])), ended)
			}
		default:
			if began, _, known = a.written.When(v); !known {
				a.written.Saw(ended, clock.time(h.Completion[op]), v)
			}
			(*c).see(v, ended)
		}
		if known && began > (*c).began {
			(*c).began, (*c).saw, (*c).wrote = began, ended, writes
		}
	}
}

// client returns what is known of the client that called an operation.
func (a *Ages) client(h *jepsen.History, op jepsen.Operation, k Key) *client {
	name := clientKey{nameOf(h, op), k}
	c := a.clients[name]
	if c == nil {
		if a.clients == nil || len(a.clients) == mostClients {
			a.clients = map[clientKey]*client{}
		}
		c = &client{began: -1}
		a.clients[name] = c
	}
	return c
}

// nameOf returns what stands for the process that called an operation.
func nameOf(h *jepsen.History, op jepsen.Operation) Value {
	return ValueOf(0, h.Values, h.Processes[h.Process[h.Invocation[op]]])
}

// see notes that the client has seen a value.
func (c *client) see(v Value, ended int64) {
	c.sights[c.number%mostSights] = sight{v.hash, ended}
	c.number++
}

// Of returns the age of the value that an operation saw. It returns false if the operation saw none, or if ages of the
// model are not known.
func (a *Ages) Of(part *models.Operations, key string, row models.Row, clock Clock) (age Age, sees bool) {
	op, register := part.Op(row), part.Model.Traits().IsRegister
	if updates(part.Model) == nil || register && op.Kind == models.Write || !register && op.Kind != models.Dequeue && op.Kind != models.Peek {
		return Age{}, false
	}
	h, k := part.History, KeyOf(key)
	v := ValueOf(k, h.Values, edn.ID(op.A))
	age.Behind, age.For = -1, -1
	age.Was, age.Certain = a.written.Was(v)
	if !register {
		return age, true
	}
	invoke := h.Invocation[part.Of[row]]
	began := clock.Place(invoke)
	if behind, since, known := a.written.Behind(v, began); known {
		age.Behind = behind
		if now := clock.time(invoke); since != NoTime && now != NoTime && since <= now {
			age.For = now - since
		}
	}
	if old, known := a.written.once(v.hash); known {
		age.Session = a.session(a.client(h, part.Of[row], k), nameOf(h, part.Of[row]).hash, old, began)
	}
	return age, true
}

// # Sessions
//
// A client saw the value of the write old, and everything that it has seen or written before returned earlier. A write that
// began after old had ended is certainly newer.
//
//   - The client had written a newer value: its reads do not show its own writes (read-your-writes).
//   - The client had seen a newer value: its second look shows an older state (monotonic-reads).
//   - The client had seen a later write of the client that wrote old, and had not seen old before that. So it has observed
//     two writes of one client in the wrong order (monotonic-writes). Each client does one thing after the other, so no order
//     in time between clients is needed to show this. It also breaks monotonic-reads.
//
// The last needs to know all that the client has seen since old began: that is certain as long as it is in the ring. Of a
// crashed write it is not known when it happened, so it does not count as either of the two.
//
// session returns which of these is broken, or "". The name is that of the client.
func (a *Ages) session(c *client, name uint64, old write, began int64) string {
	newer := c.began > old.ended && c.saw < began
	if newer && c.wrote {
		return ReadYourWrites
	}
	first := max(0, c.number-mostSights)
	complete := first == 0 || c.sights[first%mostSights].ended < old.began // all that matters is in the ring
	for n := first; n < c.number; n++ {
		x := c.sights[n%mostSights]
		later, known := a.written.once(x.value)
		if x.value == old.value {
			complete = false
		}
		switch {
		case !known || later.open || x.ended >= began:
			continue
		case later.by == name && later.began > old.ended:
			return ReadYourWrites
		case complete && !old.open && later.by == old.by && later.by != name && later.began > old.began:
			return MonotonicWrites
		}
		newer = newer || later.began > old.ended
	}
	if newer {
		return MonotonicReads
	}
	return ""
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
	case models.FIFOShape, models.BagShape:
		return func(op models.Op) (int32, bool) { return op.A, op.Kind == models.Enqueue }
	}
	return nil
}
