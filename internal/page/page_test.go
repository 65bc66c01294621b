package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"

	"clew"
	"clew/internal/page"
	"clew/internal/pagetest"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// heldBy returns the operations that a page holds in its first part.
func heldBy(t testing.TB, html []byte) (held struct {
	Op, Res            []int
	Label, Text, Began []string
	From, To           int
	Stretch            []int
}) {
	t.Helper()
	_, rest, _ := bytes.Cut(html, []byte(`<script type="application/json" class="held">`))
	data, _, _ := bytes.Cut(rest, []byte("</script>"))
	if err := json.Unmarshal(data, &held); err != nil {
		t.Fatal(err)
	}
	return held
}

func TestAPageHasAtMostTwoMegabytesOfAnyHistory(t *testing.T) {
	for _, c := range []struct {
		name, history string
		whole         bool
	}{
		{"a short one", pagetest.StaleRead, true},
		{"a long one", pagetest.LongHistory(20_000, 0.7), false},
		{"a long one that fails at once", pagetest.LongHistory(20_000, 0.0002), false},
		{"hostile values", pagetest.HostileHistory(), true},
		{"many long values", longValues(3000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			html := pagetest.Written(t, pagetest.Check(t, c.history, ""))
			held := heldBy(t, html)
			n := strings.Count(c.history, ":invoke") - strings.Count(c.history, `"look"`)
			if whole := len(held.Op) == n; whole != c.whole {
				t.Errorf("it holds %d of %d operations", len(held.Op), n)
			}
			for i := held.From + 1; i < held.To; i++ {
				if held.Op[i] != held.Op[i-1]+1 {
					t.Fatalf("operation %d does not stand beside %d", held.Op[i], held.Op[i-1])
				}
			}
			if !c.whole && len(html) < page.MaxBytes*3/4 {
				t.Errorf("it has room for more: %d bytes", len(html))
			}
		})
	}
}

// longValues returns n writes of values that cost a page more than others, and a
// read of a value that was never written.
func longValues(n int) string {
	var b strings.Builder
	for i := range n {
		v := fmt.Sprintf(`"%d%s"`, i, strings.Repeat("<&>", 200))
		pagetest.Event(&b, 2*i, 0, "invoke", "write", v)
		pagetest.Event(&b, 2*i+1, 0, "ok", "write", v)
	}
	pagetest.Event(&b, 2*n, 0, "invoke", "read", "nil")
	pagetest.Event(&b, 2*n+1, 0, "ok", "read", "-1")
	return b.String()
}

// Hostile values are always text: whatever a browser would make of them, the
// markup is that of a page without them.
func TestHostileValuesAreText(t *testing.T) {
	tags := func(html []byte) (n int) {
		for _, tag := range []string{"<script", "</script", "<style", "</style", "<img", "<b>", "<b ", "<!--", "]]>", "</title><s"} {
			n += bytes.Count(html, []byte(tag))
		}
		return n
	}
	if want, got := tags(pagetest.Written(t, pagetest.Check(t, pagetest.StaleRead, ""))), tags(pagetest.Written(t, pagetest.Check(t, pagetest.HostileHistory(), ""))); got != want {
		t.Errorf("%d tags, want %d", got, want)
	}
	r := pagetest.Check(t, pagetest.StaleRead, "")
	r.File, r.Explanation, r.Hint = pagetest.Hostile[0], strings.Join(pagetest.Hostile, " "), pagetest.Hostile[0]
	for i := range r.Paths[0] {
		r.Paths[0][i].Why = pagetest.Hostile[0]
	}
	html := pagetest.Written(t, r)
	if bytes.Contains(html, []byte("<script>window")) || bytes.Contains(html, []byte("<img")) || bytes.Contains(html, []byte("\u202e")) {
		t.Error("a name or a sentence is more than text")
	}
	index := pagetest.StoreIndex(t)
	if bytes.Count(index, []byte("</script>")) != 1 {
		t.Error("an index has a value's tag")
	}
}

