package clew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"clew/edn"
	"clew/fastpath"
	"clew/internal/diagnosis"
	"clew/internal/families"
	"clew/internal/files"
	"clew/internal/forget"
	"clew/internal/held"
	"clew/internal/levels"
	"clew/internal/live"
	"clew/internal/nemesis"
	"clew/internal/option"
	"clew/internal/pace"
	"clew/internal/page"
	"clew/internal/text"
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
	// BehindFor is how much :time before that the first of these had certainly been written: it had returned, or a read had
	// seen it. -1 if Behind is not at least 1, or if the events have no times.
	BehindFor time.Duration
	// Session is the guarantee of sessions that is broken: the client's own operations show that it saw an old value,
	// whatever happened at the same time. It is "" if only the order in time shows that, or if it is not known.
	Session Session
	Node    string          // the :node of its completion, or else of its invocation; "" if neither has one
	Nemesis []NemesisWindow // the windows that were open while it was, in order
	// Unless has the other readings of the history with which it would be no anomaly, as far as is known by then: another initial
	// value ("init"), that each key stands by itself ("keys"), or a weaker level that was asked for ("level"). It is nil if it is
	// an anomaly with each of them.
	Unless []report.Alternative
	// Result shows an anomaly of each kind in full: the first of which what the monitor holds shows it. It is nil for others.
	// Its history has what the monitor held then, and is valid until Found returns.
	Result *report.Result
}

// Session is a guarantee about the operations of one client.
type Session string

// The guarantees that an old value may break (Terry and others, "Session guarantees for weakly consistent replicated
// data", 1994).
const (
	MonotonicReads  Session = forget.MonotonicReads  // the client had seen a newer value
	MonotonicWrites Session = forget.MonotonicWrites // it had seen a later write of the client that wrote this value, and not this one before
	ReadYourWrites  Session = forget.ReadYourWrites  // the client had written a newer value
)

// NemesisWindow is what a nemesis did, from its first event to the event that ended it.
type NemesisWindow struct {
	F     string // what it began: "start-partition"
	Index int64  // the :index of its first event
}

// Monitor finds all anomalies of a history in one pass, while it comes. For the models that docs/monitor.md names it holds
// about as many operations as are open, and those that crashed; for others it holds the history.
//
// An answer is judged once it is known how all operations that were invoked before it end. An operation that does not
// end for Stuck counts as crashed. A Monitor is for one goroutine at a time.
type Monitor struct {
	// Found is called with each anomaly, in order. If it returns an error, the pass ends with that.
	Found func(Anomaly) error
	// Stated, unless nil, is called with the reading of the history before Found is, once the model is known. If it returns an
	// error, the pass ends with that.
	Stated func(report.Reading) error
	// Told says who says those parts of the reading that the spec and the options have, if not their author.
	Told report.Sources
	// Looked, unless nil, is called after each look at what has come, and a few times a second while nothing comes. If it
	// returns an error, the pass ends with that.
	Looked func() error
	// Draws keeps what WritePage draws: a few megabytes, however long a history is.
	Draws bool
	// Stuck is how long an operation may be open, by the :time of events in nanoseconds, before it counts as crashed.
	// StuckEvents is the same as a number of later events. 0 means forever. What such an operation returns later does not
	// count.
	Stuck       time.Duration
	StuckEvents int
	// State, unless "", is a file in which Read keeps what the Monitor knows: every minute, soon after anomalies, and
	// before the end of the text counts. If the file is there, Read goes on from it, after the events that were read by
	// then; the text must begin as it did, and may have grown. So a process may be killed at any moment. Anomalies that
	// were found after the last time are found again. Op maps, JSON and logs can be read so.
	State string
	// Unsaved, unless nil, is called when State cannot be written, such as on a full disk, at most once a minute. The error says
	// from where a pass would go on if this one ended now. The pass goes on, and tries to write State again. Without Unsaved
	// such an error ends the pass.
	Unsaved func(error)
	// Witness, unless nil, takes a linearization of the history without the anomalies, in the lines of report.Result.WriteWitness. Operations
	// that change something and are anomalies count as crashed. Of independent keys, and of the keys of a map, it has a
	// linearization of each, which VerifyParts accepts. It is written while operations are forgotten, and at the end.
	// Queues that are forgotten element by element are an error.
	Witness io.Writer

	ctx   context.Context
	given models.Spec
	moved string       // what happened to the file while it was read, "" if nothing did
	level models.Level // what is asked for; with a weaker one than is judged, no anomaly is certain
	spec  models.Spec
	byKey func(key string) models.Spec // unless nil, has the initial values that were given key by key
	ahead bool                         // a later operation may change how an operation is read
	o     Options
	d     *decider

	held   held.History
	writes *held.Witness // to Witness
	bound  []func()      // give back what models hold
	holds  bool          // nothing may be forgotten
	failed bool          // a look has failed
	totals MonitorTotals
	oldest *jepsen.Op // see MonitorTotals; it is not kept in a state

	// What is known of the reading.
	reads       monitorReads
	stated      bool
	least       int64    // so many events come before a model is inferred
	keyed       *Monitor // judges each key by itself while that may be meant, nil if that cannot be known
	keysTried   bool     // keyed was made, or it is too late for that
	keysUnknown bool     // what keyed would find is not known
	copied      int64    // how many events had come that it has

	// When to look.
	events  int  // that have come since the last look
	step    int  // how many events may come before the next look
	longest int  // the longest step, unless more is held
	share   int  // looks come after at least one part in so many of what is held
	values  int  // how many values may be held before those that are not needed are forgotten
	shared  bool // the values are those of another history
	enough  int  // how many operations are held before some are forgotten that explain others; less after anomalies, each of which takes as long
	looked  time.Time
	took    time.Duration // of the last look

	// What is known of operations that are not held.
	ages forget.Ages
	seen map[models.Anomaly]bool // kinds that were shown in full

	keeper keeper // for State

	// What is said of anomalies besides.
	diagnosis diagnosis.Diagnosis
	skips     int // events of processes that are not clients
	arrivals  diagnosis.Arrivals
	drawings  []page.Drawing
}

// MonitorTotals are what a Monitor has found so far.
type MonitorTotals struct {
	Operations int // that have ended, and have been judged
	Anomalies  int
	Kinds      map[models.Anomaly]int // "" for those of no certain kind
	Sessions   map[Session]int
	Init       string // the initial value, if that is taken from the first reads
	Stuck      int    // operations that counted as crashed because they did not end
	Held       int    // operations that are held now
	MostHeld   int    // and at most
	Open       int    // operations that were open at the last look, but for those that are stuck
	// Oldest is the first of those that are open, for whose end the judgment of later answers waits; nil if there is none.
	Oldest *jepsen.Op
	// Delay is how long ago the oldest event came that is not judged.
	Delay time.Duration
	// Doubtful counts the anomalies that there would not be with another reading of the history, and Unless counts them by the
	// part of the reading: "init", "keys" and "level".
	Doubtful int
	Unless   map[string]int

	Behind    int            // the most versions that a value was behind
	BehindFor time.Duration  // and for how much :time at most
	Nodes     map[string]int // anomalies by node; "" counts those of rare nodes together
	Keys      map[string]int // by key; "" counts those of rare keys together
	// Nemesis counts anomalies by the :f of the windows into which they fall. "" counts those outside any. It is nil if the
	// nemesis did nothing.
	Nemesis map[string]int
}

