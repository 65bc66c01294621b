package clew

import (
	"fmt"
	"time"

	"clew/jepsen"
)

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
// returned with a later event, by Look or by End. Observe, Look and End are for a history that does not come from a
// text; Read does not go with them.
func (m *Monitor) Observe(e Event) ([]Anomaly, error) {
	if m.b == nil {
		m.b = jepsen.NewBuilder(jepsen.Options{})
	}
	switch e.Type {
	case jepsen.Invoke:
		m.b.Invoke(e.Process, e.F, e.Value, e.With...)
	case jepsen.OK:
		m.b.OK(e.Process, e.F, e.Value, e.With...)
	case jepsen.Fail:
		m.b.Fail(e.Process, e.F, e.Value, e.With...)
	case jepsen.Info:
		m.b.Info(e.Process, e.F, e.Value, e.With...)
	default:
		return nil, fmt.Errorf("expected an event of type jepsen.Invoke, jepsen.OK, jepsen.Fail or jepsen.Info, found %d", e.Type)
	}
	if _, err := m.b.SoFar(); err != nil {
		return nil, err
	}
	return m.observed(func() error {
		if err := m.each(m.b, false); err != nil || m.events == 0 || time.Since(m.looked) < max(observedPause, lookShare*m.took) {
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
		if m.b == nil {
			return nil
		}
		if err := m.look(true); err != nil {
			return err
		}
		_, err := m.b.History()
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
