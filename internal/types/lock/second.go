package lock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clew/internal/second"
)

func secondMutex(_ second.Options, s []string, a second.Op) [][]string {
	if a.F == ":acquire" {
		return second.Stay([]string{"held"}, s[0] == "free")
	}
	return second.Stay([]string{"free"}, s[0] == "held")
}

// secondOwners sets the owner of each operation. That is the :client that its ok
// value names. If it names none, it is the client that its process named last
// before it, or else first after it, or else its process. With threads, a
// process is the thread that it runs on.
func secondOwners(ops []second.Op, o second.Options) error {
	process := func(a *second.Op) string {
		n, err := strconv.Atoi(a.Process)
		if err != nil || o.Threads == 0 {
			return a.Process
		}
		return strconv.Itoa(n % o.Threads)
	}
	names := func(a *second.Op) string {
		if client := a.Value.Get(":client"); a.Value.Open == "{" && !a.Crashed && !client.IsNil() {
			return "client " + client.Canon()
		}
		return ""
	}
	for i := range ops {
		a := &ops[i]
		a.Notes = map[string]string{"owner": "process " + process(a)}
		claim := func(b *second.Op) {
			if name := names(b); name != "" && process(b) == process(a) {
				a.Notes["owner"] = name
			}
		}
		// Later ones first, so that the nearest one before it has the last word.
		for j := len(ops) - 1; j >= i; j-- {
			claim(&ops[j])
		}
		for j := range i {
			claim(&ops[j])
		}
		claim(a)
	}
	return nil
}

// permitsOf returns how many permits an operation takes or returns. Its value
// says so, n or {:permits n}, or else its invocation. Otherwise it is one.
func permitsOf(a second.Op) int {
	for _, x := range []second.Form{a.Value, a.Given} {
		if x.Open == "{" {
			x = x.Get(":permits")
		}
		if n, err := strconv.Atoi(x.Canon()); x.Open == "" && err == nil {
			return n
		}
	}
	return 1
}

// secondSemaphore holds the owner of every permit that was handed out.
func secondSemaphore(o second.Options, s []string, a second.Op) [][]string {
	owner := a.Notes["owner"]
	if o.Model == "semaphore" {
		owner = "somebody"
	}
	s = slices.Clone(s)
	for range permitsOf(a) {
		if a.F == ":acquire" {
			s = append(s, owner)
		} else if i := slices.Index(s, owner); i >= 0 {
			s = slices.Delete(s, i, i+1)
		} else {
			return nil
		}
	}
	return second.Stay(second.Sorted(s), len(s) <= o.Permits)
}

// secondOwnerMutex holds its owner once for every time that the owner holds it.
func secondOwnerMutex(o second.Options, s []string, a second.Op) [][]string {
	most := 1
	if strings.HasPrefix(o.Model, "reentrant") {
		most = o.MaxHolds
	}
	if len(s) > 0 && s[0] != a.Notes["owner"] {
		return nil
	}
	if a.F == ":acquire" {
		return second.Stay(append(slices.Clone(s), a.Notes["owner"]), len(s) < most)
	}
	if len(s) == 0 {
		return nil
	}
	return [][]string{s[1:]}
}

// secondFenced holds the owner, or "" if there is none, and how many times the
// owner holds the lock. It also holds the fence that the owner was told, or 0
// if none, and the greatest fence that any owner was told.
func secondFenced(o second.Options, s []string, a second.Op) [][]string {
	owner, fence, greatest := s[0], s[2], s[3]
	holds, _ := strconv.Atoi(s[1])
	most := 1
	if strings.HasPrefix(o.Model, "reentrant") {
		most = o.MaxHolds
	}
	if a.F == ":release" {
		if owner != a.Notes["owner"] {
			return nil
		}
		if holds == 1 {
			return [][]string{{"", "0", "0", greatest}}
		}
		return [][]string{{owner, fmt.Sprint(holds - 1), fence, greatest}}
	}
	if owner != "" && (owner != a.Notes["owner"] || holds == most) {
		return nil
	}
	told := "0"
	if x := a.Value.Get(":fence"); a.Value.Open == "{" && !x.IsNil() {
		told = x.Canon()
	}
	n, _ := strconv.Atoi(told)
	high, _ := strconv.Atoi(greatest)
	switch {
	case n == 0: // it says nothing
		return [][]string{{a.Notes["owner"], fmt.Sprint(holds + 1), fence, greatest}}
	case fence != "0": // held with a fence: the same one
		return second.Stay([]string{a.Notes["owner"], fmt.Sprint(holds + 1), fence, greatest}, told == fence)
	}
	return second.Stay([]string{a.Notes["owner"], fmt.Sprint(holds + 1), told, told}, n > high)
}
