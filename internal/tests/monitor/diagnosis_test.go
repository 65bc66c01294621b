package monitor_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/internal/archive"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/pace"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// told is an event of a history as its line tells it.
type told struct {
	index, process, kind, f, value, node string
	time                                 int64
}

var fieldValue = regexp.MustCompile(`^(\[.*?\]|"[^"]*"|[^ ,}]+)`)

// field returns a value of an op map in a line, "" if it has none.
func field(line, key string) string {
	for rest := line; ; {
		_, after, found := strings.Cut(rest, ":"+key+" ")
		if !found {
			return ""
		}
		if value := fieldValue.FindString(after); value != "" {
			return value
		}
		rest = after
	}
}

func tell(text string) (all []told) {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		e := told{field(line, "index"), field(line, "process"), strings.TrimPrefix(field(line, "type"), ":"), field(line, "f"), field(line, "value"), strings.Trim(field(line, "node"), `"`), -1}
		if e.index == "" {
			e.index = strconv.Itoa(i)
		}
		if ns, err := strconv.ParseInt(field(line, "time"), 10, 64); err == nil {
			e.time = ns
		}
		all = append(all, e)
	}
	return all
}

// toldOp is an operation: what it saw and wrote, "" if nothing, and between which events.
type toldOp struct {
	process, key, saw, wrote string
	inv, res                 int // res is beyond all events if it did not return
	begun                    told
}

const never = math.MaxInt

// toldOps pairs the events of clients. What failed is left out, and what crashed or did not end never returns. Anomalies that
// only saw something are left out; of the others, the answer is forgotten.
func toldOps(events []told, anomalies map[int]bool) (ops []*toldOp, byEnd map[int]*toldOp) {
	open, byEnd := map[string]*toldOp{}, map[int]*toldOp{}
	for i, e := range events {
		if _, err := strconv.Atoi(e.process); err != nil {
			continue
		}
		if e.kind == "invoke" {
			open[e.process] = &toldOp{process: e.process, inv: i, res: never, begun: e}
			ops = append(ops, open[e.process])
		}
		op := open[e.process]
		value := e.value
		if strings.HasPrefix(value, "[") && e.f != ":cas" { // a key and a value
			op.key, value, _ = strings.Cut(strings.Trim(value, "[]"), " ")
		}
		switch e.f {
		case ":cas":
			op.saw, op.wrote, _ = strings.Cut(strings.Trim(value, "[]"), " ")
		case ":write", ":put":
			op.wrote = value
		default:
			op.saw = value
		}
		switch {
		case e.kind == "fail":
			op.saw, op.wrote = "", ""
		case e.kind == "ok" && !anomalies[i]:
			op.res = i
		case e.kind == "ok":
			byEnd[i] = &toldOp{op.process, op.key, op.saw, op.wrote, op.inv, i, op.begun}
		}
		if e.kind == "info" && op.wrote == "nil" { // it says only when it was called
			op.wrote = events[op.inv].value
			if _, value, keyed := strings.Cut(strings.Trim(op.wrote, "[]"), " "); keyed {
				op.wrote = value
			}
		}
		if op.res == never {
			op.saw = ""
		}
	}
	return ops, byEnd
}

// diagnosis is what an anomaly's operation shows by the definitions of docs/monitor.md.
type diagnosis struct {
	behind  int
	late    time.Duration
	session clew.Session
	many    bool // its client had seen more than a monitor remembers
}

// shownAt returns the first event before another one that shows that a write happened, or never.
func shownAt(ops []*toldOp, w *toldOp, before int) int {
	at := never
	for _, op := range ops {
		if op.res < before && (op == w || op.key == w.key && op.saw == w.wrote) {
			at = min(at, op.res)
		}
	}
	return at
}

