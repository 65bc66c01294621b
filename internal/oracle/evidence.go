package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Event names an event for a message.
func Event(h *jepsen.History, e jepsen.Event) string {
	if e < 0 {
		return "no event"
	}
	return fmt.Sprintf("event %d (%s)", e, h.Where(e))
}

// ExamineVerdict says how a verdict or the first failing completion disagrees
// with the oracle.
func ExamineVerdict(r *report.Result, want Answer) error {
	switch {
	case r.Verdict == jepsen.Unknown:
		return fmt.Errorf("unknown (%s %s); the oracle says linearizable: %t", r.Cause, r.Error, want.Linearizable)
	case (r.Verdict == jepsen.Valid) != want.Linearizable:
		return fmt.Errorf("valid: %t; the oracle says linearizable: %t, first failing completion %s",
			r.Verdict == jepsen.Valid, want.Linearizable, Event(r.History, jepsen.Event(want.Fail)))
	case r.FailEvent.OrNone() != jepsen.Event(want.Fail):
		return fmt.Errorf("first failing completion %s; the oracle says %s", Event(r.History, r.FailEvent.OrNone()), Event(r.History, jepsen.Event(want.Fail)))
	}
	return nil
}

// Examine says how a result or its evidence disagrees with the oracle.
func Examine(r *report.Result, ops *models.Operations, want Answer, o Options) error {
	return NewExaminer(ops, want, o).Examine(r)
}

// Examiner examines several results on one history.
type Examiner struct {
	ops     *models.Operations
	want    Answer
	options Options
	row     map[jepsen.Operation]int32 // by operation of the history

	maps, lines printed     // what was examined of similar results
	values      *edn.Values // of the maps, read back
}

// NewExaminer examines results on operations for which the oracle has found want.
func NewExaminer(ops *models.Operations, want Answer, o Options) *Examiner {
	x := &Examiner{ops: ops, want: want, options: o, row: map[jepsen.Operation]int32{}, values: edn.NewValues()}
	for row, op := range ops.Of {
		x.row[op] = int32(row)
	}
	return x
}

// of returns what examines a result.
func (x *Examiner) of(r *report.Result) *evidence {
	return &evidence{r: r, h: r.History, ops: x.ops, options: x.options, row: x.row, values: x.values}
}

