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
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/jepsen/store"
	"clew/models"
	"clew/report"
	"clew/report/page"
)

// event is a line of a history: events are 100 ns apart.
func event(b *strings.Builder, index int, process any, kind, f, value string) {
	fmt.Fprintf(b, "{:index %d, :time %d, :process %v, :type :%s, :f :%s, :value %s}\n", index, 100*index, process, kind, f, value)
}

// staleRead is a register whose last read sees what had been overwritten.
var staleRead = func() string {
	var b strings.Builder
	event(&b, 0, 0, "invoke", "write", "1")
	event(&b, 1, 0, "ok", "write", "1")
	event(&b, 2, ":nemesis", "info", "start-partition", `"n1"`)
	event(&b, 3, 1, "invoke", "write", "2")
	event(&b, 4, 2, "invoke", "read", "nil")
	event(&b, 5, 2, "ok", "read", "2")
	event(&b, 6, 3, "invoke", "write", "9")
	event(&b, 7, 3, "info", "write", "9")
	event(&b, 8, 1, "ok", "write", "2")
	event(&b, 9, 0, "invoke", "read", "nil")
	event(&b, 10, 0, "ok", "read", "1")
	return b.String()
}()

// longHistory is n operations of a register of three processes, of which one reads
// what was overwritten long ago, at a fraction of the history. Some fail.
func longHistory(n int, at float64) string {
	var b strings.Builder
	bad := int(at * float64(n))
	for i := range n {
		f, value, end, read := "write", fmt.Sprint(i), "ok", fmt.Sprint(i)
		switch {
		case i == bad:
			f, value, read = "read", "nil", "3"
		case i%3 == 2:
			f, value, read = "read", "nil", fmt.Sprint(i-1)
		case i%51 == 0:
			end = "fail"
		}
		event(&b, 2*i, i%3, "invoke", f, value)
		event(&b, 2*i+1, i%3, end, f, read)
	}
	return b.String()
}

// hostile are values that would be more than text if they were not written as text.
var hostile = []string{
	`"</script><script>window.pwned=1;alert(1)</script>"`,
	`"]]>"`, `"<!--"`, `"-->"`, `"</svg><img src=x onerror=window.pwned=1>"`, `"'\"><b onclick=window.pwned=1>"`,
	`"{{.}}"`, `"&lt;script&gt;"`, `"javascript:alert(1)"`, "\"\u202egnp.exe \u0633\u0644\u0627\u0645\"", `"😀🏳️‍🌈"`,
	"\"\u0000\u0007\u001b[31m\u0085\u2028\"", `"</style><style>body{display:none}</style>"`, `"\\"`, `"</title><script>window.pwned=1</script>"`,
}

func hostileHistory() string {
	var b strings.Builder
	values := append([]string{`"` + strings.Repeat("<x>&", 1<<18) + `"`}, hostile...)
	for i, v := range values {
		event(&b, 4*i, i%4, "invoke", "write", v)
		event(&b, 4*i+1, i%4, "ok", "write", v)
		event(&b, 4*i+2, ":nemesis", "info", "start", v)
		event(&b, 4*i+3, `"</script><script>"`, "info", "look", v)
	}
	event(&b, 400, 0, "invoke", "read", "nil")
	event(&b, 401, 0, "ok", "read", hostile[0])
	return b.String()
}

func hostileKeys() string {
	var b strings.Builder
	for i, v := range hostile {
		event(&b, 4*i, 0, "invoke", "write", "["+v+" "+v+"]")
		event(&b, 4*i+1, 0, "ok", "write", "["+v+" "+v+"]")
		event(&b, 4*i+2, 0, "invoke", "read", "["+v+" nil]")
		event(&b, 4*i+3, 0, "ok", "read", "["+v+" 7]")
	}
	return b.String()
}

// keyedHistory is registers of n keys, the first bad of which fail.
func keyedHistory(n, bad int) string {
	var b strings.Builder
	for k := range n {
		read := "1"
		if k < bad {
			read = "2"
		}
		event(&b, 4*k, 0, "invoke", "write", fmt.Sprintf("[%d 1]", k))
		event(&b, 4*k+1, 0, "ok", "write", fmt.Sprintf("[%d 1]", k))
		event(&b, 4*k+2, 0, "invoke", "read", fmt.Sprintf("[%d nil]", k))
		event(&b, 4*k+3, 0, "ok", "read", fmt.Sprintf("[%d %s]", k, read))
	}
	return b.String()
}

// check checks a history of a register, or of independent ones.
func check(t testing.TB, history, mode string) *report.Result {
	t.Helper()
	return checkAs(t, history, models.Spec{Name: "register"}, clew.Options{Independent: mode == "independent"})
}

