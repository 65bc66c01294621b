package clewtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// settings are what a test asks for.
type settings struct {
	spec       models.Spec
	keys       bool     // the first argument is the :key
	repeating  []string // the :f's whose completions have nothing to tell
	checking   clew.Options
	unknown    bool // passes
	seed       uint64
	shrinkTime time.Duration
	shrinkRuns int
}

// newSettings ends the test if its spec or its seed makes no sense.
func newSettings(t testing.TB, spec models.Spec, options []Option) *settings {
	t.Helper()
	s := &settings{spec: spec, seed: rand.Uint64(), shrinkTime: 10 * time.Second, shrinkRuns: 1000}
	for _, option := range options {
		option(s)
	}
	if s.checking.TimeLimit == 0 {
		s.checking.TimeLimit = time.Minute
	}
	if s.checking.Memory == nil {
		s.checking.Memory = clew.NewMemory(1 << 30)
	}
	if text := os.Getenv("CLEW_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("CLEW_SEED is %q; expected the number that a failure printed", text)
		}
		s.seed = n
	}
	d, err := spec.Definition()
	if err == nil {
		err = spec.Check()
	}
	if err != nil {
		t.Fatalf("the spec of the model: %v", err)
	}
	s.keys, s.repeating = d.ReadsKeys, d.Repeating
	return s
}

// record is the history of one run while it is recorded.
type record struct {
	*settings
	t testing.TB

	mu     sync.Mutex
	b      *jepsen.Builder
	events int
	open   map[int]*Op // by client
	steps  []*step     // by operation, those of Run
	closed bool        // the history is being checked; whatever comes later is too late
	wrong  bool        // it was recorded wrongly, which has failed the test
}

func newRecord(t testing.TB, s *settings) *record {
	return &record{settings: s, t: t, b: jepsen.NewBuilder(jepsen.Options{}), open: map[int]*Op{}}
}

// Op is an operation that has begun. One of OK, Fail and Info ends it, once; an Op without any of them crashed.
type Op struct {
	record *record
	client int
	f      string
	value  any
	of     []any // its key, if the model has keys
	step   *step
	where  [1]uintptr // the call that began it, then the one that ended it
	ended  string     // that call
	void   bool       // it was not recorded
}

// split returns the arguments that are values, and the extra keys.
func split(args []any) (values []any, with []jepsen.Extra) {
	for _, x := range args {
		if extra, ok := x.(jepsen.Extra); ok {
			with = append(with, extra)
		} else {
			values = append(values, x)
		}
	}
	return values, with
}

// joined returns what several arguments are together.
func joined(values []any) any {
	switch len(values) {
	case 0:
		return nil
	case 1:
		return values[0]
	}
	return values
}

// invoke is called by the exported functions that the test calls.
func (r *record) invoke(client int, f string, args []any, s *step) *Op {
	r.t.Helper()
	values, with := split(args)
	o := &Op{record: r, client: client, f: f, step: s}
	runtime.Callers(3, o.where[:])
	if (r.keys || r.checking.Independent) && len(values) > 0 {
		o.of, values = values[:1], values[1:]
	}
	o.value = o.tuple(joined(values))
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.open[client]; other != nil && !r.closed {
		o.void = true
		r.misused("client %d invokes %s while its %s is open, which was invoked at %s; expected that to end with OK, Fail or Info first, or another client",
			client, f, other, other.place())
	}
	if o.void = o.void || r.closed; o.void {
		return o
	}
	r.open[client] = o
	r.steps = append(r.steps, s)
	r.b.Invoke(client, f, o.value, append(o.key(), with...)...)
	if s != nil && s.began < 0 {
		s.began = r.events
	}
	r.recorded(s)
	return o
}

// complete ends an operation with an event. It is called by the exported methods that the test calls.
func (o *Op) complete(call string, event func(b *jepsen.Builder)) {
	r := o.record
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || o.void {
		return
	}
	if o.ended != "" {
		r.misused("%s of client %d's %s, which has ended with %s; expected one of OK, Fail and Info, once", call, o.client, o, o.ended)
		return
	}
	runtime.Callers(3, o.where[:])
	o.ended = call + " at " + o.place()
	delete(r.open, o.client)
	event(r.b)
	r.recorded(o.step)
}

// abandon ends the client's open operation, if it has one, as crashed.
func (r *record) abandon(client int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.open[client]; o != nil && !r.closed {
		delete(r.open, client)
		o.ended = "the end of the function that began it"
		r.b.Info(client, o.f, o.value, o.key()...)
		r.recorded(o.step)
	}
}

// recorded counts an event, and says at the test's call if the history does not take it.
func (r *record) recorded(s *step) {
	r.t.Helper()
	if s != nil {
		s.ended = r.events
	}
	r.events++
	if _, err := r.b.SoFar(); err != nil && !r.wrong {
		r.misused("%v", err)
	}
}

func (r *record) misused(format string, args ...any) {
	r.t.Helper()
	r.wrong = true
	r.t.Errorf("recording: "+format, args...)
}

// tuple returns a value as the history has it, with its key if that belongs to the value.
func (o *Op) tuple(value any) any {
	if o.record.checking.Independent && o.of != nil {
		return []any{o.of[0], value}
	}
	return value
}

// key returns the extra key :key if the model reads one.
func (o *Op) key() []jepsen.Extra {
	if o.record.checking.Independent || o.of == nil {
		return nil
	}
	return []jepsen.Extra{jepsen.With("key", o.of[0])}
}

// result returns the value of an OK with these results. A completion that has nothing to tell repeats the invocation.
func (o *Op) result(values []any) any {
	value := joined(values)
	if len(values) == 0 || value == nil && slices.Contains(o.record.repeating, strings.TrimPrefix(o.f, ":")) {
		return o.value
	}
	return o.tuple(value)
}

func (o *Op) String() string {
	words := []any{o.f}
	for _, extra := range o.of {
		if !o.record.checking.Independent {
			words = append(words, extra)
		}
	}
	if o.value != nil {
		words = append(words, o.value)
	}
	return strings.TrimSuffix(fmt.Sprintln(words...), "\n")
}

// place returns file and line of the test's last call about the operation.
func (o *Op) place() string {
	frame, _ := runtime.CallersFrames(o.where[:]).Next()
	return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
}

// close ignores whatever is recorded from now on.
func (r *record) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// check ends the record and decides it. The result is nil if it was recorded wrongly.
func (r *record) check() (*report.Result, error) {
	r.mu.Lock()
	r.closed = true
	h, err := r.b.History()
	wrong := r.wrong
	r.mu.Unlock()
	if wrong {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return clew.Check(context.Background(), h, r.spec, r.checking)
}
