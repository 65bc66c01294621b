// Package levels tells at which levels of consistency the transactions of a history are, in the words of a report.
// Package isolation decides it.
package levels

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/isolation"
	"clew/internal/limits"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Decision is a verdict on one level.
type Decision struct {
	Verdict jepsen.Verdict
	Cause   jepsen.Cause
	Order   []models.Row // Valid, if the level asks for an order of transactions
	Shown   []models.Row // Invalid: the transactions of the anomaly that is told
	Kind    string       // Invalid: of that anomaly
	Why     string       // Invalid, Unknown
	Wrong   string       // what is wrong with the evidence: a bug
	Checked bool         // the evidence is right, but for the reads of an Order
	Levels  *report.Levels
	Told    *report.TxnAnomaly // Invalid: what Why tells
}

// AllOf reports whether levels are decided for a model.
func AllOf(m models.Model) bool {
	_, lists := models.ShapeOf[models.TxnListsShape](m)
	_, registers := models.ShapeOf[models.TxnRegistersShape](m)
	return lists || registers
}

// Refuse returns an error if a level is not decided for a model. Strict serializability is linearizability, of any model.
func Refuse(m models.Model, name string, level models.Level) error {
	if !level.Weaker() || AllOf(m) {
		return nil
	}
	return fmt.Errorf("the consistency level %s is about transactions whose values tell the order of updates; %s has none", level, name)
}

// transactions are those of a history, as package isolation reads them.
type transactions interface {
	Levels() []isolation.Answer
	At(level models.Level) isolation.Answer
	Cycles() []isolation.Cycle
	What() *isolation.Found
	Key(key int32) edn.ID
	Value(element int32) edn.ID
	Showing(steps []isolation.Step, txns []int32) []int32
	Forbidden(c *isolation.Cycle) models.Level
	Direct(s isolation.Step) bool
	Wrong(a isolation.Answer) (why string, checked bool)
}

// read reads transactions. If several may have made what one read, it says which, and returns nil.
func read(ctx context.Context, ops *models.Operations) (t *teller, ambiguous string) {
	if _, registers := models.ShapeOf[models.TxnRegistersShape](ops.Model); registers {
		r, several := isolation.ReadRegisters(ctx, ops)
		if several != nil {
			return nil, fmt.Sprintf("%s read what is there initially or was written more than once to the same key: %s", names(ops, several[:1]), names(ops, several[1:]))
		}
		return &teller{ops, r, onRegisters}, ""
	}
	l, twice, several := isolation.ReadLists(ops)
	if several {
		return nil, "a value was appended twice to the same key: " + names(ops, twice[:])
	}
	return &teller{ops, l, onLists}, ""
}

// All says at which levels operations are that are not strictly serializable. It returns nil if they are not transactions on
// lists or registers. If a value was appended twice, or read and written twice, no other level is decided.
func All(ctx context.Context, ops *models.Operations) *report.Levels {
	if !AllOf(ops.Model) {
		return nil
	}
	t, ambiguous := read(ctx, ops)
	if ambiguous != "" {
		return &report.Levels{Not: []models.Level{models.StrictSerializable}, Undecided: models.AllLevels()[1:], Why: ambiguous}
	}
	answers := t.txns.Levels()
	x := t.levels(answers)
	t.anomalies(x, answers, models.StrictSerializable)
	return x
}

// Cycle tells a cycle of some transactions on lists that are not strictly serializable by themselves. What others append does not
// count, and each step also holds among all transactions. Rows below 0 stand for none. It returns nil if it finds no cycle.
func Cycle(ops *models.Operations, rows []models.Row) *report.TxnAnomaly {
	if _, lists := models.ShapeOf[models.TxnListsShape](ops.Model); !lists {
		return nil
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row models.Row) bool { return row < 0 })
	slices.Sort(rows)
	alone := ops.Alone(slices.Compact(rows), ops.Events-1).Operations
	l, _, ambiguous := isolation.ReadLists(alone)
	if ambiguous {
		return nil
	}
	a := isolation.Answer{Cycle: l.Cycle(models.StrictSerializable)}
	if a.Cycle == nil {
		return nil
	}
	if wrong, _ := l.Wrong(a); wrong != "" {
		return nil
	}
	x := (&teller{alone, l, onLists}).cycle(a.Cycle.Steps, a.Cycle.Kind)
	return &x
}

