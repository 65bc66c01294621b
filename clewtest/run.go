package clewtest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Run makes n random operations of several clients at once, checks the history, and fails the test if it is not
// linearizable. Then it looks for the smallest run that fails too.
//
// The function system makes a fresh system under test, once for each run, and returns the function that makes one
// operation. That is called by several goroutines at once, each with its own Client. The t of system is that of the
// test, except that its Cleanup functions are called when the run is over, and its Context is canceled before that.
func Run(t testing.TB, spec models.Spec, clients, n int, system func(t testing.TB) func(c *Client), options ...Option) {
	t.Helper()
	s := newSettings(t, spec, options)
	if clients < 1 || n < 1 {
		t.Fatalf("%d clients and %d operations; expected at least one of each", clients, n)
	}
	steps := make([]step, n)
	for i := range steps {
		steps[i] = step{number: i, client: i % clients, began: -1, ended: -1}
	}
	start := time.Now()
	first := s.run(t, system, plan{steps: steps}, 0)
	of := shrunk{run: fmt.Sprintf("%s of %s, CLEW_SEED=%d: ", text.Count(n, "operation"), text.Count(clients, "client"), s.seed)}
	if !first.failed() {
		s.tell(t, first.result, first.err, of)
		return
	}
	r := &shrinker{settings: s, t: t, system: system, best: first, start: time.Now(), patience: time.Second + 10*time.Since(start)}
	r.shrink()
	of.found = r.found(first)
	if r.best != first {
		of.first = first.result
	}
	s.tell(t, r.best.result, nil, of)
}

// Client is one of the clients of a Run. It is for the function that makes an operation, while that runs.
type Client struct {
	ID   int        // from 0
	Rand *rand.Rand // the same for this operation in all runs with the same seed

	run    *running
	step   *step
	unique int
}

// Invoke records that the client begins an operation, as Recorder.Invoke does. An operation that is still open when the
// function that made it returns has crashed.
func (c *Client) Invoke(f string, args ...any) *Op {
	c.run.record.t.Helper()
	c.run.order.begin(c.step)
	o := c.run.record.invoke(c.ID, f, args, c.step)
	runtime.Gosched() // or short operations would not overlap
	return o
}

// Pick returns a random number from 0 to n-1, for a key or a value. Runs that shrink try smaller n.
func (c *Client) Pick(n int) int {
	x := c.Rand.IntN(n)
	r := c.run
	r.mu.Lock()
	defer r.mu.Unlock()
	r.picked = max(r.picked, n)
	if r.pick > 0 {
		x %= r.pick
	}
	return x
}

// Unique returns a positive number that is never the same in one run. Histories whose values are unique are decided
// fastest, and failures of them say most.
func (c *Client) Unique() int {
	c.unique += len(c.run.steps)
	return c.unique
}

// step is one call of the function that makes an operation.
type step struct {
	number       int // it seeds the random numbers
	client       int
	began, ended int // its first and its last event in the last run, or -1

	after, rank int // how many steps must have ended before it begins, and its place among them
}

// plan says what happens in a run.
type plan struct {
	steps []step // in order of their beginnings
	pick  int    // the greatest n of Pick, or 0
}

// running is a run that takes place.
type running struct {
	plan
	record *record
	order  *order
	mu     sync.Mutex
	picked int // the greatest n that Pick was called with
}

// outcome is what came of a run.
type outcome struct {
	plan       // of the events up to the failure
	taken  int // how many steps there were
	picked int
	core   []step
	result *report.Result // nil if it was recorded wrongly
	err    error
	over   string // why there should be no more runs, or ""
}

func (o *outcome) failed() bool { return o.result != nil && o.result.Verdict == jepsen.Invalid }

// run takes the steps of a plan, for so long if that is not 0, and checks the history.
func (s *settings) run(t testing.TB, system func(testing.TB) func(*Client), p plan, patience time.Duration) *outcome {
	t.Helper()
	p.steps = slices.Clone(p.steps)
	r := &running{plan: p, record: newRecord(t, s), order: newOrder(p.steps)}
	own := newFresh(t)
	defer own.end()
	body := system(own)
	turns := map[int][]int{}
	for i := range p.steps {
		turns[p.steps[i].client] = append(turns[p.steps[i].client], i)
	}
	var clients sync.WaitGroup
	for _, id := range slices.Sorted(maps.Keys(turns)) {
		clients.Go(func() { r.client(id, turns[id], body) })
	}
	if patience == 0 {
		clients.Wait()
	} else if ended := endsWithin(&clients, patience); !ended {
		r.record.close() // what an ended system answers does not count
		own.end()
		o := &outcome{taken: len(p.steps)}
		if !endsWithin(&clients, patience) {
			o.over = "; the last one did not end and was given up"
		}
		return o
	}
	result, err := r.record.check()
	if result == nil && err == nil {
		return &outcome{over: "; the last one was recorded wrongly"}
	}
	o := &outcome{plan: p, taken: len(p.steps), picked: r.picked, result: result, err: err}
	if o.failed() {
		o.cut(r.record)
	}
	return o
}

// client takes some of the steps.
func (r *running) client(id int, turns []int, body func(c *Client)) {
	defer func() {
		for _, i := range turns { // those that are left if the body ended its goroutine
			r.order.end(&r.steps[i])
		}
	}()
	for len(turns) > 0 {
		s := &r.steps[turns[0]]
		s.began, s.ended = -1, -1
		body(&Client{ID: id, Rand: rand.New(rand.NewPCG(r.record.seed, uint64(s.number))), run: r, step: s, unique: turns[0] + 1 - len(r.steps)})
		r.record.abandon(id)
		r.order.end(s)
		turns = turns[1:]
		runtime.Gosched()
	}
}

// cut leaves the steps of a failed run that count: those that began before the failure.
func (o *outcome) cut(r *record) {
	failing := o.result.FirstFailing()
	inCore := map[*step]bool{}
	for _, op := range failing.Core {
		inCore[r.steps[failing.History.WholeOperation(op)]] = true
	}
	o.steps = nil
	seen := map[*step]bool{}
	for _, s := range r.steps { // in order of their beginnings
		if seen[s] || s.began > int(failing.History.InWhole(failing.FailedBy())) {
			continue
		}
		seen[s] = true
		o.steps = append(o.steps, *s)
		if inCore[s] {
			o.core = append(o.core, *s)
		}
	}
}

// endsWithin waits for clients, and says whether they ended in time.
func endsWithin(clients *sync.WaitGroup, patience time.Duration) bool {
	done := make(chan struct{})
	go func() {
		clients.Wait()
		close(done)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// fresh is the test as the system of one run sees it.
type fresh struct {
	testing.TB
	ctx      context.Context
	cancel   context.CancelFunc
	mu       sync.Mutex
	cleanups []func()
}

func newFresh(t testing.TB) *fresh {
	f := &fresh{TB: t}
	f.ctx, f.cancel = context.WithCancel(t.Context())
	return f
}

func (f *fresh) Context() context.Context { return f.ctx }

func (f *fresh) Cleanup(cleanup func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cleanups = append(f.cleanups, cleanup)
}

// end may be called again.
func (f *fresh) end() {
	f.cancel()
	f.mu.Lock()
	cleanups := f.cleanups
	f.cleanups = nil
	f.mu.Unlock()
	for i := range cleanups {
		cleanups[len(cleanups)-1-i]()
	}
}
