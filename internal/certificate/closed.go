package certificate

import (
	"context"
	"slices"

	"clew/fallback"
	"clew/internal/engines/configs"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// A core is as small as it can be while it says what is wrong. A program that checks it
// must know that the operations outside of it do not matter. The rules of
// docs/certificate.md suffice for that, and they use only the meaning of operations. A core
// is written with everything that they require. Some cores rest on more: that of a
// lookup-set on what can be known of a moment, and that of a versioned register on what any
// updates might have done. The operations that the rules require may have a linearization,
// or there may be no time for a core. Then all operations up to the failure are written.

// maxSteps bounds the search for that linearization.
const maxSteps = 1_000_000

// closed returns the core of a result with what the rules require in addition, in order.
func closed(ctx context.Context, r *report.Result) ([]jepsen.Operation, error) {
	part, err := partOf(ctx, r)
	if err != nil {
		return nil, err
	}
	c := &closing{part: part, fail: int32(r.FailEvent.OrNone()), in: make([]bool, part.Len())}
	ofCore := make([]bool, r.History.Operations())
	for _, op := range r.Core {
		ofCore[op] = true
	}
	for row, op := range part.Of {
		c.in[row] = ofCore[op]
	}
	if _, set := models.ShapeOf[models.GrowSetShape](c.part.Model); r.Core == nil || !set && c.close() && !c.fails(ctx) {
		for row := range c.in {
			c.in[row] = c.begun(models.Row(row)) && (part.Res[row] <= c.fail || part.Model.Mutates(part.Op(models.Row(row))))
		}
	}
	var ops []jepsen.Operation
	for row, in := range c.in {
		if in {
			ops = append(ops, part.Of[row])
		}
	}
	slices.Sort(ops)
	return ops, nil
}

// partOf returns the operations of the part that fails.
func partOf(ctx context.Context, r *report.Result) (*models.Operations, error) {
	if r.Ops != nil {
		return r.Ops, nil
	}
	ops, err := r.Spec.ReadWithin(ctx, r.History)
	if err != nil {
		return nil, err
	}
	for _, part := range ops.Parts() {
		if slices.Contains(part.Of, r.History.OpOf[r.FailEvent.OrNone()]) {
			return part, nil
		}
	}
	return ops, nil
}

// closing adds to a set of operations what the rules for its model require.
type closing struct {
	part *models.Operations
	fail int32
	in   []bool // by row
}

// begun says whether the operation of a row had begun before the failure.
func (c *closing) begun(row models.Row) bool { return c.part.Inv[row] < c.fail }

// close adds the operations that belong to the set, and says whether there were any.
func (c *closing) close() (added bool) {
	missing, traits := c.changing, c.part.Model.Traits()
	switch {
	case fallback.Counts(c.part.Model): // it lacks an update that it leaves out
	case traits.Visibility != nil:
		missing = func() []models.Row { return c.seen(traits.Visibility) }
	case traits.Droppable != nil:
		missing = func() []models.Row { return c.tied(traits.Droppable) }
	}
	for {
		rows := missing()
		if len(rows) == 0 {
			return added
		}
		for _, row := range rows {
			c.in[row] = true
		}
		added = true
	}
}

// left returns the rows outside of the set that had begun, change something, and are asked for.
func (c *closing) left(asked func(row models.Row, op models.Op) bool) (rows []models.Row) {
	for row := range models.Row(c.part.Len()) {
		if op := c.part.Op(row); !c.in[row] && c.begun(row) && c.part.Model.Mutates(op) && asked(row, op) {
			rows = append(rows, row)
		}
	}
	return rows
}

// changing returns all such operations.
func (c *closing) changing() []models.Row {
	return c.left(func(models.Row, models.Op) bool { return true })
}

// look is a view of a cell. It ends when an operation returns. What had returned
// by since was replaced before the operation began.
type look struct{ since, end int32 }

// seen returns the operations that make something that an operation of the set can have seen.
func (c *closing) seen(m *models.Visibility) []models.Row {
	looks, everything := map[models.Cell][]look{}, []look(nil)
	for row, in := range c.in {
		if !in {
			continue
		}
		o := models.Row(row)
		cells, all := m.Sees(nil, c.part.Op(o))
		if all {
			everything = append(everything, look{-1, c.part.Res[o]})
		}
		for _, cell := range cells {
			looks[cell] = append(looks[cell], look{c.replaced(m, cell.Place, c.part.Inv[o]), c.part.Res[o]})
		}
	}
	var made []models.Cell
	return c.left(func(row models.Row, op models.Op) bool {
		made = m.Makes(made[:0], op)
		visible := func(l look) bool { return c.part.Inv[row] < l.end && c.part.Res[row] > l.since }
		return len(made) > 0 && slices.ContainsFunc(everything, visible) ||
			slices.ContainsFunc(made, func(cell models.Cell) bool { return slices.ContainsFunc(looks[cell], visible) })
	})
}

// replaced returns the latest beginning of an operation of the set that replaces
// what is at a place and returned before an event. It returns -1 if there is none.
func (c *closing) replaced(m *models.Visibility, place, before int32) int32 {
	since := int32(-1)
	for row, in := range c.in {
		if in && c.part.Res[row] < before && slices.ContainsFunc(m.Makes(nil, c.part.Op(models.Row(row))), func(cell models.Cell) bool { return cell.Place == place }) {
			since = max(since, c.part.Inv[row])
		}
	}
	return since
}

// tied returns the operations that touch a value of the set, and those that may
// touch any value. For a bag it returns the latter only if the bag was found empty.
func (c *closing) tied(m *models.Droppable) []models.Row {
	values, everything, empties := map[int32]bool{}, false, false
	for row, in := range c.in {
		if !in {
			continue
		}
		op := c.part.Op(models.Row(row))
		some, all := m.Touches(op)
		everything = everything || all
		empties = empties || len(some) == 0 && !c.part.Model.Mutates(op)
		for _, value := range some {
			values[value] = true
		}
	}
	_, bag := models.ShapeOf[models.BagShape](c.part.Model)
	return c.left(func(_ models.Row, op models.Op) bool {
		some, all := m.Touches(op)
		if len(some) == 0 {
			return !bag || empties
		}
		return all || everything || slices.ContainsFunc(some, func(value int32) bool { return values[value] })
	})
}

// fails says whether the set is not linearizable up to the failure.
func (c *closing) fails(ctx context.Context) bool {
	var rows []models.Row
	for row, in := range c.in {
		if in {
			rows = append(rows, models.Row(row))
		}
	}
	a := configs.Window{MaxSteps: maxSteps}.Decide(ctx, c.part.Select(rows).Prefix(c.fail).Operations, fallback.Limits{})
	return a.Verdict != jepsen.Valid
}
