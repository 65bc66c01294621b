package report

import (
	"encoding/json"

	"clew/jepsen"
)

// MarshalJSON is the result as one JSON object: the verdict and where to look.
// Keys that do not apply are null. If the keys are independent, it shows the
// earliest failure, and which keys fail.
func (r *Result) MarshalJSON() ([]byte, error) {
	j := struct {
		File        string   `json:"file"`
		Valid       any      `json:"valid"`
		Model       *string  `json:"model"`
		Init        *string  `json:"init"`
		Analyzer    *string  `json:"analyzer"`
		OpIndex     *int64   `json:"op-index"`
		OpLine      *int     `json:"op-line"`
		PreviousOK  *int64   `json:"previous-ok-index"`
		Cause       *string  `json:"cause"`
		Error       *string  `json:"error"`
		Events      int      `json:"events"`
		Operations  int      `json:"operations"`
		Crashed     int      `json:"crashed"`
		Ms          float64  `json:"ms"`
		Explanation *string  `json:"explanation"`
		Verified    *bool    `json:"verified"`
		Skipped     int      `json:"skipped"`
		Warnings    []string `json:"warnings"`
		Keys        *int     `json:"keys,omitempty"`     // of independent keys: how many
		Failures    []string `json:"failures,omitempty"` // and which of them fail, as EDN
	}{
		File: r.File, Valid: "unknown", Ms: r.Ms, Warnings: []string{},
		Model: orNull(r.Model), Init: orNull(r.Init), Analyzer: orNull(r.Analyzer),
		Cause: orNull(string(r.Cause)), Error: orNull(r.Error), Explanation: orNull(r.sentence()),
	}
	if r.Keys != nil {
		n := len(r.Keys)
		j.Keys = &n
		for _, k := range r.Keys {
			if k.Verdict == jepsen.Invalid {
				j.Failures = append(j.Failures, k.Key.String())
			}
		}
	}
	if r.Verified {
		j.Verified = &r.Verified
	}
	if h := r.History; h != nil {
		j.Events, j.Operations, j.Crashed = h.Events, h.Operations(), h.CrashedCount()
		j.Skipped, j.Warnings = h.Skipped, append(j.Warnings, h.Warnings...)
	}
	if r.Missing != "" {
		j.Warnings = append(j.Warnings, r.Missing)
	}
	switch r.Verdict {
	case jepsen.Valid:
		j.Valid = true
	case jepsen.Invalid:
		j.Valid = false
		f := r.FirstFailing()
		index, line := f.History.Index(f.FailEvent), f.History.Line(f.FailEvent)
		j.OpIndex = &index
		if line > 0 {
			j.OpLine = &line
		}
		if p := f.PreviousOK(); p != jepsen.None {
			previous := f.History.Index(p)
			j.PreviousOK = &previous
		}
	}
	return json.Marshal(j)
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
