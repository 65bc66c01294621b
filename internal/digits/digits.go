// Package digits reads decimal digits eight at once, as the lowest bytes of a word.
package digits

import (
	"encoding/binary"
	"math/bits"
)

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

// Number returns the number of up to 16 digits that is all of a text. It may begin with zeros.
func Number(text []byte) (n int64, is bool) {
	switch k := len(text) - 8; {
	case k > 8:
		return 0, false
	case k >= 0: // the first 8 and the last 8, which overlap
		first, last := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[k:])
		return int64(Value(first, k)*100_000_000 + Value(last, 8)), Leading(first) == 8 && Leading(last) == 8
	}
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = 10*n + int64(c)
	}
	return n, len(text) > 0
}

// Powers are powers of 10.
var Powers = [...]int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}
