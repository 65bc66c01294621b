package real_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/internal/archive"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// wild lists real runs as their tests left them, and how to check them: the initial value, and whether there are
// keys.
var wild = []struct {
	run, init string
	keys      bool
}{
	{"01-josehu-etcd", "nil", true},
	{"02-josehu-rabbitmq", "nil", true},
	{"04-redis-extreme-latency", "nil", false},
	{"05-canonical-raft", "0", false},
	{"06-mvitz-etcd", "nil", false},
	{"07-zk-2016", "0", false},
	{"08-zk-oom", "0", false},
	{"10-omnipaxos-multiline", "nil", true},
	{"12-scalardb-linkv", "nil", true},
}

// operationsOf returns the operations of a history as text. How one that crashed ended does not matter: some loggers
// do not print it.
func operationsOf(h *jepsen.History) []string {
	var all []string
	v := h.Values
	for op, inv := range h.Invocation {
		all = append(all, fmt.Sprintf("%s %s %s %s", v.Text(h.Processes[h.Process[inv]]), v.Text(h.F[inv]), v.Text(h.OpValue(jepsen.Operation(op))), h.Status[op]))
	}
	return all
}

// All files of a real run hold the same operations, and have the verdict of its
// checkers, key by key.
func TestAllFilesOfARealRunSayTheSame(t *testing.T) {
	t.Parallel()
	claimed := 0
	for _, w := range wild {
		dir := archive.Path(t, "wild", w.run, "run")
		var want []string
		var verdict jepsen.Verdict
		for _, name := range []string{"history.edn", "history.txt", "test.jepsen", "jepsen.log"} {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); os.IsNotExist(err) {
				continue
			}
			h, err := clew.ReadFile(path, jepsen.Options{})
			if err != nil {
				t.Error(err)
				continue
			}
			r, err := clew.Check(context.Background(), h, models.Spec{Name: "cas-register", Init: w.init}, clew.Options{Independent: w.keys, Keyless: true})
			if err != nil || r.Verdict == jepsen.Unknown {
				t.Errorf("%s: %v, %v", path, r, err)
				continue
			}
			if len(h.Warnings) > 0 {
				t.Errorf("%s: %v", path, h.Warnings)
			}
			got := operationsOf(h)
			slices.Sort(got) // workers print events a moment before or after they become history
			if want == nil {
				want, verdict = got, r.Verdict
			}
			if !slices.Equal(got, want) || r.Verdict != verdict {
				t.Errorf("%s: %d operations, %v; want %d, %v", path, len(got), r.Verdict, len(want), verdict)
			}
			for _, c := range kit.ClaimsOf(t, dir, h) {
				ours := r.Verdict
				for _, k := range r.Keys {
					if c.IsKey && k.Key.Class() == c.Key.Class() {
						ours = k.Result().Verdict
					}
				}
				if claimed++; c.Verdict != jepsen.Unknown && c.Verdict != ours {
					t.Errorf("%s, %s %v: %v, ours is %v", path, c.Checker, c.Key, c.Verdict, ours)
				}
			}
		}
	}
	t.Logf("%d claims", claimed)
	if claimed < 50 {
		t.Errorf("only %d claims", claimed)
	}
}

// A real log that grows, in pieces of any length, has the verdict of the whole.
func TestARealLogIsFollowed(t *testing.T) {
	for i, w := range wild {
		text, err := os.ReadFile(archive.Path(t, "wild", w.run, "run", "jepsen.log"))
		if err != nil {
			t.Fatal(err)
		}
		spec := models.Spec{Name: "cas-register", Init: w.init}
		o := clew.Options{Independent: w.keys, Keyless: true}
		h, err := clew.Read(strings.NewReader(string(text)), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := clew.Check(context.Background(), h, spec, o)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "jepsen.log")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		go func() { // this is the test that writes it
			for piece := 1; len(text) > 0; piece = piece*7%100_003 + i {
				n := min(piece, len(text))
				if _, err := out.Write(text[:n]); err != nil {
					return
				}
				text = text[n:]
				time.Sleep(time.Millisecond)
			}
		}()
		got, err := clew.Follow(context.Background(), in, path, jepsen.Options{}, spec, o, time.Second)
		out.Close()
		in.Close()
		if err != nil {
			t.Errorf("%s: %v", w.run, err)
			continue
		}
		if got.Verdict != want.Verdict || !w.keys && got.Verdict == jepsen.Invalid && got.FailingIndex() != want.FailingIndex() {
			t.Errorf("%s: %v, want %v", w.run, got.Summary(), want.Summary())
		}
	}
}
