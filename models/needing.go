package models

import (
	"context"

	"clew/edn"
	"clew/jepsen"
)

// An update that depends on a value says what was there before it, such as the old value of a cas. If it has not
// returned, operations that saw what it left show it. Spec.Needings finds the initial values that such updates need.

// Needing gathers what updates need.
type Needing interface {
	// Needs says that an update has begun. It may have crashed, but has not failed.
	Needs(op Op)
	// Needed returns initial values. Each holds one value that some update needs and that no operation was called to
	// leave.
	Needed() []edn.ID
}

// Needings returns the spec with each initial value that an update of a core needs. No operation of the history had
// been called to leave that value before event fail, whether it failed or not. If the spec has an initial value,
// Needings may only add another key to it. If some is not nil, these operations are the whole history. If the core
// needs no such value, Needings does not look at the history; otherwise it takes linear time. The core may have operations
// that were called later: they need values, and leave none in time. It returns false if the context ended first.
func (s Spec) Needings(ctx context.Context, h *jepsen.History, core, some []jepsen.Operation, fail jepsen.Event) ([]Spec, bool) {
	m, o := s.opening(h)
	if o == nil || o.Needing() == nil || s.Init != "" && !o.Later() {
		return nil, true
	}
	for _, i := range core {
		if h.Status[i] == jepsen.Failed {
			continue
		}
		if h.Invocation[i] < fail {
			tellCall(h, m, o, i)
		}
		op, keep := readAs(h, m, i, h.Status[i])
		if keep && m.Mutates(op) {
			o.Needing().Needs(op)
		}
	}
	if len(o.Needing().Needed()) == 0 {
		return nil, true
	}
	for e := range eventsOf(h, some) {
		if e >= fail {
			break
		}
		if e%1024 == 1023 && ctx.Err() != nil {
			return nil, false
		}
		if i := h.OpOf[e]; i != jepsen.None && e == h.Invocation[i] {
			tellCall(h, m, o, i)
		}
	}
	return s.starting(h, s.added(h.Values, o.Needing().Needed())), true
}

// added returns starts if the spec has no initial value. Otherwise it returns maps that also hold the keys and values
// of that one.
func (s Spec) added(v *edn.Values, starts []edn.ID) []edn.ID {
	given, err := s.initial(v)
	if err != nil || given == nil {
		return starts
	}
	var more []edn.ID
	for _, start := range starts {
		if items := v.Items(start); v.Kind(start) == edn.KindMap && v.Kind(*given) == edn.KindMap {
			if _, has := v.Get(*given, items[0]); !has {
				more = append(more, v.InternMap(append(append([]edn.ID{}, v.Items(*given)...), items...)))
			}
		}
	}
	return more
}