// diagnosed says how old what an operation saw was, and which guarantee that breaks.
func diagnosed(events []told, ops []*toldOp, r *toldOp) diagnosis {
	d := diagnosis{behind: -1, late: -1}
	writer := func(value string) *toldOp {
		for _, op := range ops {
			if op.key == r.key && op.wrote == value && value != "" {
				return op
			}
		}
		return nil
	}
	old, oldShown := writer(r.saw), -1 // what was there first was there before all
	if old != nil {
		if oldShown = shownAt(ops, old, r.res); oldShown == never {
			return d // the value had not been seen
		}
	} else if r.saw != "nil" {
		return d // it was not written
	}
	d.behind = 0
	first := never
	for _, w := range ops {
		if shown := shownAt(ops, w, r.res); w.key == r.key && w.wrote != "" && w != old && w.inv > oldShown && shown < r.inv {
			d.behind++
			first = min(first, shown)
		}
	}
	if first != never && r.begun.time >= 0 {
		d.late = time.Duration(r.begun.time - events[first].time)
	}
	sights, sawOld := 0, false
	for _, op := range slices.SortedFunc(slices.Values(ops), func(a, b *toldOp) int { return a.res - b.res }) {
		if op.process != r.process || op.key != r.key || op.res >= r.inv {
			continue
		}
		if op.wrote != "" && op.inv > oldShown {
			d.session = clew.ReadYourWrites
		}
		if op.saw == "" {
			continue
		}
		sights++
		if op.saw == r.saw {
			sawOld = true
		}
		w := writer(op.saw)
		switch {
		case w == nil:
		case d.session != clew.ReadYourWrites && !sawOld && old != nil && old.res < r.res && w.process == old.process && w.process != r.process && w.inv > old.inv:
			d.session = clew.MonotonicWrites
		case d.session == "" && w.inv > oldShown:
			d.session = clew.MonotonicReads
		}
	}
	d.many = sights > 8
	return d
}

// A stale read is reported with just the versions, the time and the guarantee that the definitions have, whatever else
// happened: crashes, failures, reused processes, several keys.
func TestAnAnomalyIsDiagnosedByTheDefinitions(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	sessions, seen, timed, inWindows := map[clew.Session]int{}, 0, 0, 0
	for _, spec := range []models.Spec{{Name: "register"}, {Name: "cas-register"}, {Name: "kv"}} {
		r := gen.Rand(81)
		for range effort.Histories(300, 60_000) {
			text := timedLines(r, kit.Faulty(r, spec, 5+r.IntN(50), 1+r.IntN(4), []float64{0, 0.1, 0.3}[r.IntN(3)], 0.15))
			m, err := clew.NewMonitor(pace.Each(t.Context(), r.IntN(12)), spec.FromDefault(), kit.Unverified)
			if err != nil {
				t.Fatal(err)
			}
			var found []clew.Anomaly
			m.Found = func(a clew.Anomaly) error { found = append(found, a); return nil }
			if err := m.Read(strings.NewReader(text), "h", spec.Pairing()); err != nil {
				t.Fatal(err)
			}
			events, anomalies := tell(text), map[int]bool{}
			for _, a := range found {
				anomalies[a.Operation.Line-1] = true
			}
			ops, byEnd := toldOps(events, anomalies)
			windows := toldWindows(events)
			for _, a := range found {
				end := a.Operation.Line - 1
				if want := windowsOf(windows, byEnd[end].inv, end); !slices.Equal(a.Nemesis, want) {
					t.Fatalf("%s: line %d: during %v, want %v\n%s", spec.Name, end+1, a.Nemesis, want, kit.Numbered(text))
				}
				if want := cmp.Or(events[end].node, events[byEnd[end].inv].node); a.Node != want {
					t.Fatalf("%s: line %d: node %q, want %q\n%s", spec.Name, end+1, a.Node, want, kit.Numbered(text))
				}
				inWindows += len(a.Nemesis)
				if a.Kind != models.StaleRead && a.Kind != models.LostUpdate {
					continue
				}
				want := diagnosed(events, ops, byEnd[a.Operation.Line-1])
				if a.Behind != want.behind || a.BehindFor != want.late || a.Session != want.session && !(want.many && want.session == clew.MonotonicWrites && a.Session == clew.MonotonicReads) {
					t.Fatalf("%s: line %d: %d behind for %d, %q; want %+v\n%s", spec.Name, a.Operation.Line, a.Behind, a.BehindFor, a.Session, want, kit.Numbered(text))
				}
				seen++
				sessions[a.Session]++
				if a.BehindFor > 0 {
					timed++
				}
			}
		}
	}
	t.Log(seen, "stale reads,", timed, "with times;", sessions, inWindows, "windows")
	if seen < 100 || timed < 50 || inWindows < 50 || len(sessions) != 4 {
		t.Error("too little was compared")
	}
}

