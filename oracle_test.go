package clew_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/fallback"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// How many histories a model gets, shared by its configurations.
const (
	historiesPerConfig    = 2000
	longHistoriesPerModel = 100_000
)

// oracleConfigs are all ways to read each model.
func oracleConfigs() []models.Spec {
	var specs []models.Spec
	both := []bool{false, true}
	for _, about := range models.All() {
		name := about.Name
		for _, knossos := range both {
			for _, exact := range both {
				for _, observe := range both {
					spec := models.Spec{Name: name, Knossos: knossos, NilReadsExact: exact, ObserveFailedCAS: observe}
					if spec.Check() != nil && withParameters(gen.Rand(0), spec).Check() != nil || knossos && !slices.Contains(knossosReads, name) {
						continue
					}
					specs = append(specs, spec)
				}
			}
		}
	}
	return specs
}

// knossosReads are the models that Knossos has too, or that read a value as its
// queues do.
var knossosReads = append([]string{"register", "cas-register", "mutex", "multi-register", "set", "kv"}, containers...)

// withParameters gives a model the parameters that it needs or may have, at
// random.
func withParameters(r *rand.Rand, s models.Spec) models.Spec {
	switch s.Name {
	case "semaphore", "owner-semaphore":
		s.Permits = 1 + r.IntN(3)
	case "reentrant-mutex", "reentrant-fenced-mutex":
		s.MaxHolds = 1 + r.IntN(3)
	case "priority-queue":
		s.Priority = [...]string{"max", "min"}[r.IntN(2)]
	}
	if owned := strings.HasPrefix(s.Name, "owner-") || strings.HasPrefix(s.Name, "reentrant-") || s.Name == "fenced-mutex"; owned {
		s.Threads = max(0, r.IntN(6)-1)
	}
	return s
}

// containers are the models that hand out what was put in.
var containers = []string{"fifo-queue", "unordered-queue", "stack", "priority-queue"}

func specName(s models.Spec) string {
	name := s.Name
	for _, flag := range []struct {
		on   bool
		name string
	}{{s.Knossos, "knossos"}, {s.NilReadsExact, "nil reads exact"}, {s.ObserveFailedCAS, "failed cas observe"},
		{s.Init != "", "from " + s.Init}, {s.Priority == "min", "least first"}, {s.Permits > 0, fmt.Sprint(s.Permits, " permits")},
		{s.MaxHolds > 0, fmt.Sprint(s.MaxHolds, " holds")}, {s.Threads > 0, fmt.Sprint(s.Threads, " threads")}} {
		if flag.on {
			name += ", " + flag.name
		}
	}
	return name
}

