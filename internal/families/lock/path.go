package lock

import (
	"context"

	"clew/fastpath"
	"clew/models"
)

// Path is the family of locks.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	switch s := shape.(type) {
	case models.SemaphoreShape:
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			return semaphore(ctx, c, s, want)
		}, ""
	case models.OwnerLockShape:
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			return ownerLock(ctx, c, s, want)
		}, ""
	case models.FencedLockShape:
		return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
			return fencedLock(ctx, c, s, want)
		}, ""
	}
	return nil, ""
}
