package monitor_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
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
	"clew/jepsen/forms"
	"clew/models"
)

// interrupted monitors a history that it leaves again and again at some moment, and goes on from the state then.
func interrupted(t *testing.T, r *rand.Rand, spec models.Spec, text string, stretch int, o clew.Options, never bool) (anomalies []string, totals clew.MonitorTotals, times int, err error) {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	killed, found := errors.New("killed"), map[string]bool{}
	for {
		m, err := clew.NewMonitor(pace.With(t.Context(), pace.Pace{Events: stretch, Saves: r.IntN(3) > 0}), spec, o)
		if err != nil {
			t.Fatal(err)
		}
		m.State = state
		looks := 1 + r.IntN(12)
		m.Found = func(a clew.Anomaly) error {
			found[fmt.Sprintf("index %d in line %d", a.Operation.Index, a.Operation.Line)] = true
			return nil
		}
		m.Looked = func() error {
			if looks--; looks == 0 {
				return killed
			}
			return nil
		}
		if never || r.IntN(20) == 0 {
			looks = -1
		}
		err = m.Read(&pieces{strings.NewReader(text), gen.Rand(r.Uint64())}, "h", spec.Pairing())
		if !errors.Is(err, killed) {
			return slices.Sorted(maps.Keys(found)), m.Totals(), times, err
		}
		times++
	}
}

// pieces is a text that comes in pieces.
type pieces struct {
	io.Reader
	r *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), 1+p.r.IntN(100))]) }

// respelled returns a history in another form, on one line, or compressed.
func respelled(r *rand.Rand, text string) string {
	all := []forms.Form{forms.EDN, forms.EDN, forms.JSON, forms.JSONL, forms.Log}
	var b strings.Builder
	if to := all[r.IntN(len(all))]; to != forms.EDN && convert(&b, text, to) == nil {
		text = b.String()
	}
	switch r.IntN(6) {
	case 0:
		if strings.HasPrefix(text, "[") {
			text = strings.ReplaceAll(text, "\n", " ")
		}
	case 1:
		text = strings.ReplaceAll(text, " :f ", "\n; {a comment}\n :f ") // of an op map in EDN; other forms have none
	case 2:
		b.Reset()
		z := gzip.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		text = b.String()
	}
	return text
}

func convert(b *strings.Builder, text string, to forms.Form) error {
	_, err := forms.Convert(b, strings.NewReader(text), "h", "", to)
	return err
}

// A monitor that is killed at any moment goes on from its state, and finds the same anomalies.
func TestAMonitorGoesOnFromItsState(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	times, compared := 0, 0
	compare := func(r *rand.Rand, spec models.Spec, text string, o clew.Options) {
		t.Helper()
		text, stretch := respelled(r, text), 1+r.IntN(6)
		want, whole, _, err := interrupted(t, r, spec, text, stretch, o, true)
		if err != nil {
			return
		}
		got, totals, n, err := interrupted(t, r, spec, text, stretch, o, false)
		if isHard(err) {
			return
		}
		// The kind of an anomaly, and what is held, also depend on what had come when it was found.
		if err != nil || !slices.Equal(got, want) || totals.Operations != whole.Operations || totals.Anomalies != whole.Anomalies || totals.Init != whole.Init {
			t.Fatalf("%s, each %d events: %v, %+v, %v; without interruption %v, %+v:\n%s", campaign.Name(spec), stretch, got, totals, err, want, whole, kit.Numbered(text))
		}
		times, compared = times+n, compared+1
	}
	for i, spec := range campaign.Configs() {
		if !effort.Takes(i) {
			continue
		}
		r := gen.Rand(uint64(i) + 900)
		for range effort.Histories(2, 2000) {
			spec := campaign.WithParameters(r, spec)
			o := campaign.GenOptions(spec)
			o.Init = true
			made := gen.New(r, o)
			if spec.Init = made.Init; spec.Init == "" {
				spec = spec.FromDefault()
			}
			compare(r, spec, made.Text, kit.Soon())
		}
	}
	for _, spec := range kit.Forgetful {
		r := gen.Rand(79)
		for range kit.Histories(2, 6, 5000) {
			compare(r, spec.FromDefault(), kit.Faulty(r, spec, 5+r.IntN(60), 1+r.IntN(5), 0.1, 0.1), kit.Soon())
		}
	}
	t.Logf("%d histories, left %d times", compared, times)
}

// The state is of a text, a model and options, and of a build, and says so.
func TestAStateFitsOnlyWhatItIsAbout(t *testing.T) {
	t.Parallel()
	const text = `{:process 0 :type :invoke :f :write :value 1}
{:process 0 :type :ok :f :write :value 1}
`
	state := filepath.Join(t.TempDir(), "state")
	run := func(spec models.Spec, text string) error {
		m, err := clew.NewMonitor(t.Context(), spec, kit.Unverified)
		if err != nil {
			t.Fatal(err)
		}
		m.State = state
		return m.Read(strings.NewReader(text), "h", spec.Pairing())
	}
	register := models.Spec{Name: "register"}
	if err := run(register, text); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(good)
	damaged[len(damaged)-9] ^= 1
	for _, test := range []struct {
		name  string
		state []byte
		spec  models.Spec
		text  string
		want  string // of the error
	}{
		{"the same text goes on", good, register, text, ""},
		{"a text that has grown goes on", good, register, text + `{:process 0 :type :invoke :f :read :value nil}`, ""},
		{"an empty state is none", nil, register, text, ""},
		{"another model", good, models.Spec{Name: "cas-register"}, text, "the state is of a monitor with other options"},
		{"another initial value", good, models.Spec{Name: "register", Init: "3"}, text, "the state is of a monitor with other options"},
		{"another text", good, register, strings.Replace(text, "1", "2", 1), "h: it does not begin like the text that was read before"},
		{"a shorter text", good, register, text[:len(text)-9], "h: it does not begin like the text that was read before"},
		{"a damaged state", damaged, register, text, "the state is damaged"},
		{"a state that was cut off", good[:len(good)-1], register, text, "the state is damaged"},
		{"something else", []byte("{:a 1}"), register, text, "expected a state that clew monitor has saved"},
		{"intervals have no places", nil, models.Spec{Name: "register"}, "read 1 0 3\nwrite 1 1 2\n", "the state cannot be kept"},
	} {
		if err := os.WriteFile(state, test.state, 0o644); err != nil {
			t.Fatal(err)
		}
		err := run(test.spec, test.text)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A state that was saved early knows little of the text. It learns more as that is read on.
func TestAStateLearnsTheBeginningOfItsText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for n := range 400 {
		fmt.Fprintf(&b, "{:process 0 :type :invoke :f :write :value %d}\n{:process 0 :type :ok :f :write :value %[1]d}\n", n)
	}
	text, state := b.String(), filepath.Join(t.TempDir(), "state")
	run := func(text string) error {
		m, err := clew.NewMonitor(t.Context(), models.Spec{Name: "register"}, kit.Unverified)
		if err != nil {
			t.Fatal(err)
		}
		m.State = state
		return m.Read(strings.NewReader(text), "h", jepsen.Options{})
	}
	lines := strings.SplitAfter(text, "\n")
	for _, n := range []int{2, 8, 600, len(lines)} {
		if err := run(strings.Join(lines[:n], "")); err != nil {
			t.Fatal(n, err)
		}
	}
	changed := strings.Replace(text, ":value 20}", ":value 21}", 1) // at byte 2,000
	if err := run(changed); err == nil || !strings.Contains(err.Error(), "does not begin like the text") {
		t.Error(err)
	}
}
