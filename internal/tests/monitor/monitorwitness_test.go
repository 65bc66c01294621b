package monitor_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/pace"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// numberedEvents returns a history of op maps, each on its line, whose events say their :index, so that it can be told without some.
func numberedEvents(text string) string {
	var b strings.Builder
	i := 0
	for line := range strings.Lines(text) {
		if at := strings.LastIndex(line, "}"); at >= 0 && !strings.Contains(line, ":index") {
			line = fmt.Sprintf("%s, :index %d%s", line[:at], i, line[at:])
			i++
		}
		b.WriteString(line)
	}
	return b.String()
}

// less returns a history without the anomalies that return in some lines.
func less(t *testing.T, spec models.Spec, text string, lines []int, independent bool) string {
	t.Helper()
	h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing())
	if err != nil {
		t.Fatal(err)
	}
	mutates := make([]bool, h.Operations())
	note := func(own *jepsen.History) {
		ops, err := spec.Read(own)
		if err != nil {
			t.Fatal(err)
		}
		for row, op := range ops.Of {
			mutates[own.WholeOperation(op)] = models.Changes(ops.Model, ops.Op(models.Row(row)))
		}
	}
	if !independent {
		note(h)
	} else {
		keyed, err := h.Independent()
		if err != nil {
			t.Fatal(err)
		}
		for i := range keyed.Keys {
			note(keyed.History(i).History)
		}
	}
	all := strings.Split(text, "\n")
	for op, end := range h.Completion {
		if end == jepsen.None || !slices.Contains(lines, h.Line(end)) {
			continue
		}
		begin := h.Invocation[op]
		all[h.Line(end)-1] = ""
		if mutates[op] {
			all[h.Line(end)-1] = fmt.Sprintf("{:process %s, :type :info, :f %s, :value nil, :index %d}", h.Values.Text(h.Processes[h.Process[begin]]), h.Values.Text(h.F[begin]), h.Index(end))
		} else {
			all[h.Line(begin)-1] = ""
		}
	}
	return strings.Join(all, "\n")
}

// checkWitness monitors a history, and checks the witness that comes of it.
func checkWitness(t *testing.T, spec models.Spec, text string, stretch int, o clew.Options) (anomalies, early int, plain, totals clew.MonitorTotals) {
	t.Helper()
	var w bytes.Buffer
	m, err := clew.NewMonitor(pace.Each(t.Context(), stretch), spec, o)
	if err != nil {
		t.Fatal(err)
	}
	m.Witness = &w
	var lines []int
	m.Found = func(a clew.Anomaly) error { lines = append(lines, a.Operation.Line); return nil }
	last := 0
	m.Looked = func() error {
		early, last = last, w.Len()
		return nil
	}
	err = m.Read(strings.NewReader(text), "h", spec.Pairing())
	if isHard(err) || err != nil && (strings.Contains(err.Error(), "a monitor does not judge what watches") || strings.Contains(err.Error(), "were judged without one")) {
		return 0, 0, plain, totals
	}
	fails := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s, each %d events, anomalies %v: %s\n%s\nwitness:\n%s", campaign.Name(spec), stretch, lines, fmt.Sprintf(format, args...), kit.Numbered(text), w.String())
	}
	if err != nil {
		fails("%v", err)
	}
	want, plain, err := monitored(t, spec, text, stretch, o)
	if err != nil || !slices.Equal(lines, want) {
		fails("without a witness %v, %v", want, err)
	}
	if err := verifies(t, spec, text, lines, w.Bytes(), o.Independent); err != nil {
		fails("%v", err)
	}
	return len(lines), early, plain, m.Totals()
}

// verifies returns why a witness is not a linearization of a history without the anomalies that return in some lines.
func verifies(t *testing.T, spec models.Spec, text string, anomalies []int, witness []byte, independent bool) error {
	t.Helper()
	h, err := clew.Read(strings.NewReader(less(t, spec, text, anomalies, independent)), "h", spec.Pairing())
	if err != nil {
		return nil // all were left out
	}
	if _, err := h.Independent(); independent && errors.Is(err, jepsen.ErrNoTuples) {
		return nil // here, too
	}
	order, err := report.ReadWitness(bytes.NewReader(witness), "witness", h)
	if err != nil {
		return err
	}
	return clew.VerifyParts(h, spec, order, independent)
}

// witnessed are the models of which a monitor writes a witness while it forgets.
var witnessed = slices.DeleteFunc(slices.Clone(kit.Forgetful), func(spec models.Spec) bool { return strings.Contains(spec.Name, "queue") })

// tally counts what some witnesses are like.
type tally struct{ witnesses, early, anomalies, more int }

