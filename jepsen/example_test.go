package jepsen_test

import (
	"errors"
	"fmt"

	"clew/edn"
	"clew/jepsen"
)

// show prints the operations of a history.
func show(h *jepsen.History) {
	for op := range jepsen.Operation(h.Operations()) {
		o := h.Op(op)
		fmt.Println(o.Process, o.F, o.Value, o.Status)
	}
}

// A history is built event by event, in the order in which they happened.
func ExampleBuilder() {
	b := jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, "write", 1)
	b.Invoke(1, "read", nil)
	b.OK(0, "write", 1)
	b.Invoke(2, "cas", []int{1, 2})
	b.OK(1, "read", 1)
	b.Info(2, "cas", []int{1, 2})
	h, err := b.History()
	if err != nil {
		fmt.Println(err)
		return
	}
	show(h)
	// Output:
	// 0 write 1 succeeded
	// 1 read 1 succeeded
	// 2 cas [1 2] crashed
}

// The first event that makes no sense is the error of History.
func ExampleBuilder_History() {
	b := jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, "write", 1)
	b.OK(0, "write", 1)
	b.OK(0, "write", 1)
	_, err := b.History()
	var e *edn.Error
	fmt.Println(errors.As(err, &e))
	fmt.Println(err)
	// Output:
	// true
	// process 0's :ok :write (index 2) has no invocation: the process's last operation was completed by its :ok :write (index 1)
}

// An event may have more keys than these, such as the :key that some models read.
func ExampleWith() {
	b := jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, "put", "a", jepsen.With("key", "x"), jepsen.With("time", 12))
	b.OK(0, "put", "a", jepsen.With("key", "x"), jepsen.With("time", 15))
	h, err := b.History()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h.Op(0).Key, h.EventMap(0))
	// Output:
	// x {:f :put, :index 0, :key "x", :process 0, :time 12, :type :invoke, :value "a"}
}

// Operations whose times touch are concurrent. A read that is called when a write returns
// may return before it in the order of the history.
func ExampleFromIntervals() {
	h, err := jepsen.FromIntervals([]jepsen.Interval{
		{Process: 0, F: "write", Input: 1, Call: 0, Return: 10},
		{Process: 1, F: "read", Output: 0, Call: 10, Return: 20},
		{Process: 2, F: "write", Input: 2, Call: 15, Status: jepsen.Crashed},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	show(h)
	fmt.Println("the read is called before the write returns:", h.Invocation[1] < h.Completion[0])

	_, err = jepsen.FromIntervals([]jepsen.Interval{{Process: 7, F: "read", Call: 30, Return: 20}})
	fmt.Println(err)
	// Output:
	// 0 write 1 succeeded
	// 1 read 0 succeeded
	// 2 write 2 crashed
	// the read is called before the write returns: true
	// interval 0 (process 7's read): it returns at 20, before its call at 30
}
