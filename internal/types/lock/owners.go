package lock

import (
	"fmt"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// owners numbers the holders of locks: the :client that an ok value names, or else the
// process (or the process modulo the parameter threads). An operation whose value does not
// name a client belongs to the client that its process named last before it. If there is
// none, it belongs to the client that the process names next.
type owners struct {
	lock
	threads int64

	numbers map[owner]int32
	list    []owner
	rows    []claim // by row of the columns
}

// owner is a client, or a process.
type owner struct {
	client bool
	id     edn.ID
}

// claim names the owner of an operation by numbers of owners. client is -1 if the
// operation's value does not name one.
type claim struct{ process, client int32 }

func newOwners(b *models.Binding, traits models.Traits) owners {
	w := owners{lock: newLock(b, traits), threads: int64(b.Spec.Threads), numbers: map[owner]int32{}}
	w.Offered.Hard = func() models.Hard {
		return models.Hard{Change: []string{"let an owner have one operation open at a time, and go on as another owner after a crash", moreLocks}}
	}
	return w
}

func (w *owners) number(o owner) int32 {
	n, ok := w.numbers[o]
	if !ok {
		n = int32(len(w.list))
		w.numbers[o] = n
		w.list = append(w.list, o)
	}
	return n
}

// callerOf returns the process that called an operation, or its thread if there are some.
func callerOf(o models.Operation, threads int64) edn.ID {
	process := o.ProcessID
	if n, ok := o.Values.Int(process); ok && threads > 0 {
		process = o.Values.InternInt(((n % threads) + threads) % threads)
	}
	return o.Values.Same(process)
}

// namesClient says whether a value names a client.
func namesClient(v *edn.Values, value edn.ID) bool {
	if v.Kind(value) != edn.KindMap {
		return false
	}
	client, found := v.Get(value, v.InternKeyword(lockFields[lockClient]))
	return found && client != edn.Nil
}

// enter notes the owner of an operation, which becomes a row of the columns.
func (w *owners) enter(o models.Operation) error {
	c := claim{w.number(owner{false, callerOf(o, w.threads)}), -1}
	if o.Status == jepsen.Succeeded && w.V.Kind(o.ValueID) == edn.KindMap {
		if client, found := w.V.Get(o.ValueID, w.values.fields[lockClient]); found && client != edn.Nil {
			c.client = w.number(owner{true, w.V.Same(client)})
		} else if err := w.values.misnamed(o.ValueID, lockClient); err != nil {
			return err
		}
	}
	w.rows = append(w.rows, c)
	return nil
}

// finish puts the owners into A.
func (w *owners) finish(c *models.Columns) (int32, error) {
	named := make([]int32, len(w.list)) // by process: the client it named last, plus 1
	for i, x := range w.rows {
		if x.client >= 0 {
			named[x.process] = x.client + 1
		}
		c.A[i] = named[x.process] - 1
	}
	clear(named)
	for i := len(w.rows) - 1; i >= 0; i-- {
		x := w.rows[i]
		if x.client >= 0 {
			named[x.process] = x.client + 1
		}
		if c.A[i] >= 0 {
			continue
		}
		if c.A[i] = named[x.process] - 1; c.A[i] < 0 {
			c.A[i] = x.process
		}
	}
	return 0, nil
}

// id returns an owner as it prints in a record.
func (w *owners) id(n int32) edn.ID { return w.list[n].id }

func (w *owners) text(n int32) string {
	if w.list[n].client {
		return "client " + w.V.Text(w.list[n].id)
	}
	if w.threads > 0 {
		return "thread " + w.V.Text(w.list[n].id)
	}
	return "process " + w.V.Text(w.list[n].id)
}

// warnOfOwners warns of what warnOfRefused does, or else of operations that name a client only when they are called.
func warnOfOwners(s models.Spec, h *jepsen.History) string {
	if warning := warnOfRefused(s, h); warning != "" {
		return warning
	}
	names := func(value edn.ID) bool { return namesClient(h.Values, value) }
	count, first := 0, jepsen.Operation(jepsen.None)
	for op, inv := range h.Invocation {
		switch res := h.Completion[op]; {
		case h.Value[inv] == edn.Nil || h.Status[op] == jepsen.Failed || !names(h.Value[inv]):
		case h.Status[op] == jepsen.Crashed || !names(h.Value[res]):
			if count++; count == 1 {
				first = jepsen.Operation(op)
			}
		}
	}
	if count == 0 {
		return ""
	}
	warning := fmt.Sprintf("%s names a :client only when it is called, which does not count: the :client of an :ok does", h.Name(first))
	if count > 1 {
		warning += fmt.Sprintf("; the same holds for %s", text.Count(count-1, "more operation"))
	}
	return warning
}

// ownerDefinition returns the definition of a lock with owners.
func ownerDefinition(name, fs, about, record string, params []models.Param, make func(b *models.Binding) models.Reader) models.Definition {
	return models.Definition{
		LooksAhead: true, // clients may be named later
		Caller: func(s models.Spec, o models.Operation) (string, bool) {
			return o.Values.Text(callerOf(o, int64(s.Threads))), o.Status == jepsen.Succeeded && namesClient(o.Values, o.ValueID)
		},
		Name: name, Fs: fs, About: about,
		Params: append(params, models.ParamThreads),
		NoInit: "it starts free",
		Warn:   warnOfOwners,
		Record: record,
		New:    func(b *models.Binding) (models.Reader, error) { return make(b), nil },
	}
}

// ownerSemaphore hands out permits that only the owner that holds them gives back. A state
// holds the owners that hold permits, and how many each holds, sorted by owner. The kinds
// are Acquire and Release; A is the owner, and B is the number of permits.
type ownerSemaphore struct {
	owners
	permits int32
}

var ownerSemaphoreDefinition = ownerDefinition("owner-semaphore", ":acquire, :release, with :value n or {:permits n} for n permits",
	"permits that only their holder returns", "clew.model.OwnerSemaphore", []models.Param{models.ParamPermits},
	func(b *models.Binding) models.Reader {
		m := &ownerSemaphore{permits: int32(b.Spec.Permits)}
		m.owners = newOwners(b, models.Traits{Finish: m.finish, Shape: func() models.Shape { return models.OwnerLockShape{Permits: m.permits} },
			Anomaly: func(ops *models.Operations, row models.Row) models.Anomaly {
				return holding{permits: int64(m.permits), counts: permitsIn, owner: ownerOf, over: models.Oversold, held: holders}.anomaly(ops, row)
			}})
		m.Initial = nil
		return m
	})

// holders returns how many permits each owner of a semaphore holds in a state.
func holders(s models.State) map[int32]int64 {
	held := map[int32]int64{}
	for i := 0; i < len(s); i += 2 {
		held[s[i]] = int64(s[i+1])
	}
	return held
}

func (m *ownerSemaphore) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if op.Kind, err = m.kind(o); err != nil {
		return op, false, err
	}
	op.B = 1
	if err = m.enter(o); err == nil {
		op.B, err = m.values.permits(o)
	}
	return op, true, err
}