// add checks the witnesses of a history for several stretches.
func (x *tally) add(t *testing.T, spec models.Spec, text string, stretches []int, o clew.Options) {
	t.Helper()
	for _, stretch := range stretches {
		found, early, plain, totals := checkWitness(t, spec, text, stretch, o)
		if x.witnesses++; early > 0 {
			x.early++
		}
		x.more = max(x.more, totals.MostHeld-plain.MostHeld)
		x.anomalies += found
	}
}

// What a monitor writes while it forgets is a linearization of all but the anomalies, whatever comes.
func TestAMonitorWritesAWitness(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	for _, spec := range witnessed {
		t.Run(campaign.Name(spec), func(t *testing.T) {
			r := gen.Rand(90)
			var x tally
			for range kit.Histories(8, 30, 40_000) {
				text := numberedEvents(kit.Faulty(r, spec, 5+r.IntN(60), 1+r.IntN(8), []float64{0, 0.1, 0.3}[r.IntN(3)], []float64{0, 0.05, 0.2}[r.IntN(3)]))
				spec := spec.FromDefault()
				if h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing()); err == nil {
					if inferred, _, err := spec.Infer(h); err == nil {
						spec.Answers = inferred.Answers // whichever operations are left
					}
				}
				x.add(t, spec, text, []int{0, 1, 1 + r.IntN(12)}, kit.Soon())
			}
			t.Logf("%+v", x)
			if x.early < x.witnesses/3 || x.more > 20 {
				t.Errorf("%+v", x)
			}
		})
	}
}

// Keys have witnesses of their own.
func TestAMonitorWritesAWitnessOfEachKey(t *testing.T) {
	t.Parallel()
	for _, spec := range witnessed {
		r := gen.Rand(91)
		var x tally
		if spec = spec.FromDefault(); spec.Name == "kv" {
			continue // its values are pairs already
		}
		for range kit.Histories(5, 30, 20_000) {
			text := numberedEvents(kit.OfKeys(r, spec))
			spec := spec
			if h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing()); err == nil {
				if keyed, err := h.Independent(); err == nil {
					if inferred, _, err := spec.Infer(keyed.Unwrapped); err == nil {
						spec.Answers = inferred.Answers
					}
				}
			}
			o := kit.Soon()
			o.Independent = true
			x.add(t, spec, text, []int{0, 1, 1 + r.IntN(12)}, o)
		}
		t.Logf("%s: %+v", spec.Name, x)
	}
}

// Each other model has one too, if its witness can be written at all: values may repeat then.
func TestAMonitorWritesAWitnessOfAnyModel(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	all := map[string]*tally{}
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i) + 92)
		for range kit.Histories(3, 8, 5000) {
			spec := campaign.WithParameters(r, spec)
			o := campaign.GenOptions(spec)
			if o.Init = true; r.IntN(2) == 0 {
				o.Operations = 10 + r.IntN(25)
			}
			made := gen.New(r, o)
			if spec.Init = made.Init; spec.Init == "" {
				spec = spec.FromDefault()
			}
			h, _, err := campaign.ReadText(spec, made.Text)
			if err != nil || strings.Count(made.Text, "\n") < 2 || strings.HasPrefix(made.Text, "[") || strings.HasPrefix(made.Text, "(") {
				continue
			}
			if inferred, _, err := spec.Infer(h); err == nil {
				spec.Answers = inferred.Answers
			}
			m, err := clew.NewMonitor(t.Context(), spec, kit.Soon())
			if err != nil {
				t.Fatal(err)
			}
			m.Witness = &bytes.Buffer{}
			if err := m.Read(strings.NewReader(""), "h", spec.Pairing()); err != nil && strings.Contains(err.Error(), "writes no witness") {
				break
			}
			if all[spec.Name] == nil {
				all[spec.Name] = &tally{}
			}
			all[spec.Name].add(t, spec, numberedEvents(made.Text), []int{0, 1, 1 + r.IntN(12)}, kit.Soon())
		}
	}
	for name, x := range all {
		t.Logf("%s: %+v", name, *x)
	}
}

// What waits until it is written is little, and does not grow with the history.
func TestAWitnessHoldsLittle(t *testing.T) {
	t.Parallel()
	for i, spec := range append(slices.Clone(witnessed), models.Spec{Name: "cas-register"}) {
		o := gen.LongOptions{Model: spec.Name, Operations: 6000, Processes: 10, Permits: spec.Permits, Seed: 4}
		if spec.Name == "set" {
			o.Operations /= 4 // each read has all elements
		}
		if i == len(witnessed) {
			o.Values = 5
		}
		if spec.Name == "id-generator" || spec.Name == "counter" || spec.Name == "lookup-set" || spec.Name == "register" {
			o.Crashes = 0.002
		}
		var b strings.Builder
		if _, err := gen.Long(&b, o); err != nil {
			t.Fatal(spec.Name, err)
		}
		text := b.String()
		_, early, plain, totals := checkWitness(t, spec.FromDefault(), text, 64, kit.Unverified)
		if more := totals.MostHeld - plain.MostHeld; more > 20 || early < len(text)/6 {
			t.Errorf("%s: at most %d operations held, and %d without a witness; %d bytes were written early of a history of %d", spec.Name, totals.MostHeld, plain.MostHeld, early, len(text))
		}
	}
}

