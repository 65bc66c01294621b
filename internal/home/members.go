package home

import (
	"math/bits"

	"clew/models"
)

// Members is the state of a set under way: a bit for each value class, in pages. A page
// exists only if some of its bits have been set. So a set of a few classes is small,
// however many classes there are.
type Members struct {
	pages []*[pageWords]uint64
	Count int
}

const (
	pageWords = 64
	PageBits  = 64 * pageWords
)

func NewMembers(s models.State) *Members {
	in := &Members{}
	for _, x := range s {
		in.Add(x)
	}
	return in
}

func (in *Members) Has(x int32) bool {
	page := int(x) / PageBits
	return page < len(in.pages) && in.pages[page] != nil && in.pages[page][x%PageBits/64]>>(x%64)&1 != 0
}

func (in *Members) Add(x int32) {
	page := int(x) / PageBits
	if page >= len(in.pages) {
		in.pages = append(in.pages, make([]*[pageWords]uint64, page+1-len(in.pages))...)
	}
	if in.pages[page] == nil {
		in.pages[page] = &[pageWords]uint64{}
	}
	word, bit := &in.pages[page][x%PageBits/64], uint64(1)<<(x%64)
	if *word&bit == 0 {
		*word |= bit
		in.Count++
	}
}

func (in *Members) Remove(x int32) {
	if in.Has(x) {
		in.pages[x/PageBits][x%PageBits/64] &^= 1 << (x % 64)
		in.Count--
	}
}

// State returns the members, sorted.
func (in *Members) State() models.State {
	if in.Count == 0 {
		return nil
	}
	s := make(models.State, 0, in.Count)
	for i, page := range in.pages {
		if page == nil {
			continue
		}
		for k, word := range page {
			for ; word != 0; word &= word - 1 {
				s = append(s, int32(i*PageBits+k*64+bits.TrailingZeros64(word)))
			}
		}
	}
	return s
}
