package porcupine

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	theirs "github.com/anishathalye/porcupine"

	"clew/contrib/porcupine/peers"
	"clew/internal/archive"
	"clew/internal/effort"
)

// ourselves takes away from porcupine what it would decide. If alone is false,
// Window goes first, as usual.
func ourselves(t *testing.T, alone bool) {
	t.Helper()
	before := budget
	t.Cleanup(func() { budget = before })
	budget.easy, budget.easyEach, budget.more = 1, 0, 1
	if alone {
		budget = budgets{easy: 1, window: 1}
	}
}

func TestEtcdLogsAsPorcupineHasThem(t *testing.T) {
	for _, row := range archive.Table(t, archive.Path(t, "porcupine", "etcd-expected.tsv"), false) {
		c, err := peers.Etcd(archive.Path(t, "porcupine", "etcd", row[0]))
		if err != nil {
			t.Fatal(err)
		}
		want := CheckResult(row[1])
		if got := CheckEventsTimeout(c.Model, c.Events, time.Minute); got != want {
			t.Errorf("%s: %s, want %s", row[0], got, want)
		}
		if got := CheckOperations(c.Model, c.Operations()); got != (want == Ok) {
			t.Errorf("%s as operations: %t, want %s", row[0], got, want)
		}
	}
}

// Our searches also decide what porcupine's usually decides first.
func TestEtcdLogsWithoutPorcupine(t *testing.T) {
	ourselves(t, true)
	TestEtcdLogsAsPorcupineHasThem(t)
}

func TestMapsOfStringsAsPorcupineHasThem(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(archive.Path(t, "porcupine", "kv"), "*.txt"))
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, expected 6 (%v)", len(files), err)
	}
	for _, file := range files {
		for _, split := range []bool{true, false} {
			hard := !split && !strings.Contains(file, "c01") || strings.Contains(file, "c50-ok")
			if hard && (effort.Few() || !split && strings.Contains(file, "c50")) {
				continue // porcupine does not decide c50 without partitions, and neither do we
			}
			c, err := peers.KV(file, split)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.HasSuffix(file, "-ok.txt")
			if got := CheckEvents(c.Model, c.Events); got != want {
				t.Errorf("%s, split %t: %t", c.Name, split, got)
			}
			if hard {
				continue
			}
			if got := CheckOperations(c.Model, c.Operations()); got != want {
				t.Errorf("%s as operations, split %t: %t", c.Name, split, got)
			}
		}
	}
}

// input is an operation of the small models below. Each of them reads it in its
// own way. The output is an int, or nil if it is not known.
type input struct{ f, value int }

// small are models of many kinds: with == and with Equal, with and without Hash,
// with sets of states, with states that == cannot compare.
var small = map[string]Model{
	"register": {
		Init: func() any { return 0 },
		Step: func(state, in, out any) (bool, any) {
			switch x := in.(input); x.f {
			case 0:
				return out == nil || out == state, state
			case 1:
				return true, x.value
			}
			if out == nil || out.(int) == state.(int) { // a fetch-and-add modulo 4
				return true, (state.(int) + in.(input).value) % 4
			}
			return false, state
		},
	},
	"stack without a Hash": stack(nil),
	"stack with a Hash":    stack(func(state any) uint64 { return uint64(len(state.([]int))) }),
	"set that is a list": {
		Init: func() any { return []int(nil) },
		Step: func(state, in, out any) (bool, any) {
			s, x := state.([]int), in.(input)
			has := slices.Contains(s, x.value)
			if x.f == 0 {
				return out == nil || (out.(int) > 0) == has, state
			}
			if has {
				return true, state
			}
			return true, append(slices.Clone(s), x.value)
		},
		// Equal calls states equal that have different contents.
		Equal: func(a, b any) bool {
			x, y := slices.Clone(a.([]int)), slices.Clone(b.([]int))
			slices.Sort(x)
			slices.Sort(y)
			return slices.Equal(x, y)
		},
	},
	"register with a cache": {
		Init: func() any { return counted{} },
		Step: func(state, in, out any) (bool, any) {
			s, x := state.(counted), in.(input)
			if x.f == 0 {
				return out == nil || out == s.value, counted{s.value, s.steps + 1}
			}
			return true, counted{x.value, s.steps + 1}
		},
		// What Equal leaves out is different in nearly all states.
		Equal: func(a, b any) bool { return a.(counted).value == b.(counted).value },
	},
	"register that may forget":                    forgetful(nil).ToModel(),
	"register that may forget, with a Hash":       forgetful(func(state any) uint64 { return uint64(state.(int)) }).ToModel(),
	"register, whose inputs == cannot compare":    {},
	"counter without an end, split by its inputs": {},
}

