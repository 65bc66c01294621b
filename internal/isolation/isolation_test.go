package isolation

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"clew/edn"
	"clew/internal/effort"
	"clew/internal/families"
	"clew/internal/testops"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/models"
)

var listAppend = models.Spec{Name: "list-append"}

// readLists are transactions with what they were read from.
type readLists struct {
	*Lists
	ops *models.Operations
}

// listsOf reads transactions from their text.
func listsOf(t testing.TB, text string) *readLists {
	t.Helper()
	ops := testops.Read(t, listAppend, text)
	l, twice, ambiguous := ReadLists(ops)
	if ambiguous {
		t.Fatalf("%v append the same:\n%s", twice, text)
	}
	return &readLists{l, ops}
}

// number returns an integer of the history.
func (l *readLists) number(id edn.ID) int {
	n, _ := l.ops.History.Values.Int(id)
	return int(n)
}

// levelsOf says at which levels transactions are.
func levelsOf(l *readLists) map[models.Level]bool {
	at := map[models.Level]bool{}
	for _, a := range l.Levels() {
		at[a.Level] = a.Verdict == jepsen.Valid
	}
	return at
}

func TestLevelsAreThoseOfTheirDefinitions(t *testing.T) {
	n := effort.Histories(20_000, 1_000_000)
	open := 0
	valid, between := map[models.Level]int{}, map[[2]models.Level]int{}
	first := uint64(0)
	if effort.Few() {
		first = 7000 // one of two levels without the other is rare
	}
	for seed := first; seed < first+n; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		txns, keys := draw(r, 2+r.IntN(5), 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(3))
		text := text(txns)
		if text == "" {
			continue
		}
		l := listsOf(t, text)
		x, all := l.graphed(l.graph), levelsOf(l)
		want := map[models.Level]bool{}
		for _, level := range models.AllLevels() {
			a := l.answer(x, level)
			want[level] = twin(txns, keys, level)
			if a.Verdict == jepsen.Unknown || (a.Verdict == jepsen.Valid) != want[level] || all[level] != want[level] {
				t.Fatalf("seed %d: %s is %v (together %v), by definition %v: %+v %+v\n%s", seed, level, a.Verdict, all[level], want[level], a, l.Anomalies, text)
			}
			if a.Open != nil {
				open++
			}
			if why := evidence(l, txns, keys, a); why != "" {
				t.Fatalf("seed %d: %s: %s: %+v\n%s", seed, level, why, a, text)
			}
		}
		for a, holds := range want {
			if holds {
				valid[a]++
			}
			for b, also := range want {
				if holds && !also {
					between[[2]models.Level{a, b}]++
				} else if holds && a.Implies(b) && !also {
					t.Fatalf("seed %d: %s does not imply %s by definition\n%s", seed, a, b, text)
				}
			}
		}
	}
	if open < int(n)/2000 {
		t.Errorf("only %d snapshots fail in each order that is open", open)
	}
	for _, a := range models.AllLevels() {
		t.Log(a, valid[a])
		if valid[a] < int(n)/10 || valid[a] > int(n)-int(n)/500 {
			t.Errorf("%s: %d of %d are valid; expected more of both", a, valid[a], n)
		}
		for _, b := range models.AllLevels() {
			if few := between[[2]models.Level{a, b}]; !a.Implies(b) && few == 0 {
				t.Errorf("no history is %s and not %s", a, b)
			}
		}
	}
}

// evidence says what is wrong with the evidence of an answer.
func evidence(l *readLists, txns []ttxn, keys int, a Answer) string {
	if why, _ := l.Wrong(a); why != "" {
		return why
	}
	switch {
	case a.Verdict == jepsen.Valid && a.Order != nil:
		return replay(l.ops, txns, keys, a.Order, a.Level)
	case a.Verdict == jepsen.Valid && a.Points != nil:
		return snapshots(l.ops, txns, keys, a.Points, a.Level)
	case a.Verdict == jepsen.Invalid && a.Cycle == nil && a.Anomaly == nil && a.Open == nil:
		return "there is no evidence"
	case a.Cycle != nil:
		return follow(l, txns, a.Cycle)
	}
	return ""
}

