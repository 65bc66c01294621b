package models

import (
	"clew/edn"
	"clew/jepsen"
)

// Values of ParamAnswers. A client that records what a call returned tells its answers. A
// client that repeats the value of the invocation tells none. Only the history as a whole
// shows which: 1 may be the new value of a counter, or the 1 that was added.
const (
	AnswersTold = "told" // completions tell answers; one that cannot be an answer tells none
	AnswersEcho = "echo" // completions tell no answers
)

// Answer says what the value of a completion may be, seen alone.
type Answer uint8

// Answers.
const (
	NoAnswer   Answer = iota // of an operation that has no answer to tell
	Silent                   // nothing: it is nil
	Either                   // an answer, or the invocation's value again
	Telling                  // an answer alone
	Repeating                // the invocation's value alone
	Unreadable               // neither; Read reports it
)

// AnswerOf returns the Answer of a value that may repeat the invocation's and may be an
// answer.
func AnswerOf(repeats, tells bool) Answer {
	switch {
	case repeats && tells:
		return Either
	case tells:
		return Telling
	case repeats:
		return Repeating
	}
	return Unreadable
}

// surveyed returns the spec with the reading that the history shows, and a Reader for it.
func (s Spec) surveyed(h *jepsen.History) (Spec, Reader, *Definition, error) {
	m, d, err := s.bind(h.Values)
	if err != nil {
		return s, nil, nil, err
	}
	given := s
	if s.Init == "" && h.Object != "" && h.Object == d.Object {
		s.Init = d.ObjectInit
	}
	if survey := m.Traits().Survey; survey != nil {
		if err := survey(&s, h); err != nil {
			return s, nil, nil, err
		}
	}
	if s != given {
		m, d, err = s.bind(h.Values)
	}
	return s, m, d, err
}

// SurveyAnswers sets Answers: told if some completion can only be an answer, echo if all
// repeat their invocations or are nil. Answers stays empty if no operation has an answer to
// tell. If the history has both, the error names the first of each. what names an answer in
// words; of says what the value of an operation that succeeded may be.
func (s *Spec) SurveyAnswers(h *jepsen.History, what string, of func(f, given, value edn.ID) Answer) error {
	if s.Answers != "" {
		return nil
	}
	telling, repeating, some := jepsen.Event(jepsen.None), jepsen.Event(jepsen.None), false
	for op, inv := range h.Invocation {
		if h.Status[op] != jepsen.Succeeded {
			continue
		}
		res := h.Completion[op]
		// A value that repeats is never Telling, and one that does not is never Repeating.
		repeats := h.Values.Same(h.Value[res]) == h.Values.Same(h.Value[inv])
		if repeats && repeating != jepsen.None || !repeats && telling != jepsen.None {
			continue
		}
		switch answer := of(h.F[inv], h.Value[inv], h.Value[res]); {
		case answer == NoAnswer:
			continue
		case answer == Telling && telling == jepsen.None:
			telling = res
		case answer == Repeating && repeating == jepsen.None:
			repeating = res
		}
		some = true
	}
	switch {
	case telling != jepsen.None && repeating != jepsen.None:
		return h.Errorf(max(telling, repeating), "%w", ParamErrorf("%s repeats the value of its invocation, but %s returns %s; give %s %s if completions return it where they can, or %[4]s %[6]s if none does",
			h.Name(h.OpOf[repeating]), h.Name(h.OpOf[telling]), what, ParamAnswers, AnswersTold, AnswersEcho))
	case telling != jepsen.None:
		s.Answers = AnswersTold
	case some:
		s.Answers = AnswersEcho
	}
	return nil
}

// Reading says in a few words which of several readings of a history was taken: "answers
// told". It returns "" if there is only one.
func (s Spec) Reading() string {
	switch {
	case s.Answers != "":
		return string(ParamAnswers) + " " + s.Answers
	case s.KVKeys != "":
		return string(ParamKVKeys) + " " + s.KVKeys
	case s.Accounts != "":
		return string(ParamAccounts) + " " + s.Accounts
	}
	return ""
}

// Unchecked says what this reading of a history leaves unchecked, "" if nothing.
func (s Spec) Unchecked() string {
	if s.Answers == AnswersEcho {
		d, _ := s.Definition()
		return d.Untold
	}
	return ""
}