// collectLess has the garbage collector run less often while a test runs:
// reading a history takes large buffers, however small it is.
func collectLess(t *testing.T) {
	before := debug.SetGCPercent(1000)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

func long() bool { return os.Getenv("CLEW_LONG") == "1" }

// longHistories is how many histories a model gets in the long mode:
// CLEW_LONG_HISTORIES says another number than the usual one.
func longHistories(t *testing.T) int {
	text := os.Getenv("CLEW_LONG_HISTORIES")
	if text == "" {
		return longHistoriesPerModel
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CLEW_LONG_HISTORIES is a number of histories, not %q", text)
	}
	return n
}

func TestEveryVerdictAndItsEvidenceAgreeWithTheOracle(t *testing.T) {
	collectLess(t)
	specs := oracleConfigs()
	configs := map[string]int{}
	for _, s := range specs {
		configs[s.Name]++
	}
	for i, spec := range specs {
		n, seed := historiesPerConfig, uint64(i)
		if long() {
			n, seed = longHistories(t)/configs[spec.Name], seed+1000
		} else if testing.Short() {
			n = 200
		}
		t.Run(specName(spec), func(t *testing.T) {
			t.Parallel()
			var c counts
			r := gen.Rand(seed)
			for range n {
				spec := withParameters(r, spec)
				o := genOptions(spec)
				o.Init = true
				if slices.Contains(containers, spec.Name) && r.IntN(2) == 0 {
					o.Unique, o.Values = true, 8 // as their fast paths need it
				}
				h := gen.New(r, o)
				spec.Init = h.Init
				if !c.check(t, spec, h) && c.mismatches == 3 {
					t.Fatal("enough")
				}
			}
			t.Logf("%d histories: %d valid, %d invalid, %d with a crash, %d with none to decide; %d by a fast path too; %d paths, %d configurations with pending operations",
				n, c.valid, c.invalid, c.crashed, c.empty, c.fast, c.paths, c.pending)
			if 5*c.valid < n || 5*c.invalid < n {
				t.Errorf("one verdict is rare: %d valid, %d invalid of %d", c.valid, c.invalid, n)
			}
		})
	}
}

func genOptions(s models.Spec) gen.Options {
	return gen.Options{Model: s.Name, Knossos: s.Knossos, NilReadsExact: s.NilReadsExact, ObserveFailedCAS: s.ObserveFailedCAS,
		Least: s.Priority == "min", Permits: s.Permits, MaxHolds: s.MaxHolds, Threads: s.Threads}
}

// counts say what the histories of a configuration were like.
type counts struct{ valid, invalid, crashed, empty, paths, pending, fast, mismatches int }

// check checks one history and counts it.
func (c *counts) check(t *testing.T, spec models.Spec, g gen.History) bool {
	t.Helper()
	err := c.examine(spec, g)
	if err == nil {
		return true
	}
	c.mismatches++
	t.Errorf("%s, a %v:\n%s%v", specName(spec), g.Way, g.Text, err)
	if small := smallest(spec, g.Text); small != g.Text {
		t.Errorf("smaller:\n%s%v", small, new(counts).examine(spec, gen.History{Text: small, Way: gen.Guess}))
	}
	return false
}

// smallest drops events as long as the history can be read and something is
// still wrong with it. By itself it is no longer linearizable by construction.
func smallest(spec models.Spec, text string) string {
	lines := strings.Split(strings.Trim(text, "[]\n"), "\n")
	wrong := func(lines []string) bool {
		var unreadable *jepsen.Error
		err := new(counts).examine(spec, gen.History{Text: strings.Join(lines, "\n") + "\n", Way: gen.Guess})
		return err != nil && !errors.As(err, &unreadable)
	}
	if !wrong(lines) {
		return text
	}
	for again := true; again; {
		again = false
		for i := range lines {
			for j := i; j < len(lines); j++ {
				fewer := slices.Delete(slices.Clone(lines), j, j+1)
				if i != j {
					fewer = slices.Delete(fewer, i, i+1)
				}
				if wrong(fewer) {
					lines, again = fewer, true
				}
				if i >= len(lines) {
					break
				}
			}
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// examine says what is wrong with how a history is read and decided.
func (c *counts) examine(spec models.Spec, g gen.History) error {
	h, ops, err := readText(spec, g.Text)
	if err != nil {
		return err
	}
	want := oracle.Decide(ops, oracleOptions(spec))
	if want.Linearizable {
		c.valid++
	} else {
		c.invalid++
	}
	if h.CrashedCount() > 0 {
		c.crashed++
	}
	if ops.Len() == 0 {
		c.empty++
	}
	if g.Way == gen.Run && !want.Linearizable {
		return fmt.Errorf("it is linearizable by construction; the oracle finds a failure at %s", event(h, want.Fail))
	}
	naive, err := oracle.Naive(g.Text, naiveOptions(spec))
	if err != nil {
		return err
	}
	if naive != want.Linearizable {
		return fmt.Errorf("read as clew reads it, it is linearizable: %t; read naively: %t", want.Linearizable, naive)
	}
	return c.engines(spec, h, ops, want)
}

// engines says what is wrong with what the algorithms find.
func (c *counts) engines(spec models.Spec, h *jepsen.History, ops *models.Operations, want oracle.Answer) error {
	for _, algorithm := range []string{"auto", "fast", "window", "frontier", "porcupine", "hitting"} {
		r, err := checked(h, spec, algorithm)
		if err == nil && algorithm == "hitting" && r.Cause == string(fallback.DepthExhausted) {
			if want.Linearizable && ops.Len() <= hittingDepth {
				return fmt.Errorf("--algorithm hitting: no witness of %d operations at depth %d", ops.Len(), hittingDepth)
			}
			continue // it only ever finds witnesses
		}
		if err == nil && algorithm == "fast" && !strings.HasPrefix(r.Analyzer, "clew/fast-") {
			return fmt.Errorf("--algorithm fast: decided by %s", r.Analyzer)
		}
		if err == nil && algorithm == "fast" && r.Verdict == jepsen.Unknown && r.Cause == string(clew.Ambiguous) {
			continue // not for the fast path
		}
		if err == nil {
			err = compare(r, ops, want, spec)
		}
		if err != nil {
			return fmt.Errorf("--algorithm %s: %w", algorithm, err)
		}
		c.paths += len(r.Paths)
		if len(r.Configs) > 0 && len(r.Configs[0].Pending) > 1 {
			c.pending++
		}
		if algorithm == "fast" {
			c.fast++
		}
	}
	return nil
}

// checked is clew.Check, with a panic as an error.
func checked(h *jepsen.History, spec models.Spec, algorithm string) (r *jepsen.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	o := clew.Options{Algorithm: algorithm}
	if algorithm == "hitting" {
		o.Depth = hittingDepth
	}
	return clew.Check(context.Background(), h, spec, o)
}

// hittingDepth is less than the usual depth, which takes long where there is no
// witness.
const hittingDepth = 3

func readText(spec models.Spec, text string) (*jepsen.History, *models.Operations, error) {
	h, err := jepsen.Read(strings.NewReader(text), "", jepsen.Options{})
	if err != nil {
		return nil, nil, err
	}
	ops, err := spec.Read(h)
	return h, ops, err
}

func oracleOptions(s models.Spec) oracle.Options {
	return oracle.Options{Bag: s.Name == "unordered-queue" && !s.Knossos}
}

func naiveOptions(s models.Spec) oracle.NaiveOptions {
	return oracle.NaiveOptions{Model: s.Name, Knossos: s.Knossos, NilReadsExact: s.NilReadsExact, ObserveFailedCAS: s.ObserveFailedCAS,
		Least: s.Priority == "min", Init: s.Init, Permits: s.Permits, MaxHolds: s.MaxHolds, Threads: s.Threads}
}

func event(h *jepsen.History, e int32) string {
	if e < 0 {
		return "no event"
	}
	return fmt.Sprintf("event %d (%s)", e, h.Where(e))
}

// compareAnswer says where a verdict or the first failing completion disagrees
// with the oracle.
func compareAnswer(r *jepsen.Result, want oracle.Answer) error {
	switch {
	case r.Verdict == jepsen.Unknown:
		return fmt.Errorf("unknown (%s %s); the oracle says linearizable: %t", r.Cause, r.Error, want.Linearizable)
	case (r.Verdict == jepsen.Valid) != want.Linearizable:
		return fmt.Errorf("valid: %t; the oracle says linearizable: %t, first failing completion %s",
			r.Verdict == jepsen.Valid, want.Linearizable, event(r.History, want.Fail))
	case r.Op != want.Fail:
		return fmt.Errorf("first failing completion %s; the oracle says %s", event(r.History, r.Op), event(r.History, want.Fail))
	}
	return nil
}

// compare says where a result or its evidence disagrees with the oracle.
func compare(r *jepsen.Result, ops *models.Operations, want oracle.Answer, spec models.Spec) error {
	e := &evidence{r: r, h: r.History, ops: ops, spec: spec, row: map[int32]int32{}}
	for row, op := range ops.Of {
		e.row[op] = int32(row)
	}
	if err := compareAnswer(r, want); err != nil {
		return err
	}
	checks := []func() error{e.witness}
	if !want.Linearizable {
		checks = []func() error{e.failure, e.core}
	}
	for _, check := range append(checks, e.resultMap, e.jsonKeys) {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// evidence checks what a result shows. Models are compared as they print, since
// the states of two readings of a history need not have the same numbers.
type evidence struct {
	r    *jepsen.Result
	h    *jepsen.History
	ops  *models.Operations
	spec models.Spec
	row  map[int32]int32 // by operation of the history

	reached []models.State // by configuration: its state
}

func (e *evidence) op(row int32) models.Op {
	return models.Op{Kind: e.ops.Kind[row], A: e.ops.A[row], B: e.ops.B[row]}
}

// opAt is a row's operation as it stands just before event t.
func (e *evidence) opAt(row, t int32) models.Op {
	op := e.op(row)
	if !oracleOptions(e.spec).Bag || e.ops.Res[row] < t || e.ops.Res[row] == models.Open || !slices.Contains(e.ops.Kind, models.DequeueEmpty) {
		return op
	}
	switch op.Kind {
	case models.Dequeue:
		return models.Op{Kind: models.DequeueAny}
	case models.Drain:
		return models.Op{Kind: models.DrainAny}
	}
	return op
}

func (e *evidence) same(a, b edn.ID) bool { return e.h.Values.Same(a) == e.h.Values.Same(b) }

// step is the states to which some of the given ones lead.
func (e *evidence) step(states []models.State, op models.Op) []models.State {
	seen := map[string]models.State{}
	for _, s := range states {
		for _, next := range e.ops.Model.Step(nil, s, op) {
			seen[fmt.Sprint(next)] = next
		}
	}
	return slices.Collect(maps.Values(seen))
}

// printing is those states that print as a record.
func (e *evidence) printing(states []models.State, record edn.ID) []models.State {
	return slices.DeleteFunc(slices.Clone(states), func(s models.State) bool {
		return !e.same(e.ops.Model.Record(s), record)
	})
}

// witness checks that Witness is a linearization that leads to Final.
func (e *evidence) witness() error {
	states := []models.State{e.ops.Model.Init()}
	happened := map[int32]bool{}
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
		if states = e.step(states, e.op(row)); len(states) == 0 {
			return fmt.Errorf("witness %v: operation %d cannot happen", e.r.Witness, op)
		}
	}
	for row, res := range e.ops.Res {
		if res != models.Open && !happened[e.ops.Of[row]] {
			return fmt.Errorf("witness %v: operation %d is missing", e.r.Witness, e.ops.Of[row])
		}
	}
	if len(e.printing(states, e.r.Final)) == 0 {
		return fmt.Errorf("witness %v does not lead to %s", e.r.Witness, e.h.Values.Text(e.r.Final))
	}
	return nil
}

// failure checks the configurations and what follows from them. They are of the
// part of the failing operation, or of everything where it was decided at once.
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

// part is the operations that the failing one is checked with: those of its key.
func (e *evidence) part() *models.Operations {
	p, ok := e.ops.Model.(models.Partitioner)
	failing := e.op(int32(slices.Index(e.ops.Res, e.r.Op)))
	return e.rows(func(row int32) bool { return !ok || p.Part(e.op(row)) == p.Part(failing) })
}

// configs checks that each configuration can be reached before the failure, by
// all operations of a part that had returned and those open ones that are not
// pending.
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
				if part.Inv[row] >= e.r.Op || part.Res[row] < e.r.Op {
					return fmt.Errorf("configuration %d: operation %d is not open at the failure", i, op)
				}
				failing = failing || part.Res[row] == e.r.Op
				pending = slices.Delete(pending, k, k+1)
				continue
			}
			if part.Inv[row] < e.r.Op {
				done = append(done, int32(row))
			}
		}
		var state models.State
		switch {
		case len(pending) > 0:
			return fmt.Errorf("configuration %d: pending %v are unknown or repeated", i, pending)
		case !failing && !e.mayHaveHappened():
			return fmt.Errorf("configuration %d: the failing operation is not pending", i)
		case c.Last != e.r.LastOp && i == 0:
			return fmt.Errorf("configuration %d: its last operation is %d, the result's %d", i, c.Last, e.r.LastOp)
		case !oracle.Reaches(part, e.r.Op, done, last, func(s models.State) bool {
			state = s
			return e.same(e.ops.Model.Record(s), c.Model)
		}, oracleOptions(e.spec)):
			return fmt.Errorf("configuration %d cannot be reached: %s, last %d, pending %v", i, e.h.Values.Text(c.Model), c.Last, c.Pending)
		}
		e.reached = append(e.reached, state)
	}
	return nil
}

// mayHaveHappened says whether the failing operation may have been linearized
// before it returned, with another outcome than it returned: so it is with a bag
// that was seen empty, where an open dequeue may have taken any element.
func (e *evidence) mayHaveHappened() bool {
	row := e.row[e.h.OpOf[e.r.Op]]
	return e.opAt(row, e.r.Op) != e.op(row)
}

// core checks that a core holds the failing operation and is not linearizable,
// cut at the first failing completion.
func (e *evidence) core() error {
	if !slices.Contains(e.r.Core, e.h.OpOf[e.r.Op]) {
		return fmt.Errorf("core %v: it does not hold the failing operation", e.r.Core)
	}
	part := e.rows(func(row int32) bool { return slices.Contains(e.r.Core, e.ops.Of[row]) })
	if part.Len() != len(e.r.Core) {
		return fmt.Errorf("core %v: an operation does not count, or comes twice", e.r.Core)
	}
	if a := oracle.Decide(part, oracleOptions(e.spec)); a.Linearizable || a.Fail > e.r.Op {
		return fmt.Errorf("core %v: it is linearizable up to the failure", e.r.Core)
	}
	return nil
}

// rows is those operations for which keep holds.
func (e *evidence) rows(keep func(row int32) bool) *models.Operations {
	part := &models.Operations{Model: e.ops.Model, History: e.h}
	part.Events = e.ops.Events
	for row := range int32(e.ops.Len()) {
		if keep(row) {
			part.Inv, part.Res = append(part.Inv, e.ops.Inv[row]), append(part.Res, e.ops.Res[row])
			part.Kind, part.A, part.B = append(part.Kind, e.ops.Kind[row]), append(part.A, e.ops.A[row]), append(part.B, e.ops.B[row])
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
	return nil
}

// path checks that a path starts from some configuration, goes on with pending
// operations and ends with the failing one, which cannot happen there.
func (e *evidence) path(path []jepsen.Step) error {
	var err error
	for i, c := range e.r.Configs {
		if err = e.pathFrom(c, e.reached[i], path); err == nil {
			return nil
		}
	}
	return err
}

func (e *evidence) pathFrom(c jepsen.Config, state models.State, path []jepsen.Step) error {
	steps := path
	if c.Last != jepsen.None {
		if len(steps) == 0 || steps[0].Op != c.Last || !e.same(steps[0].Model, c.Model) {
			return errors.New("it does not begin with the configuration's last operation and model")
		}
		steps = steps[1:]
	}
	states := []models.State{state}
	if len(steps) == 0 {
		return errors.New("it is too short")
	}
	end := steps[len(steps)-1]
	if end.Op != e.h.OpOf[e.r.Op] {
		return fmt.Errorf("it ends with operation %d", end.Op)
	}
	used := map[int32]bool{end.Op: true}
	for _, s := range steps[:len(steps)-1] {
		if used[s.Op] || !slices.Contains(c.Pending, s.Op) {
			return fmt.Errorf("operation %d is not pending, or comes twice", s.Op)
		}
		used[s.Op] = true
		if states = e.printing(e.step(states, e.opAt(e.row[s.Op], e.r.Op)), s.Model); len(states) == 0 {
			return fmt.Errorf("operation %d does not lead to %s", s.Op, e.h.Values.Text(s.Model))
		}
	}
	failing, but := e.op(e.row[end.Op]), ""
	switch {
	case !slices.Contains(c.Pending, end.Op):
		but = ": it has happened before, with another outcome"
	case len(e.step(states, failing)) > 0:
		return errors.New("the failing operation is possible at its end")
	}
	for _, s := range states {
		if e.same(end.Model, jepsen.Inconsistent(e.h.Values, e.ops.Model.Why(s, failing)+but)) {
			return nil
		}
	}
	return fmt.Errorf("it ends in %s, not in the model's words", e.h.Values.Text(end.Model))
}

// resultMap checks that the EDN reads back and has the contract's keys.
func (e *evidence) resultMap() error {
	text := e.r.EDN()
	v := edn.NewValues()
	id, err := v.Parse([]byte(text), edn.Pos{Line: 1, Col: 1})
	if err != nil {
		return fmt.Errorf("%w in %s", err, text)
	}
	want := ":analyzer :configs :final-paths :model :stats :valid?"
	if e.r.Verdict == jepsen.Invalid {
		want = ":analyzer :configs :core :explanation :final-paths :last-op :op :previous-ok :stats :valid?"
	}
	if got := keysOf(v, id); got != want {
		return fmt.Errorf("the result map has the keys %s, not %s", got, want)
	}
	get := func(id edn.ID, key string) edn.ID {
		value, _ := v.Get(id, v.InternKeyword(key))
		return value
	}
	configs, paths := get(id, "configs"), get(id, "final-paths")
	if v.Kind(configs) != edn.KindList || v.Kind(paths) != edn.KindList {
		return fmt.Errorf("configurations or paths are no list in %s", text)
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
	case !ok || index != e.h.Index(e.r.Op):
		return fmt.Errorf(":op is not the event at %s: %s", e.h.Where(e.r.Op), text)
	case len(v.Items(configs)) != len(e.r.Configs) || len(v.Items(paths)) != len(e.r.Paths):
		return fmt.Errorf("configurations or paths are missing from %s", text)
	}
	previous := edn.Nil
	for ev := range e.r.Op {
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
				return fmt.Errorf("a pending operation is no invocation: %s", v.Text(op))
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
	const want = "analyzer cause crashed error events explanation file init model ms op-index op-line operations previous-ok-index valid verified"
	if got := strings.Join(slices.Sorted(maps.Keys(m)), " "); got != want {
		return fmt.Errorf("the JSON has the keys %s, not %s", got, want)
	}
	if m["valid"] != (e.r.Verdict == jepsen.Valid) {
		return fmt.Errorf("the JSON says valid: %v", m["valid"])
	}
	if e.r.Verdict == jepsen.Invalid && (m["op-index"] != float64(e.h.Index(e.r.Op)) || m["op-line"] != float64(e.h.Line(e.r.Op))) {
		return fmt.Errorf("the JSON's op is at index %v, line %v, not at %s", m["op-index"], m["op-line"], e.h.Where(e.r.Op))
	}
	return nil
}

// TestHistoriesThatWereOnceDecidedWrongly holds the smallest histories of bugs
// that the oracle found.
func TestHistoriesThatWereOnceDecidedWrongly(t *testing.T) {
	bag, kv := models.Spec{Name: "unordered-queue"}, models.Spec{Name: "kv"}
	for _, c := range []struct {
		name, text string
		spec       models.Spec
	}{
		{"the failing dequeue was linearized as one that takes any element", `
			{:process 0 :type :invoke :f :enqueue :value 2}
			{:process 0 :type :ok :f :enqueue :value 2}
			{:process 1 :type :invoke :f :dequeue}
			{:process 2 :type :invoke :f :dequeue}
			{:process 2 :type :ok :f :dequeue}
			{:process 1 :type :ok :f :dequeue :value 3}`, bag},
		{"a crashed dequeue keeps the value in its invocation, in prefixes too", `
			{:process 0 :type :invoke :f :enqueue :value 2}
			{:process 0 :type :ok :f :enqueue :value 2}
			{:process 1 :type :invoke :f :dequeue :value 3}
			{:process 2 :type :invoke :f :dequeue}
			{:process 2 :type :ok :f :dequeue}
			{:process 2 :type :invoke :f :dequeue}
			{:process 2 :type :ok :f :dequeue}`, bag},
		{"a crashed drain keeps the values in its invocation, in final paths too", `
			{:process 0 :type :invoke :f :dequeue}
			{:process 0 :type :ok :f :dequeue}
			{:process 1 :type :invoke :f :drain :value [1 2]}
			{:process 0 :type :invoke :f :dequeue}
			{:process 0 :type :ok :f :dequeue :value 2}`, bag},
		{"a crashed dequeue with :empty in its invocation is no empty answer", `
			{:process 0 :type :invoke :f :enqueue :value 1}
			{:process 1 :type :invoke :f :dequeue}
			{:process 2 :type :invoke :f :dequeue}
			{:process 3 :type :invoke :f :dequeue :value :empty}
			{:process 1 :type :ok :f :dequeue :value 2}
			{:process 2 :type :ok :f :dequeue :value 2}`, bag},
		{"a put of the empty string shows in the final state", `
			{:process 0 :type :invoke :f :put :key "x" :value ""}
			{:process 0 :type :ok :f :put :key "x" :value ""}`, kv},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, ops, err := readText(c.spec, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if err := new(counts).engines(c.spec, h, ops, oracle.Decide(ops, oracleOptions(c.spec))); err != nil {
				t.Error(err)
			}
			r, err := checked(h, c.spec, "auto")
			if want := `#clew.model.KV{"x" ""}`; c.spec.Name == "kv" && err == nil && h.Values.Text(r.Final) != want {
				t.Errorf("the final state is %s; expected %s", h.Values.Text(r.Final), want)
			}
		})
	}
}

// TestAllHistoriesOfThreeOperationsAgreeWithTheOracle tries, for every three
// operations over two values, every order of their events with every subset of
// them crashed.
func TestAllHistoriesOfThreeOperationsAgreeWithTheOracle(t *testing.T) {
	collectLess(t)
	for _, c := range []struct {
		model string
		ops   []string // what stands in the invocation is nil for all but the first two
	}{
		{"register", []string{":write 1", ":write 2", ":read 1", ":read 2", ":read nil"}},
		{"fifo-queue", []string{":enqueue 1", ":enqueue 2", ":dequeue 1", ":dequeue 2", ":dequeue nil", ":peek 1", ":peek nil", ":drain [1 2]"}},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			spec := models.Spec{Name: c.model, NilReadsExact: c.model == "register"}
			var counted counts
			n := 0
			for size := range 4 {
				for _, order := range eventOrders(size) {
					for _, ops := range tuples(c.ops, size) {
						n++
						h := gen.History{Text: textOf(ops, order), Way: gen.Guess}
						if !counted.check(t, spec, h) && counted.mismatches == 3 {
							t.Fatal("enough")
						}
					}
				}
			}
			t.Logf("%d histories: %d valid, %d invalid, %d with a crash", n, counted.valid, counted.invalid, counted.crashed)
		})
	}
}

// eventOrders is every order of the events of n operations, of which some never
// complete: an operation stands once for its invocation and again for its
// completion. Operations are numbered in order of invocation.
func eventOrders(n int) [][]int {
	var all [][]int
	var from func(order []int, begun int, open []int)
	from = func(order []int, begun int, open []int) {
		if begun == n {
			all = append(all, slices.Clone(order))
		} else {
			from(append(order, begun), begun+1, append(slices.Clone(open), begun))
		}
		for i, o := range open {
			from(append(order, o), begun, slices.Delete(slices.Clone(open), i, i+1))
		}
	}
	from(nil, 0, nil)
	return all
}

func tuples(of []string, n int) [][]string {
	all := [][]string{nil}
	for range n {
		var longer [][]string
		for _, t := range all {
			for _, x := range of {
				longer = append(longer, append(slices.Clone(t), x))
			}
		}
		all = longer
	}
	return all
}

// textOf is the history of operations, each of a process of its own.
func textOf(ops []string, order []int) string {
	var b strings.Builder
	begun := map[int]bool{}
	for _, o := range order {
		f, value, _ := strings.Cut(ops[o], " ")
		typ := ":ok"
		if !begun[o] {
			typ, begun[o] = ":invoke", true
			if f != ":write" && f != ":enqueue" {
				value = "nil"
			}
		}
		fmt.Fprintf(&b, "{:process %d, :type %s, :f %s, :value %s}\n", o, typ, f, value)
	}
	return b.String()
}

// lyingEngine answers as porcupine does, but for one lie.
type lyingEngine struct {
	lie func(a fallback.Answer, ops *models.Operations) fallback.Answer
}

func (lyingEngine) Name() string { return "lying" }

func (e lyingEngine) Decide(ctx context.Context, ops *models.Operations, limits fallback.Limits) fallback.Answer {
	return e.lie(fallback.Porcupine{}.Decide(ctx, ops, limits), ops)
}

// resultOf is an engine's answer as a result without evidence.
func resultOf(h *jepsen.History, ops *models.Operations, engine fallback.Engine) *jepsen.Result {
	r := &jepsen.Result{History: h, Op: jepsen.None, LastOp: jepsen.None}
	switch a := fallback.Check(context.Background(), engine, ops, fallback.Limits{}); a.Verdict {
	case fallback.Valid:
		r.Verdict = jepsen.Valid
	case fallback.Invalid:
		r.Verdict, r.Op = jepsen.Invalid, a.Fail
	}
	return r
}

func TestTheOracleCatchesAnEngineThatLies(t *testing.T) {
	spec := models.Spec{Name: "fifo-queue"}
	for _, c := range []struct {
		name, caught string
		lie          func(fallback.Answer, *models.Operations) fallback.Answer
	}{
		{"one that always says valid", "valid: true; the oracle says linearizable: false",
			func(a fallback.Answer, _ *models.Operations) fallback.Answer {
				return fallback.Answer{Verdict: fallback.Valid}
			}},
		{"one that takes a valid history for invalid", "valid: false; the oracle says linearizable: true",
			func(a fallback.Answer, ops *models.Operations) fallback.Answer {
				return fallback.Answer{Verdict: fallback.Invalid, Fail: ops.Events - 1}
			}},
		{"one that finds the failure too late", "first failing completion",
			func(a fallback.Answer, ops *models.Operations) fallback.Answer {
				for _, res := range ops.Res {
					if a.Verdict == fallback.Invalid && res != models.Open {
						a.Fail = max(a.Fail, res)
					}
				}
				return a
			}},
		{"one that never knows", "unknown",
			func(fallback.Answer, *models.Operations) fallback.Answer {
				return fallback.Answer{Cause: fallback.Timeout}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gen.Rand(1)
			caught := 0
			for range 300 {
				h, ops, err := readText(spec, gen.New(r, genOptions(spec)).Text)
				if err != nil {
					t.Fatal(err)
				}
				want := oracle.Decide(ops, oracleOptions(spec))
				err = compare(resultOf(h, ops, lyingEngine{c.lie}), ops, want, spec)
				if err != nil && strings.HasPrefix(err.Error(), c.caught) {
					caught++
				}
			}
			t.Logf("caught with %d of 300 histories", caught)
			if caught < 10 {
				t.Errorf("%q was found in %d of 300 histories only", c.caught, caught)
			}
		})
	}
}

func TestTheOracleCatchesEvidenceThatWasTamperedWith(t *testing.T) {
	// A late enqueue is pending at the failure, so that there are several paths.
	const failing = `
		{:process 0 :type :invoke :f :enqueue :value 1}
		{:process 0 :type :ok :f :enqueue :value 1}
		{:process 1 :type :invoke :f :enqueue :value 2}
		{:process 2 :type :invoke :f :dequeue}
		{:process 2 :type :ok :f :dequeue :value 3}`
	const passing = `
		{:process 0 :type :invoke :f :enqueue :value 1}
		{:process 0 :type :ok :f :enqueue :value 1}
		{:process 1 :type :invoke :f :enqueue :value 2}
		{:process 2 :type :invoke :f :dequeue}
		{:process 2 :type :ok :f :dequeue :value 1}
		{:process 2 :type :invoke :f :peek}
		{:process 2 :type :ok :f :peek :value 2}`
	const twice = `
		{:process 0 :type :invoke :f :enqueue :value 1}
		{:process 0 :type :ok :f :enqueue :value 1}
		{:process 1 :type :invoke :f :enqueue :value 1}
		{:process 1 :type :ok :f :enqueue :value 1}`
	spec := models.Spec{Name: "fifo-queue"}
	for _, c := range []struct {
		name, text, caught string
		tamper             func(r *jepsen.Result)
	}{
		{"nothing was", passing, "", func(*jepsen.Result) {}},
		{"nothing was there either", failing, "", func(*jepsen.Result) {}},
		{"a witness in an order that real time forbids", twice, "returned before", func(r *jepsen.Result) { slices.Reverse(r.Witness) }},
		{"a witness in an order that the model forbids", passing, "cannot happen", func(r *jepsen.Result) { slices.Reverse(r.Witness) }},
		{"a witness without a crashed operation", passing, "cannot happen", func(r *jepsen.Result) {
			r.Witness = slices.DeleteFunc(r.Witness, func(op int32) bool { return op == 1 })
		}},
		{"a witness that ends early", passing, "is missing", func(r *jepsen.Result) { r.Witness = r.Witness[:len(r.Witness)-1] }},
		{"a witness with an operation twice", passing, "happens twice", func(r *jepsen.Result) { r.Witness = append(r.Witness, r.Witness[0]) }},
		{"another final state", passing, "does not lead to", func(r *jepsen.Result) { r.Final = edn.Nil }},
		{"a pending operation left out", failing, "cannot be reached", func(r *jepsen.Result) { r.Configs[0].Pending = withoutOp(r.Configs[0].Pending, 1) }},
		{"the failing operation not pending", failing, "the failing operation is not pending", func(r *jepsen.Result) { r.Configs[0].Pending = withoutOp(r.Configs[0].Pending, 2) }},
		{"another model in the configuration", failing, "cannot be reached", func(r *jepsen.Result) { r.Configs[0].Model = edn.Nil }},
		{"no configuration", failing, "0 configurations", func(r *jepsen.Result) { r.Configs = nil }},
		{"no path", failing, "0 final paths", func(r *jepsen.Result) { r.Paths = nil }},
		{"a path without its start", failing, "does not begin", func(r *jepsen.Result) { r.Paths[0] = r.Paths[0][1:] }},
		{"a path without its end", failing, "it ends with operation", func(r *jepsen.Result) { r.Paths[1] = r.Paths[1][:2] }},
		{"another model in a path", failing, "does not lead to", func(r *jepsen.Result) { r.Paths[1][1].Model = r.Paths[1][0].Model }},
		{"another message", failing, "not in the model's words", func(r *jepsen.Result) {
			r.Paths[0][1].Model = jepsen.Inconsistent(r.History.Values, "it did not feel like it")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, ops, err := readText(spec, c.text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := clew.Check(context.Background(), h, spec, clew.Options{Algorithm: "porcupine"})
			if err != nil {
				t.Fatal(err)
			}
			c.tamper(r)
			err = compare(r, ops, oracle.Decide(ops, oracleOptions(spec)), spec)
			if (err == nil) != (c.caught == "") || err != nil && !strings.Contains(err.Error(), c.caught) {
				t.Errorf("found %v; expected %q", err, c.caught)
			}
		})
	}
}

func withoutOp(ops []int32, op int32) []int32 {
	return slices.DeleteFunc(slices.Clone(ops), func(o int32) bool { return o == op })
}
