package forget

import (
	"math"

	"clew/models"
)

// # Ids
//
// An operation that returned gave out its id, and any order that respects time will do. So all that returned are
// forgotten, except for their ids: a later answer fails if it has one of these. What is kept is what is open.
//
// If ids grow, an answer fails if its id was returned already, or is not greater than all that were returned before it
// began. Of what is over (see past.over), only the greatest id is kept: whatever returns later began after that was
// returned, so it fails with that id and all smaller ones. So a linearization of all that
// comes may begin with these.

// distinctIDs does what Needed does for ids that are all different. It settles nothing if an id has several spellings.
func distinctIDs(part *models.Operations, decided int32) Kept {
	kept, given := Kept{Rows: make([]bool, part.Len())}, Given{}
	if last := stateOf(part.Model); last != nil {
		given = last.Given
	}
	var ids []int32
	for row, res := range part.Res {
		if kept.Rows[row] = res >= decided && res != models.Open; kept.Rows[row] || res == models.Open {
			continue
		}
		ids = append(ids, part.A[row])
	}
	if !given.add(part.History.Values, ids) {
		return Kept{}
	}
	kept.State = &State{Given: given}
	return kept
}

// growingIDs is the rule for ids that grow.
func growingIDs(p past, numbers []int64, keep []bool) bool {
	greatest := models.Row(-1)
	for row := range models.Row(p.Len()) {
		switch {
		case !p.returned(row):
		case !p.over(row):
			keep[row] = true
		case greatest < 0 || numbers[p.B[row]] > numbers[p.B[greatest]]:
			greatest = row
		}
	}
	if greatest >= 0 {
		keep[greatest] = true
	}
	return true
}

// readyIDs says which ids a linearization may begin with.
func readyIDs(p past, shape models.IDsShape, ready []bool) {
	greatest := int64(math.MinInt64)
	for row := range models.Row(p.Len()) {
		if shape.Growing && p.over(row) {
			greatest = max(greatest, shape.Numbers[p.B[row]])
		}
	}
	for row := range models.Row(p.Len()) {
		ready[row] = p.returned(row) && (!shape.Growing || shape.Numbers[p.B[row]] <= greatest)
	}
}
