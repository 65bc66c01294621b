// Package layouts learns how texts are printed that are nearly all alike: the same keys in the
// same order, with the same text between the values. A reader learns the layouts of texts that
// it has read in a general way. It reads the next ones by comparing what stands between their
// values, and stops at anything unusual, which it then reads in the general way.
package layouts

import "encoding/binary"

// Max bounds the steps of a tree. If a history has more ways to print an op, those met later
// are read in the general way. A step's number fits in a byte.
const Max = 64

// Tree holds what has been learned: steps, from the root. T says what a step's text means.
type Tree[T any] struct {
	Root  Step[T]
	All   []*Step[T] // by number
	Known int        // how many steps there are
}

// Step is the text before a value, or at the end, shared by texts that are alike up to that
// point.
type Step[T any] struct {
	words [2]uint64 // the text in little-endian order, if short
	masks [2]uint64
	First *Step[T] // the step after this one that was met last, nil if there is none
	Size  int      // of the text
	About T

	Text   string
	Number int
	Parent *Step[T]
	next   []*Step[T]
}

// Grow returns the step after another one, or nil if there are too many. It says whether the
// step is new.
func (t *Tree[T]) Grow(parent *Step[T], text string, about T) (step *Step[T], isNew bool) {
	for _, old := range parent.next {
		if old.Text == text {
			return old, false
		}
	}
	if t.Known == Max {
		return nil, false
	}
	t.Known++
	next := &Step[T]{Parent: parent, Number: len(t.All), Size: len(text), Text: text, About: about}
	next.words[0] = 1 // which no word is without a mask
	if len(text) <= 16 {
		var word, mask [16]byte
		for i := range copy(word[:], text) {
			mask[i] = 0xff
		}
		for i := range next.words {
			next.words[i] = binary.LittleEndian.Uint64(word[8*i:])
			next.masks[i] = binary.LittleEndian.Uint64(mask[8*i:])
		}
	}
	parent.next = append(parent.next, next)
	parent.First = parent.next[0]
	t.All = append(t.All, next)
	return next, true
}

// At reports whether the step's text stands at i.
func (p *Step[T]) At(data []byte, i int) bool {
	if d := data[i:]; p.masks[0] != 0 && len(d) >= 16 {
		return binary.LittleEndian.Uint64(d)&p.masks[0] == p.words[0] && binary.LittleEndian.Uint64(d[8:])&p.masks[1] == p.words[1]
	} else {
		return len(d) >= len(p.Text) && string(d[:len(p.Text)]) == p.Text
	}
}

// Is reports whether the step's text is short, and stands in 16 bytes, given as two words in
// little-endian order.
func (p *Step[T]) Is(first, second uint64) bool {
	return first&p.masks[0] == p.words[0] && second&p.masks[1] == p.words[1]
}

// After returns the step after p whose text stands at i, and makes it the first; nil if there
// is none. Callers try First themselves, which costs them no call.
func (p *Step[T]) After(data []byte, i int) *Step[T] {
	for k, next := range p.next {
		if next.At(data, i) {
			p.next[0], p.next[k] = next, p.next[0]
			p.First = next
			return next
		}
	}
	return nil
}
