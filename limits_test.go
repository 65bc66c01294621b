package clew_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/jepsen"
	"clew/models"
)

// ambiguous is a history that only the search decides.
const ambiguous = `{:process 0 :type :invoke :f :write :value 1}
{:process 1 :type :invoke :f :write :value 1}
{:process 0 :type :ok :f :write :value 1}
{:process 1 :type :ok :f :write :value 1}
{:process 0 :type :invoke :f :write :value 2}
{:process 1 :type :invoke :f :read}
{:process 0 :type :ok :f :write :value 2}
{:process 1 :type :ok :f :read :value 1}
`

func TestAnUnknownResultSaysHowFarItGot(t *testing.T) {
	spec := models.Spec{Name: "register"}
	h, _, err := readText(spec, ambiguous)
	if err != nil {
		t.Fatal(err)
	}
	expired, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	for _, algorithm := range []string{"window", "frontier", "porcupine", "competition"} {
		for cause, c := range map[jepsen.Cause]struct {
			ctx     context.Context
			options clew.Options
		}{
			"timeout":       {expired, clew.Options{Algorithm: algorithm}},
			"out-of-memory": {context.Background(), clew.Options{Algorithm: algorithm, Memory: clew.NewMemory(10)}},
		} {
			r, err := clew.Check(c.ctx, h, spec, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if r.Cause != cause || !strings.HasPrefix(r.Explanation, "the search had passed 0 of 4 completions") {
				t.Errorf("%s: %s %q, want %s and how far it got", algorithm, r.Cause, r.Error, cause)
			}
		}
	}
	for model, f := range map[string]string{"register": ":write", "fifo-queue": ":enqueue", "unordered-queue": ":enqueue", "set": ":add", "mutex": ":acquire"} {
		spec = models.Spec{Name: model}
		h, _, err := readText(spec, strings.ReplaceAll("{:process 0 :type :invoke :f F :value 1}\n{:process 0 :type :ok :f F :value 1}\n", "F", f))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := clew.Check(expired, h, spec, clew.Options{}); err != nil || r.Cause != "timeout" {
			t.Errorf("fast path for %s: %q %v, want timeout", model, r.Cause, err)
		}
	}
}
