package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/batch"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/outputs"
)

// notInStores are the flags of clew monitor that are for a single history.
var notInStores = []string{"html", "listen", "state", "witness"}

// givenStore reads the flags for the runs of stores.
func (w *watch) givenStore(ctx context.Context, c *cli.Context) (err error) {
	for _, name := range notInStores {
		if c.IsSet(name) {
			return fmt.Errorf("--html-dir cannot be combined with %s, which is for a single history", dashed(name))
		}
	}
	if !c.Args().Present() {
		return errors.New("no history given; clew monitor --help shows how")
	}
	w.models, err = givenModels(ctx, c, w.Memory)
	w.pages, w.draws = batch.NewFolders("", c.String("html-dir"), outputs.Styles[0]), true
	return err
}

// runs passes over every history below the paths, one after the other. It writes a page of each that has anomalies, and an
// index, and returns the exit status.
func (w *watch) runs(ctx context.Context, paths []string) (int, error) {
	jobs := w.Find(ctx, paths, batch.Search{Job: w.found, Warn: func(path string, what ...string) { w.warn(path, what...) }})
	if err := w.unusedModels(jobs); err != nil {
		return 0, err
	}
	inputs, _ := batch.Inputs(jobs)
	if err := cmp.Or(w.pages.Check(jobs, inputs, map[string]string{}), w.pages.Probe()); err != nil {
		return 0, err
	}
	runs := make([]clew.MonitoredRun, len(jobs))
	var t tally
	ended := false
	for i, j := range jobs {
		r := &runs[i]
		if r.Name, r.Time = cmp.Or(j.Test, j.Path), j.Time; ended || ctx.Err() != nil {
			r.Err = errors.New("not read")
			t.of[unknown]++
			continue
		}
		of, err := w.passOver(ctx, j, r)
		if t.of[of]++; err != nil {
			complain(w.stderr, err)
		}
		ended = w.failFast && of == invalid
	}
	last, done := w.Lastly(ctx, w.TimeLimit)
	defer done()
	title := "runs"
	if len(paths) == 1 {
		title = paths[0]
	}
	if err := w.pages.WriteIndex(last, func(to io.Writer) error { return clew.WriteMonitoredRuns(to, title, runs) }); err != nil {
		complain(w.stderr, err)
		t.of[unwritten]++
	}
	return t.status(), nil
}

// errSkipped is why a run is not judged that the file of models leaves out.
var errSkipped = errors.New("not judged: it is skipped")

// passOver passes over the history of a job, and writes its page.
func (w *watch) passOver(ctx context.Context, j *batch.Job, r *clew.MonitoredRun) (of outcome, err error) {
	var stop context.CancelFunc = func() {}
	if w.TimeLimit > 0 {
		ctx, stop = context.WithTimeout(ctx, w.TimeLimit)
	}
	defer stop()
	ctx, release := w.Room(ctx)
	defer release()
	switch r.Err = w.readRun(ctx, j); {
	case errors.Is(r.Err, errSkipped):
		of = notJudged
	case errors.Is(r.Err, errFound):
		r.Err = errors.New("--fail-fast ended it")
	case j.Stopped != "":
		of, err = unknown, r.Err
	case r.Err != nil && ctx.Err() != nil:
		r.Err, of = errors.New(string(limits.Stopped(ctx))), unknown
		err = unended(ctx, j.Path)
	case r.Err != nil:
		of, err = unreadable, r.Err
	}
	if w.m == nil {
		return of, err
	}
	if w.wrong || w.doubtful {
		of = max(of, unknown)
		if w.wrong {
			of = invalid
		}
		var written error
		r.Link, written = w.pages.Write(j, func(file string) error {
			return files.To(file, nil, nil).Write(func(to io.Writer) error {
				return w.m.WritePage(to, clew.MonitorPage{Title: j.Path, Ended: r.Err == nil, Index: w.pages.IndexFrom(file)})
			})
		})
		err = errors.Join(err, written)
	}
	r.Monitored(w.m)
	return of, err
}

// readRun reads the history of a job. w.m is nil then if it cannot be opened.
func (w *watch) readRun(ctx context.Context, j *batch.Job) error {
	w.m, w.wrong, w.doubtful = nil, false, false
	switch {
	case j.Missing != nil:
		return j.Missing
	case j.Reading.Skip:
		return errSkipped
	case j.Stopped != "":
		return fmt.Errorf("%s: the histories were not found in time: %s", j.Path, j.Stopped)
	}
	how, damage := j.Completed(ctx, j.Reading, w.Memory)
	j.Reading = how
	w.warn(j.Path, damage...)
	in, err := w.whole(ctx, j.Source).OpenWithin(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := w.monitor(ctx, j.Path, j.Reading); err != nil {
		return err
	}
	return w.pass(ctx, in, j.Reading)
}
