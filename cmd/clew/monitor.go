package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/batch"
	"clew/internal/checking"
	"clew/internal/diagnosis"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/memory"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/report"
)

const monitorHelp = `Reads a history once, from its beginning to its end, and prints every anomaly: each
completion with which the history so far, less the anomalies before it, is not
linearizable. The first one is the failing operation of clew check. It does not hold
the history: for most models whose values are used once it holds about what is
open, however long the history is (docs/monitor.md).

An answer is judged once it is known how all operations that were called before it
end. With --stuck 10s, an operation that is open for longer counts as crashed.

Examples:
   clew monitor --model register history.edn
   clew monitor --model kv --output json - < events.jsonl
   tail -n +1 -F jepsen.log | clew monitor --model cas-register --every 10s -
   clew monitor --model register --state monitor.state history.edn
   clew monitor --model register --witness order.edn history.edn
   clew gen --model register --operations 100000000 | clew monitor --model register -
   clew monitor --model register --html-dir pages/ store/    # every run of a store

The first line says as what the history is read. Without --model, the model is inferred
from the beginning, or taken from the results beside the history. Without --init or
--independent, an anomaly that there would not be with another initial value or with
keys says "unless it began with ..", or "unless each key stands by itself".

Exit status: 0 no anomaly, 1 some, 2 only such as say "unless", or a signal or a limit
before any was found, 254 bad arguments, unreadable input, or a history that is too
hard to decide, 255 a bug in clew.`

func monitorCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "monitor",
		Usage:       "find every anomaly of a history in one pass",
		ArgsUsage:   "PATH...",
		Description: monitorHelp,
		Flags: slices.Concat(modelFlags(), []cli.Flag{
			&cli.StringFlag{Name: "output", Value: "text", Usage: "`text|json|github`: a line for each anomaly, and one with totals"},
			&cli.DurationFlag{Name: "every", DefaultText: "at the end", Usage: "print totals every `DURATION`, such as 10s"},
			&cli.StringFlag{Name: "stuck", DefaultText: "never", Usage: "an operation that is open for `DURATION` by the :time of events, such as 10s, or for a number of events counts as crashed"},
			&cli.StringFlag{Name: "state", DefaultText: "none", Usage: "keep what is known in `FILE`, and go on from it if it is there"},
			&cli.StringFlag{Name: "witness", Usage: "write a linearization of all but the anomalies to `FILE`, while they are forgotten (docs/monitor.md says of which models)"},
			&cli.BoolFlag{Name: "fail-fast", Usage: "stop at the first anomaly"},
			&cli.StringFlag{Name: "html", Usage: "write a page for a browser to `FILE` at the end, and with --every so often: anomalies over time, totals, drawings"},
			&cli.StringFlag{Name: "html-dir", Usage: "read every run below the paths, one after the other; write such a page of each that has anomalies to a file below `DIR`, and an index.html of all"},
			&cli.StringFlag{Name: "models", Usage: "with --html-dir: read each test's model from `FILE`, an EDN map as for clew check"},
			&cli.StringFlag{Name: "listen", DefaultText: "off", Usage: "serve that page at `HOST:PORT`, and the totals to Prometheus under /metrics; port 0 picks a free one"},
		}, limitFlags()),
		Action: func(c *cli.Context) error { return monitorHistory(c, stdout, stderr, status) },
	}
}

func monitorHistory(c *cli.Context, stdout, stderr io.Writer, status *int) error {
	w := &watch{runner: runner{stdout: stdout, stderr: stderr}, failFast: c.Bool("fail-fast")}
	return w.command(c, status, func(ctx context.Context) error { return w.given(ctx, c) }, func(ctx context.Context) (int, error) {
		if w.pages != nil {
			return w.runs(ctx, c.Args().Slice())
		}
		return w.run(ctx, c)
	})
}

