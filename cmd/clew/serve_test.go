package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// A signal is not an error for a server, which says where it is.
func TestAServerEndsWithASignal(t *testing.T) {
	t.Chdir(t.TempDir())
	const folder = "store/etcd/20260102T030405.000Z"
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	putFile(t, folder+"/history.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n")
	putFile(t, folder+"/results.edn", "{:valid? true}")
	ctx, cancel := context.WithCancel(t.Context())
	said, stdout := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"clew", "serve", "--addr", "127.0.0.1:0", "--model", "cas-register", "store"}, nil, stdout, &stderr)
		stdout.Close()
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	address, found := strings.CutPrefix(line, "clew serves store at ")
	if err != nil || !found {
		t.Fatalf("%q %v %s", line, err, &stderr)
	}
	a, err := http.Get(strings.TrimSpace(address) + "run/etcd/20260102T030405.000Z")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(a.Body)
	a.Body.Close()
	if err != nil || a.StatusCode != http.StatusOK || !strings.Contains(string(body), "cas-register, 1 operation") {
		t.Errorf("%d %v %s", a.StatusCode, err, body)
	}
	cancel()
	if status := <-ended; status != exitValid || stderr.Len() > 0 {
		t.Errorf("status %d: %s", status, &stderr)
	}
}
