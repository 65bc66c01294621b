package monitor_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/pace"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// agrees says how a pass that has looked once, at the end, differs from what a check says, or returns "". A pass in steps says the
// same of a valid history.
func agrees(r *report.Result, totals clew.MonitorTotals, whole bool) string {
	certain, doubtful := totals.Certain() > 0, totals.Doubtful > 0
	reading := r.Verdict == jepsen.Unknown && (r.Cause == jepsen.InitialValue || r.Cause == jepsen.Reading)
	switch {
	case r.Verdict == jepsen.Valid && (certain || doubtful):
		return "valid, but the monitor finds anomalies"
	case (r.Verdict == jepsen.Invalid || reading) && !certain && !doubtful:
		return "a lost anomaly"
	case whole && r.Verdict == jepsen.Invalid && !certain:
		return "INVALID, but all anomalies say unless"
	case whole && reading && certain:
		return "unknown, but an anomaly is certain"
	}
	return ""
}

// Without an initial value, a pass finds what a check finds: no anomaly in a valid history, one that is certain in an invalid one, and
// only such as say what it may have begun with where a check does not know that.
func TestAMonitorDoubtsTheInitialValueAsACheckDoes(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	seen := map[string]int{}
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i) + 3100)
		for range effort.Histories(40, 3000) {
			spec := campaign.WithParameters(r, spec)
			o := campaign.GenOptions(spec)
			o.Init, o.Operations = true, 3+r.IntN(10)
			made := gen.New(r, o)
			h, _, err := campaign.ReadText(spec, made.Text)
			if err != nil || strings.Count(made.Text, "\n") < 2 {
				continue
			}
			spec.Init = ""
			want, err := clew.Check(t.Context(), h, spec, kit.Soon())
			if err != nil || want.Verdict == jepsen.Unknown && want.Cause != jepsen.InitialValue && want.Cause != jepsen.Reading {
				continue
			}
			for _, stretch := range []int{0, 1 + r.IntN(8)} {
				_, totals, err := monitored(t, spec, made.Text, stretch, kit.Soon())
				if err != nil {
					continue
				}
				if wrong := agrees(want, totals, stretch == 0); wrong != "" {
					t.Fatalf("%s, each %d events: %s (%s): %+v:\n%s", campaign.Name(spec), stretch, wrong, want.Explanation, totals, kit.Numbered(made.Text))
				}
				seen[fmt.Sprint(want.Verdict, " ", want.Cause)]++
			}
		}
	}
	for _, what := range []string{"linearizable ", "not linearizable ", "undecided initial-value"} {
		if seen[what] < 20 {
			t.Errorf("%s: %d", what, seen[what])
		}
	}
	t.Log(seen)
}

// A monitor doubts an anomaly of values that may have keys exactly if no key has one by itself.
func TestAMonitorDoubtsKeysAsACheckDoes(t *testing.T) {
	t.Parallel()
	nothing := kit.ReadLines(t, []string{"{:process :nemesis, :type :info, :f :start}"})
	r, seen := gen.Rand(3200), map[string]int{}
	for i := range effort.Histories(600, 12000) {
		spec := models.Spec{Name: []string{"register", "cas-register", "fifo-queue", "stack", "set", "mutex", "unordered-queue"}[i%7]}
		var keys []*jepsen.History
		for range 2 + r.IntN(2) {
			h, err := clew.Read(strings.NewReader(gen.New(r, gen.Options{Model: spec.Name, Operations: 3 + r.IntN(8)}).Text), "", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, h)
		}
		k := kit.Interleave(r, keys, nothing)
		text := strings.Join(k.Whole, "\n")
		for _, o := range []clew.Options{{}, {Whole: true}, {Independent: true}} {
			want, err := clew.Check(t.Context(), kit.ReadLines(t, k.Whole), spec, o)
			if err != nil {
				continue
			}
			for _, stretch := range []int{0, 1 + r.IntN(8)} {
				_, totals, err := monitored(t, spec, text, stretch, o)
				if err != nil {
					t.Fatalf("%s %+v: %v:\n%s", spec.Name, o, err, text)
				}
				if wrong := agrees(want, totals, stretch == 0); wrong != "" {
					t.Fatalf("%s %+v, each %d events: %s (%s): %+v:\n%s", spec.Name, o, stretch, wrong, want.Explanation, totals, text)
				}
				// Where keys are open, so is what they begin with, and an early look may have forgotten what shows that.
				if stretch > 0 && want.Verdict == jepsen.Unknown && want.Cause == jepsen.Reading && want.Alternatives[0].Verdict == jepsen.Invalid &&
					want.Alternatives[1].Verdict == jepsen.Valid && totals.Certain() > 0 {
					t.Fatalf("%s %+v, each %d events: an anomaly is certain: %+v:\n%s", spec.Name, o, stretch, totals, text)
				}
				seen[fmt.Sprint(want.Verdict, " ", want.Cause)]++
			}
		}
	}
	for _, what := range []string{"linearizable ", "not linearizable ", "undecided reading"} {
		if seen[what] < 20 {
			t.Errorf("%s: %d", what, seen[what])
		}
	}
	t.Log(seen)
}

