package scan

import (
	"encoding/binary"
	"slices"
)

// Prefix is how lines begin: with the same text, except for some digits.
type Prefix struct {
	n     int // how long it is
	words []prefixWord
}

// prefixWord is eight bytes. In care are the bits that must be those of is: of each byte all, or the upper half if it may be any digit, or
// none behind the prefix. In digits are the lower halves of those that may be any digit.
type prefixWord struct{ is, care, digits uint64 }

// NewPrefix returns the Prefix of lines that begin with a text. If any is set, each digit may be any other.
func NewPrefix(text []byte, any bool) Prefix {
	p := Prefix{n: len(text), words: make([]prefixWord, (len(text)+7)/8)}
	for i, c := range text {
		w, shift := &p.words[i/8], 8*(i%8)
		w.is |= uint64(c) << shift
		if any && c-'0' < 10 {
			w.is &^= 0x0f << shift
			w.care |= 0xf0 << shift
			w.digits |= 0x0f << shift
		} else {
			w.care |= 0xff << shift
		}
	}
	return p
}

// Equal reports whether two prefixes are those of the same texts.
func (p *Prefix) Equal(q Prefix) bool { return p.n == q.n && slices.Equal(p.words, q.words) }

// At returns where the prefix at i ends, or -1 if there is another text, or one that ends soon.
func (p *Prefix) At(text []byte, i int) (end int) {
	const six, ten = 0x0606060606060606, 0x1010101010101010
	if i+8*len(p.words) > len(text) {
		return -1
	}
	for k := range p.words {
		p, w := &p.words[k], binary.LittleEndian.Uint64(text[i+8*k:])
		// The lower half of what may be any digit is at most 9 if adding 6 does not carry.
		if (w^p.is)&p.care != 0 || (w&p.digits+p.digits&six)&ten != 0 {
			return -1
		}
	}
	return i + p.n
}
