package held

import (
	"maps"
	"slices"
	"time"

	"clew/edn"
	"clew/internal/forget"
	"clew/jepsen"
	"clew/models"
)

// History is what is held of a history. Its exported fields can be stored by package encoding/gob. The zero History holds
// nothing.
type History struct {
	Decided jepsen.Event       // the history up to just before this event has been decided
	Forgot  bool               // some operations were forgotten
	Began   map[string]bool    // by key, "" for the whole: some were of what is judged by itself
	Stuck   []jepsen.Operation // open, but they count as crashed; ascending
	Settled []jepsen.Operation // they count as having happened, and are not judged anymore; ascending
	Written []jepsen.Operation // to a witness; ascending
	Pins    []jepsen.Operation // show how others are read; ascending
	Open    bool               // the meaning of some operation depends on what comes
	Callers map[string]bool    // whose operations have been judged: whether they name somebody
	States  map[string]*forget.State
	Told    map[string]bool // by key: answers are told
	// Positions says that an operation told a position, even if none does that is held.
	Positions bool
	Came      []int64 // by event: how many events of clients there were with it
	Clock     int64   // how many there are now

	b      *jepsen.Builder
	values int            // how many there were when some were last forgotten
	hard   map[string]int // by key: how many operations were held when a search found nothing to forget
}

// Builder returns what the events are added to, nil if there is none yet.
func (x *History) Builder() *jepsen.Builder { return x.b }

// Has says that a builder has what is held.
func (x *History) Has(b *jepsen.Builder) {
	if x.b = b; x.States == nil { // an empty map is stored as none
		x.States = map[string]*forget.State{}
	}
	if x.Callers == nil {
		x.Callers = map[string]bool{}
	}
	if x.Told == nil {
		x.Told = map[string]bool{}
	}
	if x.Began == nil {
		x.Began = map[string]bool{}
	}
	if x.hard == nil {
		x.hard = map[string]int{}
	}
}

// Note takes note of the events that have come.
func (x *History) Note(h *jepsen.History) {
	for len(x.Came) < len(h.Type) {
		x.Clock++
		x.Came = append(x.Came, x.Clock)
	}
	x.Came = x.Came[:len(h.Type)] // a completion without an invocation was ignored
}

// Limit says for how long an operation may be open before it counts as crashed; 0 means forever.
type Limit struct {
	Time   time.Duration // by the :time of events in nanoseconds
	Events int           // as a number of later events
}

// Known returns the first event of which it is not known how all operations invoked before it end. What has been open for
// too long by then counts as crashed; stuck counts these operations. ended says that nothing more comes.
func (x *History) Known(h *jepsen.History, limit Limit, ended bool) (known jepsen.Event, stuck int) {
	end := jepsen.Event(len(h.Type))
	limited := limit != Limit{}
	if ended && !limited {
		return end, 0
	}
	times := func(jepsen.Event) (int64, bool) { return 0, false }
	if limit.Time > 0 {
		times = h.Times()
	}
	for e := x.Decided; e < end; e++ {
		op := h.OpOf[e]
		if h.Type[e] != jepsen.Invoke || h.Status[op] == jepsen.Crashed && h.Completion[op] != jepsen.None || has(x.Stuck, op) {
			continue
		}
		last := h.Completion[op]
		if last == jepsen.None {
			last = end - 1
		}
		switch late := limited && x.isLate(h, limit, e, last, times); {
		case late && h.Completion[op] == jepsen.None:
			x.Stuck = append(x.Stuck, op)
			slices.Sort(x.Stuck)
			stuck++
		case late:
			x.b.Crash(op)
			stuck++
		case h.Completion[op] == jepsen.None && !ended:
			return e, stuck
		}
	}
	return end, stuck
}

// isLate says whether too much came between the invocation of an operation and another event.
func (x *History) isLate(h *jepsen.History, limit Limit, invoke, other jepsen.Event, times func(jepsen.Event) (int64, bool)) bool {
	if limit.Events > 0 {
		came := x.Came[other]
		if h.Completion[h.OpOf[invoke]] == jepsen.None {
			came = x.Clock + 1 // its completion comes later
		}
		return came-x.Came[invoke] > int64(limit.Events)
	}
	from, known := times(invoke)
	to, also := times(other)
	return known && also && to-from > int64(limit.Time)
}

// CrashLate has operations crash that have returned after they counted as crashed.
func (x *History) CrashLate(h *jepsen.History) {
	for _, op := range x.Stuck {
		if h.Completion[op] != jepsen.None {
			x.b.Crash(op)
		}
	}
}

// IsOpen says whether an operation may still return, and that counts.
func (x *History) IsOpen(h *jepsen.History, op jepsen.Operation) bool {
	return h.Completion[op] == jepsen.None && !has(x.Stuck, op)
}