// replay says what is wrong with an order.
func replay(ops *models.Operations, txns []ttxn, keys int, order []int32, level models.Level) string {
	lists, done := make([][]int, keys), map[jepsen.Operation]bool{}
	before := precedes(level, keys)
	for i, row := range order {
		txn := ops.Of[row]
		t := &txns[txn]
		if done[txn] || !t.explains(lists) {
			return "the order does not explain a read"
		}
		for _, later := range order[i+1:] {
			if before(&txns[ops.Of[later]], t) {
				return "the order contradicts that in time"
			}
		}
		lists, done[txn] = t.after(lists), true
	}
	for i := range txns {
		if txns[i].status == jepsen.Succeeded && !done[jepsen.Operation(i)] {
			return "the order lacks a transaction"
		}
	}
	return ""
}

// snapshots says what is wrong with points in time.
func snapshots(ops *models.Operations, txns []ttxn, keys int, at []int32, level models.Level) string {
	p := &points{txns: txns, keys: keys, before: precedes(level, keys)}
	started, committed, lists := 0, 0, make([][]int, keys)
	for _, point := range at {
		i := int(ops.Of[point/2])
		t, bit := &txns[i], 1<<i
		if point%2 == 1 {
			if committed |= bit; started&bit == 0 {
				return "a commit comes before the snapshot"
			}
			lists = t.after(lists)
			continue
		}
		if !p.mayStart(i, started, committed) || !t.explains(lists) {
			return "a snapshot does not explain the reads, or overlaps"
		}
		started |= bit
	}
	for i := range txns {
		if txns[i].status == jepsen.Succeeded && committed&(1<<i) == 0 {
			return "a transaction lacks its commit"
		}
	}
	return ""
}

// follow says what is wrong with a cycle.
func follow(l *readLists, txns []ttxn, c *Cycle) string {
	for i, s := range c.Steps {
		if s.To != c.Steps[(i+1)%len(c.Steps)].From || s.From == s.To {
			return "the steps are not a cycle"
		}
		a, b := &txns[l.ops.Of[s.From]], &txns[l.ops.Of[s.To]]
		key, value := 0, 0
		if s.Key >= 0 {
			key = l.number(l.shape.Key(s.Key))
		}
		if s.Why&(WW|WR|RW|First) != 0 {
			value = l.number(l.shape.Value(s.Value))
		}
		switch s.Why {
		case WW, First:
			if a.appended(key) == nil || !slices.Contains(b.appended(key), value) {
				return "a ww step is not between appends"
			}
		case WR:
			if !slices.Contains(a.appended(key), value) || !reads(b, key, func(list []int) bool { return slices.Contains(list, value) }) {
				return "a wr step does not read what was appended"
			}
		case RW:
			if !slices.Contains(b.appended(key), value) || !reads(a, key, func(list []int) bool { return !slices.Contains(list, value) }) {
				return "an rw step read what was appended"
			}
		case Process, Time, KeyTime:
			if a.res < 0 || a.res >= b.inv || s.Why == Process && a.process != b.process {
				return "a step in time goes back"
			}
		}
	}
	return ""
}

func reads(t *ttxn, key int, as func([]int) bool) bool {
	return slices.ContainsFunc(t.steps, func(s tstep) bool { return !s.append && s.key == key && as(s.list) })
}

// On histories of hundreds of transactions, no level holds without those that it implies, evidence is right, and strict serializability is
// what the near-linear decision says.
func TestImplicationsOfLevels(t *testing.T) {
	holds := map[models.Level]int{}
	n := effort.Histories(200, 10_000)
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 2))
		txns, keys := draw(r, 50+r.IntN(400), 1+r.IntN(8), 2+r.IntN(8), 1+r.IntN(4))
		if r.IntN(3) > 0 { // few are wrong
			arrange(r, txns, keys)
		}
		text := text(txns)
		l := listsOf(t, text)
		at := map[models.Level]bool{}
		for _, level := range models.AllLevels() {
			a := l.At(level)
			if a.Verdict == jepsen.Unknown {
				continue
			}
			if at[level] = a.Verdict == jepsen.Valid; at[level] {
				holds[level]++
			}
			if why, _ := l.Wrong(a); why != "" {
				t.Fatalf("seed %d: %s: %s", seed, level, why)
			}
		}
		for a, is := range at {
			for b, also := range at {
				if is && !also && a.Implies(b) {
					t.Fatalf("seed %d: %s holds, and not %s", seed, a, b)
				}
			}
		}
		path, _ := families.Of(l.ops.Model)
		if d := path.Decide(context.Background(), &l.ops.Columns, 0); d.Verdict != jepsen.Unknown && (d.Verdict == jepsen.Valid) != at[models.StrictSerializable] {
			t.Fatalf("seed %d: the near-linear decision says %v", seed, d.Verdict)
		}
	}
	t.Log(n, holds)
	for _, level := range models.AllLevels() {
		if holds[level] < int(n)/50 || holds[level] == int(n) {
			t.Errorf("%s holds for %d of %d", level, holds[level], n)
		}
	}
}

