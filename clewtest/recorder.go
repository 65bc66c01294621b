package clewtest

import (
	"testing"
	"time"

	"clew"
	"clew/jepsen"
	"clew/models"
)

// Recorder records the operations of a test, and checks them when the test ends.
type Recorder struct{ record *record }

// New returns a Recorder of operations of a model. When the test ends, with its subtests, the Recorder checks the
// history and fails the test if it is not linearizable, or if that could not be decided. The spec must name the model.
func New(t testing.TB, spec models.Spec, options ...Option) *Recorder {
	t.Helper()
	s := newSettings(t, spec, options)
	r := newRecord(t, s)
	t.Cleanup(func() {
		t.Helper()
		if !t.Skipped() {
			result, err := r.check()
			s.tell(t, result, err, shrunk{})
		}
	})
	return &Recorder{r}
}

// Invoke records that a client begins an operation f with these arguments: r.Invoke(0, "put", "x", 3). The package
// comment says how they become the operation's key and value. Each jepsen.With among them is another key of the event.
//
// The system is called after Invoke, and then one of the Op's methods says what became of it. A client that
// begins an operation while it has another one open fails the test.
func (r *Recorder) Invoke(client int, f string, args ...any) *Op {
	r.record.t.Helper()
	return r.record.invoke(client, f, args, nil)
}

// OK records that the operation succeeded, and what it returned: nothing if it only changes something, such as a
// write. Several results are a list. Each jepsen.With among them is another key of the event.
func (o *Op) OK(results ...any) {
	o.record.t.Helper()
	values, with := split(results)
	o.complete("OK", func(b *jepsen.Builder) { b.OK(o.client, o.f, o.result(values), append(o.key(), with...)...) })
}

// Fail records that the operation certainly did not happen, and never will.
func (o *Op) Fail(with ...jepsen.Extra) {
	o.record.t.Helper()
	o.complete("Fail", func(b *jepsen.Builder) { b.Fail(o.client, o.f, o.value, append(o.key(), with...)...) })
}

// Info records that the client does not know whether the operation happened, because of err. It may still happen. A nil
// err is no reason.
func (o *Op) Info(err error, with ...jepsen.Extra) {
	o.record.t.Helper()
	if err != nil {
		with = append(with[:len(with):len(with)], jepsen.With("error", err.Error()))
	}
	o.complete("Info", func(b *jepsen.Builder) { b.Info(o.client, o.f, o.value, append(o.key(), with...)...) })
}

// Option changes how New and Run work.
type Option func(*settings)

// Checking says how to check the history. A TimeLimit of 0 stands for a minute, and a Memory of nil for 1 GB.
func Checking(o clew.Options) Option { return func(s *settings) { s.checking = o } }

// AllowUnknown lets a test pass whose history could not be decided. That is logged.
func AllowUnknown() Option { return func(s *settings) { s.unknown = true } }

// Seed makes Run choose the same operations each time. Otherwise each Run has a seed of its own. CLEW_SEED in the
// environment counts more.
func Seed(n uint64) Option { return func(s *settings) { s.seed = n } }

// ShrinkWithin bounds the search for a smaller run that fails: its time, and how many runs it may take. Without it, these
// are 10 seconds and 1,000 runs. With 0 runs there is no search.
func ShrinkWithin(limit time.Duration, runs int) Option {
	return func(s *settings) { s.shrinkTime, s.shrinkRuns = limit, runs }
}