// withAll are the flags of clew check that go with --all. The others are about one failure, or about several histories.
var withAll = slices.Concat(store.SettingNames, []string{"all", "output", "fail-fast", "time-limit", "memory-limit"})

// watch is a pass over one history.
type watch struct {
	runner
	failFast    bool
	name        string // of the history
	lines       checking.Lines
	every       time.Duration
	stuck       time.Duration // by :time
	stuckEvents int
	said        sync.Mutex // for what is printed, unprinted and next
	unprinted   error      // why something could not be
	next        time.Time  // for totals
	hint        string     // the last that was told
	asked       chan os.Signal
	m           *clew.Monitor
	html        *files.Output  // of --html, or nil
	witness     *files.Output  // of --witness, or nil
	pages       *batch.Folders // of --html-dir, or nil
	draws       bool           // pages are made
	wrong       bool           // an anomaly of this history was found
	doubtful    bool           // one that there would not be with another reading
	served
}

func (w *watch) given(ctx context.Context, c *cli.Context) error {
	var err error
	if w.reading, err = store.NewReading(given(c)); err != nil {
		return err
	}
	if w.options, w.Memory, err = searchOptions(c); err != nil {
		return err
	}
	w.options.Independent, w.options.Keyless = w.reading.Independent, w.reading.Keyless
	w.lines.Form, w.every = c.String("output"), c.Duration("every")
	for _, name := range c.LocalFlagNames() {
		if c.Bool("all") && !slices.Contains(withAll, name) {
			return fmt.Errorf("--all cannot be combined with %s; clew monitor finds the same anomalies, and clew monitor --help says what else it can do", dashed(name))
		}
	}
	if c.String("html-dir") != "" {
		if err := w.givenStore(ctx, c); err != nil {
			return err
		}
	}
	switch {
	case c.IsSet("models") && w.pages == nil:
		return errors.New("--models requires --html-dir")
	case c.NArg() != 1 && w.pages == nil:
		return fmt.Errorf("expected one history, found %d; clew monitor --html-dir reads several", c.NArg())
	case w.lines.Check() != nil:
		return w.lines.Check()
	case c.IsSet("every") && w.every <= 0:
		return fmt.Errorf("--every must be a positive duration, not %s", w.every)
	}
	if c.IsSet("stuck") {
		if w.stuck, w.stuckEvents, err = checking.Stuck(c.String("stuck")); err != nil {
			return err
		}
	}
	return w.givenOutputs(c)
}

// givenOutputs reads the flags of what is written besides the anomalies.
func (w *watch) givenOutputs(c *cli.Context) error {
	inputs := files.Set{}
	for _, input := range []string{c.Args().First(), w.reading.ModelFile, c.String("state")} {
		inputs.Add(input)
	}
	for name, to := range map[string]**files.Output{"html": &w.html, "witness": &w.witness} {
		if c.String(name) == "" {
			continue
		}
		*to = files.To(c.String(name), w.stdout, w.stderr)
		if (*to).Descriptor("1") {
			return fmt.Errorf("%s cannot be standard output, which has a line for each anomaly; expected a FILE", dashed(name))
		}
		if err := batch.Apart(dashed(name), *to, inputs); err != nil {
			return err
		}
	}
	switch {
	case w.html == nil:
	case w.witness != nil && w.html.Same(w.witness):
		return errors.New("--html and --witness are the same file; expected two")
	default:
		return batch.Foreign("--html", w.html, outputs.HTML.Head)
	}
	return nil
}

// errFound ends a pass at the first anomaly.
var errFound = errors.New("an anomaly was found")

