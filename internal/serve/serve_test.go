package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"clew"
	"clew/internal/batch"
	"clew/internal/effort"
	"clew/internal/page"
	"clew/internal/pagetest"
	"clew/internal/serve"
	"clew/internal/store"
	"clew/jepsen"
	"clew/report"
)

// site is a server of a store, and its only client.
type site struct {
	tb    testing.TB
	s     *serve.Server
	log   *lockedBuffer
	close func()
}

// lockedBuffer is a log that a test can read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// served returns a server of a store that checks with some options.
func served(tb testing.TB, dir string, with ...func(*serve.Options, *clew.Options)) *site {
	tb.Helper()
	var check clew.Options
	x := &site{tb: tb, log: &lockedBuffer{}}
	o := serve.Options{Store: dir, Local: true, Log: x.log, Checker: &batch.Checker{Bounds: batch.Bounds{TimeLimit: time.Minute}}}
	o.Job = func(s store.Source, missing error) *batch.Job { return &batch.Job{Source: s, Missing: missing} }
	o.Checker.Decide = func(ctx context.Context, j *batch.Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
		return clew.Check(ctx, h, how.Spec, check)
	}
	o.Follow = func(ctx context.Context, in io.Reader, name string, j *batch.Job, how jepsen.Options, idle time.Duration, looked func(*report.Result)) (*report.Result, error) {
		own := check
		own.Looked = looked
		return clew.Follow(ctx, in, name, how, j.Spec, own, idle)
	}
	for _, f := range with {
		f(&o, &check)
	}
	s, err := serve.New(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	x.s, x.close = s, sync.OnceFunc(s.Close)
	tb.Cleanup(x.close)
	return x
}

// answer is what a client got.
type answer struct {
	status int
	body   string
	header http.Header
}

func (x *site) get(path string) answer { return x.do(asked(x.tb.Context(), "GET", path)) }

// asked returns the request of a browser on this machine.
func asked(ctx context.Context, method, path string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, method, "/", nil)
	r.Host = "localhost:8080"
	var err error
	if r.URL, err = url.ParseRequestURI(path); err != nil {
		panic(err)
	}
	return r
}

func (x *site) do(r *http.Request) answer {
	w := httptest.NewRecorder()
	x.s.ServeHTTP(w, r)
	return answer{w.Code, w.Body.String(), w.Header()}
}

// state returns what a page that polls is told.
func (x *site) state(path string) (s page.State) {
	x.tb.Helper()
	a := x.get(path)
	if err := json.Unmarshal([]byte(a.body), &s); err != nil {
		x.tb.Fatalf("%s: %v in %s", path, err, a.body)
	}
	return s
}

// list returns a list, or "" if it is not whole yet.
func (x *site) list(path string) string {
	a := x.get(path)
	if a.status != http.StatusOK {
		x.tb.Fatal(a.body)
	}
	for _, not := range []string{"have been looked at so far", "still being listed", ">…<"} {
		if strings.Contains(a.body, not) {
			return ""
		}
	}
	return a.body
}

// await waits until something holds.
func (x *site) await(what string, holds func() bool) {
	x.tb.Helper()
	effort.Await(x.tb, what, holds)
}

// put writes a file below a folder. old files belong to runs that have ended long ago.
func put(tb testing.TB, dir, name, text string, old bool) {
	tb.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		tb.Fatal(err)
	}
	if old {
		ago := time.Now().Add(-time.Hour)
		if err := os.Chtimes(file, ago, ago); err != nil {
			tb.Fatal(err)
		}
	}
}

// A run of a small store, and its history.
const (
	aRun    = "etcd/20260102T030405.000Z"
	aValid  = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
	itFails = "{:linear {:valid? false, :configs (), :final-paths (), :analyzer :linear}, :stats {:count 21}, :valid? false}"
	itHolds = "{:linear {:valid? true, :configs (), :analyzer :linear}, :valid? true}"
)