// IsCertain says whether no later operation can change how one is read that has come.
func (x *History) IsCertain(h *jepsen.History, spec models.Spec) bool {
	d, err := spec.Definition()
	switch {
	case err != nil:
		return false
	case d.Settles == nil:
		return d.Caller != nil
	}
	for e := x.Decided; !x.Open && int(e) < len(h.Type); e++ {
		if op := h.OpOf[e]; h.Type[e] != jepsen.Invoke || h.Completion[op] == jepsen.None {
			_, x.Open = d.Settles(models.OperationOf(h, op))
		}
	}
	if spec.Init != "" && !x.Open {
		if init, err := h.Values.ParseLenient([]byte(spec.Init)); err == nil {
			_, x.Open = d.Settles(models.Operation{Values: h.Values, FID: edn.Nil, ValueID: init, KeyID: edn.Nil, GivenID: init, Status: jepsen.Crashed})
		}
	}
	return !x.Open
}

// LateName returns an operation that names who its caller is, although others of the same caller were judged before without.
func (x *History) LateName(h *jepsen.History, spec models.Spec) (op jepsen.Operation, found bool) {
	d, err := spec.Definition()
	if err != nil || d.Caller == nil {
		return 0, false
	}
	for e := x.Decided; int(e) < len(h.Type); e++ {
		if h.Type[e] == jepsen.OK {
			caller, names := d.Caller(spec, models.OperationOf(h, h.OpOf[e]))
			if named, judged := x.Callers[caller]; names && judged && !named {
				return h.OpOf[e], true
			}
		}
	}
	return 0, false
}

// pin chooses operations that show how others are read, among those that were judged before an event.
func (x *History) pin(h *jepsen.History, spec models.Spec, decided jepsen.Event, kept []bool) {
	d, err := spec.Definition()
	switch {
	case err != nil:
	case d.Settles != nil && len(x.Pins) == 0:
		for e := range decided {
			if h.Type[e] != jepsen.Invoke {
				if settles, _ := d.Settles(models.OperationOf(h, h.OpOf[e])); settles {
					x.Pins = []jepsen.Operation{h.OpOf[e]}
					return
				}
			}
		}
	case d.Caller != nil:
		x.pinNames(h, func(op jepsen.Operation) (string, bool) { return d.Caller(spec, models.OperationOf(h, op)) }, decided, kept)
	}
}

// pinNames chooses the operations that say whose those are that are kept, and what comes.
func (x *History) pinNames(h *jepsen.History, callerOf func(jepsen.Operation) (string, bool), decided jepsen.Event, kept []bool) {
	last, judged := map[string]jepsen.Operation{}, map[string]jepsen.Operation{} // by caller: what names somebody
	nameless := map[string]bool{}                                                // by caller: something is kept that comes before any of these
	pins := map[jepsen.Operation]bool{}
	for op := range jepsen.Operation(h.Operations()) {
		if h.Completion[op] == jepsen.None && h.Invocation[op] >= decided || h.Status[op] == jepsen.Failed {
			continue // it is not known how it ends, or it did not happen
		}
		caller, names := callerOf(op)
		if names {
			last[caller] = op
		}
		if names && h.Completion[op] < decided {
			judged[caller] = op // one that is not may turn out to have crashed
		}
		named, known := last[caller]
		switch {
		case !known && kept[op]:
			nameless[caller] = true
		case known && (kept[op] || nameless[caller]):
			pins[named], nameless[caller] = true, false
		}
		if !x.Callers[caller] && h.Completion[op] < decided {
			x.Callers[caller] = false
		}
	}
	for caller := range last {
		x.Callers[caller] = true
	}
	for _, op := range judged {
		pins[op] = true
	}
	x.Pins = slices.Sorted(maps.Keys(pins))
}

// Forgetting says what Forget may forget.
type Forgetting struct {
	Spec    models.Spec
	Decided jepsen.Event       // everything before it has been decided
	But     []jepsen.Operation // these must be kept
	All     bool               // everything must be kept that has not been left out
	Values  int                // how many values may be held before those that are not needed are forgotten
	Shared  bool               // the values are those of another history, so none is forgotten
	// Searches is from how many operations on some are forgotten for which that takes a search: fewer are explained better.
	Searches int
	Witness  *Witness // unless nil, what is forgotten is written to it
}

// Values are forgotten if they are many for what is held, since tables by value have room for all. Those of few events are
// not worth it.
const (
	fewValues   = 4096
	valuesShare = 4 // there are more than so many for each event

	fewRows = 32 // of a key are not worth a search
)

