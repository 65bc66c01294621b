package clewtest_test

import (
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clew"
	"clew/clewtest"
	"clew/models"
)

// smallest returns how many operations and clients the smallest run had, as the log says.
func smallest(t testing.TB, log string) (operations, clients int) {
	t.Helper()
	found := regexp.MustCompile(`the smallest that fails has (\d+) operations? of (\d+) clients?`).FindStringSubmatch(log)
	if found == nil {
		t.Fatalf("expected a smaller run that fails in\n%s", log)
	}
	operations, _ = strconv.Atoi(found[1])
	clients, _ = strconv.Atoi(found[2])
	return operations, clients
}

func TestFailuresShrink(t *testing.T) {
	for _, c := range []struct {
		name                string
		spec                models.Spec
		system              func(testing.TB) func(*clewtest.Client)
		operations, clients int // at most
		says                string
	}{
		{"a stale read", models.Spec{Name: "register"}, register(1), 5, 1, "Stale read: "},
		{"a read that is 20 writes late", models.Spec{Name: "register"}, register(20), 60, 8, "Stale read: "},
		{"a stale read of a sleepy register", models.Spec{Name: "register", Init: "0"}, sleepy, 5, 2, "Stale read: "},
		{"a key whose deletion is forgotten", models.Spec{Name: "kv"}, store, 5, 1, ":delete 7"},
		{"a queue whose elements are taken twice", models.Spec{Name: "fifo-queue"}, queues, 10, 8, "twice"},
		{"a register of each key", models.Spec{Name: "register"}, registers, 5, 1, "Stale read: "},
		{"a counter that loses additions", counters, adding, 10, 8, "the sum is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			log, failed := examined(t, func(t testing.TB) {
				clewtest.Run(t, c.spec, 8, 2000, c.system, clewtest.Seed(1), clewtest.Checking(clew.Options{Independent: strings.Contains(c.name, "each key")}))
			})
			if !failed {
				t.Fatalf("expected a failure:\n%s", log)
			}
			t.Logf("%v: %s", time.Since(start), log)
			if operations, clients := smallest(t, log); operations > c.operations || clients > c.clients || !strings.Contains(log, c.says) {
				t.Errorf("%d operations of %d clients; expected at most %d of %d, and %q", operations, clients, c.operations, c.clients, c.says)
			}
		})
	}
}

func TestFailuresShrinkInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, failed := examined(t, func(t testing.TB) {
			clewtest.Run(t, models.Spec{Name: "register", Init: "0"}, 8, 2000, sleepy, clewtest.Seed(2))
		})
		if operations, clients := smallest(t, log); !failed || operations > 5 || clients > 2 {
			t.Errorf("%d operations of %d clients:\n%s", operations, clients, log)
		}
	})
}

// A failure that never comes again still shows the few operations that contradict each other.
func TestAFailureThatNeverComesAgain(t *testing.T) {
	runs := 0
	log, failed := examined(t, func(t testing.TB) {
		clewtest.Run(t, models.Spec{Name: "register"}, 8, 2000, func(t testing.TB) func(*clewtest.Client) {
			runs++
			return register(max(0, 2-runs))(t)
		}, clewtest.ShrinkWithin(time.Minute, 30))
	})
	if !failed || runs < 2 || runs > 31 || !strings.Contains(log, "but none of them failed") || strings.Count(log, "├──┤") > 5 || strings.Contains(log, "smallest") {
		t.Errorf("%d runs:\n%s", runs, log)
	}
}

