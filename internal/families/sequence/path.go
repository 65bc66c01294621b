package sequence

import (
	"clew/fastpath"
	"clew/models"
)

// Path is the family of sequences.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	switch s := shape.(type) {
	case models.CounterShape:
		path = fastpath.PathOf(s, counter)
	case models.IDsShape:
		if path = fastpath.PathOf(s, distinctIDs); s.Growing {
			path = fastpath.PathOf(s, growingIDs)
		}
	case models.LogShape:
		path = fastpath.PathOf(s, decideLogs)
	}
	return path, ""
}
