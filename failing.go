package clew

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"clew/fallback"
	"clew/internal/engines"
	"clew/internal/engines/configs"
	"clew/jepsen"
	"clew/models"
)

// A user's own model can fail, and it can declare something that does not hold. Both are errors of the check, and
// never a verdict. What only says things, such as its labels, takes no verdict away: if it fails, that is a warning.

// caught calls f, which takes steps of a model, and returns the Failure of the model that ended it, or nil.
func caught(m models.Model, f func()) (failed *models.Failure) {
	defer func() {
		if p := recover(); p != nil {
			var ok bool
			if failed, ok = p.(*models.Failure); !ok {
				panic(p)
			}
		}
	}()
	apart(m, f)
	return nil
}

// apart calls f, which takes steps of a model. A step of the caller's own may end its goroutine, as testing.T.FailNow
// does, so it gets another goroutine than the caller's. A panic of f becomes a panic of the caller.
func apart(m models.Model, f func()) {
	if m == nil || m.Traits().Within == nil {
		f()
		return
	}
	ended := make(chan any)
	go func() {
		var exited any = &models.Failure{Err: models.ErrExited}
		defer func() { ended <- cmp.Or(recover(), exited) }()
		f()
		exited = nil
	}()
	if p := <-ended; p != nil {
		panic(p)
	}
}

// stopped calls f, and reports whether a limit stopped a model in it. Any other failure of a model is passed on.
func stopped(m models.Model, f func()) bool {
	switch failed := caught(m, f); {
	case failed == nil:
		return false
	case failed.Cause == "":
		panic(failed)
	}
	return true
}

// within bounds the steps of a model that can be bounded. The caller calls release once no more steps are taken.
func within(ctx context.Context, m models.Model, lim fallback.Limits) (release func()) {
	if bound := m.Traits().Within; bound != nil {
		return bound(ctx, lim.Memory)
	}
	return func() {}
}

// fails notes a failure of the model. A limit that stopped it makes the verdict unknown; any other failure is an
// error.
func (c *checking) fails(d *decider, f *models.Failure) {
	switch {
	case f == nil:
	case f.Cause != "":
		c.verdict = conclusion{verdict: jepsen.Unknown, analyzer: "clew/" + d.engine.Name(), cause: f.Cause, failing: -1, undecided: -1}
	default:
		c.err = f
	}
}

// unsaid warns if the caller's own Describe failed on a state that is shown. No verdict depends on what it says.
func (c *checking) unsaid() string {
	if c.ops == nil {
		return ""
	}
	if err := models.Undescribed(c.ops.Model); err != nil {
		return fmt.Sprintf("the model's describe failed, so states are shown as they are: %v", err)
	}
	return ""
}

// doubtSteps bounds the steps for deciding a history of parts once more as a whole.
const doubtSteps = 20_000

// undeclared decides the core of an invalid history again, without what the model's author declares. If the model has
// parts, it also decides all parts together, as long as that is easy.
func (c *checking) undeclared(ctx context.Context, lim fallback.Limits) {
	m := c.ops.Model.Traits().Declared
	if m == nil {
		return
	}
	m.Doubt()
	fail, lim := c.decisions[c.verdict.failing].FailEvent, fallback.Limits{Memory: lim.Memory}
	core := c.ops.Among(c.core)
	a := undeclaredCore(ctx, c.ops, core, fail, lim)
	if a.Verdict == jepsen.Invalid && len(c.parts) > 1 {
		var all []models.Row
		for row := range models.Row(c.ops.Len()) {
			if c.ops.Inv[row] < fail && (c.ops.Model.Mutates(c.ops.Op(row)) || slices.Contains(core, row)) {
				all = append(all, row)
			}
		}
		together := configs.Window{MaxSteps: doubtSteps}
		if b := together.Decide(ctx, c.ops.Select(all).Under(m.Bare()).Prefix(fail).Operations, lim); b.Cause != fallback.GaveUp {
			a = b
		}
	}
	switch a.Verdict {
	case jepsen.Valid:
		c.err = declaredWrongly(c.spec)
	case jepsen.Unknown:
		c.verdict = conclusion{verdict: jepsen.Unknown, analyzer: c.verdict.analyzer, cause: a.Cause, failing: -1, undecided: -1,
			reason: notBare}
	}
}

// notBare is why a failure is unknown if only what the model declares shows it.
const notBare = "it is not linearizable if everything that the model declares is right, but whether that is so was not decided"

// undeclaredCore decides a core up to an event without what the model's author declares.
func undeclaredCore(ctx context.Context, part *models.Operations, core []models.Row, fail int32, lim fallback.Limits) fallback.Answer {
	m := part.Model.Traits().Declared.Bare()
	return engines.New("", 0).Decide(ctx, part.Select(core).Under(m).Prefix(fail).Operations, fallback.Limits{Memory: lim.Memory})
}

// declaredWrongly is the failure of a model whose declarations a history shows to be wrong.
func declaredWrongly(spec models.Spec) *models.Failure {
	return &models.Failure{Err: fmt.Errorf("%s: its reads, overwrites or partition are declared wrongly: the apparent failure is linearizable without these declarations", spec.Name)}
}

// wholeRun returns the state that a witness leads to if the model's author declares its parts. It runs the parts
// together in the order of the witness, since each part alone may run where the whole cannot. If a step has several
// outcomes, the whole takes the one that the part alone took: there would be too many choices for all parts.
func (c *checking) wholeRun() (models.State, error) {
	ops := c.ops
	outcome := make([]int, ops.History.Operations())
	for i, part := range c.parts {
		order := c.decisions[i].Order
		run, err := models.Replay(part.Model, &part.Columns, order)
		if err != nil {
			return nil, err
		}
		state := part.Model.Init()
		for j, row := range order {
			is := func(s models.State) bool { return slices.Equal(s, run[j]) }
			outcome[part.Of[row]] = slices.IndexFunc(part.Model.Step(nil, state, part.Op(row)), is)
			state = run[j]
		}
	}
	rowOf := ops.Rows()
	state := ops.Model.Init()
	for _, op := range inOrder(c.h, c.points()) {
		does := ops.Op(rowOf[op])
		next := ops.Model.Step(nil, state, does)
		if outcome[op] >= len(next) {
			panic(&models.Failure{Err: fmt.Errorf("the partition is declared wrongly: every part is linearizable, but together %s cannot happen: %s",
				ops.History.Name(op), ops.Model.Why(state, does))})
		}
		state = next[outcome[op]]
	}
	return state, nil
}
