package diagnosis

import (
	"cmp"
	"maps"
	"slices"
)

// Counts counts by name. It remembers at most mostNames names: if there are more, those with the lowest counts are counted
// together. So the counts of the most frequent names are right unless a name was rare for long first; then some of its first
// are among the others. The sum is always right.
type Counts struct {
	By      map[string]int
	Others  int // of names that are not remembered
	Outside int // what has no name
}

// At most mostNames names are remembered, and mostShown are shown.
const (
	mostNames = 1024
	mostShown = 32
)

// Add counts one for a name.
func (c *Counts) Add(name string) {
	if c.By == nil {
		c.By = map[string]int{}
	}
	if _, known := c.By[name]; !known && len(c.By) == mostNames {
		for _, rare := range c.names()[mostNames/2:] {
			c.Others += c.By[rare]
			delete(c.By, rare)
		}
	}
	c.By[name]++
}

// names returns the names, the most frequent first.
func (c *Counts) names() []string {
	return slices.SortedFunc(maps.Keys(c.By), func(a, b string) int { return cmp.Or(c.By[b]-c.By[a], cmp.Compare(a, b)) })
}

// Most returns the counts of the most frequent names, and under "" those of all others together. It is nil if nothing was
// counted.
func (c *Counts) Most() map[string]int {
	most, others := map[string]int{}, c.Others
	for i, name := range c.names() {
		if i < mostShown {
			most[name] = c.By[name]
		} else {
			others += c.By[name]
		}
	}
	if others > 0 {
		most[""] = others
	}
	if len(most) == 0 {
		return nil
	}
	return most
}
