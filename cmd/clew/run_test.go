package main

import (
	"context"
	"strings"
	"testing"

	"clew/jepsen/store"
)

// answersOf runs jobs with the given paths and returns what clew says of them.
func answersOf(failFast bool, do func(context.Context, *job) answer, paths ...string) (r *runner, done int, stdout, stderr string) {
	var out, err strings.Builder
	r = &runner{stdout: &out, stderr: &err, failFast: failFast, progress: newProgress(&err, len(paths))}
	var jobs []*job
	for _, path := range paths {
		jobs = append(jobs, r.job(store.Source{Path: path}, nil))
	}
	done, _ = r.all(context.Background(), jobs, do)
	return r, done, out.String(), err.String()
}

// counted is an answer of one outcome.
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
				await(ctx, 0, func() { panic("no such row") })
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
