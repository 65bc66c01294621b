// Package progress shows on a terminal how far long work has come.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"

	"clew/internal/text"
)

// delay is how long a run lasts before it shows a bar.
const delay = 500 * time.Millisecond

// Bar shows a bar during long work. The bar counts histories if there are
// many, otherwise the operations that the search has linearized. It shows
// nothing if standard error is not a terminal.
type Bar struct {
	Passed atomic.Int64 // completions passed, of a single history
	Held   atomic.Int64 // configurations held in its search
	total  atomic.Int64 // its operations
	Files  int          // how many histories there are

	mu   sync.Mutex
	bar  *progressbar.ProgressBar
	done int
	quit chan struct{}
	once sync.Once
}

// New shows the progress of so many histories on w.
func New(w io.Writer, files int) *Bar {
	p := &Bar{Files: files, quit: make(chan struct{})}
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
	start := time.Now()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			if time.Since(start) > delay {
				p.show(w)
			}
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
	if p.bar == nil {
		unit := "histories"
		if p.Files == 1 {
			unit = "operations"
		}
		p.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
			progressbar.OptionSetDescription(fmt.Sprintf("checking %s", unit)), progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish())
	}
	now, total := int64(p.done), int64(p.Files)
	if p.Files == 1 {
		now, total = p.Passed.Load(), p.total.Load()
		if held := p.Held.Load(); held > 0 {
			p.bar.Describe(fmt.Sprintf("checking operations, %d configurations held", held))
		}
	}
	if total > 0 {
		p.bar.ChangeMax64(total)
		p.bar.Set64(min(now, total-1))
	}
}

// Operations says how many operations a history has.
func (p *Bar) Operations(n int) { p.total.Store(int64(n)) }

// File says that one more history is done.
func (p *Bar) File() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

// Clear takes the bar off the screen, for output to be written.
func (p *Bar) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
}

// Stop ends it.
func (p *Bar) Stop() {
	p.once.Do(func() {
		p.Clear()
		close(p.quit)
	})
}
