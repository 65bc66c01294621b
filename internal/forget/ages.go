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
	written Written
	clients map[clientKey]*client
}

// clientKey is a client of an object.
type clientKey struct {
	process Value
	key     Key
}

// client is what is known of it: when the newest write began of which it has seen or written the value, and when it had.
// Times are numbers of events, counted from the first.
type client struct {
	began, saw int64
	wrote      bool // it is its own
}

// mostClients bounds the clients that are remembered.
const mostClients = 1 << 16

// Age says how old the value is that an operation saw.
type Age struct {
	Behind  int    // how many newer values had been written when the operation began, or -1 if that is not known
	Session string // MonotonicReads, ReadYourWrites or ""
	Was     bool   // the value was written, or put in
	Certain bool   // Was is certain
}

// The guarantees of sessions.
const (
	MonotonicReads = "monotonic-reads"
	ReadYourWrites = "read-your-writes"
)

// Note remembers the operations of a part that returned at an event or later, and before another one. The key names the
// part among all others, and when returns the time of an event.
func (a *Ages) Note(part *models.Operations, key string, from, to int32, when func(jepsen.Event) int64) {
	update := updates(part.Model)
	if update == nil || to <= from {
		return
	}
	h, k := part.History, KeyOf(key)
	clients := make([]*client, len(h.Processes))
	for _, row := range returned(part, from, to) {
		op := part.Of[row]
		value, writes := update(part.Op(row))
		if !writes {
			value = part.A[row]
		}
		began, ended, known := when(h.Invocation[op]), when(h.Completion[op]), true
		if v := ValueOf(k, h.Values, edn.ID(value)); writes {
			a.written.Note(began, ended, v)
		} else if began, _, known = a.written.When(v); !known {
			a.written.Saw(ended, v)
		}
		c := &clients[h.Process[h.Invocation[op]]]
		if *c == nil {
			*c = a.client(h, op, k)
		}
		if known && began > (*c).began {
			**c = client{began, ended, writes}
		}
	}
}

// returned returns the rows of a part that returned at an event or later, and before another one, in that order.
func returned(part *models.Operations, from, to int32) (rows []models.Row) {
	if int(to-from) > 8*part.Len() {
		for row, res := range part.Res {
			if from <= res && res < to {
				rows = append(rows, models.Row(row))
			}
		}
		slices.SortFunc(rows, func(a, b models.Row) int { return int(part.Res[a] - part.Res[b]) })
		return rows
	}
	at := make([]models.Row, to-from) // by event, plus 1
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

// client returns what is known of the client that called an operation.
func (a *Ages) client(h *jepsen.History, op jepsen.Operation, k Key) *client {
	name := clientKey{ValueOf(0, h.Values, h.Processes[h.Process[h.Invocation[op]]]), k}
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

// Of returns the age of the value that an operation saw. It returns false if the operation saw none, or if ages of the
// model are not known.
func (a *Ages) Of(part *models.Operations, key string, row models.Row, when func(jepsen.Event) int64) (age Age, sees bool) {
	op, register := part.Op(row), part.Model.Traits().IsRegister
	if updates(part.Model) == nil || register && op.Kind == models.Write || !register && op.Kind != models.Dequeue && op.Kind != models.Peek {
		return Age{}, false
	}
	h, k := part.History, KeyOf(key)
	v := ValueOf(k, h.Values, edn.ID(op.A))
	age.Behind = -1
	age.Was, age.Certain = a.written.Was(v)
	if !register {
		return age, true
	}
	began := when(h.Invocation[part.Of[row]])
	if behind, known := a.written.Behind(v, began); known {
		age.Behind = behind
	}
	if _, ended, known := a.written.When(v); known {
		if c := a.client(h, part.Of[row], k); c.began > ended && c.saw < began {
			if age.Session = MonotonicReads; c.wrote {
				age.Session = ReadYourWrites
			}
		}
	}
	return age, true
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
