package serve

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"clew/internal/batch"
	"clew/internal/page"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/report"
)

// Bounds of checks. Pages that were made are kept in memory, up to cachedBytes of them.
const (
	maxWaiting  = 64 // checks that run or wait for others
	cachedBytes = 64 << 20
	writingTime = time.Minute // of one page
)

var (
	errBusy      = fmt.Errorf("%d other runs are being checked; try again later", maxWaiting)
	errNoHistory = errors.New("this run has no history")
)

// checked is what a list says of a run that was checked. It never changes.
type checked struct {
	read        stamp // of what was checked
	class, word string
	operations  int
	sentence    string
}

// newChecked returns what a list says of a result.
func newChecked(r *report.Result, read stamp) *checked {
	l := r.Line()
	c := &checked{read: read, operations: l.Operations, sentence: l.Kind.First(string(l.Explanation))}
	if c.class, c.word = page.VerdictOf(l.Valid); l.Valid == jepsen.Unknown {
		c.word, c.sentence = cmp.Or(string(l.Cause), c.word), string(cmp.Or(l.Error, l.Explanation))
	}
	return c
}

// made is a page of a run.
type made struct {
	path string
	read stamp // of what was checked
	html []byte
}

// checks holds the checks that are under way, and the pages of those that have ended.
type checks struct {
	slots chan struct{} // has room for as many as may run at once

	mu      sync.Mutex
	flights map[string]*flight
	pages   map[string]*list.Element // of *made, in recent
	recent  *list.List               // the one that was asked for last comes first
	bytes   int
}

// flight is a check that one client or several wait for.
type flight struct {
	cancel  context.CancelFunc
	waiting int           // clients
	done    chan struct{} // closed once there is a page, or none
	made    *made         // nil if the check was cancelled, or its page could not be written
	err     error
}

// page returns the page of a run, and checks the run if its page is not known. The check ends if no client waits for
// it anymore.
func (s *Server) page(ctx context.Context, r *run, f *facts) (*made, error) {
	c := &s.checks
	c.mu.Lock()
	if m := c.known(r.path); m != nil && m.read == f.read() {
		c.mu.Unlock()
		return m, nil
	}
	x := c.flights[r.path]
	if x == nil && len(c.flights) >= maxWaiting {
		c.mu.Unlock()
		return nil, errBusy
	}
	if x == nil {
		var own context.Context
		x = &flight{done: make(chan struct{})}
		own, x.cancel = context.WithCancel(s.ctx)
		c.flights[r.path] = x
		s.background.Go(func() { s.fly(own, x, r, f) })
	}
	x.waiting++
	c.mu.Unlock()
	select {
	case <-x.done:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.waiting--; x.waiting == 0 {
		x.cancel()
		if c.flights[r.path] == x {
			delete(c.flights, r.path) // the next client needs another check
		}
	}
	select {
	case <-x.done:
		return x.made, x.err
	default:
		return nil, context.Cause(ctx)
	}
}

// known returns a page that was made before, or nil.
func (c *checks) known(path string) *made {
	e := c.pages[path]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*made)
}

// keep keeps a page, and drops those that were not asked for lately if there is no room.
func (c *checks) keep(m *made) {
	if e := c.pages[m.path]; e != nil {
		c.drop(e)
	}
	c.pages[m.path] = c.recent.PushFront(m)
	c.bytes += len(m.html)
	for c.bytes > cachedBytes && c.recent.Len() > 1 {
		c.drop(c.recent.Back())
	}
}

func (c *checks) drop(e *list.Element) {
	m := c.recent.Remove(e).(*made)
	delete(c.pages, m.path)
	c.bytes -= len(m.html)
}

// fly checks a run once there is a slot, and makes its page.
func (s *Server) fly(ctx context.Context, x *flight, r *run, f *facts) {
	c := &s.checks
	var m *made
	var err error
	select {
	case c.slots <- struct{}{}:
		if bug := watchdog.Guarded(func() { m, err = s.make(ctx, r, f) }); bug != "" {
			s.log("%s: this is a bug in clew: %s", r.path, bug)
			m, err = nil, errors.New("this is a bug in clew; its output says more")
		}
		<-c.slots
	case <-ctx.Done():
	}
	if m == nil && err == nil {
		err = cmp.Or(context.Cause(ctx), context.Canceled)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.made, x.err = m, err; m != nil && ctx.Err() == nil {
		c.keep(m)
	}
	if c.flights[r.path] == x {
		delete(c.flights, r.path)
	}
	close(x.done)
}

// make checks a run within the limits, and makes its page.
func (s *Server) make(ctx context.Context, r *run, f *facts) (*made, error) {
	result := s.result(ctx, r, f)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	read := f.read()
	r.checked.Store(newChecked(result, read))
	html, err := s.written(ctx, result, page.Served{Links: s.links(r)})
	return &made{path: r.path, read: read, html: html}, err
}

// result checks a run within the limits.
func (s *Server) result(ctx context.Context, r *run, f *facts) *report.Result {
	var missing error
	source, found := s.source(r, f)
	if !found {
		missing = errNoHistory
	}
	j := s.Job(source, missing)
	j.Passed = new(atomic.Int64)
	defer j.End()
	return batch.Within(ctx, &s.Checker.Bounds, s.Checker.TimeLimit, func(ctx context.Context) (result *report.Result) {
		if bug := watchdog.Guarded(func() { result = s.Checker.Check(ctx, j).Result }); bug != "" {
			s.log("%s: this is a bug in clew: %s", j.Path, bug)
			result = j.Undecided(jepsen.Panicked)
		}
		return result
	}, func(cause jepsen.Cause) *report.Result { return j.Late(cause, false) })
}

// written returns the page of a result.
func (s *Server) written(ctx context.Context, result *report.Result, served page.Served) ([]byte, error) {
	ctx, done := s.Checker.Room(ctx)
	defer done()
	ctx, cancel := context.WithTimeout(ctx, writingTime)
	defer cancel()
	var b bytes.Buffer
	if err := page.WriteServed(ctx, &b, result, served); err != nil {
		return nil, fmt.Errorf("the page could not be written: %w", err)
	}
	return b.Bytes(), nil
}
