package report

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"clew/jepsen"
	"clew/models"
)

// MaxPaths bounds the final paths. There is one for each order of the pending
// operations: Knossos lists them all, and runs out of memory at nine.
const MaxPaths = 10

// MaxConfigs bounds the configurations.
const MaxConfigs = 10

// Explain shows why operations cannot be linearized past the first failing completion. order is
// a linearization of everything before that completion, and others are further ones that are
// known, as rows. Explain returns the configurations that these lead to, starting with that of
// order, and some that other orders of the last operations lead to. It also returns final paths
// from them, those from the first configuration first, starting with the shortest. Each path
// continues with some pending operations in some order. It ends at the failing one, which can
// never happen, or there would be no failure, or at another one that cannot happen there. If the
// context ends first, Explain returns its cause as the error, and what it has found so far.
func Explain(ctx context.Context, ops *models.Operations, fail jepsen.Event, order []models.Row, others [][]models.Row) ([]Config, [][]Step, error) {
	f := failure{ctx: ctx, ops: ops, fail: int32(fail), failing: models.Row(slices.Index(ops.Res, int32(fail)))}
	f.cut = f.opened()
	order = trim(f.cut, order)
	first, recent, err := f.reach(order)
	if err != nil {
		return nil, nil, err
	}
	known := []reached{first}
	configs := []Config{f.config(first)}
	paths, err := f.paths(known)
	if err != nil {
		return configs, nil, err
	}
	for _, other := range others {
		if len(known) == MaxConfigs {
			break
		}
		c, _, err := f.reach(trim(f.cut, other))
		if err != nil {
			return configs, paths, err
		}
		if !slices.ContainsFunc(known, c.equal) {
			known, configs = append(known, c), append(configs, f.config(c))
		}
	}
	f.unlessStopped(func() {
		for _, c := range f.reorder(order, recent, known) {
			known, configs = append(known, c), append(configs, f.config(c))
		}
	})
	f.unlessStopped(func() {
		if more, err := f.paths(known); err == nil {
			paths = more
		}
	})
	return configs, paths, nil
}

// unlessStopped calls find, which adds to what is there already. If a limit stops a model in it, that stays.
func (f *failure) unlessStopped(find func()) {
	defer func() {
		p := recover()
		if failed, ok := p.(*models.Failure); p != nil && (!ok || failed.Cause == "") {
			panic(p)
		}
	}()
	find()
}

// maxEnabling bounds the states from which Possible looks for the failing operation.
const maxEnabling = 200

// Possible reports whether the completion at an event can happen after operations in a given order and some that are
// open, in some order. It looks at the first maxEnabling states.
func Possible(ctx context.Context, ops *models.Operations, fail jepsen.Event, before []jepsen.Operation) bool {
	failing := models.Row(slices.Index(ops.Res, int32(fail)))
	f := failure{ctx: ctx, ops: ops, fail: int32(fail), failing: failing}
	f.cut = f.opened()
	rowOf := ops.Rows()
	var order []models.Row
	for _, op := range before {
		if row := rowOf[op]; row >= 0 {
			order = append(order, row)
		}
	}
	order = trim(f.cut, order)
	state, err := models.Final(ctx, ops.Model, f.cut, order)
	if err != nil || failing < 0 {
		return false
	}
	type partial struct {
		state models.State
		used  []models.Row // of those that are pending
	}
	pending := f.pending(order)
	queue := []partial{{state: state}}
	for i := 0; i < len(queue) && ctx.Err() == nil; i++ {
		p := queue[i]
		if len(models.SomeStates(ops.Model, 1, p.state, ops.Op(failing))) > 0 {
			return true
		}
		for _, row := range pending {
			if len(queue) >= maxEnabling {
				break
			}
			if row == failing || slices.Contains(p.used, row) || !ops.Model.Mutates(ops.Op(row)) {
				continue
			}
			for _, next := range models.SomeStates(ops.Model, maxEnabling-len(queue), p.state, ops.Op(row)) {
				queue = append(queue, partial{next, append(slices.Clip(p.used), row)})
			}
		}
	}
	return false
}

// failure holds operations and the event at which they fail.
type failure struct {
	ctx     context.Context
	ops     *models.Operations
	cut     *models.Columns // the columns just before that event
	fail    int32
	failing models.Row // which returns there
}

// reached is a configuration as rows.
type reached struct {
	state   models.State
	last    models.Row   // linearized last, or -1
	pending []models.Row // open at the failure and not linearized, including the failing one
}

func (c reached) equal(o reached) bool {
	return c.last == o.last && slices.Equal(c.state, o.state) && slices.Equal(c.pending, o.pending)
}

