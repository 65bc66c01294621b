package forget

import "sort"

// spans are integers, as ranges that neither touch nor overlap, in ascending order.
type spans []span

// span is all integers from the first to the last.
type span struct{ First, Last int64 }

// at returns the place of the first span that ends at an integer or later.
func (s spans) at(n int64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].Last >= n })
}

// has says whether an integer is among them.
func (s spans) has(n int64) bool {
	i := s.at(n)
	return i < len(s) && s[i].First <= n
}

// with returns them with more integers, which ascend. It takes linear time.
func (s spans) with(more []int64) spans {
	both := make(spans, 0, len(s)+len(more))
	add := func(x span) {
		if last := len(both) - 1; last >= 0 && (x.First <= both[last].Last || x.First-1 == both[last].Last) {
			both[last].Last = max(both[last].Last, x.Last)
			return
		}
		both = append(both, x)
	}
	for _, n := range more {
		for len(s) > 0 && s[0].First <= n {
			add(s[0])
			s = s[1:]
		}
		add(span{n, n})
	}
	for _, x := range s {
		add(x)
	}
	return both
}

// size returns how many integers they are.
func (s spans) size() (n int) {
	for _, x := range s {
		n += int(x.Last-x.First) + 1
	}
	return n
}
