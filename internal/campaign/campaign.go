package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"clew/internal/gen"
	"clew/models"
)

// Unit is a number of histories of one configuration, which its seed tells.
type Unit struct {
	Config string // Name of the configuration without what is drawn
	Seed   uint64
}

// Histories is how many histories a unit has.
const Histories = 500

// Mismatch is a history that is decided or shown wrongly.
type Mismatch struct {
	Spec models.Spec
	Text string
	Err  error
}

// Error is the whole of it: the history can be tried at once.
func (m *Mismatch) Error() string { return fmt.Sprintf("%s: %v\n%s", Name(m.Spec), m.Err, m.Text) }

// Run examines the histories of a unit. The error is a *Mismatch with as small a history
// as could be found.
func (u Unit) Run(spec models.Spec) (Counts, error) { return u.some(spec, Histories) }

// some is the first n of them.
func (u Unit) some(spec models.Spec, n int) (c Counts, err error) {
	r := gen.Rand(u.Seed)
	for i := range n {
		drawn := WithParameters(r, spec)
		o := GenOptions(drawn)
		o.Init = true
		if slices.Contains(Containers, drawn.Name) && r.IntN(2) == 0 {
			o.Unique, o.Values = true, 8 // as their fast paths need it
		}
		if i%10 == 9 {
			o.Crashes = 0.5
		}
		g := gen.New(r, o)
		drawn.Init = g.Init
		examined, err := c.examine(drawn, g)
		if err != nil {
			small := Smallest(drawn, g.Text)
			if again := new(Counts).Examine(drawn, gen.History{Text: small, Way: gen.Guess}); again != nil {
				err = again
			}
			return c, &Mismatch{drawn, small, err}
		}
		if err := c.relations(r, examined); err != nil {
			relations := func(text string) error { return new(Counts).Relations(gen.Rand(u.Seed), drawn, text) }
			small := smallest(g.Text, relations)
			return c, &Mismatch{drawn, small, cmp.Or(relations(small), err)}
		}
		if i%5 == 0 {
			drawn.Init = ""
			if err := c.Keys(r, drawn, GenOptions(drawn)); err != nil && !errors.Is(err, ErrNoRelation) {
				return c, &Mismatch{drawn, "", err}
			}
		}
	}
	return c, nil
}

// Add adds other counts.
func (c *Counts) Add(other Counts) {
	c.Valid += other.Valid
	c.Invalid += other.Invalid
	c.Crashed += other.Crashed
	c.Empty += other.Empty
	c.Paths += other.Paths
	c.Pending += other.Pending
	c.Fast += other.Fast
	c.Registers += other.Registers
	c.Mismatches += other.Mismatches
	if c.Compared == nil {
		c.Compared = map[string]int{}
	}
	for name, n := range other.Compared {
		c.Compared[name] += n
	}
}
