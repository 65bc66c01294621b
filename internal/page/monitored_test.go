package page_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"clew"
	"clew/internal/page"
	"clew/internal/pagetest"
	"clew/jepsen"
	"clew/models"
)

func monitoredPage(t *testing.T, history string, o clew.Options) string {
	t.Helper()
	return string(pagetest.Monitored(t, history, o))
}

func TestAPageOfAPassShowsTheRun(t *testing.T) {
	page := monitoredPage(t, pagetest.ManyAnomalies(2000), clew.Options{})
	for _, want := range []string{`class="verdict invalid">INVALID<`, "stale-read (500)", "nemesis: start-partition", "Operations that ended: at most", "Latency of those that succeeded",
		"stale-read at index 9", "n3</bdi>", "clew render --around ", "outside any</bdi>", "What the monitor held"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q", want)
		}
	}
	links := regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 100 {
		t.Errorf("only %d links", len(links))
	}
	for _, link := range links {
		if !strings.Contains(page, `id="`+link[1]+`"`) {
			t.Errorf("nothing is at #%s", link[1])
		}
	}
	valid := monitoredPage(t, pagetest.ManyAnomalies(3), clew.Options{})
	if !strings.Contains(valid, `class="verdict valid">valid<`) || !strings.Contains(valid, "No anomalies.") {
		t.Error("a valid history has another page")
	}
}

// A page of a run has the same size, however long the run is.
func TestAPageOfAPassIsBounded(t *testing.T) {
	short, long := monitoredPage(t, pagetest.ManyAnomalies(2000), clew.Options{}), monitoredPage(t, pagetest.ManyAnomalies(40_000), clew.Options{})
	if len(long) > page.MaxBytes || len(long) > 2*len(short) {
		t.Errorf("%d bytes, and %d of a long run", len(short), len(long))
	}
}

// Names of keys, nodes and of what the nemesis does are text.
func TestHostileNamesOfAPassAreText(t *testing.T) {
	const hostile = `"</script><script>window.pwned=1</script>"`
	var b strings.Builder
	for i, e := range []string{"invoke write 1", "ok write 1", "invoke write 2", "ok write 2", "invoke read nil", "ok read 1"} {
		part := strings.Fields(e)
		pagetest.Event(&b, i, 0, part[0], part[1], "["+hostile+" "+part[2]+"]")
	}
	text := strings.ReplaceAll(b.String(), ":process", ":node "+hostile+", :process")
	text = fmt.Sprintf("{:process :nemesis, :type :info, :f %s, :value nil}\n{:process :nemesis, :type :info, :f :start-<script>alert, :value nil}\n", hostile) + text
	page := monitoredPage(t, text, clew.Options{Independent: true})
	if !strings.Contains(page, "stale-read (1)") || !strings.Contains(page, "&lt;script&gt;alert") {
		t.Error("the anomaly or the nemesis is missing")
	}
	if strings.Contains(page, "<script>window") || strings.Contains(page, "<script>alert") || strings.Count(page, "<script>") != strings.Count(monitoredPage(t, pagetest.ManyAnomalies(3), clew.Options{}), "<script>") {
		t.Error("a name is more than text")
	}
}

// What the monitor cannot show in full is drawn with what was around it, until there is an anomaly that it can.
func TestAPageOfAPassDrawsWhatIsOld(t *testing.T) {
	var b strings.Builder
	n := 0
	do := func(f string, value int) {
		pagetest.Event(&b, n, 0, "invoke", f, fmt.Sprint(value))
		pagetest.Event(&b, n+1, 0, "ok", f, fmt.Sprint(value))
		n += 2
	}
	for i := range 1000 {
		do("write", i)
	}
	do("read", 3) // of which the write is forgotten
	old := n - 1
	for i := range 1000 {
		do("write", 1000+i)
	}
	page := monitoredPage(t, b.String(), clew.Options{})
	if want := fmt.Sprintf("stale-read at index %d", old); !strings.Contains(page, want) || !strings.Contains(page, "value 3 was read by process 0") || strings.Count(page, `class="part"`) != 1 {
		t.Error("the old read is not drawn")
	}
	do("read", 1998)
	page = monitoredPage(t, b.String(), clew.Options{})
	if want := fmt.Sprintf("stale-read at index %d", n-1); !strings.Contains(page, want) || !strings.Contains(page, "The core as a history") || strings.Count(page, `class="part"`) != 1 {
		t.Error("the later read is not drawn in full")
	}
}

// A page of a store has the runs with most anomalies first, and only as many lanes and lines as there is room for.
func TestAPageOfPassesIsBounded(t *testing.T) {
	const hostile = `</script><script>window.pwned=1</script>`
	m, err := clew.NewMonitor(t.Context(), models.Spec{Name: "register"}, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Draws = true
	if err := m.Read(strings.NewReader(pagetest.ManyAnomalies(2000)), "h", jepsen.Options{}); err != nil {
		t.Fatal(err)
	}
	write := func(runs ...clew.MonitoredRun) string {
		var b strings.Builder
		if err := clew.WriteMonitoredRuns(&b, "store", runs); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	many := []clew.MonitoredRun{{Name: "good"}, {Name: "cut", Err: errors.New(hostile)}}
	for i := range 3000 {
		r := clew.MonitoredRun{Name: fmt.Sprint(hostile, i), Time: "then", Link: fmt.Sprintf("%srun/%d.html", strings.Repeat("long/", i%60), i)}
		r.Monitored(m)
		many = append(many, r)
	}
	text := write(many...)
	for _, want := range []string{"3002 runs, 3000 with anomalies; 1500000 anomalies; 1 not read to the end", " more runs with anomalies are only in the table.", " more are not listed.",
		`href="run/0.html#kind-stale-read">500</a>`, "shaded while its nemesis"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if len(text) > page.MaxBytes || strings.Contains(text, "<script>window") {
		t.Errorf("%d bytes, or a name is more than text", len(text))
	}
	text = write(many[:3]...)
	if order := regexp.MustCompile(`(?s)pwned.*bdi>cut<.*bdi>good<`); !order.MatchString(text) || !strings.Contains(text, `class="verdict invalid"`) {
		t.Error("the worst does not come first")
	}
	if text := write(many[:2]...); !strings.Contains(text, `class="verdict unknown"`) || !strings.Contains(text, "No anomalies.") {
		t.Error("what was not read counts as valid")
	}
}
