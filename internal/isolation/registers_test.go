package isolation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/effort"
	"clew/internal/families"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// The twin of lists decides registers, too, if each write is an append, and a read shows the end of a list.

// initialValue is what registers have initially in tests where they have something.
const initialValue = 1000

// inits says whether registers begin with initialValue and their key, so that nil says nothing.
var inits bool

// initially prints the initial value of a key, or an unknown one.
func initially(unknown bool, key int) string {
	if unknown || !inits {
		return "nil"
	}
	return fmt.Sprint(initialValue + key)
}

// asRegisters makes transactions on lists ones on registers.
func asRegisters(r *rand.Rand, txns []ttxn) {
	inits = r.IntN(3) == 0
	for i := range txns {
		for j := range txns[i].steps {
			s := &txns[i].steps[j]
			s.register = true
			if j > 0 && !s.append && inits && r.IntN(8) == 0 { // one that says nothing at all is not an operation
				s.unknown = true
			}
		}
	}
}

// readRegisters are transactions with what they were read from.
type readRegisters struct {
	*Registers
	ops *models.Operations
}

func registersOf(t testing.TB, text string) *readRegisters {
	t.Helper()
	spec := models.Spec{Name: "multi-register", Init: "{}", NilReadsExact: true}
	if inits {
		var all []string
		for key := range 10 {
			all = append(all, fmt.Sprint(key, " ", initialValue+key))
		}
		spec.Init, spec.NilReadsExact = "{"+strings.Join(all, ", ")+"}", false
		text = strings.ReplaceAll(text, "[:r ", "[:read ") // of :r, nil would be what was read
	}
	ops := testops.Read(t, spec, text)
	r, several := ReadRegisters(t.Context(), ops)
	if several != nil {
		t.Fatalf("%v write the same:\n%s", several, text)
	}
	return &readRegisters{r, ops}
}

// adyaRegisters decides read committed and read uncommitted of registers: it looks for orders of the versions of each key.
func adyaRegisters(txns []ttxn, keys int, level models.Level) bool {
	rc := level == models.ReadCommitted
	type write struct{ txn, step int }
	wrote := map[[2]int]write{}
	for i := range txns {
		for j, s := range txns[i].steps {
			if s.append {
				wrote[[2]int{s.key, s.value}] = write{i, j}
			}
		}
	}
	n := len(txns)
	wr, happened := make([][]bool, n), make([]bool, n)
	for i := range txns {
		wr[i] = make([]bool, n)
		happened[i] = txns[i].status == jepsen.Succeeded
	}
	for i, t := range txns {
		if t.status != jepsen.Succeeded {
			continue
		}
		for j, s := range t.steps {
			if s.append || s.unknown || lastOf(s.list) == 0 {
				continue
			}
			w, some := wrote[[2]int{s.key, lastOf(s.list)}]
			if !some {
				return false
			}
			if !rc || w.txn == i && w.step < j {
				continue
			}
			all := txns[w.txn].appended(s.key)
			if w.txn == i || txns[w.txn].status == jepsen.Failed || all[len(all)-1] != lastOf(s.list) {
				return false
			}
			wr[w.txn][i], happened[w.txn] = true, true
		}
	}
	return !rc || versionsHaveOrders(txns, wr, happened, keys, 0, nil)
}

// versionsHaveOrders says whether the versions of each key can be ordered so that, with wr, no transaction comes before itself.
func versionsHaveOrders(txns []ttxn, edges [][]bool, happened []bool, keys, key int, done []int) bool {
	for i, reached := range closure(edges) {
		if reached[i] {
			return false
		}
	}
	if key == keys {
		return true
	}
	all := true
	for i := range txns {
		if happened[i] && txns[i].appended(key) != nil && !slices.Contains(done, i) {
			all = false
			more := edges
			if len(done) > 0 {
				more = make([][]bool, len(edges))
				for j := range edges {
					more[j] = slices.Clone(edges[j])
				}
				more[done[len(done)-1]][i] = true
			}
			if versionsHaveOrders(txns, more, happened, keys, key, append(slices.Clone(done), i)) {
				return true
			}
		}
	}
	return all && versionsHaveOrders(txns, edges, happened, keys, key+1, nil)
}

