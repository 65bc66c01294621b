package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clew"
	"clew/edn"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/second"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Counts describes the histories of a configuration.
type Counts struct {
	Valid, Invalid, Crashed, Empty, Paths, Pending, Fast, Registers, Mismatches int

	// Engines, Changes and Forms are the verdicts that were compared: by engines, on
	// histories that were changed, and on histories in other forms.
	Engines, Changes, Forms Compared
	// Unknown counts long histories that auto did not decide, by what makes them hard.
	Unknown map[string]int `json:",omitempty"`
}

// Compared counts verdicts by the name of what they were compared for.
type Compared map[string]Verdicts

// Verdicts counts the linearizable histories and the others.
type Verdicts struct{ Valid, Invalid int }

// note counts a verdict.
func (c *Compared) note(name string, v jepsen.Verdict) {
	if v == jepsen.Valid {
		c.add(name, Verdicts{Valid: 1})
	} else {
		c.add(name, Verdicts{Invalid: 1})
	}
}

func (c *Compared) add(name string, v Verdicts) {
	if *c == nil {
		*c = Compared{}
	}
	before := (*c)[name]
	(*c)[name] = Verdicts{before.Valid + v.Valid, before.Invalid + v.Invalid}
}

// isNoRegister says whether a part is not decided as a register.
func isNoRegister(part *models.Operations) bool {
	return !part.Model.Traits().IsRegister
}

// Smallest drops events as long as the history can be read and is still decided
// wrongly. What is left is no longer linearizable by construction.
func Smallest(spec models.Spec, text string) string {
	return smallest(text, func(text string) error { return new(Counts).Examine(spec, gen.History{Text: text, Way: gen.Guess}) })
}