// counted is the state of a register that counts its steps.
type counted struct{ value, steps int }

// stack returns a stack: f 0 pops, 1 and 2 push.
func stack(hash func(any) uint64) Model {
	return Model{
		Init: func() any { return []int(nil) },
		Step: func(state, in, out any) (bool, any) {
			s, x := state.([]int), in.(input)
			switch {
			case x.f > 0:
				return true, append(slices.Clone(s), x.value)
			case len(s) == 0:
				return out == nil, state
			}
			return out == nil || out == s[len(s)-1], s[:len(s)-1]
		},
		Equal: func(a, b any) bool { return slices.Equal(a.([]int), b.([]int)) },
		Hash:  hash,
	}
}

// forgetful returns a register that may lose each of its writes.
func forgetful(hash func(any) uint64) *NondeterministicModel {
	return &NondeterministicModel{
		Init: func() []any { return []any{0, 1} },
		Step: func(state, in, out any) []any {
			x := in.(input)
			switch {
			case x.f > 0:
				return []any{state, x.value, state}
			case out == nil || out == state:
				return []any{state}
			}
			return nil
		},
		Hash: hash,
	}
}

func init() {
	register := small["register"]
	small["register, whose inputs == cannot compare"] = Model{
		Init: register.Init,
		Step: func(state, in, out any) (bool, any) { return register.Step(state, in.([]input)[0], out) },
	}
	small["counter without an end, split by its inputs"] = Model{
		Partition: func(history []Operation) [][]Operation {
			parts := make([][]Operation, 3)
			for _, o := range history {
				v := o.Input.(input).value % 3
				parts[v] = append(parts[v], o)
			}
			return parts
		},
		PartitionEvent: func(history []Event) [][]Event {
			parts, of := make([][]Event, 3), map[int]int{}
			for _, e := range history {
				if e.Kind == CallEvent {
					of[e.Id] = e.Value.(input).value % 3
				}
				parts[of[e.Id]] = append(parts[of[e.Id]], e)
			}
			return parts
		},
		Init: func() any { return 0 },
		StepContext: func(_ context.Context, state, in, out any) (bool, any) {
			if in.(input).f == 0 {
				return out == nil || out == state, state
			}
			return true, state.(int) + 1
		},
	}
}

// random returns a small history with many ties between its times. Some
// operations return after all others, with an unknown effect.
func random(r *rand.Rand, list bool) []Operation {
	ops := make([]Operation, 1+r.IntN(9))
	for i := range ops {
		call := int64(r.IntN(12))
		var in, out any = input{r.IntN(3), r.IntN(4)}, r.IntN(4)
		if list {
			in = []input{in.(input)}
		}
		back := call + int64(r.IntN(5))
		if r.IntN(4) == 0 {
			out = nil
			if r.IntN(2) == 0 {
				back = 20
			}
		}
		ops[i] = Operation{ClientId: i, Input: in, Call: call, Output: out, Return: back}
	}
	return ops
}

