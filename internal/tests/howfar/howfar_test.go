package howfar_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/internal/effort"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// A farOp is an operation in plain Go, for a judge that shares nothing with what it judges.
type farOp struct {
	client, key      int
	saw, left        int // values, or none; a cas has both
	inv, res         int // places of its events
	called, returned int // times
	end              string
}

const none = -1

// f returns the :f of the operation on a register, or on a map.
func (x *farOp) f(inMap bool) string {
	switch {
	case x.left != none && x.saw != none:
		return "cas"
	case x.left != none && inMap:
		return "put"
	case x.left != none:
		return "write"
	case inMap:
		return "get"
	}
	return "read"
}

// value returns the :value of its call or of its return.
func (x *farOp) value(returns bool) string {
	switch {
	case x.left != none && x.saw != none:
		return fmt.Sprintf("[%d %d]", x.saw, x.left)
	case x.left != none:
		return fmt.Sprint(x.left)
	case returns:
		return fmt.Sprint(x.saw)
	}
	return "nil"
}

// farRun is a random run on one or two registers that begin with 0. Operations crash and fail, and clients go on after that.
type farRun struct {
	ops    []*farOp
	events []*farOp // twice each operation, or once if it is open at the end
	times  []int    // by event
	keys   int

	independent bool // its keys are printed in values [key value]
}

// drawFar draws a run of n operations. What reads return is more often than not what was written last, so that many runs are
// nearly right.
func drawFar(r *rand.Rand, n int) *farRun {
	run := &farRun{keys: 1 + r.IntN(2)}
	clients, withCAS, values := 2+r.IntN(2), r.IntN(3) == 0, n
	if r.IntN(6) == 0 {
		values = 2 // some are repeated
	}
	open := make([]*farOp, clients)
	now, written := make([]int, run.keys), make([][]int, run.keys)
	for i := range written {
		written[i] = []int{0}
	}
	clock := 0
	goesOn := func(x *farOp) bool { return x == nil && len(run.ops) < n || x != nil && x.end != "" }
	for slices.ContainsFunc(open, goesOn) {
		p := r.IntN(clients)
		x := open[p]
		if !goesOn(x) {
			continue
		}
		if clock += r.IntN(4); x == nil {
			x = &farOp{client: p, key: r.IntN(run.keys), saw: none, left: none, inv: len(run.events), called: clock}
			x.end = []string{"ok", "ok", "ok", "ok", "ok", "ok", "info", "fail", ""}[r.IntN(9)]
			if r.IntN(5) > 1 {
				x.left = 1 + len(run.ops)%values
				if withCAS && r.IntN(2) == 0 {
					if x.saw = written[x.key][r.IntN(len(written[x.key]))]; x.saw == x.left {
						x.saw = none
					}
				}
				written[x.key] = append(written[x.key], x.left)
				if x.end != "fail" && r.IntN(3) > 0 {
					now[x.key] = x.left
				}
			}
			open[p], run.ops = x, append(run.ops, x)
		} else {
			x.res, x.returned, open[p] = len(run.events), clock, nil
			if x.left == none {
				if x.saw = now[x.key]; r.IntN(3) == 0 {
					x.saw = written[x.key][r.IntN(len(written[x.key]))]
				}
				if r.IntN(40) == 0 {
					x.saw = 99 // nothing wrote it
				}
			}
		}
		run.events, run.times = append(run.events, x), append(run.times, clock)
	}
	return run
}