// Certain counts the anomalies that are some however the history is read.
func (t MonitorTotals) Certain() int { return t.Anomalies - t.Doubtful }

// unlessWords say what would have to be so, by the parts of a reading.
var unlessWords = map[string]string{"init": "it began with another value", "keys": "each key stands by itself", "level": "a weaker level counts"}

// String tells the totals in a line, as clew monitor does.
func (t MonitorTotals) String() string {
	said := text.Count(t.Operations, "operation") + ", "
	switch t.Anomalies {
	case 0:
		said += "no anomalies"
	case 1:
		said += "1 anomaly"
	default:
		said += fmt.Sprintf("%d anomalies", t.Anomalies)
	}
	said += listed("", named(t.Kinds), diagnosis.Unnamed)
	for _, session := range slices.Sorted(maps.Keys(t.Sessions)) {
		verb := "break"
		if t.Sessions[session] == 1 {
			verb = "breaks"
		}
		if t.Anomalies == 1 {
			said += ", which breaks " + string(session)
			continue
		}
		said += fmt.Sprintf(", %d of them %s %s", t.Sessions[session], verb, session)
	}
	for _, part := range slices.Sorted(maps.Keys(t.Unless)) {
		switch n := t.Unless[part]; {
		case t.Anomalies == 1:
			said += " unless " + unlessWords[part]
		default:
			said += fmt.Sprintf(", %d of them unless %s", n, unlessWords[part])
		}
	}
	if t.Stuck > 0 {
		said += fmt.Sprintf(", %d stuck", t.Stuck)
	}
	if t.Behind > 0 {
		said += fmt.Sprintf("; at most %s behind", text.Count(t.Behind, "version"))
		if t.BehindFor > 0 {
			said += ", for at most " + text.Rounded(int64(t.BehindFor))
		}
	}
	if t.Anomalies > 0 {
		said += listed("; during", t.Nemesis, "outside any window") + listed("; nodes", t.Nodes, "on other nodes") + listed("; keys", t.Keys, "on other keys")
	}
	if t.Init != "" {
		said += fmt.Sprintf("; the initial value %s is taken from the first reads", text.Shorten(t.Init, 80))
	}
	said += fmt.Sprintf("; at most %s held", text.Count(t.MostHeld, "operation"))
	if t.Delay >= toldDelay && t.Oldest != nil {
		said += fmt.Sprintf("; nothing since %s ago is judged, as %s has not returned", t.Delay.Round(time.Second), t.Oldest)
	}
	return said
}

// toldDelay is the least delay whose reason is told.
const toldDelay = 2 * time.Second

// mostListed bounds the counts of a list.
const mostListed = 8

// listed tells the largest counts by name, "" if there are none. The others count as the name "", for which it says other.
func listed(what string, counts map[string]int, other string) string {
	if len(counts) == 0 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	others := counts[""]
	for _, name := range names[min(len(names), mostListed):] {
		if name != "" {
			others += counts[name]
		}
	}
	names = names[:min(len(names), mostListed)]
	slices.Sort(names)
	var all []string
	for _, name := range names {
		if name != "" {
			all = append(all, fmt.Sprintf("%d %s", counts[name], text.Shorten(text.Line(name), 40)))
		}
	}
	if others > 0 {
		all = append(all, fmt.Sprintf("%d %s", others, other))
	}
	return what + " (" + strings.Join(all, ", ") + ")"
}

// A monitor looks at twice as many events as before if it found nothing, up to longestStretch, and at half as many, from
// shortestStretch on, if it found several anomalies, each of which has them decided again. If much is held, it looks once that has
// grown by 1/heldShare.
const (
	shortestStretch = 256
	longestStretch  = 65536
	heldShare       = 4
	mostValues      = 1 << 16 // that are held before those that are not needed are forgotten
	mostExplained   = 1 << 14 // operations that are held at first where forgetting them takes a search
)

// heartbeat is how often Looked is called while nothing comes.
const heartbeat = 200 * time.Millisecond

// If no model is given, it is inferred once leastBeginning events have come, or by the end. If that cannot be done then, more may
// come, up to mostBeginning.
const (
	leastBeginning = 1024
	mostBeginning  = 4096
)

// NewMonitor returns a monitor. If the spec names no model, it is inferred from the beginning of the history. The context ends its
// work.
func NewMonitor(ctx context.Context, spec models.Spec, o Options) (*Monitor, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	level := o.Consistency
	o.Consistency = "" // what is judged is linearizability
	m := &Monitor{
		ctx: ctx, given: spec, o: o, level: level, least: leastBeginning,
		step: shortestStretch, longest: longestStretch, share: heldShare, values: mostValues, enough: mostExplained,
		seen:   map[models.Anomaly]bool{},
		totals: MonitorTotals{Kinds: map[models.Anomaly]int{}, Sessions: map[Session]int{}},
	}
	p := pace.Of(ctx)
	if m.keeper.often = p.Saves; p.Events > 0 {
		m.step, m.longest, m.share, m.values, m.enough, m.least = p.Events, p.Events, math.MaxInt, 0, 0, int64(p.Events)
	}
	m.reads.Pairs = !o.Independent && !o.Whole
	if err := m.takes(spec); err != nil {
		return nil, err
	}
	return m, nil
}

// monitorReads is what a Monitor knows of its reading. A state keeps it.
type monitorReads struct {
	Model   string            // that was inferred, "" so far
	Inits   map[string]string // by independent key: the initial value with which it goes on
	More    map[string]bool   // by key: it may begin with other values than can be tried
	Settled map[string]bool   // by key: an operation fails whatever it began with
	Pairs   bool              // every operation so far was called with [key value], and nobody has said what that means
	Noted   jepsen.Event      // what comes before it is in the totals
	// Anomalies that there would not be with another initial value, with keys, and with either.
	ByInit, ByKeys, ByEither int
}

// noteOf notes that something is so for a key.
func noteOf(all *map[string]bool, key string) {
	if *all == nil {
		*all = map[string]bool{}
	}
	(*all)[key] = true
}