// small returns a store with a run that fails, one that holds, one without results, and one of another test.
func small(tb testing.TB) string {
	dir := tb.TempDir()
	put(tb, dir, aRun+"/history.edn", pagetest.StaleRead, true)
	put(tb, dir, aRun+"/results.edn", itFails, true)
	put(tb, dir, aRun+"/jepsen.log", "started\n", true)
	put(tb, dir, "etcd/20260103T030405.000Z/history.edn", aValid, true)
	put(tb, dir, "etcd/20260103T030405.000Z/results.edn", itHolds, true)
	put(tb, dir, "etcd/20260104T030405.000Z/history.edn", aValid, true)
	put(tb, dir, "redis/20250101T000000.000Z/history.edn", aValid, true)
	for _, link := range []string{"latest", "current", "etcd/latest"} {
		if err := os.Symlink(filepath.Join(dir, filepath.FromSlash(aRun)), filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			tb.Skip(err)
		}
	}
	return dir
}

// lines returns the lines of a list of runs, as text without markup.
func (x *site) lines(path string) (lines []string) {
	x.tb.Helper()
	body := ""
	x.await("the list is whole", func() bool { body = x.list(path); return body != "" })
	for _, row := range regexp.MustCompile(`(?s)<tr data-row=.*?</tr>`).FindAllString(body, -1) {
		row = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(strings.ReplaceAll(row, "</td>", " | "), " ")
		lines = append(lines, html.UnescapeString(strings.TrimRight(strings.Join(strings.Fields(row), " "), "| ")))
	}
	return lines
}

func expect[T comparable](tb testing.TB, what string, got, want []T) {
	tb.Helper()
	if !slices.Equal(got, want) {
		tb.Errorf("%s: %v, want %v", what, got, want)
	}
}

// A torn end takes no failure away from the page of a run.
func TestTheLastEventOfARunMayBeTorn(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, aRun+"/history.edn", pagetest.StaleRead+"{:process 1, :type :inv", true)
	x := served(t, dir)
	if a := x.get("/run/" + aRun); a.status != http.StatusOK || !strings.Contains(a.body, "value 1 was read by process 0") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if got := x.lines("/?verdict=invalid"); len(got) != 1 || !strings.HasPrefix(got[0], "etcd INVALID") {
		t.Errorf("%q", got)
	}
}

func TestTheListHasTheRunsOfTheStoreTheNewestFirst(t *testing.T) {
	x := served(t, small(t))
	const one, two, three, other = "etcd INVALID | 20260102T030405.000Z | INVALID | 5", "etcd not checked yet | 20260103T030405.000Z | valid", "etcd not checked yet | 20260104T030405.000Z", "redis not checked yet | 20250101T000000.000Z"
	failing := strings.Replace(one, "etcd INVALID", "etcd not checked yet", 1)
	failing = strings.Replace(failing, "| 5", "| 21", 1)
	for path, want := range map[string][]string{
		"/":                                {three, two, failing, other},
		"/?q=REDIS":                        {other},
		"/?q=etcd+20260103":                {two},
		"/?q=nothing":                      nil,
		"/?verdict=invalid":                {failing},
		"/?verdict=valid":                  {two},
		"/?verdict=unchecked":              {three, two, failing, other},
		"/?verdict=live":                   nil,
		"/?verdict=of+another+kind":        {three, two, failing, other},
		"/?from=2026-01-03":                {three, two},
		"/?from=2026-01-02&to=2026-01-03":  {two, failing},
		"/?failures=first":                 {failing, three, two, other},
		"/?failures=first&q=etcd&page=999": {failing, three, two},
		"/?page=-7":                        {three, two, failing, other},
	} {
		expect(t, path, x.lines(path), want)
	}
	if a := x.get("/run/" + aRun); a.status != http.StatusOK || !strings.Contains(a.body, "value 1 was read by process 0") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	got := x.lines("/?verdict=invalid")
	if len(got) != 1 || !strings.HasPrefix(got[0], one+" | Stale read: value 1 was read by process 0") {
		t.Errorf("after the check: %q", got)
	}
}