func (f *failure) config(c reached) Config {
	config := Config{State: f.ops.Model.Record(c.state), Last: jepsen.None}
	if c.last >= 0 {
		config.Last = f.ops.Of[c.last]
	}
	for _, row := range c.pending {
		config.Pending = append(config.Pending, f.ops.Of[row])
	}
	return config
}

// reach returns the configuration that an order leads to, and the state before its last maxRecent operations.
func (f *failure) reach(order []models.Row) (c reached, recent models.State, err error) {
	op := func(i int) models.Op { return f.cut.Op(order[i]) }
	states, err := models.StatesAt(f.ctx, f.ops.Model, len(order), op, []int{max(0, len(order)-maxRecent), len(order)})
	if stuck := (*models.ReplayError)(nil); errors.As(err, &stuck) {
		panic("the linearization of a prefix does not replay: " + err.Error())
	} else if err != nil {
		return reached{}, nil, err
	}
	c = reached{state: states[1], last: -1, pending: f.pending(order)}
	if len(order) > 0 {
		c.last = order[len(order)-1]
	}
	return c, states[0], nil
}

// pending returns the operations that are open at the failure and not in an order, including the failing one.
func (f *failure) pending(order []models.Row) (rows []models.Row) {
	done := make([]bool, f.ops.Len())
	for _, row := range order {
		done[row] = true
	}
	for i := int32(0); i < int32(f.ops.Len()) && f.ops.Inv[i] < f.fail; i++ {
		if f.ops.Res[i] >= f.fail && !done[i] {
			rows = append(rows, i)
		}
	}
	return rows
}

// opened returns the columns as they stand just before the failure:
// operations that return later are open. The rows stay the same.
func (f *failure) opened() *models.Columns {
	c := f.ops.Columns
	c.Res = slices.Clone(c.Res)
	for i, res := range c.Res {
		if res >= f.fail {
			c.Res[i] = models.Open
		}
	}
	return &c
}

// trim removes open operations from the end of a
// linearization: no operation that returned needs them.
func trim(c *models.Columns, order []models.Row) []models.Row {
	n := len(order)
	for n > 0 && c.Res[order[n-1]] == models.Open {
		n--
	}
	return order[:n]
}

// maxTried bounds the orders of pending operations that are tried from a configuration.
const maxTried = 100

// paths searches the orders of the operations that are pending in configurations. First come paths of updates to the
// failing operation, then those to another one, then those with operations that change nothing.
func (f *failure) paths(configs []reached) (all [][]Step, err error) {
	var stuck [][]Step
	for _, idle := range []bool{false, true} {
		for _, c := range configs {
			if len(all) >= MaxPaths {
				break
			}
			s := pathSearch{failure: f, config: c, idle: idle}
			if err := s.run(MaxPaths); err != nil {
				return nil, err
			}
			all = addPaths(all, s.found)
			stuck = addPaths(stuck, s.stuck)
		}
		all, stuck = addPaths(all, stuck), nil
	}
	return all, nil
}

// addPaths adds the paths that are new, up to MaxPaths. Configurations that differ in what is pending share some.
func addPaths(all, more [][]Step) [][]Step {
	for _, path := range more {
		same := func(other []Step) bool { return slices.EqualFunc(path, other, sameStep) }
		if len(all) < MaxPaths && !slices.ContainsFunc(all, same) {
			all = append(all, path)
		}
	}
	return all
}

func sameStep(a, b Step) bool {
	return a.Operation == b.Operation && a.Why == b.Why && (a.Why != "" || a.State.Class() == b.State.Class())
}

// pathSearch searches the final paths from a configuration breadth first.
type pathSearch struct {
	*failure
	config reached
	idle   bool     // only paths with an operation that changes nothing
	found  [][]Step // to the failing operation
	stuck  [][]Step // to another one
}

// partial is the beginning of a path.
type partial struct {
	steps []Step
	state models.State
	used  []models.Row // of those that are pending
	idle  bool         // one of them changes nothing
}

// run looks for a number of paths of each kind.
func (s *pathSearch) run(most int) error {
	start := partial{state: s.config.state, used: []models.Row{s.failing}}
	if s.config.last >= 0 {
		start.steps = []Step{s.step(s.config.last, s.config.state)}
	}
	queue := []partial{start}
	for i := 0; i < len(queue) && len(s.found) < most; i++ {
		p := queue[i]
		if p.idle == s.idle {
			s.found = append(s.found, s.ending(p, s.failing))
		}
		for _, row := range s.config.pending {
			if s.ctx.Err() != nil {
				return context.Cause(s.ctx)
			}
			if len(queue) < maxTried && !slices.Contains(p.used, row) {
				queue = s.extend(queue, p, row, most)
			}
		}
	}
	return nil
}

