package clew

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"

	"clew/internal/diagnosis"
	"clew/internal/files"
	"clew/internal/forget"
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
	stateSoon  = time.Second
	stateShare = 20
)

// monitorState is what a Monitor knows between two looks. It is stored by package encoding/gob.
type monitorState struct {
	About   string // the model and the options, which must not change
	Place   *forms.Place
	Builder *jepsen.Saved
	Init    string

	Decided        jepsen.Event
	Forgot, Open   bool
	Step           int
	Stuck, Settled []jepsen.Operation
	Pin            jepsen.Operation // None if there is none
	States         map[string]*forget.State
	Came           []int64
	Clock          int64
	Seen           map[models.Anomaly]bool
	Totals         MonitorTotals
	Ages           *forget.Ages
	Diagnosis      *diagnosis.Diagnosis
	Skips          int
	Drawings       []page.Drawing
}

// stateHead begins a file with a state; the sum of what follows comes after it.
var stateHead = fmt.Sprintf("a state of clew monitor, %s, sha256 ", outputs.Build())

// about tells everything that a state depends on.
func (m *Monitor) about(reading jepsen.Options) string {
	return fmt.Sprintf("model %s, initial value %q, parameters %q, independent %t, keyless %t, stuck %s or %d events, all clients %t",
		m.spec.Name, m.spec.Init, strings.Join(m.spec.Flags(), " "), m.o.Independent, m.o.Keyless, m.Stuck, m.StuckEvents, reading.AllClients)
}

// save saves the state if it is time to, or if that is certain.
func (m *Monitor) save(now bool) error {
	due := m.saved.Add(stateEvery)
	if m.unsaved {
		due = m.saved.Add(max(stateSoon, stateShare*m.saving))
	}
	if m.State == "" || m.b == nil || !now && !m.often && time.Now().Before(due) {
		return nil
	}
	start := time.Now()
	place, err := m.passing.Place()
	if err != nil {
		return fmt.Errorf("the state cannot be kept: %w", err)
	}
	h, err := m.b.SoFar()
	if place == nil || err != nil || doubtful(h) != m.doubtful {
		return nil // later
	}
	b, ok := m.b.Save()
	if !ok {
		return nil
	}
	pin := jepsen.Operation(jepsen.None)
	if op, pinned := m.pin.Get(); pinned {
		pin = op
	}
	var text bytes.Buffer
	err = gob.NewEncoder(&text).Encode(monitorState{
		About: m.stateOf, Place: place, Builder: b, Init: m.spec.Init,
		Decided: m.decided, Forgot: m.forgot, Open: m.open, Step: m.step, Stuck: m.stuck, Settled: m.settled, Pin: pin, States: m.states,
		Came: m.came, Clock: m.clock, Seen: m.seen, Totals: m.totals,
		Ages: &m.ages, Diagnosis: &m.diagnosis, Skips: m.skips, Drawings: m.drawings,
	})
	if err != nil {
		return err
	}
	err = files.To(m.State, nil, nil).Write(func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "%s%x\n", stateHead, sha256.Sum256(text.Bytes())); err != nil {
			return err
		}
		_, err := w.Write(text.Bytes())
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", m.State, err)
	}
	m.saved, m.unsaved, m.saving = time.Now(), false, time.Since(start)
	return nil
}

// doubtful counts the events that a model may refuse. A state does not have them, so it is saved only once a look has
// shown that the model does not.
func doubtful(h *jepsen.History) int { return len(h.Misread) + len(h.SkippedClientOps) }

// restore goes on from a state, if there is one.
func (m *Monitor) restore(reading jepsen.Options) error {
	m.stateOf = m.about(reading)
	m.saved = time.Now()
	text, err := os.ReadFile(m.State)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0:
		return nil
	case err != nil:
		return files.PathError(err)
	}
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	if !bytes.HasPrefix(head, []byte("a state of clew monitor, ")) {
		return fmt.Errorf("%s: expected a state that clew monitor has saved, found something else", m.State)
	}
	if !bytes.HasPrefix(head, []byte(stateHead)) {
		return fmt.Errorf("%s: %s; expected one of this build", m.State, bytes.TrimSuffix(head, []byte(", sha256 ")))
	}
	if sum := fmt.Sprintf("%s%x", stateHead, sha256.Sum256(rest)); sum != string(head) {
		return fmt.Errorf("%s: the state is damaged: its sum does not fit", m.State)
	}
	s := monitorState{Ages: &m.ages, Diagnosis: &m.diagnosis}
	if err := gob.NewDecoder(bytes.NewReader(rest)).Decode(&s); err != nil {
		return fmt.Errorf("%s: %w", m.State, err)
	}
	if s.About != m.stateOf {
		return fmt.Errorf("%s: the state is of a monitor with other options: expected %s, found %s", m.State, m.stateOf, s.About)
	}
	b, err := jepsen.Restore(reading, s.Builder)
	if err != nil {
		return fmt.Errorf("%s: %w", m.State, err)
	}
	m.b, m.passing.Builder, m.passing.From = b, b, s.Place
	m.spec.Init, m.decided, m.forgot, m.open, m.step = s.Init, s.Decided, s.Forgot, s.Open, s.Step
	m.skips, m.drawings = s.Skips, s.Drawings
	m.stuck, m.settled, m.came, m.clock = s.Stuck, s.Settled, s.Came, s.Clock
	if s.Pin != jepsen.None {
		m.pin = jepsen.Some(s.Pin)
	}
	maps.Copy(m.states, s.States)
	maps.Copy(m.seen, s.Seen)
	none := m.totals
	m.totals = s.Totals
	m.totals.Kinds, m.totals.Sessions = none.Kinds, none.Sessions // an empty map is stored as none
	maps.Copy(m.totals.Kinds, s.Totals.Kinds)
	maps.Copy(m.totals.Sessions, s.Totals.Sessions)
	return nil
}
