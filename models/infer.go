package models

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
)

// Fit says how well a history fits a model, judged by its :f's.
type Fit uint8

// MayFit means that the history may be of this model or of others: then the user has to
// name one of them.
const (
	NoFit Fit = iota
	MayFit
	Fits
)

// FitsIf returns Fits if a condition holds, else NoFit.
func FitsIf(holds bool) Fit {
	if holds {
		return Fits
	}
	return NoFit
}

// Seen is what a history shows of its model.
type Seen struct {
	h  *jepsen.History
	fs []string // the :f's, sorted
}

func seenIn(h *jepsen.History) *Seen {
	known := map[edn.ID]bool{}
	s := &Seen{h: h}
	for _, inv := range h.Invocation {
		if f := h.F[inv]; !known[f] {
			known[f] = true
			s.fs = append(s.fs, h.Values.Text(f))
		}
	}
	sort.Strings(s.fs)
	return s
}

// Any says whether some operation has one of these :f's, given as ":read".
func (s *Seen) Any(fs ...string) bool {
	return slices.ContainsFunc(s.fs, func(f string) bool { return slices.Contains(fs, f) })
}

// Only says whether no operation has another :f.
func (s *Seen) Only(fs ...string) bool {
	return !slices.ContainsFunc(s.fs, func(f string) bool { return !slices.Contains(fs, f) })
}

// Values yields the values of all events with an :f, given as ":read".
func (s *Seen) Values(f string) iter.Seq2[*edn.Values, edn.ID] {
	h := s.h
	id := h.Values.InternKeyword(strings.TrimPrefix(f, ":"))
	return func(yield func(*edn.Values, edn.ID) bool) {
		for e, value := range h.Value {
			if h.F[e] == id && !yield(h.Values, value) {
				return
			}
		}
	}
}

// AllValues yields the values of all events.
func (s *Seen) AllValues() iter.Seq2[*edn.Values, edn.ID] {
	return func(yield func(*edn.Values, edn.ID) bool) {
		for _, value := range s.h.Value {
			if !yield(s.h.Values, value) {
				return
			}
		}
	}
}

// Returned yields the kind of every value that an :f, given as ":read", has returned.
func (s *Seen) Returned(f string) iter.Seq[edn.Kind] {
	h := s.h
	id := h.Values.InternKeyword(strings.TrimPrefix(f, ":"))
	return func(yield func(edn.Kind) bool) {
		for op, inv := range h.Invocation {
			if h.F[inv] == id && h.Status[op] == jepsen.Succeeded && !yield(h.Values.Kind(h.OpValue(jepsen.Operation(op)))) {
				return
			}
		}
	}
}

// Answers yields what operations of an :f, given as ":write", were called with and returned, if they succeeded.
func (s *Seen) Answers(f string) iter.Seq2[edn.Value, edn.Value] {
	h := s.h
	id := h.Values.InternKeyword(strings.TrimPrefix(f, ":"))
	return func(yield func(called, returned edn.Value) bool) {
		for op, inv := range h.Invocation {
			if h.F[inv] == id && h.Status[op] == jepsen.Succeeded && !yield(h.Values.Value(h.Value[inv]), h.Values.Value(h.OpValue(jepsen.Operation(op)))) {
				return
			}
		}
	}
}

// Infer returns the spec with what the history shows. If the spec does not name a model, it
// gets the one that Infer finds. If a model may read a history in several ways, the history
// chooses one (see Traits.Survey).
func (s Spec) Infer(h *jepsen.History) (spec Spec, inferred bool, err error) {
	if s.Name == "" && s.own == nil {
		inferred = true
		if s.Name, err = Infer(h); err != nil {
			return s, inferred, err
		}
	}
	if h == nil || h.Values == nil {
		return s, inferred, jepsen.ErrNoHistory
	}
	if d, err := s.Definition(); s.Init == "" && err == nil && d.NoInit == "" {
		s.Init = h.Record().Init
	}
	spec, _, _, err = s.surveyed(h)
	return spec, inferred, err
}

