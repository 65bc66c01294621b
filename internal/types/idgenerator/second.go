package idgenerator

import (
	"slices"

	"clew/internal/second"
)

// secondIDs holds the ids that were handed out.
func secondIDs(o second.Options, s []string, a second.Op) [][]string {
	if a.Crashed {
		return [][]string{s}
	}
	id := a.Value.Canon()
	for _, earlier := range s {
		if earlier == id || o.Growing && second.Int(earlier) > second.Int(id) {
			return nil
		}
	}
	return [][]string{second.Sorted(append(slices.Clone(s), id))}
}
