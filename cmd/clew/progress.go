package main

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

// progressDelay is how long a run lasts before it shows a bar.
const progressDelay = 500 * time.Millisecond

// progress shows a bar during long work. The bar counts histories if there are
// many, otherwise the operations that the search has linearized. It shows
// nothing if standard error is not a terminal.
type progress struct {
	passed atomic.Int64 // completions passed, of a single history
	held   atomic.Int64 // configurations held in its search
	total  atomic.Int64 // its operations
	files  int

	mu   sync.Mutex
	bar  *progressbar.ProgressBar
	done int
	quit chan struct{}
	once sync.Once
}

func newProgress(w io.Writer, files int) *progress {
	p := &progress{files: files, quit: make(chan struct{})}
	if shown, ok := w.(*text.Writer); ok {
		w = shown.Under // a bar is drawn with control characters
	}
	if f, ok := w.(*os.File); !ok || !isatty.IsTerminal(f.Fd()) {
		return p
	}
	go p.draw(w)
	return p
}

func (p *progress) draw(w io.Writer) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	start := time.Now()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			if time.Since(start) > progressDelay {
				p.show(w)
			}
		}
	}
}

func (p *progress) show(w io.Writer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.quit:
		return
	default:
	}
	if p.bar == nil {
		unit := "histories"
		if p.files == 1 {
			unit = "operations"
		}
		p.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
			progressbar.OptionSetDescription(fmt.Sprintf("checking %s", unit)), progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish())
	}
	now, total := int64(p.done), int64(p.files)
	if p.files == 1 {
		now, total = p.passed.Load(), p.total.Load()
		if held := p.held.Load(); held > 0 {
			p.bar.Describe(fmt.Sprintf("checking operations, %d configurations held", held))
		}
	}
	if total > 0 {
		p.bar.ChangeMax64(total)
		p.bar.Set64(min(now, total-1))
	}
}

// operations says how many operations a history has.
func (p *progress) operations(n int) { p.total.Store(int64(n)) }

// file says that one more history is done.
func (p *progress) file() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

// clear takes the bar off the screen, for output to be written.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
}

func (p *progress) stop() {
	p.once.Do(func() {
		p.clear()
		close(p.quit)
	})
}
