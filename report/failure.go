package report

import (
	"context"
	"errors"
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
// order. It also returns final paths from the first configuration, starting with the shortest.
// Each path continues with some pending operations in some order and ends at the failing one.
// That one cannot happen there: it never can, or there would be no failure. If the context ends
// first, Explain returns its cause as the error, and what it has found so far.
func Explain(ctx context.Context, ops *models.Operations, fail jepsen.Event, order []models.Row, others [][]models.Row) ([]Config, [][]Step, error) {
	f := failure{ctx: ctx, ops: ops, fail: int32(fail)}
	f.cut = f.opened()
	first, err := f.reach(order)
	if err != nil {
		return nil, nil, err
	}
	configs := []Config{f.config(first)}
	paths, err := f.paths(first)
	if err != nil {
		return configs, nil, err
	}
	known := []reached{first}
	for _, other := range others {
		if len(known) == MaxConfigs {
			break
		}
		c, err := f.reach(other)
		if err != nil {
			return configs, paths, err
		}
		if !slices.ContainsFunc(known, c.equal) {
			known, configs = append(known, c), append(configs, f.config(c))
		}
	}
	return configs, paths, nil
}

// maxEnabling bounds the states from which Possible looks for the failing operation.
const maxEnabling = 200

// Possible reports whether the completion at an event can happen after operations in a given order and some that are
// open, in some order. It looks at the first maxEnabling states.
func Possible(ctx context.Context, ops *models.Operations, fail jepsen.Event, before []jepsen.Operation) bool {
	f := failure{ctx: ctx, ops: ops, fail: int32(fail)}
	f.cut = f.opened()
	rowOf, failing := ops.Rows(), models.Row(slices.Index(ops.Res, f.fail))
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
	ctx  context.Context
	ops  *models.Operations
	cut  *models.Columns // the columns just before that event
	fail int32
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

func (f *failure) reach(order []models.Row) (reached, error) {
	order = trim(f.cut, order)
	state, err := models.Final(f.ctx, f.ops.Model, f.cut, order)
	if stuck := (*models.ReplayError)(nil); errors.As(err, &stuck) {
		panic("the linearization of a prefix does not replay: " + err.Error())
	} else if err != nil {
		return reached{}, err
	}
	c := reached{state: state, last: -1, pending: f.pending(order)}
	if len(order) > 0 {
		c.last = order[len(order)-1]
	}
	return c, nil
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

// paths searches the orders of the pending operations breadth first.
func (f *failure) paths(c reached) ([][]Step, error) {
	ops, model := f.ops, f.ops.Model
	var start []Step
	if c.last >= 0 {
		start = []Step{f.step(c.last, c.state)}
	}
	failing := int32(slices.Index(ops.Res, f.fail))
	type partial struct {
		steps []Step
		state models.State
		used  []models.Row // of those that are pending
	}
	var found [][]Step
	queue := []partial{{start, c.state, []models.Row{failing}}}
	for len(queue) > 0 && len(found) < MaxPaths {
		p := queue[0]
		queue = queue[1:]
		found = append(found, append(slices.Clone(p.steps), Step{Operation: ops.Of[failing],
			Why: model.Why(p.state, ops.Op(failing)), Because: models.Because(model, p.state, ops.Op(failing))}))
		for _, row := range c.pending {
			if len(found)+len(queue) >= MaxPaths {
				break
			}
			if f.ctx.Err() != nil {
				return nil, context.Cause(f.ctx)
			}
			if slices.Contains(p.used, row) || !model.Mutates(f.cut.Op(row)) {
				continue
			}
			for _, next := range models.SomeStates(model, MaxPaths, p.state, f.cut.Op(row)) {
				queue = append(queue, partial{append(slices.Clone(p.steps), f.step(row, next)), next, append(slices.Clone(p.used), row)})
			}
		}
	}
	return found, nil
}

// step returns a step of a path that can happen.
func (f *failure) step(row models.Row, state models.State) Step {
	return Step{Operation: f.ops.Of[row], State: f.ops.Model.Record(state)}
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
