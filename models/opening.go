package models

import (
	"context"
	"iter"
	"math"
	"slices"

	"clew/edn"
	"clew/jepsen"
)

// A test may begin with other contents than the model's default. Its first reads show them: nothing had been called
// to write what they saw. Spec.Openings finds such values. Its caller decides whether a history is linearizable from
// one of them.

// Opening gathers what operations show of what was there before all of them. It takes the operations of a history in
// the order of their events.
type Opening interface {
	// Call says that an operation is called. A failed operation is called like a crashed one. One that changed
	// nothing is also called as what it might have changed.
	Call(i jepsen.Operation, op Op, status jepsen.Status)
	// Return says that an operation has succeeded. It is early if it was called before any operation that Puts
	// something had returned.
	Return(i jepsen.Operation, op Op, early bool)
	// Puts reports whether reads that are called once op has returned are no longer early.
	Puts(op Op) bool
	// Later reports whether anything but early operations matters.
	Later() bool
	// Starts returns the initial values that were shown, the likeliest first.
	Starts() []edn.ID
	// Needing gathers what updates need that depend on a value. It returns nil if updates do not show that.
	Needing() Needing
}

// Existing is an Opening that knows whether its Starts are all initial values that matter.
type Existing interface {
	Opening
	Else() Else
}

// Else says what a history shows of its initial value beside an Opening's Starts.
type Else struct {
	// More: it may be linearizable from values that are not among the Starts, which are too many. The model's
	// Traits.FromAny decides.
	More bool
	// Refuted: it is linearizable from no value. So if there are More, that only matters for where it fails.
	Refuted bool
	// MayBeDefault: the first reads do not exclude the model's default, so if no start explains the history, it failed
	// as it does from the default.
	MayBeDefault bool
	// Unshown are values that may have been there at first, but the history does not show that.
	Unshown []edn.ID
}

// FromDefault returns the spec with the initial value that its model has by default, if the model names one. That
// value counts then, whatever the first reads show.
func (s Spec) FromDefault() Spec {
	if d, err := s.Definition(); err == nil && s.Init == "" {
		s.Init = d.Default
	}
	return s
}

// MaxOpenings bounds the initial values that an Opening returns.
const MaxOpenings = 8

// Opened is a spec with the initial values that the first reads of a history show.
type Opened struct {
	Specs        []Spec // the likeliest first
	Unshown      []Spec // as of Else
	More         bool   // as of Else
	Refuted      bool   // as of Else
	MayBeDefault bool   // as of Else
	Stopped      bool   // the context ended first: there may be more
}

// Openings returns the spec with the initial values of Opened.
func (s Spec) Openings(ctx context.Context, h *jepsen.History, some []jepsen.Operation) []Spec {
	return s.Opened(ctx, h, some).Specs
}

// Opened returns the spec with each initial value that a history shows. What that is depends on the model: mostly what its
// first reads saw, if by then no operation had been called to write that, whether it failed or not.
//
// It returns none in these cases: the spec has an initial value; the model takes none; the history is of a form that
// names its object, which begins empty there; or histories are read as Knossos reads them. Knossos's models, like
// users' own models, always say what they begin with.
//
// A register has at most one, as a value that nothing wrote must have been there. If some is not nil, these
// operations are the whole history. Takes linear time, but registers, sets and the like stop once the first write has
// returned.
func (s Spec) Opened(ctx context.Context, h *jepsen.History, some []jepsen.Operation) (opened Opened) {
	if s.Init != "" {
		return opened
	}
	m, o := s.opening(h)
	if o == nil {
		return opened
	}
	if !walkOpening(ctx, h, m, o, eventsOf(h, some)) {
		opened.Stopped = true
		return opened
	}
	opened.Specs = s.starting(h, o.Starts())
	if existing, ok := o.(Existing); ok {
		other := existing.Else()
		opened.More, opened.Refuted, opened.MayBeDefault, opened.Unshown = other.More, other.Refuted, other.MayBeDefault, s.starting(h, other.Unshown)
	}
	return opened
}

// opening returns a reader of a history and its Opening, or nil if first reads must not be used.
func (s Spec) opening(h *jepsen.History) (Reader, Opening) {
	d, err := s.Definition()
	if err != nil || s.Knossos || h.Object != "" || !d.Takes(ParamInit) {
		return nil, nil
	}
	_, m, _, err := s.surveyed(h)
	if err != nil || m.Traits().Opening == nil {
		return nil, nil
	}
	return m, m.Traits().Opening()
}