// Readers who do not see the drawing get the text output, and a table of the operations.
func TestAPageHasTheTextAndATable(t *testing.T) {
	r := pagetest.Check(t, pagetest.StaleRead, "")
	page := html.UnescapeString(string(pagetest.Written(t, r)))
	if !strings.Contains(page, r.Text()) {
		t.Error("the text output is missing")
	}
	if !strings.Contains(page, `<p class="sentence"><span class="kind" title="An operation saw a value that another one had already replaced.">stale read</span> value 1 was read`) {
		t.Error("the kind is missing")
	}
	var core bytes.Buffer
	if err := r.WriteCore(&core); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page, core.String()) {
		t.Error("the core is missing")
	}
	_, table, _ := strings.Cut(page, "<tbody>")
	table, _, _ = strings.Cut(table, "</tbody>")
	for _, want := range []string{"write 1", "write 2", "read 1", "cannot happen: ", "crashed", "takes effect; then the state is 1",
		"tried before the failure, which does not help; then the state is 9"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table has no %q", want)
		}
	}
}

func TestPagesOfOtherVerdicts(t *testing.T) {
	valid := string(pagetest.Written(t, pagetest.Check(t, pagetest.LongHistory(2, 2), "")))
	if !strings.Contains(valid, `class="verdict valid">valid<`) || !strings.Contains(valid, "<svg") {
		t.Error("a valid history has no page with a drawing")
	}
	r := pagetest.Check(t, pagetest.StaleRead, "")
	unknown := string(pagetest.Written(t, &report.Result{File: "h", History: r.History, Cause: jepsen.Timeout, Explanation: "it took too long"}))
	for _, want := range []string{`class="verdict unknown">unknown<`, "timeout", "it took too long", "This page holds all 5 operations."} {
		if !strings.Contains(unknown, want) {
			t.Errorf("an undecided history's page has no %q", want)
		}
	}
	nothing := string(pagetest.Written(t, &report.Result{File: "h", Cause: "unreadable", Error: "h:1:1: no"}))
	if !strings.Contains(nothing, "h:1:1: no") {
		t.Error("an unreadable history's page does not say why")
	}
	pagetest.Written(t, pagetest.Check(t, "", ""))
	if keys := string(pagetest.Written(t, pagetest.Check(t, pagetest.KeyedHistory(3, 0), "independent"))); !strings.Contains(keys, "<svg") || !strings.Contains(keys, "3 keys, 3 valid") {
		t.Error("keys of which none fails have no page with a drawing")
	}
}

