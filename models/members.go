package models

import "math/bits"

// members is the state of a set under way: a bit for each value class, in pages. A page
// exists only if some of its bits have been set. So a set of a few classes is small,
// however many classes there are.
type members struct {
	pages []*[pageWords]uint64
	count int
}

const (
	pageWords = 64
	pageBits  = 64 * pageWords
)

func newMembers(s State) *members {
	in := &members{}
	for _, x := range s {
		in.add(x)
	}
	return in
}

func (in *members) has(x int32) bool {
	page := int(x) / pageBits
	return page < len(in.pages) && in.pages[page] != nil && in.pages[page][x%pageBits/64]>>(x%64)&1 != 0
}

func (in *members) add(x int32) {
	page := int(x) / pageBits
	if page >= len(in.pages) {
		in.pages = append(in.pages, make([]*[pageWords]uint64, page+1-len(in.pages))...)
	}
	if in.pages[page] == nil {
		in.pages[page] = &[pageWords]uint64{}
	}
	word, bit := &in.pages[page][x%pageBits/64], uint64(1)<<(x%64)
	if *word&bit == 0 {
		*word |= bit
		in.count++
	}
}

func (in *members) remove(x int32) {
	if in.has(x) {
		in.pages[x/pageBits][x%pageBits/64] &^= 1 << (x % 64)
		in.count--
	}
}

// State returns the members, sorted.
func (in *members) State() State {
	if in.count == 0 {
		return nil
	}
	s := make(State, 0, in.count)
	for i, page := range in.pages {
		if page == nil {
			continue
		}
		for k, word := range page {
			for ; word != 0; word &= word - 1 {
				s = append(s, int32(i*pageBits+k*64+bits.TrailingZeros64(word)))
			}
		}
	}
	return s
}

// States makes members a part of a Run.
func (in *members) States(func()) []State { return []State{in.State()} }
