package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/internal/batch"
	"clew/internal/effort"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/outputs"
	"clew/internal/progress"
	"clew/internal/store"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
	"clew/report"
)

// answersOf runs jobs with the given paths and returns what clew says of them.
func answersOf(failFast bool, do func(context.Context, *job) answer, paths ...string) (r *runner, done int, stdout, stderr string) {
	var out, err strings.Builder
	r = &runner{stdout: &out, stderr: &err, failFast: failFast, progress: progress.New(&err, len(paths))}
	var jobs []*job
	for _, path := range paths {
		jobs = append(jobs, newJob(r.found(store.Source{Path: path}, nil)))
	}
	done, _ = r.all(context.Background(), jobs, doing{do: do})
	return r, done, out.String(), err.String()
}

// counted returns an answer of one outcome.
func counted(o outcome, out string) (a answer) {
	a.out = out
	a.of[o]++
	return a
}

func TestAPanicIsABugInOneAnswerOnly(t *testing.T) {
	for _, where := range []string{"at once", "while something is awaited"} {
		r, done, stdout, stderr := answersOf(false, func(ctx context.Context, j *job) answer {
			switch {
			case j.Path != "b":
			case where == "at once":
				panic("no such row")
			default:
				watchdog.Await(ctx, 0, func() { panic("no such row") })
			}
			return counted(valid, j.Path+"\n")
		}, "a", "b", "c")
		if stdout != "a\nc\n" || done != 3 {
			t.Errorf("%s: %d done, %q", where, done, stdout)
		}
		const report = "clew: this is a bug in clew; please report it with the history that shows it: b: no such row\n"
		if !strings.HasPrefix(stderr, report) || !strings.Contains(stderr, "run_test.go") {
			t.Errorf("%s: %s", where, stderr)
		}
		if got := r.tally.status(); got != exitBug {
			t.Errorf("%s: status %d", where, got)
		}
	}
}

// A history that makes clew panic has a line of JSON like any other.
func TestAPanicHasALineOfJSON(t *testing.T) {
	k := &checker{runner: runner{output: outputs.JSON}}
	a := k.checked(t.Context(), &job{Job: &batch.Job{Source: store.Source{Path: "b"}, Ahead: batch.Ahead{Bug: "no such row\ngoroutine 1"}}})
	var l report.Line
	if err := json.Unmarshal([]byte(a.out), &l); err != nil || l.File != "b" || l.Cause != "panic" || l.Error != "no such row" || a.bug == "" {
		t.Errorf("%s, %v", a.out, err)
	}
	k.output, _ = outputs.Find(outputs.Check(), "edn")
	if a := k.checked(t.Context(), &job{Job: &batch.Job{Ahead: batch.Ahead{Bug: "no such row"}}}); a.out != "" {
		t.Error(a.out)
	}
}

func TestNothingIsPrintedBehindTheFirstInvalidHistoryIfItIsToStopThere(t *testing.T) {
	r, done, stdout, _ := answersOf(true, func(_ context.Context, j *job) answer {
		return counted(map[string]outcome{"a": valid, "b": invalid, "c": valid}[j.Path], j.Path+"\n")
	}, "a", "b", "c")
	if stdout != "a\nb\n" || done != 2 || r.tally.status() != exitInvalid {
		t.Errorf("%d done, %q, status %d", done, stdout, r.tally.status())
	}
}

func TestTheFirstStatusThatAppliesCounts(t *testing.T) {
	for _, c := range []struct {
		of   []outcome
		want int
	}{
		{[]outcome{valid}, exitValid},
		{[]outcome{valid, unknown}, exitUnknown},
		{[]outcome{valid, unknown, unreadable}, exitUsage},
		{[]outcome{unreadable, invalid, unknown}, exitInvalid},
		{[]outcome{invalid, panicked}, exitBug},
		{[]outcome{agree, notComparable, knossosUnknown}, exitValid},
		{[]outcome{notComparable, knossosUnknown}, exitUnknown},
		{[]outcome{notComparable, unreadable}, exitUsage},
		{[]outcome{agree, disagree, unreadable}, exitInvalid},
		{nil, exitUnknown},
	} {
		var sum tally
		for _, o := range c.of {
			var one tally
			one.of[o]++
			sum.add(one)
		}
		if got := sum.status(); got != c.want {
			t.Errorf("%v: %d, want %d", c.of, got, c.want)
		}
	}
}