func closure(edges [][]bool) [][]bool {
	n := len(edges)
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = slices.Clone(edges[i])
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	return reach
}

func TestLevelsOfRegistersAreThoseOfTheirDefinitions(t *testing.T) {
	n := effort.Histories(20_000, 1_000_000)
	searched, bare, valid, between := 0, 0, map[models.Level]int{}, map[[2]models.Level]int{}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 3))
		txns, keys := draw(r, 2+r.IntN(5), 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(3))
		asRegisters(r, txns)
		text := text(txns)
		if text == "" {
			continue
		}
		l := registersOf(t, text)
		together := l.Levels()
		want := map[models.Level]bool{}
		for _, level := range models.AllLevels() {
			want[level] = twin(txns, keys, level)
		}
		for i, level := range models.AllLevels() {
			a := l.At(level)
			if all := together[i]; a.Verdict == jepsen.Unknown || (a.Verdict == jepsen.Valid) != want[level] || all.Verdict != a.Verdict {
				t.Fatalf("seed %d: %s is %v (together %v), by definition %v: %+v %+v\n%s", seed, level, a.Verdict, all, want[level], a, l.Anomalies, text)
			}
			if a.Open != nil {
				if searched++; a.Cycle == nil {
					bare++
				}
			}
			if why := l.evidence(txns, keys, a, want); why != "" {
				t.Fatalf("seed %d: %s: %s: %+v\n%s", seed, level, why, a, text)
			}
		}
		for _, c := range l.Cycles() {
			if why := followRegisters(l, txns, &c); why != "" {
				t.Fatalf("seed %d: %s: %+v\n%s", seed, why, c, text)
			}
			for level, holds := range want {
				if holds && c.Breaks(level) {
					t.Fatalf("seed %d: %s holds, and there is a %s\n%s", seed, level, c.Kind, text)
				}
			}
		}
		for _, a := range l.Anomalies {
			for level, holds := range want {
				if holds && a.Breaks(level) {
					t.Fatalf("seed %d: %s holds, and there is %s\n%s", seed, level, a.Kind, text)
				}
			}
		}
		for a, holds := range want {
			if holds {
				valid[a]++
			}
			for b, also := range want {
				if holds && !also {
					between[[2]models.Level{a, b}]++
				}
				if holds && !also && a.Implies(b) {
					t.Fatalf("seed %d: %s does not imply %s by definition\n%s", seed, a, b, text)
				}
			}
		}
	}
	if searched < int(n)/200 {
		t.Errorf("only %d levels fail by search", searched)
	}
	t.Log(searched, bare, valid)
	for _, a := range models.AllLevels() {
		if valid[a] < int(n)/10 || valid[a] > int(n)-int(n)/500 {
			t.Errorf("%s: %d of %d are valid; expected more of both", a, valid[a], n)
		}
		for _, b := range models.AllLevels() {
			if !a.Implies(b) && between[[2]models.Level{a, b}] == 0 {
				t.Errorf("no history is %s and not %s", a, b)
			}
		}
	}
}

// evidence says what is wrong with the evidence of an answer.
func (l *readRegisters) evidence(txns []ttxn, keys int, a Answer, want map[models.Level]bool) string {
	why, checked := l.Wrong(a)
	switch {
	case why != "":
		return why
	case a.Verdict == jepsen.Valid && !checked && !models.ReadCommitted.Implies(a.Level) && slices.Contains(l.Happened, true):
		return "there is no evidence that was checked"
	case a.Order != nil:
		return replay(l.ops, txns, keys, a.Order, a.Level)
	case a.Points != nil:
		return snapshots(l.ops, txns, keys, a.Points, a.Level)
	case a.Cycle != nil && a.Open == nil:
		return followRegisters(l, txns, a.Cycle)
	case a.Open != nil: // those by themselves are not at the level either
		if a.Cycle != nil {
			for level, holds := range want {
				if holds && a.Cycle.Breaks(level) {
					return fmt.Sprintf("%s holds, and there is a %s", level, a.Cycle.Kind)
				}
			}
			if why := followCertain(l, txns, a.Cycle); why != "" {
				return why
			}
		}
		var some []ttxn
		for _, row := range a.Open {
			some = append(some, txns[l.ops.Of[row]])
		}
		if twin(some, keys, a.Level) {
			return "the transactions that are listed are at the level"
		}
	case a.Verdict == jepsen.Invalid && a.Anomaly == nil:
		return "there is no evidence"
	}
	return ""
}

