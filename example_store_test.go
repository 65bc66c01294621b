package clew_test

import (
	"context"
	"fmt"
	"time"

	"clew"
)

// All histories of a store are checked, and those in archives.
func ExampleCheckStore() {
	o := clew.StoreOptions{Options: clew.Options{TimeLimit: time.Minute}, MemoryLimit: 1 << 30}
	for run, err := range clew.CheckStore(context.Background(), o, "testdata/histories") {
		if err != nil {
			fmt.Println(err) // and go on with the next one
			continue
		}
		fmt.Println(run.Test, run.Result.Model, run.Result.Verdict)
	}
	// Output:
	// cas-lost.edn cas-register not linearizable
	// crashed-write.edn register linearizable
	// mutex-twice.edn mutex not linearizable
	// testdata/histories/queue-reordered.edn: cannot infer the model from :dequeue, :enqueue; give Spec.Name fifo-queue, unordered-queue or priority-queue
	// stale-read.edn register not linearizable
	// valid-register.edn register linearizable
}
