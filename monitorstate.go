package clew

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"clew/internal/diagnosis"
	"clew/internal/forget"
	"clew/internal/held"
	"clew/internal/outputs"
	"clew/internal/page"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// A state is saved every stateEvery, and stateSoon after anomalies, so that few are reported again. Saving takes at most
// one part in stateShare of the time.
const (
	stateEvery = time.Minute
	stateSoon  = 200 * time.Millisecond
	stateShare = 20
)

// keeper keeps the state of a Monitor in a file.
type keeper struct {
	file     held.File
	passing  forms.Passing // knows the place in the text
	saved    time.Time
	took     time.Duration // to save
	found    bool          // anomalies have been found since
	often    bool          // it is saved after each look
	doubtful int           // events that the model might refuse, but does not
	written  bool          // the file has a state
	told     time.Time     // when Unsaved was called last
}

// monitorState is what a Monitor knows between two looks.
type monitorState struct {
	Place     *forms.Place
	Builder   *jepsen.Saved
	Init      string
	Step      int
	Held      *held.History
	Ages      *forget.Ages
	Seen      map[models.Anomaly]bool
	Totals    MonitorTotals
	Diagnosis *diagnosis.Diagnosis
	Skips     int
	Drawings  []page.Drawing
	Witness   int64 // bytes that were written to it
	Reads     monitorReads
}

// save saves the state if it is time to, or now.
func (m *Monitor) save(now bool) error {
	k := &m.keeper
	due := k.saved.Add(stateEvery)
	if k.found {
		due = k.saved.Add(max(stateSoon, stateShare*k.took))
	}
	b := m.held.Builder()
	if m.State == "" || b == nil || !now && !k.often && time.Now().Before(due) {
		return nil
	}
	start := time.Now()
	place, err := k.passing.Place()
	if err != nil {
		return fmt.Errorf("the state cannot be kept: %w", err)
	}
	h, err := b.SoFar()
	if place == nil || err != nil || doubtful(h) != k.doubtful {
		return nil // later
	}
	kept, ok := b.Save()
	if !ok {
		return nil
	}
	err = held.Save(&k.file, &monitorState{
		Place: place, Builder: kept, Init: m.spec.Init, Step: m.step, Held: &m.held, Ages: &m.ages, Seen: m.seen, Totals: m.totals,
		Diagnosis: &m.diagnosis, Skips: m.skips, Drawings: m.drawings, Witness: m.writes.Length(), Reads: m.reads,
	})
	k.saved, k.found, k.took = time.Now(), false, time.Since(start)
	if err != nil {
		return m.unsaved(err)
	}
	k.written = true
	return nil
}

// unsaved says that the state could not be written. The pass goes on if that is told to somebody.
func (m *Monitor) unsaved(err error) error {
	k := &m.keeper
	if m.Unsaved == nil {
		return err
	}
	if time.Since(k.told) < stateEvery {
		return nil
	}
	k.told = time.Now()
	from := "with the beginning of the history"
	if k.written {
		from = "after what the file has"
	}
	m.Unsaved(fmt.Errorf("the state could not be written: %w; the pass goes on, and tries again; if it ended now, another one would begin %s", err, from))
	return nil
}

// doubtful counts the events that a model may refuse. A state does not have them, so it is saved only once a look has
// shown that the model does not.
func doubtful(h *jepsen.History) int { return len(h.Misread) + len(h.SkippedClientOps) }

// stuckAfter says after what an operation that is open counts as crashed.
func (m *Monitor) stuckAfter() string {
	switch {
	case m.Stuck == 0 && m.StuckEvents == 0:
		return "never"
	case m.StuckEvents == 0:
		return "after " + m.Stuck.String()
	case m.Stuck == 0:
		return fmt.Sprintf("after %d events", m.StuckEvents)
	}
	return fmt.Sprintf("after %s or %d events", m.Stuck, m.StuckEvents)
}

// restore goes on from a state, if there is one.
func (m *Monitor) restore(reading jepsen.Options) error {
	k := &m.keeper
	k.saved = time.Now()
	k.file = held.File{Path: m.State, Build: outputs.Build(), About: []string{
		"model " + cmp.Or(m.spec.Name, "inferred"), "initial value " + strconv.Quote(m.spec.Init), "parameters " + strconv.Quote(strings.Join(m.spec.Flags(), " ")),
		fmt.Sprintf("independent keys: %t", m.o.Independent), fmt.Sprintf("operations without a key for every key: %t", m.o.Keyless),
		"stuck: " + m.stuckAfter(), fmt.Sprintf("all processes are clients: %t", reading.AllClients), fmt.Sprintf("a witness: %t", m.Witness != nil),
	}}
	if err := k.file.Probe(); err != nil {
		return err
	}
	s := monitorState{Held: &m.held, Ages: &m.ages, Diagnosis: &m.diagnosis}
	found, err := held.Load(&k.file, &s)
	if err == nil {
		err = m.writes.From(s.Witness)
	}
	if err != nil || !found {
		return err
	}
	b, err := jepsen.Restore(reading, s.Builder)
	if err != nil {
		return fmt.Errorf("%s: %w", m.State, err)
	}
	m.held.Has(b)
	k.passing.Builder, k.passing.From, k.written = b, s.Place, true
	if s.Reads.Model != "" {
		spec := m.spec
		spec.Name = s.Reads.Model
		if err := m.takes(spec); err != nil {
			return err
		}
	}
	m.spec.Init, m.reads = s.Init, s.Reads
	m.keysTried, m.keysUnknown = true, true // a monitor of the keys would need what was forgotten
	m.step, m.skips, m.drawings = s.Step, s.Skips, s.Drawings
	maps.Copy(m.seen, s.Seen)
	none := m.totals
	m.totals = s.Totals
	m.totals.Kinds, m.totals.Sessions = none.Kinds, none.Sessions // an empty map is stored as none
	maps.Copy(m.totals.Kinds, s.Totals.Kinds)
	maps.Copy(m.totals.Sessions, s.Totals.Sessions)
	return nil
}
