package page_test

import (
	"bytes"
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

// monitored returns the page of a pass over a history of registers.
func monitored(t *testing.T, history string, o clew.Options) string {
	t.Helper()
	m, err := clew.NewMonitor(t.Context(), models.Spec{Name: "register"}, o)
	if err != nil {
		t.Fatal(err)
	}
	m.Draws = true
	if err := m.Read(strings.NewReader(history), "h", jepsen.Options{}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.WritePage(&b, clew.MonitorPage{Title: "h.edn", Ended: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// manyAnomalies returns a history with a stale read after every fourth write, on nodes, while a nemesis comes and goes.
func manyAnomalies(writes int) string {
	var b strings.Builder
	n := 0
	event := func(process any, kind, f, value, more string) {
		fmt.Fprintf(&b, "{:index %d, :time %d, :process %v, :type :%s, :f :%s, :value %s%s}\n", n, 1000*n, process, kind, f, value, more)
		n++
	}
	for i := range writes {
		event(0, "invoke", "write", fmt.Sprint(i), "")
		event(0, "ok", "write", fmt.Sprint(i), "")
		if i%100 == 50 {
			f := []string{"start-partition", "stop-partition"}[i/100%2]
			event(":nemesis", "info", f, "nil", "")
			event(":nemesis", "info", f, "nil", "")
		}
		if i%4 == 3 {
			event(1, "invoke", "read", "nil", "")
			event(1, "ok", "read", fmt.Sprint(i-1), fmt.Sprintf(", :node \"n%d\"", i%7))
		}
	}
	return b.String()
}

func TestAPageOfAPassShowsTheRun(t *testing.T) {
	page := monitored(t, manyAnomalies(2000), clew.Options{})
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
	valid := monitored(t, manyAnomalies(3), clew.Options{})
	if !strings.Contains(valid, `class="verdict valid">valid<`) || !strings.Contains(valid, "No anomalies.") {
		t.Error("a valid history has another page")
	}
}

// A page of a run has the same size, however long the run is.
func TestAPageOfAPassIsBounded(t *testing.T) {
	short, long := monitored(t, manyAnomalies(2000), clew.Options{}), monitored(t, manyAnomalies(40_000), clew.Options{})
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
	page := monitored(t, text, clew.Options{Independent: true})
	if !strings.Contains(page, "stale-read (1)") || !strings.Contains(page, "&lt;script&gt;alert") {
		t.Error("the anomaly or the nemesis is missing")
	}
	if strings.Contains(page, "<script>window") || strings.Contains(page, "<script>alert") || strings.Count(page, "<script>") != strings.Count(monitored(t, manyAnomalies(3), clew.Options{}), "<script>") {
		t.Error("a name is more than text")
	}
}