// Decide decides a level that Refuse does not refuse.
func Decide(ctx context.Context, ops *models.Operations, level models.Level) Decision {
	t, ambiguous := read(ctx, ops)
	if ambiguous != "" {
		return Decision{Cause: jepsen.Ambiguous, Why: ambiguous}
	}
	a := t.txns.At(level)
	d := Decision{Verdict: a.Verdict, Order: a.Order, Levels: t.levels([]isolation.Answer{a})}
	d.Levels.Asked = level
	d.Wrong, d.Checked = t.txns.Wrong(a)
	switch a.Verdict {
	case jepsen.Unknown:
		d.Cause, d.Why = jepsen.Ambiguous, cmp.Or(a.Why, "the order of updates that nothing read has too many choices")
		if ctx.Err() != nil {
			d.Cause = limits.Stopped(ctx)
		}
	case jepsen.Invalid:
		answers := t.txns.Levels()
		d.Levels = t.levels(answers)
		d.Levels.Asked = level
		t.anomalies(d.Levels, answers, level)
		for _, weaker := range answers { // the weakest level that this breaks
			if a.Open != nil && weaker.Open != nil && level.Implies(weaker.Level) && a.Level.Implies(weaker.Level) {
				a = weaker
			}
		}
		first := t.answer(a)
		d.Kind, d.Why, d.Told = first.Type, first.Line(), &first
		for _, op := range first.Txns {
			d.Shown = append(d.Shown, ops.Among([]jepsen.Operation{op})...)
		}
		d.Shown = append(d.Shown, a.Open...)
		var steps []isolation.Step
		if a.Cycle != nil {
			steps = a.Cycle.Steps
		}
		d.Shown = append(d.Shown, t.txns.Showing(steps, d.Shown)...)
		slices.Sort(d.Shown)
		d.Shown = slices.Compact(d.Shown)
	}
	return d
}

// names names transactions, some of which may be the initial value.
func names(ops *models.Operations, rows []int32) string {
	var all []string
	for _, row := range rows {
		if row < 0 {
			all = append(all, "the initial value")
		} else {
			all = append(all, ops.History.Name(ops.Of[row]))
		}
	}
	return strings.Join(all, " and ")
}

// teller tells anomalies.
type teller struct {
	ops  *models.Operations
	txns transactions
	words
}

// words are what updates are called.
type words struct {
	did, done string // "T1 appended to :x", "had appended"
	update    string // "T1's append of 2", after "T1"
	with      string // a read of a key "with" a value
}

var (
	onLists     = words{"appended", "appended", "'s append of ", "with"}
	onRegisters = words{"wrote", "written", "'s write of ", "as"}
)

// levels sorts answers.
func (t *teller) levels(answers []isolation.Answer) *report.Levels {
	var holds, fails []models.Level
	x := &report.Levels{Count: map[string]int{}}
	for _, a := range answers {
		switch a.Verdict {
		case jepsen.Valid:
			holds = append(holds, a.Level)
		case jepsen.Invalid:
			fails = append(fails, a.Level)
		default:
			x.Undecided = append(x.Undecided, a.Level)
		}
	}
	for _, level := range holds {
		if !slices.ContainsFunc(holds, func(other models.Level) bool { return other != level && other.Implies(level) }) {
			x.Strongest = append(x.Strongest, level)
		}
	}
	for _, level := range fails {
		if slices.ContainsFunc(fails, func(other models.Level) bool { return other != level && level.Implies(other) }) {
			x.AlsoNot = append(x.AlsoNot, level)
		} else {
			x.Not = append(x.Not, level)
		}
	}
	return x
}