func TestAnUndecidedHistoryMayPassUnlessItIsInterrupted(t *testing.T) {
	for _, c := range []struct {
		of         []outcome
		fail, pass int
	}{
		{[]outcome{valid, unknown}, exitUnknown, exitValid},
		{[]outcome{unknown}, exitUnknown, exitValid},
		{[]outcome{unknown, unreadable}, exitUsage, exitUsage},
		{[]outcome{unknown, invalid}, exitInvalid, exitInvalid},
		{nil, exitUnknown, exitUnknown},
	} {
		for pass, want := range map[bool]int{false: c.fail, true: c.pass} {
			r := runner{policy: policy{passUnknown: pass}}
			for _, o := range c.of {
				r.tally.of[o]++
			}
			if got := r.status(); got != want {
				t.Errorf("%v, pass %t: %d, want %d", c.of, pass, got, want)
			}
		}
	}
	r := runner{policy: policy{passUnknown: true}}
	r.tally.count(jepsen.Unknown, jepsen.Timeout, "")
	if got := r.tally.count(jepsen.Unknown, jepsen.Interrupted, ""); got != interrupted || r.status() != exitUnknown {
		t.Errorf("outcome %d, status %d", got, r.status())
	}
}

func TestWritingEndsWithItsContext(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, end := context.WithCancelCause(t.Context())
	err := batch.WriteWithin(ctx, files.To("x", nil, nil), func(w io.Writer) error {
		io.WriteString(w, "half of it")
		end(context.DeadlineExceeded)
		_, err := io.WriteString(w, "and the rest")
		return err
	})
	// It may be too late for the function's own error, but never for removing files.
	if err == nil || err.Error() != "not written to its end: timeout" {
		t.Error(err)
	}
	effort.Await(t, "no file is left", func() bool {
		left, _ := os.ReadDir(".")
		return len(left) == 0
	})
}

func TestWritingEndsForTheReasonThatTheCheckDid(t *testing.T) {
	for name, c := range map[string]struct {
		limit, left time.Duration
		interrupted bool
		want        jepsen.Cause
	}{
		"the time is over":    {time.Minute, -time.Second, false, jepsen.Timeout},
		"a signal":            {time.Minute, time.Minute, true, jepsen.Interrupted},
		"a signal, no limit":  {0, -time.Second, true, jepsen.Interrupted},
		"time and memory":     {time.Minute, time.Minute, false, ""},
		"there are no limits": {0, -time.Second, false, ""},
	} {
		var r runner
		r.TimeLimit = c.limit
		ctx, interrupt := context.WithCancel(t.Context())
		if c.interrupted {
			interrupt()
		}
		last, done := r.Lastly(ctx, c.left)
		switch {
		case c.want == "" && last.Err() != nil:
			t.Errorf("%s: it ended", name)
		case c.want != "":
			<-last.Done()
			if got := limits.Stopped(last); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
		done()
		interrupt()
	}
}

// A verdict that was found stands, even if no time is left to print more.
func TestAVerdictStandsWithoutTheTimeForItsText(t *testing.T) {
	h, err := forms.Read(strings.NewReader(write+"{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 2}\n"), "b", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string]string{
		"text": "b: INVALID\n  evidence is missing (timeout): everything except the verdict\n  value 2 was read by process 0 (index 3), but nothing had written it by then\n",
		"json": `{"file":"b","valid":false,`,
		"edn":  "{:analyzer :clew/fast-register, ",
	} {
		patiently(t, func(wait time.Duration) (string, bool) { // the verdict should be found within the limit
			var out, errs strings.Builder
			k := &checker{runner: runner{stdout: &out, stderr: &errs, progress: progress.New(&errs, 1)}, evidence: &evidence{Folders: batch.NewFolders("", "", "")}}
			k.output, _ = outputs.Find(outputs.Check(), output)
			k.TimeLimit = wait
			never := make(chan struct{})
			defer close(never)
			_, err = k.all(t.Context(), []*job{newJob(k.found(store.Source{Path: "b"}, nil))}, doing{late: k.late, do: func(ctx context.Context, j *job) answer {
				r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{})
				if err != nil {
					t.Error(err)
				}
				j.is(invalid)
				j.Know(r)
				<-never // a text of megabytes takes as long
				return answer{}
			}})
			return fmt.Sprintf("%s: %v, status %d\n%s%s", output, err, k.status(), out.String(), errs.String()),
				err == nil && k.status() == exitInvalid && k.statusNow() == exitInvalid && strings.HasPrefix(out.String(), want)
		})
	}
}

func TestAPackedStandardInputThatIsWrittenToIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.edn.gz")
	if err := os.WriteFile(path, []byte(gzipped("{:process 0, :type :invoke, :f :read}\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := notEmpty(f)
	stamp := files.StampOf(in)
	if err := stamp.Changed(in); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if err := stamp.Changed(in); err == nil {
		t.Error("nothing was noticed")
	}
}
