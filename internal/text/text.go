// Package text shortens text for people.
package text

import "unicode/utf8"

// Shorten is a text of at most max characters.
func Shorten(s string, max int) string {
	if utf8.RuneCountInString(s) > max {
		s = string([]rune(s)[:max-1]) + "…"
	}
	return s
}
