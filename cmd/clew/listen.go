//go:build !js

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/batch"
	"clew/internal/memory"
	"clew/internal/outputs"
	"clew/internal/page"
	"clew/internal/serve"
	"clew/internal/store"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/report"
)

// serve shows a store until a signal comes.
func (r *runner) serve(c *cli.Context) error {
	if c.NArg() != 1 {
		return fmt.Errorf("serve takes the folder of a store, found %d arguments; clew serve --help shows how", c.NArg())
	}
	var err error
	if r.reading, err = store.NewReading(given(c)); err != nil {
		return err
	}
	if r.options, r.Memory, err = searchOptions(c); err != nil {
		return err
	}
	r.TimeLimit = r.options.TimeLimit
	if r.models, err = givenModels(c.Context, c, r.Memory); err != nil {
		return err
	}
	r.Decide = r.decided
	memory.Sparing() // tests may run on this machine
	s, err := serve.New(c.Context, serve.Options{Store: c.Args().First(), Checker: &r.Checker, Job: r.found, Follow: r.follow, Log: r.stderr})
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := serve.Listen(c.String("addr"))
	if err != nil {
		return fmt.Errorf("--addr %s: %w", c.String("addr"), err)
	}
	defer l.Close()
	if _, err := fmt.Fprintf(r.stdout, "clew serves %s at http://%s/\n", c.Args().First(), l.Addr()); err != nil {
		return err
	}
	watchdog.Of(c.Context).Knows(func() int { return exitValid })
	return s.Serve(c.Context, l)
}

// follow follows the history of a job for a server.
func (r *runner) follow(ctx context.Context, in io.Reader, name string, j *batch.Job, how jepsen.Options, idle time.Duration, looked func(*report.Result)) (*report.Result, error) {
	o := r.optionsOf(j.Reading)
	o.Looked = looked
	return clew.Follow(ctx, in, name, how, j.Spec, o, idle)
}

// listen begins to answer at an address, until close is called. at is the address with the port that was found.
func (s *served) listen(address string) (at string, close func() error, err error) {
	l, err := serve.Listen(address)
	if err != nil {
		return "", nil, err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		s.local = tcp.IP.IsLoopback()
	}
	s.listens = true
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	go srv.Serve(l)
	return l.Addr().String(), l.Close, nil
}

// A browser gets a new page if there is one within pageTime, and otherwise the last one.
const (
	pageTime  = time.Second
	pageSteps = 20
)

// newPage returns the page as it is now, or nil.
func (s *served) newPage() []byte {
	old := s.page.Load()
	s.wanted.Store(true)
	for range pageSteps {
		if now := s.page.Load(); now != old {
			return *now
		}
		time.Sleep(pageTime / pageSteps)
	}
	if old == nil {
		return nil
	}
	return *old
}

// ServeHTTP answers with the page at /, with what has changed since at /state, and with the totals in the text form of
// Prometheus at /metrics.
func (s *served) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	to.Header().Set("X-Content-Type-Options", "nosniff")
	if s.local && !serve.IsLocal(r.Host) {
		http.Error(to, "this monitor is for its own machine: expected localhost or 127.0.0.1 in the address", http.StatusForbidden)
		return
	}
	switch r.URL.Path {
	case "/metrics":
		to.Header().Set("Content-Type", "text/plain; version=0.0.4")
		io.WriteString(to, s.metrics())
	case "/":
		html := s.newPage()
		if html == nil {
			http.Error(to, "nothing has been read yet", http.StatusServiceUnavailable)
			return
		}
		to.Header().Set("Content-Type", "text/html; charset=utf-8")
		to.Header().Set("Content-Security-Policy", page.ServedPolicy())
		to.Header().Set("Cache-Control", "no-store")
		to.Write(html)
	case "/state":
		t := s.totalsNow()
		to.Header().Set("Content-Type", "application/json")
		to.Header().Set("Cache-Control", "no-store")
		io.WriteString(to, outputs.JSONLine(page.State{Note: t.String(), Token: strconv.Itoa(t.Anomalies)}))
	default:
		http.NotFound(to, r)
	}
}
