package models_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// readRun reads operations, one after the other, each written as "process f value", or
// "process f value -> answer"; "-> crash" is :info.
func readRun(t *testing.T, s models.Spec, lines ...string) (*models.Operations, error) {
	t.Helper()
	var text strings.Builder
	for _, line := range lines {
		call, answer, answered := strings.Cut(line, " -> ")
		parts := strings.SplitN(call, " ", 3)
		if !answered {
			answer = parts[2]
		}
		event := func(typ, value string) {
			fmt.Fprintf(&text, "{:process %s, :type %s, :f :%s, :value %s}\n", parts[0], typ, parts[1], value)
		}
		event(":invoke", parts[2])
		if answer == "crash" {
			event(":info", parts[2])
		} else {
			event(":ok", answer)
		}
	}
	h, err := forms.Read(strings.NewReader(text.String()), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Read(h)
}

// TestWhatOperationsDo runs operations in order. It checks the state that they leave, or
// why the last of them cannot happen.
func TestWhatOperationsDo(t *testing.T) {
	for _, test := range []struct {
		name  string
		spec  models.Spec
		lines []string
		want  string // a record, or the reason after "!"
	}{
		{"a lookup-set answers for each element", models.Spec{Name: "lookup-set"},
			[]string{"0 insert 1 -> [1 true]", "0 add 1 -> [1 false]", "0 contains 1 -> [1 true]", "0 lookup 2 -> [2 false]", "0 insert 2 -> true", "0 remove 1 -> [1 true]", "0 delete 1 -> false"},
			"#clew.model.LookupSet{:s #{2}}"},
		{"it is in the set already", models.Spec{Name: "lookup-set", Init: "#{:a}"}, []string{"0 insert :a -> [:a true]"}, "!:a is in the set"},
		{"it is not in the set", models.Spec{Name: "lookup-set", Init: "#{:a}"}, []string{"0 contains :b -> true"}, "!:b is not in the set"},
		{"a vector is an element", models.Spec{Name: "lookup-set"}, []string{"0 insert [1 2] -> [[1 2] true]", "0 contains [1 2] -> true"}, "#clew.model.LookupSet{:s #{[1 2]}}"},
		{"a crashed insert may find it there", models.Spec{Name: "lookup-set", Init: "#{1}"}, []string{"0 insert 1 -> crash", "0 remove 1 -> crash"}, "#clew.model.LookupSet{:s #{}}"},
		{"a semaphore counts", models.Spec{Name: "semaphore", Permits: 3}, []string{"0 acquire nil", "1 acquire 2", "2 release {:permits 1}"}, "#clew.model.Semaphore{:held 2, :permits 3}"},
		{"all are held", models.Spec{Name: "semaphore", Permits: 3}, []string{"0 acquire 2", "1 acquire 2"}, "!only 1 of 3 permits is free"},
		{"none is held", models.Spec{Name: "semaphore", Permits: 3}, []string{"1 release nil"}, "!no permit is held"},
		{"an owner", models.Spec{Name: "owner-mutex"}, []string{"0 acquire nil", "0 release nil", "3 acquire nil"}, "#clew.model.OwnerMutex{:owner 3}"},
		{"another releases", models.Spec{Name: "owner-mutex"}, []string{"0 acquire nil", "1 release nil"}, "!not held by process 1"},
		{"it does not acquire again", models.Spec{Name: "owner-mutex"}, []string{"0 acquire nil", "0 acquire nil"}, "!already held by process 0"},
		{"another acquires", models.Spec{Name: "reentrant-mutex"}, []string{"0 acquire nil", "1 acquire nil"}, "!already held by process 0"},
		{"it acquires again", models.Spec{Name: "reentrant-mutex"}, []string{"0 acquire nil", "0 acquire nil"}, "#clew.model.ReentrantMutex{:holds 2, :owner 0}"},
		{"and again", models.Spec{Name: "reentrant-mutex"}, []string{"0 acquire nil", "0 acquire nil", "0 acquire nil"}, "!already held by process 0, 2 times"},
		{"three times", models.Spec{Name: "reentrant-mutex", MaxHolds: 3}, []string{"0 acquire nil", "0 acquire nil", "0 acquire nil", "0 release nil"}, "#clew.model.ReentrantMutex{:holds 2, :owner 0}"},
		{"a thread goes on", models.Spec{Name: "owner-mutex", Threads: 5}, []string{"1 acquire nil -> crash", "6 release nil"}, "#clew.model.OwnerMutex{:owner nil}"},
		{"a client is the owner", models.Spec{Name: "owner-mutex"}, []string{`0 acquire "u1" -> {:client "a", :uid "u1"}`, `1 release "u2" -> {:client "a"}`, `2 acquire "u3" -> {:client "b"}`}, `#clew.model.OwnerMutex{:owner "b"}`},
		{"a crashed operation belongs to the client of its process", models.Spec{Name: "owner-mutex"}, []string{`0 acquire "u1" -> {:client "a"}`, `0 release "u2" -> crash`, `1 acquire nil -> {:client "b"}`}, `#clew.model.OwnerMutex{:owner "b"}`},
		{"even of the one it names later", models.Spec{Name: "owner-mutex"}, []string{`0 acquire "u1" -> crash`, `0 release nil -> {:client "a"}`, `1 acquire nil -> {:client "b"}`, `2 release nil -> {:client "a"}`}, "!not held by client \"a\""},
		{"owners hold permits", models.Spec{Name: "owner-semaphore", Permits: 4}, []string{"0 acquire 2", "1 acquire nil", "0 release 1"}, "#clew.model.OwnerSemaphore{:held {0 1, 1 1}, :permits 4}"},
		{"they release their own", models.Spec{Name: "owner-semaphore", Permits: 4}, []string{"0 acquire 2", "1 acquire nil", "1 release 2"}, "!only 1 permit is held by process 1"},
		{"there are no more", models.Spec{Name: "owner-semaphore", Permits: 4}, []string{"0 acquire 2", "1 acquire nil", "1 acquire 2"}, "!only 1 of 4 permits is free"},
		{"fences grow", models.Spec{Name: "fenced-mutex"}, []string{"0 acquire nil -> {:fence 9}", "0 release nil", "1 acquire nil -> {:fence 12}"}, "#clew.model.FencedMutex{:fence 12, :owner 1}"},
		{"they do not shrink", models.Spec{Name: "fenced-mutex"}, []string{"0 acquire nil -> {:fence 9}", "0 release nil", "1 acquire nil -> {:fence 8}"}, "!fence 8 is not greater than 9"},
		{"nor stay", models.Spec{Name: "fenced-mutex"}, []string{"0 acquire nil -> {:fence 9}", "0 release nil", "1 acquire nil -> {:fence 9}"}, "!fence 9 is not greater than 9"},
		{"0 is none", models.Spec{Name: "fenced-mutex"}, []string{"0 acquire nil -> {:fence 9}", "0 release nil", "1 acquire nil -> {:fence 0}"}, "#clew.model.FencedMutex{:fence 9, :owner 1}"},
		{"it is held", models.Spec{Name: "fenced-mutex"}, []string{"0 acquire nil -> {:fence 9}", "0 acquire nil -> {:fence 10}"}, "!already held by process 0"},
		{"a nested acquire has the same fence or none", models.Spec{Name: "reentrant-fenced-mutex"}, []string{"0 acquire nil -> {:fence 9}", "0 acquire nil -> {:fence 9}", "0 release nil", "0 acquire nil"}, "#clew.model.ReentrantFencedMutex{:fence 9, :highest-fence 9, :holds 2, :owner 0}"},
		{"not another", models.Spec{Name: "reentrant-fenced-mutex"}, []string{"0 acquire nil -> {:fence 9}", "0 acquire nil -> {:fence 10}"}, "!fence 10 is not 9, with which it is held"},
		{"a later acquire may bring the fence", models.Spec{Name: "reentrant-fenced-mutex"}, []string{"0 acquire nil", "0 acquire nil -> {:fence 10}"}, "#clew.model.ReentrantFencedMutex{:fence 10, :highest-fence 10, :holds 2, :owner 0}"},
		{"it is forgotten on release, the highest is not", models.Spec{Name: "reentrant-fenced-mutex"}, []string{"0 acquire nil -> {:fence 10}", "0 release nil", "0 acquire nil"}, "#clew.model.ReentrantFencedMutex{:fence 0, :highest-fence 10, :holds 1, :owner 0}"},
		{"versions count updates", models.Spec{Name: "versioned-register"}, []string{"0 write [nil 3] -> [1 3]", "0 read [nil nil] -> [1 3]", "0 cas [nil [3 4]] -> [2 [3 4]]", "0 read nil -> [nil 4]", "0 read nil -> [2 nil]"}, "#clew.model.VersionedRegister{:value 4, :version 2}"},
		{"a write skips none", models.Spec{Name: "versioned-register"}, []string{"0 write [nil 3] -> [2 3]"}, "!can't go from version 0 to 2"},
		{"a read of another version", models.Spec{Name: "versioned-register", Init: "[4 1]"}, []string{"0 read nil -> [5 1]"}, "!can't read version 5 from version 4"},
		{"a read of another value", models.Spec{Name: "versioned-register", Init: "[4 1]"}, []string{"0 read nil -> [4 2]"}, "!can't read 2 from register 1"},
		{"a cas of another value", models.Spec{Name: "versioned-register", Init: "[4 1]"}, []string{"0 cas [nil [2 3]] -> [5 [2 3]]"}, "!can't CAS 1 from 2 to 3"},
		{"a crashed write does not know its version", models.Spec{Name: "versioned-register"}, []string{"0 write [nil 3] -> crash", "1 read nil -> [1 3]"}, "#clew.model.VersionedRegister{:value 3, :version 1}"},
	} {
		t.Run(test.spec.Name+", "+test.name, func(t *testing.T) {
			ops, err := readRun(t, test.spec, test.lines...)
			if err != nil {
				t.Fatal(err)
			}
			if ops.Len() != len(test.lines) {
				t.Fatalf("%d operations of %d", ops.Len(), len(test.lines))
			}
			order := make([]int32, ops.Len())
			for i := range order {
				order[i] = int32(i)
			}
			states, err := models.Replay(ops.Model, &ops.Columns, order)
			got := ""
			var stuck *models.ReplayError
			if errors.As(err, &stuck) {
				got = "!" + stuck.Why
				if stuck.Position != len(order)-1 {
					t.Errorf("stuck at %d", stuck.Position)
				}
			} else {
				got = ops.Model.Record(states[len(states)-1]).String()
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestValuesThatCannotBeRead(t *testing.T) {
	for _, test := range []struct {
		spec models.Spec
		line string
		want string
	}{
		{models.Spec{Name: "lookup-set"}, "0 insert 1 -> 1", "expected [1 true], [1 false], true or false, found 1"},
		{models.Spec{Name: "lookup-set"}, "0 push 1 -> 1", "does not know :f :push"},
		{models.Spec{Name: "semaphore", Permits: 2}, "0 acquire 0", "expected a number of permits from 1"},
		{models.Spec{Name: "semaphore", Permits: 2}, "0 acquire {:permits :all}", "expected a number of permits, found :all"},
		{models.Spec{Name: "semaphore", Permits: 2}, "0 acquire 4294967297", "expected a number of permits from 1 to 1073741824, found 4294967297"},
		{models.Spec{Name: "semaphore", Permits: 2}, "0 release 99999999999999999999", "expected a number of permits from 1 to 1073741824, found 99999999999999999999"},
		{models.Spec{Name: "owner-semaphore", Permits: 2}, "0 acquire {:permits 99999999999999999999}", "expected a number of permits, found 99999999999999999999"},
		{models.Spec{Name: "owner-semaphore", Permits: 2}, "0 acquire -99999999999999999999", "expected a number of permits from 1 to"},
		{models.Spec{Name: "versioned-register"}, "0 write [4294967297 3]", "expected a version of at most 1073741824, found 4294967297"},
		{models.Spec{Name: "java-queue"}, "0 size nil -> 4294967296", "expected a number of elements, found 4294967296"},
		{models.Spec{Name: "owner-semaphore", Permits: 2}, "0 lock 0", "does not know :f :lock"},
		{models.Spec{Name: "fenced-mutex"}, "0 acquire {:fence :x}", "expected a fence"},
		{models.Spec{Name: "versioned-register"}, "0 write 3", "expected [version value], found 3"},
		{models.Spec{Name: "versioned-register"}, "0 write [:x 3]", "expected a version from 0 on, found :x"},
		{models.Spec{Name: "versioned-register"}, "0 cas [nil 3]", "expected [version [old new]], found [nil 3]"},
	} {
		if _, err := readRun(t, test.spec, test.line); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %q", test.spec.Name, test.line, err, test.want)
		}
	}
}

func TestParametersOfLocks(t *testing.T) {
	const large = min(1<<32, math.MaxInt-1) + 1 // its lower 32 bits are 1 if it has more
	for _, s := range []models.Spec{
		{Name: "semaphore"}, {Name: "owner-semaphore"}, {Name: "semaphore", Permits: -1}, {Name: "mutex", Permits: 1},
		{Name: "owner-mutex", MaxHolds: 2}, {Name: "reentrant-mutex", MaxHolds: -1}, {Name: "mutex", Threads: 5},
		{Name: "owner-mutex", Threads: -1}, {Name: "owner-mutex", Init: "1"}, {Name: "semaphore", Permits: 1, Init: "1"},
		{Name: "semaphore", Permits: large}, {Name: "owner-semaphore", Permits: large}, {Name: "reentrant-mutex", MaxHolds: large},
		{Name: "reentrant-fenced-mutex", MaxHolds: 1<<30 + 1}, {Name: "owner-mutex", Threads: large},
		{Name: "versioned-register", Init: "[4294967297 nil]"},
		{Name: "lookup-set", Init: "1"}, {Name: "fenced-mutex", Init: "1"}, {Name: "versioned-register", Init: "1"},
	} {
		if s.Check() == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