// A key that fails by itself is found although nobody told of keys, also long after the beginning, and a history with another value
// than [key value] has no keys.
func TestWhatComesLaterSettlesKeys(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	do := func(process int, f, given, value string) {
		fmt.Fprintf(&b, "%d :invoke :%s %s\n%[1]d :ok :%[2]s %[4]s\n", process, f, given, value)
	}
	write := func(key string, n int) {
		v := fmt.Sprintf("[%s %d]", key, n)
		do(0, "write", v, v)
	}
	for n := range 1500 {
		write(":a", n)
		write(":b", n)
		do(1, "read", "[:a nil]", fmt.Sprintf("[:a %d]", n)) // an old value of one object
	}
	for name, c := range map[string]struct {
		last    func()
		certain bool
	}{
		"nothing else":   {func() {}, false},
		"a stale key":    {func() { do(1, "read", "[:b nil]", "[:b 700]") }, true},
		"one not a pair": {func() { do(1, "write", "7", "7") }, true},
	} {
		before := b.String()
		c.last()
		_, totals, err := monitored(t, models.Spec{Name: "register", Init: "nil"}, b.String(), 2000, kit.Unverified)
		if err != nil || totals.Anomalies < 1500 || (totals.Certain() > 0) != c.certain {
			t.Errorf("%s: %+v %v", name, totals, err)
		}
		b.Reset()
		b.WriteString(before)
	}
}