// Infer says which model a history is of: the one that its text names, or else the one that
// its :f's stand for. If several would do, the error lists them. Infer never infers the
// initial value or independent keys.
func Infer(h *jepsen.History) (string, error) {
	if h == nil || h.Values == nil {
		return "", jepsen.ErrNoHistory
	}
	if h.Object != "" {
		if d := find(func(d *Definition) bool { return d.Object == h.Object }); d != nil {
			return d.Name, nil
		}
		return "", fmt.Errorf("this looks like a %s, which clew does not know; %s", h.Object, list)
	}
	seen := seenIn(h)
	if len(seen.fs) == 0 {
		return registry[0].Name, nil // there is nothing to check: any model will do
	}
	fitting, candidates := "", []string(nil)
	for _, d := range registry {
		if d.Infer == nil {
			continue
		}
		switch d.Infer(seen) {
		case MayFit:
			candidates = append(candidates, d.Name)
		case Fits:
			if fitting == "" {
				fitting = d.Name
			}
		}
	}
	if len(candidates) < 2 && fitting != "" {
		return fitting, nil
	}
	for _, d := range registry {
		if d.Elsewhere == nil {
			continue
		}
		if where := d.Elsewhere(seen); where != "" {
			if err := ParamErrorf("cannot infer the model: %s", where); strings.Contains(where, ownModels) {
				return "", noModel(where, err)
			} else {
				return "", err
			}
		}
	}
	return "", seen.notInferred(candidates)
}

// notInferred returns the error for a history that fits several models, or none that is
// ever inferred.
func (s *Seen) notInferred(candidates []string) error {
	fs := strings.Join(s.fs, ", ")
	known := map[string]bool{}
	var knowing []string // the models that know all :f's
	for _, d := range registry {
		own := namedFs().FindAllString(d.Fs, -1)
		for _, f := range own {
			known[f] = true
		}
		if s.Only(own...) {
			knowing = append(knowing, d.Name)
		}
	}
	if len(candidates) == 0 {
		candidates = knowing
	}
	if readers := s.readers(candidates); len(readers) > 0 {
		candidates = readers
	}
	switch len(candidates) {
	case 0:
	case 1:
		return ParamErrorf("cannot infer the model from %s: only %s fits, but is not inferred from that; give %s %[2]s", fs, candidates[0], ParamModel)
	default:
		return ParamErrorf("cannot infer the model from %s; give %s %s", fs, ParamModel, text.OneOf(candidates))
	}
	if name := s.workload(); name != "" {
		why := "it looks like " + name + ", which no model of clew knows"
		return noModel(why+orOwn, ParamErrorf("cannot infer the model from %s: %s%s", fs, why, orOwn))
	}
	for _, f := range s.fs {
		if !known[f] {
			return noModel("no model of clew knows its "+f+orOwn, ParamErrorf("cannot infer the model from %s: no model knows %s; %s%s", fs, f, text.DidYouMean(f, slices.Sorted(maps.Keys(known))), list))
		}
	}
	return noModel("no model of clew knows all of its "+fs+orOwn, ParamErrorf("cannot infer the model from %s: no model knows all of them; %s", fs, list))
}

// readers returns those of some models that can read the history. If an operation returned nil, which few can read, that
// shows nothing.
func (s *Seen) readers(names []string) (readers []string) {
	for op, status := range s.h.Status {
		if status == jepsen.Succeeded && s.h.OpValue(jepsen.Operation(op)) == edn.Nil {
			return names
		}
	}
	for _, name := range names {
		if _, err := (Spec{Name: name}).Read(s.h); err == nil {
			readers = append(readers, name)
		}
	}
	return readers
}

// list is where to look for a model.
const list = "docs/models.md lists the models, and " + ownModels + " says how to write one"

// ownModels is where to go if no model of clew is of a history.
const ownModels = "docs/own-models.md"

// orOwn names it behind what clew does not have.
const orOwn = "; one of your own may (" + ownModels + ")"

// noModel adds to an error of Infer that clew has no model for the history.
func noModel(why string, err error) error {
	if e, ok := err.(*ParamError); ok {
		e.none = why
	}
	return err
}

// NoModel returns why clew has no model for a history, if that is what an error of Infer says, else "".
func NoModel(err error) string {
	var e *ParamError
	if errors.As(err, &e) {
		return e.none
	}
	return ""
}

// namedFs finds the :f's in a definition's Fs. Other words with a colon there are not names
// of operations.
var namedFs = text.Pattern(`:[a-zA-Z][a-zA-Z-]*`)
