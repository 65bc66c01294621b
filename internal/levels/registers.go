package levels

import (
	"context"
	"fmt"

	"clew/internal/families/transaction"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Refuse returns an error if a level is not decided for a model. Strict serializability is linearizability, of any model.
func Refuse(m models.Model, name string, level models.Level) error {
	_, registers := models.ShapeOf[models.TxnRegistersShape](m)
	switch {
	case !level.Weaker(), AllOf(m), registers && level == models.Serializable:
		return nil
	case registers:
		return fmt.Errorf("of %s, clew decides the consistency levels %s and %s, not %s", name, models.StrictSerializable, models.Serializable, level)
	}
	return fmt.Errorf("the consistency level %s is about transactions whose values tell the order of updates; %s has none", level, name)
}

// registers decides whether transactions on registers are serializable.
func registers(ctx context.Context, ops *models.Operations, shape models.TxnRegistersShape) Decision {
	f := transaction.Serializable(ctx, &ops.Columns, shape)
	d := Decision{Verdict: f.Verdict, Order: f.Witness, Shown: f.Core, Checked: f.Verdict == jepsen.Valid, Levels: &report.Levels{Asked: models.Serializable}}
	if f.Why != nil {
		d.Why = f.Why.Tell(ops.Teller())
	}
	switch f.Verdict {
	case jepsen.Valid:
		d.Levels.Strongest = []models.Level{models.Serializable}
	case jepsen.Invalid:
		d.Levels.Not, d.Kind = []models.Level{models.Serializable}, f.Why.Name
	default:
		d.Cause = jepsen.Ambiguous
	}
	return d
}