func TestSmallHistoriesAsPorcupineHasThem(t *testing.T) {
	n := 2000
	if effort.Few() {
		n = 200
	}
	for _, alone := range []bool{false, true} {
		ourselves(t, alone)
		for name, model := range small {
			r := rand.New(rand.NewPCG(16, 4))
			valid := 0
			for range n {
				ops := random(r, strings.Contains(name, "cannot compare"))
				want := theirs.CheckOperations(model, ops)
				if got := CheckOperations(model, ops); got != want {
					t.Fatalf("%s: %t, porcupine says %t of\n%s", name, got, want, show(ops))
				}
				events := eventsOf(ops)
				r.Shuffle(len(events)/4, func(i, j int) { // which may make no sense
					if r.IntN(8) == 0 {
						events[i], events[j] = events[j], events[i]
					}
				})
				want = theirs.CheckEvents(model, events)
				if got := CheckEventsTimeout(model, events, time.Minute); (got == Ok) != want || got == Unknown {
					t.Fatalf("%s: %s, porcupine says %t of\n%v", name, got, want, events)
				}
				if want {
					valid++
				}
			}
			if 20*valid < n || 20*valid > 19*n {
				t.Errorf("%s: one verdict is rare: %d valid of %d", name, valid, n)
			}
		}
	}
}

func show(ops []Operation) string {
	var lines strings.Builder
	for _, o := range ops {
		fmt.Fprintf(&lines, "%d..%d %v -> %v\n", o.Call, o.Return, o.Input, o.Output)
	}
	return lines.String()
}

// Our version of porcupine's search asks for the same steps as porcupine, in the
// same order, however often it pauses. It asks for none twice.
func TestPorcupinesSearchTakesPorcupinesSteps(t *testing.T) {
	// record makes a model write down every step.
	type step struct{ state, in, out any }
	record := func(model Model) (Model, *[]step) {
		steps := new([]step)
		ask := model.StepContext
		model.StepContext = func(ctx context.Context, state, in, out any) (bool, any) {
			*steps = append(*steps, step{state, in, out})
			return ask(ctx, state, in, out)
		}
		return model, steps
	}
	for name, model := range small {
		model.Partition, model.PartitionEvent = nil, nil
		model = complete(model)
		r := rand.New(rand.NewPCG(16, 5))
		for range 300 {
			events := eventsOf(random(r, strings.Contains(name, "cannot compare")))
			asked, want := record(model)
			result := Illegal
			if theirs.CheckEvents(asked, events) {
				result = Ok
			}
			m := newNumbered(t.Context(), model, newPart(events))
			// first returns the numbers of steps, without those that were there before.
			first := func(steps []step) (numbers []string) {
				known := map[string]bool{}
				for _, s := range steps {
					n := fmt.Sprint(m.number(s.state), s.in, s.out)
					if !known[n] {
						numbers = append(numbers, n)
					}
					known[n] = true
				}
				return numbers
			}
			asked, got := record(model)
			p := newPart(events)
			w := newWGL(newNumbered(t.Context(), asked, p), p)
			answer := Unknown
			for answer == Unknown {
				answer = w.run(t.Context(), 1+r.IntN(9))
			}
			if answer != result || !slices.Equal(first(*got), first(*want)) {
				t.Fatalf("%s: %s after\n%v\nporcupine says %s after\n%v", name, answer, *got, result, *want)
			}
		}
	}
}

// Here, sets of operations do not begin in the first word, and take more than one word.
func TestPorcupinesSearchOfManyOperations(t *testing.T) {
	model := complete(small["register"])
	for _, last := range []int{5, 4_000} { // no operation has written these
		var ops []Operation
		for i := range 130 {
			ops = append(ops, Operation{Input: input{1, 1}, Call: int64(i), Return: int64(i), Output: 0})
		}
		for i := range 200 {
			ops = append(ops, Operation{Input: input{1, 5}, Call: 200, Return: int64(201 + i%2), Output: 0})
		}
		ops = append(ops, Operation{Input: input{0, 0}, Call: 201, Return: 202, Output: last})
		// All the writes of one value are equal, but porcupine does not know that.
		if last == 4_000 {
			ops = slices.Delete(ops, 132, 322)
		}
		events := eventsOf(ops)
		want := Illegal
		if theirs.CheckEvents(model, events) {
			want = Ok
		}
		p := newPart(events)
		if got := newWGL(newNumbered(t.Context(), model, p), p).run(t.Context(), math.MaxInt); got != want || (want == Ok) != (last == 5) {
			t.Errorf("a read of %d: %s, porcupine says %s", last, got, want)
		}
	}
}