func TestTheListFollowsTheStore(t *testing.T) {
	dir := t.TempDir()
	x := served(t, dir)
	if a := x.get("/"); !strings.Contains(a.body, "there are no runs") {
		t.Error(a.body)
	}
	before := x.state("/state").Token
	put(t, dir, "a/b/20260102T030405.000Z/history.edn", aValid, true)
	put(t, dir, "own/history.edn", aValid, true)
	put(t, dir, "own/n1/history.edn", aValid, true) // of a node
	put(t, dir, ".git/20260102T030405.000Z/history.edn", aValid, true)
	x.await("new runs are listed", func() bool { return len(x.lines("/")) == 2 })
	if x.state("/state").Token == before {
		t.Error("pages are not told of new runs")
	}
	put(t, dir, "a/b/20260102T030405.000Z/results.edn", itFails, true)
	expect(t, "with results", x.lines("/?q=a/b"), []string{"a/b not checked yet | 20260102T030405.000Z | INVALID | 21"})
	put(t, dir, "a/b/20260102T030405.000Z/results.edn", "{:valid? ", true)
	expect(t, "with other results", x.lines("/?q=a/b"), []string{"a/b not checked yet | 20260102T030405.000Z | unreadable"})
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	x.await("a run that is gone is not listed", func() bool { return len(x.lines("/")) == 1 })
	if a := x.get("/run/a/b/20260102T030405.000Z"); a.status != http.StatusNotFound {
		t.Error(a.status, a.body)
	}
}