// A witness goes on from where it was when the state was saved.
func TestAWitnessGoesOnFromAState(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	times := 0
	for _, spec := range witnessed {
		r := gen.Rand(93)
		for range kit.Histories(2, 5, 5000) {
			spec, stretch := spec.FromDefault(), 1+r.IntN(12)
			text := numberedEvents(kit.Faulty(r, spec, 5+r.IntN(60), 1+r.IntN(5), 0.1, 0.05))
			file, found := filepath.Join(t.TempDir(), "witness"), map[int]bool{}
			pass := func() error {
				f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				m, err := clew.NewMonitor(pace.With(t.Context(), pace.Pace{Events: stretch, Saves: r.IntN(3) > 0}), spec, kit.Soon())
				if err != nil {
					t.Fatal(err)
				}
				m.Witness, m.State = f, file+".state"
				looks := 1 + r.IntN(12)
				m.Found = func(a clew.Anomaly) error { found[a.Operation.Line] = true; return nil }
				m.Looked = func() error {
					if looks--; looks == 0 {
						return killed
					}
					return nil
				}
				return m.Read(strings.NewReader(text), "h", spec.Pairing())
			}
			err := pass()
			for ; errors.Is(err, killed); times++ {
				err = pass()
			}
			if isHard(err) {
				continue
			}
			witness, unread := os.ReadFile(file)
			if err := errors.Join(err, unread); err != nil {
				t.Fatal(err)
			}
			if err := verifies(t, spec, text, slices.Collect(maps.Keys(found)), witness, false); err != nil {
				t.Fatalf("%s, each %d events: %v\n%s\nwitness:\n%s", spec.Name, stretch, err, kit.Numbered(text), witness)
			}
		}
	}
	t.Logf("left %d times", times)
}

// What cannot be written is an error at once.
func TestAMonitorRefusesWitnesses(t *testing.T) {
	t.Parallel()
	keyless := clew.Options{Independent: true, Keyless: true}
	for _, c := range []struct {
		model string
		o     clew.Options
		state string
		want  string
	}{
		{"fifo-queue", clew.Options{}, "", "a monitor writes no witness of fifo-queue"},
		{"unordered-queue", clew.Options{}, "", "a monitor writes no witness of unordered-queue"},
		{"priority-queue", clew.Options{}, "", "a monitor writes no witness of priority-queue"},
		{"register", keyless, "", "a monitor writes no witness where operations without a key belong to every key"},
		{"register", clew.Options{}, filepath.Join(t.TempDir(), "state"), "expected a file for the witness"},
	} {
		m, err := clew.NewMonitor(t.Context(), models.Spec{Name: c.model}, c.o)
		if err != nil {
			t.Fatal(err)
		}
		m.Witness, m.State = io.Discard, c.state
		if err := m.Read(strings.NewReader("{:process 0 :type :invoke :f :read}"), "h", jepsen.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.model, err, c.want)
		}
	}
}

// Events that are observed have a witness like those of a text.
func TestObservedEventsHaveAWitness(t *testing.T) {
	t.Parallel()
	spec := models.Spec{Name: "cas-register"}.FromDefault()
	r := gen.Rand(94)
	for range kit.Histories(10, 20, 5000) {
		text := numberedEvents(kit.Faulty(r, spec, 5+r.IntN(60), 1+r.IntN(5), 0.1, 0.05))
		h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing())
		if err != nil {
			t.Fatal(err)
		}
		m, err := clew.NewMonitor(pace.Each(t.Context(), 1+r.IntN(12)), spec, kit.Unverified)
		if err != nil {
			t.Fatal(err)
		}
		var w bytes.Buffer
		m.Witness = &w
		var lines []int
		m.Found = func(a clew.Anomaly) error { lines = append(lines, int(a.Operation.Index)+1); return nil }
		for e, typ := range h.Type {
			process, _ := h.Values.Int(h.Processes[h.Process[e]])
			if _, err := m.Observe(clew.Event{Type: typ, Process: int(process), F: h.Values.Text(h.F[e])[1:], Value: h.Values.Value(h.Value[e]).Go()}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.End(); err != nil {
			t.Fatal(err)
		}
		if err := verifies(t, spec, text, lines, w.Bytes(), false); err != nil {
			t.Fatalf("%v\n%s\nwitness:\n%s", err, kit.Numbered(text), w.String())
		}
	}
}