// Keys begin with their own values, given or shown.
func TestKeysOfAMonitorBeginWithTheirOwnValues(t *testing.T) {
	t.Parallel()
	r, seen := gen.Rand(3300), map[string]int{}
	nothing := kit.ReadLines(t, []string{"{:process :nemesis, :type :info, :f :start}"})
	for i := range effort.Histories(400, 8000) {
		spec := models.Spec{Name: []string{"register", "cas-register", "counter", "set", "fifo-queue"}[i%5]}
		var keys []*jepsen.History
		var names, inits []string
		for range 2 + r.IntN(2) {
			made := gen.New(r, gen.Options{Model: spec.Name, Init: true, Operations: 3 + r.IntN(8)})
			h, err := clew.Read(strings.NewReader(made.Text), "", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if made.Init != "" {
				names, inits = append(names, kit.KeyNames[len(keys)]), append(inits, made.Init)
			}
			keys = append(keys, h)
		}
		k := kit.Interleave(r, keys, nothing)
		text := strings.Join(k.Whole, "\n")
		given := spec
		given.Init = spec.AndEach(names, inits)
		for _, spec := range []models.Spec{given, spec} {
			o := clew.Options{Independent: true}
			want, err := clew.Check(t.Context(), kit.ReadLines(t, k.Whole), spec, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, stretch := range []int{0, 1 + r.IntN(8)} {
				_, totals, err := monitored(t, spec, text, stretch, o)
				if err != nil {
					t.Fatalf("%+v: %v:\n%s", spec, err, text)
				}
				if wrong := agrees(want, totals, stretch == 0 || spec.Init != "" && len(names) == len(keys)); wrong != "" {
					t.Fatalf("%s from %s, each %d events: %s (%s): %+v:\n%s", spec.Name, spec.Init, stretch, wrong, want.Explanation, totals, text)
				}
				seen[fmt.Sprint(want.Verdict, " ", want.Cause)]++
			}
		}
	}
	t.Log(seen)
}

// Without a model, a pass reads a history as a check does, or says that it cannot. What it reads is said before the first anomaly.
func TestAMonitorInfersTheModel(t *testing.T) {
	t.Parallel()
	inferred, refused, late, other := map[string]int{}, 0, 0, 0
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i) + 3400)
		for range effort.Histories(10, 500) {
			o := campaign.GenOptions(spec)
			o.Operations = 5 + r.IntN(20)
			made := gen.New(r, o)
			spec := spec
			spec.Name = ""
			h, err := clew.Read(strings.NewReader(made.Text), "h", spec.Pairing())
			if err != nil {
				continue
			}
			name, cannot := models.Infer(h)
			if h.Operations() == 0 {
				continue
			}
			named := spec
			if named.Name = name; cannot == nil && named.Check() != nil {
				continue // it has parameters of another model
			}
			for _, stretch := range []int{0, 1 + r.IntN(12)} {
				m, err := clew.NewMonitor(pace.Each(t.Context(), stretch), spec, kit.Soon())
				if err != nil {
					t.Fatal(err)
				}
				var lines []int
				stated := ""
				m.Stated = func(x report.Reading) error { stated = x.Model.Value; return nil }
				m.Found = func(a clew.Anomaly) error {
					if lines = append(lines, a.Operation.Line); stated == "" {
						t.Error("an anomaly came before the reading")
					}
					return nil
				}
				err = m.Read(strings.NewReader(made.Text), "h", spec.Pairing())
				switch {
				case cannot != nil && stretch == 0:
					if refused++; err == nil || !strings.Contains(err.Error(), cannot.Error()) {
						t.Fatalf("%v, and of the whole %v:\n%s", err, cannot, made.Text)
					}
				case cannot != nil:
				case err != nil && stretch > 0 && strings.Contains(err.Error(), "was inferred from what had come before: give "):
					late++
				case err == nil && stretch > 0 && stated != name:
					t.Logf("each %d events, read as %q, and the whole as %q:\n%s", stretch, stated, name, made.Text)
					other++
				default:
					want, _, wrong := monitored(t, named, made.Text, stretch, kit.Soon())
					if isHard(wrong) || err != nil && wrong != nil { // of what the model does not know
						continue
					}
					if fmt.Sprint(err) != fmt.Sprint(wrong) || err == nil && (stated != name || stretch == 0 && !slices.Equal(lines, want)) {
						t.Fatalf("each %d events, read as %q: %v (%v); as %s %v (%v):\n%s", stretch, stated, lines, err, name, want, wrong, made.Text)
					}
					inferred[name]++
				}
			}
		}
	}
	if len(inferred) < 6 || refused == 0 {
		t.Error(inferred, refused)
	}
	t.Log(inferred, refused, late, other)
}

// The reading is that of the state, and says so again.
func TestAMonitorGoesOnWithItsReading(t *testing.T) {
	t.Parallel()
	const text = "0 :invoke :read nil\n0 :ok :read 7\n0 :invoke :write 1\n0 :ok :write 1\n0 :invoke :read nil\n0 :ok :read 1\n1 :invoke :read nil\n1 :ok :read 7\n"
	state := filepath.Join(t.TempDir(), "state")
	stop := errors.New("stop")
	for looks := range 12 {
		m, err := clew.NewMonitor(pace.With(t.Context(), pace.Pace{Events: 4, Saves: true}), models.Spec{}, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m.State = state
		m.Looked = func() error {
			if looks--; looks < 0 {
				return nil
			}
			return stop
		}
		if err = m.Read(strings.NewReader(text), "h", jepsen.Options{}); errors.Is(err, stop) {
			continue
		}
		if x, totals := m.Reading(), m.Totals(); err != nil || x.Model != (report.Part{Value: "register", Source: report.Content}) || totals.Anomalies != 2 || totals.Certain() != 1 || totals.Init != "7" {
			t.Fatalf("%v %+v %+v", err, x, totals)
		}
	}
}
