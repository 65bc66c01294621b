package forget

import (
	"slices"

	"clew/edn"
	"clew/models"
)

// # Ids
//
// An operation that returned gave out its id, and any order that respects time will do. So all that returned are
// forgotten, except for their ids: a later answer fails if it has one of these. What is kept is what is open.
//
// If ids grow, an answer fails if its id was returned already, or is not greater than all that were returned before it
// began. Of what is over (see past.over), only the greatest id is kept: whatever returns later began after that was
// returned, so it fails with that id and all smaller ones.

// distinctIDs does what Needed does for ids that are all different. It settles nothing if an id has several spellings.
func distinctIDs(part *models.Operations, decided int32) Kept {
	kept, given := Kept{Rows: make([]bool, part.Len())}, Given{}
	if last := stateOf(part.Model); last != nil {
		given = last.Given
	}
	v := part.History.Values
	var numbers []int64
	var texts []string
	for row, res := range part.Res {
		if kept.Rows[row] = res >= decided && res != models.Open; kept.Rows[row] || res == models.Open {
			continue
		}
		id := edn.ID(part.A[row])
		switch n, isInt := v.Int(id); {
		case isInt:
			numbers = append(numbers, n)
		case !HasOneSpelling(v, id):
			return Kept{}
		default:
			texts = append(texts, v.Text(id))
		}
	}
	slices.Sort(numbers)
	given.add(numbers, texts)
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

// HasOneSpelling says whether nothing that is spelled otherwise equals a value.
func HasOneSpelling(v *edn.Values, value edn.ID) bool {
	switch v.Kind(value) {
	case edn.KindNil, edn.KindBool, edn.KindString, edn.KindKeyword, edn.KindSymbol:
		return true
	}
	return false
}

// Given are ids that were given out.
type Given struct {
	Numbers spans           // integers
	Texts   map[string]bool // others
}

// add adds sorted integers, and texts.
func (g *Given) add(numbers []int64, texts []string) {
	g.Numbers = g.Numbers.with(numbers)
	if g.Texts == nil && len(texts) > 0 {
		g.Texts = map[string]bool{}
	}
	for _, text := range texts {
		g.Texts[text] = true
	}
}

// among returns those ids of some operations that were given out, in ascending order of their classes.
func (g *Given) among(part *models.Operations) (ids []int32) {
	v := part.History.Values
	for _, class := range part.A {
		id := edn.ID(class)
		if n, isInt := v.Int(id); isInt && g.Numbers.has(n) || !isInt && len(g.Texts) > 0 && g.Texts[v.Text(id)] {
			ids = append(ids, class)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