func (m *ownerSemaphore) Step(dst []models.State, s models.State, op models.Op) []models.State {
	held := home.At1(s, op.A, 0)
	switch {
	case op.Kind == models.Release && held >= op.B:
		return append(dst, home.Put1(s, op.A, held-op.B, 0))
	case op.Kind == models.Acquire && int64(op.B) <= m.free(s):
		return append(dst, home.Set1(s, op.A, held+op.B))
	}
	return dst
}

// free returns how many permits are free.
func (m *ownerSemaphore) free(s models.State) int64 {
	n := int64(m.permits)
	for i := 0; i < len(s); i += 2 {
		n -= int64(s[i+1])
	}
	return n
}

func (m *ownerSemaphore) Why(s models.State, op models.Op) string {
	holds := home.At1(s, op.A, 0)
	switch {
	case op.Kind == models.Acquire:
		return free(m.free(s), m.permits)
	case holds == 0:
		return "not held by " + m.text(op.A)
	}
	return held(holds) + " by " + m.text(op.A)
}

func (m *ownerSemaphore) Record(s models.State) edn.Value {
	var kvs []edn.ID
	for i := 0; i < len(s); i += 2 {
		kvs = append(kvs, m.id(s[i]), m.V.InternInt(int64(s[i+1])))
	}
	return m.Print("permits held", m.V.InternInt(int64(m.permits)), m.V.InternMap(kvs))
}
