package oracle

import (
	"math/big"
	"slices"
	"strconv"
)

// naiveCounter adds and reads numbers of any size.
func naiveCounter(_ NaiveOptions, s []string, a naiveOp) [][]string {
	integer := func(text string) *big.Int {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			panic("naive: no integer: " + text)
		}
		return n
	}
	by, after := big.NewInt(1), "" // after is "" if it is not told
	switch a.f {
	case ":read":
		return stay(s, a.crashed || a.value.canon() == s[0])
	case ":add":
		by = integer(a.value.canon())
	default:
		if !a.given.isNil() {
			by = integer(a.given.canon())
		}
		switch {
		case a.crashed || a.f != ":add-and-get" && (!a.told || a.value.isNil()):
		case a.value.isList():
			after = a.value.items[1].canon()
		default:
			after = a.value.canon()
		}
		if a.f == ":decr" || a.f == ":decrement" {
			by.Neg(by)
		}
	}
	next := by.Add(by, integer(s[0])).String()
	return stay([]string{next}, after == "" || after == next)
}

// naiveCounting counts from 0 on.
func naiveCounting(_ NaiveOptions, s []string, a naiveOp) [][]string {
	switch n := naiveInt(s[0]); {
	case a.f == ":incr":
		return [][]string{{strconv.Itoa(n + 1)}}
	case !a.crashed && a.value.atom == "false":
		return stay(s, n == 0)
	default:
		return stay([]string{strconv.Itoa(n - 1)}, n > 0)
	}
}

// naiveTold sets for all operations whether those that can tell an offset, or a new value,
// do. They do if some completion is neither nil nor the value of its invocation.
func naiveTold(ops []naiveOp, said string) {
	told := said == "told"
	for _, a := range ops {
		if slices.Contains([]string{":append", ":incr", ":increment", ":decr", ":decrement"}, a.f) && !a.crashed && !a.failed && said == "" {
			told = told || !a.value.isNil() && a.value.canon() != a.given.canon() && (a.value.open != "{" || !a.value.get(":offset").isNil())
		}
	}
	for i := range ops {
		ops[i].told = told
	}
}

// naiveCounterInit returns the initial value of a counter.
func naiveCounterInit(given form, isGiven bool) []string {
	if isGiven {
		return []string{given.canon()}
	}
	return []string{"0"}
}

// naiveIDs holds the ids that were handed out.
func naiveIDs(o NaiveOptions, s []string, a naiveOp) [][]string {
	if a.crashed {
		return [][]string{s}
	}
	id := a.value.canon()
	for _, earlier := range s {
		if earlier == id || o.Growing && naiveInt(earlier) > naiveInt(id) {
			return nil
		}
	}
	return [][]string{sorted(append(slices.Clone(s), id))}
}

func naiveInt(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// naiveBank holds alternating accounts and balances.
func naiveBank(o NaiveOptions, s []string, a naiveOp) [][]string {
	if a.f == ":read" {
		if a.crashed {
			return [][]string{s}
		}
		read := map[string]string{}
		for i := 0; i < len(a.value.items); i += 2 {
			read[a.value.items[i].canon()] = a.value.items[i+1].canon()
		}
		for i := 0; i < len(s); i += 2 {
			if _, ok := read[s[i]]; !ok {
				read[s[i]] = "0"
			}
		}
		for account, n := range read {
			if lookup(s, account, "0") != n {
				return nil
			}
		}
		return [][]string{s}
	}
	from, to, n := a.value.get(":from").canon(), a.value.get(":to").canon(), naiveInt(a.value.get(":amount").canon())
	left := naiveInt(lookup(s, from, "0")) - n
	if left < 0 && !o.Negative {
		return nil
	}
	s = assign(s, from, strconv.Itoa(left))
	return [][]string{assign(s, to, strconv.Itoa(naiveInt(lookup(s, to, "0"))+n))}
}

// naiveLog holds the list.
func naiveLog(_ NaiveOptions, s []string, a naiveOp) [][]string {
	value, counts := a.given, a.value
	if a.f != ":append" && a.crashed {
		return [][]string{s}
	}
	switch a.f {
	case ":tail":
		return stay(s, naiveInt(counts.canon()) == len(s))
	case ":read":
		var list []string
		for _, x := range counts.items {
			list = append(list, x.canon())
		}
		return stay(s, slices.Equal(list, s))
	case ":read-at":
		if msg := counts.get(":msg"); !counts.get(":offset").isNil() {
			counts = msg
		}
		at := naiveInt(value.canon())
		return stay(s, counts.isNil() && at >= len(s) || at < len(s) && counts.canon() == s[at])
	}
	told := []string{}
	if n := value.get(":match-seq-num"); !n.isNil() {
		told, value = append(told, n.canon()), value.get(":msg")
	}
	if n := counts.get(":offset"); a.told && !a.crashed && !n.isNil() {
		told = append(told, n.canon())
	} else if a.told && !a.crashed && counts.open == "" && !counts.isNil() {
		told = append(told, counts.canon())
	}
	for _, n := range told {
		if naiveInt(n) != len(s) {
			return nil
		}
	}
	return [][]string{append(slices.Clone(s), value.canon())}
}

// naiveTerm returns the owner and the epoch that a value names.
func naiveTerm(x form) (owner, epoch form) {
	switch {
	case x.isList():
		return x.items[0], x.items[1]
	case x.open == "{":
		return x.get(":owner"), x.get(":epoch")
	}
	return x, isNil
}

// naiveLease holds the owner, the epoch, and whether the epoch is more than a
// lower bound.
func naiveLease(_ NaiveOptions, s []string, a naiveOp) [][]string {
	owner, epoch := naiveTerm(a.value)
	if first, then := naiveTerm(a.given); a.f != ":check" {
		if owner.isNil() || owner.canon() == "true" {
			owner = first
		}
		if epoch.isNil() {
			epoch = then
		}
	}
	now := naiveInt(s[1])
	fits := s[0] == owner.canon()
	next := []string{owner.canon(), s[1], s[2]}
	if !epoch.isNil() {
		n := naiveInt(epoch.canon())
		fits = fits && (n == now || s[2] == "false" && n > now)
		next[1], next[2] = epoch.canon(), "true"
	}
	switch {
	case a.f == ":claim" && epoch.isNil():
		return [][]string{{owner.canon(), strconv.Itoa(now + 1), "false"}}
	case a.f == ":claim":
		return stay(next, naiveInt(epoch.canon()) > now)
	case a.f == ":check" && a.crashed:
		return [][]string{s}
	case a.f == ":release":
		next[0] = "nil"
	}
	return stay(next, fits)
}
