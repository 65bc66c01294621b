package report

import (
	"encoding/json"

	"clew/jepsen"
	"clew/models"
)

// Line is a result as a line of JSON: the verdict and where to look. clew check
// --output json prints one for each history. A Line that was read from such output
// prints the same again. Keys that do not apply are null. If the keys of the
// history are independent, it shows the earliest failure, and which keys fail.
type Line struct {
	File        string         `json:"file"`
	Valid       jepsen.Verdict `json:"valid"`
	Model       Text           `json:"model"`
	Init        Text           `json:"init"`
	Reading     Reading        `json:"reading,omitzero"`   // as what it was read, and who says so: each part is [value, source]
	Readings    []Alternative  `json:"readings,omitempty"` // the readings that differ, if the cause is "reading"
	Analyzer    Text           `json:"analyzer"`
	OpIndex     *int64         `json:"op-index"`          // the :index of the first failing completion
	OpLine      *int           `json:"op-line"`           // and its line
	PreviousOK  *int64         `json:"previous-ok-index"` // the :index of the :ok before it
	Cause       Text           `json:"cause"`             // a jepsen.Cause
	Error       Text           `json:"error"`
	Events      int            `json:"events"`
	Operations  int            `json:"operations"`
	Crashed     int            `json:"crashed"`
	Ms          float64        `json:"ms"`
	Explanation Text           `json:"explanation"`
	Story       []string       `json:"story,omitempty"`    // what happened in the core, in at most four sentences
	Kind        models.Anomaly `json:"kind,omitempty"`     // the kind of failure, such as "stale-read"; see docs/failures.md
	Broken      []LineBroken   `json:"broken,omitempty"`   // guarantees that answers break beside the steps, such as those of watches
	Hard        Text           `json:"hard,omitempty"`     // how far an undecided search got, why it is hard, and what to change in the test
	HowFar      *HowFar        `json:"how-far,omitempty"`  // how far it is from being linearizable, if that was asked for
	Levels      *LineLevels    `json:"levels,omitempty"`   // the levels of consistency of transactions
	FailsBy     *int64         `json:"fails-by,omitempty"` // the :index of a completion by which the history certainly fails, if one is known and op-index is not
	Verified    *bool          `json:"verified"`           // the evidence was checked again; nil if there is none
	Vacuous     Text           `json:"vacuous,omitempty"`  // why none of its answers says anything that could be wrong
	Skipped     int            `json:"skipped"`
	Warnings    []string       `json:"warnings"`
	Keys        *int           `json:"keys,omitempty"`     // how many independent keys there are
	Failures    []string       `json:"failures,omitempty"` // and which of them fail, as EDN
	ToldBy      string         `json:"told-by,omitempty"`  // the source of the model or the initial value

	LikelyInit string `json:"likely-init,omitempty"` // an initial value that decides an undecided history, if sentences do not spell it out
}

// LineBroken is a broken guarantee in a Line.
type LineBroken struct {
	Guarantee string `json:"guarantee"`
	OpIndex   int64  `json:"op-index"` // the :index of the completion that breaks it
	Why       string `json:"why"`
}

// Text is a string that JSON shows as null if it is empty.
type Text string

// MarshalJSON writes the text as JSON.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// MarshalJSON writes the result's Line as JSON.
func (r *Result) MarshalJSON() ([]byte, error) { return json.Marshal(r.Line()) }

// Line returns the result as a line of JSON.
func (r *Result) Line() Line {
	l := Line{
		File: r.File, Valid: r.Verdict, Ms: r.Ms, Warnings: []string{},
		Model: Text(r.Model), Init: Text(r.Init), Reading: r.Reading(), Readings: r.Alternatives, Analyzer: Text(r.Analyzer),
		Cause: Text(r.Cause), Error: Text(r.Error), Explanation: Text(r.sentence()), Vacuous: Text(r.Vacuous), ToldBy: r.ToldBy, Kind: r.FailureKind(), HowFar: r.HowFar, Levels: r.Levels.line(r.History),
	}
	l.LikelyInit = r.unspelled()
	l.Hard = Text(r.HardText())
	if index, known := r.FailsBy(); known {
		l.FailsBy = &index
	}
	if r.Keys != nil {
		n := len(r.Keys)
		l.Keys = &n
		for _, k := range r.Keys {
			if k.Verdict == jepsen.Invalid {
				l.Failures = append(l.Failures, k.Key.String())
			}
		}
	}
	if r.Verdict != jepsen.Unknown {
		verified := r.Verified
		l.Verified = &verified
	}
	if n := r.counts(); n != nil {
		l.Events, l.Operations, l.Crashed, l.Skipped = n.Events, n.Operations, n.Crashed, n.Skipped
	}
	if r.History != nil {
		l.Warnings = append(l.Warnings, r.History.Warnings...)
	}
	for _, b := range r.Broken {
		l.Broken = append(l.Broken, LineBroken{b.Guarantee, r.History.Index(r.History.Completion[b.Operation]), b.Why})
	}
	l.Warnings = append(l.Warnings, r.Warnings()...)
	if r.Missing != "" {
		l.Warnings = append(l.Warnings, r.Missing)
	}
	if f := r.FirstFailing(); f.fails() {
		l.Story = f.Story.Sentences
		index, line := f.History.Index(f.FailEvent.OrNone()), f.History.Line(f.FailEvent.OrNone())
		l.OpIndex = &index
		if line > 0 {
			l.OpLine = &line
		}
		if p := f.PreviousOK(); p != jepsen.None {
			previous := f.History.Index(p)
			l.PreviousOK = &previous
		}
	}
	return l
}

// MayPass says whether the verdict is an unknown one that passes if undecided histories
// shall. An interrupted check does not, since it was not tried.
func (l *Line) MayPass() bool {
	return l.Valid == jepsen.Unknown && l.Cause != Text(jepsen.Interrupted)
}
