// Package report shows what was found: why a history is not linearizable.
package report

import (
	"slices"

	"clew/models"
)

// Config is a configuration that survived up to the first failing completion:
// everything that had returned is linearized, and the failing operation cannot
// be.
type Config struct {
	State   models.State
	Last    models.Row   // linearized last, or -1
	Pending []models.Row // open at the failure that are not linearized, the failing one among them
}

// Step is a step of a final path: a row and the state after it. The last step
// of a path is the failing row, which cannot happen: its State is nil, and Why
// says why in the model's words.
type Step struct {
	Row   models.Row
	State models.State
	Why   string
}

// MaxPaths bounds the final paths. There are as many as there are orders of the
// pending operations: Knossos lists them all, and runs out of memory at nine.
const MaxPaths = 10

// MaxConfigs bounds the configurations.
const MaxConfigs = 10

// Explain shows why operations cannot be linearized past a failure, given the first
// failing completion, an event, a linearization of what is before it, and others
// if any are known. It shows the configurations that these lead to, that of order
// first, and final paths from the first one, the shortest first. Each path goes on
// with some pending operations in some order and ends where the failing one cannot
// happen: it never can, or the failure would not be one. If a model knows less of
// an open operation than of a returned one, the failing one may have happened
// already, and then returned what it cannot have: that is the path.
func Explain(ops *models.Operations, fail int32, order []models.Row, others [][]models.Row) ([]Config, [][]Step) {
	cut := opened(ops, fail)
	configs := []Config{configAt(ops, cut, order, fail)}
	for _, other := range others {
		if len(configs) == MaxConfigs {
			break
		}
		c := configAt(ops, cut, other, fail)
		if !slices.ContainsFunc(configs, c.equal) {
			configs = append(configs, c)
		}
	}
	return configs, paths(ops, cut, configs[0], fail)
}

func (c Config) equal(o Config) bool {
	return c.Last == o.Last && slices.Equal(c.State, o.State) && slices.Equal(c.Pending, o.Pending)
}

// configAt is the configuration that an order leads to.
func configAt(ops *models.Operations, cut *models.Columns, order []models.Row, fail int32) Config {
	order = trim(cut, order)
	state, err := models.Final(ops.Model, cut, order)
	if err != nil {
		panic("the linearization of a prefix does not replay: " + err.Error())
	}
	config := Config{State: state, Last: -1}
	done := make([]bool, ops.Len())
	for _, row := range order {
		done[row], config.Last = true, row
	}
	for i := int32(0); i < int32(ops.Len()) && ops.Inv[i] < fail; i++ {
		if ops.Res[i] >= fail && !done[i] {
			config.Pending = append(config.Pending, i)
		}
	}
	return config
}

// opened is the columns as they stand just before event t: what returns later
// is open. Its rows are those of ops.
func opened(ops *models.Operations, t int32) *models.Columns {
	c := &models.Columns{Events: ops.Events}
	for i := int32(0); i < int32(ops.Len()); i++ {
		op, res := ops.Op(i), ops.Res[i]
		if res >= t {
			op, res = ops.Opened(i), models.Open
		}
		c.Append(ops.Inv[i], res, op)
	}
	return c
}

// trim takes open operations off the end of a linearization: nothing returned
// needs them.
func trim(c *models.Columns, order []models.Row) []models.Row {
	n := len(order)
	for n > 0 && c.Res[order[n-1]] == models.Open {
		n--
	}
	return order[:n]
}

// paths goes through the pending operations breadth first.
func paths(ops *models.Operations, cut *models.Columns, config Config, fail int32) [][]Step {
	var start []Step
	if config.Last >= 0 {
		start = []Step{{Row: config.Last, State: config.State}}
	}
	failing := int32(slices.Index(ops.Res, fail))
	if !slices.Contains(config.Pending, failing) {
		why := ops.Model.Why(config.State, ops.Op(failing)) + ": it has happened before, with another outcome"
		return [][]Step{append(start, Step{Row: failing, Why: why})}
	}
	type partial struct {
		steps []Step
		state models.State
		used  []models.Row
	}
	var found [][]Step
	queue := []partial{{start, config.State, []models.Row{failing}}}
	for len(queue) > 0 && len(found) < MaxPaths {
		p := queue[0]
		queue = queue[1:]
		end := Step{Row: failing, Why: ops.Model.Why(p.state, ops.Op(failing))}
		found = append(found, append(slices.Clone(p.steps), end))
		for _, row := range config.Pending {
			if len(found)+len(queue) >= MaxPaths {
				break
			}
			if slices.Contains(p.used, row) || !ops.Model.Mutates(cut.Op(row)) {
				continue
			}
			for _, next := range ops.Model.Step(nil, p.state, cut.Op(row)) {
				queue = append(queue, partial{
					append(slices.Clone(p.steps), Step{Row: row, State: next}), next, append(slices.Clone(p.used), row)})
			}
		}
	}
	return found
}