// timedLines gives each line a :time, and some a :node. Between them are the actions of a nemesis.
func timedLines(r *rand.Rand, text string) string {
	var b strings.Builder
	now, open, action, events := int64(r.IntN(1000)), false, "", 0
	for line := range strings.Lines(text) {
		now += int64(r.IntN(5_000_000))
		node := ""
		if r.IntN(3) > 0 {
			node = fmt.Sprintf(":node \"n%d\", ", r.IntN(3))
		}
		fmt.Fprintf(&b, "{:time %d, %s%s", now, node, line[1:])
		if r.IntN(6) > 0 {
			continue
		}
		if events == 2 {
			action, events = "", 0
		}
		if action == "" {
			if action = "bump"; r.IntN(2) == 0 {
				action = map[bool]string{false: "start-partition", true: "stop-partition"}[open]
				open = !open
			}
		}
		fmt.Fprintf(&b, "{:time %d, :process :nemesis, :type :info, :f :%s, :value nil}\n", now, action)
		events++
	}
	return b.String()
}

// A planted stale read of so many versions and so many milliseconds is reported as just that, however long ago the value
// was forgotten.
func TestAPlantedStaleReadIsReportedExactly(t *testing.T) {
	t.Parallel()
	r := gen.Rand(82)
	for range kit.Histories(30, 200, 30_000) {
		before, behind, late := 1+r.IntN(60), 1+r.IntN(200), time.Duration(r.IntN(100_000))*time.Microsecond
		var b strings.Builder
		now := time.Duration(r.IntN(1000))
		event := func(process int, kind, f string, value int) {
			fmt.Fprintf(&b, "{:process %d, :type :%s, :f :%s, :value %d, :time %d}\n", process, kind, f, value, now)
		}
		var overwritten time.Duration
		for i := range before + behind { // values 0, 1, ..; each write is on its own
			now += time.Duration(r.IntN(2000))
			event(0, "invoke", "write", i)
			now += time.Duration(r.IntN(2000))
			event(0, "ok", "write", i)
			if i == before {
				overwritten = now
			}
		}
		now = max(now, overwritten+late)
		event(1, "invoke", "read", before-1)
		event(1, "ok", "read", before-1)
		m, err := clew.NewMonitor(pace.Each(t.Context(), r.IntN(100)), models.Spec{Name: "register", Init: "-1"}, kit.Unverified)
		if err != nil {
			t.Fatal(err)
		}
		var found []clew.Anomaly
		m.Found = func(a clew.Anomaly) error { found = append(found, a); return nil }
		if err := m.Read(strings.NewReader(b.String()), "h", jepsen.Options{}); err != nil || len(found) != 1 {
			t.Fatal(err, len(found))
		}
		totals := m.Totals()
		if a := found[0]; a.Kind != models.StaleRead || a.Behind != behind || a.BehindFor != now-overwritten || totals.Behind != behind || totals.BehindFor != now-overwritten {
			t.Fatalf("%d behind for %s: %+v", behind, now-overwritten, a)
		}
	}
}

