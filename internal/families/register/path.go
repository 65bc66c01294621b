package register

import (
	"context"

	"clew/fastpath"
	"clew/models"
)

// Path is the family of registers.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	switch s := shape.(type) {
	case models.RegisterShape:
		algorithm := register
		if s.CAS {
			algorithm = casRegister
		}
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			return algorithm.Run(ctx, c, s.Init, want)
		}, ""
	case models.VersionsShape:
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			return versionedRegister(ctx, c, s, want)
		}, ""
	}
	return nil, ""
}
