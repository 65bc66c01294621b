package position

import (
	"fmt"
	"strings"

	"clew/fastpath"
	"clew/models"
)

// said returns what a position is called and the one that an operation says.
func said(t models.Teller, row models.Row) (name string, at int64) {
	p := t.Positions()
	at, _ = p.Of(t.Op(row))
	return p.Name, at
}

// draws returns the Draws of a pattern whose first operation is what pictures speak of. If another one fails first, they
// name it.
func draws(says func(t models.Teller, v []models.Row) string) func(models.Teller, *fastpath.Finding, models.Row, string) string {
	return func(t models.Teller, f *fastpath.Finding, failing models.Row, _ string) string {
		if failing != f.Rows[0] {
			return "contradicts " + t.Name(f.Rows[0])
		}
		return says(t, f.Rows)
	}
}

// Backwards (late, early): late was invoked after early had returned, but says an earlier position, or the same although
// it is an update.
var Backwards = &fastpath.Pattern{Name: "position-backwards", Relate: fastpath.Against(1, 0), ChooseKind: backwards, Draws: draws(ahead), Choose: func(t models.Teller, v []models.Row) string {
	name, late := said(t, v[0])
	_, early := said(t, v[1])
	if late == early {
		return fmt.Sprintf("{name 0} says that it made %s %d, which {name 1} had said before it began", name, late)
	}
	return fmt.Sprintf("{name 0} says %s %d, although {name 1} had said %d before it began", name, late, early)
}}

// ahead says what position was told before.
func ahead(t models.Teller, v []models.Row) string {
	name, late := said(t, v[0])
	_, early := said(t, v[1])
	if late == early {
		return fmt.Sprintf("%s %d was there already", name, late)
	}
	return fmt.Sprintf("the %s was %d already, not %d", name, early, late)
}

func backwards(t models.Teller, v []models.Row) models.Anomaly {
	if t.Positions().Moves(t.Op(v[0])) == models.NeverMoves {
		return models.StaleRead
	}
	return models.NotMonotonic
}

// Twice: both operations say that they made the same position.
var Twice = &fastpath.Pattern{Name: "position-twice", Kind: models.ReusedID, Draws: another, Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	return fmt.Sprintf("{name 0} and {name 1} cannot both have made %s %d", name, at)
}}

// another says that another operation made a position.
func another(t models.Teller, f *fastpath.Finding, failing models.Row, _ string) string {
	name, at := said(t, f.Rows[0])
	return fmt.Sprintf("another update made %s %d", name, at)
}

// BeforeFirst: the operation says a position before the first.
var BeforeFirst = &fastpath.Pattern{Name: "position-before-first", Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	return fmt.Sprintf("{name 0} says %s %d, which is not after the initial one", name, at)
}}

// NoUpdate (op, from): some position between from (Initial: the initial one) and op was made by nothing that had begun
// by then.
var NoUpdate = &fastpath.Pattern{Name: "position-missing", Kind: models.GhostUpdate, Draws: draws(missing), Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	from := "the initial one"
	if v[1] >= 0 {
		_, below := said(t, v[1])
		from = fmt.Sprintf("%d, which {name 1} says", below)
	}
	return fmt.Sprintf("{name 0} says %s %d, but fewer updates than that had begun since %s", name, at, from)
}}

// missing says that there are too few updates.
func missing(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	if v[1] < 0 {
		return fmt.Sprintf("too few updates for %s %d", name, at)
	}
	_, below := said(t, v[1])
	return fmt.Sprintf("too few updates from %s %d to %d", name, below, at)
}

// Unmade (op, before): op shows a value that nothing can have left there since before (Initial, or Missing: at the
// position that op names).
var Unmade = &fastpath.Pattern{Name: "position-unmade", Bare: true, Draws: unmade, Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	if v[1] < 0 {
		return fmt.Sprintf("{name 0} says %s %d, but no update up to there can have left what it shows", name, at)
	}
	_, before := said(t, v[1])
	return fmt.Sprintf("{name 0} says %s %d, but no update can have left what it shows since {name 1}, which says %d", name, at, before)
}}

// unmade says something else than a model that says that the position is wrong.
func unmade(t models.Teller, f *fastpath.Finding, failing models.Row, says string) string {
	name, at := said(t, f.Rows[0])
	switch {
	case failing != f.Rows[0]:
		return "contradicts " + t.Name(f.Rows[0])
	case strings.HasPrefix(says, "the "+name+" is ") || strings.HasPrefix(says, "the next "+name+" is "):
		return fmt.Sprintf("no update left what it shows at %s %d", name, at)
	}
	return ""
}

// OtherAnswer (op, filler): in the order of positions, the operation has another answer. If there is a second operation, it
// is the only one that can have made a position that nothing tells, and so leaves what contradicts the first.
var OtherAnswer = &fastpath.Pattern{Name: "position-answer", Bare: true, Draws: otherwise, Choose: func(t models.Teller, v []models.Row) string {
	name, at := said(t, v[0])
	says := fmt.Sprintf("{name 0} says %s %d, but in the order by %s it cannot have this answer", name, at, name)
	if len(v) > 1 {
		says += fmt.Sprintf(": only {name 1}, which never returned, can have made a %s that no answer says", name)
	}
	return says
}}

// otherwise says why the model refuses the answer.
func otherwise(t models.Teller, f *fastpath.Finding, failing models.Row, _ string) string {
	if failing != f.Rows[0] {
		return "contradicts " + t.Name(f.Rows[0])
	}
	return t.Because(f.State, failing)
}

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