// history returns the run as EDN, with its spec.
func (run *farRun) history(t *testing.T) (*jepsen.History, models.Spec) {
	t.Helper()
	var b strings.Builder
	for i, x := range run.events {
		typ := "invoke"
		if i != x.inv {
			typ = x.end
		}
		value, inMap := x.value(typ == "ok"), run.keys > 1 && !run.independent
		if run.independent {
			value = fmt.Sprintf("[%d %s]", x.key, value)
		}
		fmt.Fprintf(&b, "{:process %d, :type :%s, :f :%s, :value %s, :time %d, :node \"n%d\"", x.client, typ, x.f(inMap), value, run.times[i], x.client%2)
		if inMap {
			fmt.Fprintf(&b, ", :key %d", x.key)
		}
		b.WriteString("}\n")
	}
	h, err := clew.Read(strings.NewReader(b.String()), "run.edn", jepsen.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return h, run.spec()
}

func (run *farRun) spec() models.Spec {
	if run.keys > 1 && !run.independent {
		return models.Spec{Name: "kv", Init: "{0 0, 1 0}"}
	}
	return models.Spec{Name: "cas-register", Init: "0"}
}

// kept returns the operations that may matter: those that succeeded, and updates that crashed.
func (run *farRun) kept() (kept []*farOp) {
	for _, x := range run.ops {
		if x.end == "ok" || x.end != "fail" && x.left != none {
			kept = append(kept, x)
		}
	}
	return kept
}

// hasOrder tries all orders of operations, with and without those that are optional.
func hasOrder(ops []*farOp, optional func(*farOp) bool, before func(a, b *farOp) bool) bool {
	var from func(done int, now [2]int) bool
	from = func(done int, now [2]int) bool {
		all := true
		for i, x := range ops {
			all = all && (done>>i&1 == 1 || optional(x))
		}
		if all {
			return true
		}
		for i, x := range ops {
			if done>>i&1 == 1 || x.saw != none && x.saw != now[x.key] {
				continue
			}
			first := true
			for j, y := range ops {
				first = first && (j == i || done>>j&1 == 1 || !before(y, x))
			}
			if !first {
				continue
			}
			after := now
			if x.left != none {
				after[x.key] = x.left
			}
			if from(done|1<<i, after) {
				return true
			}
		}
		return false
	}
	return from(0, [2]int{})
}

func crashed(x *farOp) bool { return x.end != "ok" }

// inTime orders operations by their events.
func inTime(a, b *farOp) bool { return a.end == "ok" && a.res < b.inv }

// byClient orders the operations of each client.
func byClient(a, b *farOp) bool { return a.client == b.client && inTime(a, b) }

// ofKey returns the operations on a key.
func ofKey(ops []*farOp, key int) (own []*farOp) {
	for _, x := range ops {
		if x.key == key {
			own = append(own, x)
		}
	}
	return own
}

// unique says whether no value that was seen was written twice. It returns the operations that certainly happened: those
// that succeeded, and the updates whose values they saw.
func unique(ops []*farOp) (happened []*farOp, ok bool) {
	in := map[*farOp]bool{}
	for more := true; more; {
		more = false
		for _, x := range ops {
			is := x.end == "ok" || slices.ContainsFunc(ops, func(y *farOp) bool { return in[y] && y.key == x.key && y.saw == x.left && x.left != none })
			if is && !in[x] {
				in[x], more = true, true
			}
		}
	}
	for _, x := range ops {
		if in[x] {
			happened = append(happened, x)
		}
	}
	for _, x := range happened {
		writers := 0
		for _, y := range ops {
			if y.key == x.key && y.left == x.saw && x.saw != none {
				writers++
			}
		}
		if writers > 1 || writers == 1 && x.saw == 0 {
			return nil, false
		}
	}
	return happened, true
}

// keepsSession tries all orders of the versions of each key. A version is the initial one (nil) or an update. The order keeps
// that of updates, and breaks no pair of operations of which a comes before b at the same client.
func keepsSession(happened []*farOp, broken func(a, b *farOp, older func(v, w *farOp) bool) bool) bool {
	for key := range 2 {
		own := ofKey(happened, key)
		versions := []*farOp{nil}
		for _, x := range own {
			if x.left != none {
				versions = append(versions, x)
			}
		}
		if !anyOrder(versions, 1, func(place map[*farOp]int) bool {
			older := func(v, w *farOp) bool { return place[v] < place[w] }
			for _, a := range own {
				for _, b := range own {
					if ordered(a, b) && !older(a, b) || a.saw != none && b.left != none && (a == b || byClient(a, b)) && !older(sawOf(happened, a), b) ||
						byClient(a, b) && broken(a, b, older) {
						return false
					}
				}
			}
			return true
		}) {
			return false
		}
	}
	return true
}

// ordered says whether a client completed update a before it began update b.
func ordered(a, b *farOp) bool { return a.left != none && b.left != none && byClient(a, b) }

// sawOf returns the update whose version an operation saw, nil for the initial one.
func sawOf(happened []*farOp, x *farOp) *farOp {
	i := slices.IndexFunc(happened, func(y *farOp) bool { return y.key == x.key && y.left == x.saw })
	if i < 0 {
		return nil
	}
	return happened[i]
}

// anyOrder says whether some order of versions, of which those before from stand, is good.
func anyOrder(versions []*farOp, from int, good func(place map[*farOp]int) bool) bool {
	if from == len(versions) {
		place := map[*farOp]int{}
		for i, v := range versions {
			place[v] = i
		}
		return good(place)
	}
	for i := from; i < len(versions); i++ {
		versions[from], versions[i] = versions[i], versions[from]
		found := anyOrder(versions, from+1, good)
		versions[from], versions[i] = versions[i], versions[from]
		if found {
			return true
		}
	}
	return false
}

// judgeSessions decides the four guarantees as docs/guarantees.md defines them.
func judgeSessions(happened []*farOp) map[report.Guarantee]bool {
	for _, x := range happened {
		if x.saw > 0 && sawOf(happened, x) == nil {
			return map[report.Guarantee]bool{} // nothing wrote it
		}
	}
	type older = func(v, w *farOp) bool
	// observed says whether no client sees update w and later version v, where v comes before w.
	observed := func(before func(v, w *farOp) bool) bool {
		for _, a := range happened {
			for _, b := range happened {
				if a.saw > 0 && b.saw != none && a.key == b.key && byClient(a, b) && before(sawOf(happened, b), sawOf(happened, a)) {
					return false
				}
			}
		}
		return true
	}
	return map[report.Guarantee]bool{
		report.MonotonicReads: keepsSession(happened, func(a, b *farOp, older older) bool {
			return a.saw != none && b.saw != none && older(sawOf(happened, b), sawOf(happened, a))
		}),
		report.ReadYourWrites: keepsSession(happened, func(a, b *farOp, older older) bool {
			return a.left != none && b.saw != none && older(sawOf(happened, b), a)
		}),
		report.MonotonicWrites: observed(func(v, w *farOp) bool { return v != nil && ordered(v, w) }),
		report.WritesFollowReads: keepsSession(happened, func(a, b *farOp, older older) bool { return false }) && observed(func(v, w *farOp) bool {
			return slices.ContainsFunc(happened, func(x *farOp) bool {
				return x.key == w.key && x.saw != none && sawOf(happened, x) == v && (x == w || byClient(x, w))
			})
		}),
	}
}

// judgeGuarantees decides all guarantees.
func judgeGuarantees(run *farRun) (holds map[report.Guarantee]bool, judged bool) {
	ops := run.kept()
	holds = map[report.Guarantee]bool{}
	happened, judged := unique(ops)
	if judged {
		holds = judgeSessions(happened)
	}
	holds[report.Linearizable] = hasOrder(ops, crashed, inTime)
	holds[report.Sequential] = hasOrder(ops, crashed, byClient)
	holds[report.SequentialPerKey] = hasOrder(ofKey(ops, 0), crashed, byClient) && hasOrder(ofKey(ops, 1), crashed, byClient)
	return holds, judged
}

// drawn calls f with random runs.
func drawn(t *testing.T, runs int, f func(t *testing.T, run *farRun)) {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 22))
	for range runs {
		if run := drawFar(r, 2+r.IntN(6)); run != nil {
			f(t, run)
		}
		if t.Failed() {
			return
		}
	}
}

