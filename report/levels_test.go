package report_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/internal/effort"
	"clew/internal/geometry"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// transactions checks a history of transactions on lists.
func transactions(t *testing.T, history string) *report.Result {
	t.Helper()
	h, err := clew.Read(strings.NewReader(history), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(t.Context(), h, models.Spec{Name: "list-append"}, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lists knows of a history what each transaction appended and read, as text.
type lists struct {
	h       *jepsen.History
	appends map[jepsen.Operation]map[string][]string   // by key
	reads   map[jepsen.Operation]map[string][][]string // by key: what a transaction that returned read
}

func listsOf(h *jepsen.History) lists {
	l := lists{h, map[jepsen.Operation]map[string][]string{}, map[jepsen.Operation]map[string][][]string{}}
	v := h.Values
	for op := range jepsen.Operation(h.Operations()) {
		l.appends[op], l.reads[op] = map[string][]string{}, map[string][][]string{}
		for _, part := range v.Items(h.OpValue(op)) {
			items := v.Items(part)
			key := v.Text(items[1])
			if v.Text(items[0]) == ":append" {
				l.appends[op][key] = append(l.appends[op][key], v.Text(items[2]))
			} else if h.Status[op] == jepsen.Succeeded {
				list := []string{}
				for _, x := range v.Items(items[2]) {
					list = append(list, v.Text(x))
				}
				l.reads[op][key] = append(l.reads[op][key], list)
			}
		}
	}
	return l
}

func (l lists) reads1(op jepsen.Operation, s report.TxnStep, shows bool) bool {
	return slices.ContainsFunc(l.reads[op][s.Key], func(list []string) bool { return slices.Contains(list, s.Value) == shows })
}

// follows reports whether some list shows an append of a to a key before a value, or one of the longest lists shows one and not the value.
func (l lists) follows(a jepsen.Operation, s report.TxnStep) bool {
	longest := 0
	for op := range l.reads {
		for _, list := range l.reads[op][s.Key] {
			longest = max(longest, len(list))
		}
	}
	for op := range l.reads {
		for _, list := range l.reads[op][s.Key] {
			at := slices.Index(list, s.Value)
			if at < 0 && len(list) == longest {
				at = longest
			}
			if slices.ContainsFunc(list[:max(at, 0)], func(x string) bool { return slices.Contains(l.appends[a][s.Key], x) }) {
				return true
			}
		}
	}
	return false
}

// step says what is wrong with a step, by what its two transactions did, or "". Its sentence says the same.
func (l lists) step(a, b jepsen.Operation, s report.TxnStep, t1, t2 string) string {
	h, holds, says := l.h, false, ""
	returned := h.Status[a] == jepsen.Succeeded && h.Completion[a] < h.Invocation[b]
	switch s.Type {
	case "wr":
		holds = slices.Contains(l.appends[a][s.Key], s.Value) && l.reads1(b, s, true)
		says = fmt.Sprintf("%s read %s's append of %s to %s", t2, t1, s.Value, s.Key)
	case "rw":
		holds = slices.Contains(l.appends[b][s.Key], s.Value) && l.reads1(a, s, false)
		says = fmt.Sprintf("%s read %s before %s's append of %s", t1, s.Key, t2, s.Value)
	case "ww":
		holds = slices.Contains(l.appends[b][s.Key], s.Value) && l.appends[a][s.Key] != nil && (l.follows(a, s) || l.reads1(a, s, false))
		says = fmt.Sprintf("%s appended to %s before %s's append of %s", t1, s.Key, t2, s.Value)
		if strings.HasSuffix(s.Says, "and appended to it") {
			says = fmt.Sprintf("%s read %s before %s's append of %s and appended to it", t1, s.Key, t2, s.Value)
		}
	case "process":
		holds = returned && h.Process[h.Invocation[a]] == h.Process[h.Invocation[b]]
		says = fmt.Sprintf("%s had returned before the same process called %s", t1, t2)
	case "realtime":
		holds = returned
		says = fmt.Sprintf("%s had returned before %s was called", t1, t2)
	}
	switch {
	case !holds:
		return "it does not hold"
	case s.Says != says:
		return fmt.Sprintf("it says %q, expected %q", s.Says, says)
	}
	return ""
}

// lookAtAnomaly draws an anomaly, and checks that the drawing shows what the anomaly says. It returns the drawing.
func lookAtAnomaly(t *testing.T, r *report.Result, a *report.TxnAnomaly) []byte {
	t.Helper()
	w, err := r.AnomalyWindow(t.Context(), a, report.WindowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var svg bytes.Buffer
	if err := w.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	p, err := geometry.Read(svg.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if p.Width > 1400 || p.Height > 900 || svg.Len() > 60_000 {
		t.Errorf("%s: %d x %d pixels, %d bytes", a.Type, p.Width, p.Height, svg.Len())
	}
	for _, overlap := range p.Overlaps() {
		t.Errorf("%s: %s", a.Type, overlap)
	}
	drawn := func(s string) bool {
		return slices.ContainsFunc(p.Texts, func(x geometry.Text) bool { return strings.HasPrefix(x.Text, s) })
	}
	for _, i := range a.Shown() {
		if name := fmt.Sprintf("T%d", i+1); !drawn(name) {
			t.Errorf("%s: %s is not drawn", a.Type, name)
		}
	}
	arrows := 0
	for _, class := range p.Classes {
		if strings.HasPrefix(class, "arrow ") {
			arrows++
		}
	}
	if steps := a.ShownSteps(); arrows != len(steps) {
		t.Errorf("%s has %d arrows; expected %d", a.Type, arrows, len(steps))
	}
	for _, i := range a.ShownSteps() {
		if !drawn(a.Steps[i].Type) {
			t.Errorf("%s: nothing says %s", a.Type, a.Steps[i].Type)
		}
	}
	if red := slices.Contains(p.Classes, "wrong"); red != (a.Wrong != "") {
		t.Errorf("%s: something is red: %v", a.Type, red)
	}
	return svg.Bytes()
}

// Each cycle that is told, alone or with the levels, is one of the history: its steps hold, and say what holds. Drawings show it, also
// those of a result that was saved.
func TestCyclesAreToldAndDrawn(t *testing.T) {
	file, err := os.ReadFile(archive.Path(t, "list-append", "small.edn"))
	if err != nil {
		t.Fatal(err)
	}
	told, kinds := 0, map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(string(file)), "\n") {
		if !effort.Takes(i) {
			continue
		}
		r := transactions(t, line)
		if r.Levels == nil {
			continue
		}
		l, all := listsOf(r.History), r.Levels.Anomalies
		if r.Told != nil {
			told++
			all = append(slices.Clone(all), *r.Told)
		} else if r.Pattern == "cycle" {
			t.Errorf("no cycle is told: %s", r.Explanation)
		}
		for i := range all {
			a := &all[i]
			kinds[a.Type]++
			lookAtAnomaly(t, r, a)
			for k, s := range a.Steps {
				next := (k + 1) % len(a.Txns)
				if wrong := l.step(a.Txns[k], a.Txns[next], s, fmt.Sprintf("T%d", k+1), fmt.Sprintf("T%d", next+1)); wrong != "" {
					t.Errorf("step %d of %s: %s: %v", k+1, a.Line(), wrong, s)
				}
			}
		}
		saved, err := report.ReadEDN(strings.NewReader(r.EDN()), "result", r.History)
		if err != nil {
			t.Fatal(err)
		}
		if saved.Spec = r.Spec; !slices.Equal(saved.Levels.Lines(), r.Levels.Lines()) || (saved.Told == nil) != (r.Told == nil) {
			t.Errorf("the saved result says %v, not %v", saved.Levels.Lines(), r.Levels.Lines())
		}
		for i := range saved.Levels.Anomalies {
			a := &saved.Levels.Anomalies[i]
			same := func(b report.TxnAnomaly) bool { return a.Says == b.Says && a.Breaks == b.Breaks }
			if at := slices.IndexFunc(all, same); at < 0 || !bytes.Equal(lookAtAnomaly(t, saved, a), lookAtAnomaly(t, r, &all[at])) {
				t.Errorf("%s is drawn otherwise once it was saved", a.Line())
			}
		}
		if t.Failed() {
			t.Fatalf("line %d: %s", i+1, line)
		}
	}
	t.Logf("%d cycles were told; there are %v", told, kinds)
	if told < 10 || len(kinds) < 8 {
		t.Error("expected more")
	}
}

// skew returns a history in which each of n transactions misses what the next one appends: a cycle. Its keys and values are so many characters long.
func skew(n, long int) string {
	var b strings.Builder
	key := func(i int) string { return fmt.Sprintf("%q", fmt.Sprintf("%d%s", i%n, strings.Repeat("<&v", long/3))) }
	for i := range n {
		fmt.Fprintf(&b, "{:process %d :type :invoke :f :txn :value [[:r %s nil] [:append %s %s] [:r :other nil]]}\n", i, key(i), key(i+1), key(i+n))
	}
	for i := range n {
		fmt.Fprintf(&b, "{:process %d :type :ok :f :txn :value [[:r %s []] [:append %s %s] [:r :other []]]}\n", i, key(i), key(i+1), key(i+n))
	}
	return b.String()
}

func TestDrawingsOfLongCyclesAreBounded(t *testing.T) {
	for _, c := range []struct{ n, long, shown, steps int }{{2, 0, 2, 2}, {10, 0, 10, 10}, {12, 0, 12, 12}, {13, 0, 12, 11}, {300, 0, 12, 11}, {11, 20_000, 11, 11}} {
		r := transactions(t, skew(c.n, c.long))
		a := r.Told
		if a == nil || len(a.Txns) != c.n || len(a.Shown()) != c.shown || len(a.ShownSteps()) != c.steps {
			t.Fatalf("%d: %v", c.n, a)
		}
		svg := lookAtAnomaly(t, r, a)
		if more := fmt.Sprintf("%d more transactions", c.n-c.shown); bytes.Contains(svg, []byte(more)) != (c.n-c.shown > 1) {
			t.Errorf("%d: it does not count what it omits: %s", c.n, svg)
		}
		look(t, fmt.Sprint("a cycle of ", c.n), r, report.WindowOptions{})
		if len(a.Says) > 2500 || len(r.Text()) > 20_000 {
			t.Errorf("%d: the sentence has %d bytes, and the text %d", c.n, len(a.Says), len(r.Text()))
		}
	}
}

// The label of a transaction has what its steps are about, also in the middle of many others.
func TestALabelHasWhatTheStepsAreAbout(t *testing.T) {
	many := strings.Repeat("[:append :other 1] ", 1)
	for i := range 40 {
		many += fmt.Sprintf("[:append :k%d 1] ", i)
	}
	r := transactions(t, `
		{:process 0 :type :invoke :f :txn :value [`+many+` [:append :x 1] [:append :z 1]]}
		{:process 0 :type :ok :f :txn :value [`+many+` [:append :x 1] [:append :z 1]]}
		{:process 1 :type :invoke :f :txn :value [[:r :y nil] [:r :x nil] [:r :y nil]]}
		{:process 1 :type :ok :f :txn :value [[:r :y []] [:r :x []] [:r :y []]]}`)
	w, err := r.AnomalyWindow(t.Context(), r.Told, report.WindowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, x := range w.Ops {
		labels = append(labels, x.Label)
	}
	if want := []string{"T2 …, append :x 1, …", "T1 …, r :x [], …"}; !slices.Equal(labels, want) {
		t.Errorf("the labels are %q, expected %q", labels, want)
	}
}

// A picture of a failure has the worst anomaly below it, unless it shows that itself.
func TestTheWorstAnomalyIsDrawnBelow(t *testing.T) {
	r := failure(t, models.Spec{Name: "list-append"})
	w, err := r.Window(t.Context(), report.WindowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Below == nil || w.Below.Result.Told.Type != "G1c" || r.Told.Type != "G-single-item-realtime" {
		t.Errorf("below %s is %v", r.Told.Line(), w.Below)
	}
	for _, history := range []string{skew(2, 0), `
		{:process 0 :type :invoke :f :txn :value [[:append :x 1] [:r :x nil]]}
		{:process 0 :type :ok :f :txn :value [[:append :x 1] [:r :x []]]}`} {
		r := transactions(t, history)
		if w, err := r.Window(t.Context(), report.WindowOptions{}); err != nil || w.Below != nil || r.Levels.Worst() == nil {
			t.Errorf("%s: %v, below it is %v", r.Explanation, err, w.Below)
		}
	}
}

// What Elle found is drawn, too, from the results of a test.
func TestElleIsRead(t *testing.T) {
	first := transactions(t, skew(2, 0))
	h := first.History
	op := func(index int) string { return string(h.OpPrinter().AppendEvent(nil, h.EventAt(int64(index)))) }
	result := fmt.Sprintf(`{:stats {:valid? true}, :valid? false, :workload {:valid? false, :anomaly-types (:G2-item), :not #{:repeatable-read},
		:also-not #{:serializable :strict-serializable}, :anomalies {:G2-item [{:cycle [%[1]s %[2]s %[1]s], :type :G2-item,
		:steps [{:type :rw, :key "0", :value :elle.list-append/init, :value' "3", :a-mop-index 0}
		        {:type :rw, :key "1", :value :elle.list-append/init, :value' "2", :a-mop-index 0}]}]}}}`, op(2), op(3))
	r, err := report.ReadEDN(strings.NewReader(result), "results.edn", h)
	if err != nil {
		t.Fatal(err)
	}
	r.Spec = first.Spec
	if r.Verdict != jepsen.Invalid || r.Told == nil || h.Index(r.FailEvent.OrNone()) != 3 {
		t.Fatalf("%v: %v", r.Verdict, r.Told)
	}
	if want := `T2 comes before T1 (rw "1" "2")`; r.Told.Steps[1].Says != want {
		t.Errorf("the second step is %q, expected %q", r.Told.Steps[1].Says, want)
	}
	if svg := lookAtAnomaly(t, r, r.Told); !bytes.Contains(svg, []byte(`>rw &#34;0&#34; &#34;3&#34;<`)) {
		t.Errorf("the first step is not drawn: %s", svg)
	}
	look(t, "Elle's", r, report.WindowOptions{})
	if _, err := report.ReadEDN(strings.NewReader(strings.ReplaceAll(result, ":index 3", ":index 77")), "results.edn", h); err == nil {
		t.Error("a result of another history is read")
	}
}
