package clew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strconv"
	"time"

	"clew/edn"
	"clew/fastpath"
	"clew/internal/families"
	"clew/internal/forget"
	"clew/internal/live"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
	"clew/report"
)

// Anomaly is a completion with which the history so far, less the anomalies before it, is not linearizable.
//
// The operation is left out from then on if it changes nothing, such as a read. Otherwise only its answer is forgotten:
// it counts as crashed. So the first anomaly is the first failing completion that Check finds.
type Anomaly struct {
	Operation   jepsen.Op
	Key         string         // the independent key, or the key of a map, as EDN; "" without keys
	Kind        models.Anomaly // "" if the operations do not show it for certain
	Explanation string
	// Behind is how many newer values had been written when the operation began that saw an old one; -1 if that is not
	// known or does not apply.
	Behind int
	// Session is the guarantee of sessions that is broken: the client's own operations show that it saw an old value,
	// whatever happened at the same time. It is "" if only the order in time shows that, or if it is not known.
	Session Session
	// Result shows the first anomaly of each kind in full; nil for others. Its history has what the monitor held then.
	Result *report.Result
}

// Session is a guarantee about the operations of one client.
type Session string

// The guarantees that an old value may break (Terry and others, "Session guarantees for weakly consistent replicated
// data", 1994).
const (
	MonotonicReads Session = forget.MonotonicReads // the client had seen a newer value
	ReadYourWrites Session = forget.ReadYourWrites // the client had written a newer value
)

// Monitor finds all anomalies of a history in one pass, while it comes. For the models that docs/monitor.md names it holds
// about as many operations as are open, and those that crashed; for others it holds the history.
//
// An answer is judged once it is known how all operations that were invoked before it end. An operation that does not
// end for Stuck counts as crashed. A Monitor is for one goroutine at a time.
type Monitor struct {
	// Found is called with each anomaly, in order. If it returns an error, the pass ends with that.
	Found func(Anomaly) error
	// Looked, unless nil, is called after each look at what has come, and a few times a second while nothing comes. If it
	// returns an error, the pass ends with that.
	Looked func() error
	// Stuck is how long an operation may be open, by the :time of events in nanoseconds, before it counts as crashed.
	// StuckEvents is the same as a number of later events. 0 means forever. What such an operation returns later does not
	// count.
	Stuck       time.Duration
	StuckEvents int

	ctx   context.Context
	spec  models.Spec
	ahead bool // a later operation may change how an operation is read
	o     Options
	d     *decider

	b       *jepsen.Builder
	decided jepsen.Event // the history up to just before this event has been decided
	forgot  bool         // some operations were forgotten
	failed  bool         // a look has failed
	totals  MonitorTotals

	// When to look.
	events  int // that have come since the last look
	step    int // how many events may come before the next look
	longest int // the longest step, unless more is held
	share   int // looks come after at least one part in so many of what is held
	values  int // how many values may be held before those that are not needed are forgotten
	looked  time.Time
	took    time.Duration // of the last look

	// Operations that are held, and what is known of others.
	stuck   []jepsen.Operation             // open, but they count as crashed; in ascending order
	settled []jepsen.Operation             // they count as having happened, and are not judged anymore; in ascending order
	pin     jepsen.Maybe[jepsen.Operation] // settles how others are read
	open    bool                           // the meaning of some operation depends on what comes
	holds   bool                           // nothing may be forgotten
	states  map[string]*forget.State       // by part: where it goes on
	told    map[string]bool                // by key: answers are told
	came    []int64                        // by event: how many events of clients there were with it
	clock   int64                          // how many there are now
	ages    forget.Ages
	seen    map[models.Anomaly]bool // kinds that were shown in full
}

// MonitorTotals are what a Monitor has found so far.
type MonitorTotals struct {
	Operations int // that have ended, and have been decided
	Anomalies  int
	Kinds      map[models.Anomaly]int // "" for those of no certain kind
	Sessions   map[Session]int
	Init       string // the initial value, if that is taken from the first reads
	Stuck      int    // operations that counted as crashed because they did not end
	Held       int    // operations that are held now
	MostHeld   int    // and at most
}

