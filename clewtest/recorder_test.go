package clewtest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clew"
	"clew/clewtest"
	"clew/jepsen"
	"clew/models"
)

// stale records a stale read.
func stale(r *clewtest.Recorder) {
	for v := 1; v <= 2; v++ {
		op := r.Invoke(0, "write", v)
		op.OK()
	}
	op := r.Invoke(1, "read")
	op.OK(1)
}

// crowded records so many writes of three values at once, and as many cas that need what they wrote, that their order is hard to find.
func crowded(r *clewtest.Recorder) { crowd(r, func(write int, _ *rand.Rand) int { return write }) }

// impossible records the same where a cas needs any value, which certainly fails.
func impossible(r *clewtest.Recorder) {
	crowd(r, func(_ int, choose *rand.Rand) int { return choose.IntN(3) })
}

func crowd(r *clewtest.Recorder, needs func(write int, choose *rand.Rand) int) {
	choose := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		var open []*clewtest.Op
		for c := 0; c < 12; c += 2 {
			write := choose.IntN(3)
			open = append(open, r.Invoke(c, "write", write), r.Invoke(c+1, "cas", needs(write, choose), choose.IntN(3)))
		}
		for _, op := range open {
			op.OK()
		}
	}
}

func TestRecorders(t *testing.T) {
	register := models.Spec{Name: "register"}
	kv := models.Spec{Name: "kv"}
	for _, c := range []struct {
		name    string
		spec    models.Spec
		options []clewtest.Option
		record  func(r *clewtest.Recorder)
		fails   bool
		says    string
	}{
		{"a valid history says nothing", register, nil, func(r *clewtest.Recorder) {
			w, read := r.Invoke(0, "write", 3), r.Invoke(1, "read")
			w.OK()
			read.OK(3)
		}, false, ""},
		{"a stale read", register, nil, stale, true, "value 1 was read by process 1 (index 5) after value 2 had been written by process 0 (index 3)"},
		{"a stale read is drawn", register, nil, stale, true, "process 1  :read 1               ├──┤ ✗ expected 2, got 1"},
		{"an operation that never ends has crashed", register, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "write", 3)
			r.Invoke(1, "read").OK(3)
		}, false, ""},
		{"info may have happened", register, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "write", 3).Info(errors.New("timeout"), jepsen.With("node", "n1"))
			r.Invoke(0, "read").OK(3)
		}, false, ""},
		{"fail has not", register, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "write", 3).Fail(jepsen.With("error", "full"))
			r.Invoke(0, "read").OK(3)
		}, true, "failed :write 3"},
		{"a write that returns nil has written", register, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "write", 3).OK(nil)
			r.Invoke(1, "read").OK(4)
		}, true, "nothing had written it"},
		{"a write that returns something is doubtful", register, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "write", 3).OK("OK")
			r.Invoke(1, "read").OK(3)
		}, true, "warning: "},
		{"a doubtful write is a warning", register, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "write", 3).OK(4)
			r.Invoke(1, "read").OK(4)
		}, false, "warning: "},
		{"two arguments of a cas are a pair", models.Spec{Name: "cas-register", Init: "1"}, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "cas", 1, 2).OK()
			r.Invoke(0, "read").OK(2)
		}, false, ""},
		{"the first argument of a kv is its key", kv, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "put", "x", 3).OK()
			r.Invoke(0, "cas", "x", 3, 4).OK()
			r.Invoke(1, "get", "x").OK(4)
			r.Invoke(1, "get", "y").OK(nil)
			r.Invoke(1, "get", "x").OK(3)
		}, true, `value 3 of key "x" was read by process 1`},
		{"independent keys", register, []clewtest.Option{clewtest.Checking(clew.Options{Independent: true})}, func(r *clewtest.Recorder) {
			r.Invoke(0, "write", "x", 3).OK()
			r.Invoke(0, "write", "y", 4).OK()
			r.Invoke(0, "write", "y", 5).OK()
			r.Invoke(1, "read", "x").OK(3)
			r.Invoke(1, "read", "y").OK(4)
		}, true, "value 4 was read by process 1"},
		{"a revision is only shown", register, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "write", 3, jepsen.With("node", "n1")).OK(jepsen.With("revision", 17))
			r.Invoke(0, "read").OK(3, jepsen.With("revision", 17))
		}, false, ""},
		{"nothing is vacuous", register, nil, func(r *clewtest.Recorder) {}, false, "the verdict is vacuous: there are no client operations"},
		{"only writes are vacuous", register, nil, func(r *clewtest.Recorder) { r.Invoke(0, "write", 3).OK() }, false, "the verdict is vacuous: "},
		{"an f that the model does not know", register, nil, func(r *clewtest.Recorder) { r.Invoke(0, "push", 3).OK() }, true, "the history cannot be checked: register does not know :f :push"},
		{"unknown", models.Spec{Name: "cas-register"}, tight(), crowded, true, "lets this pass)\nunknown: "},
		{"unknown is allowed", models.Spec{Name: "cas-register"}, append(tight(), clewtest.AllowUnknown()), crowded, false, "unknown: "},
		{"invalid, and not known where", models.Spec{Name: "cas-register"}, append(tight(), clewtest.AllowUnknown()), impossible, true, "evidence is missing (out-of-memory): which completion fails first"},
		{"a model that does not exist", models.Spec{Name: "registre"}, nil, stale, true, "the spec of the model: "},
		{"no model", models.Spec{}, nil, stale, true, "the spec of the model: "},
		{"a parameter that the model does not take", models.Spec{Name: "register", Permits: 3}, nil, stale, true, "the spec of the model: Spec.Permits"},
		{"a value that EDN does not have", register, nil, func(r *clewtest.Recorder) { r.Invoke(0, "write", struct{ X int }{3}).OK() }, true, "recording: event 0, process 0's :invoke"},
		{"no f", register, nil, func(r *clewtest.Recorder) { r.Invoke(0, "a b") }, true, "expected an :f such as"},
		{"an operation that ends twice", register, nil, func(r *clewtest.Recorder) {
			op := r.Invoke(0, "write", 3)
			op.OK()
			op.Info(nil)
		}, true, "recording: Info of client 0's write 3, which has ended with OK at recorder_test.go:"},
		{"a client that is busy", register, nil, func(r *clewtest.Recorder) {
			r.Invoke(0, "write", 3)
			op := r.Invoke(0, "read")
			op.OK(4)
			op.OK(4)
		}, true, "recording: client 0 invokes read while its write 3 is open, which was invoked at recorder_test.go:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, failed := examined(t, func(t testing.TB) { c.record(clewtest.New(t, c.spec, c.options...)) })
			if failed != c.fails || !strings.Contains(log, c.says) || c.says == "" && log != "" {
				t.Errorf("failed: %v; expected %v and %q in\n%s", failed, c.fails, c.says, log)
			}
			if strings.Contains(log, "recording: ") && strings.Count(log, "\n") > 1 {
				t.Errorf("it says more than one thing:\n%s", log)
			}
		})
	}
}

