package monitor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/internal/gen"
	"clew/internal/pace"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// isHard says whether a pass ended since something could not be decided soon.
func isHard(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "undecided: ") }

// A monitor that is fed event by event finds what one that reads the text finds.
func TestAMonitorObservesEvents(t *testing.T) {
	t.Parallel()
	for _, spec := range kit.Forgetful {
		spec := spec.FromDefault()
		r := gen.Rand(80)
		for range kit.Histories(6, 20, 5000) {
			text := kit.Faulty(r, spec, 5+r.IntN(80), 1+r.IntN(5), 0.1, 0.1)
			stretch := 1 + r.IntN(9)
			lines, whole, err := monitored(t, spec, text, stretch, kit.Soon())
			if isHard(err) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			h, err := forms.Read(strings.NewReader(text), "h", spec.Pairing())
			if err != nil {
				t.Fatal(err)
			}
			m, err := clew.NewMonitor(pace.Each(t.Context(), stretch), spec, kit.Soon())
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			hard := false
			note := func(all []clew.Anomaly, err error) {
				for _, a := range all {
					got = append(got, int(a.Operation.Index)+1)
				}
				if hard = hard || isHard(err); !hard && err != nil {
					t.Fatal(err)
				}
			}
			for e, typ := range h.Type {
				process, _ := h.Values.Int(h.Processes[h.Process[e]])
				note(m.Observe(clew.Event{Type: typ, Process: int(process), F: h.Values.Text(h.F[e]), Value: h.Values.Value(h.Value[e]).Go(), With: []jepsen.Extra{jepsen.With("time", e)}}))
				if r.IntN(20) == 0 {
					note(m.Look())
				}
			}
			note(m.End())
			if !hard && (!slices.Equal(got, lines) || m.Totals().Operations != whole.Operations) {
				t.Fatalf("%s: %v and %+v, of the text %v and %+v:\n%s", spec.Name, got, m.Totals(), lines, whole, kit.Numbered(text))
			}
		}
	}
}

// What makes no sense is an error at once.
func TestAMonitorRefusesEventsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]clew.Event{
		"found a chan int":  {{Type: jepsen.OK, F: "read", Value: make(chan int)}},
		"has no invocation": {{Type: jepsen.OK, F: "read"}},
		"still open":        {{F: "read"}, {F: "read"}},
		"found 9":           {{Type: 9, F: "read"}},
	} {
		m, err := clew.NewMonitor(t.Context(), kit.Forgetful[0], kit.Unverified)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			_, err = m.Observe(e)
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Totals name what the judgment of later answers waits for.
func TestTotalsNameTheOldestOpenOperation(t *testing.T) {
	t.Parallel()
	m, err := clew.NewMonitor(t.Context(), models.Spec{Name: "register", Init: "nil"}, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []clew.Event{{Type: jepsen.Invoke, Process: 3, F: "write", Value: 1}, {Type: jepsen.Invoke, Process: 1, F: "read"}, {Type: jepsen.OK, Process: 1, F: "read", Value: 1}} {
		if _, err := m.Observe(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Look(); err != nil {
		t.Fatal(err)
	}
	totals := m.Totals()
	totals.Delay = 5 * time.Second
	if got, want := totals.String(), "0 operations, no anomalies; at most 2 operations held; nothing since 5s ago is judged, as process 3's :write 1 (index 0) has not returned"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := m.End(); err != nil {
		t.Fatal(err)
	}
	if got, want := m.Totals().String(), "1 operation, no anomalies; at most 2 operations held"; got != want {
		t.Errorf("at the end: %s", got)
	}
}