func TestRunsThatPass(t *testing.T) {
	for _, c := range []struct {
		name   string
		system func(testing.TB) func(*clewtest.Client)
		fails  bool
		says   string
	}{
		{"a correct register", register(0), false, ""},
		{"no operations", func(testing.TB) func(*clewtest.Client) { return func(*clewtest.Client) {} }, false, "the verdict is vacuous"},
		{"operations that never end", func(testing.TB) func(*clewtest.Client) {
			return func(c *clewtest.Client) { c.Invoke("write", 1) }
		}, false, "the verdict is vacuous"},
		{"operations that end too late", func(testing.TB) func(*clewtest.Client) {
			var last *clewtest.Op
			return func(c *clewtest.Client) {
				if last != nil {
					last.OK()
				}
				last = c.Invoke("write", 1)
			}
		}, true, "OK of client 0's write 1, which has ended with the end of the function that began it"},
		{"a client whose goroutine ends", func(testing.TB) func(*clewtest.Client) {
			return func(c *clewtest.Client) {
				if c.Invoke("read"); c.Rand.IntN(4) == 0 {
					runtime.Goexit()
				}
			}
		}, false, "the verdict is vacuous"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, failed := examined(t, func(t testing.TB) { clewtest.Run(t, models.Spec{Name: "register"}, 1, 200, c.system) })
			if failed != c.fails || !strings.Contains(log, c.says) || c.says == "" && log != "" {
				t.Errorf("failed: %v; expected %q in\n%s", failed, c.says, log)
			}
		})
	}
}

// The choices of a seed are the same in every run, and each operation's own.
func TestSeedsRepeat(t *testing.T) {
	choices := func(options ...clewtest.Option) string {
		var mu sync.Mutex
		made := map[string]bool{}
		system := func(testing.TB) func(*clewtest.Client) {
			return func(c *clewtest.Client) {
				first, unique := c.Pick(1000), c.Unique()
				second := fmt.Sprint(unique, " ", c.ID, " ", first, " ", c.Rand.Uint64(), " ", c.Unique())
				mu.Lock()
				defer mu.Unlock()
				made[second] = true
			}
		}
		clewtest.Run(t, models.Spec{Name: "register"}, 3, 100, system, options...)
		if len(made) != 100 {
			t.Errorf("%d different operations", len(made))
		}
		return strings.Join(slices.Sorted(maps.Keys(made)), "\n")
	}
	one, two := choices(clewtest.Seed(1)), choices(clewtest.Seed(2))
	random, other := choices(), choices()
	if one != choices(clewtest.Seed(1)) || one == two || random == other {
		t.Error("expected the same choices of the same seed, and others of another")
	}
	t.Setenv("CLEW_SEED", "2")
	if two != choices(clewtest.Seed(1)) {
		t.Error("expected CLEW_SEED to count more")
	}
	t.Setenv("CLEW_SEED", "two")
	log, _ := examined(t, func(t testing.TB) { clewtest.New(t, models.Spec{Name: "register"}) })
	if !strings.Contains(log, `CLEW_SEED is "two"; expected the number`) {
		t.Error(log)
	}
}

// Each run has a system of its own, which is closed when the run is over.
func TestSystemsAreClosed(t *testing.T) {
	opened, closed := 0, 0
	examined(t, func(t testing.TB) {
		clewtest.Run(t, models.Spec{Name: "register"}, 4, 100, func(t testing.TB) func(*clewtest.Client) {
			opened++
			t.Cleanup(func() {
				if closed++; closed != opened || t.Context().Err() == nil {
					t.Errorf("%d systems are open, %v", opened-closed+1, t.Context().Err())
				}
			})
			return register(1)(t)
		})
	})
	if opened != closed || opened < 2 {
		t.Errorf("%d systems were opened, %d closed", opened, closed)
	}
}

// A system that blocks in a smaller run is closed, and if it still blocks then, the search ends.
func TestARunThatBlocksIsGivenUp(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			runs := 0
			blocked := make(chan struct{})
			log, failed := examined(t, func(t testing.TB) {
				clewtest.Run(t, models.Spec{Name: "register"}, 4, 100, func(t testing.TB) func(*clewtest.Client) {
					if runs++; runs == 1 {
						return register(1)(t)
					}
					return func(c *clewtest.Client) {
						c.Invoke("read")
						if obeys {
							<-t.Context().Done()
						} else {
							<-blocked
						}
					}
				})
			})
			close(blocked)
			gaveUp := strings.Contains(log, "1 smaller run took 2s; the last one did not end and was given up, but none of them failed")
			if !failed || gaveUp == obeys {
				t.Errorf("%d runs:\n%s", runs, log)
			}
		})
	}
}
