// Package set decides sets in near-linear time: sets that are asked element by
// element, and sets that only grow and are read as a whole. It exports Path, and
// the violations that it finds. A caller can distinguish them with a type switch.
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
