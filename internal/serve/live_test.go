package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/internal/pagetest"
	"clew/internal/serve"
)

// growing is a run whose history is still written.
type growing struct {
	t    *testing.T
	file *os.File
	n    int
}

func grow(t *testing.T, dir, name string) *growing {
	put(t, dir, name, "", false)
	f, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &growing{t: t, file: f}
}

// add writes an operation of process 0 that succeeds.
func (g *growing) add(f, invoked, returned string) {
	g.t.Helper()
	_, err := fmt.Fprintf(g.file, "{:process 0, :type :invoke, :f :%s, :value %s, :index %d}\n{:process 0, :type :ok, :f :%s, :value %s, :index %d}\n", f, invoked, g.n, f, returned, g.n+1)
	if err != nil {
		g.t.Fatal(err)
	}
	g.n += 2
}

// The verdict of a run is known while it goes on. Its page is told when there is another one.
func TestALiveRunIsFollowed(t *testing.T) {
	for _, name := range []string{"history.edn", "jepsen.log"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			g := grow(t, dir, aRun+"/"+name)
			x := served(t, dir)
			word := func() string {
				s := x.state("/state/" + aRun)
				return strings.Join(append([]string{s.Rows[0].Word}, s.Rows[0].Cells[2]), " ")
			}
			expect(t, "before there are operations", x.lines("/?verdict=live"), []string{"etcd running | 20260102T030405.000Z"})
			if a := x.get("/run/" + aRun); a.status != http.StatusOK || !strings.Contains(a.body, "the run has begun") || !strings.Contains(a.body, "data-reload") {
				t.Fatal(a.status, a.body)
			}
			if name == "jepsen.log" {
				fmt.Fprintf(g.file, "INFO [2026-01-02 03:04:05,000] jepsen worker 0 - jepsen.util 0\t:invoke\t:write\t1\nINFO [2026-01-02 03:04:05,001] jepsen worker 0 - jepsen.util 0\t:ok\t:write\t1\n")
				x.await("an operation is known", func() bool { return word() == "valid so far 1" })
				return
			}
			g.add("write", "1", "1")
			x.await("an operation is known", func() bool { return word() == "valid so far 1" })
			token := x.state("/state/" + aRun).Token
			if a := x.get("/run/" + aRun); !strings.Contains(a.body, ">valid<") || !strings.Contains(a.body, `data-token="`+token+`"`) {
				t.Errorf("the page is not that of the state %s: %s", token, a.body)
			}
			g.add("cas", "[1 2]", "[1 2]") // not of a register
			x.await("another model is inferred", func() bool { return word() == "valid so far 2" })
			if now := x.state("/state/" + aRun).Token; now == token {
				t.Error("the token has not changed")
			}
			g.add("read", "nil", "1")
			x.await("the failure is known", func() bool { return word() == "INVALID 3" })
			if a := x.get("/run/" + aRun); !strings.Contains(a.body, "INVALID") {
				t.Error(a.body)
			}
			if got := x.lines("/?verdict=invalid"); len(got) != 1 || !strings.HasPrefix(got[0], "etcd INVALID | 20260102T030405.000Z | | 3") {
				t.Errorf("the list: %q", got)
			}
			put(t, dir, aRun+"/results.edn", itFails, false)
			x.await("the run has ended", func() bool { return x.state("/state/" + aRun).Done })
			if s := x.state("/state/" + aRun); s.Token != "ended" {
				t.Errorf("the token is %s", s.Token)
			}
			if a := x.get("/run/" + aRun); !strings.Contains(a.body, "INVALID") || strings.Contains(a.body, `data-poll="`) {
				t.Error(a.body)
			}
		})
	}
}

// Few runs are followed at once. A client that opens the page of another run is told.
func TestFewRunsAreFollowed(t *testing.T) {
	dir := t.TempDir()
	for i := range 7 {
		grow(t, dir, fmt.Sprintf("t%d/20260102T030405.000Z/history.edn", i)).add("write", "1", "1")
	}
	x := served(t, dir)
	x.await("all are listed", func() bool { return len(x.lines("/")) == 7 })
	x.await("four are followed", func() bool { return strings.Count(strings.Join(x.lines("/"), "\n"), "valid so far") == 4 })
	for i := range 7 {
		if a := x.get(fmt.Sprintf("/run/t%d/20260102T030405.000Z", i)); a.status != http.StatusOK {
			t.Errorf("%d: %s", a.status, a.body)
		}
	}
	if n := x.s.Followed(); n > 4 {
		t.Errorf("%d runs are followed", n)
	}
}

// listening returns a server that listens, its address, and what ends it and waits for that.
func listening(t *testing.T, dir string, with ...func(*serve.Options, *clew.Options)) (address string, end func() error) {
	x := served(t, dir, with...)
	l, err := serve.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.s.Serve(ctx, l) }()
	return l.Addr().String(), func() error { cancel(); return <-ended }
}

func TestItListensUntilItsContextEnds(t *testing.T) {
	address, end := listening(t, small(t))
	if _, err := serve.Listen(address); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a port that is taken: %v", err)
	}
	for _, path := range []string{"/", "/run/" + aRun, "/files/" + aRun + "/history.edn"} {
		a, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(a.Body); err != nil || a.StatusCode != http.StatusOK || len(body) == 0 {
			t.Errorf("%s: %d %v", path, a.StatusCode, err)
		}
		a.Body.Close()
	}
	// The library makes this address /etc/passwd before it asks, so ask by hand.
	for request, want := range map[string]string{
		"GET /files/" + aRun + "/../../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n":  "400",
		"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n":                                         "403",
		"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n":                     "405",
		"HEAD /run/" + aRun + " HTTP/1.1\r\nHost: localhost\r\n\r\n":                          "200",
		"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n":                           "400",
		"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n": "431",
	} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, request)
		line, _ := bufio.NewReader(c).ReadString('\n')
		if !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("%.60q: %q, want %s", request, line, want)
		}
		c.Close()
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

func TestAStoreMustBeAFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", pagetest.StaleRead, true)
	for path, want := range map[string]string{"none": "no such file or directory", "file": "expected the folder of a store, found a file"} {
		if _, err := serve.New(t.Context(), serve.Options{Store: filepath.Join(dir, path)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
