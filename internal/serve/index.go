package serve

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clew/internal/store"
)

// Bounds of what is listed. Folders below maxDepth are not looked into.
const (
	maxDepth   = 8
	maxFolders = 200_000
	maxRuns    = 500_000
	maxEntries = 1_000_000 // of one folder
)

// The store is listed again if listPause has passed. A page waits for that at most listPatience, and then shows what
// is known: what was there before, or a part of the store, of which there is more every partPause. A folder that
// changed less than settling before it was listed may have changed again since, without a new time.
const (
	listPause    = time.Second
	listPatience = 50 * time.Millisecond
	partPause    = 50 * time.Millisecond
	settling     = 2 * time.Second
)

// run is a run of the store. It stays the same while its folder is there.
type run struct {
	path       string // below the store, with slashes
	test, time string // of the layout TEST/TIME; without a time, time is ""
	day        string // such as 20261125
	words      string // what a search looks at
	when       time.Time
	facts      atomic.Pointer[facts]
	checked    atomic.Pointer[checked]
}

// newRun returns the run in a folder. changed is the time of the folder, or 0 if its name has the time.
func newRun(folder string, changed time.Time) *run {
	r := &run{path: folder, test: folder, when: changed}
	if name := path.Base(folder); store.IsRunFolder(name) {
		r.test, r.time = path.Dir(folder), name
		var err error
		if r.when, err = time.Parse("20060102T150405Z0700", name); err != nil {
			r.when, _ = time.Parse("20060102T150405", name[:len("20060102T150405")])
		}
		r.day = name[:len("20060102")]
	} else {
		r.day = changed.Format("20060102")
	}
	r.words = strings.ToLower(r.test + " " + r.time)
	return r
}

// listing is what was found in the store at some time. It never changes.
type listing struct {
	runs    []*run // the newest first
	by      map[string]*run
	version int    // that of another listing differs
	note    string // what is not listed
	partial bool   // the store is still being listed
}

// index lists the runs of a store by the names of folders.
type index struct {
	root  *os.Root
	shown atomic.Pointer[listing]

	mu   sync.Mutex
	busy chan struct{} // closed when the listing that is under way has ended; nil: none is
	last time.Time     // when it ended last

	folders map[string]*folder // of the last listing; only the listing under way uses them
	runs    map[string]*run
}

// folder is a folder that is not that of a run.
type folder struct {
	changed, listed time.Time
	runs            []string // what has the name of a run
	below           []string // other folders
	isRun           bool     // it has a history itself
}

// list returns the runs of the store. It lists the store again if that was not done lately.
func (x *index) list(ctx context.Context) *listing {
	x.mu.Lock()
	if x.busy == nil && time.Since(x.last) > listPause {
		x.busy = make(chan struct{})
		go x.refresh(x.busy)
	}
	busy := x.busy
	x.mu.Unlock()
	if busy != nil {
		select {
		case <-busy:
		case <-time.After(listPatience):
		case <-ctx.Done():
		}
	}
	if known := x.shown.Load(); known != nil {
		return known
	}
	return &listing{partial: true}
}

// refresh lists the store, and reads only folders that have changed.
func (x *index) refresh(done chan struct{}) {
	defer func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.busy, x.last = nil, time.Now()
		close(done)
	}()
	before := x.shown.Load()
	w := walk{root: x.root, before: x.folders, folders: map[string]*folder{}}
	if before == nil { // nothing is shown yet, so a part is better than to wait
		next := time.Now().Add(partPause)
		w.step = func() {
			if now := time.Now(); now.After(next) {
				x.show(w.runs, "", true)
				next = now.Add(partPause + 4*time.Since(now))
			}
		}
	}
	w.into(".", 0)
	if x.folders = w.folders; before == nil || w.changed {
		x.show(w.runs, w.note, false)
	}
}

// show shows the runs that were found.
func (x *index) show(found []foundRun, note string, partial bool) {
	l := &listing{by: make(map[string]*run, len(found)), runs: make([]*run, 0, len(found)), note: note, partial: partial}
	for _, f := range found {
		r := x.runs[f.path]
		if r == nil || r.time == "" && !r.when.Equal(f.changed) {
			r = newRun(f.path, f.changed)
		}
		l.by[r.path] = r
		l.runs = append(l.runs, r)
	}
	slices.SortFunc(l.runs, func(a, b *run) int {
		return cmp.Or(b.when.Compare(a.when), cmp.Compare(a.path, b.path))
	})
	if before := x.shown.Load(); before != nil {
		l.version = before.version + 1
	}
	x.runs = l.by
	x.shown.Store(l)
}

// walk is a listing that is under way.
type walk struct {
	root    *os.Root
	before  map[string]*folder
	folders map[string]*folder
	runs    []foundRun
	changed bool
	note    string
	step    func() // unless nil, is called after each folder
}

type foundRun struct {
	path    string
	changed time.Time
}

// into lists a folder and those below it, and reports whether there is such a folder.
func (w *walk) into(name string, depth int) bool {
	if len(w.folders) >= maxFolders || len(w.runs) >= maxRuns {
		w.note = fmt.Sprintf("only the first %d runs in %d folders are listed", len(w.runs), len(w.folders))
		return true
	}
	f, fresh := w.list(name)
	if f == nil {
		return false
	}
	w.folders[name] = f
	if fresh {
		defer func() { w.changed = w.changed || f.differs(w.before[name]) }()
	}
	if f.isRun {
		w.runs = append(w.runs, foundRun{name, f.changed})
		return true
	}
	for _, r := range f.runs {
		w.runs = append(w.runs, foundRun{path: path.Join(name, r)})
	}
	if w.step != nil {
		w.step()
	}
	isFolder := func(below string) bool { return depth < maxDepth && w.into(path.Join(name, below), depth+1) }
	if below := slices.DeleteFunc(slices.Clone(f.below), func(below string) bool { return !isFolder(below) }); fresh {
		f.below = below
	}
	return true
}

// differs reports whether a folder has other runs or folders than before.
func (f *folder) differs(before *folder) bool {
	return before == nil || before.isRun != f.isRun || !slices.Equal(before.runs, f.runs) || !slices.Equal(before.below, f.below)
}

// list returns what is in a folder, and whether it had to be read. It returns nil if there is no such folder.
func (w *walk) list(name string) (f *folder, fresh bool) {
	now := time.Now()
	info, err := w.root.Lstat(name)
	if err != nil || !info.IsDir() {
		return nil, false
	}
	before := w.before[name]
	if before != nil && before.changed.Equal(info.ModTime()) && before.listed.Sub(before.changed) > settling {
		return before, false
	}
	dir, err := w.root.Open(name)
	if err != nil {
		return nil, false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxEntries) // an error leaves what was read by then
	f = newFolder(name == ".", names)
	f.changed, f.listed = info.ModTime(), now
	return f, true
}

// newFolder sorts the names in a folder. What kind of file each is would take long to find out. The store itself is
// not a run.
func newFolder(isStore bool, names []string) *folder {
	f := &folder{}
	for _, name := range names {
		switch {
		case store.IsRunFolder(name):
			f.runs = append(f.runs, name)
		case store.IsHistory(name) && !isStore:
			f.isRun = true
		case name[0] != '.':
			f.below = append(f.below, name)
		}
	}
	slices.Sort(f.runs)
	slices.Sort(f.below)
	return f
}
