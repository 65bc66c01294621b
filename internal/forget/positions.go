package forget

import (
	"context"

	"clew/internal/engines/configs"
	"clew/internal/families/position"
	"clew/models"
)

// # Positions
//
// Operations that say positions go on from the last position up to which all updates are certain
// (internal/families/position/before.go). The state there is kept as a path of the model without positions. The first operation
// of the path only shows that positions are told. Where a crashed update may have made a position, everything is held from there on.

// positions does what Needed does for a model that counts the updates of another one.
func positions(part *models.Operations, shape models.PositionShape, decided int32) Kept {
	m := shape.Model.(models.Placed)
	past, ok := position.Before(context.Background(), &part.Columns, shape, decided)
	if !ok {
		return Kept{}
	}
	shows, updates := models.Row(-1), configs.Past{State: m.UncountState(past.State)}
	p := m.Traits().Positions
	for _, row := range past.Order {
		if _, told := p.Of(part.Op(row)); told {
			shows = row
		}
		if p.Moves(part.Op(row)) != models.NeverMoves {
			updates.Order = append(updates.Order, row)
		}
	}
	path, ok := pathTo(m.Uncounted(), updates, func(row models.Row) models.Op { return m.Uncount(part.Op(row)) })
	_, resumes := m.Uncounted().(*resumed)
	switch {
	case !ok || !resumes && shows < 0:
		return Kept{}
	case resumes:
		for i := range path.Old {
			path.Old[i]++
		}
		path.Old = append([]int{0}, path.Old...)
	default:
		path.Rows = append([]models.Row{shows}, path.Rows...)
	}
	if d := part.Model.Traits().Declared; d != nil {
		d.Doubt()
	}
	kept := settled(&part.Columns, decided, past.Done, &State{Number: past.Position, IsPath: true}, true)
	kept.Path, kept.At = path, past.State
	for _, row := range path.Rows {
		kept.Rows[row] = true
	}
	return kept
}

// placedFrom returns a model that counts updates as it goes on from a state.
func placedFrom(m models.Placed, s *State, path []models.Op) models.Model {
	bare := make([]models.Op, 0, len(path))
	for _, op := range path[1:] {
		bare = append(bare, m.Uncount(op))
	}
	return m.Begin(s.Number, along(m.Uncounted(), s, bare))
}
