package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"clew"
	"clew/internal/batch"
	"clew/internal/checking"
	"clew/internal/limits"
	"clew/internal/store"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/report"
)

// monitorNames are the options of a monitor that only it has.
var monitorNames = []string{"output", "stuck", "fail-fast", "html"}

// monitor judges a history that comes in pieces, as clew monitor does.
type monitor struct {
	feeding sync.Mutex // one piece at a time
	to      *io.PipeWriter
	end     context.CancelFunc
	ended   chan struct{}

	bounds   batch.Bounds
	m        *clew.Monitor
	lines    checking.Lines
	stuck    int
	failFast bool
	html     bool

	mu   sync.Mutex
	told strings.Builder // lines that no call has returned

	failed error // why the pass ended before the history, once it has
}

// pieceRequest brings a piece of a history.
type pieceRequest struct {
	handleRequest
	Text  json.RawMessage `json:"text"` // taken out
	Bytes *int64          `json:"bytes"`
}

// pieceResult has what a monitor has printed since the last call.
type pieceResult struct {
	Lines string `json:"lines"`
}

// passResult is what a pass over a whole history comes to.
type passResult struct {
	Status   int      `json:"status"` // the exit status of clew monitor
	Lines    string   `json:"lines"`  // since the last call; the last one has the totals
	Warnings []string `json:"warnings"`
	HTML     string   `json:"html,omitempty"`
}

// errFound ends a pass at the first anomaly.
var errFound = errors.New("an anomaly was found")

func openMonitor(c *call) (any, error) {
	var r openRequest
	if err := c.into(&r); err != nil {
		return nil, err
	}
	if err := r.Options.known(slices.Concat(store.SettingNames, limitNames, monitorNames)); err != nil {
		return nil, err
	}
	reading, err := r.Options.reading(r.Files)
	if err != nil {
		return nil, err
	}
	given, err := r.Options.texts(slices.Concat(limitNames, []string{"output", "stuck"}))
	if err != nil {
		return nil, err
	}
	x := &monitor{ended: make(chan struct{})}
	x.lines = checking.Lines{Form: "json", Name: r.File, Keys: reading.Independent}
	if form, is := given["output"]; is {
		x.lines.Form = form
	}
	if x.lines.Name == "" {
		x.lines.Name = "standard input"
	}
	if x.failFast, err = r.Options.is("fail-fast"); err != nil {
		return nil, err
	}
	if x.html, err = r.Options.is("html"); err != nil {
		return nil, err
	}
	if err := x.begin(reading, given); err != nil {
		return nil, failed(kindOptions, err)
	}
	return open(x)
}

// begin begins the pass.
func (x *monitor) begin(how store.Reading, given store.Settings) (err error) {
	if err := x.lines.Check(); err != nil {
		return err
	}
	o, memory, err := checking.Search(given, 0)
	if err != nil {
		return err
	}
	x.bounds.TimeLimit, x.bounds.Memory, o.TimeLimit = o.TimeLimit, memory, 0
	ctx, end := context.WithCancel(context.Background())
	staged, release := x.bounds.Stage(ctx, x.bounds.TimeLimit)
	x.end = func() { release(); end() }
	if x.m, err = clew.NewMonitor(staged, how.Spec, checking.OptionsOf(o, how)); err == nil && given["stuck"] != "" {
		x.m.Stuck, x.stuck, err = checking.Stuck(given["stuck"])
		x.m.StuckEvents = x.stuck
	}
	if err != nil {
		x.end()
		return err
	}
	x.bounds.Watch(ctx)
	x.m.Draws = x.html
	x.m.Found = x.tell
	x.m.Stated = func(r report.Reading) error { x.print(x.lines.Reading(r)); return nil }
	in, to := io.Pipe()
	x.to = to
	go x.pass(staged, in, how.Pairing())
	return nil
}

// pass reads the history to its end.
func (x *monitor) pass(ctx context.Context, in *io.PipeReader, how jepsen.Options) {
	defer close(x.ended)
	defer in.Close() // pieces that come are dropped
	var err error
	if bug := watchdog.Guarded(func() { err = x.m.Read(in, x.lines.Name, how) }); bug != "" {
		err = &failure{Kind: kindBug, Message: bug}
	} else if err != nil && !errors.Is(err, errFound) && ctx.Err() != nil {
		err = &failure{Kind: kindStopped, Message: x.lines.Name + ": not read to its end: " + string(limits.Stopped(ctx))}
	}
	x.failed = err
}

// tell prints an anomaly.
func (x *monitor) tell(a clew.Anomaly) error {
	x.print(x.lines.Anomaly(a))
	if x.failFast && len(a.Unless) == 0 {
		return errFound
	}
	return nil
}

func (x *monitor) print(line string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.told.WriteString(line)
}

// since returns the lines since the last call.
func (x *monitor) since() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.told.Reset()
	return x.told.String()
}

func (x *monitor) close() {
	x.end()
	x.to.Close()
	<-x.ended
}

func monitorFeed(c *call) (any, error) {
	var r pieceRequest
	if err := c.into(&r); err != nil {
		return nil, err
	}
	text, err := c.body("text", r.Bytes)
	if err != nil {
		return nil, err
	}
	x, err := of[*monitor](r.Handle)
	if err != nil {
		return nil, err
	}
	x.feeding.Lock()
	defer x.feeding.Unlock()
	x.to.Write(text) // fails if the pass has ended; monitor.close says why
	return pieceResult{x.since()}, nil
}

// monitorClose says that nothing more comes, and what all has come to.
func monitorClose(c *call) (any, error) {
	var r handleRequest
	if err := c.into(&r); err != nil {
		return nil, err
	}
	x, err := taken[*monitor](r.Handle)
	if err != nil {
		return nil, err
	}
	x.feeding.Lock()
	defer x.feeding.Unlock()
	x.to.Close()
	<-x.ended
	defer x.end()
	result, err := x.result()
	if err != nil {
		f := failureOf(err)
		f.Result = result
		return nil, f
	}
	return result, nil
}

// result returns what the pass has come to, and why it did not come to the end of the history.
func (x *monitor) result() (*passResult, error) {
	r, t, err := &passResult{Warnings: checking.PassWarnings(x.m, x.stuck)}, x.m.Totals(), x.failed
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	if err == nil || t.Operations > 0 {
		x.print(x.lines.Totals(t, err == nil))
	}
	r.Lines = x.since()
	if errors.Is(err, errFound) {
		err = nil
	}
	var stopped *failure
	switch {
	case t.Certain() > 0:
		r.Status = 1
	case errors.As(err, &stopped) && stopped.Kind == kindStopped:
		r.Status = 2
	case err != nil:
		r.Status = 254
	case t.Anomalies > 0:
		r.Status = 2
	}
	if x.html {
		var b strings.Builder
		if err := x.m.WritePage(&b, clew.MonitorPage{Title: x.lines.Name, Ended: x.failed == nil}); err != nil {
			return r, err
		}
		r.HTML = b.String()
	}
	return r, err
}