func checkAs(t testing.TB, history string, spec models.Spec, o clew.Options) *report.Result {
	t.Helper()
	h, err := forms.Read(strings.NewReader(history), "history.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, spec, o)
	if err != nil {
		t.Fatal(err)
	}
	r.File = "history.edn"
	return r
}

func written(t testing.TB, r *report.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(context.Background(), &b, r, page.Options{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > page.MaxBytes {
		t.Errorf("the page has %d bytes, expected at most %d", b.Len(), page.MaxBytes)
	}
	return b.Bytes()
}

func storeIndex(t testing.TB) []byte {
	t.Helper()
	bad, good := check(t, staleRead, ""), check(t, keyedHistory(1, 0), "independent")
	source := func(test string) store.Source {
		return store.Source{Path: "store/" + test + "/20240101/history.edn", Test: test, Time: "20240101", Stored: true}
	}
	run := func(s store.Source, r *report.Result, link string) page.Run {
		return page.NewRun(report.NewRun(s, r), r.Line(), link)
	}
	var b bytes.Buffer
	err := page.WriteIndex(&b, "store", []page.Run{
		run(source("good"), good, ""),
		run(source("unreadable"), &report.Result{Cause: "unreadable", Error: "</script>"}, ""),
		run(source("a test"), bad, "a test/20240101/history.html"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// json is the operations that a page holds in its first part.
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
		{"a short one", staleRead, true},
		{"a long one", longHistory(20_000, 0.7), false},
		{"a long one that fails at once", longHistory(20_000, 0.0002), false},
		{"hostile values", hostileHistory(), true},
		{"many long values", longValues(3000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			html := written(t, check(t, c.history, ""))
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

// longValues is n writes of values that cost a page more than others, and a read of
// what nobody wrote.
func longValues(n int) string {
	var b strings.Builder
	for i := range n {
		v := fmt.Sprintf(`"%d%s"`, i, strings.Repeat("<&>", 200))
		event(&b, 2*i, 0, "invoke", "write", v)
		event(&b, 2*i+1, 0, "ok", "write", v)
	}
	event(&b, 2*n, 0, "invoke", "read", "nil")
	event(&b, 2*n+1, 0, "ok", "read", "-1")
	return b.String()
}

// Hostile values are text wherever they stand: whatever a browser would make of
// them, the markup is that of a page without them.
func TestHostileValuesAreText(t *testing.T) {
	tags := func(html []byte) (n int) {
		for _, tag := range []string{"<script", "</script", "<style", "</style", "<img", "<b>", "<b ", "<!--", "]]>", "</title><s"} {
			n += bytes.Count(html, []byte(tag))
		}
		return n
	}
	if want, got := tags(written(t, check(t, staleRead, ""))), tags(written(t, check(t, hostileHistory(), ""))); got != want {
		t.Errorf("%d tags, want %d", got, want)
	}
	r := check(t, staleRead, "")
	r.File, r.Explanation, r.Hint = hostile[0], strings.Join(hostile, " "), hostile[0]
	for i := range r.Paths[0] {
		r.Paths[0][i].Why = hostile[0]
	}
	html := written(t, r)
	if bytes.Contains(html, []byte("<script>window")) || bytes.Contains(html, []byte("<img")) || bytes.Contains(html, []byte("\u202e")) {
		t.Error("a name or a sentence is more than text")
	}
	index := storeIndex(t)
	if bytes.Count(index, []byte("</script>")) != 1 {
		t.Error("an index has a value's tag")
	}
}

// Who sees no drawing gets what the text output says, and a table of the operations.
func TestAPageHasTheTextAndATable(t *testing.T) {
	r := check(t, staleRead, "")
	page := html.UnescapeString(string(written(t, r)))
	if !strings.Contains(page, r.Text()) {
		t.Error("the text output is missing")
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
	for _, want := range []string{"write 1", "write 2", "read 1", "impossible", "crashed", "takes effect; then the state is 1",
		"tried before the failure, which does not help; then the state is 9"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table has no %q", want)
		}
	}
}

func TestPagesOfOtherVerdicts(t *testing.T) {
	valid := string(written(t, check(t, longHistory(2, 2), "")))
	if !strings.Contains(valid, `class="verdict valid">valid<`) || !strings.Contains(valid, "<svg") {
		t.Error("a valid history has no page with a drawing")
	}
	r := check(t, staleRead, "")
	unknown := string(written(t, &report.Result{File: "h", History: r.History, Cause: jepsen.Timeout, Explanation: "it took too long"}))
	for _, want := range []string{`class="verdict unknown">unknown<`, "timeout", "it took too long", "This page holds all 5 operations."} {
		if !strings.Contains(unknown, want) {
			t.Errorf("an undecided history's page has no %q", want)
		}
	}
	nothing := string(written(t, &report.Result{File: "h", Cause: "unreadable", Error: "h:1:1: no"}))
	if !strings.Contains(nothing, "h:1:1: no") {
		t.Error("an unreadable history's page does not say why")
	}
	written(t, check(t, "", ""))
	if keys := string(written(t, check(t, keyedHistory(3, 0), "independent"))); !strings.Contains(keys, "<svg") || !strings.Contains(keys, "3 keys, 3 valid") {
		t.Error("keys of which none fails have no page with a drawing")
	}
}

// Of many keys an index lists those that fail, and counts the others.
func TestManyKeys(t *testing.T) {
	page := string(written(t, check(t, keyedHistory(5000, 3000), "independent")))
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
		if err := page.Write(context.Background(), &b, r, page.Options{Window: report.WindowOptions{Around: &index}}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	far := write(check(t, longHistory(20_000, 0.9), ""), 3001)
	if held := heldBy(t, []byte(far)); held.Op[held.From] > 1500 || held.Op[held.To-1] < 1500 || !strings.Contains(far, `data-op="1500"`) {
		t.Errorf("it holds operations %d to %d", held.Op[held.From], held.Op[held.To-1])
	} else if want := fmt.Sprintf("operations, those from index %d to %d", 2*held.Op[held.From], 2*held.Op[held.To-1]+1); !strings.Contains(far, want) {
		t.Errorf("it does not say %q", want)
	}
	keys := write(check(t, keyedHistory(9, 2), "independent"), 33)
	for _, want := range []string{`<section id="around"`, "around index 33", `<section id="key-2"`} {
		if !strings.Contains(keys, want) {
			t.Errorf("of keys there is no %q", want)
		}
	}
	index := int64(1_000_000)
	if err := page.Write(context.Background(), io.Discard, check(t, staleRead, ""), page.Options{Window: report.WindowOptions{Around: &index}}); err == nil {
		t.Error("there is a page around what is not there")
	}
}

func TestAPageEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	stop(enough)
	r := check(t, longHistory(3000, 0.5), "")
	if err := page.Write(ctx, io.Discard, r, page.Options{}); !errors.Is(err, enough) {
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
		{"a failure", staleRead, models.Spec{Name: "register"}, []string{"read 1", "write 9 (open)", "{#knossos.model.Register{:value 2}, #knossos.model.Register{:value 9}}", ":start-partition", "not linearizable"}},
		{"a long failure", longHistory(3000, 0.9), models.Spec{Name: "register"}, []string{"2547 operations before took effect first", "read 3"}},
		{"a valid history", longHistory(2, 2), models.Spec{Name: "register"}, []string{"write 1"}},
		{"a key of a map", kvFailure, models.Spec{Name: "kv"}, []string{"get [:a 1]", "put [:a 2]"}},
		{"hostile values", hostileHistory(), models.Spec{Name: "register"}, []string{`"Description":`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			r := checkAs(t, c.history, c.spec, clew.Options{})
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
			// What the page's script puts into its markup is escaped: in JSON, & is \u0026.
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
		err := page.WritePorcupine(context.Background(), &html, checkAs(t, history.String(), models.Spec{Name: "unordered-queue"}, clew.Options{}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("a drain of %d elements: %v", n, err)
		}
		if err == nil && strings.Count(html.String(), ":pending") < 1<<(n-1) {
			t.Errorf("a drain of %d elements: the page has few states:\n%s", n, html.String())
		}
	}
	var b bytes.Buffer
	r := check(t, keyedHistory(2, 0), "independent")
	if err := page.WritePorcupine(context.Background(), &b, r); err == nil {
		t.Error("keys of which none fails have a page")
	}
}

// kvFailure is two keys, one of which fails.
var kvFailure = func() string {
	var b strings.Builder
	for i, e := range []struct{ kind, f, value string }{
		{"invoke", "put", "[:a 1]"}, {"ok", "put", "[:a 1]"}, {"invoke", "put", "[:b 7]"}, {"ok", "put", "[:b 7]"},
		{"invoke", "put", "[:a 2]"}, {"ok", "put", "[:a 2]"}, {"invoke", "get", "[:a nil]"}, {"ok", "get", "[:a 1]"},
	} {
		event(&b, i, 0, e.kind, e.f, e.value)
	}
	return b.String()
}()