func TestTiesAreConcurrentOnlyBetweenTimes(t *testing.T) {
	model := small["register"]
	// The read of the old value begins when the write returns.
	write, read := input{1, 3}, input{0, 0}
	ops := []Operation{{Input: write, Call: 1, Return: 2, Output: 0}, {Input: read, Call: 2, Return: 3, Output: 0}}
	events := []Event{{Kind: CallEvent, Value: write, Id: 7}, {Kind: ReturnEvent, Value: 0, Id: 7},
		{Kind: CallEvent, Value: read, Id: 3}, {Kind: ReturnEvent, Value: 0, Id: 3}}
	for _, ours := range []bool{false, true} {
		if ours {
			ourselves(t, true)
		}
		if !CheckOperations(model, ops) {
			t.Error("operations whose times touch are not concurrent")
		}
		if CheckEvents(model, events) {
			t.Error("the order of events does not count")
		}
	}
}

func TestHistoriesThatMakeNoSense(t *testing.T) {
	model := small["register"]
	call := func(id int) Event { return Event{Kind: CallEvent, Value: input{1, 3}, Id: id} }
	back := func(id int) Event { return Event{Kind: ReturnEvent, Value: 0, Id: id} }
	ourselves(t, true)
	for i, events := range [][]Event{nil, {call(1)}, {back(1)}, {back(1), call(1)}, {call(1), call(1)}, {call(1), back(1), back(1)},
		{call(1), back(1), call(1), back(1)}, {call(1), call(2), back(1)}} {
		if got, want := CheckEvents(model, events), theirs.CheckEvents(model, events); got != want {
			t.Errorf("history %d: %t, porcupine says %t", i, got, want)
		}
	}
	backwards := []Operation{{Input: input{1, 3}, Call: 3, Return: 1, Output: 0}}
	if got, want := CheckOperations(model, backwards), theirs.CheckOperations(model, backwards); got != want {
		t.Errorf("an operation that returns before its call: %t, porcupine says %t", got, want)
	}
	model.Partition = func([]Operation) [][]Operation { return nil }
	if !CheckOperations(model, backwards) {
		t.Error("a history without partitions is illegal")
	}
}

// concurrent returns operations that all overlap, and one that fails. It takes
// extremely long to try all of their orders.
func concurrent(n int) []Operation {
	var ops []Operation
	for i := range n {
		ops = append(ops, Operation{Input: input{1, i + 1}, Call: 0, Return: 10, Output: 0})
	}
	return append(ops, Operation{Input: input{0, 0}, Call: 11, Return: 12, Output: 1_000_000})
}

func TestATimeoutEndsTheCheck(t *testing.T) {
	model := stack(nil)
	for _, alone := range []bool{false, true} {
		ourselves(t, alone)
		if r := CheckOperationsTimeout(model, concurrent(40), 50*time.Millisecond); r != Unknown {
			t.Errorf("%s, want Unknown", r)
		}
		if r := CheckEventsTimeout(model, eventsOf(concurrent(40)), 50*time.Millisecond); r != Unknown {
			t.Errorf("events: %s, want Unknown", r)
		}
	}
	// A step that never returns does not hold up the check.
	release := make(chan bool)
	defer close(release)
	model.Step = func(state, in, out any) (bool, any) {
		<-release
		return true, state
	}
	if r := CheckOperationsTimeout(model, concurrent(2), 50*time.Millisecond); r != Unknown {
		t.Errorf("with a step that waits: %s, want Unknown", r)
	}
	// A step that listens to its context is stopped, and its answer does not count.
	var begun atomic.Bool
	told := make(chan bool, 100)
	model.StepContext = func(ctx context.Context, state, in, out any) (bool, any) {
		begun.Store(true)
		<-ctx.Done()
		told <- true
		return false, state
	}
	for !begun.Load() { // the time may be up before anything begins
		if r := CheckOperationsTimeout(model, concurrent(2), 50*time.Millisecond); r != Unknown {
			t.Errorf("with a step that is told: %s, want Unknown", r)
		}
	}
	<-told
}

