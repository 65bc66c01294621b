package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"clew"
	"clew/internal/batch"
	"clew/internal/page"
	"clew/internal/pagetest"
	"clew/internal/serve"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
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

func (x *site) get(path string) answer {
	r := httptest.NewRequestWithContext(x.tb.Context(), http.MethodGet, "http://127.0.0.1:8080/", nil)
	var err error
	if r.URL, err = r.URL.Parse(path); err != nil {
		x.tb.Fatal(err)
	}
	r.URL.Host, r.URL.Scheme = "", ""
	return x.do(r)
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

// whole reports whether a list is whole. If it is not, whole waits a little.
func (x *site) whole(path string) bool {
	a := x.get(path)
	if a.status != http.StatusOK {
		x.tb.Fatal(a.body)
	}
	if strings.Contains(a.body, "have been looked at so far") || strings.Contains(a.body, "still being listed") {
		time.Sleep(time.Millisecond)
		return false
	}
	return true
}

// await waits until something holds.
func (x *site) await(what string, holds func() bool) {
	x.tb.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			x.tb.Fatalf("after a minute still not: %s", what)
		}
	}
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

const aRun = "etcd/20260102T030405.000Z"

var _ = models.Spec{}
var _ = pagetest.StaleRead
