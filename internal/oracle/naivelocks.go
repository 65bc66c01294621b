package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// naiveOwners sets the owner of each operation. That is the :client that its ok
// value names. If it names none, it is the client that its process named last
// before it, or else first after it, or else its process. With threads, a
// process is the thread that it runs on.
func naiveOwners(ops []naiveOp, threads int) {
	process := func(a *naiveOp) string {
		n, err := strconv.Atoi(a.process)
		if err != nil || threads == 0 {
			return a.process
		}
		return strconv.Itoa(n % threads)
	}
	names := func(a *naiveOp) string {
		if client := a.value.get(":client"); a.value.open == "{" && !a.crashed && !client.isNil() {
			return "client " + client.canon()
		}
		return ""
	}
	for i := range ops {
		a := &ops[i]
		a.owner = "process " + process(a)
		claim := func(b *naiveOp) {
			if name := names(b); name != "" && process(b) == process(a) {
				a.owner = name
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
}

// permitsOf returns how many permits an operation takes or returns. Its value
// says so, n or {:permits n}, or else its invocation. Otherwise it is one.
func permitsOf(a naiveOp) int {
	for _, x := range []form{a.value, a.given} {
		if x.open == "{" {
			x = x.get(":permits")
		}
		if n, err := strconv.Atoi(x.canon()); x.open == "" && err == nil {
			return n
		}
	}
	return 1
}

// naiveSemaphore holds the owner of every permit that was handed out.
func naiveSemaphore(o NaiveOptions, s []string, a naiveOp) [][]string {
	owner := a.owner
	if o.Model == "semaphore" {
		owner = "somebody"
	}
	s = slices.Clone(s)
	for range permitsOf(a) {
		if a.f == ":acquire" {
			s = append(s, owner)
		} else if i := slices.Index(s, owner); i >= 0 {
			s = slices.Delete(s, i, i+1)
		} else {
			return nil
		}
	}
	return stay(sorted(s), len(s) <= o.Permits)
}

// naiveOwnerMutex holds its owner once for every time that the owner holds it.
func naiveOwnerMutex(o NaiveOptions, s []string, a naiveOp) [][]string {
	most := 1
	if strings.HasPrefix(o.Model, "reentrant") {
		most = o.MaxHolds
	}
	if len(s) > 0 && s[0] != a.owner {
		return nil
	}
	if a.f == ":acquire" {
		return stay(append(slices.Clone(s), a.owner), len(s) < most)
	}
	if len(s) == 0 {
		return nil
	}
	return [][]string{s[1:]}
}

// naiveFenced holds the owner, or "" if there is none, and how many times the
// owner holds the lock. It also holds the fence that the owner was told, or 0
// if none, and the greatest fence that any owner was told.
func naiveFenced(o NaiveOptions, s []string, a naiveOp) [][]string {
	owner, fence, greatest := s[0], s[2], s[3]
	holds, _ := strconv.Atoi(s[1])
	most := 1
	if strings.HasPrefix(o.Model, "reentrant") {
		most = o.MaxHolds
	}
	if a.f == ":release" {
		if owner != a.owner {
			return nil
		}
		if holds == 1 {
			return [][]string{{"", "0", "0", greatest}}
		}
		return [][]string{{owner, fmt.Sprint(holds - 1), fence, greatest}}
	}
	if owner != "" && (owner != a.owner || holds == most) {
		return nil
	}
	told := "0"
	if x := a.value.get(":fence"); a.value.open == "{" && !x.isNil() {
		told = x.canon()
	}
	n, _ := strconv.Atoi(told)
	high, _ := strconv.Atoi(greatest)
	switch {
	case n == 0: // it says nothing
		return [][]string{{a.owner, fmt.Sprint(holds + 1), fence, greatest}}
	case fence != "0": // held with a fence: the same one
		return stay([]string{a.owner, fmt.Sprint(holds + 1), fence, greatest}, told == fence)
	}
	return stay([]string{a.owner, fmt.Sprint(holds + 1), told, told}, n > high)
}