// Forget forgets what need not be held. It returns how many operations it forgot although their ends have not been
// decided, since they crashed.
func (x *History) Forget(h *jepsen.History, all []*Judged, f Forgetting) (ended int) {
	kept := x.needed(h, all, f)
	var keep []jepsen.Operation
	for op, k := range kept {
		if k {
			keep = append(keep, jepsen.Operation(op))
		} else if h.Completion[op] >= f.Decided {
			ended++
		}
	}
	before, came := 0, x.Came[:0]
	for e, op := range h.OpOf {
		if !kept[op] {
			continue
		}
		if jepsen.Event(e) < f.Decided {
			before++
		}
		came = append(came, x.Came[e])
	}
	text := f.Witness.text(h) // while it is held
	values := !f.Shared && h.Values.Len() > min(f.Values, max(fewValues, 2*x.values, valuesShare*len(h.Type)))
	begun := x.beginning(all, kept)
	if !x.b.Forget(keep, values) { // all is held, from the beginning
		x.Decided = f.Decided
		clear(x.States)
		x.Settled, x.Written = nil, nil
		return 0
	}
	f.Witness.write(text)
	if values {
		x.values = h.Values.Len()
	}
	x.Came = came
	x.Forgot = x.Forgot || len(keep) < len(kept) || len(x.States) > 0
	for _, key := range begun {
		x.Began[key] = true
	}
	x.Decided = jepsen.Event(before)
	lists := []*[]jepsen.Operation{&x.Stuck, &x.Settled, &x.Written, &x.Pins}
	for _, state := range x.States {
		if len(state.Path) > 0 { // others may be states of other monitors as well
			lists = append(lists, &state.Path)
		}
	}
	for _, ops := range lists {
		still := (*ops)[:0]
		for _, op := range *ops {
			if i, found := slices.BinarySearch(keep, op); found {
				still = append(still, jepsen.Operation(i))
			}
		}
		*ops = still
	}
	return ended
}

// beginning returns the keys of what is judged by itself and has an operation that is not kept, or not judged anymore, and would
// matter for what was there at first.
func (x *History) beginning(all []*Judged, kept []bool) (keys []string) {
	for _, j := range all {
		gone := func(op jepsen.Operation) bool {
			whole := j.H.WholeOperation(op)
			return !kept[whole] || has(x.Settled, whole)
		}
		if !x.Began[j.Key] && j.any(gone) {
			keys = append(keys, j.Key)
		}
	}
	return keys
}

// Anew has what is judged by itself, and has not begun, begin in another state.
func (x *History) Anew(j *Judged) {
	for i := range j.Parts {
		delete(x.States, j.KeyOf(i))
	}
}

// needed returns by operation whether it must be held, and notes in which states parts go on.
func (x *History) needed(h *jepsen.History, all []*Judged, f Forgetting) (kept []bool) {
	kept = make([]bool, h.Operations())
	for op := range kept {
		last := h.Completion[op]
		kept[op] = last == jepsen.None || last >= f.Decided && h.Invocation[op] >= f.Decided || last >= f.Decided && h.Status[op] != jepsen.Crashed
	}
	for _, op := range f.But {
		kept[op] = true
	}
	for _, j := range all {
		end := j.Event(f.Decided)
		var order []placed
		before := models.Open
		for i, part := range j.Parts {
			if part.Len() == 0 {
				continue // all that it had was left out
			}
			var need forget.Kept
			if !f.All {
				need = forget.Needed(part, end, forget.Options{Settle: j.exact, Searches: j.lasts && h.Operations() >= f.Searches && part.Len() >= max(min(f.Searches, fewRows), 2*x.hard[j.KeyOf(i)]),
					Pinned: func(row models.Row) bool { return h.Completion[j.H.WholeOperation(part.Of[row])] == jepsen.None }})
			}
			if f.Witness != nil && !f.All {
				var own []placed
				need, own, before = f.Witness.due(x, j, part, end, need)
				order = append(order, own...)
			}
			if need.State != nil {
				if p := need.Path; p != nil {
					old := x.pathOf(j.KeyOf(i))
					for _, place := range p.Old {
						need.State.Path = append(need.State.Path, old[place])
					}
					for _, row := range p.Rows {
						need.State.Path = append(need.State.Path, j.H.WholeOperation(part.Of[row]))
					}
				}
				x.States[j.KeyOf(i)] = need.State
				delete(x.hard, j.KeyOf(i))
			} else if need.Hard {
				x.hard[j.KeyOf(i)] = part.Len()
			}
			for row, op := range part.Of {
				whole := j.H.WholeOperation(op)
				if need.Rows == nil || need.Rows[row] {
					kept[whole] = true
				}
				if need.Settled != nil && need.Settled[row] && (kept[whole] || h.Completion[whole] >= f.Decided) {
					x.Settled = append(x.Settled, whole)
				}
			}
		}
		if f.Witness != nil && !f.All {
			f.Witness.take(x, h, j, order, end, before, func(whole jepsen.Operation) { kept[whole] = true })
		}
	}
	for _, state := range x.States {
		for _, op := range state.Path {
			kept[op] = true
			x.Settled = append(x.Settled, op)
		}
	}
	if !f.All {
		x.pin(h, f.Spec, f.Decided, kept)
	}
	for _, op := range x.Pins {
		if !kept[op] {
			kept[op] = true
			x.Settled = append(x.Settled, op) // only its reading matters
		}
	}
	slices.Sort(x.Settled)
	x.Settled = slices.Compact(x.Settled)
	if f.Witness != nil {
		x.Written = append(x.Written, f.Witness.next...)
		slices.Sort(x.Written)
	}
	return kept
}

// pathOf returns the operations that lead to the state of a part.
func (x *History) pathOf(key string) []jepsen.Operation {
	if state := x.States[key]; state != nil {
		return state.Path
	}
	return nil
}

// has says whether an operation is among some, which ascend.
func has(ops []jepsen.Operation, op jepsen.Operation) bool {
	_, found := slices.BinarySearch(ops, op)
	return found
}
