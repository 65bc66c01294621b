// Package clewtest records what concurrent clients of a system do in a Go test, and fails the test if the recorded
// history is not linearizable: if no order of the operations explains what every client saw.
//
// # A short test
//
// Run calls your system from several clients at once, with random operations, and checks what they saw. If that
// fails, it looks for the smallest run that fails too.
//
//	func TestStore(t *testing.T) {
//		clewtest.Run(t, models.Spec{Name: "kv"}, 8, 2000, func(t testing.TB) func(c *clewtest.Client) {
//			store := NewStore() // the system under test; each run gets a fresh one
//			return func(c *clewtest.Client) { // one operation
//				if key, value := c.Pick(3), c.Unique(); c.Rand.IntN(2) == 0 {
//					op := c.Invoke("put", key, value)
//					store.Put(key, value)
//					op.OK()
//				} else {
//					op := c.Invoke("get", key)
//					op.OK(store.Get(key))
//				}
//			}
//		})
//	}
//
// The imports are testing, clew/clewtest and clew/models.
//
// # A test with its own clients
//
// New gives a Recorder to a test with clients of its own. The history is checked when the test ends.
//
//	r := clewtest.New(t, models.Spec{Name: "register"})
//	...
//	op := r.Invoke(3, "write", 7) // client 3 calls write(7)
//	if err := system.Write(7); err != nil {
//		op.Info(err) // it may have happened, or may still happen
//	} else {
//		op.OK()
//	}
//
// A client is any integer. It does one thing at a time: its operation ends before its next one begins. Use one client
// for each goroutine.
//
// # Operations and their values
//
// The model says which operations there are: go doc clew/models Spec, the command clew models, and docs/models.md list
// them. A model of your own is a models.Func: models.Own(f.Definition()) is its spec.
//
//	model        Invoke                           OK
//	register     "write", 3                       nothing
//	             "read"                           3, or nil
//	cas-register "cas", 1, 2                      nothing; Fail if the value was not 1
//	kv           "put", "x", 3                    nothing
//	             "get", "x"                       3, or nil if there is nothing
//	             "cas", "x", 1, 2                 nothing
//	fifo-queue   "enqueue", 3                     nothing
//	             "dequeue"                        3, or nil if it was empty
//	set          "add", 3                         nothing
//	             "read"                           []int{1, 3}
//	mutex        "acquire" or "release"           nothing
//
// If the model reads keys, as kv does, the first argument of Invoke is the key. It becomes the :key of the operation,
// and what follows its :value. With the option Checking(clew.Options{Independent: true}) every key is a separate object
// of the model, and the first argument is its key too: Invoke("write", "x", 3) writes 3 to the register "x". With any
// other model all arguments are the value: none is nil, one is itself, and several are a list. Values are plain
// Go: numbers, strings, booleans, slices and maps, as edn.Values.From takes them.
//
// OK takes what the operation returned. OK() repeats what it was called with, which is right for whatever returns
// nothing, such as a write. Each argument that is a jepsen.With, in Invoke or in OK, is one more key of the event:
//
//	op.OK(v, jepsen.With("revision", 17))
//
// If answers tell their place in the order of updates, name the key, as in models.Spec{Name: "kv", Position: "revision"}.
// Then that order is replayed, however many values repeat; docs/positions.md says more.
//
// An operation that certainly did not happen ends with Fail. One whose outcome is not known, such as a timeout, ends
// with Info or not at all: it crashed.
//
// # What a failure shows
//
// The test's log has a sentence that says what is wrong, a drawing of the few operations that contradict each other, and
// the names of files:
//
//   - failure.html, a page for a browser: an interactive drawing and the operations;
//   - history.edn, everything that was recorded, for the command that the log has: clew check --model kv history.edn;
//   - core.edn, a small part of it that fails as a separate history;
//   - smallest.edn, the history of the smallest run that failed, if it is another one.
//
// They are in the test's ArtifactDir if go test runs with -artifacts, and otherwise in a new folder of os.TempDir,
// which stays.
//
// A verdict that is unknown fails the test too, unless the option AllowUnknown is given. The log says what made the
// history too hard, and what to change. A check takes at most a minute and 1 GB, unless Checking says otherwise. A
// verdict that is vacuous, since no operation returned anything that could be wrong, is only logged.
//
// # Smaller runs
//
// The random choices of Run depend on its seed, which a failure prints. Set CLEW_SEED in the environment, or the option
// Seed, to make them again. How the clients' operations overlap is up to the scheduler. In a bubble of testing/synctest,
// a system that sleeps behaves almost the same each time.
//
// Run then tries smaller runs, each on a fresh system and several times: first the operations that contradict each other,
// then with fewer clients, fewer operations and fewer values. Every operation keeps its random numbers, and waits for
// those that had returned before it began in the run that failed. ShrinkWithin says how long this may take. If no
// smaller run fails, the log still shows the smallest part of the first one that contradicts itself.
//
// # Use with others
//
// Recorders and Run work in parallel tests and subtests, with -race and -count, and in bubbles of testing/synctest. There
// time stands still while a history is checked, so that only the memory bounds a check. Run is for the goroutine of
// the test. Everything else may be called from any goroutine.
package clewtest