// tight are options with which little can be decided.
func tight() []clewtest.Option {
	return []clewtest.Option{clewtest.Checking(clew.Options{Memory: clew.NewMemory(1000), TimeLimit: 100 * time.Millisecond})}
}

// The files that a failure leaves can be read, and the small ones fail again.
func TestFailuresLeaveFiles(t *testing.T) {
	log, _ := examined(t, func(t testing.TB) {
		clewtest.Run(t, models.Spec{Name: "register"}, 8, 200, register(1))
	})
	for _, c := range []struct{ file, holds string }{{"history", ""}, {"smallest", ""}, {"core", ""}, {"failure", "<html"}} {
		path := regexp.MustCompile(`\S+` + c.file + `\.(edn|html)`).FindString(log)
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), c.holds) {
			t.Errorf("%s: %v in\n%s", c.file, err, log)
		}
		if !strings.HasSuffix(path, ".edn") {
			continue
		}
		h, err := clew.ReadFile(path, jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{}); err != nil || r.Verdict != jepsen.Invalid {
			t.Errorf("%s: %v, %v", path, r, err)
		}
	}
}

// The log has the command that checks the history again, with the key of positions.
func TestFailuresSayTheCommand(t *testing.T) {
	log, _ := examined(t, func(t testing.TB) {
		r := clewtest.New(t, models.Spec{Name: "kv", Position: "revision", SparsePositions: true})
		r.Invoke(0, "put", "x", 1).OK(jepsen.With("revision", 8))
		r.Invoke(0, "get", "x").OK(1, jepsen.With("revision", 7))
	})
	said := regexp.MustCompile(`again: +clew check --model kv --position revision --positions sparse (\S+history\.edn)`).FindStringSubmatch(log)
	if said == nil {
		t.Fatalf("there is no command in\n%s", log)
	}
	if _, err := os.Stat(said[1]); err != nil {
		t.Error(err)
	}
}

func TestClientsShareARecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := clewtest.New(t, models.Spec{Name: "register", Init: "0"})
		var mu sync.Mutex
		value := 0
		var clients sync.WaitGroup
		for c := range 8 {
			clients.Go(func() {
				for i := range 100 {
					time.Sleep(time.Duration(c+1) * time.Microsecond)
					w := r.Invoke(c, "write", 1000*c+i+1)
					mu.Lock()
					value = 1000*c + i + 1
					mu.Unlock()
					w.OK()
					read := r.Invoke(c, "read")
					mu.Lock()
					v := value
					mu.Unlock()
					read.OK(v)
				}
			})
		}
		clients.Wait()
	})
}

// misusing is set in a run of this package's tests that must fail.
const misusing = "CLEWTEST_MISUSING"

// Failures stand at the lines of the test that made them, which are marked.
func TestFailuresStandAtTheLinesOfTheTest(t *testing.T) {
	if os.Getenv(misusing) != "" {
		t.Skip("it is under way")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	artifacts := t.TempDir()
	cmd := exec.Command(exe, "-test.run", "^TestMisuse$", "-test.artifacts", "-test.outputdir", artifacts)
	cmd.Env = append(os.Environ(), misusing+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("expected failures, found\n%s", out)
	}
	source, err := os.ReadFile("recorder_test.go")
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for i, line := range strings.Split(string(source), "\n") {
		if _, says, is := strings.Cut(line, "// fails: "); is && !strings.Contains(line, "strings.Cut") {
			marked++
			if want := fmt.Sprintf("recorder_test.go:%d: %s", i+1, says); !strings.Contains(string(out), want) {
				t.Errorf("expected %q in\n%s", want, out)
			}
		}
	}
	if marked != 6 {
		t.Errorf("%d lines are marked", marked)
	}
	for _, page := range regexp.MustCompile(`\S+failure\.html`).FindAllString(string(out), -1) {
		if _, err := os.Stat(page); err != nil || !strings.HasPrefix(page, artifacts) {
			t.Errorf("expected a page below %s: %s, %v", artifacts, page, err)
		}
	}
}

func TestMisuse(t *testing.T) {
	if os.Getenv(misusing) == "" {
		t.Skip("these tests fail")
	}
	register := models.Spec{Name: "register"}
	t.Run("twice", func(t *testing.T) {
		op := clewtest.New(t, register).Invoke(0, "write", 1)
		op.OK()
		op.Fail() // fails: recording: Fail of client 0's write 1
	})
	t.Run("busy", func(t *testing.T) {
		r := clewtest.New(t, register)
		r.Invoke(0, "write", 1)
		r.Invoke(0, "read") // fails: recording: client 0 invokes read while
	})
	t.Run("stale", func(t *testing.T) {
		stale(clewtest.New(t, register)) // fails: the history is not linearizable
	})
	t.Run("no model", func(t *testing.T) {
		clewtest.New(t, models.Spec{Name: "registre"}) // fails: the spec of the model:
	})
	t.Run("run", func(t *testing.T) {
		clewtest.Run(t, register, 2, 100, register1, clewtest.Seed(5)) // fails: 100 operations of 2 clients, CLEW_SEED=5: the history is not linearizable
	})
	t.Run("busy in a run", func(t *testing.T) {
		clewtest.Run(t, register, 1, 1, func(testing.TB) func(*clewtest.Client) {
			return func(c *clewtest.Client) {
				c.Invoke("write", 1)
				c.Invoke("read") // fails: recording: client 0 invokes read while
			}
		})
	})
}

var register1 = register(1)
