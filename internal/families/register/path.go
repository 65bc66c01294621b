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
		path = fastpath.PathOf(s, plainRegister)
	case models.VersionsShape:
		path = fastpath.PathOf(s, versionedRegister)
	}
	return path, ""
}

// plainRegister decides a history of Read, Write and perhaps CAS.
func plainRegister(ctx context.Context, c *models.Columns, shape models.RegisterShape, want fastpath.Want) fastpath.Decision {
	algorithm := register
	if shape.CAS {
		algorithm = casRegister
	}
	return algorithm.Run(fastpath.NewInput(ctx, c, shape.Init), want)
}