// extend adds what a path and a pending operation lead to.
func (s *pathSearch) extend(queue []partial, p partial, row models.Row, most int) []partial {
	model, op := s.ops.Model, s.cut.Op(row)
	idle := !model.Mutates(op)
	if idle && !s.idle && len(s.stuck) >= most {
		return queue
	}
	next := models.SomeStates(model, MaxPaths, p.state, op)
	if len(next) == 0 && p.idle == s.idle && len(s.stuck) < most {
		s.stuck = append(s.stuck, s.ending(p, row))
	}
	if idle && !s.idle {
		return queue
	}
	for _, state := range next {
		queue = append(queue, partial{append(slices.Clone(p.steps), s.step(row, state)), state, append(slices.Clone(p.used), row), p.idle || idle})
	}
	return queue
}

// ending returns a path that ends at an operation that cannot happen.
func (s *pathSearch) ending(p partial, row models.Row) []Step {
	model, op := s.ops.Model, s.ops.Op(row)
	return append(slices.Clone(p.steps), Step{Operation: s.ops.Of[row], Why: model.Why(p.state, op), Because: models.Because(model, p.state, op)})
}

// step returns a step of a path that can happen.
func (f *failure) step(row models.Row, state models.State) Step {
	return Step{Operation: f.ops.Of[row], State: f.ops.Model.Record(state)}
}

// Knossos's linear search keeps every configuration that some linearization leads to. An engine or a near-linear
// decision only has the one of its order, and perhaps a few others. Other orders of the last operations lead to most of
// them, since those before had long returned.

// Bounds of the search for other configurations. A step costs as much as the state is long.
const (
	maxRecent    = 24      // operations at the end of an order that may change places
	maxReordered = 64      // these, and open ones that it does not have
	maxReached   = 40      // configurations among which to choose
	maxPlaced    = 2_000   // operations that are put in some place
	maxStateWork = 500_000 // numbers in the states after these, and operations that are pending in configurations
)

// reorder returns configurations to which other orders of the last operations lead, up to MaxConfigs with those that
// are known. The first of them differ in their states. recent is the state before the last maxRecent of the order.
func (f *failure) reorder(order []models.Row, recent models.State, known []reached) []reached {
	s := newReordering(f, order)
	if s == nil || len(known) >= MaxConfigs {
		return nil
	}
	s.known = known
	s.place(recent, 0, -1)
	// Those with other states come first, then those with other pending operations.
	var more []reached
	for _, same := range []func(a, b reached) bool{
		func(a, b reached) bool { return slices.Equal(a.state, b.state) },
		func(a, b reached) bool { return slices.Equal(a.state, b.state) && slices.Equal(a.pending, b.pending) },
		reached.equal,
	} {
		for _, c := range s.found {
			is := func(other reached) bool { return same(c, other) }
			if len(known)+len(more) < MaxConfigs && !slices.ContainsFunc(known, is) && !slices.ContainsFunc(more, is) {
				more = append(more, c)
			}
		}
	}
	return more
}

// reordering searches the orders of a few operations depth first.
type reordering struct {
	*failure
	rows   []models.Row // the operations: those of the order, as it has them, then open ones
	before []uint64     // by operation: those that returned before it began
	must   uint64       // those that have returned
	open   []models.Row // all that are open and not before the operations, in order
	known  []reached
	found  []reached
	seen   map[string]bool
	placed int // how many operations were put in some place
	work   int // how many numbers the states after them have, and how many operations are pending in what was found
}

func newReordering(f *failure, order []models.Row) *reordering {
	s := &reordering{failure: f, seen: map[string]bool{}}
	s.rows = slices.Clone(order[max(0, len(order)-maxRecent):])
	s.open = f.pending(order[:len(order)-len(s.rows)])
	for _, row := range s.open {
		if row != f.failing && len(s.rows) < maxReordered && !slices.Contains(s.rows, row) {
			s.rows = append(s.rows, row)
		}
	}
	if len(s.rows) == 0 {
		return nil
	}
	for i, row := range s.rows {
		if f.cut.Res[row] != models.Open {
			s.must |= 1 << i
		}
		var before uint64
		for j, other := range s.rows {
			if f.cut.Res[other] < f.cut.Inv[row] {
				before |= 1 << j
			}
		}
		s.before = append(s.before, before)
	}
	return s
}

// place puts each operation that may come next after those that are done, in a state after them. last is the last one.
func (s *reordering) place(state models.State, done uint64, last int) {
	if done&s.must == s.must {
		if last < 0 || s.must>>last&1 == 1 { // what is open is not needed at the end
			s.reached(state, done, last)
		}
		return
	}
	key := s.key(state, done)
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	for i, row := range s.rows {
		if len(s.found) >= maxReached || s.placed >= maxPlaced || s.work >= maxStateWork || s.ctx.Err() != nil {
			return
		}
		if done>>i&1 == 1 || s.before[i]&^done != 0 {
			continue
		}
		s.placed++
		for _, next := range models.SomeStates(s.ops.Model, MaxConfigs, state, s.cut.Op(row)) {
			s.work += len(next)
			s.place(next, done|1<<i, i)
		}
	}
}

