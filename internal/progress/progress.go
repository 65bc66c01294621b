// Package progress shows on a terminal how far long work has got.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"

	"clew/internal/text"
)

// delay is how long a stage takes before it is shown.
const delay = 500 * time.Millisecond

// Bar shows a bar during long work. The bar counts histories if there are many. For
// a single one it shows the current stage. That is the megabytes that have been
// read, the operations that the search has linearized, or that evidence is written.
// It shows nothing if standard error is not a terminal.
type Bar struct {
	Passed atomic.Int64 // completions passed, of a single history
	Held   atomic.Int64 // configurations held in its search
	read   atomic.Int64 // bytes
	Files  int          // how many histories there are

	mu     sync.Mutex
	bar    meter
	stage  stage     // the stage of a single history
	began  time.Time // when the stage began
	total  int64     // its bytes, or its operations; 0 if unknown
	shown  stage     // the stage that the bar shows
	hidden bool      // something else is on the screen
	done   int
	quit   chan struct{}
	once   sync.Once
}

// stage is the current kind of work.
type stage int

const (
	nothing stage = iota // nothing that is worth showing
	reading
	checking
	writing
	several // histories are checked
)

// meter is what is drawn.
type meter interface {
	Describe(string)
	GetMax64() int64
	Set64(int64) error
	Clear() error
}

// New shows the progress of a number of histories on w.
func New(w io.Writer, files int) *Bar {
	p := &Bar{Files: files, began: time.Now(), quit: make(chan struct{})}
	if files != 1 {
		p.stage, p.total = several, int64(files)
	}
	if shown, ok := w.(*text.Writer); ok {
		w = shown.Under // a bar is drawn with control characters
	}
	if f, ok := w.(*os.File); !ok || !isatty.IsTerminal(f.Fd()) {
		return p
	}
	go p.draw(w)
	return p
}

func (p *Bar) draw(w io.Writer) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			p.show(w)
		}
	}
}

func (p *Bar) show(w io.Writer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.quit:
		return
	default:
	}
	if p.hidden || p.stage == nothing || time.Since(p.began) < delay {
		return
	}
	if p.bar != nil && p.shown != p.stage {
		p.bar.Clear()
		p.bar = nil
	}
	if p.bar == nil {
		most := p.total
		if p.stage == reading {
			most >>= megabyte
		}
		if most == 0 {
			most = -1 // unknown
		}
		p.bar, p.shown = newMeter(w, most, p.stage != writing), p.stage
	}
	switch p.stage {
	case several:
		p.bar.Describe("checking histories")
		p.set(int64(p.done))
	case reading:
		p.bar.Describe("reading, megabytes")
		p.set(p.read.Load() >> megabyte)
	case checking:
		p.bar.Describe("checking operations")
		if held := p.Held.Load(); held > 0 {
			p.bar.Describe(fmt.Sprintf("checking operations, %d configurations held", held))
		}
		p.set(p.Passed.Load())
	case writing:
		p.bar.Describe("writing evidence")
	}
}

// megabyte is by how many bits a number of bytes is longer than that of megabytes.
const megabyte = 20

// set draws how far the work has got, but never that it is done, since that removes the bar.
func (p *Bar) set(now int64) {
	if most := p.bar.GetMax64(); most > 0 {
		now = min(now, most-1)
	}
	p.bar.Set64(now)
}

// enter begins a stage of a single history. The stages of several overlap.
func (p *Bar) enter(s stage, total int64) (leave func()) {
	if p == nil || p.Files != 1 {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage, p.began, p.total, p.hidden = s, time.Now(), total, false
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
		p.stage = nothing
	}
}

// Reading says that a history of size bytes is being read, or of unknown size if that
// is 0. It returns a counter for them, and a function to call once they have been
// read.
func (p *Bar) Reading(size int64) (read *atomic.Int64, done func()) {
	if p == nil || p.Files != 1 {
		return new(atomic.Int64), func() {}
	}
	return &p.read, p.enter(reading, size)
}

// Operations says that a history of n operations is being checked.
func (p *Bar) Operations(n int) { p.enter(checking, int64(n)) }

// Writing says that evidence is being written, until done is called.
func (p *Bar) Writing() (done func()) { return p.enter(writing, 0) }

// File says that another history is done.
func (p *Bar) File() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.hidden = false
}

// Clear removes the bar from the screen, so that output can be written, until the
// next stage begins.
func (p *Bar) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.hidden = true
}

func (p *Bar) clear() {
	if p.bar != nil {
		p.bar.Clear()
	}
}

// Stop ends the bar.
func (p *Bar) Stop() {
	p.once.Do(func() {
		p.Clear()
		close(p.quit)
	})
}