func farText(run *farRun) string {
	var b strings.Builder
	for i, x := range run.events {
		fmt.Fprintf(&b, "%d at %d: process %d %s key %d %s (%s), returns: %t\n", i, run.times[i], x.client, x.f(false), x.key, x.value(x.end == "ok"), x.end, i != x.inv)
	}
	return b.String()
}

func TestGuaranteesAreThoseOfTheirDefinitions(t *testing.T) {
	t.Parallel()
	held, failed := map[report.Guarantee]int{}, map[report.Guarantee]int{}
	drawn(t, 6000, func(t *testing.T, run *farRun) {
		h, spec := run.history(t)
		far, err := clew.HowFar(t.Context(), h, spec, clew.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, farText(run))
		}
		want, judged := judgeGuarantees(run)
		for i, g := range report.AllGuarantees() {
			v, applies := far.Holds.Of(g)
			switch {
			case want[report.Linearizable] && i > 0:
				if applies {
					t.Errorf("%s is said of a linearizable history", g)
				}
				continue
			case i > 2 && !judged && v == jepsen.Unknown && applies:
				continue
			case i > 2 && !judged && v == jepsen.Valid && want[report.SequentialPerKey]:
				continue // it follows
			}
			if expected := map[bool]jepsen.Verdict{true: jepsen.Valid, false: jepsen.Invalid}[want[g]]; v != expected || !applies {
				t.Errorf("%s: %v (%t), want %v\n%s", g, v, applies, expected, farText(run))
			}
			if want[g] {
				held[g]++
			} else {
				failed[g]++
			}
		}
	})
	for _, g := range report.AllGuarantees() {
		if held[g] < 50 || failed[g] < 50 {
			t.Errorf("%s held %d times and failed %d times; expected at least 50 each", g, held[g], failed[g])
		}
	}
}

