// Package digits reads decimal digits eight at once, as the lowest bytes of a word.
package digits

import "math/bits"

// zeros is eight times the character 0.
const zeros = 0x3030303030303030

// Leading returns how many characters of w, from the lowest byte on, are digits.
func Leading(w uint64) int {
	x := w ^ zeros
	others := (x + 0x7676767676767676 | x) & 0x8080808080808080 // Carries go up only.
	return bits.TrailingZeros64(others) / 8
}

// Value returns the number whose n digits, 1 to 8, are the lowest bytes of w.
func Value(w uint64, n int) uint64 {
	// The digits go to the end of the word, with zeros before them, and are then
	// added up in pairs, fours and eights.
	w = (w ^ zeros) << (64 - 8*n)
	w = (w*10 + w>>8) & 0x00ff00ff00ff00ff
	w = (w*100 + w>>16) & 0x0000ffff0000ffff
	return (w*10000 + w>>32) & 0xffffffff
}

// Powers are powers of 10.
var Powers = [...]int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}