// A monitor looks at twice as many events as before if it found nothing, up to longestStretch, and at shortestStretch after
// an anomaly. If much is held, it looks once that has grown by 1/heldShare.
const (
	shortestStretch = 256
	longestStretch  = 16384
	heldShare       = 4
	mostValues      = 1 << 16 // that are held before those that are not needed are forgotten
)

// heartbeat is how often Looked is called while nothing comes.
const heartbeat = 200 * time.Millisecond

// NewMonitor returns a monitor of a model. The context ends its work.
func NewMonitor(ctx context.Context, spec models.Spec, o Options) (*Monitor, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if spec.Name == "" {
		return nil, errors.New("a monitor needs a model: later events might change what is inferred")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	d, err := spec.Definition()
	if err != nil {
		return nil, err
	}
	return &Monitor{
		ctx: ctx, ahead: d.LooksAhead, spec: spec, o: o, d: newDecider(spec, o),
		step: shortestStretch, longest: longestStretch, share: heldShare, values: mostValues,
		seen: map[models.Anomaly]bool{}, states: map[string]*forget.State{}, told: map[string]bool{},
		totals: MonitorTotals{Kinds: map[models.Anomaly]int{}, Sessions: map[Session]int{}},
	}, nil
}

// Totals returns what has been found so far.
func (m *Monitor) Totals() MonitorTotals {
	t := m.totals
	t.Kinds, t.Sessions = maps.Clone(t.Kinds), maps.Clone(t.Sessions)
	return t
}

// Read reads a history to its end, in any form that package forms knows, and judges it. If it cannot be read further, or
// the context ends, what has come by then is judged, too. When the context ends, Read does not wait for r.
func (m *Monitor) Read(r io.Reader, name string, reading jepsen.Options) error {
	pause := func() (time.Duration, bool) { // looks take a small part of the time
		if m.events == 0 {
			return heartbeat, m.Looked != nil
		}
		return lookShare*m.took - time.Since(m.looked), m.b != nil
	}
	text := live.NewReader(m.ctx, r, pause, func() error { return m.look(false) })
	defer text.Close()
	err := forms.Pass(m.ctx, text, name, reading, m.each)
	if err != nil && m.b != nil && !m.failed {
		if late := m.look(true); late != nil && !errors.Is(late, context.Cause(m.ctx)) {
			return late
		}
	}
	return err
}

// Warnings returns the warnings about the text that has been read.
func (m *Monitor) Warnings() []string {
	if m.b == nil {
		return nil
	}
	h, err := m.b.SoFar()
	if err != nil {
		return nil
	}
	return h.Warnings
}

// each takes note of an event, or of the end.
func (m *Monitor) each(b *jepsen.Builder, ended bool) error {
	m.b = b
	if h, err := b.SoFar(); err == nil {
		for len(m.came) < len(h.Type) {
			m.clock++
			m.came = append(m.came, m.clock)
		}
		m.came = m.came[:len(h.Type)] // a completion without an invocation was ignored
	}
	if m.events++; m.events < m.step && !ended {
		return nil
	}
	return m.look(ended)
}

// look decides what has come, as far as it is known how operations end, and forgets what can be forgotten. ended says
// that nothing more comes.
func (m *Monitor) look(ended bool) (err error) {
	defer func() { m.failed = m.failed || err != nil }()
	if m.events == 0 && !ended {
		return m.tell()
	}
	start, found := time.Now(), 0
	m.events = 0
	h, err := m.b.SoFar()
	if err != nil {
		return nil // it is about the text, whose reader returns it
	}
	for known := m.known(h, ended); known > m.decided; known = m.known(h, ended) {
		parts, err := m.parts(h)
		if errors.Is(err, jepsen.ErrNoTuples) && !ended {
			break // there may be some later
		} else if err != nil {
			return err
		}
		if m.holds = m.o.Independent && m.o.Keyless || m.ahead && !m.isSettled(h); m.holds && m.ahead && !ended {
			break // a later operation may change what an earlier one means
		}
		at, failing, err := m.firstFailing(parts, known)
		if err != nil {
			return err
		}
		m.totals.MostHeld = max(m.totals.MostHeld, h.Operations())
		if failing == nil {
			m.note(parts, known)
			m.count(h, known)
			m.forget(h, parts, known)
			break
		}
		if other, err := m.another(h, failing, at, known); err != nil {
			return err
		} else if other != nil {
			m.spec = *other
			continue
		}
		found++
		m.note(parts, at)
		m.count(h, at+1)
		crashed, err := m.found(failing, at)
		if err != nil {
			return err
		}
		m.forget(h, parts, at+1, crashed...)
	}
	m.took, m.looked = time.Since(start), time.Now()
	m.totals.Held = h.Operations()
	m.totals.MostHeld = max(m.totals.MostHeld, m.totals.Held)
	if found > 0 {
		m.step = min(shortestStretch, m.longest)
	} else {
		m.step = max(min(2*m.step, m.longest), len(h.Type)/m.share)
	}
	return m.tell()
}

// tell says that it has looked.
func (m *Monitor) tell() error {
	if m.Looked != nil {
		if err := m.Looked(); err != nil {
			return err
		}
	}
	return context.Cause(m.ctx)
}

// known returns the first event of which it is not known how all operations invoked before it end. What has been open
// for too long by then counts as crashed.
func (m *Monitor) known(h *jepsen.History, ended bool) jepsen.Event {
	end := jepsen.Event(len(h.Type))
	limited := m.Stuck > 0 || m.StuckEvents > 0
	if ended && !limited {
		return end
	}
	time := func(jepsen.Event) (int64, bool) { return 0, false }
	if m.Stuck > 0 {
		time = timeOf(h)
	}
	for e := m.decided; e < end; e++ {
		op := h.OpOf[e]
		if h.Type[e] != jepsen.Invoke || h.Status[op] == jepsen.Crashed && h.Completion[op] != jepsen.None || among(m.stuck, op) {
			continue
		}
		last := h.Completion[op]
		if last == jepsen.None {
			last = end - 1
		}
		switch late := limited && m.isLate(h, e, last, time); {
		case late && h.Completion[op] == jepsen.None:
			at, _ := slices.BinarySearch(m.stuck, op)
			m.stuck = slices.Insert(m.stuck, at, op)
			m.totals.Stuck++
		case late:
			m.b.Crash(op)
			m.totals.Stuck++
		case h.Completion[op] == jepsen.None && !ended:
			return e
		}
	}
	return end
}

// among says whether an operation is one of some in ascending order.
func among(some []jepsen.Operation, op jepsen.Operation) bool {
	_, found := slices.BinarySearch(some, op)
	return found
}

// isLate says whether too much came between the invocation of an operation and another event.
func (m *Monitor) isLate(h *jepsen.History, invoke, other jepsen.Event, time func(jepsen.Event) (int64, bool)) bool {
	if m.StuckEvents > 0 {
		came := m.came[other]
		if h.Completion[h.OpOf[invoke]] == jepsen.None {
			came = m.clock + 1 // its completion comes later
		}
		return came-m.came[invoke] > int64(m.StuckEvents)
	}
	from, known := time(invoke)
	to, also := time(other)
	return known && also && to-from > int64(m.Stuck)
}

// timeOf returns a function that returns the :time of an event.
func timeOf(h *jepsen.History) func(jepsen.Event) (int64, bool) {
	time := h.Extra("time")
	return func(e jepsen.Event) (int64, bool) {
		x, found := time(e)
		n, isInt := x.Int()
		return n, found && isInt
	}
}

// isSettled says whether some operation settles how others are read, and none is open. Each key would need one of its own.
func (m *Monitor) isSettled(h *jepsen.History) bool {
	d, err := m.spec.Definition()
	if err != nil || d.Settles == nil || m.o.Independent {
		return false
	}
	_, settled := m.pin.Get()
	for e := m.decided; !m.open && int(e) < len(h.Type); e++ {
		if op := h.OpOf[e]; h.Type[e] != jepsen.Invoke || h.Completion[op] == jepsen.None {
			settles, open := d.Settles(models.OperationOf(h, op))
			m.open, settled = open, settled || settles
		}
	}
	if m.spec.Init != "" && !m.open {
		if init, err := h.Values.ParseLenient([]byte(m.spec.Init)); err == nil {
			_, m.open = d.Settles(models.Operation{Values: h.Values, FID: edn.Nil, ValueID: init, KeyID: edn.Nil, GivenID: init, Status: jepsen.Crashed})
		}
	}
	return settled && !m.open
}

// settle chooses an operation that settles how others are read, among those that were judged before an event.
func (m *Monitor) settle(h *jepsen.History, decided jepsen.Event) {
	d, err := m.spec.Definition()
	if _, pinned := m.pin.Get(); pinned || err != nil || d.Settles == nil {
		return
	}
	for e := range decided {
		if h.Type[e] != jepsen.Invoke {
			if settles, _ := d.Settles(models.OperationOf(h, h.OpOf[e])); settles {
				m.pin = jepsen.Some(h.OpOf[e])
				return
			}
		}
	}
}

// monitored is a history that is judged by itself: the whole, or that of a key.
type monitored struct {
	h     *jepsen.History
	key   string
	parts []*models.Operations
	keys  []string // by part
	exact bool     // a key has one spelling, whatever else equals it, and operations one reading
}

// spelled returns a value as EDN, integers always in the same way.
func spelled(v *edn.Values, value edn.ID) (text string, exact bool) {
	if n, ok := v.Int(value); ok {
		return strconv.FormatInt(n, 10), true
	}
	return v.Text(value), forget.HasOneSpelling(v, value)
}

// event turns an event of the whole into the first one of h at it or later.
func (x *monitored) event(whole jepsen.Event) int32 {
	return int32(sort.Search(len(x.h.Type), func(e int) bool { return x.h.InWhole(jepsen.Event(e)) >= whole }))
}

// nameParts finds the names of the parts of some operations, such as the keys of a map.
func (x *monitored) nameParts(whole *models.Operations) {
	x.keys = make([]string, len(x.parts))
	p := whole.Model.Traits().Partition
	if p == nil {
		return
	}
	rows := whole.Rows()
	for i, part := range x.parts {
		if part.Len() > 0 {
			if key := edn.ID(p.Of(whole.Op(rows[part.Of[0]]))); key >= 0 && int(key) < x.h.Values.Len() {
				var exact bool
				x.keys[i], exact = spelled(x.h.Values, key)
				x.exact = x.exact && exact
			}
		}
	}
}

// resume has the parts go on in the states in which they are.
func (m *Monitor) resume(x *monitored) {
	for i, part := range x.parts {
		state := m.states[x.keyOf(i)]
		if state == nil && len(m.settled) == 0 {
			continue
		}
		rows := make([]models.Row, 0, part.Len())
		for row, op := range part.Of {
			if !among(m.settled, x.h.WholeOperation(op)) {
				rows = append(rows, models.Row(row))
			}
		}
		x.parts[i] = forget.From(part.Select(rows), state)
	}
}

// parts reads the operations that are held.
func (m *Monitor) parts(h *jepsen.History) (all []*monitored, err error) {
	for _, op := range m.stuck { // what ended after it counted as crashed
		if h.Completion[op] != jepsen.None {
			m.b.Crash(op)
		}
	}
	add := func(h *jepsen.History, key string, exact bool) error {
		spec := m.spec
		if m.told[key] {
			spec.Answers = models.AnswersTold
		}
		c, err := read(m.ctx, h, spec, m.o)
		switch {
		case err != nil:
			return err
		case c.ops == nil:
			return context.Cause(m.ctx)
		}
		if b := c.ops.Model.Traits().Beyond; b != nil && (len(c.broken) > 0 || b.Alone(c.ops) != nil) {
			return fmt.Errorf("a monitor does not judge what watches and reads of old states of %s show; clew check does", m.spec.Name)
		}
		switch c.spec.Answers {
		case models.AnswersTold:
			m.told[key] = true // also without the operations that show it
		case models.AnswersEcho:
			exact = exact && m.spec.Answers != "" // a later answer may show that they are told
		}
		x := &monitored{h: h, key: key, parts: c.ops.Parts(), exact: exact}
		x.nameParts(c.ops)
		m.resume(x)
		all = append(all, x)
		return nil
	}
	if !m.o.Independent {
		return all, add(h, "", true)
	}
	split := h.Independent
	if m.o.Keyless {
		split = h.IndependentOrShared
	}
	keyed, err := split()
	if err != nil {
		return nil, err
	}
	for i, own := range keyed.Histories(rowsOf(keyed)) {
		key, exact := spelled(h.Values, keyed.Keys[i])
		if err := add(own.History, key, exact); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// failure is the first failing completion of a part.
type failure struct {
	*monitored
	part *models.Operations
	decision
}

// firstFailing returns the first failing completion before known, and its event in the whole.
func (m *Monitor) firstFailing(all []*monitored, known jepsen.Event) (at jepsen.Event, first *failure, err error) {
	at = known
	for _, x := range all {
		end := x.event(known)
		for _, part := range x.parts {
			d := m.decide(part, end)
			if d.Verdict == jepsen.Unknown {
				return 0, nil, fmt.Errorf("undecided: %s", cmp.Or(d.reason, string(d.Cause)))
			}
			if d.Verdict != jepsen.Invalid || d.FailEvent >= end {
				continue
			}
			if e := x.h.InWhole(jepsen.Event(d.FailEvent)); e < at {
				at, first = e, &failure{x, part, d}
			}
		}
	}
	return at, first, nil
}

// decide decides a part up to just before an event, without a witness if possible.
func (m *Monitor) decide(part *models.Operations, end int32) decision {
	if path, _ := families.Of(part.Model); path != nil && m.d.fast {
		f := path.Decide(m.ctx, &part.Columns, fastpath.WantFailure)
		if f.Verdict == jepsen.Valid || f.Verdict == jepsen.Invalid && f.FailEvent >= 0 {
			d := decision{why: f.Why, core: f.Core}
			d.Verdict, d.FailEvent = f.Verdict, f.FailEvent
			return d
		}
	}
	cut := part.Prefix(end - 1)
	return m.d.part(m.ctx, cut.Operations, m.o.limits()).renumber(cut)
}

// another returns a spec with another initial value, or nil. As in Check, the first reads may show that a history did not
// begin with the default of the model, if the first anomaly comes later then.
func (m *Monitor) another(h *jepsen.History, first *failure, at, known jepsen.Event) (best *models.Spec, err error) {
	if m.spec.Init != "" || m.totals.Anomalies > 0 || m.forgot {
		return nil, nil
	}
	was := m.spec
	defer func() { m.spec = was }()
	for _, spec := range was.Openings(m.ctx, first.h, nil) {
		m.spec = spec
		parts, err := m.parts(h)
		if err != nil {
			continue
		}
		later, failing, err := m.firstFailing(parts, known)
		if err == nil && (failing == nil || later > at) {
			if at, best = later, &spec; failing == nil {
				break
			}
		}
	}
	if best != nil {
		m.totals.Init = best.Init
	}
	return best, nil
}

// found tells of an anomaly. From then on the operation has not happened, or counts as crashed; then it is returned.
func (m *Monitor) found(f *failure, at jepsen.Event) (crashed []jepsen.Operation, err error) {
	h, _ := m.b.SoFar()
	op := h.OpOf[at]
	row := models.Row(slices.Index(f.part.Res, f.FailEvent))
	a := Anomaly{Operation: h.Op(op), Key: cmp.Or(f.key, f.keys[slices.Index(f.parts, f.part)]), Behind: -1}
	if f.why != nil {
		a.Kind, a.Explanation = f.why.Anomaly(f.part.Teller()), f.why.Tell(f.part.Teller())
	} else if of := f.part.Model.Traits().Anomaly; of != nil {
		a.Kind = of(f.part, row)
	}
	old := m.isOld(f, row, &a)
	if !old && m.states[f.keyOf(slices.Index(f.parts, f.part))] == nil && (a.Explanation == "" || !m.seen[a.Kind]) {
		o := m.o
		o.Independent = false
		r, err := Check(m.ctx, f.h, m.spec, o)
		if err != nil {
			return nil, err
		}
		if r.Verdict == jepsen.Invalid && r.FailEvent.OrNone() == jepsen.Event(f.FailEvent) {
			a.Result, a.Kind, a.Explanation = r, r.Kind, r.Explanation
		}
	}
	if a.Explanation == "" {
		a.Explanation = a.Operation.String() + " cannot happen: no order of the operations makes it possible"
	}
	m.seen[a.Kind] = true
	m.totals.Anomalies++
	m.totals.Kinds[a.Kind]++
	if a.Session != "" {
		m.totals.Sessions[a.Session]++
	}
	if m.Found != nil {
		if err := m.Found(a); err != nil {
			return nil, err
		}
	}
	if f.part.Model.Mutates(f.part.Op(row)) {
		m.b.Crash(op)
		f.part.Res[row] = models.Open
		return []jepsen.Operation{op}, nil
	}
	m.b.LeaveOut(op)
	f.parts[slices.Index(f.parts, f.part)] = without(f.part, row)
	return nil, nil
}

// isOld finds out how old the value is that an operation saw. It returns true if nothing that is held shows that
// the value was written, and so completes the anomaly.
func (m *Monitor) isOld(f *failure, row models.Row, a *Anomaly) bool {
	part := f.part
	age, sees := m.ages.Of(part, f.keyOf(slices.Index(f.parts, part)), row, m.times(f.monitored))
	if !sees {
		return false
	}
	if a.Kind == models.StaleRead || a.Kind == models.LostUpdate || a.Kind == models.NeverWritten {
		a.Behind, a.Session = age.Behind, Session(age.Session)
	}
	if a.Kind != models.NeverWritten {
		return false
	}
	op, who, shown := part.Op(row), part.History.Who(part.Of[row]), part.Teller().Value(row)
	switch taken := !part.Model.Traits().IsRegister; {
	case age.Was && taken && op.Kind == models.Peek:
		a.Kind, a.Explanation = models.Resurrected, fmt.Sprintf("value %s was seen by %s, but it had been taken out before", shown, who)
	case age.Was && taken:
		a.Kind, a.Explanation = models.Duplicate, fmt.Sprintf("value %s was taken out by %s, but it had been taken out before", shown, who)
	case age.Was:
		if a.Kind = models.StaleRead; op.Kind == models.CAS {
			a.Kind = models.LostUpdate
		}
		a.Explanation = fmt.Sprintf("value %s was read by %s, but it had been overwritten", shown, who)
		switch {
		case a.Behind == 1:
			a.Explanation += "; a newer value had been written when this operation began"
		case a.Behind > 1:
			a.Explanation += fmt.Sprintf("; %d newer values had been written when this operation began", a.Behind)
		}
	case !age.Certain:
		a.Kind, a.Explanation = "", fmt.Sprintf("value %s was seen by %s, but it had been overwritten long ago, or was never written", shown, who)
	default:
		return false
	}
	return true
}

// keyOf returns the name of a part among all that are judged.
func (x *monitored) keyOf(part int) string { return x.key + " " + x.keys[part] }

// count counts the operations that ended before an event, and have not been counted.
func (m *Monitor) count(h *jepsen.History, until jepsen.Event) {
	for e := m.decided; e < until; e++ {
		if h.Type[e] != jepsen.Invoke {
			m.totals.Operations++
		}
	}
}

// times returns a function that returns when an event came.
func (m *Monitor) times(x *monitored) func(jepsen.Event) int64 {
	return func(e jepsen.Event) int64 { return m.came[x.h.InWhole(e)] }
}

// note remembers what the operations show that returned before an event, and have not been noted yet.
func (m *Monitor) note(all []*monitored, until jepsen.Event) {
	for _, x := range all {
		from, to := x.event(m.decided), x.event(until)
		for i, part := range x.parts {
			m.ages.Note(part, x.keyOf(i), from, to, m.times(x))
		}
	}
}

// without returns operations without one.
func without(ops *models.Operations, row models.Row) *models.Operations {
	rows := make([]models.Row, 0, ops.Len())
	for r := range models.Row(ops.Len()) {
		if r != row {
			rows = append(rows, r)
		}
	}
	return ops.Select(rows)
}

// forget forgets what need not be held once everything before an event has been decided, but for some operations.
func (m *Monitor) forget(h *jepsen.History, all []*monitored, decided jepsen.Event, but ...jepsen.Operation) {
	kept := make([]bool, h.Operations())
	for op := range kept {
		last := h.Completion[op]
		kept[op] = last == jepsen.None || last >= decided && h.Invocation[op] >= decided || last >= decided && h.Status[op] != jepsen.Crashed
	}
	for _, op := range but {
		kept[op] = true
	}
	for _, x := range all {
		end := x.event(decided)
		for i, part := range x.parts {
			var need forget.Kept
			if !m.holds {
				need = forget.Needed(part, end, x.exact, func(row models.Row) bool { return h.Completion[x.h.WholeOperation(part.Of[row])] == jepsen.None })
			}
			if need.State != nil {
				m.states[x.keyOf(i)] = need.State
			}
			for row, op := range part.Of {
				whole := x.h.WholeOperation(op)
				if need.Rows == nil || need.Rows[row] {
					kept[whole] = true
				}
				if need.Settled != nil && need.Settled[row] && (kept[whole] || h.Completion[whole] >= decided) {
					m.settled = append(m.settled, whole)
				}
			}
		}
	}
	if !m.holds {
		m.settle(h, decided)
	}
	if op, pinned := m.pin.Get(); pinned && !kept[op] {
		kept[op] = true
		m.settled = append(m.settled, op) // only its reading matters
	}
	slices.Sort(m.settled)
	var keep []jepsen.Operation
	for op, k := range kept {
		if k {
			keep = append(keep, jepsen.Operation(op))
		}
	}
	before, came := 0, m.came[:0]
	for e, op := range h.OpOf {
		if !kept[op] {
			continue
		}
		if jepsen.Event(e) < decided {
			before++
		}
		came = append(came, m.came[e])
	}
	if !m.b.Forget(keep, h.Values.Len() > m.values) { // all is held, from the beginning
		m.decided = decided
		clear(m.states)
		m.settled = nil
		return
	}
	m.came = came
	m.forgot = m.forgot || len(keep) < len(kept) || len(m.states) > 0
	m.decided = jepsen.Event(before)
	renumber := func(ops []jepsen.Operation) []jepsen.Operation {
		still := ops[:0]
		for _, op := range ops {
			if i, found := slices.BinarySearch(keep, op); found {
				still = append(still, jepsen.Operation(i))
			}
		}
		return still
	}
	m.stuck, m.settled = renumber(m.stuck), renumber(m.settled)
	if op, pinned := m.pin.Get(); pinned {
		m.pin = jepsen.Some(renumber([]jepsen.Operation{op})[0])
	}
}
