package campaign

import (
	"cmp"
	"fmt"
	"slices"

	"clew/internal/gen"
	"clew/models"
)

// Config is a way to make histories and to compare verdicts on them.
type Config struct {
	Name      string // without drawn options
	Model     string // for counts by model
	Histories int    // in a unit
	some      func(u Unit, n int) (Counts, error)
}

// All returns all configurations. Some have small histories of each model read in each
// way, and of users' own models. The oracle decides these. Others have long histories,
// and engines decide those. Those whose units take less time come first, so that even a
// short run has some of everything. models is a folder with model files.
func All(models string) ([]Config, error) {
	files, err := fileTwins(models)
	if err != nil {
		return nil, err
	}
	var all []Config
	for _, model := range longModels() {
		all = append(all, longConfig(model))
	}
	for _, t := range append(goTwins(), files...) {
		all = append(all, t.config())
	}
	for _, spec := range Configs() {
		all = append(all, Config{Name(spec), spec.Name, 500, func(u Unit, n int) (Counts, error) { return u.small(spec, n) }})
	}
	return all, nil
}

// Unit is a number of histories of one configuration. Its seed determines them.
type Unit struct {
	Config string // the name of the configuration
	Seed   uint64
}

// Run examines the histories of a unit. The error is a *Mismatch with a history as small
// as could be found.
func (u Unit) Run(c Config) (Counts, error) { return c.some(u, c.Histories) }

// Mismatch is a history with a wrong verdict or wrong evidence.
type Mismatch struct {
	Spec models.Spec
	Keys bool // the history has several keys
	Text string
	Err  error
}

// Error returns everything, so that the history can be tried at once.
func (m *Mismatch) Error() string { return fmt.Sprintf("%s: %v\n%s", Name(m.Spec), m.Err, m.Text) }

// small makes and examines n small histories of a model.
func (u Unit) small(spec models.Spec, n int) (c Counts, err error) {
	r := gen.Rand(u.Seed)
	var keys keeper
	base := spec
	for i := range n {
		if i%10 == 0 {
			base = WithParameters(r, spec)
		}
		drawn, o := base, GenOptions(base)
		o.Init = true
		if slices.Contains(Containers, drawn.Name) && r.IntN(2) == 0 {
			o.Unique, o.Values = true, 8 // as their fast paths need it
		}
		if i%10 == 9 {
			o.Crashes = 0.5
		}
		if r.IntN(4) == 0 {
			o.Quiet = 0.8
		}
		o.Numbers = r.IntN(4) == 0
		g := gen.New(r, o)
		drawn.Init = g.Init
		examined, err := c.examine(drawn, g)
		if err != nil {
			small := Smallest(drawn, g.Text)
			if again := new(Counts).Examine(drawn, gen.History{Text: small, Way: gen.Guess}); again != nil {
				err = again
			}
			return c, &Mismatch{Spec: drawn, Text: small, Err: err}
		}
		seed := r.Uint64()
		if err := c.otherwise(seed, examined); err != nil {
			otherwise := func(text string) error {
				s, err := new(Counts).examine(drawn, gen.History{Text: text, Way: g.Way})
				if err != nil {
					return nil // another mistake, or unreadable
				}
				return new(Counts).otherwise(seed, s)
			}
			small := smallest(g.Text, otherwise)
			return c, &Mismatch{Spec: drawn, Text: small, Err: cmp.Or(otherwise(small), err)}
		}
		if err := keys.add(&c, r, examined); err != nil {
			return c, err
		}
	}
	return c, nil
}

// otherwise decides a history with changes and in other forms.
func (c *Counts) otherwise(seed uint64, s subject) error {
	r := gen.Rand(seed)
	if err := c.relations(r, s); err != nil {
		return err
	}
	return c.inForms(r, s)
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
	for _, x := range []struct{ to, from *Compared }{{&c.Engines, &other.Engines}, {&c.Changes, &other.Changes}, {&c.Forms, &other.Forms}} {
		for name, v := range *x.from {
			x.to.add(name, v)
		}
	}
	for cause, n := range other.Unknown {
		c.unknown(cause, n)
	}
}
