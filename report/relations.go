package report

import (
	"context"
	"slices"

	"clew/jepsen"
	"clew/models"
)

// Relation is a relation between two operations of a
// history: a step of the contradiction in a failure.
type Relation struct {
	Kind     RelationKind
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
