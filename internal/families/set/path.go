package set

import (
	"clew/fastpath"
	"clew/models"
)

// Path is the family of sets.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	switch s := shape.(type) {
	case models.LookupSetShape:
		path = fastpath.PathOf(s, lookupSet)
	case models.GrowSetShape:
		path = fastpath.PathOf(s, growOnly)
	}
	return path, ""
}
