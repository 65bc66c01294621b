package clojure

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/effort"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// questions returns forms of every family, pairs of them, and triples of those that may
// have an order.
func questions(seed uint64) (a *asked, threes [][3]int, strict map[int]bool) {
	m := maker{rand.New(rand.NewPCG(seed, 35))}
	a, strict = &asked{}, map[int]bool{}
	each := int(each())
	var all [][]int
	for _, family := range families {
		var forms []int
		for range each {
			n := a.form(family.make(m))
			strict[n] = family.strict
			forms = append(forms, n)
		}
		all = append(all, forms)
		for range 2 * each {
			a.pair(forms[m.IntN(each)], forms[m.IntN(each)])
			x, y, z := forms[m.IntN(each)], forms[m.IntN(each)], forms[m.IntN(each)]
			threes = append(threes, [3]int{x, y, z})
			a.pair(x, y)
			a.pair(y, z)
			a.pair(x, z)
		}
	}
	for range 10 * each {
		a.pair(all[m.IntN(len(all))][m.IntN(each)], all[m.IntN(len(all))][m.IntN(each)])
	}
	return a, threes, strict
}

// each returns how many forms each family has.
func each() uint64 { return effort.Histories(48, 2000) }

func TestValuesAreThoseOfClojure(t *testing.T) {
	a, threes, strict := questions(1)
	v := edn.NewValues()
	ids := map[int]edn.ID{}
	printed := map[int]int{}
	for i, text := range a.forms[:len(a.forms):len(a.forms)] {
		if id, err := v.Parse([]byte(text), edn.Pos{}); err == nil {
			ids[i] = id
			printed[i] = a.form(v.Text(id))
			a.pair(i, printed[i])
		}
	}
	a.ask(t)
	r := &reporter{T: t}
	for i, text := range a.forms[:len(strict)] {
		_, ours := ids[i]
		if theirs := a.hashes[i] != "-"; theirs != ours && (strict[i] || theirs) && !strings.ContainsAny(text, "\u2028\u3000") {
			r.wrong("%q is read by Clojure: %v, by us: %v", text, theirs, ours)
		}
		if n, ok := printed[i]; ok && a.hashes[i] != "-" && a.of(i, n).equal != "true" && !strings.Contains(text, "##NaN") {
			r.wrong("%q prints as %q, which Clojure does not call equal", text, a.forms[n])
		}
	}
	equal := 0
	for _, p := range a.pairs {
		x, okX := ids[p[0]]
		y, okY := ids[p[1]]
		if !okX || !okY || a.hashes[p[0]] == "-" || a.hashes[p[1]] == "-" || p[0] == p[1] && strings.Contains(a.forms[p[0]], "##NaN") {
			continue
		}
		is, ours := a.of(p[0], p[1]).equal == "true", v.Same(x) == v.Same(y)
		if is != ours {
			r.wrong("%q = %q: %v in Clojure, %v for us", a.forms[p[0]], a.forms[p[1]], is, ours)
		}
		if is {
			equal++
			if a.hashes[p[0]] != a.hashes[p[1]] {
				r.wrong("%q and %q are equal in Clojure, and their hashes are not", a.forms[p[0]], a.forms[p[1]])
			}
		}
	}
	lists := map[bool]int{}
	for _, p := range a.pairs {
		lists[r.ordered(a, ids, p[0], p[1])]++
	}
	for _, three := range threes {
		lists[r.ordered(a, ids, three[:]...)]++
	}
	t.Logf("%d forms, %d pairs, %d equal; %d lists with an order, %d without", len(a.forms), len(a.pairs), equal, lists[true], lists[false])
	if min(equal, lists[true], lists[false]) < 10*int(each()) {
		t.Error("too few of a kind")
	}
	t.Run("the checkers of certificates", func(t *testing.T) { checkers(t, a) })
}

// The programs that check certificates may not know, but must not be wrong.
func checkers(t *testing.T, a *asked) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3, which checks certificates, is not there")
	}
	forms, pairs := a.checkers(t)
	r := &reporter{T: t}
	equal, ordered := 0, 0
	for _, p := range a.pairs {
		theirs, ours := a.of(p[0], p[1]), pairs[p]
		if ours.equal == "-" || a.hashes[p[0]] == "-" || a.hashes[p[1]] == "-" {
			continue
		}
		if ours.equal != theirs.equal {
			r.wrong("%q = %q: %s in Clojure, %s for check.py", a.forms[p[0]], a.forms[p[1]], theirs.equal, ours.equal)
		}
		if ours.compare != "-" && (ours.compare != theirs.compare || ours.compare != theirs.exact) {
			r.wrong("%s and %s compare as %s in Clojure, as %s for more.py", a.forms[p[0]], a.forms[p[1]], theirs.compare, ours.compare)
		}
		if theirs.equal == "true" {
			equal++
		}
		if ours.compare != "-" {
			ordered++
		}
	}
	readable := 0
	for i := range forms {
		if forms[i] == "+" && a.hashes[i] != "-" {
			readable++
		}
	}
	t.Logf("%d forms are read; of the pairs %d are equal, %d have an order", readable, equal, ordered)
	if min(readable, equal, ordered) < 5*int(each()) {
		t.Error("too few of a kind")
	}
}

// reporter stops after some differences.
type reporter struct {
	*testing.T
	count int
}

func (r *reporter) wrong(format string, args ...any) {
	r.Helper()
	if r.count++; r.count > 40 {
		r.Fatal("and so on")
	}
	r.Errorf(format, args...)
}

// ordered compares the order of a priority queue's elements with that of Clojure, and says
// whether they have one.
func (r *reporter) ordered(a *asked, ids map[int]edn.ID, list ...int) bool {
	r.Helper()
	var text strings.Builder
	for _, n := range list {
		if _, ok := ids[n]; !ok || a.hashes[n] == "-" || strings.Contains(a.forms[n], "(") {
			return false // For us (1) is [1], which has an order if it came first.
		}
		fmt.Fprintf(&text, "{:process 0, :type :invoke, :f :enqueue, :value %s\n}\n{:process 0, :type :ok, :f :enqueue, :value %s\n}\n", a.forms[n], a.forms[n])
	}
	h, err := forms.Read(strings.NewReader(text.String()), "h.edn", jepsen.Options{})
	if err != nil {
		r.Fatal(text.String(), err)
	}
	ops, ours := models.Spec{Name: "priority-queue", Knossos: true}.Read(h)
	theirs := true
	for i, x := range list {
		for _, y := range list[:i] {
			p := a.of(y, x)
			theirs = theirs && p.compare != "-" && p.compare == p.exact
		}
	}
	for i, x := range list {
		for j, y := range list[:i] {
			p := a.of(y, x)
			if p.equal == "true" {
				return theirs // Identical values compare as equal in Clojure, comparable or not.
			}
			if ours != nil || !theirs {
				continue
			}
			if sign := fmt.Sprint(compare(ops.B[j], ops.B[i])); sign != p.compare {
				r.wrong("%s and %s compare as %s in Clojure, as %s for us", a.forms[y], a.forms[x], p.compare, sign)
			}
		}
	}
	if (ours == nil) != theirs {
		var texts []string
		for _, n := range list {
			texts = append(texts, a.forms[n])
		}
		r.wrong("%s have an order in Clojure: %v, for us: %v", strings.Join(texts, " and "), theirs, ours)
	}
	return theirs
}

func compare(x, y int32) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