// StartingFrom returns the spec with an initial value. It returns false if the model does not take it.
func (s Spec) StartingFrom(h *jepsen.History, start edn.ID) (Spec, bool) {
	if specs := s.starting(h, []edn.ID{start}); len(specs) > 0 {
		return specs[0], true
	}
	return s, false
}

// starting returns the spec with each of the initial values that it takes.
func (s Spec) starting(h *jepsen.History, starts []edn.ID) []Spec {
	var specs []Spec
	for _, start := range starts {
		other := s
		other.Init = h.Values.Text(start)
		if again, err := other.initial(h.Values); err == nil && again != nil && h.Values.Same(*again) == h.Values.Same(start) {
			specs = append(specs, other)
		}
	}
	return specs
}

// eventsOf yields the events of some operations in order, or of all operations if some is nil.
func eventsOf(h *jepsen.History, some []jepsen.Operation) iter.Seq[jepsen.Event] {
	return func(yield func(jepsen.Event) bool) {
		if some == nil {
			for e := range jepsen.Event(len(h.Type)) {
				if !yield(e) {
					return
				}
			}
			return
		}
		var events []jepsen.Event
		for _, i := range some {
			if events = append(events, h.Invocation[i]); h.Completion[i] != jepsen.None {
				events = append(events, h.Completion[i])
			}
		}
		slices.Sort(events)
		for _, e := range events {
			if !yield(e) {
				return
			}
		}
	}
}

// walkOpening passes the operations of a history to an Opening. It returns false if the context ends first.
func walkOpening(ctx context.Context, h *jepsen.History, m Reader, o Opening, events iter.Seq[jepsen.Event]) bool {
	reads := map[jepsen.Operation]Op{} // the reads that are under way
	end, settled, over := jepsen.Event(math.MaxInt32), jepsen.Event(math.MaxInt32), false
	for e := range events {
		if e >= end {
			return true
		}
		i := h.OpOf[e]
		if e%1024 == 1023 && ctx.Err() != nil {
			return false
		}
		if i == jepsen.None {
			continue
		}
		status := h.Status[i]
		switch {
		case e == h.Invocation[i]:
			if op, ok := tellCall(h, m, o, i); ok {
				reads[i] = op
			}
		case status == jepsen.Succeeded && e == h.Completion[i]:
			x, under := reads[i]
			if !under {
				break
			}
			delete(reads, i)
			o.Return(i, x, h.Invocation[i] < settled)
			if settled == math.MaxInt32 && o.Puts(x) {
				settled = e
			}
		}
		if settled < math.MaxInt32 && !over && !o.Later() {
			over, end = true, lastOfEarly(h, settled)+1
		}
	}
	return true
}

// tellCall tells an Opening that an operation is called. It returns what the operation does if it succeeded.
func tellCall(h *jepsen.History, m Reader, o Opening, i jepsen.Operation) (op Op, ok bool) {
	status := h.Status[i]
	if status == jepsen.Succeeded {
		if op, ok = readAs(h, m, i, status); ok {
			o.Call(i, op, status)
			if m.Mutates(op) {
				return op, ok
			}
		}
	}
	if called, may := readAs(h, m, i, jepsen.Crashed); may && (status != jepsen.Succeeded || m.Mutates(called)) {
		o.Call(i, called, status)
	}
	return op, ok
}

// readAs reads an operation as if it had ended with status.
func readAs(h *jepsen.History, m Reader, i jepsen.Operation, status jepsen.Status) (Op, bool) {
	inv := h.Invocation[i]
	x := Operation{h.Values, h.F[inv], h.Value[inv], h.Key(inv), status, h.Value[inv], h.Processes[h.Process[inv]], h, i}
	if status == jepsen.Succeeded {
		x.ValueID = h.OpValue(i)
	}
	op, keep, err := m.Read(x)
	return op, keep && err == nil
}

// lastOfEarly returns the last completion of the operations that were called before an event.
func lastOfEarly(h *jepsen.History, before jepsen.Event) jepsen.Event {
	last := before
	for i, inv := range h.Invocation {
		if inv > before {
			break
		}
		if h.Status[i] == jepsen.Succeeded {
			last = max(last, h.Completion[i])
		}
	}
	return last
}

// NoNeeds is embedded by Openings of models whose updates do not show what they need.
type NoNeeds struct{}

func (NoNeeds) Needing() Needing { return nil }
