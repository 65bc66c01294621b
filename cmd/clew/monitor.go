package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/limits"
	"clew/internal/memory"
	"clew/internal/outputs"
	"clew/internal/serve"
	"clew/internal/store"
	"clew/internal/text"
	"clew/models"
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
   clew gen --model register --operations 100000000 | clew monitor --model register -

--model is required, and --init is advised: otherwise the first reads may show it.

Exit status: 0 no anomaly, 1 some, 2 a signal or a limit before any was found, 254 bad
arguments, unreadable input, or a history that is too hard to decide, 255 a bug in
clew.`

func monitorCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "monitor",
		Usage:       "find every anomaly of a history in one pass",
		ArgsUsage:   "PATH",
		Description: monitorHelp,
		Flags: slices.Concat(modelFlags(), []cli.Flag{
			&cli.StringFlag{Name: "output", Value: "text", Usage: "`text|json|github`: a line for each anomaly, and one with totals"},
			&cli.DurationFlag{Name: "every", DefaultText: "at the end", Usage: "print totals every `DURATION`, such as 10s"},
			&cli.StringFlag{Name: "stuck", DefaultText: "never", Usage: "an operation that is open for `DURATION` by the :time of events, such as 10s, or for a number of events counts as crashed"},
			&cli.StringFlag{Name: "state", DefaultText: "none", Usage: "keep what is known in `FILE`, and go on from it if it is there"},
			&cli.BoolFlag{Name: "fail-fast", Usage: "stop at the first anomaly"},
			&cli.StringFlag{Name: "listen", DefaultText: "off", Usage: "serve the totals to Prometheus at `HOST:PORT`, under /metrics; port 0 picks a free one"},
		}, limitFlags()),
		Action: func(c *cli.Context) error { return monitorHistory(c, stdout, stderr, status) },
	}
}

func monitorHistory(c *cli.Context, stdout, stderr io.Writer, status *int) error {
	w := &watch{runner: runner{stdout: stdout, stderr: stderr}, failFast: c.Bool("fail-fast")}
	return w.command(c, status, func(ctx context.Context) error { return w.given(c) }, func(ctx context.Context) (int, error) { return w.run(ctx, c) })
}

// withAll are the flags of clew check that go with --all. The others are about one failure, or about several histories.
var withAll = slices.Concat(store.SettingNames, []string{"all", "output", "fail-fast", "time-limit", "memory-limit"})

// watch is a pass over one history.
type watch struct {
	runner
	failFast    bool
	form        string
	every       time.Duration
	stuck       time.Duration // by :time
	stuckEvents int
	next        time.Time // for totals
	asked       chan os.Signal
	seen        atomic.Pointer[clew.MonitorTotals] // for other goroutines
	m           *clew.Monitor
}

func (w *watch) given(c *cli.Context) error {
	var err error
	if w.reading, err = store.NewReading(given(c)); err != nil {
		return err
	}
	if w.options, w.Memory, err = searchOptions(c); err != nil {
		return err
	}
	w.options.Independent, w.options.Keyless = w.reading.Independent, w.reading.Keyless
	w.form, w.every = c.String("output"), c.Duration("every")
	stuck := c.String("stuck")
	var badStuck error
	if w.stuckEvents, badStuck = strconv.Atoi(stuck); badStuck != nil {
		w.stuck, badStuck = time.ParseDuration(stuck)
	}
	for _, name := range c.LocalFlagNames() {
		if c.Bool("all") && !slices.Contains(withAll, name) {
			return fmt.Errorf("--all cannot be combined with %s; clew monitor --help says what it prints", dashed(name))
		}
	}
	switch {
	case c.NArg() != 1:
		return fmt.Errorf("expected one history, found %d; clew monitor --help shows how", c.NArg())
	case w.reading.Spec.Name == "":
		return errors.New("a monitor needs --model: later events might change what is inferred")
	case !slices.Contains([]string{"text", "json", "github"}, w.form):
		return fmt.Errorf("--output must be text, json or github, not %q", w.form)
	case c.IsSet("every") && w.every <= 0:
		return fmt.Errorf("--every must be a positive duration, not %s", w.every)
	case c.IsSet("stuck") && (badStuck != nil || w.stuckEvents <= 0 && w.stuck <= 0):
		return fmt.Errorf("--stuck must be a positive duration such as 10s or a number of events, not %q", stuck)
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
	memory.Steady()
	w.options.TimeLimit, w.options.Verify = 0, clew.VerifyCheap
	in, name, err := w.open(c.Args().First())
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if w.m, err = clew.NewMonitor(ctx, w.reading.Spec, w.options); err != nil {
		return 0, err
	}
	w.m.Stuck, w.m.StuckEvents, w.next = w.stuck, w.stuckEvents, time.Now().Add(w.every)
	w.m.State = c.String("state")
	w.m.Found = func(a clew.Anomaly) error {
		w.tell(name, a)
		if w.failFast {
			return errFound
		}
		return nil
	}
	w.m.Looked = func() error {
		t := w.m.Totals()
		w.seen.Store(&t)
		select {
		case <-w.asked:
			w.totals(false)
		default:
		}
		if w.every > 0 && time.Now().After(w.next) {
			w.totals(false)
			w.next = time.Now().Add(w.every)
		}
		return nil
	}
	w.asked = onAsking()
	if address := c.String("listen"); address != "" {
		l, err := serve.Listen(address)
		if err != nil {
			return 0, fmt.Errorf("--listen %s: %w", address, err)
		}
		defer l.Close()
		fmt.Fprintf(w.stderr, "clew: metrics at http://%s/metrics\n", l.Addr())
		srv := &http.Server{Handler: http.HandlerFunc(w.metrics), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
		go srv.Serve(l)
	}
	err = w.m.Read(in, name, w.reading.Pairing())
	w.warn(name, w.m.Warnings()...)
	if t := w.m.Totals(); t.Init != "" {
		w.warn(name, fmt.Sprintf("the first reads show the initial value %s, not the model's; if they are wrong, give --init", text.Shorten(t.Init, 80)))
	}
	w.totals(err == nil)
	found := w.m.Totals().Anomalies > 0
	switch {
	case errors.Is(err, errFound):
	case err != nil && ctx.Err() != nil:
		complain(w.stderr, fmt.Errorf("%s: not read to its end: %s", name, limits.Stopped(ctx)))
		if !found {
			return exitUnknown, nil
		}
	case err != nil && found:
		complain(w.stderr, err)
	case err != nil:
		return 0, err
	}
	if found {
		return exitInvalid, nil
	}
	return exitValid, nil
}

// metrics answers with the totals in the text form of Prometheus.
func (w *watch) metrics(to http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/metrics" {
		http.NotFound(to, r)
		return
	}
	t := w.seen.Load()
	if t == nil {
		t = &clew.MonitorTotals{}
	}
	to.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintf(to, "# TYPE clew_operations_total counter\nclew_operations_total %d\n", t.Operations)
	fmt.Fprintf(to, "# TYPE clew_anomalies_total counter\nclew_anomalies_total %d\n", t.Anomalies)
	fmt.Fprint(to, "# TYPE clew_anomalies_by_kind_total counter\n")
	for _, kind := range slices.Sorted(maps.Keys(t.Kinds)) {
		fmt.Fprintf(to, "clew_anomalies_by_kind_total{kind=%q} %d\n", cmp.Or(kind, unnamed), t.Kinds[kind])
	}
	fmt.Fprint(to, "# TYPE clew_broken_sessions_total counter\n")
	for _, session := range slices.Sorted(maps.Keys(t.Sessions)) {
		fmt.Fprintf(to, "clew_broken_sessions_total{guarantee=%q} %d\n", session, t.Sessions[session])
	}
	fmt.Fprintf(to, "# TYPE clew_stuck_operations_total counter\nclew_stuck_operations_total %d\n", t.Stuck)
	fmt.Fprintf(to, "# TYPE clew_held_operations gauge\nclew_held_operations %d\n", t.Held)
}

// anomalyLine is an anomaly as a line of JSON.
type anomalyLine struct {
	Anomaly     models.Anomaly `json:"anomaly"`
	Index       int64          `json:"index"`
	Line        int            `json:"line,omitempty"`
	Process     int            `json:"process"`
	F           string         `json:"f"`
	Key         string         `json:"key,omitempty"`
	Behind      *int           `json:"behind,omitempty"`
	Session     clew.Session   `json:"session,omitempty"`
	Explanation string         `json:"explanation"`
}

// totalsLine is what has been found, as a line of JSON.
type totalsLine struct {
	Totals struct {
		Operations int                    `json:"operations"`
		Anomalies  int                    `json:"anomalies"`
		Kinds      map[models.Anomaly]int `json:"kinds"`
		Sessions   map[clew.Session]int   `json:"sessions,omitempty"`
		Stuck      int                    `json:"stuck,omitempty"`
		Held       int                    `json:"held"`
		MostHeld   int                    `json:"most-held"`
		Init       string                 `json:"init,omitempty"`
	} `json:"totals"`
	End bool `json:"end"`
}

// unnamed is what an anomaly is called whose kind the operations do not show for certain.
const unnamed models.Anomaly = "not-linearizable"

func (w *watch) tell(name string, a clew.Anomaly) {
	kind := a.Kind
	if kind == "" {
		kind = unnamed
	}
	if w.form == "json" {
		l := anomalyLine{Anomaly: kind, Index: a.Operation.Index, Line: a.Operation.Line, Process: a.Operation.Process, F: a.Operation.F, Key: a.Key,
			Session: a.Session, Explanation: a.Explanation}
		if a.Behind >= 0 {
			l.Behind = &a.Behind
		}
		fmt.Fprint(w.stdout, outputs.JSONLine(l))
		return
	}
	place := name
	if a.Operation.Line > 0 {
		place = fmt.Sprintf("%s:%d", name, a.Operation.Line)
	}
	key := ""
	if a.Key != "" && w.reading.Independent {
		key = text.Key(a.Key) + ": "
	}
	session := ""
	if a.Session != "" {
		session = " (breaks " + string(a.Session) + ")"
	}
	if w.form == "github" {
		fmt.Fprint(w.stdout, outputs.Annotation("error", name, a.Operation.Line, 1, string(kind), key+a.Explanation+session))
		return
	}
	fmt.Fprintf(w.stdout, "%s: %s: %s%s%s\n", place, kind, key, a.Explanation, session)
}

func (w *watch) totals(end bool) {
	t := w.m.Totals()
	if w.form == "json" {
		var l totalsLine
		l.Totals.Operations, l.Totals.Anomalies, l.Totals.Stuck, l.Totals.Held, l.Totals.MostHeld, l.Totals.Init, l.End = t.Operations, t.Anomalies, t.Stuck, t.Held, t.MostHeld, t.Init, end
		l.Totals.Sessions = t.Sessions
		l.Totals.Kinds = map[models.Anomaly]int{}
		for kind, n := range t.Kinds {
			if kind == "" {
				kind = unnamed
			}
			l.Totals.Kinds[kind] = n
		}
		fmt.Fprint(w.stdout, outputs.JSONLine(l))
		return
	}
	said := fmt.Sprintf("%s, %s", text.Count(t.Operations, "operation"), anomalies(t))
	for _, session := range slices.Sorted(maps.Keys(t.Sessions)) {
		verb := "break"
		if t.Sessions[session] == 1 {
			verb = "breaks"
		}
		said += fmt.Sprintf(", %d of them %s %s", t.Sessions[session], verb, session)
	}
	if t.Stuck > 0 {
		said += fmt.Sprintf(", %d stuck", t.Stuck)
	}
	if t.Init != "" {
		said += fmt.Sprintf("; the initial value %s is taken from the first reads", text.Shorten(t.Init, 80))
	}
	said += fmt.Sprintf("; at most %s held", text.Count(t.MostHeld, "operation"))
	if !end {
		said += "; so far"
	}
	fmt.Fprintln(w.stdout, said)
}

// anomalies tells how many anomalies there are of each kind.
func anomalies(t clew.MonitorTotals) string {
	if t.Anomalies == 0 {
		return "no anomalies"
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(t.Kinds)) {
		name := kind
		if name == "" {
			name = unnamed
		}
		kinds = append(kinds, fmt.Sprintf("%d %s", t.Kinds[kind], name))
	}
	said := text.Count(t.Anomalies, "anomaly")
	if t.Anomalies != 1 {
		said = fmt.Sprintf("%d anomalies", t.Anomalies)
	}
	return said + " (" + strings.Join(kinds, ", ") + ")"
}
