package main

import (
	"bufio"
	"bytes"
	"clew"
	"clew/internal/checking"
	"clew/internal/effort"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMetricsOfAMonitor(t *testing.T) {
	in, events := io.Pipe()
	said, stderr := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(t.Context(), []string{"clew", "monitor", "--model", "register", "--init", "7", "--listen", "127.0.0.1:0", "-"}, in, io.Discard, stderr)
		stderr.Close()
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	address := regexp.MustCompile(`http://\S+/metrics`).FindString(line)
	if err != nil || address == "" {
		t.Fatal(line, err)
	}
	go io.Copy(io.Discard, said)
	io.WriteString(events, strings.Repeat("{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 7}\n", 3))
	get := func(url string) (int, string) {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(text)
	}
	for text := ""; !strings.Contains(text, "\nclew_operations_total 3\n"); {
		var status int
		if status, text = get(address); status != http.StatusOK {
			t.Fatal(status, text)
		}
	}
	_, metrics := get(address)
	for _, want := range []string{"\nclew_open_operations 0\n", "\nclew_delay_seconds 0\n", "\nclew_behind_versions_max 0\n", "\nclew_memory_bytes "} {
		if !strings.Contains(metrics, want) {
			t.Errorf("there is no %q in\n%s", want, metrics)
		}
	}
	root := strings.TrimSuffix(address, "metrics")
	if status, page := get(root); status != http.StatusOK || !strings.Contains(page, "3 operations, no anomalies") {
		t.Error(status, page)
	}
	if status, state := get(root + "state"); status != http.StatusOK || !strings.Contains(state, `"token":"0"`) {
		t.Error(status, state)
	}
	elsewhere, _ := http.NewRequest(http.MethodGet, root, nil)
	elsewhere.Host = "elsewhere.example"
	if r, err := http.DefaultClient.Do(elsewhere); err != nil || r.StatusCode != http.StatusForbidden {
		t.Error(r, err)
	}
	if status, _ := get(root + "other"); status != http.StatusNotFound {
		t.Error(status)
	}
	events.Close()
	if status := <-done; status != exitValid { // the register held 7 from the beginning
		t.Error(status)
	}
}

// A witness of clew monitor is one for clew verify.
func TestWitnessOfAMonitor(t *testing.T) {
	dir := t.TempDir()
	history, order, state := filepath.Join(dir, "h.edn"), filepath.Join(dir, "order.edn"), filepath.Join(dir, "state")
	for _, test := range []struct {
		model  string
		flags  []string
		status int
		want   string // of clew verify, or an error
	}{
		{"register", nil, exitValid, "a linearization of 3000 operations"},
		{"register", []string{"--state", state}, exitValid, "a linearization of 3000 operations"},
		{"register", []string{"--state", state}, exitValid, "a linearization of 3000 operations"}, // again, from its end
		{"kv", nil, exitValid, "a linearization of each key, so that there is one of all 3000 operations"},
		{"fifo-queue", nil, exitUsage, "a monitor writes no witness of fifo-queue"},
		{"register", []string{"--html-dir", dir}, exitUsage, "--html-dir cannot be combined with --witness"},
		{"register", []string{"--html", order}, exitUsage, "--html and --witness are the same file"},
		{"register", []string{"--witness", history}, exitUsage, "this is an input of clew"},
		{"register", []string{"--witness", "-"}, exitUsage, "--witness cannot be standard output"},
	} {
		var said strings.Builder
		clew := func(args ...string) int {
			said.Reset()
			return run(t.Context(), append([]string{"clew"}, args...), nil, &said, &said)
		}
		if status := clew("gen", "--model", test.model, "--operations", "3000", "-o", history); status != exitValid {
			t.Fatal(said.String())
		}
		status := clew(slices.Concat([]string{"monitor", "--model", test.model, "--witness", order}, test.flags, []string{history})...)
		if status == exitValid {
			status = clew("verify", "--model", test.model, history, order)
		}
		if status != test.status || !strings.Contains(said.String(), test.want) {
			t.Errorf("%s %v: %d, %s; want %d, %q", test.model, test.flags, status, said.String(), test.status, test.want)
		}
	}
}

// Totals that are due are told while a decision takes long, with how late it is.
func TestAMonitorTellsTotalsWhileItDecides(t *testing.T) {
	var out bytes.Buffer
	w := &watch{lines: checking.Lines{Form: "json"}, every: time.Hour, asked: make(chan os.Signal, 1)}
	w.stdout = &out
	w.next = time.Now().Add(time.Hour)
	w.seen.Store(&seen{clew.MonitorTotals{Operations: 7}, time.Now().Add(-time.Hour)})
	w.asked <- os.Interrupt
	ended, told := make(chan struct{}), make(chan struct{})
	go func() { defer close(told); w.whileDeciding(ended) }()
	effort.Await(t, "it takes the signal", func() bool { return len(w.asked) == 0 })
	close(ended)
	<-told
	if got := out.String(); !strings.HasPrefix(got, `{"totals":{"operations":7,"anomalies":0,"kinds":{},"delay-ms":3`) || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}

// full is an output that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// Anomalies and totals that cannot be printed are not lost in silence.
func TestAMonitorSaysWhatItCannotPrint(t *testing.T) {
	const right, wrong = "0 :invoke :write 1\n0 :ok :write 1\n", "0 :invoke :write 1\n0 :ok :write 1\n0 :invoke :read nil\n0 :ok :read 2\n"
	for text, want := range map[string]int{right: exitUsage, wrong: exitInvalid} {
		for _, form := range []string{"text", "json", "github"} {
			var errs bytes.Buffer
			got := run(t.Context(), []string{"clew", "monitor", "--model", "register", "--output", form, "-"}, strings.NewReader(text), full{}, &errs)
			if got != want || !strings.HasSuffix(errs.String(), ": no room\n") || strings.Count(errs.String(), "\n") != 1 {
				t.Errorf("%s: status %d, want %d: %s", form, got, want, errs.String())
			}
		}
	}
}