func (s *reordering) key(state models.State, done uint64) string {
	key := binary.NativeEndian.AppendUint64(make([]byte, 0, 8+4*len(state)), done)
	for _, x := range state {
		key = binary.NativeEndian.AppendUint32(key, uint32(x))
	}
	return string(key)
}

// reached notes a configuration.
func (s *reordering) reached(state models.State, done uint64, last int) {
	c := reached{state: state, last: -1}
	if last >= 0 {
		c.last = s.rows[last]
	}
	placed := make([]models.Row, 0, bits.OnesCount64(done))
	for ; done != 0; done &= done - 1 {
		placed = append(placed, s.rows[bits.TrailingZeros64(done)])
	}
	slices.Sort(placed)
	s.work += len(s.open)
	for _, row := range s.open {
		if _, is := slices.BinarySearch(placed, row); !is {
			c.pending = append(c.pending, row)
		}
	}
	if !slices.ContainsFunc(s.known, c.equal) && !slices.ContainsFunc(s.found, c.equal) {
		s.found = append(s.found, c)
	}
}

// Relation is a relation between two operations of a
// history: a step of the contradiction in a failure.
type Relation struct {
	Kind     models.RelationKind
	From, To jepsen.Operation
}

// Bounds of the relations of a failure: more of them would tell the reader nothing.
const (
	maxRelations = 12
	maxRelated   = 12 // operations that are all related with each other
	relatePoll   = 1 << 12
)

// Relate returns how some operations of a failure are related. These are
// the relations that its sentence states. If it states none, they say which
// operations returned before which, without those that follow from others.
// Relate adds which operation can only have seen what another one did.
//
// If the operations come from a core instead of a sentence, there may be many. Then only
// those that returned before the failing one are related to it; the rest is visible. Rows
// below 0 stand for no operation. Linear time in the operations for each of the few.
func Relate(ctx context.Context, ops *models.Operations, fail jepsen.Event, named []models.Row, told []models.Relation, core bool) []Relation {
	var all []Relation
	add := func(r models.Relation) {
		x := Relation{r.Kind, ops.Of[r.From], ops.Of[r.To]}
		if len(all) < maxRelations && !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	for _, r := range told {
		before := r.From >= 0 && r.To >= 0 && r.From != r.To
		if before && (r.Kind != models.ReturnedBefore || ops.Res[r.From] < ops.Inv[r.To]) {
			add(r)
		}
	}
	named = slices.DeleteFunc(slices.Clone(named), func(row models.Row) bool { return row < 0 })
	slices.Sort(named)
	if named = slices.Compact(named); len(named) > maxRelated {
		return all
	}
	if len(told) == 0 {
		for _, a := range named {
			for _, b := range named {
				if ops.Res[a] < ops.Inv[b] && (!core || ops.Res[b] == int32(fail)) && !slices.ContainsFunc(named, func(c models.Row) bool {
					return ops.Res[a] < ops.Inv[c] && ops.Res[c] < ops.Inv[b]
				}) {
					add(models.Relation{Kind: models.ReturnedBefore, From: a, To: b})
				}
			}
		}
	}
	sees := models.Seeing(ops.Model)
	for _, seer := range named {
		if sees == nil {
			break
		}
		if maker := onlyMaker(ctx, ops, sees, fail, seer); maker >= 0 && slices.Contains(named, maker) {
			add(models.Relation{Kind: models.Saw, From: maker, To: seer})
		}
	}
	return all
}

// onlyMaker returns the one operation that can have made what another saw. It returns -1
// if there are several or none, if the value was there initially, or if the context ends.
func onlyMaker(ctx context.Context, ops *models.Operations, sees func(maker, seer models.Op) bool, fail jepsen.Event, seer models.Row) models.Row {
	op, end, maker := ops.Op(seer), min(ops.Res[seer], int32(fail)), models.Row(-1)
	if len(ops.Model.Step(nil, ops.Model.Init(), op)) > 0 {
		return -1
	}
	for row := models.Row(0); int(row) < ops.Len() && ops.Inv[row] < end; row++ {
		if row%relatePoll == 0 && ctx.Err() != nil {
			return -1
		}
		if row == seer || !sees(ops.Op(row), op) {
			continue
		}
		if maker >= 0 {
			return -1
		}
		maker = row
	}
	return maker
}
