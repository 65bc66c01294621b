package set

import (
	"context"

	"clew/fastpath"
	"clew/models"
)

// Path is the family of sets.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	switch s := shape.(type) {
	case models.LookupSetShape:
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			return lookupSet(ctx, c, s.Init, want)
		}, ""
	case models.GrowSetShape:
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			return growOnly(ctx, c, s, want)
		}, ""
	}
	return nil, ""
}