// doubt counts an anomaly that there would not be with some other readings.
func (r *monitorReads) doubt(unless []report.Alternative) {
	init := slices.ContainsFunc(unless, func(a report.Alternative) bool { return a.Part == "init" })
	switch {
	case init && len(unless) > 1:
		r.ByEither++
	case init:
		r.ByInit++
	case len(unless) > 0:
		r.ByKeys++
	}
}

// doubts counts the anomalies that there would not be with another reading, all together and by what that reads otherwise.
func (r *monitorReads) doubts() (all int, by map[string]int) {
	init, keys := r.ByInit+r.ByEither, 0
	if all = init; r.Pairs {
		keys = r.ByKeys + r.ByEither
		all += r.ByKeys
	}
	for part, n := range map[string]int{"init": init, "keys": keys} {
		if n > 0 {
			if by == nil {
				by = map[string]int{}
			}
			by[part] = n
		}
	}
	return all, by
}

// takes has the monitor judge by a spec, if that names a model.
func (m *Monitor) takes(spec models.Spec) error {
	m.spec, m.d = spec, newDecider(spec, m.o)
	if spec.Name == "" {
		return nil
	}
	d, err := spec.Definition()
	if err != nil {
		return err
	}
	if m.o.Independent {
		if err := spec.CheckKeys(); err != nil {
			return err
		}
		if of, perKey := spec.ByKey(); perKey {
			m.byKey = of
		}
	}
	m.ahead, m.reads.Pairs = d.LooksAhead, m.reads.Pairs && !d.Pairs
	if !m.level.Weaker() {
		return nil
	}
	model, err := spec.Model(edn.NewValues())
	if err == nil {
		err = levels.Refuse(model, spec.Name, m.level)
	}
	if err != nil && m.Told.Level == report.Test { // it is about other models
		m.level, err = "", nil
	}
	return err
}

// infer infers the model if none is given, as Check does from a whole history. It returns false if more has to come for that.
func (m *Monitor) infer(h *jepsen.History, ended bool) (known bool, err error) {
	if m.spec.Name != "" {
		return true, nil
	}
	if m.held.Clock < m.least && !ended {
		return false, nil
	}
	name, err := m.inferred(h)
	spec := m.given
	if spec.Name = name; err == nil && !m.o.Independent {
		err = spec.Check()
	} else if err == nil {
		err = spec.CheckKeys()
	}
	switch {
	case err != nil && !ended && m.held.Clock < mostBeginning:
		return false, nil
	case err != nil && h.File != "":
		return false, Placed(h, err)
	case err != nil:
		return false, err
	}
	m.reads.Model = name
	if err := m.takes(spec); err != nil {
		return false, err
	}
	return true, m.witnesses()
}

// inferred returns the model of what is held.
func (m *Monitor) inferred(h *jepsen.History) (string, error) {
	if !m.o.Independent || h.Operations() == 0 {
		return models.Infer(h)
	}
	_, spec, _, err := keysOf(h, m.given, m.o)
	return spec.Name, err
}

// reinfers takes another model if what came later shows that one was inferred too soon, and nothing has been judged yet.
func (m *Monitor) reinfers(h *jepsen.History) bool {
	if m.reads.Model == "" || m.stated {
		return false
	}
	name, err := m.inferred(h)
	spec := m.given
	if spec.Name = name; err != nil || name == m.spec.Name || m.takes(spec) != nil {
		return false
	}
	m.reads.Model = name
	return true
}

// misread is the error of a history that a model cannot read. If the model was inferred, it names the one that fits now.
func (m *Monitor) misread(h *jepsen.History, err error) error {
	if m.reads.Model == "" {
		return err
	}
	name, unknown := m.inferred(h)
	switch {
	case unknown == nil && name != m.spec.Name:
		return fmt.Errorf("%w; %s was inferred from what had come before: give %s %s", err, m.spec.Name, models.ParamModel, name)
	case errors.Is(err, models.ErrUnknownF):
		return fmt.Errorf("%w; %s was inferred from what had come before: give %s", err, m.spec.Name, models.ParamModel)
	}
	return err
}

// Reading returns as what the history is read. It is the zero Reading until the model is known.
func (m *Monitor) Reading() report.Reading {
	if m.spec.Name == "" {
		return report.Reading{}
	}
	r := report.Result{Model: m.spec.Name, Inferred: m.reads.Model != "", Spec: m.spec, Init: m.spec.Init, Level: m.level}
	r.From.Tell(m.Told)
	if m.totals.Init != "" {
		r.From.Init = report.Content
	}
	x := r.Reading()
	switch {
	case m.o.Independent:
		x.Keys = report.Part{Value: "each", Source: cmp.Or(m.Told.Keys, report.Flag)}
	case m.o.Whole:
		x.Keys.Source = cmp.Or(m.Told.Keys, report.Flag)
	}
	return x
}

// state says the reading, once.
func (m *Monitor) state() error {
	if m.stated {
		return nil
	}
	if m.stated = true; m.Stated == nil {
		return nil
	}
	return m.Stated(m.Reading())
}

// Totals returns what has been found so far.
func (m *Monitor) Totals() MonitorTotals {
	t := m.totals
	t.Kinds, t.Sessions, t.Oldest = maps.Clone(t.Kinds), maps.Clone(t.Sessions), m.oldest
	if t.Doubtful, t.Unless = m.reads.doubts(); m.level.Weaker() && t.Anomalies > 0 {
		t.Doubtful, t.Unless = t.Anomalies, map[string]int{"level": t.Anomalies}
	}
	d := &m.diagnosis
	t.Behind, t.BehindFor, t.Nodes, t.Keys = d.Behind, time.Duration(d.For), d.Nodes.Most(), d.Keys.Most()
	if d.Windows.Seen > 0 {
		t.Nemesis = d.Nemesis.Most()
		if outside := d.Nemesis.Outside; outside > 0 {
			if t.Nemesis == nil {
				t.Nemesis = map[string]int{}
			}
			t.Nemesis[""] += outside
		}
	}
	if int(m.held.Decided) < len(m.held.Came) {
		if came := m.arrivals.Since(m.held.Came[m.held.Decided]); !came.IsZero() {
			t.Delay = time.Since(came)
		}
	}
	return t
}