// followCertain says what is wrong with a cycle whose steps may follow from the level.
func followCertain(l *readRegisters, txns []ttxn, c *Cycle) string {
	for i, s := range c.Steps {
		if s.To != c.Steps[(i+1)%len(c.Steps)].From || s.From == s.To {
			return "the steps are not a cycle"
		}
		a, b := &txns[l.ops.Of[s.From]], &txns[l.ops.Of[s.To]]
		if s.Why&(Process|Time|KeyTime) != 0 {
			if a.res < 0 || a.res >= b.inv || s.Why == Process && a.process != b.process {
				return "a step in time goes back"
			}
			continue
		}
		key, _ := l.ops.History.Values.Int(l.Key(s.Key))
		wrote := func(t *ttxn) bool { return t.appended(int(key)) != nil }
		read := func(t *ttxn) bool { return reads(t, int(key), func([]int) bool { return true }) }
		if s.Why == WR && !(wrote(a) && read(b)) || s.Why == RW && !(read(a) && wrote(b)) || s.Why == WW && !(wrote(a) && wrote(b)) {
			return "a step is not between transactions that write and read the key"
		}
	}
	return ""
}

// followRegisters says what is wrong with a cycle.
func followRegisters(l *readRegisters, txns []ttxn, c *Cycle) string {
	number := func(id edn.ID) int {
		n, _ := l.ops.History.Values.Int(id)
		return int(n)
	}
	for i, s := range c.Steps {
		if s.To != c.Steps[(i+1)%len(c.Steps)].From || s.From == s.To {
			return "the steps are not a cycle"
		}
		a, b := &txns[l.ops.Of[s.From]], &txns[l.ops.Of[s.To]]
		if s.Why&(Process|Time|KeyTime) != 0 {
			if a.res < 0 || a.res >= b.inv || s.Why == Process && a.process != b.process {
				return "a step in time goes back"
			}
			continue
		}
		key, value := number(l.Key(s.Key)), number(l.Value(s.Value))
		wrote := func(t *ttxn) bool { own := t.appended(key); return own != nil && own[len(own)-1] == value }
		saw := func(t *ttxn, value int) bool {
			return t.status == jepsen.Succeeded && reads(t, key, func(list []int) bool { return lastOf(list) == value })
		}
		switch s.Why {
		case WR:
			if !slices.Contains(a.appended(key), value) || !saw(b, value) {
				return "a wr step does not read what was written"
			}
		case RW:
			both := slices.ContainsFunc(a.steps, func(x tstep) bool { return !x.append && x.key == key && saw(b, lastOf(x.list)) })
			if !wrote(b) || !saw(a, 0) && !both {
				return "an rw step is not certain"
			}
		default:
			return "a step is of another kind"
		}
	}
	return ""
}

// On histories of hundreds of transactions, no level holds without those that it implies, and evidence is right.
func TestImplicationsOfLevelsOfRegisters(t *testing.T) {
	holds, unknown := map[models.Level]int{}, 0
	n := effort.Histories(200, 10_000)
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 4))
		txns, keys := draw(r, 50+r.IntN(250), 1+r.IntN(8), 2+r.IntN(8), 1+r.IntN(4))
		if r.IntN(3) > 0 { // few are wrong
			arrange(r, txns, keys)
		}
		asRegisters(r, txns)
		l := registersOf(t, text(txns))
		at := map[models.Level]bool{}
		for _, level := range models.AllLevels() {
			a := l.At(level)
			if a.Verdict == jepsen.Unknown {
				unknown++
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
		if d := path.Decide(t.Context(), &l.ops.Columns, 0); d.Verdict != jepsen.Unknown && (d.Verdict == jepsen.Valid) != at[models.StrictSerializable] {
			t.Fatalf("seed %d: the near-linear decision says %v", seed, d.Verdict)
		}
	}
	t.Log(n, unknown, holds)
	for _, level := range models.AllLevels() {
		if holds[level] < int(n)/50 || holds[level] == int(n) {
			t.Errorf("%s holds for %d of %d", level, holds[level], n)
		}
	}
}