// anomalies adds all anomalies that contradict a level, given what is known of all levels.
func (t *teller) anomalies(x *report.Levels, answers []isolation.Answer, level models.Level) {
	add := func(kind string, tell func() report.TxnAnomaly) {
		if x.Count[kind]++; x.Count[kind] <= report.MaxAnomalies {
			x.Anomalies = append(x.Anomalies, tell())
		}
	}
	found := t.txns.What().Anomalies
	for i := range found {
		if a := &found[i]; a.Breaks(level) {
			add(string(a.Kind), func() report.TxnAnomaly { return t.anomaly(a) })
		}
	}
	for _, c := range t.txns.Cycles() {
		if level.Implies(t.txns.Forbidden(&c)) {
			add(c.Kind, func() report.TxnAnomaly { return t.cycle(c.Steps, c.Kind) })
		}
	}
	for _, a := range answers { // what only a search refutes, or what follows from other cycles
		shown := func(b report.TxnAnomaly) bool { return a.Level.Implies(b.Breaks) }
		if level.Implies(a.Level) && slices.Contains(x.Not, a.Level) && (a.Open != nil || a.Cycle != nil && !slices.ContainsFunc(x.Anomalies, shown)) {
			first := t.answer(a)
			add(first.Type, func() report.TxnAnomaly { return first })
		}
	}
	for i := range x.Anomalies { // what must be may follow from more than the steps that are told
		if a := &x.Anomalies[i]; slices.ContainsFunc(x.Strongest, func(holds models.Level) bool { return holds.Implies(a.Breaks) }) {
			a.Breaks = weakest(slices.Concat(x.Not, x.AlsoNot), a.Breaks)
		}
	}
}

// weakest returns the weakest of some levels that imply another one, or that one if none does.
func weakest(levels []models.Level, implied models.Level) models.Level {
	found := implied
	for _, level := range levels {
		if level.Implies(implied) && (found == implied || found.Implies(level)) {
			found = level
		}
	}
	return found
}

// answer tells why a level does not hold.
func (t *teller) answer(a isolation.Answer) report.TxnAnomaly {
	switch {
	case a.Anomaly != nil:
		return t.anomaly(a.Anomaly)
	case a.Cycle != nil:
		return t.cycle(a.Cycle.Steps, a.Cycle.Kind)
	case a.Why != "":
		kind := isolation.NoOrder
		if models.StrongSessionSnapshotIsolation.Implies(a.Level) {
			kind = isolation.Interfering
		}
		return report.TxnAnomaly{Type: string(kind), Breaks: a.Level, Txns: t.of(a.Open), Says: a.Why + ": " + names(t.ops, a.Open[:min(len(a.Open), maxNamed)])}
	}
	return report.TxnAnomaly{Type: string(isolation.Interfering), Breaks: a.Level, Txns: t.of(a.Around),
		Says: "some of these transactions update the same keys, and nothing read in which order: in each order, one of these reads from no snapshot: " + names(t.ops, a.Around[:min(len(a.Around), maxNamed)])}
}

// maxNamed bounds the transactions that a sentence names.
const maxNamed = 6

func (t *teller) of(rows []int32) (ops []jepsen.Operation) {
	for _, row := range rows {
		ops = append(ops, t.ops.Of[row])
	}
	return ops
}

func (t *teller) key(key int32) string { return t.ops.History.Values.Text(t.txns.Key(key)) }

func (t *teller) value(element int32) string {
	return t.ops.History.Values.Text(t.txns.Value(element))
}