// toldWindow is what a nemesis did: between the first and the last of its events.
type toldWindow struct {
	f        string
	index    int64
	from, to int // lines
}

// toldWindows returns the windows of a nemesis all of whose actions have two events, from the definition: an action lasts
// from one event to the other, and what :start begins until the second event of the next :stop.
func toldWindows(events []told) (all []toldWindow) {
	pending, open := -1, -1
	for i, e := range events {
		if e.process != ":nemesis" {
			continue
		}
		index, _ := strconv.ParseInt(e.index, 10, 64)
		w := toldWindow{strings.TrimPrefix(e.f, ":"), index, i, never}
		stops := strings.HasPrefix(e.f, ":stop") && open >= 0
		switch {
		case pending >= 0 && stops: // its second event
			all[open].to, open, pending = i, -1, -1
		case pending >= 0:
			if pending < len(all) && !strings.HasPrefix(e.f, ":start") {
				all[pending].to = i
			}
			pending = -1
		case stops:
			pending = open
		default:
			if all = append(all, w); strings.HasPrefix(e.f, ":start") {
				open = len(all) - 1
			}
			pending = len(all) - 1
		}
	}
	return all
}

// windowsOf returns the windows that were open at some time between two events.
func windowsOf(all []toldWindow, begin, end int) (during []clew.NemesisWindow) {
	for _, w := range all {
		if w.from < end && w.to > begin {
			during = append(during, clew.NemesisWindow{F: w.f, Index: w.index})
		}
	}
	return during
}

// Counts by node and by window of the nemesis are those of the op maps.
func TestAMonitorCountsWhatOpMapsTell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, model  string
		independent  bool
		least, nodes int // of anomalies
	}{
		{"redis-store/redis-flapping-partitions-test/20250623T184232.292Z/history.edn", "register", false, 1000, 4},
		{"redis-store/redis-split-brain-test/20250623T175651.207Z/history.edn", "register", false, 1000, 5},
		{"wild/06-mvitz-etcd/run/history.edn", "cas-register", false, 1, 0},
		{"wild/04-redis-extreme-latency/run/history.edn", "register", false, 100, 4},
		{"wild/01-josehu-etcd/run/history.edn", "cas-register", true, 1, 0},
		{"wild/10-omnipaxos-multiline/run/history.edn", "cas-register", true, 0, 0},
	} {
		t.Run(c.path, func(t *testing.T) {
			data, err := os.ReadFile(archive.Path(t, strings.Split(c.path, "/")...))
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			o := kit.Unverified
			o.Independent = c.independent
			spec := models.Spec{Name: c.model}
			m, err := clew.NewMonitor(t.Context(), spec, o)
			if err != nil {
				t.Fatal(err)
			}
			events := tell(text)
			ends := map[string]int{}
			for i, e := range events {
				ends[e.index] = i
			}
			windows := toldWindows(events)
			wantNodes, wantNemesis, wantKeys := map[string]int{}, map[string]int{}, map[string]int{}
			anomalies := 0
			m.Found = func(a clew.Anomaly) error {
				anomalies++
				end := ends[strconv.FormatInt(a.Operation.Index, 10)]
				begin := end - 1
				for events[begin].process != events[end].process {
					begin--
				}
				if node := events[end].node; node != a.Node {
					t.Errorf("index %d: node %q, want %q", a.Operation.Index, a.Node, node)
				} else if node != "" {
					wantNodes[node]++
				}
				if a.Key != "" {
					wantKeys[a.Key]++
				}
				want, during := windowsOf(windows, begin, end), map[string]bool{}
				for _, w := range want {
					during[w.F] = true
				}
				if !slices.Equal(a.Nemesis, want) {
					t.Errorf("index %d: during %v, want %v", a.Operation.Index, a.Nemesis, want)
				}
				for f := range during {
					wantNemesis[f]++
				}
				if len(during) == 0 {
					wantNemesis[""]++
				}
				return nil
			}
			if err := m.Read(strings.NewReader(text), "h", spec.Pairing()); err != nil {
				t.Fatal(err)
			}
			totals := m.Totals()
			if !maps.Equal(totals.Nodes, wantNodes) || !maps.Equal(totals.Nemesis, wantNemesis) || !maps.Equal(totals.Keys, wantKeys) {
				t.Errorf("%v, %v, %v; want %v, %v, %v", totals.Nodes, totals.Nemesis, totals.Keys, wantNodes, wantNemesis, wantKeys)
			}
			if anomalies < c.least || len(wantNodes) != c.nodes {
				t.Errorf("%d anomalies on %d nodes", anomalies, len(wantNodes))
			}
			t.Log(anomalies, "anomalies;", totals)
		})
	}
}