// run reads the history to its end and returns the exit status.
func (w *watch) run(ctx context.Context, c *cli.Context) (int, error) {
	if w.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.TimeLimit)
		defer cancel()
	}
	ctx, release := w.Room(ctx)
	defer release()
	source := store.File(c.Args().First()).WithInput(w.stdin)
	whole := source
	if c.String("state") == "" { // which goes on in the file
		whole = w.whole(ctx, source)
	}
	in, err := whole.OpenWithin(ctx)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	name := outputs.Called(whole.Path)
	w.draws = w.html != nil || c.String("listen") != ""
	how, damage := source.Completed(ctx, w.reading, w.Memory)
	w.reading = how
	w.warn(name, damage...)
	if err := w.monitor(ctx, name, w.reading); err != nil {
		return 0, err
	}
	if w.html != nil {
		if err := w.html.Probe(); err != nil {
			return 0, fmt.Errorf("--html: %w", err)
		}
	}
	w.m.State = c.String("state")
	if address := c.String("listen"); address != "" {
		at, close, err := w.listen(address)
		if err != nil {
			return 0, fmt.Errorf("--listen %s: %w", address, err)
		}
		defer close()
		fmt.Fprintf(w.stderr, "clew: a page at http://%s/, metrics at http://%[1]s/metrics\n", at)
	}
	if w.witness == nil {
		err = w.pass(ctx, in, w.reading)
	} else {
		err = w.passWith(ctx, in)
	}
	if written := w.write(err == nil); written != nil && w.wrong {
		complain(w.stderr, written)
	} else if written != nil {
		return 0, written
	}
	switch {
	case errors.Is(err, errFound):
	case err != nil && ctx.Err() != nil:
		complain(w.stderr, unended(ctx, name))
		if !w.wrong {
			return exitUnknown, nil
		}
	case err != nil && w.wrong: // an anomaly counts for more
		complain(w.stderr, err)
	case err != nil:
		return 0, err
	}
	switch {
	case w.wrong:
		return exitInvalid, nil
	case w.doubtful:
		return exitUnknown, nil
	}
	return exitValid, nil
}

// whole returns what clew check reads instead of a history that is not whole.
func (w *watch) whole(ctx context.Context, s store.Source) store.Source {
	if s.Path == "-" || s.InOrder {
		return s
	}
	whole, why, err := s.Whole(ctx, jepsen.Options{Memory: w.Memory})
	switch {
	case err != nil && ctx.Err() == nil:
		w.warn(s.Path, fmt.Sprintf("it is not known whether it is whole: %v", err))
	case why != "":
		w.warn(s.Path, why)
	}
	return whole
}

// unended is the error of a history that a signal or a limit ended.
func unended(ctx context.Context, name string) error {
	return fmt.Errorf("%s: not read to its end: %s", name, limits.Stopped(ctx))
}

// monitor makes the monitor of a history.
func (w *watch) monitor(ctx context.Context, name string, how store.Reading) (err error) {
	memory.Steady()
	o := w.optionsOf(how)
	o.TimeLimit, o.Verify = 0, clew.VerifyCheap
	if w.m, err = clew.NewMonitor(ctx, how.Spec, o); err != nil {
		return err
	}
	w.lines.Name, w.lines.Several, w.lines.Keys = name, w.pages != nil, how.Independent
	w.name, w.next, w.wrong, w.doubtful = name, time.Now().Add(w.every), false, false
	w.m.Stuck, w.m.StuckEvents, w.m.Draws = w.stuck, w.stuckEvents, w.draws
	w.m.Told = how.Told
	w.m.Stated = w.stated
	w.m.Found = func(a clew.Anomaly) error {
		certain := len(a.Unless) == 0
		w.wrong, w.doubtful = w.wrong || certain, true
		if err := w.tell(a); err != nil {
			return err
		}
		if w.failFast && certain {
			return errFound
		}
		return nil
	}
	w.m.Looked = w.looked
	w.m.Unsaved = func(err error) { w.warn(w.name, err.Error()) }
	w.asked = onAsking()
	w.note()
	return nil
}