// anomaly tells an anomaly that is not a cycle.
func (t *teller) anomaly(a *isolation.Anomaly) report.TxnAnomaly {
	h := t.ops.History
	x := report.TxnAnomaly{Type: string(a.Kind), Breaks: a.Forbidden(), Txns: t.of([]int32{a.Txn}), Key: t.key(a.Key)}
	reader, key, element, other := h.Name(t.ops.Of[a.Txn]), short(x.Key), "", ""
	if a.Element >= 0 {
		element = short(t.value(a.Element))
	}
	if a.Other >= 0 {
		other = h.Name(t.ops.Of[a.Other])
		if a.Other != a.Txn {
			x.Txns = append(x.Txns, t.ops.Of[a.Other])
		}
	}
	if a.Failed >= 0 {
		other = h.Name(t.txns.What().Failed[a.Failed])
		x.Txns = append(x.Txns, t.txns.What().Failed[a.Failed])
	}
	x.Wrong = strings.NewReplacer("{}", element, "{did}", t.did).Replace(wrongs[a.Kind])
	switch a.Kind {
	case isolation.Internal:
		x.Says = fmt.Sprintf("%s read %s differently from what it had itself read or %s before", reader, key, t.done)
	case isolation.FutureRead:
		x.Says = fmt.Sprintf("%s read %s %s %s before it %s that itself", reader, key, t.with, element, t.did)
	case isolation.Garbage:
		x.Says = fmt.Sprintf("%s read %s %s %s, which nothing had %s", reader, key, t.with, element, t.done)
	case isolation.AbortedRead:
		x.Says = fmt.Sprintf("%s read %s %s %s, which only %s would have %s", reader, key, t.with, element, other, t.done)
	case isolation.HalfRead:
		x.Says = t.half(reader, key, element, other)
	case isolation.Duplicates:
		x.Says = fmt.Sprintf("%s read %s with %s twice, which was appended once", reader, key, element)
	case isolation.DirtyUpdate:
		x.Says = fmt.Sprintf("%s appended %s to %s after what %s appended", reader, element, key, other)
	case isolation.LostUpdate:
		x.Txns = t.of(a.Others)
		x.Says = fmt.Sprintf("%s read the same version of %s, and then each of them %s to it", names(t.ops, a.Others[:min(len(a.Others), maxNamed)]), key, t.did)
	case isolation.Incompatible:
		x.Says = t.incompatible(a, reader, key, element, other)
	}
	return x
}

// wrongs says what pictures do of the transaction that is wrong. {} stands for an element, and {did} for what made it.
var wrongs = map[isolation.Kind]string{
	isolation.Internal: "contradicts what it did before", isolation.FutureRead: "shows {} before it {did} that",
	isolation.Garbage: "nothing {did} {}", isolation.AbortedRead: "{} is of a failed transaction", isolation.HalfRead: "{} was not the last",
	isolation.Duplicates: "{} was appended once", isolation.DirtyUpdate: "{} follows what a failed transaction appended",
	isolation.LostUpdate: "read the same version as T1", isolation.Incompatible: "in another order",
}

// half tells of a read of what a transaction replaced itself.
func (t *teller) half(reader, key, element, other string) string {
	if t.words == onRegisters {
		return fmt.Sprintf("%s read %s as %s, which %s itself overwrote later", reader, key, element, other)
	}
	return fmt.Sprintf("%s read %s up to %s, although %s appended more to it", reader, key, element, other)
}

// incompatible tells of lists or appends that contradict each other.
func (t *teller) incompatible(a *isolation.Anomaly, reader, key, element, other string) string {
	switch {
	case a.Element < 0:
		return fmt.Sprintf("%s read a list of %s that does not begin with what was there initially", reader, key)
	case a.Within:
		return fmt.Sprintf("%s read %s in another order than %s appended to it, which appended %s later", reader, key, other, element)
	case other == "":
		return fmt.Sprintf("%s read %s with %s in another place than it was initially", reader, key, element)
	}
	return fmt.Sprintf("%s and %s read lists of %s of which neither is the beginning of the other: they first differ at %s", reader, other, key, element)
}

