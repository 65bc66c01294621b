package position

import (
	"fmt"

	"clew/fastpath"
	"clew/models"
)

// said returns what a position is called and the one that an operation says.
func said(t models.Teller, row models.Row) (name string, at int64) {
	p := t.Positions()
	at, _ = p.Of(t.Op(row))
	return p.Name, at
}

// Backwards (late, early): late was invoked after early had returned, but says an earlier position, or the same although
// it is an update.
var Backwards = &fastpath.Pattern{Name: "position-backwards", Relate: fastpath.Against(1, 0), ChooseKind: backwards, Choose: func(t models.Teller, v []models.Row) string {
	name, late := said(t, v[0])
	_, early := said(t, v[1])
	if late == early {
		return fmt.Sprintf("{name 0} says that it made %s %d, which {name 1} had said before it began", name, late)
	}
	return fmt.Sprintf("{name 0} says %s %d, although {name 1} had said %d before it began", name, late, early)
}}

func backwards(t models.Teller, v []models.Row) models.Anomaly {
	if t.Positions().Moves(t.Op(v[0])) == models.NeverMoves {
		return models.StaleRead
	}
	return models.NotMonotonic
}

// Twice: both operations say that they made the same position.
var Twice = &fastpath.Pattern{Name: "position-twice", Kind: models.ReusedID, Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	return fmt.Sprintf("{name 0} and {name 1} cannot both have made %s %d", name, at)
}}

// BeforeFirst: the operation says a position before the first.
var BeforeFirst = &fastpath.Pattern{Name: "position-before-first", Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	return fmt.Sprintf("{name 0} says %s %d, which is not after the initial one", name, at)
}}

// NoUpdate (op, from): some position between from (Initial: the initial one) and op was made by nothing that had begun
// by then.
var NoUpdate = &fastpath.Pattern{Name: "position-missing", Kind: models.GhostUpdate, Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	from := "the initial one"
	if v[1] >= 0 {
		_, below := said(t, v[1])
		from = fmt.Sprintf("%d, which {name 1} says", below)
	}
	return fmt.Sprintf("{name 0} says %s %d, but fewer updates than that had begun since %s", name, at, from)
}}

// Unmade (op, before): op shows a value that nothing can have left there since before (Initial, or Missing: at the
// position that op names).
var Unmade = &fastpath.Pattern{Name: "position-unmade", Bare: true, Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	if v[1] < 0 {
		return fmt.Sprintf("{name 0} says %s %d, but no update up to there can have left what it shows", name, at)
	}
	_, before := said(t, v[1])
	return fmt.Sprintf("{name 0} says %s %d, but no update can have left what it shows since {name 1}, which says %d", name, at, before)
}}

// OtherAnswer: in the order of positions, the operation has another answer.
var OtherAnswer = &fastpath.Pattern{Name: "position-answer", Bare: true, Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	return fmt.Sprintf("{name 0} says %s %d, but in the order of the %ss it cannot have this answer", name, at, name)
}}

// Never: the operation says no position, and its answer fits none at which it can have happened.
var Never = &fastpath.Pattern{Name: "position-never", Bare: true, Choose: func(t models.Teller, v []models.Row) string {
	return fmt.Sprintf("{name 0} cannot have this answer at any %s at which it can have happened", t.Positions().Name)
}}

// Untold: the update returned and does not say its position.
var Untold = &fastpath.Pattern{Choose: func(t models.Teller, v []models.Row) string {
	return fmt.Sprintf("{name 0} is an update that does not say its %s", t.Positions().Name)
}}

// Unplaced: it is not clear which update left what the operation shows.
var Unplaced = &fastpath.Pattern{Says: "it is not clear which update that never returned explains {name 0}"}

// Unclear: it is not clear which of several updates filled a gap.
var Unclear = &fastpath.Pattern{Says: "it is not clear which updates that never returned made the positions that nothing says"}
