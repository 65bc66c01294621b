package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"clew"
	"clew/jepsen"
	"clew/jepsen/store"
	"clew/models"
	"clew/report"
)

// answer is what became of one history. It holds on to no history, so that
// however many wait for an earlier one to be printed, they take little memory.
type answer struct {
	verdict  jepsen.Verdict
	warnings []string
	out      string         // what standard output says
	result   *report.Result // where evidence is asked for
	err      error          // it is unreadable
	bug      string         // clew panicked
}

// job is a history to check.
type job struct {
	store.Source
	broken      error // it could not be found
	spec        models.Spec
	independent bool

	h       *jepsen.History // once it has been read
	ahead   answer          // where it has been read ahead in vain
	reading time.Duration
}

// run checks every history below the paths, several at once, and prints the
// answers in order. It returns the exit status.
func (k *checker) run(ctx context.Context, paths []string) (int, error) {
	if k.lifeline {
		watchLifeline(k.stderr)
	}
	jobs := k.jobs(paths)
	if len(jobs) != 1 && k.witness+k.core+k.svg != "" {
		return 0, fmt.Errorf("--witness, --core and --svg are for a single history, not for %d", len(jobs))
	}
	if err := k.models.unused(jobs); err != nil {
		return 0, err
	}
	k.progress = newProgress(k.stderr, len(jobs))
	defer k.progress.stop()
	if len(jobs) == 1 {
		k.options.Passed, k.options.Held = &k.progress.passed, &k.progress.held
	}
	k.header(jobs)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var t tally
	done := 0
	var failed error
	inOrder(len(jobs), func(i int) {
		if jobs[i].InOrder {
			jobs[i].ahead = k.guarded(func() answer { return answer{err: k.read(ctx, jobs[i])} })
		}
	}, func(i int) answer {
		return k.guarded(func() answer { return k.check(ctx, jobs[i]) })
	}, func(i int, a answer) bool {
		failed = k.report(jobs[i], a, &t)
		k.progress.file()
		done++
		return failed == nil && !(k.failFast && t.invalid > 0)
	})
	if failed != nil {
		return 0, failed
	}
	if k.output == "text" && len(jobs) > 1 {
		k.progress.stop()
		left := ""
		if done < len(jobs) {
			left = fmt.Sprintf("; stopped there, %d not checked", len(jobs)-done)
		}
		fmt.Fprintf(k.stdout, "%d histories: %d valid, %d invalid, %d unknown, %d unreadable%s\n",
			len(jobs), t.valid, t.invalid, t.unknown, t.unreadable, left)
	}
	return t.status(), nil
}

// jobs is what the paths stand for.
func (k *checker) jobs(paths []string) []*job {
	var jobs []*job
	add := func(s store.Source, broken error) {
		j := &job{Source: s, broken: broken, spec: k.spec, independent: k.options.Independent}
		if m, ok := k.models[s.Test]; ok && s.Stored {
			j.spec, j.independent = m.spec, m.independent
		}
		jobs = append(jobs, j)
	}
	for _, path := range paths {
		found, err := store.Find(path)
		for _, s := range found {
			add(s, nil)
		}
		if err != nil {
			// Of a directory, what can be read is checked all the same.
			add(store.Source{Path: path}, err)
		}
	}
	return jobs
}

// header begins the table, where there is one: for what was found in
// directories and archives.
func (k *checker) header(jobs []*job) {
	var sources []store.Source
	any := false
	for _, j := range jobs {
		sources = append(sources, j.Source)
		any = any || j.Stored
	}
	if k.output == "text" && any && len(jobs) > 1 {
		table := report.NewTable(sources)
		k.table = &table
		io.WriteString(k.stdout, table.Header())
	}
}

// guarded turns a panic into an answer.
func (k *checker) guarded(f func() answer) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{bug: fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	return f()
}

// check reads and checks one history.
func (k *checker) check(ctx context.Context, j *job) answer {
	if j.broken != nil {
		return answer{err: j.broken}
	}
	if j.ahead.err != nil || j.ahead.bug != "" {
		return j.ahead
	}
	if !j.InOrder {
		if err := k.read(ctx, j); err != nil {
			return answer{err: err}
		}
	}
	h := j.h
	if j.h = nil; h == nil {
		return k.rendered(j, &report.Result{File: j.Path, Model: j.spec.Name, Init: j.spec.Init, Cause: jepsen.Interrupted})
	}
	start := time.Now()
	k.progress.operations(h.Operations())
	collectBefore(k.memory)
	o := k.options
	o.Independent = j.independent
	r, err := clew.Check(ctx, h, j.spec, o)
	if err != nil {
		return answer{err: located(h, err)}
	}
	r.File = j.Path
	r.Ms = float64((j.reading + time.Since(start)).Microseconds()) / 1000
	return k.rendered(j, r)
}

// rendered is the answer that a result is.
func (k *checker) rendered(j *job, r *report.Result) answer {
	a := answer{verdict: r.Verdict, out: k.render(j, r)}
	if r.History != nil {
		a.warnings = r.History.Warnings
	}
	if k.witness+k.core+k.svg != "" {
		a.result = r
	}
	return a
}

// read reads a history, none if it is interrupted. The reading goes on then, but
// nobody waits for it: standard input may never end.
func (k *checker) read(ctx context.Context, j *job) error {
	start := time.Now()
	defer func() { j.reading = time.Since(start) }()
	if ctx.Err() != nil {
		return nil
	}
	var h *jepsen.History
	var err error
	if !await(ctx, func() { h, err = j.Read(readOptions(j.spec)) }) {
		return nil
	}
	j.h = h
	return err
}

// await calls f and says whether it ended before the context did. Where it did
// not, it goes on, but nobody waits for it: what it sets is not to be read.
func await(ctx context.Context, f func()) bool {
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	select {
	case <-ctx.Done():
		return false
	case p := <-done:
		if p != nil {
			panic(p)
		}
		return true
	}
}

// inOrder calls do for 0 to n-1, as many at once as there are processors, and
// done with each outcome in order, until done says false. Before do, ahead is
// called in order, one at a time, where it is not nil.
func inOrder[T any](n int, ahead func(i int), do func(i int) T, done func(i int, x T) bool) {
	outcomes := make([]chan T, n)
	for i := range outcomes {
		outcomes[i] = make(chan T, 1)
	}
	stop := make(chan struct{})
	defer close(stop)
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), n) {
		go func() {
			for i := range next {
				outcomes[i] <- do(i)
			}
		}()
	}
	go func() {
		defer close(next)
		for i := range n {
			if ahead != nil {
				ahead(i)
			}
			select {
			case next <- i:
			case <-stop:
				return
			}
		}
	}()
	for i := range n {
		if !done(i, <-outcomes[i]) {
			return
		}
	}
}