func TestOneIllegalPartitionIsEnough(t *testing.T) {
	model := stack(nil)
	model.Partition = func(ops []Operation) [][]Operation { return [][]Operation{ops[:len(ops)-1], ops[len(ops)-1:]} }
	bad := Operation{Input: input{0, 0}, Call: 1, Return: 2, Output: 5}
	if CheckOperations(model, append(concurrent(40), bad)) {
		t.Error("an illegal partition beside an endless one is fine")
	}
}

func TestAStepIsAskedOnceAndNeverTwiceAtATime(t *testing.T) {
	ourselves(t, true)
	model := stack(nil)
	var busy atomic.Int32
	asked := map[string]int{}
	step := model.Step
	model.Step = func(state, in, out any) (bool, any) {
		if busy.Add(1) > 1 {
			t.Error("two goroutines step at once")
		}
		defer busy.Add(-1)
		asked[fmt.Sprint(state, in, out)]++
		return step(state, in, out)
	}
	CheckOperations(model, concurrent(7))
	for pair, n := range asked {
		if n > 3 { // once by porcupine, and once to see whether a state has changed
			t.Errorf("%s is asked for %d times", pair, n)
		}
	}
}

func TestEqualStatesHaveOneNumber(t *testing.T) {
	for name, want := range map[string][]int32{
		"stack without a Hash": {0, 1, 2, 3, 4},
		"stack with a Hash":    {0, 1, 2, 3, 4},
		"set that is a list":   {0, 1, 2, 3, 3},
	} {
		m := newNumbered(t.Context(), complete(small[name]), &part{})
		for range 2 {
			for i, state := range [][]int{nil, {1}, {2}, {1, 2}, {2, 1}} {
				if n := m.number(state); n != want[i] || !m.model.Equal(m.states[n], state) {
					t.Errorf("%s: %v is state %d, want %d", name, state, n, want[i])
				}
			}
		}
	}
}

// What Equal makes of contents is found out, however late it shows.
func TestWhatEqualLeavesOutIsFoundOut(t *testing.T) {
	m := newNumbered(t.Context(), complete(small["set that is a list"]), &part{})
	for i := range 200 {
		m.number([]int{i, i + 1})
	}
	for i := 0; !m.sets && i < 100; i++ { // more states, and then one of the last ones in another order
		m.number([]int{300 + i, 301 + i})
		m.number([]int{301 + i, 300 + i})
	}
	if n := m.number([]int{1, 0}); !m.sets || m.coarse || !m.model.Equal(m.states[n], []int{0, 1}) || n > 1 {
		t.Errorf("sets %t, coarse %t: [1 0] is state %d", m.sets, m.coarse, n)
	}
	m = newNumbered(t.Context(), complete(small["register with a cache"]), &part{})
	for i := range 10 {
		m.number(counted{i % 3, i})
	}
	if !m.coarse || len(m.states) != 3 {
		t.Errorf("coarse %t, %d states, want 3", m.coarse, len(m.states))
	}
}

// A lock that is unlocked while it is free panics. No order that the times allow
// does that, but exploring the model does.
var lock = Model{
	Init: func() any { return false },
	Step: func(state, in, _ any) (bool, any) {
		switch {
		case in == "lock":
			return state == false, true
		case state == false:
			panic("unlocked while it is free")
		}
		return true, false
	},
}

