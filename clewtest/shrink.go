package clewtest

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"testing"
	"time"

	"clew/internal/text"
)

// shrinker looks for the smallest run that fails. A run is not repeated exactly, so each smaller one is tried several
// times.
type shrinker struct {
	*settings
	t        testing.TB
	system   func(testing.TB) func(*Client)
	best     *outcome // the smallest that has failed
	start    time.Time
	uncored  *outcome      // its core alone has not failed
	patience time.Duration // for each run
	runs     int
	over     string // why there should be no more runs, or ""
}

// How often a smaller run is tried. The operations that contradict each other promise most.
const (
	triesOfCore = 20
	triesOfRest = 4
)

func (r *shrinker) shrink() {
	r.core()
	for _, c := range r.clients() {
		r.keep(func(_ int, s step) bool { return s.client != c })
	}
	for before := (*outcome)(nil); before != r.best; {
		before = r.best
		r.fewerClients()
		r.keep(func(int, step) bool { return true }) // without what came after the failure
		r.fewerSteps()
	}
	for pick := 1; pick < r.best.picked && !r.try(plan{r.best.steps, pick}, triesOfRest); pick++ {
	}
}

// fewerSteps leaves out steps: half of them, then a quarter, and so on.
func (r *shrinker) fewerSteps() {
	for size := len(r.best.steps) / 2; size > 0; size /= 2 {
		for at := 0; at < len(r.best.steps); {
			if !r.keep(func(i int, _ step) bool { return i < at || i >= at+size }) {
				at += size
			}
		}
		r.core()
	}
}

// core keeps the operations of the core alone, and again those of the new run's core.
func (r *shrinker) core() {
	for len(r.best.core) < r.best.taken && r.uncored != r.best {
		r.uncored = r.best
		r.try(plan{r.best.core, r.best.pick}, triesOfCore)
	}
}

// keep tries the best run with some of its steps.
func (r *shrinker) keep(kept func(i int, s step) bool) bool {
	p := plan{pick: r.best.pick}
	for i, s := range r.best.steps {
		if kept(i, s) {
			p.steps = append(p.steps, s)
		}
	}
	return len(p.steps) < r.best.taken && r.try(p, triesOfRest)
}

// fewerClients gives the steps to clients 0, 1 and so on, as few as possible.
func (r *shrinker) fewerClients() {
	clients := r.clients()
	for n := 1; n <= len(clients) && clients[len(clients)-1] >= n; n++ {
		p := plan{slices.Clone(r.best.steps), r.best.pick}
		for i, s := range p.steps {
			p.steps[i].client = slices.Index(clients, s.client) % n
		}
		if r.try(p, triesOfRest) {
			return
		}
	}
}

func (r *shrinker) clients() (ids []int) {
	for _, s := range r.best.steps {
		ids = append(ids, s.client)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// try says whether a run with this plan fails in one of so many tries, and then it is the best.
func (r *shrinker) try(p plan, tries int) bool {
	for range tries {
		if len(p.steps) == 0 || r.over != "" || r.runs >= r.shrinkRuns || time.Since(r.start) > r.shrinkTime {
			return false
		}
		r.runs++
		o := r.run(r.t, r.system, p, r.patience)
		r.over = o.over
		if o.failed() {
			r.best = o
			return true
		}
	}
	return false
}

// found says what came of the search.
func (r *shrinker) found(first *outcome) string {
	if r.runs == 0 {
		return ""
	}
	effort := fmt.Sprintf("%s took %v", text.Count(r.runs, "smaller run"), time.Since(r.start).Round(time.Millisecond)) + r.over
	if r.best == first {
		return effort + ", but none of them failed; this is the run that did:\n"
	}
	return fmt.Sprintf("%s; the smallest that fails has %s of %s:\n", effort,
		text.Count(r.best.result.History.Operations(), "operation"), text.Count(len(r.clients()), "client"))
}

// order makes each step wait for those that had ended before it began when the plan was made.
type order struct {
	mu      sync.Mutex
	changed *sync.Cond
	ended   []bool // by rank
	first   int    // so many of them have ended
}

func newOrder(steps []step) *order {
	ends := make([]int, len(steps))
	byEnd := make([]*step, len(steps))
	for i := range steps {
		byEnd[i] = &steps[i]
	}
	slices.SortStableFunc(byEnd, func(a, b *step) int { return a.ended - b.ended })
	for rank, s := range byEnd {
		s.rank, ends[rank] = rank, s.ended
	}
	for i := range steps {
		steps[i].after = sort.SearchInts(ends, steps[i].began)
	}
	o := &order{ended: make([]bool, len(steps))}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// begin waits until the step may begin.
func (o *order) begin(s *step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.first < s.after {
		o.changed.Wait()
	}
}

func (o *order) end(s *step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended[s.rank] = true
	for o.first < len(o.ended) && o.ended[o.first] {
		o.first++
	}
	o.changed.Broadcast()
}
