package serve

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"clew/internal/batch"
	"clew/internal/files"
	"clew/internal/page"
	"clew/internal/store"
	"clew/jepsen"
	"clew/report"
)

// Options say what is served, and how runs are checked.
type Options struct {
	Store string // a folder
	Local bool   // only this machine may ask: other names in requests are refused

	// Checker checks a run within its limits. The server watches its memory.
	Checker *batch.Checker
	// Job returns the job of a history, or of a run that has none.
	Job func(s store.Source, missing error) *batch.Job
	// Follow follows the history of a job while it is written, until idle has passed without anything new. It calls
	// looked with what each look found.
	Follow func(ctx context.Context, in io.Reader, name string, j *batch.Job, how jepsen.Options, idle time.Duration, looked func(*report.Result)) (*report.Result, error)
	Log    io.Writer // for what goes wrong in the server itself
}

// Server shows a store. It is safe for concurrent use.
type Server struct {
	Options
	root  *os.Root
	index index
	scan  scan

	checks checks

	live      sync.Mutex
	followers map[string]*follower // by the paths of runs

	ctx        context.Context // done when the server is closed
	end        context.CancelFunc
	background sync.WaitGroup
}

// New returns a server of a store. It begins to list the store. The caller closes it.
func New(ctx context.Context, o Options) (*Server, error) {
	info, err := os.Stat(o.Store)
	switch {
	case err != nil:
		return nil, files.PathError(err)
	case !info.IsDir():
		return nil, fmt.Errorf("%s: expected the folder of a store, found a file", o.Store)
	}
	root, err := os.OpenRoot(o.Store)
	if err != nil {
		return nil, files.PathError(err)
	}
	s := &Server{Options: o, root: root, index: index{root: root}, followers: map[string]*follower{}}
	s.checks = checks{slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), flights: map[string]*flight{}, pages: map[string]*list.Element{}, recent: list.New()}
	s.ctx, s.end = context.WithCancel(ctx)
	s.Checker.Watch(s.ctx)
	s.background.Go(func() { s.index.list(s.ctx) })
	s.background.Go(page.Prepare)
	return s, nil
}

// Close ends all checks. It waits a moment for them, and then leaves them behind.
func (s *Server) Close() {
	s.end()
	ended := make(chan struct{})
	go func() {
		s.background.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(leaving):
	}
	s.root.Close()
}

func (s *Server) log(format string, args ...any) { fmt.Fprintf(s.Log, "clew: "+format+"\n", args...) }

// The policies of what is not a page of clew. Files of the store that can hold scripts may not run them.
const (
	barePolicy    = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	sandboxPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", barePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "clew serve only reads: expected GET or HEAD, found "+r.Method)
	case s.Local && !IsLocal(r.Host):
		refuse(w, http.StatusForbidden, "this server is for its own machine: expected localhost or 127.0.0.1 in the address, found another name")
	case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
		refuse(w, http.StatusForbidden, "another site asks for this; expected links to it alone")
	default:
		path, ok := segments(r.URL)
		if !ok {
			refuse(w, http.StatusBadRequest, "expected the path of a page, found one that might lead elsewhere")
			return
		}
		s.route(w, r, path)
	}
}

// route leads a request to its page.
func (s *Server) route(w http.ResponseWriter, r *http.Request, path []string) {
	if len(path) == 0 {
		s.front(w, r)
		return
	}
	kind, rest := path[0], path[1:]
	if kind == "state" && len(rest) == 0 {
		s.frontState(w, r)
		return
	}
	run, below := s.find(r.Context(), rest)
	switch {
	case run == nil || len(below) > 0 && kind != "files":
		notFound(w)
	case kind == "run":
		s.runPage(w, r, run)
	case kind == "state":
		s.runState(w, r, run)
	case kind == "files":
		s.file(w, r, run, below)
	default:
		notFound(w)
	}
}

func notFound(w http.ResponseWriter) { refuse(w, http.StatusNotFound, "there is no such page") }

// find returns the run that a path begins with, and the rest of the path. It returns nil if there is none.
func (s *Server) find(ctx context.Context, path []string) (*run, []string) {
	l := s.index.list(ctx)
	for n := min(len(path), maxDepth+2); n > 0; n-- {
		if r := l.by[strings.Join(path[:n], "/")]; r != nil {
			return r, path[n:]
		}
	}
	return nil, nil
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, why)
}

// IsLocal reports whether a Host header names this machine. A site may have its own name lead here.
func IsLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// maxName bounds the length of a part of a path.
const maxName = 255

// drive matches the beginning of a path on a drive of Windows.
var drive = regexp.MustCompile(`^[A-Za-z]:`)

// segments returns the parts of a path. It refuses parts that might lead elsewhere on some system.
func segments(u *url.URL) ([]string, bool) {
	raw, rooted := strings.CutPrefix(u.EscapedPath(), "/")
	if !rooted || u.Host != "" || u.Opaque != "" {
		return nil, false
	}
	raw = strings.TrimSuffix(raw, "/")
	if raw == "" {
		return nil, true
	}
	parts := strings.Split(raw, "/")
	for i, part := range parts {
		name, err := url.PathUnescape(part)
		if err != nil || name == "" || name == "." || name == ".." || len(name) > maxName || strings.ContainsAny(name, "/\\\x00") || drive.MatchString(name) {
			return nil, false
		}
		parts[i] = name
	}
	return parts, true
}

// address returns the address of a page about something in the store.
func address(kind, path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return "/" + kind + "/" + strings.Join(parts, "/")
}

// runPage answers with the page of a run.
func (s *Server) runPage(w http.ResponseWriter, r *http.Request, run *run) {
	f := s.look(r.Context(), run)
	if f.gone {
		notFound(w)
		return
	}
	var html []byte
	var err error
	if x := s.followed(run, f, true); x != nil {
		html, err = x.page(r.Context())
	} else {
		var m *made
		if m, err = s.page(r.Context(), run, f); m != nil {
			html = m.html
		}
	}
	switch {
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, err.Error())
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
	default:
		s.html(w, html)
	}
}

// html answers with a page of clew.
func (s *Server) html(w http.ResponseWriter, html []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", page.ServedPolicy()+"; frame-ancestors 'none'")
	w.Header().Set("Content-Length", fmt.Sprint(len(html)))
	w.Write(html)
}

// followed returns what follows a run, or nil if the run does not grow.
func (s *Server) followed(r *run, f *facts, forPage bool) *follower {
	if name, _ := f.followed(); name == "" || !f.live(time.Now()) {
		return nil
	}
	return s.follow(r, f, forPage)
}