// If there are many keys, an index lists those that fail, and counts the others.
func TestManyKeys(t *testing.T) {
	page := string(pagetest.Written(t, pagetest.Check(t, pagetest.KeyedHistory(5000, 3000), "independent")))
	for _, want := range []string{"5000 keys, 3000 invalid, 2000 valid", "3000 more are not listed.", `href="#key-8"`, "value 2 was read by process 0 (index 39)"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if strings.Contains(page, `href="#key-9"`) {
		t.Error("there are too many parts")
	}
}

func TestAPageAroundAnyEvent(t *testing.T) {
	write := func(r *report.Result, index int64) string {
		var b bytes.Buffer
		if err := page.Write(context.Background(), &b, r, report.WindowOptions{Around: &index}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	far := write(pagetest.Check(t, pagetest.LongHistory(20_000, 0.9), ""), 3001)
	if held := heldBy(t, []byte(far)); held.Op[held.From] > 1500 || held.Op[held.To-1] < 1500 || !strings.Contains(far, `data-op="1500"`) {
		t.Errorf("it holds operations %d to %d", held.Op[held.From], held.Op[held.To-1])
	} else if want := fmt.Sprintf("operations, those from index %d to %d", 2*held.Op[held.From], 2*held.Op[held.To-1]+1); !strings.Contains(far, want) {
		t.Errorf("it does not say %q", want)
	}
	keys := write(pagetest.Check(t, pagetest.KeyedHistory(9, 2), "independent"), 33)
	for _, want := range []string{`<section id="around"`, "around index 33", `<section id="key-2"`} {
		if !strings.Contains(keys, want) {
			t.Errorf("of keys there is no %q", want)
		}
	}
	index := int64(1_000_000)
	if err := page.Write(context.Background(), io.Discard, pagetest.Check(t, pagetest.StaleRead, ""), report.WindowOptions{Around: &index}); err == nil {
		t.Error("there is a page around what is not there")
	}
}

func TestAPageEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	stop(enough)
	r := pagetest.Check(t, pagetest.LongHistory(3000, 0.5), "")
	if err := page.Write(ctx, io.Discard, r, report.WindowOptions{}); !errors.Is(err, enough) {
		t.Errorf("a page: %v", err)
	}
	if err := page.WritePorcupine(ctx, io.Discard, r); !errors.Is(err, enough) {
		t.Errorf("one as porcupine draws it: %v", err)
	}
}

func TestPorcupinesPage(t *testing.T) {
	for _, c := range []struct {
		name, history string
		spec          models.Spec
		want          []string
	}{
		{"a failure", pagetest.StaleRead, models.Spec{Name: "register"}, []string{"read 1", "write 9 (open)", "{#knossos.model.Register{:value 2}, #knossos.model.Register{:value 9}}", ":start-partition", "not linearizable"}},
		{"a long failure", pagetest.LongHistory(3000, 0.9), models.Spec{Name: "register"}, []string{"2547 operations before took effect first", "read 3"}},
		{"a valid history", pagetest.LongHistory(2, 2), models.Spec{Name: "register"}, []string{"write 1"}},
		{"a key of a map", kvFailure, models.Spec{Name: "kv"}, []string{"get [:a 1]", "put [:a 2]"}},
		{"hostile values", pagetest.HostileHistory(), models.Spec{Name: "register"}, []string{`"Description":`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			r := pagetest.CheckAs(t, c.history, c.spec, clew.Options{})
			if err := page.WritePorcupine(context.Background(), &b, r); err != nil {
				t.Fatal(err)
			}
			if b.Len() > page.MaxBytes {
				t.Errorf("%d bytes", b.Len())
			}
			for _, want := range c.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("there is no %q", want)
				}
			}
			if bytes.Count(b.Bytes(), []byte("</script>")) != 1 {
				t.Error("a value ends the script")
			}
			// The page's script escapes what it puts into its markup: in JSON, & is \u0026.
			if states := regexp.MustCompile(`"(StateDescription|Metadata)":"[^"]*\\u003c`).Find(b.Bytes()); states != nil {
				t.Errorf("a state has markup: %s", states)
			}
		})
	}
	// A crashed drain of n elements leads to 2^n states.
	for n, want := range map[int]string{2: "", 7: "", 9: "fewer than 256 states"} {
		var history, html bytes.Buffer
		for i := range n {
			fmt.Fprintf(&history, "{:process 0 :type :invoke :f :enqueue :value %d}\n{:process 0 :type :ok :f :enqueue :value %[1]d}\n", i)
		}
		history.WriteString("{:process 1 :type :invoke :f :drain}\n{:process 0 :type :invoke :f :dequeue}\n{:process 0 :type :ok :f :dequeue :value 1}\n{:process 0 :type :invoke :f :dequeue}\n{:process 0 :type :ok :f :dequeue :value 1}\n")
		err := page.WritePorcupine(context.Background(), &html, pagetest.CheckAs(t, history.String(), models.Spec{Name: "unordered-queue"}, clew.Options{}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("a drain of %d elements: %v", n, err)
		}
		if err == nil && strings.Count(html.String(), ":pending") < 1<<(n-1) {
			t.Errorf("a drain of %d elements: the page has few states:\n%s", n, html.String())
		}
	}
	var b bytes.Buffer
	r := pagetest.Check(t, pagetest.KeyedHistory(2, 0), "independent")
	if err := page.WritePorcupine(context.Background(), &b, r); err == nil {
		t.Error("keys of which none fails have a page")
	}
}

// kvFailure is a history of two keys, one of which fails.
var kvFailure = func() string {
	var b strings.Builder
	for i, e := range []struct{ kind, f, value string }{
		{"invoke", "put", "[:a 1]"}, {"ok", "put", "[:a 1]"}, {"invoke", "put", "[:b 7]"}, {"ok", "put", "[:b 7]"},
		{"invoke", "put", "[:a 2]"}, {"ok", "put", "[:a 2]"}, {"invoke", "get", "[:a nil]"}, {"ok", "get", "[:a 1]"},
	} {
		pagetest.Event(&b, i, 0, e.kind, e.f, e.value)
	}
	return b.String()
}()
