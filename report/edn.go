package report

import (
	"fmt"

	"clew/edn"
	"clew/jepsen"
)

// EDN is the result map on one line, with sorted keys. Like everything that
// renders ops, it adds to the history's Values.
func (r *Result) EDN() string {
	v := edn.NewValues()
	if r.History != nil && r.History.Values != nil {
		v = r.History.Values
	}
	m := mapOf{v: v}
	if r.Keys == nil {
		r.fill(&m)
	} else {
		r.fillKeys(&m)
	}
	if r.File != "" {
		m.put("file", v.InternString(r.File))
	}
	return v.Text(m.id())
}

// fillKeys makes a map like the one that jepsen.independent's checker answers.
// Keys with an unknown verdict are not failures.
func (r *Result) fillKeys(m *mapOf) {
	var results, failures []edn.ID
	for _, k := range r.Keys {
		one := mapOf{v: m.v}
		k.fill(&one)
		results = append(results, k.Key.ID(), one.id())
		if k.Verdict == jepsen.Invalid {
			failures = append(failures, k.Key.ID())
		}
	}
	m.put("valid?", r.valid(m.v))
	m.put("results", m.v.InternMap(results))
	m.put("failures", m.v.InternVector(failures))
}

func (r *Result) valid(v *edn.Values) edn.ID {
	switch r.Verdict {
	case jepsen.Valid:
		return edn.True
	case jepsen.Invalid:
		return edn.False
	}
	return v.InternKeyword("unknown")
}

// fill makes the map of a single history.
func (r *Result) fill(m *mapOf) {
	v := m.v
	m.put("valid?", r.valid(v))
	configs, paths := v.InternList(nil), v.InternList(nil)
	switch r.Verdict {
	case jepsen.Valid:
		m.put("model", r.Final.ID())
	case jepsen.Invalid:
		m.put("op", r.eventMap(r.FailEvent))
		m.put("previous-ok", r.eventMap(r.PreviousOK()))
		m.put("last-op", r.opBefore(r.LastOperation))
		m.put("core", v.InternList(r.each(r.Core, r.opBefore)))
		configs, paths = r.configs(), r.paths()
	default:
		m.put("cause", edn.Nil)
		if r.Cause != "" {
			m.put("cause", v.InternKeyword(string(r.Cause)))
		}
		if r.Error != "" {
			m.put("error", v.InternString(r.Error))
		}
	}
	if sentence := r.sentence(); r.Verdict != jepsen.Valid && sentence != "" {
		m.put("explanation", v.InternString(sentence))
	}
	m.put("configs", configs)
	m.put("final-paths", paths)
	m.put("analyzer", edn.Nil)
	if r.Analyzer != "" {
		m.put("analyzer", v.InternKeyword(r.Analyzer))
	}
	m.put("stats", r.stats(v))
	if r.Verified {
		m.put("verified?", edn.True)
	}
	if r.Missing != "" {
		m.put("missing", v.InternString(r.Missing))
	}
}

func (r *Result) sentence() string {
	switch {
	case r.Verdict == jepsen.Valid && r.Depth > 0 && r.Explanation == "":
		return fmt.Sprintf("witness found at depth %d", r.Depth)
	case r.Verdict == jepsen.Valid && r.Depth > 0:
		return fmt.Sprintf("witness found at depth %d: %s", r.Depth, r.Explanation)
	case r.Hint == "":
		return r.Explanation
	}
	return r.Explanation + " (" + r.Hint + ")"
}

func (r *Result) stats(v *edn.Values) edn.ID {
	m := mapOf{v: v}
	if h := r.History; h != nil {
		m.put("events", v.InternInt(int64(h.Events)))
		m.put("operations", v.InternInt(int64(h.Operations())))
		m.put("crashed", v.InternInt(int64(h.CrashedCount())))
		m.put("skipped", v.InternInt(int64(h.Skipped)))
	}
	m.put("ms", v.InternFloat(r.Ms))
	return m.id()
}

func (r *Result) configs() edn.ID {
	v := r.History.Values
	var list []edn.ID
	for _, c := range r.Configs {
		m := mapOf{v: v}
		m.put("model", c.State.ID())
		m.put("last-op", r.opBefore(c.Last))
		m.put("pending", v.InternVector(r.each(c.Pending, r.operationMap)))
		list = append(list, m.id())
	}
	return v.InternList(list)
}

func (r *Result) paths() edn.ID {
	v := r.History.Values
	var list []edn.ID
	for _, path := range r.Paths {
		var steps []edn.ID
		for _, s := range path {
			m := mapOf{v: v}
			m.put("op", r.opBefore(s.Operation))
			m.put("model", s.state(v))
			steps = append(steps, m.id())
		}
		list = append(list, v.InternVector(steps))
	}
	return v.InternList(list)
}

// opBefore is an operation as it stands at the failure: its completion if it
// had returned by then, otherwise its invocation.
func (r *Result) opBefore(op jepsen.Operation) edn.ID {
	if op == jepsen.None {
		return edn.Nil
	}
	h := r.History
	if c := h.Completion[op]; c != jepsen.None && c <= r.FailEvent && h.Status[op] != jepsen.Crashed {
		return r.eventMap(c)
	}
	return r.operationMap(op)
}

func (r *Result) each(ops []jepsen.Operation, show func(jepsen.Operation) edn.ID) []edn.ID {
	var ids []edn.ID
	for _, op := range ops {
		ids = append(ids, show(op))
	}
	return ids
}

// eventMap is the op map of an event, nil if there is none.
func (r *Result) eventMap(e jepsen.Event) edn.ID {
	if e == jepsen.None {
		return edn.Nil
	}
	return r.History.EventMap(e).ID()
}

// operationMap is an operation's invocation, with the value that it returned.
func (r *Result) operationMap(op jepsen.Operation) edn.ID { return r.History.OperationMap(op).ID() }

// state is the state after a step, or the record that says that there is none.
func (s Step) state(v *edn.Values) edn.ID {
	if s.Why != "" {
		return inconsistent(v, s.Why)
	}
	return s.State.ID()
}

// mapOf builds a map.
type mapOf struct {
	v   *edn.Values
	kvs []edn.ID
}

// put sets a keyword's value.
func (m *mapOf) put(name string, value edn.ID) { m.kvs = m.v.Put(m.kvs, name, value) }

func (m *mapOf) id() edn.ID { return m.v.InternMap(m.kvs) }

// inconsistent is Knossos's record for a step that cannot happen.
func inconsistent(v *edn.Values, msg string) edn.ID {
	return v.InternTagged("knossos.model.Inconsistent",
		v.InternMap([]edn.ID{v.InternKeyword("msg"), v.InternString(msg)}))
}
