package forget

import (
	"slices"
	"sort"

	"clew/edn"
	"clew/models"
)

// HasOneSpelling says whether nothing that is spelled otherwise equals a value.
func HasOneSpelling(v *edn.Values, value edn.ID) bool {
	switch v.Kind(value) {
	case edn.KindNil, edn.KindBool, edn.KindString, edn.KindKeyword, edn.KindSymbol:
		return true
	}
	return false
}

// Given is a set of values.
type Given struct {
	Numbers spans           // integers
	Texts   map[string]bool // others
}

// add adds values. It returns false, and adds none, if one has several spellings.
func (g *Given) add(v *edn.Values, values []int32) bool {
	var numbers []int64
	var texts []string
	for _, value := range values {
		id := edn.ID(value)
		switch n, isInt := v.Int(id); {
		case isInt:
			numbers = append(numbers, n)
		case !HasOneSpelling(v, id):
			return false
		default:
			texts = append(texts, v.Text(id))
		}
	}
	slices.Sort(numbers)
	g.Numbers = g.Numbers.with(numbers)
	if g.Texts == nil && len(texts) > 0 {
		g.Texts = map[string]bool{}
	}
	for _, text := range texts {
		g.Texts[text] = true
	}
	return true
}

// has says whether a value is in the set.
func (g *Given) has(v *edn.Values, value int32) bool {
	if n, isInt := v.Int(edn.ID(value)); isInt {
		return g.Numbers.has(n)
	}
	return len(g.Texts) > 0 && g.Texts[v.Text(edn.ID(value))]
}

// size returns how many values there are.
func (g *Given) size() int { return g.Numbers.size() + len(g.Texts) }

// among returns those values of some operations that are in the set, in ascending order.
func (g *Given) among(part *models.Operations) (values []int32) {
	for _, value := range part.A {
		if g.has(part.History.Values, value) {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// but returns the values that are not among some of the set.
func (g *Given) but(v *edn.Values, some []int32) (others []int32) {
	in := map[int32]bool{}
	for _, value := range some {
		in[value] = true
	}
	add := func(id edn.ID) {
		if value := int32(v.Same(id)); !in[value] {
			others = append(others, value)
		}
	}
	for _, x := range g.Numbers {
		for n := x.First; ; n++ {
			if add(v.InternInt(n)); n == x.Last {
				break
			}
		}
	}
	for text := range g.Texts {
		if id, err := v.ParseLenient([]byte(text)); err == nil {
			add(id)
		}
	}
	return others
}

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