// TestProcessesMayDoSeveralThingsAtOnce in interval records: only what has returned comes before.
func TestProcessesMayDoSeveralThingsAtOnce(t *testing.T) {
	t.Parallel()
	judged := 0
	drawn(t, 6000, func(t *testing.T, run *farRun) {
		if effort.Few() && judged >= 500 {
			return
		}
		for _, x := range run.ops {
			x.client, x.called, x.returned = x.client/2, x.inv, x.res
		}
		text, ok := run.records()
		if !ok {
			return
		}
		want, unique := judgeGuarantees(run)
		if !unique || want[report.Linearizable] {
			return // nothing is compared
		}
		h, err := clew.Read(strings.NewReader(text), "run.json", jepsen.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		far, err := clew.HowFar(t.Context(), h, run.spec(), clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		judged++
		for _, g := range report.AllGuarantees() {
			if v, _ := far.Holds.Of(g); (v == jepsen.Valid) != want[g] || v == jepsen.Unknown {
				t.Errorf("%s: %v, want %t\n%s", g, v, want[g], text)
			}
		}
	})
	if judged < 500 {
		t.Errorf("only %d runs were judged", judged)
	}
}

func TestGuaranteesImplyThoseAfterThem(t *testing.T) {
	t.Parallel()
	stronger := report.AllGuarantees()[:3]
	drawn(t, 2000, func(t *testing.T, run *farRun) {
		holds, judged := judgeGuarantees(run)
		for i, strong := range stronger {
			for k, weak := range report.AllGuarantees()[i:] {
				if holds[strong] && !holds[weak] && (i+k < 3 || judged) {
					t.Errorf("%s holds, and %s does not\n%s", strong, weak, farText(run))
				}
			}
		}
		if !holds[report.Linearizable] && hasOrder(ofKey(run.kept(), 0), crashed, inTime) && hasOrder(ofKey(run.kept(), 1), crashed, inTime) {
			t.Errorf("each key is linearizable, and the whole is not\n%s", farText(run))
		}
	})
}

// records returns the run as interval records, if each operation succeeded.
func (run *farRun) records() (text string, ok bool) {
	var b strings.Builder
	for _, x := range run.ops {
		output := ""
		if x.left == none {
			output = fmt.Sprintf(`, "output": %d`, x.saw)
		}
		key := ""
		if run.keys > 1 {
			key = fmt.Sprintf(`, "key": %d`, x.key)
		}
		value := x.value(false)
		switch {
		case x.left == none:
			value = "null"
		case x.saw != none:
			value = fmt.Sprintf("[%d, %d]", x.saw, x.left)
		}
		end := ""
		switch {
		case x.end == "fail":
			return "", false
		case x.end != "ok" && x.left == none:
			continue
		case x.end == "ok":
			end = fmt.Sprintf(`, "return": %d`, x.returned)
		}
		fmt.Fprintf(&b, `{"process": %d, "f": "%s", "value": %s%s%s, "call": %d%s}`+"\n", x.client, x.f(run.keys > 1), value, output, key, x.called, end)
	}
	return b.String(), true
}

// TestTheClockErrorIsExact: it is the least with which the history is linearizable, by an exhaustive search, and by what
// --clock-error does.
func TestTheClockErrorIsExact(t *testing.T) {
	t.Parallel()
	const most = 100 // half of the longest run
	found, never, read := 0, 0, 0
	drawn(t, 4000, func(t *testing.T, run *farRun) {
		ops := run.kept()
		if hasOrder(ops, crashed, inTime) {
			return
		}
		h, spec := run.history(t)
		far, err := clew.HowFar(t.Context(), h, spec, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := far.Clocks
		with := func(e int) bool {
			return hasOrder(ops, crashed, func(a, b *farOp) bool { return a.end == "ok" && a.returned+e < b.called-e })
		}
		if !with(most) {
			if never++; c.Most != nil || c.Why != report.NoError {
				t.Errorf("%+v, expected none\n%s", c, farText(run))
			}
			return
		}
		least := 0
		for !with(least) {
			least++
		}
		if found++; c.Most == nil || *c.Most != int64(least) || c.Least != int64(least) {
			t.Fatalf("%+v, want %d\n%s", c, least, farText(run))
		}
		text, ok := run.records()
		if !ok {
			return
		}
		for _, e := range []int{least, least - 1} {
			if e < 0 {
				continue
			}
			h, err := clew.Read(strings.NewReader(text), "run.json", jepsen.Options{ClockError: int64(e)})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			r, err := clew.Check(t.Context(), h, spec, clew.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if far, err := clew.HowFar(t.Context(), h, spec, clew.Options{}); err != nil || r.Verdict == jepsen.Invalid && *far.Clocks.Most != int64(least) {
				t.Errorf("%v: the records have another clock error, not %d\n%s", err, least, text)
			}
			if read++; (r.Verdict == jepsen.Valid) != (e == least) {
				t.Errorf("with the clock error %d, of %d, the records are %v\n%s", e, least, r.Verdict, text)
			}
		}
	})
	if found < 100 || never < 100 || read < 100 {
		t.Errorf("%d errors, %d times none, %d records", found, never, read)
	}
}

// TestVersionsBehindAreCounted as docs/guarantees.md defines them.
func TestVersionsBehindAreCounted(t *testing.T) {
	t.Parallel()
	most := map[int]int{}
	drawn(t, 4000, func(t *testing.T, run *farRun) {
		ops := run.kept()
		_, judged := unique(ops)
		if !judged || hasOrder(ops, crashed, inTime) {
			return
		}
		there := func(update *farOp) int { // when it certainly had happened
			at := 1 << 20
			for _, x := range ops {
				if x.end == "ok" && (x == update || x.key == update.key && x.saw == update.left) {
					at = min(at, x.res)
				}
			}
			return at
		}
		want := 0
		for _, x := range ops {
			if x.end != "ok" || x.saw == none {
				continue
			}
			from, behind := none, 0
			if i := slices.IndexFunc(ops, func(y *farOp) bool { return y.key == x.key && y.left == x.saw }); i >= 0 {
				from = there(ops[i])
			} else if x.saw > 0 {
				continue // nothing wrote it
			}
			for _, y := range ops {
				if y.key == x.key && y.left != none && y.inv > from && there(y) < x.inv {
					behind++
				}
			}
			want = max(want, behind)
		}
		h, spec := run.history(t)
		far, err := clew.HowFar(t.Context(), h, spec, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if far.Behind == nil || far.Behind.Versions != want {
			t.Errorf("%+v, want %d\n%s", far.Behind, want, farText(run))
		}
		most[want]++
	})
	if len(most) < 4 {
		t.Errorf("reads were behind by few different numbers of versions: %v", most)
	}
}

// TestWhatIsForgottenIsSmallest: without the forgotten updates the history is linearizable, and with any one of them it is
// not. Earlier ones are kept if there is a choice.
func TestWhatIsForgottenIsSmallest(t *testing.T) {
	t.Parallel()
	counts, suffixes := map[int]int{}, map[string]int{}
	drawn(t, 6000, func(t *testing.T, run *farRun) {
		ops := run.kept()
		if hasOrder(ops, crashed, inTime) {
			return
		}
		lost := map[*farOp]bool{}
		lin := func() bool {
			return hasOrder(ops, func(x *farOp) bool { return crashed(x) || lost[x] }, func(a, b *farOp) bool { return !lost[a] && inTime(a, b) })
		}
		var updates []*farOp
		for _, x := range ops {
			if x.end == "ok" && x.left != none {
				updates = append(updates, x)
				lost[x] = true
			}
		}
		h, spec := run.history(t)
		far, err := clew.HowFar(t.Context(), h, spec, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := far.Forgotten
		if !lin() {
			if counts[-1]++; f.Why != report.NotForgotten || f.Count > 0 {
				t.Errorf("%+v, expected none\n%s", f, farText(run))
			}
			return
		}
		slices.SortFunc(updates, func(x, y *farOp) int { return x.res - y.res })
		for _, x := range updates {
			if lost[x] = false; !lin() {
				lost[x] = true
			}
		}
		var want []*farOp
		for _, x := range updates {
			if !lost[x] {
				continue
			}
			if want = append(want, x); true {
				lost[x] = false
				if lin() {
					t.Errorf("%+v need not be forgotten\n%s", x, farText(run))
				}
				lost[x] = true
			}
		}
		if f.Why != "" || f.Count != len(want) || f.Of != len(updates) || !f.Smallest || f.FirstIndex != int64(want[0].res) || f.LastIndex != int64(want[len(want)-1].res) {
			t.Errorf("%+v, want %d\n%s", f, len(want), farText(run))
		}
		counts[len(want)]++
		if suffix := judgeSuffix(run, updates, lost); f.Suffix != suffix {
			t.Errorf("the suffix is %q, want %q\n%s", f.Suffix, suffix, farText(run))
		}
		suffixes[f.Suffix]++
	})
	if counts[-1] < 50 || counts[1] < 50 || counts[2] < 50 || suffixes[report.SuffixAll] < 20 || suffixes[report.SuffixEachKey] < 5 || suffixes[report.SuffixNode] < 5 {
		t.Errorf("forgotten: %v, suffixes: %v", counts, suffixes)
	}
}

// TestIndependentKeysAreMeasuredTogether like the keys of one map, except that there need not be one order for all of them.
func TestIndependentKeysAreMeasuredTogether(t *testing.T) {
	t.Parallel()
	both := 0
	drawn(t, 8000, func(t *testing.T, run *farRun) {
		if run.keys == 1 {
			return
		}
		measured := func(o clew.Options) *report.HowFar {
			h, spec := run.history(t)
			far, err := clew.HowFar(t.Context(), h, spec, o)
			if err != nil {
				t.Fatalf("%v\n%s", err, farText(run))
			}
			return far
		}
		whole := measured(clew.Options{})
		run.independent = true
		keys := measured(clew.Options{Independent: true})
		if len(keys.Keys) == 2 {
			both++
		}
		if whole.Holds.Strongest() == report.Linearizable {
			if keys.Holds.Strongest() != report.Linearizable || keys.Keys != nil {
				t.Errorf("each key is linearizable, and not the whole\n%s", farText(run))
			}
			return
		}
		if !reflect.DeepEqual(keys.Clocks, whole.Clocks) {
			t.Errorf("clock errors %+v, want %+v\n%s", keys.Clocks, whole.Clocks, farText(run))
		}
		_, judged := unique(run.kept())
		if judged && keys.Behind.Versions != whole.Behind.Versions {
			t.Errorf("%+v, want %+v\n%s", keys.Behind, whole.Behind, farText(run))
		}
		told := func(f report.Forgotten) report.Forgotten {
			f.First, f.Last = "", "" // values have keys
			return f
		}
		if told(*keys.Forgotten) != told(*whole.Forgotten) {
			t.Errorf("forgotten: %+v, want %+v\n%s", keys.Forgotten, whole.Forgotten, farText(run))
		}
		v, _ := keys.Holds.Of(report.Sequential)
		if perKey, _ := whole.Holds.Of(report.SequentialPerKey); judged && v != perKey {
			t.Errorf("sequential: %v, want %v\n%s", v, perKey, farText(run))
		}
	})
	if both < 20 {
		t.Errorf("both keys failed only %d times", both)
	}
}

// judgeSuffix says of what some updates are a suffix: an event exists by which they are the last ones that had returned.
func judgeSuffix(run *farRun, updates []*farOp, lost map[*farOp]bool) string {
	isSuffix := func(of []*farOp) (suffix bool, n int) {
		suffix = true
		for _, x := range of {
			if lost[x] {
				n++
			}
		}
		for end := range len(of) + 1 {
			last := 0
			for last < end && lost[of[end-1-last]] {
				last++
			}
			if last == n {
				return true, n
			}
		}
		return false, n
	}
	group := func(is func(*farOp) bool) (own []*farOp) {
		for _, x := range updates {
			if is(x) {
				own = append(own, x)
			}
		}
		return own
	}
	all, n := isSuffix(updates)
	if n < 2 {
		return ""
	}
	if all {
		return report.SuffixAll
	}
	for node := range 2 {
		if one, of := isSuffix(group(func(x *farOp) bool { return x.client%2 == node })); one && of == n {
			return report.SuffixNode
		}
	}
	for key := range run.keys {
		if one, _ := isSuffix(group(func(x *farOp) bool { return x.key == key })); !one {
			return ""
		}
	}
	if run.keys == 1 {
		return ""
	}
	return report.SuffixEachKey
}

// TestRealHistoriesAreMeasured: what is known of them, and that each check of the clock error holds at its bound.
func TestRealHistoriesAreMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file   string
		clocks int64
		behind int
		holds  []report.Guarantee
	}{
		{"redis-store/redis-split-brain-test/20250623T175651.207Z/history.edn", 6926409198, 403, nil},
		{"redis-store/redis-flapping-partitions-test/20250623T184232.292Z/history.edn", 1328588792, 94, nil},
		{"wild/04-redis-extreme-latency/run/history.edn", 26487816399, 301, nil},
	} {
		h, err := clew.ReadFile(archive.Path(t, c.file), jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		far, err := clew.HowFar(t.Context(), h, models.Spec{Name: "register"}, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if far.Clocks.Most == nil || *far.Clocks.Most != c.clocks || far.Clocks.Least != c.clocks || far.Behind.Versions != c.behind || !slices.Equal(far.Holds.Holds, c.holds) ||
			far.Forgotten.Why != report.NotForgotten {
			t.Errorf("%s:\n%s", c.file, strings.Join(far.Lines(), "\n"))
		}
	}
}

// TestThePageOfGuarantees: each guarantee has an example in docs/guarantees.md that keeps it and one that breaks it.
func TestThePageOfGuarantees(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(kit.Path("docs/guarantees.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, block := range regexp.MustCompile("(?s)```edn\n; (\\S+) (holds|fails)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		guarantee, says := report.Guarantee(block[1]), block[2]
		shown[block[1]+" "+says] = true
		h, err := clew.Read(strings.NewReader(block[3]), block[1], jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		spec := models.Spec{Name: "register", Init: "0"}
		if strings.Contains(block[3], ":put") {
			spec = models.Spec{Name: "kv", Init: "{:x 0, :y 0}"}
		}
		far, err := clew.HowFar(t.Context(), h, spec, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]jepsen.Verdict{"holds": jepsen.Valid, "fails": jepsen.Invalid}[says]
		if v, applies := far.Holds.Of(guarantee); v != want || !applies {
			t.Errorf("%s %s: %v\n%s\n%s", guarantee, says, v, block[3], strings.Join(far.Lines(), "\n"))
		}
		if v, _ := far.Holds.Of(report.Linearizable); v == jepsen.Valid && guarantee != report.Linearizable {
			t.Errorf("an example of %s is linearizable", guarantee)
		}
	}
	for _, g := range report.AllGuarantees() {
		if !shown[string(g)+" holds"] || !shown[string(g)+" fails"] {
			t.Errorf("%s lacks an example", g)
		}
	}
}

// TestALaggingStoreIsSequential: clients of replicas that lag see one order of updates, each as far as it has come. That is
// never taken for a failure, and rarely left undecided.
func TestALaggingStoreIsSequential(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(31, 32))
	judged, undecided := 0, 0
	for range 150 {
		const clients, keys = 5, 3
		b := jepsen.NewBuilder(jepsen.Options{})
		var log []*farOp // updates in their order
		var at [clients]int
		read := func(p, key int) any {
			for i := at[p] - 1; i >= 0; i-- {
				if log[i].key == key {
					return log[i].left
				}
			}
			return 0
		}
		for range 300 {
			p, key := r.IntN(clients), r.IntN(keys)
			with := jepsen.With("key", key)
			at[p] += r.IntN(len(log) - at[p] + 1)
			if r.IntN(2) == 0 {
				b.Invoke(p, "get", nil, with)
				b.OK(p, "get", read(p, key), with)
				continue
			}
			x := &farOp{key: key, left: len(log) + 1}
			b.Invoke(p, "put", x.left, with)
			log = append(log, x)
			if r.IntN(20) == 0 {
				b.Info(p, "put", x.left, with)
				continue
			}
			at[p] = len(log)
			b.OK(p, "put", x.left, with)
		}
		h, err := b.History()
		if err != nil {
			t.Fatal(err)
		}
		far, err := clew.HowFar(t.Context(), h, models.Spec{Name: "kv", Init: "{0 0, 1 0, 2 0}"}, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if far.Holds.Strongest() == report.Linearizable {
			continue
		}
		judged++
		switch v, _ := far.Holds.Of(report.Sequential); v {
		case jepsen.Invalid:
			t.Fatalf("a sequential history: %s", strings.Join(far.Lines(), "\n"))
		case jepsen.Unknown:
			undecided++
		}
	}
	if judged < 100 || undecided > judged/20 {
		t.Errorf("%d of %d are undecided", undecided, judged)
	}
}

func TestAContextEndsMeasuring(t *testing.T) {
	t.Parallel()
	h, spec := (&farRun{keys: 1}).history(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if far, err := clew.HowFar(ctx, h, spec, clew.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", far, err)
	}
	if _, err := clew.HowFar(t.Context(), nil, spec, clew.Options{}); !errors.Is(err, jepsen.ErrNoHistory) {
		t.Error(err)
	}
}

// A history that needs more memory than it may take is not measured. Another one of the same length is.
func TestMeasuringKeepsToItsMemory(t *testing.T) {
	b := jepsen.NewBuilder(jepsen.Options{})
	for _, value := range []int{1, 2} {
		b.Invoke(0, "write", value)
		b.OK(0, "write", value)
	}
	b.Invoke(0, "read", nil)
	b.OK(0, "read", 1)
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	spec := models.Spec{Name: "register", Init: "0"}
	if far, err := clew.HowFar(t.Context(), h, spec, clew.Options{Memory: clew.NewMemory(1)}); !errors.Is(err, clew.ErrNoRoom) {
		t.Errorf("%+v, %v", far, err)
	}
	if _, err := clew.HowFar(t.Context(), h, spec, clew.Options{Memory: clew.NewMemory(1 << 30)}); err != nil {
		t.Error(err)
	}
}

// TestWhatIsTooHardIsSaid: values repeat, and there are too many orders for the bounded search.
func TestWhatIsTooHardIsSaid(t *testing.T) {
	t.Parallel()
	b := jepsen.NewBuilder(jepsen.Options{})
	const clients, rounds = 8, 40
	for round := range rounds {
		for p := range clients {
			b.Invoke(p, "write", 1+(p+round)%3)
		}
		for p := range clients {
			b.OK(p, "write", 1+(p+round)%3)
		}
	}
	for _, value := range []int{1, 9} { // nothing writes 9, but each order has to come to that
		b.Invoke(0, "read", nil)
		b.OK(0, "read", value)
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	far, err := clew.HowFar(t.Context(), h, models.Spec{Name: "register", Init: "0"}, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range report.AllGuarantees() {
		if v, applies := far.Holds.Of(g); !applies || (v == jepsen.Unknown) != (i > 0) {
			t.Errorf("%s: %v", g, v)
		}
	}
}