// Examine does what the function Examine does.
func (x *Examiner) Examine(r *report.Result) error {
	e := x.of(r)
	if err := ExamineVerdict(r, x.want); err != nil {
		return err
	}
	checks := []func() error{e.witness}
	if !x.want.Linearizable {
		checks = []func() error{e.failure, e.core, e.story, e.failed}
	}
	if x.maps.isNew(inMap(r)) {
		checks = append(checks, e.resultMap)
		if !x.want.Linearizable {
			checks = append(checks, e.replay)
		}
	}
	if x.lines.isNew(inLine(r)) {
		checks = append(checks, e.jsonKeys)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// inMap returns the parts of a result that its map shows, except for its time and
// what decided it. Results of several engines are mostly the same, and print the
// same.
func inMap(r *report.Result) report.Result {
	shown := *r
	shown.Ms, shown.Analyzer, shown.Spec = 0, "", models.Spec{}
	shown.Ops, shown.Witness, shown.Before, shown.Named, shown.Relations = nil, nil, nil, nil, nil
	if r.Verdict == jepsen.Valid {
		shown.Explanation, shown.Depth = "", 0
	}
	return shown
}

// inLine returns the parts of a result that its line of JSON shows, with the
// same exceptions. It leaves out the explanation, which can be any string
// there.
func inLine(r *report.Result) report.Result {
	return report.Result{History: r.History, Verdict: r.Verdict, Model: r.Model, Init: r.Init, Verified: r.Verified, Missing: r.Missing,
		FailEvent: r.FailEvent, Story: r.Story, Cause: r.Cause, Error: r.Error}
}

// printed holds what has been examined, as it prints.
type printed []report.Result

// isNew says whether what is printed differs from all before it, and keeps it.
func (p *printed) isNew(r report.Result) bool {
	if slices.ContainsFunc(*p, func(before report.Result) bool { return reflect.DeepEqual(before, r) }) {
		return false
	}
	*p = append(*p, r)
	return true
}

// evidence checks the evidence of a result. It compares models as they print,
// since the states of two readings of a history need not have the same numbers.
type evidence struct {
	r       *report.Result
	h       *jepsen.History
	ops     *models.Operations
	options Options
	row     map[jepsen.Operation]int32 // by operation of the history
	values  *edn.Values                // of the result map, read back

	reached []models.State // by configuration: its state
}

func (e *evidence) op(row int32) models.Op { return e.ops.Op(row) }

func (e *evidence) same(a, b edn.ID) bool { return e.h.Values.Same(a) == e.h.Values.Same(b) }

// step returns the states to which an operation leads from some states.
func (e *evidence) step(m models.Model, states []models.State, op models.Op) []models.State {
	var from []string
	for _, s := range states {
		from = append(from, State(s...))
	}
	var to []models.State
	for _, next := range after(SpecOf(m), nil, op, from) {
		to = append(to, decode(next))
	}
	return to
}

// printing returns the states that print as a record.
func (e *evidence) printing(states []models.State, record edn.ID) []models.State {
	return slices.DeleteFunc(slices.Clone(states), func(s models.State) bool {
		return !e.same(e.ops.Model.Record(s).ID(), record)
	})
}

// witness checks that Witness is a linearization that leads to Final.
func (e *evidence) witness() error {
	states := []models.State{e.ops.Model.Init()}
	happened := map[jepsen.Operation]bool{}
	for i, op := range e.r.Witness {
		row, counts := e.row[op]
		switch {
		case !counts && e.h.Status[op] != jepsen.Succeeded:
			return fmt.Errorf("witness %v: operation %d does not count", e.r.Witness, op)
		case happened[op]:
			return fmt.Errorf("witness %v: operation %d happens twice", e.r.Witness, op)
		}
		happened[op] = true
		for _, earlier := range e.r.Witness[:i] {
			if e.h.Status[op] != jepsen.Crashed && e.h.Completion[op] < e.h.Invocation[earlier] {
				return fmt.Errorf("witness %v: operation %d returned before %d began", e.r.Witness, op, earlier)
			}
		}
		if !counts {
			continue // it says nothing, such as a read of nil
		}
		if states = e.step(e.ops.Model, states, e.op(row)); len(states) == 0 {
			return fmt.Errorf("witness %v: operation %d cannot happen", e.r.Witness, op)
		}
	}
	for row, res := range e.ops.Res {
		if res != models.Open && !happened[e.ops.Of[row]] {
			return fmt.Errorf("witness %v: operation %d is missing", e.r.Witness, e.ops.Of[row])
		}
	}
	if len(e.printing(states, e.r.Final.ID())) == 0 {
		return fmt.Errorf("witness %v does not lead to %s", e.r.Witness, e.r.Final)
	}
	return nil
}

// failure checks the configurations and what follows from them. They concern
// the part of the failing operation, or everything if it was decided at once.
func (e *evidence) failure() error {
	var err error
	for _, part := range []*models.Operations{e.part(), e.ops} {
		e.reached = nil
		if err = e.configs(part); err == nil {
			err = e.finalPaths()
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// fail returns the failing completion, as models represent it.
func (e *evidence) fail() int32 { return int32(e.r.FailEvent.OrNone()) }

// part returns the operations with which the failing one is checked: those of its key.
func (e *evidence) part() *models.Operations {
	p := e.ops.Model.Traits().Partition
	failing := e.op(int32(slices.Index(e.ops.Res, e.fail())))
	return e.rows(func(row int32) bool { return p == nil || p.Of(e.op(row)) == p.Of(failing) })
}

// configs checks that each configuration can be reached before the failure. The
// way there consists of all operations of a part that had returned and the open
// ones that are not pending.
func (e *evidence) configs(part *models.Operations) error {
	if n := len(e.r.Configs); n < 1 || n > 10 {
		return fmt.Errorf("%d configurations", n)
	}
	for i, c := range e.r.Configs {
		var done []int32
		last, failing, pending := int32(-1), false, slices.Clone(c.Pending)
		for row, op := range part.Of {
			if op == c.Last {
				last = int32(row)
			}
			if k := slices.Index(pending, op); k >= 0 {
				if part.Inv[row] >= e.fail() || part.Res[row] < e.fail() {
					return fmt.Errorf("configuration %d: operation %d is not open at the failure", i, op)
				}
				failing = failing || part.Res[row] == e.fail()
				pending = slices.Delete(pending, k, k+1)
				continue
			}
			if part.Inv[row] < e.fail() {
				done = append(done, int32(row))
			}
		}
		var state models.State
		switch {
		case len(pending) > 0:
			return fmt.Errorf("configuration %d: pending %v are unknown or repeated", i, pending)
		case !failing:
			return fmt.Errorf("configuration %d: the failing operation is not pending", i)
		case c.Last != e.r.LastOperation.OrNone() && i == 0:
			return fmt.Errorf("configuration %d: its last operation is %d, the result's %d", i, c.Last, e.r.LastOperation)
		case !Reaches(part, e.fail(), done, last, func(s models.State) bool {
			state = s
			return e.same(e.ops.Model.Record(s).ID(), c.State.ID())
		}):
			return fmt.Errorf("configuration %d cannot be reached: %s, last %d, pending %v", i, c.State, c.Last, c.Pending)
		}
		e.reached = append(e.reached, state)
	}
	return nil
}

// core checks that a core includes the failing operation, and that it first
// fails there as a history of its own.
func (e *evidence) core() error {
	if !slices.Contains(e.r.Core, e.h.OpOf[e.r.FailEvent.OrNone()]) {
		return fmt.Errorf("core %v: it does not hold the failing operation", e.r.Core)
	}
	part := e.ofCore()
	if part.Len() != len(e.r.Core) {
		return fmt.Errorf("core %v: an operation does not count, or comes twice", e.r.Core)
	}
	if err := Of(part, e.options).Core(Set(1<<part.Len()-1).Rows(), e.fail(), nil); err != nil {
		return fmt.Errorf("core %v: %w", e.r.Core, err)
	}
	return nil
}

// ofCore returns the operations of the core. What only others make may not count in it.
func (e *evidence) ofCore() *models.Operations {
	part := e.rows(func(row int32) bool { return slices.Contains(e.r.Core, e.ops.Of[row]) })
	if alone := part.Model.Traits().Alone; alone != nil {
		part.Model = alone(&e.ops.Columns, &part.Columns, e.fail())
	}
	return part
}

// rows returns the operations for which keep is true.
func (e *evidence) rows(keep func(row int32) bool) *models.Operations {
	part := &models.Operations{Model: e.ops.Model, History: e.h}
	part.Events = e.ops.Events
	for row := range int32(e.ops.Len()) {
		if keep(row) {
			part.Append(e.ops.Inv[row], e.ops.Res[row], e.op(row))
			part.Of = append(part.Of, e.ops.Of[row])
		}
	}
	return part
}

// finalPaths checks every step of every path.
func (e *evidence) finalPaths() error {
	if n := len(e.r.Paths); n < 1 || n > 10 {
		return fmt.Errorf("%d final paths", n)
	}
	for i, path := range e.r.Paths {
		if err := e.path(path); err != nil {
			return fmt.Errorf("path %d: %w", i, err)
		}
	}
	if first := e.r.Paths[0]; first[len(first)-1].Operation != e.h.OpOf[e.r.FailEvent.OrNone()] {
		return fmt.Errorf("the first final path ends with operation %d", first[len(first)-1].Operation)
	}
	return nil
}

// path checks that a path starts from some configuration, goes on with pending
// operations and ends with the failing one or another one that is pending. That
// one must be impossible there.
func (e *evidence) path(path []report.Step) error {
	var err error
	for i, c := range e.r.Configs {
		if err = e.pathFrom(c, e.reached[i], path); err == nil {
			return nil
		}
	}
	return err
}

func (e *evidence) pathFrom(c report.Config, state models.State, path []report.Step) error {
	steps := path
	if c.Last != jepsen.None {
		if len(steps) == 0 || steps[0].Operation != c.Last || !e.same(steps[0].State.ID(), c.State.ID()) {
			return errors.New("it does not begin with the configuration's last operation and model")
		}
		steps = steps[1:]
	}
	states := []models.State{state}
	if len(steps) == 0 {
		return errors.New("it is too short")
	}
	end := steps[len(steps)-1]
	if !slices.Contains(c.Pending, end.Operation) {
		return fmt.Errorf("it ends with operation %d, which is not pending", end.Operation)
	}
	used := map[jepsen.Operation]bool{end.Operation: true}
	for _, s := range steps[:len(steps)-1] {
		if used[s.Operation] || !slices.Contains(c.Pending, s.Operation) {
			return fmt.Errorf("operation %d is not pending, or comes twice", s.Operation)
		}
		used[s.Operation] = true
		if states = e.printing(e.step(e.ops.Model, states, e.op(e.row[s.Operation])), s.State.ID()); len(states) == 0 {
			return fmt.Errorf("operation %d does not lead to %s", s.Operation, s.State)
		}
	}
	last := e.op(e.row[end.Operation])
	if len(e.step(e.ops.Model, states, last)) > 0 {
		return errors.New("its last operation is possible")
	}
	for _, s := range states {
		if end.Why == e.ops.Model.Why(s, last) {
			return nil
		}
	}
	return fmt.Errorf("it ends in %s, not in the model's words", end.Why)
}

// mapKeys returns the keys of the result map.
func (e *evidence) mapKeys() string {
	want := ":analyzer :configs :final-paths :model :stats :valid? :verified?"
	if e.r.Verdict == jepsen.Invalid {
		want = ":analyzer :configs :core :explanation :final-paths :last-op :op :previous-ok :stats :valid? :verified?"
	}
	if e.r.Story.Sentences != nil {
		want = strings.Replace(want, ":stats", ":stats :story", 1)
	}
	if e.r.Kind != "" {
		want = strings.Replace(want, " :last-op", " :kind :last-op", 1)
	}
	if e.r.Vacuous != "" {
		want = strings.Replace(want, " :valid?", " :vacuous :valid?", 1)
	}
	if e.r.Reading() != (report.Reading{}) {
		want = strings.Replace(want, ":stats", ":reading :stats", 1)
	}
	if e.r.ToldBy != "" {
		want = strings.Replace(want, " :valid?", " :told-by :valid?", 1)
		if e.r.Init != "" {
			want = strings.Replace(want, ":final-paths", ":final-paths :init", 1)
		}
	}
	if e.r.Told != nil {
		want = strings.Replace(want, ":analyzer", ":analyzer :anomaly", 1)
	}
	if e.r.Levels != nil {
		keys := append(strings.Fields(want), ":also-not", ":not", ":strongest")
		if e.r.Levels.Why != "" {
			keys = append(keys, ":undecided", ":undecided-because")
		} else {
			keys = append(keys, ":anomalies", ":anomaly-counts", ":anomaly-types")
		}
		slices.Sort(keys)
		want = strings.Join(keys, " ")
	}
	return want
}

// resultMap checks that the EDN reads back and has the contract's keys.
func (e *evidence) resultMap() error {
	text := e.r.EDN()
	v := e.values
	id, err := v.Parse([]byte(text), edn.Pos{Line: 1, Col: 1})
	if err != nil {
		return fmt.Errorf("%w in %s", err, text)
	}
	want := e.mapKeys()
	if got := keysOf(v, id); got != want {
		return fmt.Errorf("the result map has the keys %s, not %s", got, want)
	}
	get := func(id edn.ID, key string) edn.ID {
		value, _ := v.Get(id, v.InternKeyword(key))
		return value
	}
	configs, paths := get(id, "configs"), get(id, "final-paths")
	if v.Kind(configs) != edn.KindList || v.Kind(paths) != edn.KindList {
		return fmt.Errorf("configurations or paths are not a list in %s", text)
	}
	if e.r.Verdict == jepsen.Valid {
		if get(id, "valid?") != edn.True || len(v.Items(configs))+len(v.Items(paths)) > 0 {
			return fmt.Errorf("not a valid result's map: %s", text)
		}
		return nil
	}
	index, ok := v.Int(get(get(id, "op"), "index"))
	switch {
	case get(id, "valid?") != edn.False:
		return fmt.Errorf("not :valid? false: %s", text)
	case !ok || index != e.h.Index(e.r.FailEvent.OrNone()):
		return fmt.Errorf(":op is not the event at %s: %s", e.h.Where(e.r.FailEvent.OrNone()), text)
	case len(v.Items(configs)) != len(e.r.Configs) || len(v.Items(paths)) != len(e.r.Paths):
		return fmt.Errorf("configurations or paths are missing from %s", text)
	}
	previous := edn.Nil
	for ev := range e.r.FailEvent.OrNone() {
		if e.h.Type[ev] == jepsen.OK {
			previous = v.InternInt(e.h.Index(ev))
		}
	}
	if got := get(get(id, "previous-ok"), "index"); v.Same(got) != v.Same(previous) {
		return fmt.Errorf(":previous-ok has index %s, not %s", v.Text(got), v.Text(previous))
	}
	for _, c := range v.Items(configs) {
		if got := keysOf(v, c); got != ":last-op :model :pending" {
			return fmt.Errorf("a configuration has the keys %s", got)
		}
		for _, op := range v.Items(get(c, "pending")) {
			if get(op, "type") != v.InternKeyword("invoke") {
				return fmt.Errorf("a pending operation is not an invocation: %s", v.Text(op))
			}
		}
	}
	for _, path := range v.Items(paths) {
		steps := v.Items(path)
		for i, step := range steps {
			if got := keysOf(v, step); got != ":model :op" {
				return fmt.Errorf("a step has the keys %s", got)
			}
			inconsistent := v.Str(get(step, "model")) == "knossos.model.Inconsistent"
			if inconsistent != (i == len(steps)-1) {
				return fmt.Errorf("step %d of %d has the model %s", i, len(steps), v.Text(get(step, "model")))
			}
		}
	}
	return nil
}

func keysOf(v *edn.Values, id edn.ID) string {
	var keys []string
	for items := v.Items(id); len(items) > 1; items = items[2:] {
		keys = append(keys, v.Text(items[0]))
	}
	return strings.Join(keys, " ")
}

// jsonKeys checks that the JSON has the contract's keys.
func (e *evidence) jsonKeys() error {
	text, err := json.Marshal(e.r)
	if err != nil {
		return err
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("%w in %s", err, text)
	}
	want := "analyzer cause crashed error events explanation file init model ms op-index op-line operations previous-ok-index skipped valid verified warnings"
	if e.r.Kind != "" {
		want = strings.Replace(want, " model", " kind model", 1)
	}
	if e.r.Vacuous != "" {
		want = strings.Replace(want, " valid", " vacuous valid", 1)
	}
	if e.r.Reading() != (report.Reading{}) {
		want = strings.Replace(want, "skipped", "reading skipped", 1)
	}
	if e.r.Story.Sentences != nil {
		want = strings.Replace(want, "skipped", "skipped story", 1)
	}
	if e.r.ToldBy != "" {
		want = strings.Replace(want, " valid", " told-by valid", 1)
	}
	if e.r.Levels != nil {
		want = strings.Replace(want, " model", " levels model", 1)
	}
	if got := strings.Join(slices.Sorted(maps.Keys(m)), " "); got != want {
		return fmt.Errorf("the JSON has the keys %s, not %s", got, want)
	}
	if m["valid"] != (e.r.Verdict == jepsen.Valid) {
		return fmt.Errorf("the JSON says valid: %v", m["valid"])
	}
	told := len(e.h.Warnings) + len(e.r.Warnings())
	if warnings, isList := m["warnings"].([]any); !isList || len(warnings) != told || m["skipped"] != float64(e.h.Skipped) {
		return fmt.Errorf("the JSON says skipped: %v, warnings: %v", m["skipped"], m["warnings"])
	}
	if e.r.Verdict == jepsen.Invalid && (m["op-index"] != float64(e.h.Index(e.r.FailEvent.OrNone())) || m["op-line"] != float64(e.h.Line(e.r.FailEvent.OrNone()))) {
		return fmt.Errorf("the JSON's op is at index %v, line %v, not at %s", m["op-index"], m["op-line"], e.h.Where(e.r.FailEvent.OrNone()))
	}
	return nil
}
