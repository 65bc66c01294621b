// Package pagetest makes the histories, results and pages that the tests of pages share.
// Some test the pages' text, and others open them in a browser.
package pagetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/internal/page"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
	"clew/report"
)

// Event writes a line of a history. Events are 100 ns apart.
func Event(b *strings.Builder, index int, process any, kind, f, value string) {
	fmt.Fprintf(b, "{:index %d, :time %d, :process %v, :type :%s, :f :%s, :value %s}\n", index, 100*index, process, kind, f, value)
}

// StaleRead is a history of a register whose last read sees an overwritten value.
var StaleRead = func() string {
	var b strings.Builder
	Event(&b, 0, 0, "invoke", "write", "1")
	Event(&b, 1, 0, "ok", "write", "1")
	Event(&b, 2, ":nemesis", "info", "start-partition", `"n1"`)
	Event(&b, 3, 1, "invoke", "write", "2")
	Event(&b, 4, 2, "invoke", "read", "nil")
	Event(&b, 5, 2, "ok", "read", "2")
	Event(&b, 6, 3, "invoke", "write", "9")
	Event(&b, 7, 3, "info", "write", "9")
	Event(&b, 8, 1, "ok", "write", "2")
	Event(&b, 9, 0, "invoke", "read", "nil")
	Event(&b, 10, 0, "ok", "read", "1")
	return b.String()
}()

// LongHistory returns a history of n operations of three processes on a register.
// At a fraction of the history, one reads a value that was overwritten long ago.
// Some fail.
func LongHistory(n int, at float64) string {
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
		Event(&b, 2*i, i%3, "invoke", f, value)
		Event(&b, 2*i+1, i%3, end, f, read)
	}
	return b.String()
}

// Hostile holds values that would be more than text if they were not written as text.
var Hostile = []string{
	`"</script><script>window.pwned=1;alert(1)</script>"`,
	`"]]>"`, `"<!--"`, `"-->"`, `"</svg><img src=x onerror=window.pwned=1>"`, `"'\"><b onclick=window.pwned=1>"`,
	`"{{.}}"`, `"&lt;script&gt;"`, `"javascript:alert(1)"`, "\"\u202egnp.exe \u0633\u0644\u0627\u0645\"", `"😀🏳️‍🌈"`,
	"\"\u0000\u0007\u001b[31m\u0085\u2028\"", `"</style><style>body{display:none}</style>"`, `"\\"`, `"</title><script>window.pwned=1</script>"`,
}

func HostileHistory() string {
	var b strings.Builder
	values := append([]string{`"` + strings.Repeat("<x>&", 1<<18) + `"`}, Hostile...)
	for i, v := range values {
		Event(&b, 4*i, i%4, "invoke", "write", v)
		Event(&b, 4*i+1, i%4, "ok", "write", v)
		Event(&b, 4*i+2, ":nemesis", "info", "start", v)
		Event(&b, 4*i+3, `"</script><script>"`, "info", "look", v)
	}
	Event(&b, 400, 0, "invoke", "read", "nil")
	Event(&b, 401, 0, "ok", "read", Hostile[0])
	return b.String()
}

func HostileKeys() string {
	var b strings.Builder
	for i, v := range Hostile {
		Event(&b, 4*i, 0, "invoke", "write", "["+v+" "+v+"]")
		Event(&b, 4*i+1, 0, "ok", "write", "["+v+" "+v+"]")
		Event(&b, 4*i+2, 0, "invoke", "read", "["+v+" nil]")
		Event(&b, 4*i+3, 0, "ok", "read", "["+v+" 7]")
	}
	return b.String()
}

// KeyedHistory returns registers of n keys. The first bad of these fail.
func KeyedHistory(n, bad int) string {
	var b strings.Builder
	for k := range n {
		read := "1"
		if k < bad {
			read = "2"
		}
		Event(&b, 4*k, 0, "invoke", "write", fmt.Sprintf("[%d 1]", k))
		Event(&b, 4*k+1, 0, "ok", "write", fmt.Sprintf("[%d 1]", k))
		Event(&b, 4*k+2, 0, "invoke", "read", fmt.Sprintf("[%d nil]", k))
		Event(&b, 4*k+3, 0, "ok", "read", fmt.Sprintf("[%d %s]", k, read))
	}
	return b.String()
}

// Check checks a history of a register, or of independent ones.
func Check(t testing.TB, history, mode string) *report.Result {
	t.Helper()
	return CheckAs(t, history, models.Spec{Name: "register"}, clew.Options{Independent: mode == "independent"})
}

func CheckAs(t testing.TB, history string, spec models.Spec, o clew.Options) *report.Result {
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

func Written(t testing.TB, r *report.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(context.Background(), &b, r, report.WindowOptions{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > page.MaxBytes {
		t.Errorf("the page has %d bytes, expected at most %d", b.Len(), page.MaxBytes)
	}
	return b.Bytes()
}

func StoreIndex(t testing.TB) []byte {
	t.Helper()
	bad, good := Check(t, StaleRead, ""), Check(t, KeyedHistory(1, 0), "independent")
	run := func(test string, r *report.Result, link string) page.Run {
		return page.NewRun(report.NewRun(test, "20240101", r), r.Line(), link)
	}
	var b bytes.Buffer
	err := page.WriteIndex(&b, "store", []page.Run{
		run("good", good, ""),
		run("unreadable", &report.Result{Cause: "unreadable", Error: "</script>"}, ""),
		run("a test", bad, "a test/20240101/history.html"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Monitored returns the page of a pass over a history of registers.
func Monitored(t testing.TB, history string, o clew.Options) []byte {
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
	return b.Bytes()
}

// ManyAnomalies returns a history with a stale read after every fourth write, on nodes, while a nemesis comes and goes.
func ManyAnomalies(writes int) string {
	var b strings.Builder
	n := 0
	event := func(process any, kind, f, value, more string) {
		Event(&b, n, process, kind, f, value+more)
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

// Transactions is a history of transactions on lists with n stale reads, one after the other, then a cycle of reads, an aborted read and a lost update. Its
// values are as EDN.
func Transactions(n int, value string) string {
	var b strings.Builder
	index := 0
	event := func(process int, kind, value string) {
		Event(&b, index, process, kind, "txn", value)
		index++
	}
	at := func(key string) string { return fmt.Sprintf("[%s %s]", key, value) }
	for i := range n {
		key := at(fmt.Sprint(i))
		for process, txn := range []string{"[[:append " + key + " " + value + "]]", "[[:r " + key + " []]]"} {
			event(process, "invoke", txn)
			event(process, "ok", txn)
		}
	}
	x, y := at(":x"), at(":y")
	for _, kind := range []string{"invoke", "ok"} {
		event(0, kind, "[[:append "+x+" "+value+"] [:r "+y+" ["+value+"]]]")
		event(1, kind, "[[:append "+y+" "+value+"] [:r "+x+" ["+value+"]]]")
	}
	event(2, "invoke", "[[:append :z "+value+"]]")
	event(2, "fail", "[[:append :z "+value+"]]")
	event(1, "invoke", "[[:r :z nil]]")
	event(1, "ok", "[[:r :z ["+value+"]]]")
	for _, kind := range []string{"invoke", "ok"} {
		event(0, kind, "[[:r :w []] [:append :w 1]]")
		event(1, kind, "[[:r :w []] [:append :w 2]]")
	}
	return b.String()
}
