package howfar

import (
	"cmp"
	"slices"

	"clew/jepsen"
	"clew/models"
)

// # Forgotten updates
//
// An update that was acknowledged is forgotten if it need not have happened: it counts as open for ever, and keeps its
// answer in case it did. That only adds orders, so what is linearizable stays so if more is forgotten. Then giving back
// updates one after the other, as long as the rest is linearizable, leaves a set of which none can be given back. Earlier
// ones are given back first: what is lost in a crash is what came last. Several are tried at once, and halves of these if
// that fails.
//
// Cost: for k updates of n, O(k log n) decisions.

// Loss is a choice of acknowledged updates without which operations are linearizable.
type Loss struct {
	Rows []models.Row // in the order in which they returned
	// Verdict is Valid if that helps, Invalid if the operations are not linearizable even if all updates are forgotten.
	Verdict jepsen.Verdict
	// Smallest says that none of them can be given back. Otherwise that is not known.
	Smallest bool
}

// Forgotten returns which acknowledged updates must be forgotten for operations to be linearizable.
func Forgotten(part *models.Operations, decide Decide) Loss {
	f := forgetting{Operations: *part, was: part.Res, decide: decide, smallest: true}
	f.Res = slices.Clone(part.Res)
	updates := Acknowledged(part)
	for _, row := range updates {
		f.Res[row] = models.Open
	}
	verdict := decide(&f.Operations)
	if verdict != jepsen.Valid {
		return Loss{Verdict: verdict}
	}
	f.giveBack(updates)
	return Loss{f.lost, verdict, f.smallest}
}

// Acknowledged returns the updates that were acknowledged, in the order in which they returned.
func Acknowledged(ops *models.Operations) (rows []models.Row) {
	for row, res := range ops.Res {
		if res != models.Open && ops.Model.Mutates(ops.Op(models.Row(row))) {
			rows = append(rows, models.Row(row))
		}
	}
	slices.SortFunc(rows, func(x, y models.Row) int { return cmp.Compare(ops.Res[x], ops.Res[y]) })
	return rows
}

type forgetting struct {
	models.Operations
	was      []int32 // Res, before any were forgotten
	decide   Decide
	lost     []models.Row
	smallest bool
}

// giveBack gives back as many of some updates as possible.
func (f *forgetting) giveBack(rows []models.Row) {
	if len(rows) == 0 {
		return
	}
	for _, row := range rows {
		f.Res[row] = f.was[row]
	}
	verdict := f.decide(&f.Operations)
	if verdict == jepsen.Valid {
		return
	}
	for _, row := range rows {
		f.Res[row] = models.Open
	}
	if len(rows) == 1 {
		f.lost = append(f.lost, rows[0])
		f.smallest = f.smallest && verdict == jepsen.Invalid
		return
	}
	f.giveBack(rows[:len(rows)/2])
	f.giveBack(rows[len(rows)/2:])
}