// A store of 20,000 runs has a first page, pages in between, and a last one. All are listed once.
func TestALargeStoreIsShownByPages(t *testing.T) {
	n := 20_000
	if effort.Few() {
		n = 2_000
	}
	x := served(t, large(t, n, 20))
	x.await("all runs are listed", func() bool { return strings.Contains(x.get("/").body, fmt.Sprintf(">%d runs<", n)) })
	seen := map[string]bool{}
	last := ""
	for path, pages := "/", 0; path != ""; pages++ {
		body := x.get(path).body
		for _, id := range regexp.MustCompile(`data-row="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			if at := id[1][strings.LastIndex(id[1], "/"):]; last != "" && at > last {
				t.Fatalf("%s comes after %s", at, last)
			} else if seen[id[1]] {
				t.Fatalf("%s is listed twice", id[1])
			} else {
				seen[id[1]], last = true, at
			}
		}
		next := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(body)
		if path = ""; next != nil {
			path = html.UnescapeString(next[1])
		}
		if n > 1000 && pages == 5 {
			path = fmt.Sprintf("/?page=%d", n/50-2)
			last = ""
		}
	}
	if want := min(n, 450); len(seen) != want {
		t.Errorf("%d runs were seen, want %d", len(seen), want)
	}
	if got := len(x.lines("/?verdict=invalid&failures=first")); got != 50 {
		t.Errorf("a page lists %d runs that fail", got)
	}
}

func TestOnlyRequestsThatReadAreAnswered(t *testing.T) {
	x := served(t, small(t))
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"} {
		if a := x.do(asked(t.Context(), method, "/")); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d", method, a.status)
		}
	}
	if a := x.do(asked(t.Context(), "HEAD", "/")); a.status != http.StatusOK {
		t.Errorf("HEAD: %d", a.status)
	}
}

func TestOnlyLocalNamesAreAnswered(t *testing.T) {
	dir := small(t)
	for _, c := range []struct {
		host             string
		here, everywhere bool
	}{
		{"localhost", true, true}, {"localhost:8080", true, true}, {"LOCALHOST:1", true, true}, {"127.0.0.1", true, true}, {"127.0.0.1:8080", true, true},
		{"[::1]:8080", true, true}, {"[::1]", true, true}, {"example.com", false, true}, {"example.com:8080", false, true}, {"127.0.0.1.example.com", false, true},
		{"localhost.example.com", false, true}, {"10.0.0.1", false, true}, {"", false, true},
	} {
		for _, local := range []bool{true, false} {
			x := served(t, dir, func(o *serve.Options, _ *clew.Options) { o.Local = local })
			r := asked(t.Context(), "GET", "/")
			r.Host = c.host
			if ok := x.do(r).status == http.StatusOK; ok != (c.everywhere && (c.here || !local)) {
				t.Errorf("%q, local %t: answered %t", c.host, local, ok)
			}
		}
	}
	x := served(t, dir)
	for mode, want := range map[string]int{"no-cors": http.StatusForbidden, "cors": http.StatusForbidden, "navigate": http.StatusOK} {
		r := asked(t.Context(), "GET", "/run/"+aRun)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", mode)
		if got := x.do(r).status; got != want {
			t.Errorf("%s from another site: %d, want %d", mode, got, want)
		}
	}
}

func TestNoPathLeadsOutOfTheStore(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "store")
	put(t, above, "secret.edn", "secret", true)
	put(t, above, "out/history.edn", "secret", true)
	put(t, dir, "secret.txt", "secret", true) // in the store, but not in a run
	put(t, dir, aRun+"/history.edn", aValid, true)
	put(t, dir, aRun+"/n1/node.log", "from the node", true)
	put(t, dir, "etcd/20260104T030405.000Z/other.edn", "secret", true)
	run := filepath.Join(dir, filepath.FromSlash(aRun))
	for link, to := range map[string]string{
		run + "/out.edn":   filepath.Join(above, "secret.edn"),
		run + "/out2.edn":  "../../../secret.edn",
		run + "/store.txt": "../../secret.txt",
		run + "/other.edn": "../20260104T030405.000Z/other.edn",
		run + "/folder":    above,
		run + "/inner.log": "n1/node.log",
		filepath.Join(dir, "etcd", "20260105T030405.000Z"): filepath.Join(above, "out"),
		filepath.Join(dir, "linked"):                       above,
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	put(t, dir, "etcd/20260106T030405.000Z/results.edn", itHolds, true)
	if err := os.Symlink(filepath.Join(above, "secret.edn"), filepath.Join(dir, "etcd", "20260106T030405.000Z", "history.edn")); err != nil {
		t.Fatal(err)
	}
	x := served(t, dir)
	files := "/files/" + aRun + "/"
	for _, path := range []string{
		files + "../../../../secret.edn", files + "..%2f..%2f..%2f..%2fsecret.edn", files + "%2e%2e/%2e%2e/%2e%2e/%2e%2e/secret.edn", files + "..%5c..%5csecret.edn",
		files + `..\..\secret.edn`, files + "%00history.edn", files + "history.edn%00.txt", files + "n1//node.log", files + "./history.edn", files + "C:/secret.edn", files + "c:secret.edn",
		files + "%2fetc%2fpasswd", files + strings.Repeat("a", 256), "//etc/passwd", "/files//etc/passwd", "/files/%2fetc/passwd", "/run/../secret", "/run/%2e%2e/secret", "/..", "/%2e%2e", "/.",
		files + "out.edn", files + "out2.edn", files + "store.txt", files + "other.edn", files + "folder/secret.edn", files + "folder", files + "none.edn",
		"/files/secret.txt", "/files/etcd", "/files", "/run/etcd", "/run", "/run/linked", "/files/linked/secret.edn", "/files/etcd/20260105T030405.000Z/history.edn", "/run/etcd/20260105T030405.000Z",
		"/files/etcd/20260106T030405.000Z/history.edn", "/run/" + aRun + "/history.edn", "/state/" + aRun + "/history.edn", "/other/" + aRun,
	} {
		if a := x.get(path); a.status != http.StatusBadRequest && a.status != http.StatusNotFound || strings.Contains(a.body, "secret") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := x.get("/run/etcd/20260106T030405.000Z"); strings.Contains(a.body, "secret") || !strings.Contains(a.body, "this run has no history") {
		t.Errorf("the history is a link that leads out: %d %s", a.status, a.body)
	}
	for path, want := range map[string]string{files + "history.edn": aValid, files + "n1/node.log": "from the node", files + "inner.log": "from the node"} {
		if a := x.get(path); a.status != http.StatusOK || a.body != want {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	a := x.get(files)
	if !strings.Contains(a.body, "n1/") || strings.Contains(a.body, "out.edn") || !strings.Contains(a.body, "6 more are links") {
		t.Errorf("the list of files: %s", a.body)
	}
}

// No file of the store can run a script, and every answer says what it is.
func TestFilesRunNoScripts(t *testing.T) {
	dir := small(t)
	for _, name := range []string{"page.html", "picture.svg", "latency-raw.png", "text.log", "data.bin", "noending", "UPPER.HTML", "script.js", "x.xhtml", "x.htm"} {
		put(t, dir, aRun+"/"+name, "<html><svg><script>alert(1)</script>", true)
	}
	x := served(t, dir)
	for name, want := range map[string]string{
		"page.html": "text/html; charset=utf-8", "UPPER.HTML": "text/html; charset=utf-8", "picture.svg": "image/svg+xml", "latency-raw.png": "image/png",
		"text.log": "text/plain; charset=utf-8", "results.edn": "text/plain; charset=utf-8",
		"data.bin": "application/octet-stream", "noending": "application/octet-stream", "script.js": "application/octet-stream", "x.xhtml": "application/octet-stream", "x.htm": "application/octet-stream",
	} {
		a := x.get("/files/" + aRun + "/" + name)
		policy := a.header.Get("Content-Security-Policy")
		if a.status != http.StatusOK || a.header.Get("Content-Type") != want || a.header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(policy, "sandbox; default-src 'none';") || strings.Contains(policy, "script-src") {
			t.Errorf("%s: %d %v", name, a.status, a.header)
		}
		if saved := a.header.Get("Content-Disposition") == "attachment"; saved != (want == "application/octet-stream") {
			t.Errorf("%s is for saving: %t", name, saved)
		}
	}
	for _, path := range []string{"/", "/run/" + aRun, "/files/" + aRun, "/state", "/none", "/%00"} {
		a := x.get(path)
		policy := a.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Content-Type") == "" {
			t.Errorf("%s: %v", path, a.header)
		}
	}
}

func TestHostileNamesAndValuesAreText(t *testing.T) {
	dir := t.TempDir()
	names := []string{`<script>alert(1)</script>`, `"onmouseover="alert(1)`, `'><img src=x onerror=alert(1)>`, "a\nb\x1b[31m", "\u202egnp.exe", "%2e%2e", "a?b#c&d", "javascript:alert(1)", "\xff\xfe", "{{.}}", "back\\slash", strings.Repeat("long", 60)}
	if runtime.GOOS == "windows" {
		t.Skip("there are no such names")
	}
	listed := 0
	for _, name := range names {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "∕"), "20260102T030405.000Z", "history.edn")
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			continue
		}
		listed++
		for file, text := range map[string]string{file: pagetest.HostileHistory(), filepath.Join(filepath.Dir(file), strings.ReplaceAll(name, "/", "∕")+".log"): "log"} {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			ago := time.Now().Add(-time.Hour)
			if err := os.Chtimes(file, ago, ago); err != nil {
				t.Fatal(err)
			}
		}
	}
	x := served(t, dir)
	x.await("all are listed", func() bool { return len(x.lines("/")) == listed })
	links := regexp.MustCompile(`<a href="(/run/[^"]*)"`).FindAllStringSubmatch(x.get("/").body, -1)
	if len(links) != listed-1 { // a backslash would be refused
		t.Errorf("%d of %d runs have a link", len(links), listed)
	}
	for _, path := range append([]string{"/", "/?q=%3Cscript%3Ealert(1)&from=%22%3E%3Cscript%3E"}, flatten(links)...) {
		a := x.get(path)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		for _, bad := range []string{"<script>alert", "<img", `"onmouseover=`, "\x1b", "\u202e"} {
			if strings.Contains(a.body, bad) {
				t.Errorf("%s: %q stands in the page", path, bad)
			}
		}
		if !utf8.ValidString(a.body) {
			t.Errorf("%s is not UTF-8", path)
		}
		for _, file := range regexp.MustCompile(`<a href="(/files/[^"]*)"`).FindAllStringSubmatch(a.body, -1) {
			if a := x.get(html.UnescapeString(file[1])); a.status != http.StatusOK {
				t.Errorf("%s: %d %s", file[1], a.status, a.body)
			}
		}
	}
	for _, r := range x.state("/state").Rows {
		if strings.ContainsAny(r.ID, "<>\"' \n") {
			t.Errorf("the name of a row is not safe: %q", r.ID)
		}
	}
}

