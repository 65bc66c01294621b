package home

import (
	"slices"

	"clew/edn"
	"clew/models"
)

// AppendsToLists says whether the transactions of a history append to lists: whether their first step that is not a read is
// [:append k v].
func AppendsToLists(s *models.Seen) bool {
	for v, txn := range s.Values(":txn") {
		for _, step := range v.Items(txn) {
			if IsAppend(v, step) {
				return true
			}
			if parts := v.Items(step); len(parts) > 0 && v.Kind(parts[0]) == edn.KindKeyword && v.Str(parts[0]) != "r" && v.Str(parts[0]) != "read" {
				return false
			}
		}
	}
	return false
}

// OnlyReadsLists reports whether the transactions of a history only read, and some of them lists: then nothing says whether
// these are appended to, or written as a whole.
func OnlyReadsLists(s *models.Seen) (lists bool) {
	for v, txn := range s.Values(":txn") {
		for _, step := range v.Items(txn) {
			parts := v.Items(step)
			if len(parts) != 3 || v.Kind(parts[0]) != edn.KindKeyword || v.Str(parts[0]) != "r" && v.Str(parts[0]) != "read" {
				return false
			}
			lists = lists || v.Kind(parts[2]) == edn.KindVector || v.Kind(parts[2]) == edn.KindList
		}
	}
	return lists
}

// IsAppend says whether a step of a transaction is [:append k v].
func IsAppend(v *edn.Values, step edn.ID) bool {
	parts := v.Items(step)
	return v.Kind(step) == edn.KindVector && len(parts) == 3 && v.Kind(parts[0]) == edn.KindKeyword && v.Str(parts[0]) == "append"
}

// HasAppends says whether some value of a history has a step [:append k v].
func HasAppends(s *models.Seen) bool {
	for v, value := range s.AllValues() {
		if slices.ContainsFunc(v.Items(value), func(item edn.ID) bool { return IsAppend(v, item) }) {
			return true
		}
	}
	return false
}
