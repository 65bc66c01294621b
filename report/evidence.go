package report

import (
	"slices"

	"clew/jepsen"
	"clew/models"
)

// MaxPaths bounds the final paths. There are as many as there are orders of the
// pending operations: Knossos lists them all, and runs out of memory at nine.
const MaxPaths = 10

// MaxConfigs bounds the configurations.
const MaxConfigs = 10

// Explain shows why operations cannot be linearized past the first failing
// completion. It is given a linearization of what is before that completion,
// and others if any are known, as rows. It shows the configurations that these
// lead to, starting with that of order, and final paths from the first
// configuration, starting with the shortest. Each path goes on with some
// pending operations in some order, and ends at the failing one, which cannot
// happen there: it never can, or there would be no failure.
func Explain(ops *models.Operations, fail jepsen.Event, order []models.Row, others [][]models.Row) ([]Config, [][]Step) {
	f := failure{ops: ops, fail: int32(fail)}
	f.cut = f.opened()
	reached := []reached{f.reach(order)}
	for _, other := range others {
		if len(reached) == MaxConfigs {
			break
		}
		c := f.reach(other)
		if !slices.ContainsFunc(reached, c.equal) {
			reached = append(reached, c)
		}
	}
	var configs []Config
	for _, c := range reached {
		configs = append(configs, f.config(c))
	}
	return configs, f.paths(reached[0])
}

// failure is operations and the event at which they fail.
type failure struct {
	ops  *models.Operations
	cut  *models.Columns // as they stand just before that event
	fail int32
}

// reached is a configuration as rows.
type reached struct {
	state   models.State
	last    models.Row   // linearized last, or -1
	pending []models.Row // open at the failure and not linearized, the failing one among them
}

func (c reached) equal(o reached) bool {
	return c.last == o.last && slices.Equal(c.state, o.state) && slices.Equal(c.pending, o.pending)
}

// config is a configuration as a Result shows it.
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

// reach is the configuration that an order leads to.
func (f *failure) reach(order []models.Row) reached {
	order = trim(f.cut, order)
	state, err := models.Final(f.ops.Model, f.cut, order)
	if err != nil {
		panic("the linearization of a prefix does not replay: " + err.Error())
	}
	c := reached{state: state, last: -1}
	done := make([]bool, f.ops.Len())
	for _, row := range order {
		done[row], c.last = true, row
	}
	for i := int32(0); i < int32(f.ops.Len()) && f.ops.Inv[i] < f.fail; i++ {
		if f.ops.Res[i] >= f.fail && !done[i] {
			c.pending = append(c.pending, i)
		}
	}
	return c
}

// opened is the columns as they stand just before the failure: operations that
// return later are open. Its rows are those of the operations.
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

// trim takes open operations off the end of a linearization: no operation that
// returned needs them.
func trim(c *models.Columns, order []models.Row) []models.Row {
	n := len(order)
	for n > 0 && c.Res[order[n-1]] == models.Open {
		n--
	}
	return order[:n]
}

// paths goes through the pending operations breadth first.
func (f *failure) paths(c reached) [][]Step {
	ops, model := f.ops, f.ops.Model
	var start []Step
	if c.last >= 0 {
		start = []Step{f.step(c.last, c.state)}
	}
	failing := int32(slices.Index(ops.Res, f.fail))
	type partial struct {
		steps []Step
		state models.State
		used  []models.Row
	}
	var found [][]Step
	queue := []partial{{start, c.state, []models.Row{failing}}}
	for len(queue) > 0 && len(found) < MaxPaths {
		p := queue[0]
		queue = queue[1:]
		found = append(found, append(slices.Clone(p.steps), Step{Operation: ops.Of[failing], Why: model.Why(p.state, ops.Op(failing))}))
		for _, row := range c.pending {
			if len(found)+len(queue) >= MaxPaths {
				break
			}
			if slices.Contains(p.used, row) || !model.Mutates(f.cut.Op(row)) {
				continue
			}
			for _, next := range model.Step(nil, p.state, f.cut.Op(row)) {
				queue = append(queue, partial{append(slices.Clone(p.steps), f.step(row, next)), next, append(slices.Clone(p.used), row)})
			}
		}
	}
	return found
}

// step is a step of a path that can happen.
func (f *failure) step(row models.Row, state models.State) Step {
	return Step{Operation: f.ops.Of[row], State: f.ops.Model.Record(state)}
}