// steps are what the steps of cycles are called.
var steps = map[isolation.Relation]string{isolation.WW: "ww", isolation.First: "ww", isolation.WR: "wr", isolation.RW: "rw",
	isolation.Process: "process", isolation.Time: "realtime", isolation.KeyTime: "realtime"}

// cycle tells a cycle. A step in time comes last, if there is one.
func (t *teller) cycle(cycle []isolation.Step, kind string) report.TxnAnomaly {
	for i, s := range cycle {
		if s.Why&(isolation.Process|isolation.Time|isolation.KeyTime) != 0 {
			cycle = slices.Concat(cycle[i+1:], cycle[:i+1])
			break
		}
	}
	x := report.TxnAnomaly{Type: kind, Breaks: t.txns.Forbidden(&isolation.Cycle{Steps: cycle, Kind: kind})}
	says, who := make([]string, len(cycle)), make([]string, len(cycle))
	for i, s := range cycle {
		a, b := fmt.Sprintf("T%d", i+1), fmt.Sprintf("T%d", (i+1)%len(cycle)+1)
		step := report.TxnStep{Type: steps[s.Why]}
		if s.Key >= 0 {
			step.Key = t.key(s.Key)
		}
		if s.Value >= 0 {
			step.Value = t.value(s.Value)
		}
		step.Says = t.step(s, a, b, step)
		says[i] = step.Says
		x.Steps, x.Txns = append(x.Steps, step), append(x.Txns, t.ops.Of[s.From])
		if i < maxNamed {
			who[i] = a + " is " + t.ops.History.Name(t.ops.Of[s.From])
		}
	}
	if n := len(says); n > maxNamed {
		says = append(says[:maxNamed-1], fmt.Sprintf("and so on to T%d", n), says[n-1])
		who = who[:maxNamed]
	}
	last := len(says) - 1
	x.Says = strings.Join(says[:last], ", ") + ", but " + says[last] + "; " + strings.Join(who, ", ")
	return x
}

// step tells a step from transaction a to b.
func (t *teller) step(s isolation.Step, a, b string, step report.TxnStep) string {
	step.Key, step.Value = short(step.Key), short(step.Value)
	switch direct := t.txns.Direct(s); {
	case !direct && s.Why == isolation.RW: // the reverse contradicts what others read
		return fmt.Sprintf("%s must have read %s before %s%s%s", a, step.Key, b, t.update, step.Value)
	case !direct:
		return fmt.Sprintf("%s must have %s to %s before %s%s%s", a, t.done, step.Key, b, t.update, step.Value)
	}
	switch s.Why {
	case isolation.WW:
		return fmt.Sprintf("%s %s to %s before %s%s%s", a, t.did, step.Key, b, t.update, step.Value)
	case isolation.First:
		return fmt.Sprintf("%s read %s before %s%s%s and %s to it", a, step.Key, b, t.update, step.Value, t.did)
	case isolation.WR:
		return fmt.Sprintf("%s read %s%s%s to %s", b, a, t.update, step.Value, step.Key)
	case isolation.RW:
		return fmt.Sprintf("%s read %s before %s%s%s", a, step.Key, b, t.update, step.Value)
	case isolation.Process:
		return fmt.Sprintf("%s had returned before the same process called %s", a, b)
	}
	return fmt.Sprintf("%s had returned before %s was called", a, b)
}

// Ends returns the event by which all of some transactions have returned.
func Ends(ops *models.Operations, rows []models.Row) int32 {
	end := int32(-1)
	for _, row := range rows {
		if res := ops.Res[row]; res != models.Open {
			end = max(end, res)
		}
	}
	return end
}

// short shortens a key or value for a sentence.
func short(value string) string { return text.Shorten(value, maxValue) }

// maxValue bounds the length of a key or value in a sentence.
const maxValue = 40