func smallest(text string, examine func(text string) error) string {
	lines := strings.Split(strings.Trim(text, "[]\n"), "\n")
	wrong := func(lines []string) bool {
		var unreadable *edn.Error
		err := examine(strings.Join(lines, "\n") + "\n")
		return err != nil && !errors.As(err, &unreadable)
	}
	if !wrong(lines) {
		return text
	}
	for again := true; again; {
		again = false
		for i := range lines {
			for j := i; j < len(lines); j++ {
				fewer := slices.Delete(slices.Clone(lines), j, j+1)
				if i != j {
					fewer = slices.Delete(fewer, i, i+1)
				}
				if wrong(fewer) {
					lines, again = fewer, true
				}
				if i >= len(lines) {
					break
				}
			}
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// subject is a history that was read and decided.
type subject struct {
	spec models.Spec
	text string
	way  gen.Way
	h    *jepsen.History
	ops  *models.Operations
	auto *report.Result // the result of the algorithm auto
}

// lines returns its lines, without brackets around them.
func (s *subject) lines() []string { return strings.Split(strings.Trim(s.text, "[]\n"), "\n") }

// failingLine returns the line of its first failing completion, or -1.
func (s *subject) failingLine() int {
	if s.auto.Verdict != jepsen.Invalid {
		return -1
	}
	return s.h.Line(s.auto.FailEvent.OrNone())
}

// decided reads a history, and returns it with what clew finds.
func decided(spec models.Spec, text string) (*jepsen.History, *report.Result, error) {
	h, err := clew.Read(strings.NewReader(text), "", jepsen.Options{})
	if err != nil {
		return nil, nil, err
	}
	r, err := Checked(h, spec, "auto")
	return h, r, err
}

// Examine says where reading or deciding a history goes wrong.
func (c *Counts) Examine(spec models.Spec, g gen.History) error {
	_, err := c.examine(spec, g)
	return err
}

func (c *Counts) examine(spec models.Spec, g gen.History) (s subject, err error) {
	s = subject{spec: spec, text: g.Text, way: g.Way}
	if s.h, s.ops, err = ReadText(spec, g.Text); err != nil {
		return s, err
	}
	h, ops := s.h, s.ops
	want := oracle.Decide(ops, oracle.Options{})
	if want.Linearizable {
		c.Valid++
	} else {
		c.Invalid++
	}
	if h.CrashedCount() > 0 {
		c.Crashed++
	}
	if ops.Len() == 0 {
		c.Empty++
	}
	if g.Way == gen.Run && !want.Linearizable {
		return s, fmt.Errorf("it is linearizable by construction; the oracle finds a failure at %s", oracle.Event(h, jepsen.Event(want.Fail)))
	}
	naive, err := second.Decide(g.Text, NaiveOptions(spec))
	switch {
	case errors.Is(err, second.ErrNoReading):
	case err != nil:
		return s, err
	case naive != want.Linearizable:
		return s, fmt.Errorf("read as clew reads it, it is linearizable: %t; read naively: %t", want.Linearizable, naive)
	}
	s.auto, err = c.engines(spec, h, ops, want)
	return s, err
}

// ByEngines says what is wrong with the algorithms' results.
func (c *Counts) ByEngines(spec models.Spec, h *jepsen.History, ops *models.Operations, want oracle.Answer) error {
	_, err := c.engines(spec, h, ops, want)
	return err
}

// engines does what ByEngines does, and returns the result of the algorithm auto.
func (c *Counts) engines(spec models.Spec, h *jepsen.History, ops *models.Operations, want oracle.Answer) (auto *report.Result, err error) {
	algorithms := []string{"auto", "fast", "window", "frontier", "porcupine", "hitting"}
	if p := ops.Model.Traits().Partition; p != nil && p.Project != nil && !slices.ContainsFunc(ops.Parts(), isNoRegister) {
		algorithms = append(algorithms, "staged", "matching")
		c.Registers++
	}
	if spec.Name == "stack" {
		algorithms = append(algorithms, "languages")
	}
	if spec.Name == "fifo-queue" {
		algorithms = append(algorithms, "lockstep")
	}
	examiner := oracle.NewExaminer(ops, want, oracle.Options{})
	for _, algorithm := range algorithms {
		if algorithm == "fast" && strings.HasPrefix(auto.Analyzer, "clew/fast-") {
			c.Engines.note(algorithm, auto.Verdict) // it was the fast path already
			c.Fast++
			continue
		}
		r, err := Checked(h, spec, algorithm)
		if err == nil && algorithm == "hitting" && r.Cause == jepsen.DepthExhausted {
			if want.Linearizable && ops.Len() <= HittingDepth {
				return nil, fmt.Errorf("--algorithm hitting: no witness of %d operations at depth %d", ops.Len(), HittingDepth)
			}
			continue // it only ever finds witnesses
		}
		if err == nil && algorithm == "fast" && !strings.HasPrefix(r.Analyzer, "clew/fast-") {
			return nil, fmt.Errorf("--algorithm fast: decided by %s", r.Analyzer)
		}
		if err == nil && algorithm == "fast" && r.Verdict == jepsen.Unknown && r.Cause == jepsen.Ambiguous {
			continue // not for the fast path
		}
		if err == nil {
			err = examiner.Examine(r)
		}
		if err != nil {
			return nil, fmt.Errorf("--algorithm %s: %w", algorithm, err)
		}
		c.Engines.note(algorithm, r.Verdict)
		c.Paths += len(r.Paths)
		if len(r.Configs) > 0 && len(r.Configs[0].Pending) > 1 {
			c.Pending++
		}
		switch algorithm {
		case "auto":
			auto = r
		case "fast":
			c.Fast++
		}
	}
	return auto, nil
}

// Checked calls clew.Check, and turns a panic into an error.
func Checked(h *jepsen.History, spec models.Spec, algorithm string) (r *report.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	o := clew.Options{Algorithm: algorithm}
	if algorithm == "hitting" {
		o.Depth = HittingDepth
	}
	return clew.Check(context.Background(), h, spec.FromDefault(), o)
}

// HittingDepth is less than the usual depth, which takes long if there is no witness.
const HittingDepth = 3

// ReadText reads a history and its operations.
func ReadText(spec models.Spec, text string) (*jepsen.History, *models.Operations, error) {
	h, err := clew.Read(strings.NewReader(text), "", jepsen.Options{})
	if err != nil {
		return nil, nil, err
	}
	ops, err := spec.Read(h)
	return h, ops, err
}
