package clew_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/models"
)

// TestVersionsAndFencesAgreeWithTheOracle is
// TestEveryVerdictAndItsEvidenceAgreeWithTheOracle for the models whose values
// order the operations.
func TestVersionsAndFencesAgreeWithTheOracle(t *testing.T) {
	collectLess(t)
	n := historiesPerConfig / 2
	if long() {
		n = longHistoriesPerModel
	} else if testing.Short() {
		n = 200
	}
	for i, spec := range []models.Spec{{Name: "versioned-register"}, {Name: "versioned-register", Init: "[3 1]"},
		{Name: "fenced-mutex"}, {Name: "reentrant-fenced-mutex"}, {Name: "reentrant-fenced-mutex", MaxHolds: 3, Threads: 2}} {
		t.Run(fmt.Sprint(spec.Name, i), func(t *testing.T) {
			t.Parallel()
			var c counts
			r := gen.Rand(uint64(i))
			for range n {
				text := versionsText(r, spec)
				h, ops, err := readText(spec, text)
				if err != nil {
					t.Fatal(err)
				}
				want := oracle.Decide(ops, oracle.Options{})
				if want.Linearizable {
					c.valid++
				} else {
					c.invalid++
				}
				if err := c.engines(spec, h, ops, want); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
			}
			t.Logf("%d valid, %d invalid; %d by a fast path too", c.valid, c.invalid, c.fast)
			if 5*c.valid < n || 5*c.invalid < n || 3*c.fast < n {
				t.Error("one verdict, or the fast path, is rare")
			}
		})
	}
}

// versionsText is a history of a few operations, each of which happens at some
// time between its invocation and its completion, unless it is spoiled.
func versionsText(r *rand.Rand, spec models.Spec) string {
	type process struct {
		f, invoked, value string // f is "" while it does nothing
		happened          bool
	}
	var text strings.Builder
	processes := make([]process, 1+r.IntN(4))
	version, register, fence := 0, -1, 0
	if spec.Init != "" {
		version, register = 3, 1
	}
	holder, holds, held := -1, 0, 0
	spoiled := r.IntN(2) == 0
	number := func(n int) int { // what it says of it
		if spoiled && r.IntN(6) == 0 {
			return max(0, n+r.IntN(5)-2)
		}
		return n
	}
	print := func(value int) string {
		if value < 0 {
			return "nil"
		}
		return strconv.Itoa(value)
	}
	happen := func(id int, p *process) {
		switch p.f {
		case "read":
			p.value = fmt.Sprintf("[%d %s]", number(version), print(number(register)))
		case "write":
			version++
			register = r.IntN(3)
			p.invoked = fmt.Sprintf("[nil %d]", register)
			p.value = fmt.Sprintf("[%d %d]", number(version), register)
		case "cas":
			from := print(number(register))
			version++
			register = r.IntN(3)
			p.invoked = fmt.Sprintf("[nil [%s %d]]", from, register)
			p.value = fmt.Sprintf("[%d [%s %d]]", number(version), from, register)
		case "acquire":
			if holds > 0 && (holder != id || holds == max(spec.MaxHolds, 2)) && !spoiled {
				return
			}
			if holder, holds = id, holds+1; holds == 1 {
				fence++
				held = fence
			}
			p.value = fmt.Sprintf("{:client \"c%d\" :fence %d}", id, number(held))
		case "release":
			if holder == id && holds > 0 {
				holds--
			} else if !spoiled {
				return
			}
			p.value = fmt.Sprintf("{:client \"c%d\" :fence 0}", id)
		}
		p.happened = true
	}
	lock := strings.Contains(spec.Name, "mutex")
	var events []string
	event := func(id int, typ, f, value string) int {
		events = append(events, fmt.Sprintf("{:process %d, :type :%s, :f :%s, :value %s}", id, typ, f, value))
		return len(events) - 1
	}
	invocations := make([]int, len(processes))
	names := make([]int, len(processes))
	for id := range names {
		names[id] = id
	}
	for steps := 0; steps < 40 && len(events) < 20; steps++ {
		id := r.IntN(len(processes))
		p := &processes[id]
		switch {
		case p.f == "":
			f := []string{"read", "write", "cas"}[r.IntN(3)]
			if lock {
				f = []string{"acquire", "release"}[r.IntN(2)]
				if holder == id && r.IntN(3) > 0 {
					f = "release"
				}
			}
			invoked := "nil"
			*p = process{f: f, invoked: invoked}
			invocations[id] = event(names[id], "invoke", f, invoked)
		case r.IntN(12) == 0:
			if r.IntN(2) == 0 {
				happen(id, p)
			}
			if p.invoked == "nil" && !lock && p.f != "read" {
				happen(id, p) // it has no arguments yet
			}
			events[invocations[id]] = strings.Replace(events[invocations[id]], ":value nil", ":value "+p.invoked, 1)
			event(names[id], "info", p.f, p.invoked)
			names[id] += len(processes)
			*p = process{}
		case !p.happened:
			happen(id, p)
		default:
			events[invocations[id]] = strings.Replace(events[invocations[id]], ":value nil", ":value "+p.invoked, 1)
			event(names[id], "ok", p.f, p.value)
			*p = process{}
		}
	}
	for id, p := range processes { // what is still open
		if p.f == "write" || p.f == "cas" {
			if !p.happened {
				happen(id, &p)
			}
			events[invocations[id]] = strings.Replace(events[invocations[id]], ":value nil", ":value "+p.invoked, 1)
		}
	}
	for _, e := range events {
		fmt.Fprintln(&text, e)
	}
	return text.String()
}
