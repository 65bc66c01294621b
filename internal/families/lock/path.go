package lock

import (
	"clew/fastpath"
	"clew/models"
)

// Path is the family of locks.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	switch s := shape.(type) {
	case models.SemaphoreShape:
		path = fastpath.PathOf(s, semaphore)
	case models.OwnerLockShape:
		path = fastpath.PathOf(s, ownerLock)
	case models.FencedLockShape:
		path = fastpath.PathOf(s, fencedLock)
	}
	return path, ""
}
