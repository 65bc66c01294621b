package clewtest_test

import (
	"testing"

	"clew/clewtest"
	"clew/jepsen"
	"clew/models"
)

// A test calls the system and records each call. Here a read returns a value that has been replaced. In a test, t is the
// test's own.
func ExampleNew() {
	t := newPrinter()
	defer t.end()

	r := clewtest.New(t, models.Spec{Name: "register"})
	for v := 1; v <= 2; v++ {
		op := r.Invoke(0, "write", v)
		op.OK()
	}
	op := r.Invoke(1, "read")
	op.OK(1)
	// Output:
	// the history is not linearizable
	// INVALID
	//   register, 3 operations, clew/fast-register, verified, .. ms
	//   Stale read: value 1 was read by process 1 (index 5) after value 2 had been written by process 0 (index 3);
	//     before that, value 1 had been written by process 0 (index 1)
	//   see docs/failures.md#stale-read
	//
	//   process 0  :write 1  ├──┤
	//   process 0  :write 2        ├──┤
	//   process 1  :read 1               ├──┤ ✗ expected 2, got 1
}

// Run makes 200 random operations on a map that forgets the deletion of key 2, and then looks for the smallest run that
// fails. In a test, t is the test's own.
func ExampleRun() {
	t := newPrinter()
	defer t.end()

	system := func(t testing.TB) func(c *clewtest.Client) {
		m := map[int]int{}
		return func(c *clewtest.Client) {
			switch key, value := c.Pick(3), c.Unique(); c.Rand.IntN(3) {
			case 0:
				op := c.Invoke("put", key, value)
				m[key] = value
				op.OK()
			case 1:
				op := c.Invoke("delete", key)
				if key != 2 {
					delete(m, key)
				}
				op.OK()
			default:
				op := c.Invoke("get", key)
				if v, ok := m[key]; ok {
					op.OK(v)
				} else {
					op.OK(nil)
				}
			}
		}
	}
	clewtest.Run(t, models.Spec{Name: "kv"}, 1, 200, system, clewtest.Seed(1)) // with one client, a map will do
	// Output:
	// 200 operations of 1 client, CLEW_SEED=1: the history is not linearizable
	// .. smaller runs took ..; the smallest that fails has 3 operations of 1 client:
	// INVALID
	//   kv, 3 operations, clew/fast-kv, verified, .. ms
	//   Stale read: value 1 of key 2 was read by process 0 (index 5) after value nil of key 2 had been written by
	//     process 0 (index 3); before that, value 1 of key 2 had been written by process 0 (index 1)
	//   see docs/failures.md#stale-read
	//
	//   process 0  :put 2 1   ├──┤
	//   process 0  :delete 2        ├──┤
	//   process 0  :get 2 1               ├──┤ ✗ expected nil, got 1
}

// Operations may fail, or end without saying whether they happened. More keys of an event are shown on pages.
func ExampleOp() {
	t := newPrinter()
	defer t.end()

	r := clewtest.New(t, models.Spec{Name: "kv"})
	lost := r.Invoke(0, "put", "x", 1)
	lost.Info(nil, jepsen.With("node", "n2")) // a timeout: it may have happened
	refused := r.Invoke(1, "put", "x", 2)
	refused.Fail()
	get := r.Invoke(1, "get", "x")
	get.OK(1, jepsen.With("revision", 17)) // so it has
	// Output:
}
