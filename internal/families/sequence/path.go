package sequence

import (
	"context"

	"clew/fastpath"
	"clew/models"
)

// Path is the family of sequences.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	switch s := shape.(type) {
	case models.CounterShape:
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			return counter(ctx, c, s, want)
		}, ""
	case models.IDsShape:
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			if s.Growing {
				return growingIDs(ctx, c, s.Numbers, want)
			}
			return distinctIDs(ctx, c, want)
		}, ""
	case models.LogShape:
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			return decideLogs(ctx, c, s, want)
		}, ""
	}
	return nil, ""
}
