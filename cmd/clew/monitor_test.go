package main

import (
	"bufio"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestMetricsOfAMonitor(t *testing.T) {
	in, events := io.Pipe()
	said, stderr := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(t.Context(), []string{"clew", "monitor", "--model", "register", "--listen", "127.0.0.1:0", "-"}, in, io.Discard, stderr)
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