func flatten(found [][]string) (links []string) {
	for _, f := range found {
		links = append(links, html.UnescapeString(f[1]))
	}
	return links
}

// The page of a run is the one that clew check writes, with links.
func TestThePageOfARunIsThatOfACheck(t *testing.T) {
	dir := small(t)
	checks := 0
	x := served(t, dir, func(o *serve.Options, _ *clew.Options) {
		decide := o.Checker.Decide
		o.Checker.Decide = func(ctx context.Context, j *batch.Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
			checks++
			return decide(ctx, j, h, how)
		}
	})
	a := x.get("/run/" + aRun)
	held := regexp.MustCompile(`(?s)<section.*</section>`)
	var want string
	for run, err := range clew.CheckStore(t.Context(), clew.StoreOptions{}, filepath.Join(dir, filepath.FromSlash(aRun))) {
		if err != nil {
			t.Fatal(err)
		}
		want = held.FindString(string(pagetest.Written(t, run.Result)))
	}
	got := held.FindString(a.body)
	times := regexp.MustCompile(`[0-9.]+ ms`)
	if times.ReplaceAllString(got, "") != times.ReplaceAllString(want, "") || want == "" {
		t.Errorf("the pages differ:\n%s\n%s", got, want)
	}
	for _, link := range []string{`href="/"`, `href="/files/` + aRun + `"`, `href="/files/` + aRun + `/results.edn"`, `href="/files/` + aRun + `/jepsen.log"`} {
		if !strings.Contains(a.body, link) {
			t.Errorf("the page has no %s", link)
		}
	}
	if x.get("/run/" + aRun); checks != 1 {
		t.Errorf("it was checked %d times", checks)
	}
	put(t, dir, aRun+"/history.edn", aValid, true)
	put(t, dir, aRun+"/results.edn", itHolds, true)
	if a := x.get("/run/" + aRun); checks != 2 || strings.Contains(a.body, "INVALID") {
		t.Errorf("a history that has changed was checked %d times: %s", checks, a.body)
	}
	put(t, dir, aRun+"/history.edn", "{:process", true)
	if a := x.get("/run/" + aRun); a.status != http.StatusOK || !strings.Contains(a.body, "unreadable") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// A check ends if no client waits for it anymore, and goes on as long as one does.
func TestACheckEndsWithItsLastClient(t *testing.T) {
	begun, ended := make(chan struct{}, 9), make(chan struct{}, 9)
	release := make(chan struct{})
	x := served(t, small(t), func(o *serve.Options, _ *clew.Options) {
		decide := o.Checker.Decide
		o.Checker.Decide = func(ctx context.Context, j *batch.Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
			begun <- struct{}{}
			select {
			case <-ctx.Done():
				ended <- struct{}{}
				return nil, context.Cause(ctx)
			case <-release:
				return decide(ctx, j, h, how)
			}
		}
	})
	ask := func(ctx context.Context) chan answer {
		got := make(chan answer, 1)
		go func() { got <- x.do(asked(ctx, "GET", "/run/"+aRun)) }()
		return got
	}
	one, leave := context.WithCancel(t.Context())
	two, leaveToo := context.WithCancel(t.Context())
	first, second := ask(one), ask(two)
	<-begun
	x.await("both wait for one check", func() bool { return x.s.Waiting(aRun) == 2 })
	leave()
	<-first
	select {
	case <-ended:
		t.Fatal("the check ended although a client waited for it")
	case <-time.After(20 * time.Millisecond):
	}
	leaveToo()
	<-second
	<-ended
	third := ask(t.Context())
	<-begun
	close(release)
	if a := <-third; a.status != http.StatusOK || !strings.Contains(a.body, "INVALID") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Clients that ask for the same page wait for the same check, and few checks run at once.
func TestChecksAreSharedAndBounded(t *testing.T) {
	var now, most, all atomic.Int64
	x := served(t, large(t, 20, 20), func(o *serve.Options, _ *clew.Options) {
		decide := o.Checker.Decide
		o.Checker.Decide = func(ctx context.Context, j *batch.Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			all.Add(1)
			time.Sleep(20 * time.Millisecond)
			return decide(ctx, j, h, how)
		}
	})
	var runs []string
	x.await("all runs are listed", func() bool {
		runs = flatten(regexp.MustCompile(`<a href="(/run/[^"]*)"`).FindAllStringSubmatch(x.get("/").body, -1))
		return len(runs) == 20
	})
	var wg sync.WaitGroup
	for _, run := range runs {
		for range 3 {
			wg.Go(func() {
				if a := x.get(run); a.status != http.StatusOK {
					t.Error(a.status, a.body)
				}
			})
		}
	}
	wg.Wait()
	if limit := max(1, runtime.GOMAXPROCS(0)/2); int(most.Load()) > limit || all.Load() != 18 { // two runs have no results yet, so they are followed
		t.Errorf("%d checks, up to %d at once; expected 18, up to %d", all.Load(), most.Load(), limit)
	}
}

func TestACheckKeepsItsTimeLimit(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	x := served(t, small(t), func(o *serve.Options, _ *clew.Options) {
		o.Checker.TimeLimit = 50 * time.Millisecond
		o.Checker.Decide = func(context.Context, *batch.Job, *jepsen.History, store.Reading) (*report.Result, error) {
			<-never // whatever hangs
			return nil, nil
		}
	})
	if a := x.get("/run/" + aRun); a.status != http.StatusOK || !strings.Contains(a.body, "timeout") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestAPanicIsAPage(t *testing.T) {
	x := served(t, small(t), func(o *serve.Options, _ *clew.Options) {
		o.Checker.Decide = func(context.Context, *batch.Job, *jepsen.History, store.Reading) (*report.Result, error) {
			panic("out of cheese")
		}
	})
	if a := x.get("/run/" + aRun); a.status != http.StatusOK || !strings.Contains(a.body, "panic") || !strings.Contains(x.log.String(), "out of cheese") {
		t.Errorf("%d %s\n%s", a.status, a.body, x.log)
	}
}

// The server writes nothing into the store.
func TestTheStoreStaysAsItIs(t *testing.T) {
	dir := small(t)
	picture := func() (all []string) {
		filepath.WalkDir(dir, func(p string, d fs.DirEntry, _ error) error {
			info, _ := d.Info()
			all = append(all, fmt.Sprint(p, info.Mode(), info.Size(), info.ModTime()))
			return nil
		})
		return all
	}
	before := picture()
	x := served(t, dir)
	for _, path := range []string{"/", "/?verdict=invalid", "/run/" + aRun, "/files/" + aRun, "/files/" + aRun + "/results.edn", "/state/" + aRun} {
		x.get(path)
	}
	x.close()
	expect(t, "the store", picture(), before)
}

// The results of clew's plugin count as a check by clew.
func TestThePluginsVerdictIsKnown(t *testing.T) {
	dir := small(t)
	put(t, dir, aRun+"/results.edn", `{:linear {:valid? false, :configs (), :final-paths (), :analyzer :clew/fast-register}, :valid? false}`, true)
	x := served(t, dir)
	expect(t, "the list", x.lines("/?verdict=invalid"), []string{"etcd INVALID | 20260102T030405.000Z | INVALID | | according to results.edn"})
}
