package serve

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clew/internal/store"
)

// A run whose history has changed within liveFor, and that has no results yet, is live.
const liveFor = time.Minute

// facts say what is in the folder of a run, as it was at some time. They never change.
type facts struct {
	stamp   stamp
	files   []string // those that a check reads
	results bool     // it has results
	outcome store.Outcome
	wrong   string // why the results cannot be read
	gone    bool   // there is no such folder, or it cannot be read
	unknown bool   // the folder has not been looked into
}

// stamp identifies the content of a run's folder. Two stamps are equal if nothing that a check reads has changed.
type stamp struct{ folder, history, test, recorder, log, results fileStamp }

// fileStamp is the zero fileStamp if there is no such regular file.
type fileStamp struct{ size, changed int64 }

const resultsName = "results.edn"

// look brings the facts of a run up to date.
func (s *Server) look(ctx context.Context, r *run) *facts {
	before := r.facts.Load()
	f := &facts{gone: true}
	root, err := s.open(r)
	if err != nil {
		r.facts.Store(f)
		return f
	}
	defer root.Close()
	if info, err := root.Stat("."); err == nil {
		f.gone, f.stamp.folder = false, fileStamp{changed: info.ModTime().UnixNano()}
	}
	f.stamp.history = f.first(root, "history.edn")
	f.stamp.test = f.first(root, "test.jepsen", "test.jepsen.gz", "test.jepsen.zst")
	if f.stamp.history == (fileStamp{}) && f.stamp.test == (fileStamp{}) {
		f.stamp.history = f.first(root, "history.edn.gz", "history.edn.zst", "history.txt")
	}
	f.stamp.recorder = f.first(root, store.RecorderFile)
	f.stamp.log = f.first(root, "jepsen.log")
	f.stamp.results = f.first(root, resultsName)
	if f.results = f.stamp.results != (fileStamp{}); f.results {
		if before != nil && before.stamp.results == f.stamp.results {
			f.outcome, f.wrong = before.outcome, before.wrong
		} else if f.outcome, err = store.ReadOutcome(ctx, root, resultsName, s.Checker.Memory); err != nil {
			if ctx.Err() != nil {
				return f // they have not been read, so they are not kept
			}
			f.wrong = err.Error()
		}
	}
	r.facts.Store(f)
	return f
}

// open opens the folder of a run, unless it is a link.
func (s *Server) open(r *run) (*os.Root, error) {
	info, err := s.root.Lstat(r.path)
	if err == nil && !info.IsDir() {
		err = errNoFolder
	}
	if err != nil {
		return nil, err
	}
	return s.root.OpenRoot(r.path)
}

var errNoFolder = errors.New("it is not a folder")

// first returns the stamp of the first of some files that is there, and notes its name.
func (f *facts) first(root *os.Root, names ...string) fileStamp {
	for _, name := range names {
		if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
			f.files = append(f.files, name)
			return fileStamp{info.Size(), info.ModTime().UnixNano()}
		}
	}
	return fileStamp{}
}

// live reports whether the run still grows.
func (f *facts) live(now time.Time) bool {
	if f.results || f.gone {
		return false
	}
	for _, of := range []fileStamp{f.stamp.history, f.stamp.test, f.stamp.recorder, f.stamp.log} {
		if ago := now.Sub(time.Unix(0, of.changed)); of != (fileStamp{}) && ago < liveFor && ago > -liveFor {
			return true
		}
	}
	return false
}

// read returns the stamp of what a check reads. The log counts if there is nothing else.
func (f *facts) read() stamp {
	read := f.stamp
	if read.history != (fileStamp{}) || read.test != (fileStamp{}) || read.recorder != (fileStamp{}) {
		read.log = fileStamp{}
	}
	return read
}

// source returns the history of a run, or false if it has none.
func (s *Server) source(r *run, f *facts) (store.Source, bool) {
	return store.FindRun(s.root, r.path, f.files)
}

// scan looks at all runs, which a list by verdicts needs. It does so in the background, from the newest to the oldest.
type scan struct {
	mu      sync.Mutex
	running bool
	of      *listing
	ended   time.Time
	looked  atomic.Int64 // how many runs have been looked at
}

// What has been looked at is looked at again if scanPause has passed.
const scanPause = 20 * time.Second

// scanned makes sure that the runs of a listing are looked at, and reports whether all have been.
func (s *Server) scanned(l *listing) bool {
	c := &s.scan
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := c.of == l && !c.ended.IsZero()
	if c.running || whole && time.Since(c.ended) < scanPause {
		return whole
	}
	c.running = true
	if !whole {
		c.of, c.ended = l, time.Time{}
		c.looked.Store(0)
	}
	s.background.Go(func() {
		for _, r := range l.runs {
			if s.ctx.Err() != nil {
				break
			}
			s.look(s.ctx, r)
			c.looked.Add(1)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running, c.ended = false, time.Now()
	})
	return whole
}

// hasName reports whether a name ends in one of these.
func hasName(name string, endings ...string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) })
}
