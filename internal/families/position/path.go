package position

import (
	"clew/fastpath"
	"clew/models"
)

// Path is the family of models whose operations say where they stand.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	if s, ok := shape.(models.PositionShape); ok {
		path = fastpath.PathOf(s, decide)
	}
	return path, ""
}