// Evidence that is not right is noticed.
func TestWrongEvidenceOfRegisters(t *testing.T) {
	inits = false
	l := registersOf(t, `
{:process 0, :type :invoke, :f :txn, :value [[:w 0 1]]}
{:process 0, :type :ok, :f :txn, :value [[:w 0 1]]}
{:process 0, :type :invoke, :f :txn, :value [[:r 0 nil] [:w 0 2]]}
{:process 0, :type :ok, :f :txn, :value [[:r 0 1] [:w 0 2]]}
{:process 1, :type :invoke, :f :txn, :value [[:r 0 nil]]}
{:process 1, :type :ok, :f :txn, :value [[:r 0 1]]}
{:process 2, :type :invoke, :f :txn, :value [[:w 0 3]]}
{:process 2, :type :ok, :f :txn, :value [[:w 0 3]]}`)
	snapshot, strict := models.SnapshotIsolation, models.StrictSerializable
	cycle := func(steps ...Step) *Cycle { return &Cycle{steps, kindOf(steps)} }
	one, two, three := l.steps(0)[0].Value, l.steps(1)[1].Value, l.steps(3)[0].Value
	missed, later := Step{2, 1, RW, 0, two}, Step{1, 2, Time, -1, -1}
	for name, c := range map[string]struct {
		a     Answer
		wrong bool
	}{
		"an order":                         {Answer{Level: models.StrongSessionSerializable, Order: []int32{0, 2, 1, 3}}, false},
		"an order against time":            {Answer{Level: strict, Order: []int32{0, 2, 1, 3}}, true},
		"an order without a transaction":   {Answer{Level: models.Serializable, Order: []int32{0, 2, 1}}, true},
		"points":                           {Answer{Level: snapshot, Points: []int32{0, 1, 4, 2, 3, 5, 6, 7}}, false},
		"a snapshot that is too late":      {Answer{Level: snapshot, Points: []int32{0, 1, 2, 3, 4, 5, 6, 7}}, true},
		"updates that overlap":             {Answer{Level: snapshot, Points: []int32{0, 1, 4, 2, 6, 3, 7, 5}}, true},
		"a missing commit":                 {Answer{Level: snapshot, Points: []int32{0, 1, 4, 2, 3, 5, 6}}, true},
		"a cycle":                          {Answer{Level: strict, Cycle: cycle(missed, later)}, false},
		"a cycle with another name":        {Answer{Level: strict, Cycle: &Cycle{[]Step{missed, later}, "G0"}}, true},
		"a cycle with what was not read":   {Answer{Level: strict, Cycle: cycle(Step{1, 2, WR, 0, two}, missed)}, true},
		"a cycle with an order not known":  {Answer{Level: strict, Cycle: cycle(Step{2, 3, RW, 0, three}, Step{3, 2, Time, -1, -1})}, true},
		"a cycle with its own update":      {Answer{Level: strict, Cycle: cycle(Step{2, 0, RW, 0, one}, Step{0, 2, WR, 0, one})}, true},
		"a cycle with time turned":         {Answer{Level: strict, Cycle: cycle(Step{0, 2, WR, 0, one}, Step{2, 0, Time, -1, -1})}, true},
		"transactions that have no order":  {Answer{Level: strict, Open: []int32{0, 1, 2}}, false},
		"transactions that have an order":  {Answer{Level: models.Serializable, Open: []int32{0, 1, 2}}, true},
		"transactions that have snapshots": {Answer{Level: snapshot, Open: []int32{0, 1, 2, 3}}, true},
	} {
		if why, checked := l.Wrong(c.a); !checked || (why != "") != c.wrong {
			t.Errorf("%s: %q", name, why)
		}
	}
}
