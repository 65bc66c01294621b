package clew_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"clew"
	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// This example reads a file, checks it, and prints the result. The model is inferred, as the spec names none.
func Example() {
	h, err := clew.ReadFile("testdata/histories/stale-read.edn", jepsen.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := clew.Check(context.Background(), h, models.Spec{}, clew.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Model, r.Verdict)
	fmt.Println(r.Explanation)
	// Output:
	// register not linearizable
	// value 2 was read by process 0 (index 17) after value 3 had been read by process 2 (index 10); before that, value 2 had been written by process 2 (index 5)
}

// staleRead returns a history in which a read returns a value that has been replaced.
func staleRead() *jepsen.History {
	b := jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, "write", 1)
	b.OK(0, "write", 1)
	b.Invoke(0, "cas", []int{1, 2})
	b.OK(0, "cas", []int{1, 2})
	b.Invoke(1, "read", nil)
	b.OK(1, "read", 1)
	h, err := b.History()
	if err != nil {
		panic(err)
	}
	return h
}

// A history that a program has built is checked against a built-in model. The result says the verdict, the operation
// that fails, and the core: a few operations that contradict each other.
func ExampleCheck() {
	r, err := clew.Check(context.Background(), staleRead(), models.Spec{Name: "cas-register", Init: "0"}, clew.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict)
	if failing, ok := r.Failing(); ok {
		fmt.Println("failing:", failing.Process, failing.F, failing.Value)
	}
	for _, op := range r.CoreOps() {
		fmt.Println("core:", op.Process, op.F, op.Value)
	}
	// Output:
	// not linearizable
	// failing: 1 read 1
	// core: 0 write 1
	// core: 0 cas [1 2]
	// core: 1 read 1
}

// Operations with call and return times make a history, too. Operations whose times touch are concurrent. The witness
// of a valid result is an order that explains what every client saw, and can be replayed.
func ExampleCheck_intervals() {
	h, err := jepsen.FromIntervals([]jepsen.Interval{
		{Process: 0, F: "enqueue", Input: "a", Call: 0, Return: 10},
		{Process: 1, F: "enqueue", Input: "b", Call: 10, Return: 20},
		{Process: 2, F: "dequeue", Output: "b", Call: 30, Return: 40},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := models.Spec{Name: "fifo-queue"}
	r, err := clew.Check(context.Background(), h, spec, clew.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict)
	for _, op := range r.WitnessOps() {
		fmt.Println(op.F, op.Value)
	}
	fmt.Println("replayed:", clew.Verify(h, spec, r.Witness))
	// Output:
	// linearizable
	// enqueue b
	// enqueue a
	// dequeue b
	// replayed: <nil>
}

// Verify says at which position an order is not a linearization.
func ExampleVerify() {
	h := staleRead()
	err := clew.Verify(h, models.Spec{Name: "cas-register"}, []jepsen.Operation{0, 1, 2})
	var wrong *clew.WitnessError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Position, wrong.Msg)
	}
	// Output:
	// 2 process 1's :read 1 (index 5) cannot happen there: can't read 1 from register 2
}

// An error about a history knows its place.
func ExampleRead_errors() {
	const text = `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :read, :value 1}`
	_, err := clew.Read(strings.NewReader(text), "h.edn", jepsen.Options{})
	var e *edn.Error
	if errors.As(err, &e) {
		fmt.Printf("file %s, line %d, column %d\n%s\n", e.File, e.Line, e.Col, e.Msg)
	}
	// Output:
	// file h.edn, line 2, column 1
	// process 0's :ok :read (index 1) completes its :invoke :write (index 0, line 1) with a different :f; expected :write
}

// A program can word an error about a parameter of a model in terms of its own settings.
func ExampleCheck_parameters() {
	var spec models.Spec
	fmt.Println(spec.Set(models.ParamPermits, "none"))
	_, err := clew.Check(context.Background(), staleRead(), models.Spec{Name: "semaphore"}, clew.Options{})
	var p *models.ParamError
	if errors.As(err, &p) {
		fmt.Println(p.Spell(func(name models.Param) string { return "the setting " + strings.ToUpper(string(name)) }))
	}
	// Output:
	// Spec.Permits must be a number of at least 1, not none
	// semaphore needs the setting PERMITS K, the number of its permits, at least 1
}

// A service can watch a system while it runs: it feeds a monitor with what its clients do.
func ExampleMonitor_Observe() {
	m, err := clew.NewMonitor(context.Background(), models.Spec{Name: "register", Init: "nil"}, clew.Options{})
	if err != nil {
		log.Fatal(err)
	}
	report := func(found []clew.Anomaly, err error) {
		if err != nil {
			log.Fatal(err)
		}
		for _, a := range found {
			fmt.Println(a.Kind, a.Explanation)
		}
	}
	for value := 1; value <= 2; value++ {
		report(m.Observe(clew.Event{Type: jepsen.Invoke, Process: 0, F: "write", Value: value}))
		report(m.Observe(clew.Event{Type: jepsen.OK, Process: 0, F: "write", Value: value}))
	}
	report(m.Observe(clew.Event{Type: jepsen.Invoke, Process: 1, F: "read"}))
	report(m.Observe(clew.Event{Type: jepsen.OK, Process: 1, F: "read", Value: 1}))
	report(m.End())
	// Output:
	// stale-read value 1 was read by process 1 (index 5) after value 2 had been written by process 0 (index 3); before that, value 1 had been written by process 0 (index 1)
}