// What a line says of an index is enough to draw the anomaly: a window around it shows its operation.
func TestEveryAnomalyCanBeDrawn(t *testing.T) {
	t.Parallel()
	r := gen.Rand(83)
	for _, spec := range kit.Forgetful {
		spec, drawn := spec.FromDefault(), 0
		for n := range kit.Histories(8, 30, 2000) {
			text := kit.Faulty(r, spec, 5+r.IntN(60), 1+r.IntN(4), 0.1, 0.2)
			o := kit.Unverified
			if o.Independent = n%2 == 1 && spec.Name != "kv"; o.Independent {
				text = regexp.MustCompile(`(?m):value (.*)}$`).ReplaceAllString(text, `:value ["k" $1]}`)
			}
			h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing())
			if err != nil {
				t.Fatal(err)
			}
			result, err := clew.Check(t.Context(), h, spec, o)
			if err != nil {
				t.Fatal(err)
			}
			m, err := clew.NewMonitor(pace.Each(t.Context(), 1+r.IntN(20)), spec, o)
			if err != nil {
				t.Fatal(err)
			}
			m.Found = func(a clew.Anomaly) error {
				w, err := result.Window(t.Context(), report.WindowOptions{Around: &a.Operation.Index})
				if err != nil {
					t.Fatalf("index %d: %v\n%s", a.Operation.Index, err, kit.Numbered(text))
				}
				own := w.Result.History
				if !slices.ContainsFunc(w.Ops, func(x report.WindowOp) bool { return own.Op(x.Operation).Index == a.Operation.Index }) {
					t.Fatalf("index %d is not drawn\n%s", a.Operation.Index, kit.Numbered(text))
				}
				drawn++
				return nil
			}
			if err := m.Read(strings.NewReader(text), "h", spec.Pairing()); err != nil {
				t.Fatal(err)
			}
		}
		if drawn == 0 {
			t.Errorf("%s: there was no anomaly", spec.Name)
		}
	}
}

// The totals say what is open and for how long the oldest event has waited, but for what is stuck.
func TestTotalsSayWhatIsOpen(t *testing.T) {
	t.Parallel()
	m, err := clew.NewMonitor(pace.Each(t.Context(), 1), models.Spec{Name: "register", Init: "0"}, kit.Unverified)
	if err != nil {
		t.Fatal(err)
	}
	var open []int
	delayed := false
	m.StuckEvents = 3
	m.Looked = func() error {
		totals := m.Totals()
		open = append(open, totals.Open)
		delayed = delayed || totals.Delay > 0
		return nil
	}
	const text = `{:process 0, :type :invoke, :f :write, :value 1}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 1}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 1}
`
	if err := m.Read(strings.NewReader(text), "h", jepsen.Options{}); err != nil {
		t.Fatal(err)
	}
	if totals := m.Totals(); !slices.Equal(open, []int{1, 2, 1, 1, 0, 0}) || !delayed || totals.Stuck != 1 || totals.Delay != 0 {
		t.Errorf("%v open, delayed: %t, %+v", open, delayed, totals)
	}
}
