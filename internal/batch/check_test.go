package batch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clew/internal/batch"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// A check that does not end with its limit is left behind. The answer keeps what is known about the history by then.
func TestAnAnswerKeepsWhatIsKnownIfTheCheckDoesNotEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.edn")
	history := "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :info, :f :write, :value 1}\n{:process 1, :type :invoke, :f :read}\n"
	if err := os.WriteFile(file, []byte(history), 0o666); err != nil {
		t.Fatal(err)
	}
	never := make(chan struct{})
	defer close(never)
	j := &batch.Job{Source: store.Source{Path: file}, Reading: store.Reading{Spec: models.Spec{Name: "register"}}, Passed: new(atomic.Int64)}
	c := batch.Checker{Decide: func(context.Context, *batch.Job, *jepsen.History, store.Reading) (*report.Result, error) {
		j.Passed.Store(7)
		<-never
		return nil, errors.New("it ended")
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	want := report.Line{File: file, Valid: jepsen.Unknown, Model: "register", Cause: report.Text(jepsen.Timeout), Events: 3, Operations: 2, Crashed: 2,
		Explanation: "the search had passed 7 completions"}
	for name, r := range map[string]*report.Result{"Check": c.Check(ctx, j).Result, "Late": j.Late(jepsen.Timeout, true)} {
		l := r.Line()
		if l.Events != want.Events || l.Operations != want.Operations || l.Crashed != want.Crashed || l.Explanation != want.Explanation || l.Model != want.Model || l.Cause != want.Cause {
			t.Errorf("%s: %+v, want %+v", name, l, want)
		}
	}
}

// A check that was left behind may still write its page, when the answer has long been printed and the index is being
// written. The index says what was printed.
func TestAnIndexSaysWhatWasPrinted(t *testing.T) {
	dir := t.TempDir()
	o := batch.NewFolders("", dir, "")
	if err := o.Probe(); err != nil {
		t.Fatal(err)
	}
	j := &batch.Job{Source: store.Source{Path: "h.edn"}}
	var err error
	if j.Row, err = o.Page(t.Context(), j, j.Undecided(jepsen.Timeout)); err != nil {
		t.Fatal(err)
	}
	var late sync.WaitGroup
	late.Go(func() { o.Page(context.Background(), j, &report.Result{File: "h.edn", Verdict: jepsen.Valid}) })
	if err := o.Index(t.Context(), []*batch.Job{j}); err != nil {
		t.Fatal(err)
	}
	late.Wait()
	if err := o.Index(t.Context(), []*batch.Job{j}); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil || !strings.Contains(string(index), string(jepsen.Timeout)) {
		t.Errorf("%v %s", err, index)
	}
}
