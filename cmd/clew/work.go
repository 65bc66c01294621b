package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"clew"
	"clew/jepsen"
	"clew/models"
)

// answer is what became of one history. It holds on to no history, so that
// however many wait for an earlier one to be printed, they take little memory.
type answer struct {
	verdict  jepsen.Verdict
	warnings []string
	out      string         // what standard output says
	result   *jepsen.Result // where evidence is asked for
	err      error          // it is unreadable
	bug      string         // clew panicked
}

// job is a history to check.
type job struct {
	jepsen.Source
	broken      error // it could not be found
	spec        models.Spec
	independent bool
	answer      chan answer

	h       *jepsen.History // once it has been read
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
		k.options.Passed = &k.progress.passed
	}
	k.header(jobs)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go k.work(ctx, jobs)
	var t tally
	done := 0
	for ; done < len(jobs) && !(k.failFast && t.invalid > 0); done++ {
		a := <-jobs[done].answer
		if err := k.report(jobs[done], a, &t); err != nil {
			return 0, err
		}
		jobs[done] = nil
		k.progress.file()
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
	add := func(s jepsen.Source, broken error) {
		j := &job{Source: s, broken: broken, spec: k.spec, independent: k.options.Independent, answer: make(chan answer, 1)}
		if m, ok := k.models[s.Test]; ok && s.Stored {
			j.spec, j.independent = m.spec, m.independent
		}
		jobs = append(jobs, j)
	}
	for _, path := range paths {
		found, err := jepsen.Find(path)
		for _, s := range found {
			add(s, nil)
		}
		if err != nil {
			// Of a directory, what can be read is checked all the same.
			add(jepsen.Source{Path: path}, err)
		}
	}
	return jobs
}

// header begins the table, where there is one: for what was found in
// directories and archives.
func (k *checker) header(jobs []*job) {
	var sources []jepsen.Source
	any := false
	for _, j := range jobs {
		sources = append(sources, j.Source)
		any = any || j.Stored
	}
	if k.output == "text" && any && len(jobs) > 1 {
		table := jepsen.NewTable(sources)
		k.table = &table
		io.WriteString(k.stdout, table.Header())
	}
}

// work checks the histories with as many goroutines as there are processors.
// Those that are read in order are read here, while others are checked.
func (k *checker) work(ctx context.Context, jobs []*job) {
	next := make(chan *job)
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := range next {
				j.answer <- k.guarded(func() answer { return k.check(ctx, j) })
			}
		}()
	}
	for _, j := range jobs {
		if j.InOrder {
			a := k.guarded(func() answer { return answer{err: k.read(ctx, j)} })
			if a.err != nil || a.bug != "" {
				j.answer <- a
				continue
			}
		}
		next <- j
	}
	close(next)
	group.Wait()
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
	if j.h == nil && !j.InOrder {
		if err := k.read(ctx, j); err != nil {
			return answer{err: err}
		}
	}
	h := j.h
	if j.h = nil; h == nil {
		return k.rendered(j, &jepsen.Result{File: j.Path, Model: j.spec.Name, Init: j.spec.Init, Cause: "interrupted"})
	}
	start := time.Now()
	k.progress.operations(h.Operations())
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
func (k *checker) rendered(j *job, r *jepsen.Result) answer {
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
	type outcome struct {
		h     *jepsen.History
		err   error
		panic any
	}
	start := time.Now()
	defer func() { j.reading = time.Since(start) }()
	if ctx.Err() != nil {
		return nil
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panic = recover()
			done <- o
		}()
		o.h, o.err = j.Read(readOptions(j.spec))
	}()
	select {
	case <-ctx.Done():
		return nil
	case o := <-done:
		if o.panic != nil {
			panic(o.panic)
		}
		j.h = o.h
		return o.err
	}
}