// passWith does what pass does, and writes the witness. With a state, it goes on with the one that is there. Otherwise the file
// is replaced once the witness is whole.
func (w *watch) passWith(ctx context.Context, in io.Reader) error {
	if w.m.State == "" {
		var passed error
		err := w.witness.Write(func(to io.Writer) error {
			w.m.Witness = to
			passed = w.pass(ctx, in, w.reading)
			return passed
		})
		if passed != nil && w.m.Totals().Operations > 0 {
			w.warn(w.name, "no witness was written, since the pass did not come to its end")
		}
		if passed == nil && err != nil {
			return fmt.Errorf("--witness: %w", err)
		}
		return passed
	}
	if w.witness.Through() {
		return errors.New("--witness: expected a regular file, which --state can go on with")
	}
	f, err := os.OpenFile(w.witness.File(), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("--witness: %w", err)
	}
	w.m.Witness = f
	return errors.Join(w.pass(ctx, in, w.reading), f.Close())
}

// pass reads a history to its end, and tells the warnings and the totals.
func (w *watch) pass(ctx context.Context, in io.Reader, how store.Reading) error {
	ended, told := make(chan struct{}), make(chan struct{})
	go func() { defer close(told); w.whileDeciding(ended) }()
	err := w.m.Read(in, w.name, how.Pairing())
	close(ended)
	<-told
	w.warn(w.name, append(checking.PassWarnings(w.m, w.stuckEvents), how.Warnings()...)...)
	t := w.m.Totals()
	if err == nil || t.Operations > 0 && !errors.Is(err, forms.ErrOther) {
		if unprinted := w.totals(t, err == nil); err == nil {
			err = unprinted
		}
	}
	if err == nil || ctx.Err() != nil { // perhaps before it went on from a state
		w.wrong, w.doubtful = w.wrong || t.Certain() > 0, w.doubtful || t.Anomalies > 0
	} else if w.doubtful {
		w.wrong = w.wrong || t.Certain() > 0 // what came later told that there are no keys
	}
	return err
}

// deciding is after how long without a look something is being decided.
const deciding = time.Second

// seen is what a look has found.
type seen struct {
	clew.MonitorTotals
	at time.Time
}

// now returns the totals with what is late if no look has come since.
func (s *seen) now() clew.MonitorTotals {
	t := s.MonitorTotals
	if late := time.Since(s.at); late > deciding {
		t.Delay += late
	}
	return t
}

// note takes note of the totals.
func (w *watch) note() { w.seen.Store(&seen{w.m.Totals(), time.Now()}) }

// whileDeciding tells the totals of the last look when they are due and no other look has come.
func (w *watch) whileDeciding(ended <-chan struct{}) {
	tick := time.NewTicker(deciding / 5)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		if s := w.seen.Load(); time.Since(s.at) > deciding {
			w.due(s.now())
		}
	}
}

// due tells the totals if that is asked for, or time has come. Then it returns true.
func (w *watch) due(t clew.MonitorTotals) (timely bool) {
	w.said.Lock()
	timely = w.every > 0 && time.Now().After(w.next)
	if timely {
		w.next = time.Now().Add(w.every)
	}
	w.said.Unlock()
	asked := false
	select {
	case <-w.asked:
		asked = true
	default:
	}
	if timely || asked {
		w.totals(t, false) // looked returns the error
	}
	return timely
}

// print prints to standard output. If nothing reads that anymore, as with head, the pass goes on.
func (w *watch) print(text string) error {
	_, err := io.WriteString(w.stdout, text)
	switch {
	case files.IsClosed(err):
		w.stdout = io.Discard
	case err != nil:
		w.unprinted = err
	}
	return w.unprinted
}

// printed returns why something could not be printed.
func (w *watch) printed() error {
	w.said.Lock()
	defer w.said.Unlock()
	return w.unprinted
}

