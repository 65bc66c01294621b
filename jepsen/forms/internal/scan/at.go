package scan

import (
	"encoding/binary"
	"math/bits"

	"clew/internal/digits"
)

// The functions of this file read at an index of a text, eight bytes at once. They read what
// nearly all lines consist of, and say -1 for the rest, which the general readers read.

// Numbered holds words that have been seen, each with a number.
type Numbered struct {
	slots [64]numbered
}

type numbered struct {
	word string
	n    int32
}

// slot returns the slot for a word that begins with the bytes of w and has n bytes.
func (k *Numbered) slot(w uint64, n int) *numbered {
	if n < 8 {
		w &= 1<<(8*n) - 1
	}
	return &k.slots[(w+uint64(n))*0x9e3779b97f4a7c15>>58]
}

// Add keeps the number of a word.
func (k *Numbered) Add(word []byte, n int32) {
	var first [8]byte
	copy(first[:], word)
	*k.slot(binary.LittleEndian.Uint64(first[:]), len(word)) = numbered{string(word), n}
}

// At returns the number of the word at i, and where the word ends, or -1 if it is not
// among them.
func (k *Numbered) At(text []byte, i int) (n int32, end int) {
	if end = nameEnd(text, i); end < 0 {
		return 0, -1
	}
	first := binary.LittleEndian.Uint64(text[i:])
	if slot := k.slot(first, end-i); slot.word == string(text[i:end]) && end > i {
		return slot.n, end
	}
	return 0, -1
}

// nameEnd returns where the name at i ends, or -1 if the text ends first.
func nameEnd(text []byte, i int) int {
	for i+8 <= len(text) {
		n := nameBytes(binary.LittleEndian.Uint64(text[i:]))
		if i += n; n < 8 {
			return i
		}
	}
	return -1
}

// nameBytes returns how many bytes of w, from the lowest, come before the first
// blank, lower byte or opening parenthesis. These are not part of a name.
func nameBytes(w uint64) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	paren := w ^ '('*low
	return bits.TrailingZeros64(((w-(' '+1)*low)&^w|(paren-low)&^paren)&high) / 8
}

// ShortInt returns the integer at i, which has at most 16 digits, and where it
// ends, or -1 if there is none.
func ShortInt(text []byte, i int) (n int64, end int) {
	if i+24 > len(text) {
		return 0, -1
	}
	sign := int64(0)
	if text[i] == '-' {
		i, sign = i+1, -1
	}
	w := binary.LittleEndian.Uint64(text[i:])
	k := digits.Leading(w)
	if k == 0 {
		return 0, -1
	}
	n, i = int64(digits.Value(w, k)), i+k
	if k == 8 {
		w = binary.LittleEndian.Uint64(text[i:])
		if k = digits.Leading(w); k > 0 {
			n, i = n*digits.Powers[k]+int64(digits.Value(w, k)), i+k
		}
	}
	return n ^ sign - sign, i
}

// PrintedInt does the same as ShortInt, but rejects leading zeros.
func PrintedInt(text []byte, i int) (n int64, end int) {
	if n, end = ShortInt(text, i); end > i+1 && (text[i] == '0' || text[i] == '-' && text[i+1] == '0') {
		return 0, -1
	}
	return n, end
}

// Past returns where the blanks at i end, or -1 if there are none.
func Past(text []byte, i int) int {
	if i < 0 {
		return -1
	}
	if i+1 < len(text) && text[i] == ' ' && text[i+1] > ' ' {
		return i + 1
	}
	begin := i
	for i < len(text) && IsBlank(text[i]) {
		i++
	}
	if i == begin {
		return -1
	}
	return i
}

// WordAt returns the text between the blanks at i and the next blank, and where it
// ends, or -1 if it is empty.
func WordAt(text []byte, i int) (word []byte, end int) {
	if i = Past(text, i); i < 0 {
		return nil, -1
	}
	if end = nameEnd(text, i); end <= i {
		return nil, -1
	}
	return text[i:end], end
}

// LineEnd returns where the next line begins if only blanks are left of this one,
// and -1 otherwise.
func LineEnd(text []byte, i int) int {
	for i < len(text) && IsBlank(text[i]) {
		i++
	}
	if i < len(text) && text[i] == '\n' {
		return i + 1
	}
	return -1
}
