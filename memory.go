package clew

import "clew/internal/limits"

// Memory is an amount of memory that searches may use. Several checks that go on
// at the same time may share one, and then use no more than that together: a search
// takes from it what it comes to hold, and gives all back when it ends. What a
// search holds is counted by its own reckoning, which is about right; what the
// histories themselves hold is not counted.
type Memory struct{ budget *limits.Budget }

// NewMemory is that many bytes. The zero Memory, like none at all, has no end.
func NewMemory(bytes int64) *Memory { return &Memory{limits.NewBudget(bytes)} }

// limits are the bounds that the options set, beside the time.
func (o Options) limits() limits.Limits {
	lim := limits.Limits{Passed: o.Passed, Held: o.Held}
	if o.Memory != nil {
		lim.Memory = o.Memory.budget
	}
	return lim
}