// looked is called after each look.
func (w *watch) looked() error {
	w.note()
	if w.listens && (w.page.Load() == nil || w.wanted.Swap(false)) {
		var b bytes.Buffer
		if err := w.m.WritePage(&b, clew.MonitorPage{Title: w.name, Poll: "/state"}); err != nil {
			return err
		}
		page := b.Bytes()
		w.page.Store(&page)
	}
	if w.due(w.seen.Load().MonitorTotals) {
		if err := w.write(false); err != nil { // the pass is worth more than a page
			complain(w.stderr, err)
		}
	}
	return w.printed()
}

// write writes the page that was asked for.
func (w *watch) write(ended bool) error {
	if w.html == nil {
		return nil
	}
	if err := w.html.Write(func(to io.Writer) error { return w.m.WritePage(to, clew.MonitorPage{Title: w.name, Ended: ended}) }); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}

// served is what a watch shows to browsers and to Prometheus, which ask in other goroutines.
type served struct {
	listens bool
	local   bool // only this machine may ask: other names in requests are refused
	seen    atomic.Pointer[seen]
	page    atomic.Pointer[[]byte]
	wanted  atomic.Bool // a browser waits for a page
}

// totalsNow returns the totals of the last look.
func (s *served) totalsNow() clew.MonitorTotals {
	if t := s.seen.Load(); t != nil {
		return t.now()
	}
	return clew.MonitorTotals{}
}

// metrics returns the totals in the text form of Prometheus.
func (s *served) metrics() string {
	t := s.totalsNow()
	var b strings.Builder
	count := func(name string, n int) { fmt.Fprintf(&b, "# TYPE clew_%s counter\nclew_%[1]s %d\n", name, n) }
	gauge := func(name string, value any) { fmt.Fprintf(&b, "# TYPE clew_%s gauge\nclew_%[1]s %v\n", name, value) }
	count("operations_total", t.Operations)
	count("anomalies_total", t.Anomalies)
	gauge("doubtful_anomalies", t.Doubtful)
	byName(&b, "anomalies_by_kind_total", "kind", checking.Renamed(t.Kinds, diagnosis.Unnamed))
	byName(&b, "broken_sessions_total", "guarantee", t.Sessions)
	byName(&b, "anomalies_by_node_total", "node", checking.Renamed(t.Nodes, "others"))
	byName(&b, "anomalies_by_nemesis_total", "window", checking.Renamed(t.Nemesis, checking.NoWindow))
	count("stuck_operations_total", t.Stuck)
	gauge("held_operations", t.Held)
	gauge("open_operations", t.Open)
	gauge("behind_versions_max", t.Behind)
	gauge("behind_seconds_max", t.BehindFor.Seconds())
	gauge("delay_seconds", t.Delay.Seconds())
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	gauge("memory_bytes", memory.Sys-memory.HeapReleased)
	return b.String()
}

// byName writes a counter with a label.
func byName[K ~string](b *strings.Builder, name, label string, counts map[K]int) {
	fmt.Fprintf(b, "# TYPE clew_%s counter\n", name)
	for _, of := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(b, "clew_%s{%s=\"%s\"} %d\n", name, label, labels.Replace(string(of)), counts[of])
	}
}

// labels escapes values of labels.
var labels = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)

func (w *watch) tell(a clew.Anomaly) error {
	w.said.Lock()
	defer w.said.Unlock()
	if a.Result != nil && a.Result.Hint != "" && a.Result.Hint != w.hint {
		w.hint = a.Result.Hint
		w.warn(w.name, w.hint)
	}
	return w.print(w.lines.Anomaly(a))
}

// stated prints the reading. If it cannot be printed, looked says so: an anomaly is worth more.
func (w *watch) stated(x report.Reading) error {
	w.said.Lock()
	defer w.said.Unlock()
	if said := w.lines.Reading(x); said != "" {
		w.print(said)
	}
	return nil
}

func (w *watch) totals(t clew.MonitorTotals, end bool) error {
	w.said.Lock()
	defer w.said.Unlock()
	return w.print(w.lines.Totals(t, end))
}