// Read reads a history to its end, in any form that package forms knows, and judges it. If it cannot be read further, or
// the context ends, what has come by then is judged, too. When the context ends, Read does not wait for r. A file that
// changes while it is read is an error; with a State it may grow.
func (m *Monitor) Read(r io.Reader, name string, reading jepsen.Options) error {
	pause := func() (time.Duration, bool) { // looks take a small part of the time
		if m.events == 0 {
			return heartbeat, m.Looked != nil
		}
		return lookShare*m.took - time.Since(m.looked), m.held.Builder() != nil
	}
	m.keeper.passing = forms.Passing{Each: m.each, Marked: m.State != ""}
	if err := m.witnesses(); err != nil {
		return err
	}
	if m.State != "" {
		reading.File = name
		if err := m.restore(reading); err != nil {
			return err
		}
	}
	if from := m.keeper.passing.From; from != nil {
		if err := from.Seek(r); err != nil {
			return m.otherText(fmt.Errorf("%s: %w", name, err))
		}
	}
	text := live.NewReader(m.ctx, r, pause, func() error { return m.look(false) })
	defer text.Close()
	before := files.StampOf(r)
	before.Or = "a pipe, such as that of tail -F"
	err := forms.Pass(m.ctx, text, name, reading, &m.keeper.passing)
	m.moved = before.Moved()
	if changed := before.Changed(r); err == nil && changed != nil && !(m.State != "" && before.Grew(r)) {
		err = fmt.Errorf("%s: %w", name, changed)
	}
	if errors.Is(err, forms.ErrOther) {
		return m.otherText(err)
	}
	if err != nil && m.held.Builder() != nil && !m.failed {
		if late := m.save(true); late != nil {
			return late
		}
		if late := m.look(true); late != nil && m.spec.Name != "" && !errors.Is(late, context.Cause(m.ctx)) {
			return late
		}
	}
	if failed := (*models.Failure)(nil); errors.As(err, &failed) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// otherText says what to do if the text is not the one that the state is about.
func (m *Monitor) otherText(err error) error {
	if errors.Is(err, forms.ErrOther) {
		return fmt.Errorf("%w; %s is about that text: remove the file, or give the text that it belongs to", err, m.State)
	}
	return err
}

// MonitorPage says what a page about a pass is like.
type MonitorPage struct {
	Title string // names the history
	Ended bool   // the history was read to its end
	Index string // the link to the page of all runs, or ""
	// Poll is the address that tells a browser whether there is more, or "". Its answer has the number of anomalies as "token",
	// the totals in words as "note", and "done" once nothing more comes, in JSON.
	Poll string
}

// WritePage writes a page for a browser about what has been found so far: the anomalies over time, beside the nemesis,
// throughput and latency; the totals; and a drawing of an anomaly of each kind, in full if there was one with a Result.
// Draws must have been set before the history was read. A page has at most some 2 MB.
func (m *Monitor) WritePage(w io.Writer, p MonitorPage) error {
	t := m.Totals()
	var served *page.Served
	if p.Poll != "" {
		served = &page.Served{Poll: page.Poll{Address: p.Poll, Token: strconv.Itoa(t.Anomalies)}}
	}
	return page.WriteRun(w, page.Monitored{
		File: p.Title, Summary: t.String(), Found: t.Anomalies > 0, Ended: p.Ended, Index: p.Index, Timeline: m.diagnosis.Drawn(), Drawings: m.drawings,
		Totals: []page.Total{
			page.NewTotal("kind", diagnosis.Unnamed, named(t.Kinds)),
			page.NewTotal("guarantee of sessions", "", named(t.Sessions)),
			page.NewTotal("window of the nemesis", "outside any", t.Nemesis),
			page.NewTotal("node", "other nodes", t.Nodes),
			page.NewTotal("key", "other keys", t.Keys),
		},
	}, served)
}

// MonitoredRun is what a page of a store shows of the pass over a run. It holds no part of the history.
type MonitoredRun struct {
	Name, Time string // of the run; Time may be ""
	Link       string // to the page of the pass, "" if there is none
	Err        error  // why the run was not read to its end, or nil

	totals MonitorTotals
	shown  page.MonitoredRun
}

// Monitored says how a pass went, whose monitor has drawn. m is nil if the run could not be opened.
func (r *MonitoredRun) Monitored(m *Monitor) {
	if m == nil {
		return
	}
	r.totals = m.Totals()
	r.shown.Kinds, r.shown.Link = named(r.totals.Kinds), r.Link
	timeline := m.diagnosis.Drawn()
	r.shown.Draw(&timeline)
}

// WriteMonitoredRuns writes a page for a browser about the passes over the runs of a store: when each had anomalies and how
// many of which kind, with links to the pages of the passes. It has at most some 2,000 runs.
func WriteMonitoredRuns(w io.Writer, title string, runs []MonitoredRun) error {
	all := make([]page.MonitoredRun, len(runs))
	for i, r := range runs {
		all[i] = r.shown
		all[i].Name, all[i].Time, all[i].Link, all[i].Operations = r.Name, r.Time, r.Link, r.totals.Operations
		if r.Err != nil {
			all[i].Error = r.Err.Error()
		}
	}
	return page.WriteRuns(w, title, all)
}

// named returns counts by their names as texts.
func named[K ~string](counts map[K]int) map[string]int {
	all := map[string]int{}
	for name, n := range counts {
		all[string(name)] = n
	}
	return all
}

// Warnings returns the warnings about the text that has been read.
func (m *Monitor) Warnings() []string {
	b := m.held.Builder()
	if b == nil {
		return nil
	}
	h, err := b.SoFar()
	if err != nil {
		return nil
	}
	if m.moved != "" {
		h.WarnFirst(fmt.Sprintf("the file was %s while it was read; this is what it held before", m.moved), true)
		m.moved = ""
	}
	if m.Stuck > 0 && m.diagnosis.Timeline.Began && !m.diagnosis.Timeline.ByTime {
		return append(slices.Clip(h.Warnings), fmt.Sprintf("the first event has no :time in whole nanoseconds; operations without one never count as crashed after %s, but they can after a number of events", m.Stuck))
	}
	return h.Warnings
}

// each takes note of events, or of the end. It says after how many more it is to be called again.
func (m *Monitor) each(b *jepsen.Builder, events int, ended bool) (most int, err error) {
	if m.held.Has(b); m.State != "" && !m.keeper.passing.HasPlaces() {
		return 0, fmt.Errorf("the state cannot be kept: %w", forms.ErrNoPlace)
	}
	if h, err := b.SoFar(); err == nil {
		m.held.Note(h)
		m.skipped(h)
		m.initially(h)
	}
	if m.events == 0 {
		m.arrivals.Note(m.held.Clock, time.Now())
	}
	if m.events += events; m.events < m.step && !ended {
		return m.step - m.events, nil
	}
	if ended && m.State != "" { // what comes later may show it in another light
		if err := m.look(false); err != nil {
			return 0, err
		}
		if err := m.save(true); err != nil {
			return 0, err
		}
	}
	err = m.look(ended)
	return m.step, err
}

// initially takes the initial value that the text names, unless one is given.
func (m *Monitor) initially(h *jepsen.History) {
	init := h.Record().Init
	if init == "" || m.given.Init != "" || m.stated {
		return
	}
	m.given.Init, m.Told.Init = init, report.Content
	if m.spec.Name != "" {
		m.spec.Init = init
	}
}

// skipped takes note of an event of a process that is not a client, if it has just come.
func (m *Monitor) skipped(h *jepsen.History) {
	if line := &m.diagnosis.Timeline; !line.Began && len(h.Type) > 0 {
		now, isTime := h.Times()(0)
		if !isTime {
			now = m.held.Came[0]
		}
		line.Begin(now, isTime)
	}
	e, n := m.held.Builder().LastSkipped()
	if n == m.skips {
		return
	}
	m.skips = n
	now := m.diagnosis.Timeline.Start
	if last := len(h.Type) - 1; last >= 0 {
		now = m.timeOf(h, h.Times(), jepsen.Event(last))
	}
	m.diagnosis.Skip(nemesis.Event{Process: h.Values.Text(h.Values.Same(e.Process)), F: h.Values.Text(e.F), Invokes: e.Type == jepsen.Invoke,
		Index: e.Index, At: m.held.Clock, Time: now})
}

// timeOf returns when an event came, on the axis of the timeline.
func (m *Monitor) timeOf(h *jepsen.History, times func(jepsen.Event) (int64, bool), e jepsen.Event) int64 {
	if !m.diagnosis.Timeline.ByTime {
		return m.held.Came[e]
	}
	if ns, known := times(e); known {
		return ns
	}
	return max(m.diagnosis.Timeline.Start, m.diagnosis.Timeline.End()-1)
}

// look decides what has come, as far as it is known how operations end, and forgets what can be forgotten. ended says
// that nothing more comes. A model that fails is an error.
func (m *Monitor) look(ended bool) (err error) {
	defer func() { m.failed = m.failed || err != nil }()
	defer m.release()
	failed := caught(nil, func() { err = m.judge(ended) })
	switch {
	case failed == nil:
		return err
	case failed.Cause != "":
		return cmp.Or(context.Cause(m.ctx), failed.Err)
	}
	return failed
}

// judge does what look does. It panics if a model fails.
func (m *Monitor) judge(ended bool) error {
	if m.events == 0 && !ended {
		return m.tell()
	}
	start := time.Now()
	m.events = 0
	h, err := m.held.Builder().SoFar()
	if err != nil {
		return nil // it is about the text, whose reader returns it
	}
	if known, err := m.infer(h, ended); err != nil {
		return err
	} else if !known {
		m.took, m.looked, m.totals.Held = time.Since(start), time.Now(), h.Operations()
		m.totals.MostHeld = max(m.totals.MostHeld, m.totals.Held)
		return m.tell()
	}
	m.judgeKeys(h, ended)
	found, err := m.judgeHeld(h, ended)
	if err != nil {
		return err
	}
	if ended {
		if err := m.state(); err != nil {
			return err
		}
	}
	if ended && m.writes != nil {
		if err := m.lastWitness(h); err != nil {
			return err
		}
	}
	m.took, m.looked = time.Since(start), time.Now()
	m.totals.Held = h.Operations()
	m.totals.MostHeld = max(m.totals.MostHeld, m.totals.Held)
	m.totals.Open, m.oldest = 0, nil
	for op := range jepsen.Operation(h.Operations()) {
		if m.held.IsOpen(h, op) {
			if m.totals.Open == 0 {
				oldest := h.Op(op)
				m.oldest = &oldest
			}
			m.totals.Open++
		}
	}
	switch {
	case found == 0:
		m.step *= 2
	case found > 1:
		m.step /= 2
	}
	m.step = max(min(m.step, m.longest), min(shortestStretch, m.longest), len(h.Type)/m.share)
	m.keeper.found, m.keeper.doubtful = m.keeper.found || found > 0, doubtful(h)
	if err := m.tell(); err != nil || ended {
		return err
	}
	return m.save(false)
}

// judgeHeld judges what is held, as far as it is known how operations end.
func (m *Monitor) judgeHeld(h *jepsen.History, ended bool) (found int, err error) {
	for known := m.known(h, ended); known > m.held.Decided; known = m.known(h, ended) {
		parts, err := m.parts(h)
		if ended && errors.Is(err, models.ErrNoPositions) && m.held.Positions { // all that told one were anomalies
			m.spec.Position = models.NoPosition
			continue
		}
		if !ended && (errors.Is(err, jepsen.ErrNoTuples) || errors.Is(err, models.ErrNoPositions)) {
			break // there may be some later
		}
		switch {
		case err == nil:
		case m.reinfers(h):
			continue
		case m.reads.Model != "" && !m.stated && !ended && m.held.Clock < mostBeginning:
			return found, nil // it may turn out to be of another model
		default:
			return found, m.misread(h, err)
		}
		if err := m.state(); err != nil {
			return found, err
		}
		if m.holds = m.holdsAll(h); m.holds && m.ahead && !ended {
			break // a later operation may change what an earlier one means
		}
		if op, late := m.held.LateName(h, m.spec); late && !m.holds {
			return found, fmt.Errorf("%s names a client, but earlier operations of its process were judged without one; use clew check, which reads a history as a whole", h.Name(op))
		}
		m.totals.MostHeld = max(m.totals.MostHeld, h.Operations())
		anomalies, done, err := m.anomalies(h, parts, known, ended)
		if err != nil {
			return found, err
		}
		if found += anomalies; done {
			break
		}
	}
	return found, nil
}

// holdsAll says whether nothing may be forgotten.
func (m *Monitor) holdsAll(h *jepsen.History) bool {
	return m.o.Independent && m.o.Keyless || m.ahead && (m.o.Independent || !m.held.IsCertain(h, m.spec))
}

// anomalies finds the anomalies before an event, and forgets what can be forgotten then. done is false if the parts have
// to be read again.
func (m *Monitor) anomalies(h *jepsen.History, parts []*held.Judged, known jepsen.Event, ended bool) (found int, done bool, err error) {
	decided := map[*models.Operations]decision{}
	for from := max(m.held.Decided, m.reads.Noted); ; {
		at, failing, err := m.firstFailing(parts, known, decided)
		if err != nil {
			return found, false, err
		}
		if failing == nil {
			m.note(parts, from, known)
			m.count(h, from, known)
			return found, true, m.forget(h, parts, known)
		}
		b, err := m.begins(failing, ended)
		if err != nil {
			return found, false, err
		}
		if m.reads.Noted = from; b.waits {
			return found, true, nil
		}
		found++
		if b.init != "" { // from which it is none
			if err := m.announce(failing, at, m.unless(b)); err != nil {
				return found, false, err
			}
			m.begin(failing.Judged, b.init)
			return found, false, nil
		}
		delete(decided, failing.part) // which changes
		m.note(parts, from, at)
		m.count(h, from, at+1)
		from = at + 1
		crashed, err := m.found(failing, at, m.unless(b))
		if err != nil {
			return found, false, err
		}
		if len(crashed) > 0 { // others may be read in another way then
			return found, false, m.forget(h, parts, from, crashed...)
		}
	}
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

// specOf returns the spec for a key, "" for the whole, with its initial value. It says how answers are read once operations have shown that, even
// if those are not held anymore.
func (m *Monitor) specOf(key string) models.Spec {
	spec := m.spec
	if m.byKey != nil {
		spec.Init = m.byKey(key).Init
	}
	if init := m.reads.Inits[key]; init != "" {
		spec.Init = init
	}
	if m.held.Told[key] || m.held.Told[""] { // keys have one client
		spec.Answers = models.AnswersTold
	}
	return spec
}

// parts reads the operations that are held.
func (m *Monitor) parts(h *jepsen.History) (all []*held.Judged, err error) {
	m.release()
	m.held.CrashLate(h)
	add := func(h *jepsen.History, key string, exact bool) error {
		varies := !exact
		c, err := read(m.ctx, h, m.specOf(key), m.o)
		switch {
		case err != nil:
			return err
		case c.ops == nil:
			return context.Cause(m.ctx)
		}
		m.bound = append(m.bound, within(m.ctx, c.ops.Model, m.o.limits()))
		if b := c.ops.Model.Traits().Beyond; b != nil && (len(c.broken) > 0 || b.Alone(c.ops) != nil) {
			return fmt.Errorf("a monitor does not judge what watches and reads of old states of %s show; clew check does", m.spec.Name)
		}
		m.spec.Accounts = cmp.Or(m.spec.Accounts, c.spec.Accounts) // also without the transfers that show it
		switch c.spec.Answers {
		case models.AnswersTold:
			m.held.Told[key] = true // also without the operations that show it
		case models.AnswersEcho:
			exact = exact && m.spec.Answers != "" // a later answer may show that they are told
		}
		_, placed := c.ops.Model.(models.Placed)
		m.held.Positions = m.held.Positions || placed
		x := m.held.Judge(h, key, exact && !c.spec.MayTell(c.ops.Model), c.ops)
		x.Varies = x.Varies || varies
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
	switch of, _, err := ofKeys(m.spec, keyed.Unwrapped, h); {
	case err != nil:
		return nil, err
	case of.Answers == models.AnswersTold:
		m.held.Told[""] = true
	}
	for i, own := range keyed.Histories(rowsOf(keyed)) {
		key, exact := held.Spelled(h.Values, keyed.Keys[i])
		if err := add(own.History, key, exact); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// release gives back what the models hold that parts has read.
func (m *Monitor) release() {
	for _, release := range m.bound {
		release()
	}
	m.bound = nil
}

// failure is the first failing completion of a part.
type failure struct {
	*held.Judged
	i    int                // which part
	part *models.Operations // that part
	decision
}

var errUndecided = errors.New("undecided")

// firstFailing returns the first failing completion before known, and its event in the whole. It decides the parts that have not been
// decided.
func (m *Monitor) firstFailing(all []*held.Judged, known jepsen.Event, decided map[*models.Operations]decision) (at jepsen.Event, first *failure, err error) {
	at = known
	for _, x := range all {
		end := x.Event(known)
		for i, part := range x.Parts {
			d, done := decided[part]
			if !done {
				d = m.decide(part, end)
				decided[part] = d
			}
			if d.Verdict == jepsen.Unknown {
				return 0, nil, fmt.Errorf("%w: %s", errUndecided, cmp.Or(d.reason, string(d.Cause)))
			}
			if d.Verdict != jepsen.Invalid || d.FailEvent >= end {
				continue
			}
			if e := x.H.InWhole(jepsen.Event(d.FailEvent)); e < at {
				at, first = e, &failure{x, i, part, d}
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
	d := m.d.part(m.ctx, cut.Operations, m.o.limits()).renumber(cut)
	if declared := part.Model.Traits().Declared; declared != nil && d.Verdict == jepsen.Invalid {
		declared.Doubt()
		core := part.Among(m.d.core(m.ctx, part.Model, part, d, m.o.limits()))
		switch a := undeclaredCore(m.ctx, part, core, d.FailEvent, m.o.limits()); a.Verdict {
		case jepsen.Valid:
			panic(declaredWrongly(m.spec))
		case jepsen.Unknown:
			return decision{Answer: a, reason: notBare}
		}
	}
	return d
}

// found tells of an anomaly. From then on the operation has not happened, or counts as crashed. It is returned if all must be read
// again because of that.
func (m *Monitor) found(f *failure, at jepsen.Event, unless []report.Alternative) (crashed []jepsen.Operation, err error) {
	if err := m.announce(f, at, unless); err != nil {
		return nil, err
	}
	h, _ := m.held.Builder().SoFar()
	op, row := h.OpOf[at], f.row()
	if !models.Changes(f.part.Model, f.part.Op(row)) {
		m.held.Builder().LeaveOut(op)
		f.LeaveOut(f.i, row)
		return nil, nil
	}
	if m.held.Builder().Crash(op); m.ahead || m.writes != nil || !f.Crash(f.i, row) {
		f.part.Res[row] = models.Open
		crashed = append(crashed, op)
	}
	return crashed, nil
}

// announce tells of an anomaly, which there would not be with some other readings.
func (m *Monitor) announce(f *failure, at jepsen.Event, unless []report.Alternative) error {
	h, _ := m.held.Builder().SoFar()
	row := f.row()
	a := Anomaly{Operation: h.Op(h.OpOf[at]), Key: f.NameOf(f.i), Behind: -1, BehindFor: -1, Unless: unless}
	shows := f.part.Model.Traits().Anomaly
	elsewhere := m.held.States[f.KeyOf(f.i)] != nil && forget.KnowsOnlyState(f.part.Model) // not what came before
	switch {
	case elsewhere:
		shows = nil
		if err := m.explain(f, &a); err != nil {
			return err
		}
	case f.why != nil:
		a.Kind, a.Explanation = f.why.Anomaly(f.part.Teller()), f.why.Tell(f.part.Teller())
		if !f.why.Bare {
			shows = nil
		} else if told := levels.Cycle(f.part, f.why.Rows); told != nil {
			a.Explanation = told.Says
		}
	}
	if a.Kind == "" && shows != nil {
		a.Kind = shows(f.part, row)
	}
	if elsewhere && !aboutAge(a.Kind) { // which what is held shows for certain
		a.Kind = models.NeverWritten
	}
	old := m.isOld(f, row, &a)
	if elsewhere && !old && a.Kind == models.NeverWritten { // it may have been, long ago
		a.Kind = ""
	}
	if elsewhere && f.part.Model.Traits().IsRegister && f.part.Op(row).A == f.part.Model.Init()[0] { // that is not the initial value
		a.Behind, a.BehindFor, a.Session = -1, -1, ""
	}
	if state := m.held.States[f.KeyOf(f.i)]; state != nil && state.IsPath && !elsewhere && a.Explanation == "" {
		if err := m.explain(f, &a); err != nil {
			return err
		}
	}
	if !old && m.held.States[f.KeyOf(f.i)] == nil {
		if err := m.show(f, &a); err != nil {
			return err
		}
	}
	if a.Explanation == "" {
		a.Explanation = a.Operation.String() + " cannot happen: " + report.NoOrder
	}
	if !aboutAge(a.Kind) && a.Kind != models.NeverWritten { // it is not about an age
		a.Behind, a.BehindFor, a.Session = -1, -1, ""
	}
	m.totals.Anomalies++
	m.totals.Kinds[a.Kind]++
	m.reads.doubt(unless)
	if a.Session != "" {
		m.totals.Sessions[a.Session]++
	}
	m.diagnose(f, at, &a)
	if m.Found == nil {
		return nil
	}
	return m.Found(a)
}

// aboutAge reports whether a kind is about how old a value is.
func aboutAge(kind models.Anomaly) bool {
	return kind == models.StaleRead || kind == models.Rollback || kind == models.LostUpdate
}

// row is the row of the operation that fails.
func (f *failure) row() models.Row { return models.Row(slices.Index(f.part.Res, f.FailEvent)) }

// show says why an operation cannot happen if that is not known, and shows the first anomaly of each kind in full.
func (m *Monitor) show(f *failure, a *Anomaly) error {
	if a.Explanation == "" {
		r, err := m.decideAgain(f, newDecider(m.specOf(f.Key), m.o))
		if err != nil {
			return err
		}
		if r != nil {
			a.Kind, a.Explanation = r.Kind, r.Explanation
		}
	}
	if m.seen[a.Kind] {
		return nil
	}
	o := m.o
	o.Independent, o.Whole, o.keysUnsaid, o.soFar = false, true, !o.Independent && !o.Whole, true
	r, err := Check(m.ctx, f.H, m.specOf(f.Key).FromDefault(), o)
	if err != nil {
		return err
	}
	if f.isShown(r) {
		a.Result, a.Kind, a.Explanation = r, r.Kind, r.Explanation
	}
	m.seen[a.Kind] = true
	return nil
}

// decideAgain returns what a decider finds of a part that fails, nil if it does not find that.
func (m *Monitor) decideAgain(f *failure, d *decider) (*report.Result, error) {
	o := m.o
	o.Verify, o.soFar = VerifyNever, true
	c := &checking{h: f.H, spec: d.spec, ops: f.part}
	c.decide(m.ctx, d, o.limits())
	r, err := c.result(m.ctx, d, o)
	if err != nil || !f.isShown(r) {
		return nil, err
	}
	return r, nil
}

// isShown says whether a result shows that the operation fails.
func (f *failure) isShown(r *report.Result) bool {
	return r.Verdict == jepsen.Invalid && r.FailEvent.OrNone() == jepsen.Event(f.FailEvent)
}

// explain says why an operation cannot happen after the state that is left of what was forgotten. Only a search says that; a
// fast path speaks of all that was there.
func (m *Monitor) explain(f *failure, a *Anomaly) error {
	register := f.part.Model.Traits().IsRegister
	if _, sums := models.ShapeOf[models.CounterShape](f.part.Model); sums {
		return nil
	}
	d := newDecider(m.specOf(f.Key), m.o)
	d.fast, d.bare = false, true
	r, err := m.decideAgain(f, d)
	if r != nil {
		if a.Kind = r.Kind; len(r.Core) > 1 || !register { // otherwise, it speaks of the initial value
			a.Explanation = r.Explanation
		}
	}
	return err
}

// diagnose says on which node an anomaly happened, and what the nemesis did meanwhile, and remembers that.
func (m *Monitor) diagnose(f *failure, at jepsen.Event, a *Anomaly) {
	h, _ := m.held.Builder().SoFar()
	begin := h.Invocation[h.OpOf[at]]
	of := h.Extra("node")
	node, found := of(at)
	if !found {
		node, found = of(begin)
	}
	if found && node.Kind() != edn.KindNil {
		if name, isText := node.Go().(string); isText {
			a.Node = name
		} else {
			a.Node = node.String()
		}
	}
	during := m.diagnosis.Note(diagnosis.Found{Kind: string(a.Kind), Node: a.Node, Key: a.Key, Index: a.Operation.Index, From: m.held.Came[begin], To: m.held.Came[at],
		Time: m.timeOf(h, h.Times(), at), Behind: a.Behind, For: int64(a.BehindFor)})
	for _, w := range during {
		a.Nemesis = append(a.Nemesis, NemesisWindow{diagnosis.Name(w.F), w.Index})
	}
	if m.Draws {
		m.draw(f, a)
	}
}

// draw draws the first anomaly of a kind, and the first with a Result.
func (m *Monitor) draw(f *failure, a *Anomaly) {
	before := slices.IndexFunc(m.drawings, func(d page.Drawing) bool { return d.Kind == string(a.Kind) })
	if before >= 0 && (m.drawings[before].Full || a.Result == nil) {
		return
	}
	r := a.Result
	if r == nil {
		r = &report.Result{History: f.H, Spec: m.specOf(f.Key)}
	}
	d := page.NewDrawing(m.ctx, a.Kind, a.Operation.Index, a.Explanation, r)
	if before >= 0 {
		m.drawings[before] = d
	} else {
		m.drawings = append(m.drawings, d)
	}
}

// isOld finds out how old the value is that an operation saw. It returns true if nothing that is held shows that
// the value was written, and so completes the anomaly.
func (m *Monitor) isOld(f *failure, row models.Row, a *Anomaly) bool {
	part := f.part
	h, _ := m.held.Builder().SoFar()
	age, sees := m.ages.Of(part, f.KeyOf(f.i), f.Varies, row, m.clockOf(f.Judged, h.Times()))
	if !sees {
		return false
	}
	a.Behind, a.BehindFor, a.Session = age.Behind, time.Duration(age.For), Session(age.Session)
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

// count counts the operations that ended at an event or later, and before another one.
func (m *Monitor) count(h *jepsen.History, from, until jepsen.Event) {
	begins, ends, line := h.Times(), h.Times(), &m.diagnosis.Timeline // each is fast for events in order
	for e := from; e < until; e++ {
		if h.Type[e] == jepsen.Invoke {
			continue
		}
		m.totals.Operations++
		if !m.Draws {
			continue
		}
		switch now := m.timeOf(h, ends, e); h.Type[e] {
		case jepsen.OK:
			took := int64(-1)
			if began, known := begins(h.Invocation[h.OpOf[e]]); known && line.ByTime {
				took = now - began
			}
			line.Succeeded(now, took)
		case jepsen.Fail:
			line.Failed(now)
		default:
			line.Crashed(now)
		}
	}
}

// clockOf returns when events of a part of the history came. The times are those of the whole.
func (m *Monitor) clockOf(x *held.Judged, times func(jepsen.Event) (int64, bool)) forget.Clock {
	return forget.Clock{
		Place: func(e jepsen.Event) int64 { return m.held.Came[x.H.InWhole(e)] },
		Time:  func(e jepsen.Event) (int64, bool) { return times(x.H.InWhole(e)) },
	}
}

// note remembers what the operations show that returned at an event or later, and before another one.
func (m *Monitor) note(all []*held.Judged, begin, end jepsen.Event) {
	h, _ := m.held.Builder().SoFar()
	times := h.Times()
	for _, x := range all {
		from, to := x.Event(begin), x.Event(end)
		for i, part := range x.Parts {
			m.ages.Note(part, x.KeyOf(i), x.Varies, from, to, m.clockOf(x, times))
		}
	}
}

// known returns the first event of which it is not known how all operations invoked before it end.
func (m *Monitor) known(h *jepsen.History, ended bool) jepsen.Event {
	known, stuck := m.held.Known(h, held.Limit{Time: m.Stuck, Events: m.StuckEvents}, ended)
	m.totals.Stuck += stuck
	return known
}

// forget forgets what need not be held once everything before an event has been decided, but for some operations.
func (m *Monitor) forget(h *jepsen.History, all []*held.Judged, decided jepsen.Event, but ...jepsen.Operation) error {
	m.reads.Noted = 0
	m.totals.Operations += m.held.Forget(h, all, held.Forgetting{Spec: m.spec, Decided: decided, But: but, All: m.holds, Values: m.values, Shared: m.shared, Searches: m.enough >> min(m.totals.Anomalies, 4), Witness: m.writes})
	return m.witnessed(m.writes.Err())
}

// witnessed returns why the witness does not go on: because of an error, or of what ended the pass.
func (m *Monitor) witnessed(err error) error {
	if cause := context.Cause(m.ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// witnesses begins the witness, if there is one.
func (m *Monitor) witnesses() error {
	if m.Witness == nil {
		return nil
	}
	if m.o.Independent && m.o.Keyless {
		return errors.New("a monitor writes no witness where operations without a key belong to every key")
	}
	if h, err := jepsen.NewBuilder(jepsen.Options{}).SoFar(); err == nil {
		if ops, err := m.spec.Read(h); err == nil {
			if err := m.witnessable(ops.Model); err != nil {
				return err
			}
		}
	}
	m.writes = &held.Witness{To: m.Witness, Order: func(part *models.Operations) ([]models.Row, bool) {
		d := m.d.part(m.ctx, part, m.o.limits())
		return d.Order, d.Verdict == jepsen.Valid
	}}
	return nil
}

// witnessable says why a witness of a model cannot be written in one pass.
func (m *Monitor) witnessable(model models.Model) error {
	of := model.Traits().Shape
	if of == nil {
		return nil
	}
	switch of().(type) {
	case models.FIFOShape, models.BagShape, models.PriorityShape, models.TxnRegistersShape:
		return fmt.Errorf("a monitor writes no witness of %s: the order of what it forgets may depend on what comes; %s writes one of a history that is held", m.spec.Name, option.WitnessFile)
	}
	return nil
}

// lastWitness writes what is left once the history has ended.
func (m *Monitor) lastWitness(h *jepsen.History) error {
	parts, err := m.parts(h)
	if errors.Is(err, jepsen.ErrNoTuples) {
		return nil
	} else if err != nil {
		return err
	}
	return m.witnessed(m.held.Finish(h, parts, m.writes))
}

// Event is an event of a client, for Monitor.Observe.
type Event struct {
	Type    jepsen.Type // jepsen.Invoke, jepsen.OK, jepsen.Fail or jepsen.Info
	Process int         // of the client, which has at most one operation open
	F       string      // such as "write"
	// Value is plain Go, as edn.Values.From takes it. That of an OK counts, so the OK of a write carries the value that
	// was written.
	Value any
	With  []jepsen.Extra // other keys, such as jepsen.With("time", nanoseconds)
}

// Observe takes note of an event, in the order in which they happened, and returns the anomalies that have become known.
// Events are decided in stretches, and at least every tenth of a second if that is cheap enough, so an anomaly may be
// returned with a later event, by Look or by End. Without a model, none is returned before enough has come to infer one.
// Observe, Look and End are for a history that does not come from a text; Read does not go with them.
func (m *Monitor) Observe(e Event) ([]Anomaly, error) {
	b := m.held.Builder()
	if b == nil {
		if err := m.witnesses(); err != nil {
			return nil, err
		}
		b = jepsen.NewBuilder(jepsen.Options{})
	}
	switch e.Type {
	case jepsen.Invoke:
		b.Invoke(e.Process, e.F, e.Value, e.With...)
	case jepsen.OK:
		b.OK(e.Process, e.F, e.Value, e.With...)
	case jepsen.Fail:
		b.Fail(e.Process, e.F, e.Value, e.With...)
	case jepsen.Info:
		b.Info(e.Process, e.F, e.Value, e.With...)
	default:
		return nil, fmt.Errorf("expected an event of type jepsen.Invoke, jepsen.OK, jepsen.Fail or jepsen.Info, found %d", e.Type)
	}
	if _, err := b.SoFar(); err != nil {
		return nil, err
	}
	return m.observed(func() error {
		if _, err := m.each(b, 1, false); err != nil || m.events == 0 || time.Since(m.looked) < max(observedPause, lookShare*m.took) {
			return err
		}
		return m.look(false)
	})
}

// observedPause is how long Observe waits at least between two looks, unless much has come.
const observedPause = 100 * time.Millisecond

// Look decides what Observe has noted so far, as far as it is known how operations end, and returns the anomalies that
// have become known.
func (m *Monitor) Look() ([]Anomaly, error) { return m.observed(func() error { return m.look(false) }) }

// End decides all that Observe has noted, and returns the anomalies that have become known. Operations that are open count
// as crashed. Nothing may be observed after it.
func (m *Monitor) End() ([]Anomaly, error) {
	return m.observed(func() error {
		b := m.held.Builder()
		if b == nil {
			return nil
		}
		if err := m.look(true); err != nil {
			return err
		}
		_, err := b.History()
		return err
	})
}

// observed returns the anomalies that a look finds.
func (m *Monitor) observed(look func() error) ([]Anomaly, error) {
	var all []Anomaly
	told := m.Found
	defer func() { m.Found = told }()
	m.Found = func(a Anomaly) error {
		all = append(all, a)
		if told != nil {
			return told(a)
		}
		return nil
	}
	err := look()
	return all, err
}
