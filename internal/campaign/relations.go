package campaign

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
)

// relation is a change of a history that must not change its verdict, nor the event at
// which it fails.
type relation struct {
	name string
	// change changes the lines, and says whether it could.
	change func(x *changing) bool
	// late says that the changed history may have late completions of operations that
	// it lacks. Then it cannot be read.
	late bool
}

// relations are in the order in which they change a history together.
var relations = []relation{
	{name: "equal values written otherwise", change: (*changing).respell},
	{name: "values renamed", change: (*changing).rename},
	{name: "what crashed without effect dropped", change: (*changing).drop, late: true},
	{name: "failed operations added", change: (*changing).addFailures},
	{name: "a nemesis and stray news added", change: (*changing).addNemesis},
	{name: "processes renumbered", change: (*changing).renumber},
}

// Relations says what is wrong with the verdict on a history that was changed in ways
// that must not matter.
func (c *Counts) Relations(r *rand.Rand, spec models.Spec, text string) error {
	h, ops, err := ReadText(spec, text)
	if err != nil {
		return err
	}
	auto, err := Checked(h, spec, "auto")
	if err != nil {
		return err
	}
	return c.relations(r, subject{spec, text, gen.Guess, h, ops, auto})
}

// relations draws some changes, and makes them all in one history.
func (c *Counts) relations(r *rand.Rand, s subject) error {
	var drawn []relation
	for len(drawn) == 0 {
		for _, rel := range relations {
			if len(relations) == 1 || r.IntN(2) == 0 {
				drawn = append(drawn, rel)
			}
		}
	}
	err := c.changed(r, s, drawn)
	if errors.Is(err, errLateNews) {
		err = c.changed(r, s, slices.DeleteFunc(drawn, func(rel relation) bool { return rel.late }))
	}
	if err == nil {
		err = c.prefix(r, s)
	}
	if err == nil {
		err = c.apart(r, s)
	}
	return err
}

var errLateNews = errors.New("there are late news of what was dropped")

// changed changes a history and compares the verdicts.
func (c *Counts) changed(r *rand.Rand, s subject, drawn []relation) error {
	x := &changing{subject: s, r: r, lines: s.lines()}
	x.was = each(x.lines)
	var names []string
	late := false
	for _, rel := range drawn {
		if rel.change(x) {
			names = append(names, rel.name)
			late = late || rel.late
		}
	}
	if len(names) == 0 {
		return nil
	}
	whole, name := strings.Join(x.lines, "\n")+"\n", strings.Join(names, ", ")
	again, got, err := decided(x.spec, whole)
	var unreadable *edn.Error
	if late && errors.As(err, &unreadable) {
		return errLateNews
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, whole)
	}
	fails := -1
	if got.Verdict == jepsen.Invalid {
		fails = x.was[again.Line(got.FailEvent.OrNone())-1] + 1
	}
	if before := s.failingLine(); got.Verdict != s.auto.Verdict || fails != before {
		return fmt.Errorf("%s: %s at line %d, and %s at line %d before:\n%s", name, got.Verdict, fails, s.auto.Verdict, before, whole)
	}
	for _, name := range names {
		c.Changes.note(name, got.Verdict)
	}
	return nil
}

// prefix sometimes cuts a history that comes from a run. What happens up to some event is
// linearizable, too, since operations that are open there may have happened as they did.
// Made-up answers need not fit their invocations. It leaves out histories in Knossos's
// reading, because there open operations may not have. It also leaves out maps, where the
// whole history says what a missing key holds, and locks whose owner a later operation
// may name.
func (c *Counts) prefix(r *rand.Rand, s subject) error {
	if r.IntN(2) > 0 || s.way != gen.Run || s.spec.Knossos || s.spec.Name == "kv" || owned(s.spec.Name) {
		return nil
	}
	lines := s.lines()
	if s.h.Operations() == 0 {
		return nil
	}
	first := s.h.Line(s.h.Invocation[0]) // nothing before it needs a decision
	whole := strings.Join(lines[:first+r.IntN(len(lines)+1-first)], "\n") + "\n"
	_, got, err := decided(s.spec, whole)
	switch {
	case err != nil:
		return fmt.Errorf("prefix: %w\n%s", err, whole)
	case got.Verdict != jepsen.Valid:
		return fmt.Errorf("prefix: %s, and the whole is linearizable:\n%s", got.Verdict, whole)
	}
	c.Changes.note("prefix", got.Verdict)
	return nil
}

// apart sometimes decides each part as a history of its own.
func (c *Counts) apart(r *rand.Rand, s subject) error {
	if r.IntN(2) > 0 || s.spec.Name == "kv" && strings.Contains(s.spec.Init+s.text, `""`) { // see prefix
		return nil
	}
	parts, lines := s.ops.Parts(), s.lines()
	if len(parts) < 2 || len(lines) != s.h.Events {
		return nil
	}
	first := -1
	for _, part := range parts {
		mine := map[jepsen.Operation]bool{}
		for _, op := range part.Of {
			mine[op] = true
		}
		var kept []string
		var was []int
		for e, op := range s.h.OpOf {
			if at := s.h.Line(jepsen.Event(e)); mine[op] {
				kept, was = append(kept, lines[at-1]), append(was, at)
			}
		}
		whole := strings.Join(kept, "\n") + "\n"
		h, got, err := decided(s.spec, whole)
		if err != nil {
			return fmt.Errorf("part alone: %w\n%s", err, whole)
		}
		if got.Verdict == jepsen.Invalid {
			if at := was[h.Line(got.FailEvent.OrNone())-1]; first < 0 || at < first {
				first = at
			}
		}
		c.Changes.note("part alone", got.Verdict)
	}
	if want := s.failingLine(); first != want {
		return fmt.Errorf("the parts alone fail at line %d first, and together at %d", first, want)
	}
	return nil
}