// Evidence that is not right is noticed.
func TestWrongEvidence(t *testing.T) {
	l := listsOf(t, `
{:process 0, :type :invoke, :f :txn, :value [[:append 0 1]]}
{:process 0, :type :ok, :f :txn, :value [[:append 0 1]]}
{:process 0, :type :invoke, :f :txn, :value [[:append 0 2]]}
{:process 0, :type :ok, :f :txn, :value [[:append 0 2]]}
{:process 1, :type :invoke, :f :txn, :value [[:r 0 nil]]}
{:process 1, :type :ok, :f :txn, :value [[:r 0 [1]]]}`)
	snapshot, session, strict := models.SnapshotIsolation, models.StrongSessionSnapshotIsolation, models.StrictSerializable
	cycle := func(steps ...Step) *Cycle { return &Cycle{steps, kindOf(steps)} }
	missed, later := Step{2, 1, RW, 0, 1}, Step{1, 2, Time, -1, -1}
	for name, c := range map[string]struct {
		a     Answer
		wrong bool
	}{
		"an order":                        {Answer{Level: models.SerializableLinearizableKeys, Order: []int32{0, 1, 2}}, false},
		"an order against time":           {Answer{Level: strict, Order: []int32{0, 2, 1}}, true},
		"an order against a process":      {Answer{Level: models.StrongSessionSerializable, Order: []int32{1, 0, 2}}, true},
		"an order against time, by key":   {Answer{Level: models.SerializableLinearizableKeys, Order: []int32{0, 2, 1}}, true},
		"an order that keeps processes":   {Answer{Level: models.StrongSessionSerializable, Order: []int32{0, 2, 1}}, false},
		"an order without a transaction":  {Answer{Level: models.Serializable, Order: []int32{0, 1}}, true},
		"an order with one twice":         {Answer{Level: models.Serializable, Order: []int32{0, 1, 2, 2}}, true},
		"points":                          {Answer{Level: session, Points: []int32{0, 1, 4, 2, 3, 5}}, false},
		"a snapshot that is too late":     {Answer{Level: snapshot, Points: []int32{0, 1, 2, 3, 4, 5}}, true},
		"a snapshot that is too early":    {Answer{Level: snapshot, Points: []int32{0, 4, 1, 2, 3, 5}}, true},
		"updates that overlap":            {Answer{Level: snapshot, Points: []int32{0, 2, 1, 4, 3, 5}}, true},
		"a commit before the snapshot":    {Answer{Level: snapshot, Points: []int32{1, 0, 4, 5, 2, 3}}, true},
		"a missing commit":                {Answer{Level: snapshot, Points: []int32{0, 1, 4, 2, 3}}, true},
		"a session that goes back":        {Answer{Level: session, Points: []int32{2, 3, 0, 1, 4, 5}}, true},
		"a cycle":                         {Answer{Level: strict, Cycle: cycle(missed, later)}, false},
		"a cycle with another name":       {Answer{Level: strict, Cycle: &Cycle{[]Step{missed, later}, "G0"}}, true},
		"a cycle with what was not read":  {Answer{Level: strict, Cycle: cycle(Step{1, 2, WR, 0, 1}, missed)}, true},
		"a cycle with what was read":      {Answer{Level: strict, Cycle: cycle(Step{2, 0, RW, 0, 0}, Step{0, 2, WR, 0, 0})}, true},
		"a cycle with updates turned":     {Answer{Level: strict, Cycle: cycle(Step{0, 1, WW, 0, 1}, Step{1, 0, WW, 0, 0})}, true},
		"a cycle with time turned":        {Answer{Level: strict, Cycle: cycle(Step{0, 2, WR, 0, 0}, Step{2, 0, Time, -1, -1})}, true},
		"a cycle of different processes":  {Answer{Level: strict, Cycle: cycle(missed, Step{1, 2, Process, -1, -1})}, true},
		"steps that do not make a circle": {Answer{Level: strict, Cycle: cycle(missed, Step{0, 2, Time, -1, -1})}, true},
	} {
		if why, checked := l.Wrong(c.a); !checked || (why != "") != c.wrong {
			t.Errorf("%s: %q", name, why)
		}
	}
}