func TestAPanicThatPorcupineDoesNotMeet(t *testing.T) {
	ourselves(t, true)
	var ops []Operation
	for i := range 20 {
		ops = append(ops, Operation{Input: []string{"lock", "unlock"}[i%2], Call: int64(2 * i), Return: int64(2*i + 1)})
	}
	if !CheckOperations(lock, ops) || CheckOperations(lock, slices.Insert(slices.Clone(ops), 2, Operation{Input: "lock", Call: 2, Return: 2})) {
		t.Error("wrong verdict of a lock")
	}
}

// A panic of the model ends the process, as in porcupine. So the test runs it in
// a process of its own.
func TestAPanicOfTheModelEndsTheProcess(t *testing.T) {
	const inside = "CLEW_TEST_PANIC"
	if os.Getenv(inside) != "" {
		ourselves(t, true)
		CheckOperations(lock, []Operation{{Input: "lock", Call: 1, Return: 2}, {Input: "unlock", Call: 3, Return: 4}, {Input: "unlock", Call: 5, Return: 6}})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: unlocked while it is free") {
		t.Errorf("expected a panic, found %v\n%s", err, out)
	}
}

func TestAModelWithoutAStepPanicsAsInPorcupine(t *testing.T) {
	said := func(check func(Model, []Event) bool) (message any) {
		defer func() { message = recover() }()
		return check(Model{Init: func() any { return 0 }}, nil)
	}
	if ours, other := said(CheckEvents), said(theirs.CheckEvents); ours != other {
		t.Errorf("%v, porcupine says %v", ours, other)
	}
}

func TestContentsAreEqualWhereStatesAre(t *testing.T) {
	type state struct {
		A int
		b map[string][]int
		c *int
	}
	one, uno := 1, 1
	for _, pair := range [][2]any{
		{state{1, map[string][]int{"x": {1}, "y": nil}, &one}, state{1, map[string][]int{"y": nil, "x": {1}}, &uno}},
		{[]any{1, "a", 2.5}, []any{"a", 2.5, 1}},
		{0.0, math.Copysign(0, -1)},
		{nil, nil},
	} {
		if hashed(pair[0]) != hashed(pair[1]) {
			t.Errorf("%v and %v", pair[0], pair[1])
		}
	}
	others := []any{1, 2, uint8(1), "1", []int{1}, []int{1, 2}, []int{2, 1}, map[int]int{1: 2}, map[int]int{2: 1}, true, nil}
	for i, a := range others {
		for _, b := range others[:i] {
			if hashed(a) == hashed(b) && !reflect.DeepEqual(a, b) {
				t.Errorf("%v and %v", a, b)
			}
		}
	}
	type ring struct{ next *ring }
	r := &ring{}
	r.next = r
	if _, all := contents(r, false); all { // it ends
		t.Error("all of a ring is looked at")
	}
}

func hashed(state any) uint64 {
	hash, _ := contents(state, false)
	return hash
}

// Pictures are porcupine's, with the labels of the model.
func TestPicturesHaveTheLabelsOfTheModel(t *testing.T) {
	model := stack(nil)
	model.DescribeOperation = func(input, output any) string { return "a label of its own" }
	_, info := CheckOperationsVerbose(model, random(rand.New(rand.NewPCG(1, 1)), false), 0)
	var page strings.Builder
	if err := Visualize(model, info, &page); err != nil || !strings.Contains(page.String(), "a label of its own") {
		t.Errorf("%v, or no label", err)
	}
}

// Programs that change the import find every name that porcupine has.
func TestEveryNameOfPorcupineIsHere(t *testing.T) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/anishathalye/porcupine").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours, other := exported(t, "."), exported(t, strings.TrimSpace(string(dir)))
	ours = slices.DeleteFunc(ours, func(name string) bool { return strings.HasPrefix(name, "Explain") || name == "Positioned" }) // which porcupine does not have
	if len(other) < 15 || !slices.Equal(ours, other) {
		t.Errorf("%v\nporcupine has\n%v", ours, other)
	}
}

// exported returns the names that a package exports.
func exported(t *testing.T, dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						add(s.Name)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							add(id)
						}
					}
				}
			}
		}
	}
	slices.Sort(names)
	return names
}
